import subprocess

import networkx as nx
import pytest

from nx_fastonl.cli.main import main
from tests.cli.helpers import KNOWN, PROGRAM, write


@pytest.fixture
def run(tmp_path):
    """Run the command in a folder of its own."""

    def run(*arguments, **options):
        options = {"text": True, "cwd": tmp_path, "timeout": 60, **options}
        return subprocess.run([*PROGRAM, *map(str, arguments)], capture_output=True, check=False, **options)

    return run


@pytest.fixture
def call(tmp_path, monkeypatch, capsys):
    """The same in this process, which saves its start."""
    monkeypatch.chdir(tmp_path)

    def call(*arguments):
        try:
            code = main(list(map(str, arguments)))
        except SystemExit as stop:
            code = stop.code
        return subprocess.CompletedProcess(arguments, code, *capsys.readouterr())

    return call


@pytest.fixture
def club(tmp_path, karate):
    """The karate club as files: edges, weighted edges, some labels, all labels."""
    nx.write_edgelist(karate, tmp_path / "edges.txt", data=False)
    nx.write_weighted_edgelist(karate, tmp_path / "weighted.txt")
    write(tmp_path / "some.csv", {"node": list(KNOWN), "label": list(KNOWN.values())})
    clubs = nx.get_node_attributes(karate, "club")
    write(tmp_path / "all.csv", {"node": list(clubs), "label": list(clubs.values())})
    return tmp_path
