"""Runs a program in this process as ``python program.py`` or ``python -m module`` would."""

from __future__ import annotations

import builtins
import errno
import importlib.util
import io
import runpy
import sys
import threading
from collections.abc import Sequence
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType

from nx_fastonl.cli.screen import tell

__all__ = ["run_program"]

INTERRUPTED = 130


def run_program(program: str, arguments: Sequence[str], *, is_module: bool) -> int:
    """Run a program to its end, with that of its threads; returns the code to exit with.

    Parameters
    ----------
    program : str
        A file, a folder or zip file with ``__main__.py``, or a module.
    arguments : list of str
        What the program finds in ``sys.argv``, after its name.
    is_module : bool
        Whether `program` is the name of a module.

    Returns
    -------
    int

    Raises
    ------
    OSError
        If the file cannot be read.
    ValueError
        If there is no such module.
    """
    sys.argv[:] = [program, *arguments]
    if not sys.flags.safe_path:
        sys.path[0] = str(Path.cwd()) if is_module else str(Path(program).resolve().parent)
    if is_module:
        _check_module(program)
    elif not Path(program).exists():
        raise FileNotFoundError(errno.ENOENT, "no such program; -m names a module", program)
    try:
        if is_module:
            runpy.run_module(program, run_name="__main__", alter_sys=True)
        elif Path(program).suffix == ".py":
            _run_file(str(Path(program).absolute()))
        else:
            runpy.run_path(program, run_name="__main__")
        _join_threads()
    except SystemExit as stop:
        return _exit_code(stop.code)
    except BaseException as error:  # noqa: BLE001  whatever a program raises
        _show(error)
        return INTERRUPTED if isinstance(error, KeyboardInterrupt) else 1
    return 0


def _check_module(name: str) -> None:
    try:
        is_there = importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:  # of the package around it
        is_there = False
    if not is_there:
        raise ValueError(f"there is no module {name}")


def _run_file(path: str) -> None:
    """Run a file of Python code as the module ``__main__``, which stays for what runs when Python exits."""
    module = ModuleType("__main__")
    module.__dict__.update(
        __file__=path, __builtins__=builtins, __loader__=SourceFileLoader("__main__", path), __cached__=None
    )
    with io.open_code(path) as file:
        content = file.read()
    sys.modules["__main__"] = module
    exec(compile(content, path, "exec", dont_inherit=True), module.__dict__)


def _join_threads() -> None:
    """Wait for the threads that Python waits for before it exits."""
    this = threading.current_thread()
    while others := [thread for thread in threading.enumerate() if not thread.daemon and thread is not this]:
        others[0].join()


def _exit_code(code: object) -> int:
    if code is None:
        return 0
    if isinstance(code, int):
        return code
    tell(str(code))
    return 1


def _show(error: BaseException) -> None:
    """Show an exception as Python does, from the first line of the program on."""
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename in (__file__, runpy.__file__, "<frozen runpy>"):
        trace = trace.tb_next
    sys.excepthook(type(error), error.with_traceback(trace), trace)
