import re
import shlex
import subprocess
import sys
from typing import get_args

import pytest

import nx_fastonl as fo
from nx_fastonl.cli.arguments import make_parser, parse
from nx_fastonl.cli.formats import FORMATS
from nx_fastonl.kernels.table import KERNELS
from nx_fastonl.learners.registry import Method


def parsers():
    """The parser of each command by its name, and under "" that of the program."""
    parser = make_parser()
    (commands,) = (action for action in parser._actions if action.dest == "==SUPPRESS==" and action.choices)
    return {"": parser, **commands.choices}


PARSERS = parsers()


def examples(command):
    return [line.strip() for line in PARSERS[command].epilog.splitlines()[1:]]


def test_commands():
    assert set(PARSERS) == {
        "",
        "demo",
        "example",
        "label",
        "replay",
        "ppr",
        "ppr-matrix",
        "convert",
        "calls",
        "datasets",
        "experiment",
        "info",
    }


@pytest.mark.parametrize("command", PARSERS)
def test_help_teaches_by_examples(command):
    assert len(examples(command)) >= 2
    for example in examples(command):
        name, *arguments = shlex.split(example)
        arguments = [argument.replace("$SLURM_ARRAY_TASK_ID", "3") for argument in arguments]
        redirected = next((i for i, word in enumerate(arguments) if word in "<>"), len(arguments))
        assert name == "nx-fastonl"
        assert arguments[0] == (command or arguments[0])
        parse(arguments[:redirected])


@pytest.mark.skipif(sys.platform == "win32", reason="the examples are written for a POSIX shell")
@pytest.mark.parametrize("example", [*examples("label"), *examples("ppr"), *examples("")[1:]])
def test_examples_run_on_the_files_of_the_example(example, tmp_path):
    program = shlex.join([sys.executable, "-m", "nx_fastonl"])
    command = example.replace("nx-fastonl", program, 1)
    given = {"friends.csv", "clubs.csv"}
    if "--model" in example:
        (tmp_path / "more.csv").write_text("node,label\n1,Mr. Hi\n")
        command = f"{program} label friends.csv clubs.csv --save-model model && {command}"
        given.add("more.csv")
    found = subprocess.run(f"{program} example && {command}", shell=True, cwd=tmp_path, capture_output=True, text=True)
    assert found.returncode == 0, found.stderr
    written = {path.name for path in tmp_path.iterdir()} - given
    assert written == set(re.findall(r"(?:--output|--save-model|>) (\S+)", example))


def test_names_of_methods_kernels_and_formats():
    text = PARSERS["label"].description
    assert all(f" {name}" in text for name in get_args(Method))
    assert all(f" {name} ({recipe.alias})" in text for name, recipe in KERNELS.items())
    (formats,) = (action.choices for action in PARSERS["ppr"]._actions if action.dest == "format")
    assert formats == FORMATS


@pytest.mark.parametrize(
    ("argument", "shown"), [("--help", "usage: nx-fastonl"), ("--version", f"nx-fastonl {fo.__version__}\n")]
)
def test_help_and_version_load_nothing_heavy(argument, shown, tmp_path):
    program = "import sys; from nx_fastonl.cli.main import main\ntry: main([sys.argv[1]])\nexcept SystemExit: pass\n"
    program += "print([name for name in ('numpy', 'networkx', 'pandas', 'rich') if name in sys.modules])"
    command = [sys.executable, "-c", program, argument]
    text = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    assert text.startswith(shown)
    assert text.endswith("\n[]\n")


def test_a_program_needs_no_arguments(capsys):
    with pytest.raises(SystemExit):
        parse(["calls"])
    assert capsys.readouterr().err.endswith("error: the following arguments are required: PROGRAM\n")
    assert parse(["calls", "program.py"]).arguments == []
