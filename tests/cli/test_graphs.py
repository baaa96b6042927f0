"""Graphs from files and folders: options, warnings and the names of nodes."""

import pytest

from nx_fastonl.cli.arguments import parse
from nx_fastonl.cli.graphs import NamedGraph, in_options, open_or_read
from nx_fastonl.graph.csr import CSRGraph


@pytest.mark.parametrize(
    ("graph", "given", "node"),
    [
        (CSRGraph.from_edges([0], [5], n=6), "5", 5),
        (CSRGraph.from_edges([0], [5], n=6), 5, 5),
        (CSRGraph.from_edges([0], [5], n=6), "05", "05"),
        (CSRGraph.from_edges([0], [5], n=6), "6", 6),
        (CSRGraph.from_edges([0], [5], n=6), "2" * 5_000, "2" * 5_000),
        (CSRGraph.from_edges(["5"], ["x"]), 5, "5"),
        (CSRGraph.from_edges(["5"], ["x"]), "6", "6"),
        (CSRGraph.from_edges([0], [1], nodes=[7, "x"]), "7", 7),
        (CSRGraph.from_edges([0], [1], nodes=[7, "x"]), "x", "x"),
        (CSRGraph.from_edges([0], [1], nodes=[7, "7"]), "7", "7"),
    ],
)
def test_names_of_nodes_in_other_files(graph, given, node):
    found = NamedGraph("g", graph).node(given)
    assert (found, type(found)) == (node, type(node))


def test_nodes_without_edges():
    graph = CSRGraph.from_edges([0, 2], [1, 2], n=5, directed=True)
    assert NamedGraph("g", graph).without_edges([4, 2, 1, 0]) == [4]


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("header=True keeps it, header=False reads it", "--header keeps it, --no-header reads it"),
        ("columns=(0, 1) ignores weights", "--columns 0,1 ignores weights"),
        ("columns=('from', \"to\") names others", "--columns from,to names others"),
        ("pass columns= or directed=True", "pass --columns or --directed"),
        ('comments="" reads them, delimiter=";" too', '--comments "" reads them, --delimiter ";" too'),
    ],
)
def test_messages_name_options(message, expected):
    assert in_options(message) == expected


def read(path, *options):
    return open_or_read(parse(["ppr", str(path), "--source", "0", *options])).graph


def test_options_reach_the_reader(tmp_path):
    path = tmp_path / "edges.txt"
    path.write_text("a;b;3;x y\n%c;d;4;z\n")
    assert list(read(path, "--no-header", "--columns", "0,1", "--comments", "")) == ["a", "b", "%c", "d"]
    assert list(read(path, "--header", "--columns", "a,x y", "--comments", "#")) == ["%c", "z"]
    graph = read(path, "--no-header", "--columns=0,1,2", "--directed")
    assert (list(graph), graph.weights.tolist(), graph.is_directed()) == (["a", "b"], [3.0], True)
    path.write_text("a b\tc\nc\td e\n")
    assert list(read(path, "--delimiter", r"\t", "--no-header")) == ["a b", "c", "d e"]


@pytest.mark.parametrize("text", ["0", "0,1,2,3", "from,", ""])
def test_columns_that_are_none(text, capsys):
    with pytest.raises(SystemExit):
        parse(["convert", "edges.txt", "graph", f"--columns={text}"])
    assert "expected two or three columns with commas between" in capsys.readouterr().err


def test_a_header_that_was_found_is_told_in_a_line(tmp_path, capsys):
    path = tmp_path / "edges.csv"
    path.write_text("follower,followee\n1,2\n2,3\n")
    assert list(read(path)) == [1, 2, 3]
    error = capsys.readouterr().err
    assert error.startswith(f"warning: {path}, line 1: ")
    assert error.count("\n") == 1
    assert "--no-header" in error
    assert list(read(path, "--header")) == [1, 2, 3]
    assert capsys.readouterr().err == ""
