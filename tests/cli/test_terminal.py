"""What a terminal gets: names from files must not clear it, move its cursor or turn its lines around."""

import os
import subprocess

import pytest

from nx_fastonl._lib.checks import printable
from tests.cli.helpers import PROGRAM

pty = pytest.importorskip("pty", reason="Windows has no pseudo-terminals")

# It clears the screen, in two ways, sets a title, and turns the rest of the line around.
NASTY = "\x1b[2J\x9b2J\x1b]0;t\x07\u202egnp\x7f"
SAFE = "\\x1b[2J\\x9b2J\\x1b]0;t\\x07\\u202egnp\\x7f"


def on_terminal(folder, *arguments):
    """What the command writes where standard output and standard error are one terminal."""
    terminal, end = pty.openpty()
    command = [*PROGRAM, *map(str, arguments)]
    with subprocess.Popen(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=end, stderr=end) as process:
        os.close(end)
        content = b""
        try:
            while more := os.read(terminal, 1 << 16):
                content += more
        except OSError:  # Linux's end of file
            pass
        finally:
            os.close(terminal)
        process.wait(60)
    return content.decode().replace("\r\n", "\n")


@pytest.fixture
def files(tmp_path):
    (tmp_path / "edges.csv").write_text(f"a,{NASTY}\n{NASTY},b\nb,c\nc,a\n")
    (tmp_path / "labels.csv").write_text(f"a,{NASTY}\nb,other\n")
    (tmp_path / "unknown.csv").write_text(f"a,{NASTY}\nmissing{NASTY},other\n")
    (tmp_path / "events.csv").write_text(f"event,u,v,node\nedge,a,{NASTY},\nquestion,,,{NASTY}\n")
    return tmp_path


@pytest.mark.parametrize(
    "arguments",
    [
        "ppr edges.csv --source a",
        "ppr edges.csv --source a --json",
        "ppr edges.csv --source a --format json",
        "label edges.csv labels.csv",
        "label edges.csv unknown.csv",
        "label edges.csv unknown.csv --unknown skip",
        "replay events.csv",
        "replay events.csv --format csv",
        f"ppr edges.csv --source {NASTY}x",
        f"ppr {NASTY} --source a",
        f"ppr edges.csv --source a {NASTY}",
        f"ppr edges.csv --source a --format {NASTY}",
        f"{NASTY}",
    ],
    ids=repr,
)
def test_names_do_not_command_a_terminal(arguments, files):
    shown = on_terminal(files, *arguments.split(" "))
    assert not set(NASTY) & set(shown) - set("[2J]0;tgnp"), repr(shown)
    assert SAFE in shown or "u001b" in shown  # JSON writes them so


def test_a_file_and_a_pipe_get_names_as_they_are(run, files):
    assert f"\n{NASTY}," in run("ppr", "edges.csv", "--source", "a").stdout
    run("ppr", "edges.csv", "--source", "a", "--output", "out.csv")
    assert f"\n{NASTY}," in (files / "out.csv").read_text()


def test_cells_that_look_like_formulas_are_written_as_they_are(run, tmp_path):
    (tmp_path / "edges.csv").write_text('"=1+2",+b\n+b,-c\n-c,@d\n')
    names = [line.split(",")[0] for line in run("ppr", "edges.csv", "--source", "@d").stdout.splitlines()[1:]]
    assert sorted(names) == ["+b", "-c", "=1+2", "@d"]


@pytest.mark.parametrize("text", ["a\tb\nc", "Ünïcödé", "न\u200dम", "می\u200cش", "👩\u200d💻", "\xa0"])
def test_other_texts_are_shown_as_they_are(text):
    assert printable(text) == text


def test_half_of_a_character_is_escaped():
    assert printable("\ud800 \udcff") == "\\ud800 \\udcff"
