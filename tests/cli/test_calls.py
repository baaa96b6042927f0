"""`nx-fastonl calls`: a program runs as it would without it, and its calls of NetworkX are listed."""

import csv
import os
import signal
import subprocess
import sys
import zipfile

import pytest

from tests.cli.helpers import PROGRAM

CALLS = [*PROGRAM, "calls"]
KATZ = "converting a graph of 4 nodes would take longer than NetworkX does"
# What python does with a program, told by the program.
SELF = """
import atexit, sys, threading
import __main__

print(sys.argv[1:], sys.path[0], __name__, __main__.__dict__ is globals(), __file__, getattr(__spec__, "name", None))
atexit.register(lambda: print("at exit", __main__.value))
threading.Timer(0.2, lambda: print("thread")).start()
value = 7
"""
NETWORKX = """
import networkx as nx

G = nx.path_graph(4)
for _ in range(3):
    nx.pagerank(G)
nx.katz_centrality(G)
nx.average_clustering(G)
nx.pagerank(G, backend="networkx")
"""


@pytest.fixture
def both(tmp_path):
    """Run a program plainly and by the command, both in a folder of its own."""

    def both(*arguments, environment=None):
        env = {**os.environ, **(environment or {})}
        options = {"capture_output": True, "text": True, "cwd": tmp_path, "env": env, "check": False, "timeout": 60}
        plain = subprocess.run([sys.executable, *arguments], **options)
        return plain, subprocess.run([*CALLS, *arguments], **options)

    return both


def test_a_program_is_run_as_python_runs_it(both, tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "program.py").write_text(SELF)
    (tmp_path / "folder" / "__init__.py").touch()
    for arguments in (
        ("folder/program.py", "a", "-m", "--", "--output", "x"),
        ("-m", "folder.program", "--inner"),
    ):
        plain, seen = both(*arguments)
        assert "at exit" in plain.stdout
        if arguments[0] == "-m":  # runpy takes the module away before Python exits, and its threads are waited for
            plain, seen = (found.stdout.splitlines()[0] for found in (plain, seen))
            assert seen == plain
        else:
            assert seen.stdout == plain.stdout
            assert seen.stderr == "0 of 0 calls of NetworkX ran in fastonl\n"


@pytest.mark.parametrize(
    "ending", ["sys.exit()", "sys.exit(3)", "sys.exit('wrong')", "sys.exit(None)", "raise ValueError('x')", "f(", "1"]
)
def test_errors_and_exit_codes_are_those_of_the_program(both, tmp_path, ending):
    (tmp_path / "program.py").write_text(f"import sys\n\ndef f():\n    return 1\n\n{ending}\n")
    plain, seen = both("program.py")
    assert seen.returncode == plain.returncode
    *shown, last = seen.stderr.splitlines()
    assert shown == plain.stderr.splitlines()
    assert last == "0 of 0 calls of NetworkX ran in fastonl"


def test_a_folder_and_a_zip_file_are_programs(both, tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "__main__.py").write_text("import other\nprint(other.__name__, __name__)\n")
    (tmp_path / "folder" / "other.py").touch()
    with zipfile.ZipFile(tmp_path / "program.zip", "w") as file:
        for path in (tmp_path / "folder").glob("*.py"):
            file.write(path, path.name)
    for program in ("folder", "program.zip"):
        plain, seen = both(program)
        assert (seen.returncode, seen.stdout) == (plain.returncode, plain.stdout) == (0, "other __main__\n")


def test_calls_are_listed_by_where_they_ran_and_why(run, tmp_path):
    (tmp_path / "program.py").write_text(NETWORKX)
    found = run("calls", "--output", "calls.csv", "program.py", env=_clean())
    assert found.stderr.startswith("3 of 7 calls of NetworkX ran in fastonl\n")
    rows = list(csv.DictReader((tmp_path / "calls.csv").read_text().splitlines()))
    assert sorted((row["function"], row["ran_in"], row["calls"], row["why"]) for row in rows) == [
        ("average_clustering", "networkx", "1", "the backend does not have it"),
        ("katz_centrality", "networkx", "1", KATZ),
        ("pagerank", "fastonl", "3", ""),
        ("pagerank", "networkx", "1", 'the call says backend="networkx"'),
        ("path_graph", "networkx", "1", "the backend does not have it"),
    ]
    assert all(0.0 <= float(row["seconds"]) < 60.0 for row in rows)


def test_the_table_goes_to_standard_error(run, tmp_path):
    (tmp_path / "program.py").write_text(NETWORKX)
    found = run("calls", "program.py", env=_clean())
    lines = found.stderr.splitlines()
    assert found.stdout == ""
    assert lines[0] == "3 of 7 calls of NetworkX ran in fastonl"
    assert lines[1].startswith("2 of them used a graph as it was converted before; ")
    assert lines[2].split() == ["function", "ran_in", "calls", "seconds", "why"]
    assert len(lines) == 8


def test_the_environment_may_name_other_backends(run, tmp_path):
    (tmp_path / "program.py").write_text(NETWORKX)
    found = run("calls", "program.py", env=_clean() | {"NETWORKX_BACKEND_PRIORITY": "networkx"})
    assert "0 of 7 calls" in found.stderr
    assert "NetworkX's configuration does not name the backend for it" in found.stderr


def test_a_program_that_is_not_there(run):
    for arguments, message in (
        (["nothing.py"], "nothing.py: no such program; -m names a module"),
        (["-m", "nothing.at.all"], "there is no module nothing.at.all"),
    ):
        found = run("calls", *arguments)
        assert (found.returncode, found.stdout, found.stderr) == (1, "", f"nx-fastonl: {message}\n")


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGINT for another process")
def test_ctrl_c_ends_the_program_and_lists_its_calls(tmp_path):
    (tmp_path / "program.py").write_text(f"{NETWORKX}\nimport time\nprint(1, flush=True)\ntime.sleep(60)\n")
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "cwd": tmp_path}
    with subprocess.Popen([*CALLS, "program.py"], env=_clean(), **options) as process:
        process.stdout.readline()
        process.send_signal(signal.SIGINT)
        error = process.communicate(timeout=60)[1]
    assert process.returncode == 130
    assert "KeyboardInterrupt\n3 of 7 calls" in error


def _clean():
    return {name: value for name, value in os.environ.items() if not name.startswith("NETWORKX_")}
