"""Errors, exit codes and closed streams."""

import errno
import io
import os
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from nx_fastonl import datasets, experiments
from tests.cli.helpers import PROGRAM, assert_fails

EDGE = "source,target\na,b\n"
LABEL = "label g.csv l.csv"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("files", "arguments", "message"),
    [
        ({"l.csv": "a,x\n"}, LABEL, "g.csv: No such file or directory"),
        (
            {"g.csv": EDGE, "l.csv": "a,x\n\nc,y\n"},
            LABEL,
            "l.csv, line 3: node 'c' is not in g.csv; --unknown skip leaves it out, --unknown add adds it "
            "without edges",
        ),
        (
            {"g.csv": EDGE + "b\n", "l.csv": "a,x\n"},
            LABEL,
            "g.csv, line 3: 1 column, but 2 in the first line; --columns 0,1 takes lines of any length",
        ),
        (
            {"g.csv": "a,b\n", "l.csv": "a,x\n"},
            LABEL,
            "g.csv, line 1: a, b may be a header or an edge; --header or --no-header says which",
        ),
        ({"g.csv": EDGE, "l.csv": ""}, LABEL, "l.csv has no labels"),
        (
            {"g.csv": EDGE, "l.csv": "node,age\n"},
            LABEL,
            "l.csv, line 1: columns node, age; expected node, label",
        ),
        ({"g.csv": EDGE}, "ppr g.csv --source c", "node 'c' is not in the graph"),
        (
            {"g.csv": EDGE},
            "ppr g.csv --source a --epsilon 0",
            "epsilon must be a positive number up to 1e+100, got 0.0",
        ),
        (
            {"g.csv": EDGE, "pyarrow.py": "raise ModuleNotFoundError"},
            "ppr g.csv --source a --format parquet",
            "Parquet files need pyarrow: pip install pyarrow",
        ),
    ],
)
def test_processes(run, tmp_path, files, arguments, message):
    for name, content in files.items():
        (tmp_path / name).write_text(content)
    arguments += " --output out.csv"
    assert_fails(run(*arguments.split()), message)
    assert {path.name for path in tmp_path.iterdir()} - {"__pycache__"} == set(files)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("label edges.txt some.csv --method magic", "unknown method 'magic'; the methods are"),
        ("label edges.txt some.csv --kernel K9", "unknown kernel 'K9'; the kernels are"),
        ("label edges.txt some.csv --smoothness nan", "smoothness must lie between"),
        ("label edges.txt some.csv --seed -1", "seed must be at least 0, got -1"),
        ("label edges.txt mixed.json --online --output out.parquet", "out.parquet: Parquet cannot hold column"),
        ("label edges.txt .", ".: Is a directory"),
        ("ppr edges.txt --source 0 --top 0", "top_k must be at least 1, got 0"),
        ("ppr edges.txt --source 0 --tol 1e-30", "tol must be at least"),
        ("ppr edges.txt --source 0 --output nowhere/out.csv", "nowhere: no such folder"),
        ("ppr edges.txt --source 0 --format csv --output .", ".: Is a directory"),
        ("ppr all.csv.gz --source 0", "all.csv.gz: No such file or directory"),
        ("experiment magic", "unknown experiment 'magic'; there are accuracy"),
        ("demo --out nowhere/demo.png", "nowhere: no such folder"),
        ("demo --seed -1", "seed must be at least 0, got -1"),
        (
            f"ppr edges.txt --source 0 --top {10**400}",
            "top_k must be at most 1e+100, got an integer of about 401 digits",
        ),
        (f"ppr edges.txt --source {'1' * 5_000}", f"node '{'1' * 119}... (5,002 characters) is not in the graph"),
        (
            f"experiment nnz --graphs {'x' * 5_000}",
            f"unknown dataset '{'x' * 119}... (5,002 characters); there are karate",
        ),
    ],
)
def test_in_this_process(call, club, arguments, message):
    pytest.importorskip("pyarrow")
    (club / "mixed.json").write_text('{"0": "x", "1": 2, "2": 1.5}')
    before = sorted(club.iterdir())
    found = call(*arguments.split())
    assert (found.returncode, found.stdout) == (1, "")
    assert found.stderr.startswith(f"nx-fastonl: {message}")
    assert found.stderr.count("\n") == 1
    assert sorted(club.iterdir()) == before


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("ppr edges.txt", "the following arguments are required: --source"),
        ("ppr edges.txt --source 0 --alpha much", "argument --alpha: expected a number, got 'much'"),
        ("ppr edges.txt --source 0 --top 1.5", "argument --top: expected a whole number, got '1.5'"),
        (f"label edges.txt some.csv --seed {'1' * 5_000}", f"got '{'1' * 119}... (5,002 characters)\n"),
        ("ppr edges.txt --source 0 --tol 1e-6 --epsilon 1e-6", "not allowed with argument"),
        ("ppr edges.txt --source 0 --output out.xyz", "the suffix of out.xyz names no known format: add --format"),
        ("ppr edges.txt --source 0 --format xml", "argument --format: invalid choice: 'xml'"),
        ("ppr edges.txt --source 0 --json --format tsv", "--json prints to standard output"),
        ("calls --format json program.py", "--format needs --output: name a file, or - for standard output"),
        ("ppr edges.txt --source 0 --tpo=3 9", "unrecognized arguments: --tpo=3 9; perhaps --top was meant"),
        ("info --bananas", "nx-fastonl info: error: unrecognized arguments: --bananas\n"),
        ("label - -", "GRAPH and LABELS cannot both come from standard input"),
        (
            "label edges.txt some.csv --directed --method fastonl",
            "method 'fastonl' needs an undirected graph: leave out --directed, or use --method adaptive",
        ),
        ("demo --out demo.xyz", "the suffix of demo.xyz names no format of pictures: use one of"),
        ("nonsense", "argument COMMAND: invalid choice: 'nonsense'"),
    ],
)
def test_wrong_usage(call, club, arguments, message):
    before = sorted(club.iterdir())
    found = call(*arguments.split())
    assert (found.returncode, found.stdout) == (2, "")
    assert message in found.stderr
    assert sorted(club.iterdir()) == before


def test_a_missing_package_is_named(call, monkeypatch):
    for name in {"sklearn", "sklearn.datasets"}:  # the second may have been imported before
        monkeypatch.setitem(sys.modules, name, None)
    assert call("demo").stderr == "nx-fastonl: the digits come with scikit-learn: pip install scikit-learn\n"

    def needs_pandas(*_, **__):
        raise ModuleNotFoundError("No module named 'pandas'", name="pandas")

    monkeypatch.setattr(experiments, "run", needs_pandas)
    assert call("experiment", "nnz").stderr == "nx-fastonl: this needs pandas: pip install pandas\n"


def test_faults_of_the_program_are_not_hidden(call, monkeypatch):
    monkeypatch.setattr(datasets, "summary", {}.__getitem__)
    with pytest.raises(KeyError):
        call("datasets")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
def test_no_room_for_the_answer(club):
    with Path("/dev/full").open("w") as full:
        found = subprocess.run(
            [*PROGRAM, "ppr", "edges.txt", "--source", "0"],
            cwd=club, stdout=full, stderr=subprocess.PIPE, text=True, check=False, timeout=60,
        )  # fmt: skip
    assert (found.returncode, found.stderr) == (1, "nx-fastonl: standard output: No space left on device\n")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
@pytest.mark.parametrize(("graph", "code"), [("edges.txt", 0), ("missing.txt", 1)])
def test_no_room_for_the_message(club, graph, code):
    with Path("/dev/full").open("w") as full:
        found = subprocess.run(
            [*PROGRAM, "ppr", graph, "--source", "0"],
            cwd=club, stdout=subprocess.PIPE, stderr=full, text=True, check=False, timeout=60,
        )  # fmt: skip
    assert (found.returncode, found.stdout.startswith("node,value\n0,")) == (code, code == 0)


@pytest.mark.parametrize(("name", "shown"), [("two\nlines", r"two\nlines"), ("\x1b[31mred", r"\x1b[31mred"), ("", ".")])
def test_odd_names_of_files(call, name, shown):
    found = call("ppr", name, "--source", "0")
    assert found.returncode == 1
    assert found.stderr.startswith("nx-fastonl: ")
    assert found.stderr.count("\n") == 1
    assert shown in found.stderr


def test_a_file_that_fails_while_it_is_read(call, monkeypatch):
    class Broken(io.RawIOBase):
        def readable(self):
            return True

        def readinto(self, _):
            raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(Path, "open", lambda *_: io.BufferedReader(Broken()))
    assert_fails(call("ppr", "disk.csv", "--source", "0"), f"disk.csv: {os.strerror(errno.EIO)}")


@pytest.mark.skipif(sys.platform != "linux", reason="names of files that are not text")
def test_a_folder_whose_name_is_no_text(tmp_path):
    folder = os.fsencode(tmp_path) + b"/\xff"
    found = subprocess.run([*PROGRAM, "example", "--out", folder], capture_output=True, cwd=tmp_path, timeout=60)
    assert (found.returncode, found.stderr) == (0, b"")
    assert found.stdout.startswith(folder + b"/friends.csv\n")


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX limits")
def test_the_disk_is_full(club):
    """As far as this process knows: it may write files of 512 bytes."""
    before = {path: path.read_bytes() for path in club.iterdir()}
    command = f"ulimit -f 1; {shlex.join(PROGRAM)} ppr edges.txt --source 0 --output all.csv"
    found = subprocess.run(["sh", "-c", command], capture_output=True, text=True, cwd=club, timeout=60)
    assert_fails(found, f"all.csv: {os.strerror(errno.EFBIG)}")
    assert {path: path.read_bytes() for path in club.iterdir()} == before


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX pipes")
def test_a_closed_pipe_ends_it_quietly(tmp_path):
    (tmp_path / "star.txt").write_text("".join(f"0 {leaf}\n" for leaf in range(1, 8_000)))
    command = [*PROGRAM, "ppr", "star.txt", "--source", "0"]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"node,value\n"
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(timeout=60) == 141


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
def test_an_interrupt_ends_it_quietly(tmp_path):
    command = [*PROGRAM, "ppr", "-", "--source", "0", "--output", "out.csv"]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, cwd=tmp_path, **pipes) as process:
        process.stdin.write(b"0 1\n" * 100_000)  # more than a pipe holds: afterwards, someone has begun to read
        process.stdin.flush()
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=60) == 130
        assert process.stdout.read() + process.stderr.read() == b""
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("stream", "code"), [("1>&-", 0), ("2>&-", 0), ("<&-", 1)])
def test_no_traceback(tmp_path, stream, code):
    (tmp_path / "edges.csv").write_text(EDGE)
    command = f"cat edges.csv | {shlex.join([sys.executable, *PROGRAM[3:]])} ppr - --source a {stream}"
    found = subprocess.run(["sh", "-c", command], capture_output=True, text=True, cwd=tmp_path)
    assert found.returncode == code
    assert found.stderr.count("\n") <= 1
