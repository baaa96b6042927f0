"""The command line: as processes where pipes, codes and terminals matter, in this process otherwise."""

import csv
import io
import json
import os
import re
import shlex
import signal
import subprocess
import sys
from pathlib import Path
from typing import get_args

import networkx as nx
import pytest
from numpy.testing import assert_allclose

import nx_fastonl as fo
from nx_fastonl import _commands, _screen, _tables, cli, datasets, experiments
from nx_fastonl._kernel_table import KERNELS
from nx_fastonl._tables import FORMATS, TableError, parse_graph, parse_labels, render, write_file
from nx_fastonl.methods import Method

PROGRAM = [sys.executable, "-W", "error", "-m", "nx_fastonl"]
PATH = b"a,b\nb,c\n"
LABEL = "label g.csv l.csv"
KNOWN = {0: "Mr. Hi", 1: "Mr. Hi", 32: "Officer", 33: "Officer"}


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
            code = cli.main(list(map(str, arguments)))
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


def write(path, columns, file_format=None):
    path.write_bytes(render(columns, file_format or path.suffix[1:]))


def read(path, file_format=None):
    """A table that was written, as columns of Python objects; in CSV and TSV all are texts."""
    file_format, content = file_format or path.suffix[1:], path.read_bytes()
    if file_format == "json":
        rows = json.loads(content)
    elif file_format == "parquet":
        rows = pytest.importorskip("pyarrow.parquet").read_table(io.BytesIO(content)).to_pylist()
    else:
        rows = list(csv.DictReader(io.StringIO(content.decode()), delimiter=_tables.SEPARATORS[file_format]))
    return {name: [row[name] for row in rows] for name in rows[0]}


def reference(folder, weight="weight"):
    """The graph of the files, its nodes in the same order, by NetworkX and scipy alone."""
    G = nx.read_weighted_edgelist(folder / "weighted.txt", nodetype=int)
    return fo.CSRGraph.from_scipy(nx.to_scipy_sparse_array(G, weight=weight, format="csr"), nodes=list(G))


def edges_of(graph):
    return {frozenset((u, v)): weight for u, v, weight in graph.to_networkx().edges(data="weight", default=1.0)}


def assert_fails(found, message, code=1):
    assert (found.returncode, found.stdout) == (code, "")
    assert found.stderr.splitlines() == [f"nx-fastonl: {message}"]


class TestEdgeLists:
    @pytest.mark.parametrize("separator", [",", "\t", " ", "   ", ", ", " \t"])
    @pytest.mark.parametrize("header", ["", "source{}target\n", "Source{}Target\n"])
    @pytest.mark.parametrize("newline", ["\n", "\r\n"])
    def test_separators_headers_and_line_ends(self, separator, header, newline):
        text = (header.format(separator) + f"a{separator}b\nb{separator}c\n").replace("\n", newline)
        found = parse_graph(io.BytesIO(text.encode()), "graph")
        assert found.graph.nodes == ("a", "b", "c")
        assert edges_of(found.graph) == {frozenset("ab"): 1.0, frozenset("bc"): 1.0}

    @pytest.mark.parametrize("header", ["", "source,target,weight\n"])
    def test_weights(self, header):
        found = parse_graph(io.BytesIO(f"{header}a,b,0.5\nb,c,2e3\nc,d,0\n".encode()), "graph")
        assert edges_of(found.graph) == {frozenset("ab"): 0.5, frozenset("bc"): 2e3}
        assert "d" in found.graph

    def test_comments_and_empty_lines(self):
        found = parse_graph(io.BytesIO(b"\n# source,target,capacity\n\na b\n  # c d\n \t\nb c"), "graph")
        assert found.graph.nodes == ("a", "b", "c")

    def test_mark_of_the_encoding_and_other_alphabets(self):
        assert parse_graph(io.BytesIO("\ufeffsource,target\nÅse,Žofia\n".encode()), "graph").graph.nodes == (
            "Åse",
            "Žofia",
        )

    def test_quoted_names(self):
        content = b'"#a, b","say ""x"""\n"two\n# lines",c\n'
        assert parse_graph(io.BytesIO(content), "graph").graph.nodes == ("#a, b", 'say "x"', "two\n# lines", "c")

    def test_repeated_edges_add_up(self):
        lines = b"a b\nb a\nb c\n"
        assert edges_of(parse_graph(io.BytesIO(lines), "graph").graph) == {frozenset("ab"): 2.0, frozenset("bc"): 1.0}
        directed = parse_graph(io.BytesIO(lines), "graph", directed=True).graph
        assert sorted(directed.to_networkx().edges) == [("a", "b"), ("b", "a"), ("b", "c")]

    @pytest.mark.parametrize(
        ("content", "nodes"),
        [
            (b"10 -2\n-2 0\n", (10, -2, 0)),
            (b"1 2\n2 x\n", ("1", "2", "x")),
            (b"01 02\n02 3\n", ("01", "02", "3")),
            (b"1_0 +2\n", ("1_0", "+2")),
            (b"source,target\nleft,right\n1,2\n", ("left", "right", "1", "2")),
        ],
    )
    def test_names_are_integers_if_all_are(self, content, nodes):
        found = parse_graph(io.BytesIO(content), "graph")
        assert found.graph.nodes == nodes
        assert found.integers == isinstance(nodes[0], int)
        assert found.node("2") == (2 if found.integers else "2")

    @pytest.mark.parametrize(
        ("content", "message"),
        [
            (b"", "g.csv: there are no edges in it"),
            (b"# nothing\n\n", "g.csv: there are no edges in it"),
            (b"source,target\n", "g.csv: there are no edges in it"),
            (b"a b\nc\n", "g.csv, line 2: 1 column, but 2 in the first line"),
            (b"# two\na,b\n\na,b,1\n", "g.csv, line 4: 3 columns, but 2 in the first line"),
            (b"a b c d\n", "g.csv, line 1: 4 columns; expected two nodes and, optionally, a weight"),
            (b"abc\n", "g.csv, line 1: 1 column; expected two nodes"),
            (b"a,b\na,\n", "g.csv, line 2: column 2 is empty"),
            (b"a,b,heavy\n", "g.csv, line 1: weight 'heavy' is not a number"),
            (b"a,b,1\nb,c,-1\n", "g.csv, line 2: weight -1 is not 0 or a number between"),
            (b"a,b,nan\n", "g.csv, line 1: weight nan is not 0 or a number between"),
            (b"a,b,1e300\n", "g.csv, line 1: weight 1e300 is not 0 or a number between"),
            (b"source,target,capacity\n", "line 1: columns source, target, capacity; expected source, target and, opt"),
            (b"target,source\na,b\n", "g.csv, line 1: columns target, source; expected source, target"),
            (b"begin,end\n1,2\n2,3\n", "g.csv: begin, end looks like a header, which should read source, target"),
            (b"a,b\n\xff\xfe\n", "g.csv, line 2: not text in UTF-8"),
            (b'a,b\n"c,d\ne,f\n', "g.csv, line 2: unexpected end of data"),
            (b'a,b\n"c"d,e\n', "g.csv, line 2: "),
        ],
    )
    def test_what_is_wrong_and_where(self, content, message):
        with pytest.raises(TableError) as caught:
            parse_graph(io.BytesIO(content), "g.csv")
        assert message in str(caught.value)


class TestLabelTables:
    graph = parse_graph(io.BytesIO(PATH), "g.csv")

    @pytest.mark.parametrize(
        ("file_format", "content"),
        [
            ("csv", b"a,x\nb,\nc,y\n"),
            ("csv", b"node,label\na,x\nc,y\n"),
            ("csv", b"\xef\xbb\xbfLabel, Node\r\nx, a\r\ny, c\r\n"),
            ("tsv", b"# known\na\tx\n\nc\ty\n"),
            ("csv", b"node label\na x\nc y\n"),
            ("json", b'{"a": "x", "b": null, "c": "y"}'),
            ("json", b'[{"node": "a", "label": "x"}, {"label": "y", "node": "c"}]'),
        ],
    )
    def test_forms(self, file_format, content):
        found = parse_labels(content, "labels", file_format, self.graph)
        assert list(found.items()) == [("a", "x"), ("c", "y")]

    def test_parquet_made_by_pandas(self, tmp_path):
        pytest.importorskip("pyarrow")
        pd = pytest.importorskip("pandas")
        frame = pd.DataFrame({"node": ["b", "a", "c"], "label": pd.Categorical(["x", None, "y"])}, index=[5, 2, 7])
        frame.to_parquet(tmp_path / "labels.parquet")  # with the index in a column of its own
        assert _tables.read_labels(str(tmp_path / "labels.parquet"), self.graph) == {"b": "x", "c": "y"}

    @pytest.mark.parametrize("file_format", ["json", "parquet"])
    def test_types_of_labels_are_kept(self, file_format):
        if file_format == "parquet":
            pytest.importorskip("pyarrow")
        content = render({"node": ["a", "b", "c"], "label": [7, None, 8]}, file_format)
        assert parse_labels(content, "labels", file_format, self.graph) == {"a": 7, "c": 8}

    def test_integers_and_texts_follow_the_graph(self):
        integers = parse_graph(io.BytesIO(b"1 2\n2 3\n"), "g.csv")
        assert list(parse_labels(b'{"3": 0, "1": 1}', "labels", "json", integers)) == [3, 1]
        assert list(parse_labels(b'[{"node": 3, "label": 0}]', "labels", "json", integers)) == [3]
        assert parse_labels(b"3,0\n", "labels", "csv", integers) == {3: "0"}
        texts = parse_graph(io.BytesIO(b"1 x\n"), "g.csv")
        assert list(parse_labels(b'[{"node": 1, "label": 0}]', "labels", "json", texts)) == ["1"]

    @pytest.mark.parametrize(
        ("file_format", "content", "message"),
        [
            ("csv", b"", "f: there are no labels in it"),
            ("csv", b"node,label\n", "f: there are no labels in it"),
            ("csv", b"a,\n", "f: there are no labels in it"),
            ("csv", b"a,x\nd,y\n", "f, line 2: node 'd' is not in g.csv"),
            ("csv", b"id,kind\na,x\n", "f, line 1: node 'id' is not in g.csv; a header should read node, label"),
            ("csv", b"a,x\n\na,y\n", "f, line 3: node 'a' was there before, at line 1"),
            ("csv", b"node,class\na,x\n", "f, line 1: columns node, class; expected node, label"),
            ("csv", b"node,label,age\na,x,3\n", "f, line 1: columns node, label, age; expected node, label"),
            ("csv", b"a,x,3\n", "f, line 1: 3 columns (a, x, 3); expected node, label"),
            ("csv", b"a,x\nb\n", "f, line 2: 1 column (b); expected node, label"),
            ("csv", b"a,x\n\xff,y\n", "f, line 2: not text in UTF-8"),
            ("json", b"", "f, line 1: not JSON: Expecting value"),
            ("json", b'{"a": "x",\n "b"}', "f, line 2: not JSON: Expecting ':' delimiter"),
            ("json", b"\xff\xff", "f: not JSON"),
            ("json", b"[" * 100_000, "f: not JSON"),
            ("json", b"{}", "f: there are no labels in it"),
            ("json", b"3", 'f, entry 1: expected {"node": ..., "label": ...}, got 3'),
            ("json", b'[["a", "x"]]', 'f, entry 1: expected {"node": ..., "label": ...}, got ["a", "x"]'),
            ("json", b'[{"node": "a"}]', "f, entry 1: columns node; expected node, label"),
            ("json", b"[{}]", "f, entry 1: columns none; expected node, label"),
            ("json", b'{"a": "x", "d": "y"}', "f, entry 2: node 'd' is not in g.csv"),
            ("json", b'{"a": "x", "a": "y"}', "f, entry 2: node 'a' was there before, at entry 1"),
            ("json", b'{"a": ["x"]}', "f, entry 1: node 'a' has a label that is no text, number, true or false"),
            ("parquet", b"a,x\n", "f: not a Parquet file"),
        ],
    )
    def test_what_is_wrong_and_where(self, file_format, content, message):
        if file_format == "parquet":
            pytest.importorskip("pyarrow")
        with pytest.raises(TableError) as caught:
            parse_labels(content, "f", file_format, self.graph)
        assert str(caught.value) == message

    def test_columns_of_parquet(self):
        pytest.importorskip("pyarrow")
        with pytest.raises(TableError, match=r"^f: columns id, label, age; expected node, label$"):
            parse_labels(render({"id": ["a"], "label": ["x"], "age": [3]}, "parquet"), "f", "parquet", self.graph)
        with pytest.raises(TableError, match=r"^f, row 2: node 'd' is not in g\.csv$"):
            parse_labels(render({"node": ["a", "d"], "label": [1, 2]}, "parquet"), "f", "parquet", self.graph)


class TestTablesOut:
    @pytest.mark.parametrize("file_format", FORMATS)
    def test_what_is_written_can_be_read(self, file_format, tmp_path):
        names = ["a,b", 'say "x"', "#hash", "tab\tin", "two\nlines", "Žofia", "5"]
        labels = ["#1", '"', "x, y", "a\t.", "a\nb", "é", "5"]
        if file_format == "parquet":
            pytest.importorskip("pyarrow")
        edges = {"source": names, "target": [*names[1:], "end"]}
        write(tmp_path / "edges.csv", edges)
        graph = _tables.read_graph(str(tmp_path / "edges.csv"))
        path = tmp_path / f"labels.{file_format}"
        write(path, {"node": names, "label": labels})
        assert _tables.read_labels(str(path), graph) == dict(zip(names, labels, strict=True))

    @pytest.mark.parametrize("file_format", ["json", "parquet"])
    def test_types_and_gaps_are_kept(self, file_format, tmp_path):
        columns = {"node": [1, 2], "predicted": [None, "x"], "probability": [0.1, 1 / 3], "correct": [True, False]}
        path = tmp_path / f"t.{file_format}"
        if file_format == "parquet":
            pytest.importorskip("pyarrow")
        write(path, columns)
        assert read(path) == columns

    def test_text(self):
        columns = {"node": [1, 2], "predicted": [None, "x"], "probability": [0.1, 1 / 3]}
        assert render(columns, "csv") == f"node,predicted,probability\n1,,0.1\n2,x,{1 / 3}\n".encode()
        assert render(columns, "tsv") == f"node\tpredicted\tprobability\n1\t\t0.1\n2\tx\t{1 / 3}\n".encode()

    def test_empty(self):
        assert render({"node": [], "value": []}, "csv") == b"node,value\n"
        assert json.loads(render({"node": [], "value": []}, "json")) == []

    def test_a_file_is_replaced_as_a_whole(self, tmp_path, monkeypatch):
        path = tmp_path / "out.csv"
        write_file(path, b"old")
        link = tmp_path / "link.csv"
        link.symlink_to(path)
        write_file(link, b"new")
        assert (path.read_bytes(), link.is_symlink()) == (b"new", True)

        def fail(*_):
            raise OSError("no")

        monkeypatch.setattr(Path, "replace", fail)
        with pytest.raises(OSError, match="no"):
            write_file(path, b"newer")
        assert path.read_bytes() == b"new"
        assert sorted(tmp_path.iterdir()) == [link, path]

    def test_what_is_no_file_is_written_to(self):
        write_file(Path(os.devnull), b"gone")
        assert not Path(os.devnull).is_file()


class TestLabel:
    @pytest.mark.parametrize("file_format", FORMATS)
    def test_every_format_in_and_out(self, run, club, file_format):
        if file_format == "parquet":
            pytest.importorskip("pyarrow")
        write(club / f"known.{file_format}", {"node": list(KNOWN), "label": list(KNOWN.values())})
        found = run("label", "weighted.txt", f"known.{file_format}", "--output", f"out.{file_format}")
        assert (found.returncode, found.stdout) == (0, "")
        assert found.stderr == "34 nodes, 78 edges; 30 nodes labelled from 4 others\n"
        columns = read(club / f"out.{file_format}")
        graph = reference(club)
        model = fo.OnlineNodeLabeler(graph).fit(KNOWN)
        rest = [node for node in graph if node not in KNOWN]
        assert columns["predicted"] == model.predict_many(rest)
        assert list(map(int, columns["node"])) == rest
        expected = [max(model.predict_proba_one(node).values()) for node in rest]
        assert_allclose(list(map(float, columns["probability"])), expected, rtol=1e-12)

    def test_online(self, run, club, karate):
        found = run("label", "weighted.txt", "all.csv", "--online", "--kernel", "K1", "--smoothness", 0.5)
        expected = fo.online_node_labeling(reference(club), nx.get_node_attributes(karate, "club"), "K1", 0.5)
        rows = list(csv.DictReader(io.StringIO(found.stdout)))
        assert found.returncode == 0
        assert [row["predicted"] or None for row in rows] == list(expected)
        assert [row["truth"] for row in rows] == list(expected.truth)
        assert [row["correct"] for row in rows] == [str(right) for right in expected.correct]
        assert [int(row["node"]) for row in rows] == list(expected.nodes)
        message = f"error rate {expected.error_rate:.4f}: {expected.mistakes} mistakes in 34 nodes"
        assert found.stderr == f"34 nodes, 78 edges; {message}\n"

    def test_json_and_standard_input(self, run, club, karate):
        edges = (club / "edges.txt").read_text()
        arguments = ("--online", "--json", "--method", "weighted-tree", "--seed", 3)
        found = run("label", "-", "all.csv", *arguments, input=edges)
        answer = json.loads(found.stdout)
        clubs = nx.get_node_attributes(karate, "club")
        expected = fo.online_node_labeling(reference(club, None), clubs, method="weighted-tree", seed=3)
        assert (found.returncode, found.stderr) == (0, "")
        assert (answer["mistakes"], answer["error_rate"]) == (expected.mistakes, expected.error_rate)
        assert [row["predicted"] for row in answer["predictions"]] == list(expected)
        assert (answer["nodes"], answer["edges"], answer["labels"], answer["seed"]) == (34, 78, 34, 3)

    @pytest.mark.usefixtures("club")
    @pytest.mark.parametrize("file_format", ["csv", "json", "parquet"])
    def test_labels_from_standard_input_tell_their_format(self, file_format, monkeypatch, call):
        if file_format == "parquet":
            pytest.importorskip("pyarrow")
        content = render({"node": list(KNOWN), "label": list(KNOWN.values())}, file_format)
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
        assert json.loads(call("label", "edges.txt", "-", "--json").stdout)["classes"] == ["Mr. Hi", "Officer"]

    def test_json_beside_a_file(self, call, club):
        found = call("label", "edges.txt", "some.csv", "--json", "--output", "out.txt", "--format", "tsv")
        assert json.loads(found.stdout)["output"] == "out.txt"
        assert len(read(club / "out.txt", "tsv")["node"]) == 30

    @pytest.mark.usefixtures("club")
    def test_every_node_has_a_label(self, call):
        found = call("label", "edges.txt", "all.csv")
        assert (found.returncode, found.stdout) == (0, "node,predicted,probability\n")

    @pytest.mark.usefixtures("club")
    @pytest.mark.parametrize("method", get_args(Method))
    def test_every_method_is_reproducible(self, call, method):
        once, twice = (call("label", "edges.txt", "some.csv", "--method", method) for _ in range(2))
        assert once.stdout == twice.stdout
        assert once.stdout.count("\n") == 31


class TestPageRank:
    def test_values(self, run, club):
        found = run("ppr", "weighted.txt", "--source", 22, "--source", 0, "--alpha", 0.9, "--top", 5)
        expected, info = fo.personalized_pagerank_local(reference(club), 0.9, [22, 0], top_k=5, full_output=True)
        rows = list(csv.DictReader(io.StringIO(found.stdout)))
        assert found.returncode == 0
        assert [int(row["node"]) for row in rows] == list(expected)
        assert_allclose([float(row["value"]) for row in rows], list(expected.values()), rtol=1e-12)
        assert info.top_k_certain
        message = f"L1 error at most {info.l1_error:.1e}; these are certain to be the largest"
        assert found.stderr == f"34 nodes, 78 edges; {message}\n"

    def test_directed_with_a_tolerance(self, call, tmp_path):
        (tmp_path / "links.csv").write_text(
            "source,target,weight\nhome,news,2\nnews,about,1\nabout,home,1\nhome,about,1\n"
        )
        found = call("ppr", "links.csv", "--directed", "--source", "home", "--tol", 1e-10, "--output", "out.json")
        G = nx.read_weighted_edgelist(tmp_path / "links.csv", "source", ",", create_using=nx.DiGraph)
        G.remove_nodes_from(["source", "target"])
        exact = nx.pagerank(G, personalization={"home": 1}, tol=1e-14)
        columns = read(tmp_path / "out.json")
        assert found.returncode == 0
        assert columns["node"] == sorted(exact, key=lambda node: -exact[node])
        assert_allclose(columns["value"], [exact[node] for node in columns["node"]], atol=1e-10)

    def test_json_has_the_certificate(self, call, club):
        answer = json.loads(call("ppr", "weighted.txt", "--source", 5, "--epsilon", 1e-3, "--json").stdout)
        graph = reference(club)
        expected, info = fo.personalized_pagerank_local(graph, personalization=5, epsilon=1e-3, full_output=True)
        assert {row["node"]: row["value"] for row in answer["values"]} == pytest.approx(expected)
        assert (answer["sources"], answer["alpha"], answer["top_certain"]) == ([5], 0.85, None)
        assert (answer["l1_error"], answer["operations"]) == (pytest.approx(info.l1_error), info.operations)


class TestErrors:
    """One line on standard error, a code, and no file left behind."""

    @pytest.mark.parametrize(
        ("files", "arguments", "message"),
        [
            ({"l.csv": "a,x\n"}, LABEL, "g.csv: No such file or directory"),
            ({"g.csv": "a,b\n", "l.csv": "a,x\n\nc,y\n"}, LABEL, "l.csv, line 3: node 'c' is not in g.csv"),
            ({"g.csv": "a,b\nb\n", "l.csv": "a,x\n"}, LABEL, "g.csv, line 2: 1 column, but 2 in the first line"),
            ({"g.csv": "a,b\n", "l.csv": ""}, LABEL, "l.csv: there are no labels in it"),
            (
                {"g.csv": "a,b\n", "l.csv": "node,age\n"},
                LABEL,
                "l.csv, line 1: columns node, age; expected node, label",
            ),
            ({"g.csv": "a,b\n"}, "ppr g.csv --source c", "node 'c' is not in the graph"),
            (
                {"g.csv": "a,b\n"},
                "ppr g.csv --source a --epsilon 0",
                "epsilon must be a positive number up to 1e+100, got 0.0",
            ),
            (
                {"g.csv": "a,b\n", "pyarrow.py": "raise ModuleNotFoundError"},
                "ppr g.csv --source a --format parquet",
                "Parquet files need pyarrow: pip install pyarrow",
            ),
        ],
    )
    def test_processes(self, run, tmp_path, files, arguments, message):
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
            ("label edges.txt mixed.json --online --output out.parquet", ""),
            ("label edges.txt .", ".: Is a directory"),
            ("ppr edges.txt --source 0 --top 0", "top_k must be at least 1, got 0"),
            ("ppr edges.txt --source 0 --tol 1e-30", "tol must be at least"),
            ("ppr edges.txt --source 0 --output nowhere/out.csv", "nowhere: no such folder"),
            ("ppr edges.txt --source 0 --format csv --output .", ".: Is a directory"),
            ("ppr all.csv.gz --source 0", "all.csv.gz: No such file or directory"),
            ("experiment magic", "unknown experiment 'magic'; there are accuracy"),
            ("demo --out nowhere/demo.png", "nowhere: no such folder"),
        ],
    )
    def test_in_this_process(self, call, club, arguments, message):
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
            ("ppr edges.txt --source 0 --alpha much", "argument --alpha: invalid float value: 'much'"),
            ("ppr edges.txt --source 0 --tol 1e-6 --epsilon 1e-6", "not allowed with argument"),
            ("ppr edges.txt --source 0 --output out.xyz", "the suffix of out.xyz tells no format: add --format"),
            ("ppr edges.txt --source 0 --format xml", "argument --format: invalid choice: 'xml'"),
            ("ppr edges.txt --source 0 --json --format tsv", "--json prints to standard output"),
            ("label - -", "GRAPH and LABELS cannot both come from standard input"),
            ("label edges.txt some.csv --directed", "unrecognized arguments: --directed"),
            ("demo --out demo.xyz", "the suffix of demo.xyz tells no format of pictures: there are"),
            ("nonsense", "argument COMMAND: invalid choice: 'nonsense'"),
        ],
    )
    def test_wrong_usage(self, call, club, arguments, message):
        before = sorted(club.iterdir())
        found = call(*arguments.split())
        assert (found.returncode, found.stdout) == (2, "")
        assert message in found.stderr
        assert sorted(club.iterdir()) == before

    def test_a_missing_package_is_named(self, call, monkeypatch):
        for name in {"sklearn", "sklearn.datasets"}:  # the second may have been imported before
            monkeypatch.setitem(sys.modules, name, None)
        assert call("demo").stderr == "nx-fastonl: the digits come with scikit-learn: pip install scikit-learn\n"

        def needs_pandas(*_, **__):
            raise ModuleNotFoundError("No module named 'pandas'", name="pandas")

        monkeypatch.setattr(experiments, "run", needs_pandas)
        assert call("experiment", "nnz").stderr == "nx-fastonl: this needs pandas: pip install pandas\n"

    def test_faults_of_the_program_are_not_hidden(self, call, monkeypatch):
        monkeypatch.setattr(datasets, "summary", {}.__getitem__)
        with pytest.raises(KeyError):
            call("datasets")

    @pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
    def test_no_room_for_the_answer(self, club):
        with Path("/dev/full").open("w") as full:
            found = subprocess.run(
                [*PROGRAM, "ppr", "edges.txt", "--source", "0"],
                cwd=club, stdout=full, stderr=subprocess.PIPE, text=True, check=False, timeout=60,
            )  # fmt: skip
        assert (found.returncode, found.stderr) == (1, "nx-fastonl: No space left on device\n")

    @pytest.mark.skipif(sys.platform == "win32", reason="POSIX pipes")
    def test_a_closed_pipe_ends_it_quietly(self, tmp_path):
        (tmp_path / "star.txt").write_text("".join(f"0 {leaf}\n" for leaf in range(1, 8_000)))
        command = [*PROGRAM, "ppr", "star.txt", "--source", "0"]
        with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            assert process.stdout.readline() == b"node,value\n"
            process.stdout.close()
            assert process.stderr.read() == b""
            assert process.wait(timeout=60) == 141

    @pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
    def test_an_interrupt_ends_it_quietly(self, tmp_path):
        command = [*PROGRAM, "ppr", "-", "--source", "0", "--output", "out.csv"]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        with subprocess.Popen(command, cwd=tmp_path, **pipes) as process:
            process.stdin.write(b"0 1\n" * 100_000)  # more than a pipe holds: afterwards, someone has begun to read
            process.stdin.flush()
            process.send_signal(signal.SIGINT)
            assert process.wait(timeout=60) == 130
            assert process.stdout.read() + process.stderr.read() == b""
        assert list(tmp_path.iterdir()) == []


class TestHelp:
    @pytest.fixture
    def parsers(self):
        parser = cli.make_parser()
        (commands,) = (action for action in parser._actions if action.dest == "==SUPPRESS==" and action.choices)
        return {"": parser, **commands.choices}

    def test_every_command_teaches_by_examples(self, parsers):
        assert set(parsers) == {"", "demo", "label", "ppr", "datasets", "experiment", "info"}
        for parser in parsers.values():
            examples = parser.epilog.splitlines()[1:]
            assert len(examples) >= 2
            for example in examples:
                name, *arguments = shlex.split(example)
                redirected = next((i for i, word in enumerate(arguments) if word in "<>"), len(arguments))
                assert name == "nx-fastonl"
                parsers[""].parse_args(arguments[:redirected])

    def test_names_of_methods_kernels_and_formats(self, parsers):
        text = parsers["label"].description
        assert all(f" {name}" in text for name in get_args(Method))
        assert all(f" {name} ({recipe.alias})" in text for name, recipe in KERNELS.items())
        (formats,) = (action.choices for action in parsers["ppr"]._actions if action.dest == "format")
        assert formats == FORMATS

    def test_help_and_version_load_nothing_heavy(self, tmp_path):
        program = "import sys; from nx_fastonl.cli import main\ntry: main([sys.argv[1]])\nexcept SystemExit: pass\n"
        program += "print([name for name in ('numpy', 'networkx', 'pandas', 'rich') if name in sys.modules])"
        for argument, shown in [("--help", "usage: nx-fastonl"), ("--version", f"nx-fastonl {fo.__version__}\n")]:
            command = [sys.executable, "-c", program, argument]
            text = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True).stdout
            assert text.startswith(shown)
            assert text.endswith("\n[]\n")


class TestInfo:
    def test_what_works(self, run):
        found = run("info", "--json")
        report = json.loads(found.stdout)
        assert (found.returncode, found.stderr) == (0, "")
        assert report["packages"]["nx_fastonl"] == fo.__version__
        assert report["packages"]["networkx"] == nx.__version__
        assert report["backend"]
        assert report["compiled"] == dict.fromkeys(_commands.EXTENSIONS, True)

    def test_names_of_compiled_modules(self):
        assert sorted(_commands.EXTENSIONS) == sorted(path.stem for path in Path(fo.__file__).parent.glob("*.pyx"))

    def test_what_does_not_work(self, call, monkeypatch):
        monkeypatch.setattr(_commands, "EXTENSIONS", ("_push", "_pull"))
        monkeypatch.setattr(_commands, "OPTIONAL_PACKAGES", ("no-such-package",))
        monkeypatch.delenv("NX_FASTONL_DATA", raising=False)
        monkeypatch.setitem(sys.modules, "pooch", None)
        lines = call("info").stdout.splitlines()
        assert "compiled modules  _pull cannot be loaded" in lines
        assert "no-such-package   not installed" in lines
        assert "data folder       unknown without pooch" in lines


class TestDatasets:
    def test_those_that_are_there(self, call, tmp_path):
        (tmp_path / "cora.npz").touch()
        rows = json.loads(call("datasets", "--json", "--data-home", tmp_path).stdout)
        assert [row["name"] for row in rows] == list(datasets.DATASETS)
        there = {row["name"] for row in rows if row["available"]}
        assert {"karate", "digits", "cora"} <= there
        assert "ogbn-arxiv" not in there
        assert all(row["description"] == datasets.summary(row["name"]) for row in rows)

    def test_without_pooch(self, call, monkeypatch):
        monkeypatch.delenv("NX_FASTONL_DATA", raising=False)
        monkeypatch.setitem(sys.modules, "pooch", None)
        lines = [line.split(None, 2) for line in call("datasets").stdout.splitlines()]
        assert ["karate", "yes", datasets.summary("karate")] in lines
        assert ["cora", "no", datasets.summary("cora")] in lines


class TestDemo:
    @pytest.fixture
    def _small(self, monkeypatch):
        pytest.importorskip("matplotlib")
        monkeypatch.setattr(datasets, "load_digits_graph", datasets.load_karate)

    @pytest.mark.usefixtures("_small")
    def test_json(self, call, tmp_path):
        found = call("demo", "--json", "--seed", 4, "--out", "curves.svg")
        answer = json.loads(found.stdout)
        assert (found.returncode, found.stderr) == (0, "")
        assert [row["method"] for row in answer["methods"]] == list(get_args(Method))
        assert all(row["accuracy"] == pytest.approx(1 - row["mistakes"] / 34) for row in answer["methods"])
        assert [path.name for path in tmp_path.iterdir()] == [answer["picture"]] == ["curves.svg"]
        assert b"<svg" in (tmp_path / "curves.svg").read_bytes()

    @pytest.mark.usefixtures("_small")
    def test_plain_text(self, call, tmp_path):
        lines = call("demo").stdout.splitlines()
        assert lines[0].split() == ["method", "accuracy", "mistakes", "seconds"]
        assert [line.split()[0] for line in lines[1:7]] == list(get_args(Method))
        assert lines[-1] == "Error rates as they fell: nx-fastonl-demo.png"
        assert (tmp_path / "nx-fastonl-demo.png").read_bytes().startswith(b"\x89PNG")

    @pytest.mark.skipif(sys.platform == "win32", reason="pseudo-terminals")
    def test_live_table_on_a_terminal(self, tmp_path):
        for package in ("rich", "sklearn", "matplotlib"):
            pytest.importorskip(package)
        pexpect = pytest.importorskip("pexpect")
        screen = pexpect.spawn(
            PROGRAM[0],
            [*PROGRAM[1:], "demo"],
            cwd=str(tmp_path),
            env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},  # more would wait for each other on a busy machine
            dimensions=(40, 100),
            timeout=60,
            encoding="utf-8",
        )
        screen.expect(r"fastonl +\r\n")  # a method that is yet to run
        screen.expect(r"fastonl +0\.9\d\d +\d+ +\d+\.\d\d +\r\n +fastonl-fifo +\r\n")
        screen.expect(r"weighted-tree +0\.9\d\d +\d+ +\d+\.\d\d")
        screen.expect("Error rates as they fell: nx-fastonl-demo.png")
        screen.expect(pexpect.EOF)
        screen.close()
        assert screen.exitstatus == 0
        assert [path.name for path in tmp_path.iterdir()] == ["nx-fastonl-demo.png"]


class TestExperiment:
    def test_list(self, call):
        lines = call("experiment").stdout.splitlines()[1:]
        assert [line.split()[0] for line in lines] == list(experiments.EXPERIMENTS)

    def test_arguments(self, call, monkeypatch):
        seen = {}

        def run(name, **options):
            seen.update(name=name, **options)
            pd = pytest.importorskip("pandas")
            return pd.DataFrame({"graph": ["a", "b"], "x": [0.25, None]}).set_index("graph")

        monkeypatch.setattr(experiments, "run", run)
        monkeypatch.setattr(experiments, "summary", lambda _, frame: frame)
        arguments = "--graphs cora,karate --trials 3 --jobs 2 --out there --data-home here"
        lines = call("experiment", "nnz", *arguments.split()).stdout.splitlines()
        assert lines[0] == f"{experiments.EXPERIMENTS['nnz'].title}: the part of the nodes reached, by step"
        assert [line.split() for line in lines[2:5]] == [["graph", "x"], ["a", "0.25"], ["b"]]
        assert seen == {
            "name": "nnz", "graphs": ["cora", "karate"], "trials": 3, "quick": False, "jobs": 2, "out": Path("there"),
            "data_home": "here", "progress": False,
        }  # fmt: skip

    def test_quick(self, run, tmp_path):
        pytest.importorskip("matplotlib")
        found = run("experiment", "nnz", "--quick", "--graphs", "karate", "--out", "there")
        assert (found.returncode, found.stderr) == (0, "")
        lines = found.stdout.splitlines()
        assert lines[3].startswith("karate")
        assert lines[-1] == "All figures: there/nnz-quick.csv, there/nnz-quick.png"
        assert all((tmp_path / "there" / f"nnz-quick.{suffix}").is_file() for suffix in ("csv", "png"))

    def test_json(self, call, tmp_path):
        pytest.importorskip("matplotlib")
        report = json.loads(call("experiment", "nnz", "--graphs", " karate, ", "--trials", 1, "--json").stdout)
        assert report["experiment"] == "nnz"
        assert report["summary"][0]["graph"] == "karate"
        assert all((tmp_path / file).is_file() for file in report["files"])
        assert list(json.loads(call("experiment", "--json").stdout)) == list(experiments.EXPERIMENTS)


class TestClosedStreams:
    @pytest.mark.parametrize(("stream", "code"), [("1>&-", 0), ("2>&-", 0), ("<&-", 1)])
    def test_no_traceback(self, tmp_path, stream, code):
        command = f"echo a,b | {shlex.join([sys.executable, *PROGRAM[3:]])} ppr - --source a {stream}"
        found = subprocess.run(["sh", "-c", command], capture_output=True, text=True, cwd=tmp_path)
        assert found.returncode == code
        assert found.stderr.count("\n") <= 1


class TestWhatParquetCannotHold:
    def test_column_is_named(self):
        pytest.importorskip("pyarrow")
        for values in ([10**30], [1, "x"]):
            with pytest.raises(TableError, match=r"^Parquet cannot hold column node \(.*\); csv and json can$"):
                render({"node": values}, "parquet")


@pytest.mark.parametrize("header", ["from,to", "SRC,DST", "u\tv", "source target"])
def test_headers_by_other_names(header):
    separator = "\t" if "\t" in header else "," if "," in header else " "
    lines = [header.encode(), separator.join("ab").encode()]
    assert list(parse_graph(lines, "g").graph) == ["a", "b"]


def test_file_keeps_its_permissions(tmp_path):
    path = tmp_path / "mine.csv"
    path.write_text("old")
    path.chmod(0o600)
    write_file(path, b"new")
    assert (path.read_text(), path.stat().st_mode & 0o777) == ("new", 0o600)


class TestScreen:
    @pytest.fixture
    def shown(self, capsys, monkeypatch):
        """What a table looks like on a terminal of some width."""
        pytest.importorskip("rich")

        def shown(width, *table):
            monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
            monkeypatch.setenv("COLUMNS", str(width))
            _screen.show_table(*table)
            return re.sub(r"\x1b\[\d+m", "", capsys.readouterr().out)  # without bold

        return shown

    def test_texts_are_wrapped(self, shown):
        text = shown(40, ("name", "text"), [("[bold]", "word " * 20)])
        assert max(map(len, text.splitlines())) <= 40
        assert text.count("word") == 20
        assert "[bold]" in text

    @pytest.mark.parametrize("width", [40, 200])
    def test_numbers_are_never_cut(self, shown, width):
        numbers = [f"{1 / i:.6f}" for i in range(1, 9)]
        text = shown(width, ("graph", *map(str, range(8))), [("karate", *numbers)], range(1, 9))
        assert ("\u2500" in text) == (width == 200)
        assert all(number in text for number in numbers)

    def test_without_rich(self, shown, monkeypatch):
        monkeypatch.setitem(sys.modules, "rich", None)
        assert shown(40, ("name", "text"), [("a", "b")]) == "name  text\na     b\n"
