"""The command ``nx-fastonl``: runs a command, and turns errors into a line and an exit code.

Nothing heavy is imported before a command needs it, so that help is quick.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from nx_fastonl.cli import commands
from nx_fastonl.cli.answers import UsageError
from nx_fastonl.cli.arguments import PROGRAM, parse
from nx_fastonl.cli.screen import give_up, in_one_line, tell

if TYPE_CHECKING:
    import argparse

__all__ = ["main"]

INTERRUPTED = 130
PIPE_CLOSED = 141


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return the code to exit with.

    0: all went well; 1: something is wrong with the data or the computation, and a line on standard error says what;
    2: the arguments are wrong; 130: interrupted; 141: the reader of standard output has closed it.
    """
    # Python sets these to None if they were closed before it started.
    sys.stdout, sys.stderr = sys.stdout or _nowhere(), sys.stderr or _nowhere()
    chosen = parse(arguments)
    try:
        chosen.run(chosen)
        sys.stdout.flush()
        return 0
    except UsageError as error:
        parser: argparse.ArgumentParser = chosen.parser
        parser.error(str(error))
    except KeyboardInterrupt:
        if chosen.run is commands.experiment:
            tell("stopped; the same command continues from here")
        return INTERRUPTED
    except BrokenPipeError:
        give_up(sys.stdout)
        return PIPE_CLOSED
    except Exception as error:
        if not _is_expected(error):
            raise
        give_up(sys.stdout)
        tell(f"{PROGRAM}: {in_one_line(_message(error))}")
        return 1


def _nowhere() -> TextIO:
    return Path(os.devnull).open("w")


def _is_expected(error: Exception) -> bool:
    """Whether the message tells the user what to change. Otherwise the program is at fault, and shows a traceback."""
    networkx: Any = sys.modules.get("networkx")
    kinds = (OSError, ValueError, TypeError, ImportError, MemoryError)
    return isinstance(error, kinds) or (networkx is not None and isinstance(error, networkx.NetworkXException))


def _message(error: Exception) -> str:
    if isinstance(error, ModuleNotFoundError) and error.name and "." not in error.name:
        return f"this needs {error.name}: pip install {error.name}"
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    return " ".join(str(error).split()) or type(error).__name__
