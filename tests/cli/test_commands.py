"""The commands: as processes where pipes and terminals matter, in this process otherwise."""

import csv
import gzip
import io
import json
import os
import shlex
import sys
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from typing import get_args

import networkx as nx
import numpy as np
import pytest
from numpy.testing import assert_allclose

import nx_fastonl as fo
from nx_fastonl import datasets, experiments
from nx_fastonl.cli import commands, installation
from nx_fastonl.cli.formats import FORMATS
from nx_fastonl.cli.render import render
from nx_fastonl.experiments import peers
from nx_fastonl.learners.registry import Method
from nx_fastonl.learners.voters import WeightedMajority
from nx_fastonl.push.matrix import PageRankRows
from tests.cli.helpers import KNOWN, PROGRAM, assert_fails, read, reference, write

LABEL_EXAMPLE = "nx-fastonl label friends.csv clubs.csv"


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
        expected = [
            model.predict_proba_one(node)[label] for node, label in zip(rest, columns["predicted"], strict=True)
        ]
        assert_allclose(list(map(float, columns["probability"])), expected, rtol=1e-12)

    @pytest.mark.usefixtures("club")
    def test_shares_in_several_blocks(self, call, monkeypatch):
        at_once = call("label", "edges.txt", "some.csv").stdout
        monkeypatch.setattr(commands, "SHARE_NODES", 7)
        assert call("label", "edges.txt", "some.csv").stdout == at_once

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
    @pytest.mark.parametrize("method", ["adaptive", "weighted-majority"])
    def test_directed(self, call, karate, method):
        G = nx.DiGraph()
        G.add_nodes_from(range(34))  # in the order of the file's graph: it breaks ties
        G.add_edges_from(karate.edges)
        clubs = nx.get_node_attributes(karate, "club")
        stream = call("label", "edges.txt", "all.csv", "--directed", "--online", "--method", method)
        expected = fo.online_node_labeling(G, clubs, method=method, seed=0)
        rows = list(csv.DictReader(io.StringIO(stream.stdout)))
        assert [row["predicted"] or None for row in rows] == list(expected.predicted)
        rest = call("label", "edges.txt", "some.csv", "--directed", "--method", method)
        model = fo.OnlineNodeLabeler(G, method=method, seed=0).fit(KNOWN)
        rows = list(csv.DictReader(io.StringIO(rest.stdout)))
        assert [row["predicted"] for row in rows] == model.predict_many(int(row["node"]) for row in rows)

    @pytest.mark.usefixtures("club")
    def test_directions_matter(self, call):
        args = ("label", "edges.txt", "some.csv")
        assert call(*args, "--directed").stdout != call(*args).stdout

    @pytest.mark.usefixtures("club")
    def test_every_node_has_a_label(self, call):
        found = call("label", "edges.txt", "all.csv")
        assert (found.returncode, found.stdout) == (0, "node,predicted,probability\n")

    @pytest.mark.usefixtures("club")
    def test_only_calibrated_shares_are_called_probability(self, call, monkeypatch):
        monkeypatch.setattr(WeightedMajority, "calibrated", True)
        headers = [
            call("label", "edges.txt", "some.csv", "--method", method).stdout.splitlines()[0]
            for method in ("weighted-majority", "weighted-tree")
        ]
        assert headers == ["node,predicted,probability", "node,predicted,share"]

    @pytest.mark.usefixtures("club")
    @pytest.mark.parametrize("method", get_args(Method))
    def test_every_method_is_reproducible(self, call, method):
        once, twice = (call("label", "edges.txt", "some.csv", "--method", method) for _ in range(2))
        assert once.stdout == twice.stdout
        assert once.stdout.count("\n") == 31


class TestUnknownNodes:
    @pytest.fixture(autouse=True)
    def _files(self, club):
        write(club / "new.csv", {"node": [*KNOWN, 99, "x"], "label": [*KNOWN.values(), "Officer", "Mr. Hi"]})

    def test_are_all_named_in_one_error(self, call):
        message = "new.csv, line 6: this is the first of 2 nodes that are not in edges.txt: 99, 'x'; --unknown skip"
        found = call("label", "edges.txt", "new.csv")
        assert (found.returncode, found.stdout) == (1, "")
        assert found.stderr.startswith(f"nx-fastonl: {message}")

    def test_are_skipped(self, call):
        found = call("label", "edges.txt", "new.csv", "--unknown", "skip")
        assert found.stdout == call("label", "edges.txt", "some.csv").stdout
        assert found.stderr.splitlines()[0] == "warning: new.csv: skipped what is not in edges.txt: 99, 'x'"
        answer = json.loads(call("label", "edges.txt", "new.csv", "--unknown", "skip", "--json").stdout)
        assert (answer["skipped"], answer["labels"], answer["nodes"]) == (2, 4, 34)

    def test_are_added_without_edges(self, call, club):
        found = call("label", "edges.txt", "new.csv", "--unknown", "add", "--json")
        answer = json.loads(found.stdout)
        assert (answer["labels"], answer["nodes"], answer["edges"], answer["added"]) == (6, 36, 78, 2)
        assert found.stderr == "warning: new.csv: added nodes without edges to edges.txt: '99', 'x'\n"
        assert {row["node"] for row in answer["predictions"]} == {str(node) for node in range(34) if node not in KNOWN}
        write(club / "integers.csv", {"node": [0, 99], "label": ["a", "b"]})
        answer = json.loads(call("label", "edges.txt", "integers.csv", "--unknown", "add", "--json").stdout)
        assert {row["node"] for row in answer["predictions"]} == set(range(1, 34))

    def test_cannot_be_added_to_a_folder(self, call):
        call("convert", "edges.txt", "graph")
        found = call("label", "graph", "new.csv", "--unknown", "add")
        assert found.returncode == 2
        assert "graph is a folder: --unknown add adds nodes to files only" in found.stderr
        assert "--unknown add" not in call("label", "graph", "new.csv").stderr


class TestModels:
    @pytest.fixture(autouse=True)
    def _files(self, club, karate):
        clubs = nx.get_node_attributes(karate, "club")
        rest = [node for node in clubs if node not in KNOWN][:12]
        write(club / "more.csv", {"node": rest, "label": [clubs[node] for node in rest]})

    @pytest.mark.parametrize("graph", ["edges.txt", "graph"])
    @pytest.mark.parametrize("given", [[], ["graph"], ["edges.txt"]])
    def test_go_on_where_they_were(self, call, club, graph, given):
        call("convert", "edges.txt", "graph")
        first = call("label", graph, "some.csv", "--online", "--save-model", "model")
        second = call("label", *given, "more.csv", "--online", "--model", "model", "--save-model", "model")
        assert (first.returncode, second.returncode) == (0, 0), second.stderr
        (club / "both.csv").write_text((club / "some.csv").read_text() + (club / "more.csv").read_text()[11:])
        at_once = call("label", "edges.txt", "both.csv", "--online")
        assert first.stdout + second.stdout[len("node,predicted,truth,correct\n") :] == at_once.stdout
        model = fo.OnlineNodeLabeler.load(club / "model")
        assert model.n_learned == 16

    def test_predict_what_is_left(self, call, club):
        call("label", "weighted.txt", "some.csv", "--save-model", "model", "--method", "fastonl")
        answer = json.loads(call("label", "more.csv", "--model", "model", "--json").stdout)
        table = read(club / "more.csv")
        labels = dict(zip(map(int, table["node"]), table["label"], strict=True))
        model = fo.OnlineNodeLabeler(reference(club), method="fastonl", seed=0).fit(KNOWN).learn_many(labels)
        rest = [node for node in range(34) if node not in KNOWN and node not in labels]
        assert [row["node"] for row in answer["predictions"]] == rest
        assert [row["predicted"] for row in answer["predictions"]] == model.predict_many(rest)
        assert (answer["model"], answer["labels"]) == ("model", 12)
        assert fo.OnlineNodeLabeler.load(club / "model").n_learned == 4  # as nothing was said about saving it

    def test_whose_graph_has_moved(self, call, club):
        call("convert", "edges.txt", "graph")
        call("label", "graph", "some.csv", "--save-model", "model")
        (club / "graph").rename(club / "there")
        found = call("label", "more.csv", "--model", "model")
        assert found.returncode == 1
        assert found.stderr.endswith("that is gone: name it as GRAPH\n")
        assert call("label", "there", "more.csv", "--model", "model").returncode == 0

    def test_labels_after_an_option(self, call):
        assert call("label", "edges.txt", "--online", "some.csv").stdout.startswith("node,predicted,truth")

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            ("label some.csv", "GRAPH or LABELS is missing; with --model, both may be left out"),
            ("label more.csv --model model --method fastonl", "--method is for a new model: model has its own"),
            ("label more.csv --model model --seed 0", "--seed is for a new model"),
            ("label model --model model", "model is a folder, and LABELS a table"),
            ("label --model model --online", "--online needs LABELS"),
            ("label more.csv --model model --columns 0,1", "--columns is for files of edges: model has its graph"),
            ("label more.csv --model model --unknown add", "--unknown add cannot add nodes to the graph of model"),
            ("label edges.txt some.csv all.csv", "unrecognized arguments: all.csv"),
            ("label edges.txt some.csv --unknown ask", "argument --unknown: invalid choice: 'ask'"),
        ],
    )
    def test_wrong_usage(self, call, arguments, message):
        call("label", "edges.txt", "some.csv", "--save-model", "model")
        found = call(*arguments.split())
        assert (found.returncode, found.stdout) == (2, "")
        assert message in found.stderr

    def test_labels_that_were_learned_before_and_no_labels(self, call, club):
        call("label", "edges.txt", "some.csv", "--save-model", "model", "--output", "first.csv")
        for arguments in (["some.csv"], []):
            found = call("label", *arguments, "--model", "model", "--output", "again.csv")
            assert found.returncode == 0, found.stderr
            assert (club / "again.csv").read_text() == (club / "first.csv").read_text()

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            ("label weighted.txt more.csv --model model", "graph"),
            ("label more.csv --model nowhere", "nowhere: "),
            (
                "label other.csv --model model",
                "other.csv: node 0 has the label 'else', and the model has learned 'Mr. Hi'",
            ),
            ("label edges.txt some.csv --save-model nowhere/model", "nowhere: no such folder"),
            ("label edges.txt some.csv --save-model edges.txt", "edges.txt: this is a file; name a folder"),
            ("label edges.txt some.csv --save-model .", ".: the folder has other files"),
        ],
    )
    def test_what_is_wrong(self, call, club, arguments, message):
        call("label", "edges.txt", "some.csv", "--save-model", "model")
        (club / "other.csv").write_text("0,else\n")
        before = sorted(club.rglob("*"))
        found = call(*arguments.split(), "--output", "out.csv")
        assert (found.returncode, found.stdout) == (1, "")
        assert found.stderr.startswith("nx-fastonl: ")
        assert message in found.stderr
        assert found.stderr.count("\n") == 1
        assert sorted(club.rglob("*")) == before


class TestConvert:
    @pytest.mark.usefixtures("club")
    @pytest.mark.parametrize("directed", [[], ["--directed"]])
    def test_every_command_takes_the_folder(self, call, directed):
        found = call("convert", "weighted.txt", "graph", *directed)
        assert (found.returncode, found.stdout, found.stderr) == (0, "graph\n", "34 nodes, 78 edges\n")
        for arguments in (["ppr", "--source", 22], ["label", "some.csv", "--json"], ["label", "all.csv", "--online"]):
            command, *rest = arguments
            from_file = call(command, "weighted.txt", *rest, *directed)
            from_folder = call(command, "graph", *rest)
            assert from_folder.returncode == 0
            assert (from_folder.stdout, from_folder.stderr) == (from_file.stdout, from_file.stderr)

    def test_several_files_and_json(self, call, tmp_path):
        with gzip.open(tmp_path / "a.csv.gz", "wt") as file:
            file.write("from;km;to\nx;1.5;y\n")
        (tmp_path / "b.csv").write_text("from;km;to\ny;2;z\n")
        found = call("convert", "a.csv.gz", "b.csv", "graph", "--columns", "from,to,km", "--json", "--directed")
        assert json.loads(found.stdout) == {"folder": "graph", "nodes": 3, "edges": 2, "directed": True}
        G = fo.CSRGraph.open(tmp_path / "graph").to_networkx()
        assert list(G.edges(data="weight")) == [("x", "y", 1.5), ("y", "z", 2.0)]

    def test_standard_input(self, run, tmp_path):
        assert run("convert", "-", "graph", input="1|2\n2|3\n").stdout == "graph\n"
        assert list(fo.CSRGraph.open(tmp_path / "graph")) == [1, 2, 3]

    def test_a_folder_is_replaced_whole_or_not_at_all(self, call, tmp_path):
        (tmp_path / "a.txt").write_text("1 2\n2 3\n")
        (tmp_path / "b.txt").write_text("1 2\n2\n")
        call("convert", "a.txt", "graph")
        before = {path: path.read_bytes() for path in (tmp_path / "graph").iterdir()}
        assert call("convert", "b.txt", "graph").returncode == 1
        assert {path: path.read_bytes() for path in (tmp_path / "graph").iterdir()} == before
        (tmp_path / "b.txt").write_text("7 8\n")
        assert call("convert", "b.txt", "graph").returncode == 0
        assert list(fo.CSRGraph.open(tmp_path / "graph")) == [7, 8]

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            ("convert edges.txt nowhere/graph", "nowhere: no such folder"),
            ("convert edges.txt some.csv", "some.csv: this is a file; name a folder, which may not exist yet"),
            ("convert edges.txt .", ".: the folder has other files"),
            ("convert missing.txt graph", "missing.txt: No such file or directory"),
        ],
    )
    def test_what_is_wrong(self, call, club, arguments, message):
        before = sorted(club.iterdir())
        found = call(*arguments.split())
        assert (found.returncode, found.stdout) == (1, "")
        assert found.stderr.startswith(f"nx-fastonl: {message}")
        assert sorted(club.iterdir()) == before

    @pytest.mark.usefixtures("club")
    @pytest.mark.parametrize(
        "option", [["--directed"], ["--delimiter", ","], ["--columns", "0,1"], ["--no-header"], ["--comments", ""]]
    )
    def test_how_a_file_is_read_is_not_asked_of_a_folder(self, call, option):
        call("convert", "edges.txt", "graph")
        found = call("ppr", "graph", "--source", 0, *option)
        assert found.returncode == 2
        assert "graph is a folder: " in found.stderr


class TestExample:
    def test_files(self, call, tmp_path, karate):
        found = call("example")
        assert (found.returncode, found.stderr) == (0, "")
        assert found.stdout.splitlines() == ["friends.csv", "clubs.csv", "Try next: " + LABEL_EXAMPLE]
        friends, clubs = read(tmp_path / "friends.csv"), read(tmp_path / "clubs.csv")
        assert list(friends) == ["source", "target", "weight"]
        edges = zip(*(map(int, column) for column in friends.values()), strict=True)
        assert list(edges) == list(karate.edges(data="weight"))
        assert list(clubs) == ["node", "label"]
        labels = dict(zip(map(int, clubs["node"]), clubs["label"], strict=True))
        assert len(labels) == 10
        assert set(labels.values()) == {"Mr. Hi", "Officer"}
        assert labels.items() <= nx.get_node_attributes(karate, "club").items()

    def test_what_to_try_next_runs(self, call):
        call("example")
        found = call(*shlex.split(LABEL_EXAMPLE)[1:])
        assert found.stderr == "34 nodes, 78 edges; 24 nodes labelled from 10 others\n"

    def test_folder(self, call, tmp_path):
        found = call("example", "--out", "my data/karate", "--json")
        files = ["my data/karate/friends.csv", "my data/karate/clubs.csv"]
        assert json.loads(found.stdout) == {"files": files, "next": shlex.join(["nx-fastonl", "label", *files])}
        assert all((tmp_path / file).is_file() for file in files)

    def test_twice(self, call):
        assert call("example").stdout == call("example").stdout

    @pytest.mark.parametrize("name", ["friends.csv", "clubs.csv"])
    def test_a_file_with_other_content_is_not_overwritten(self, call, tmp_path, name):
        (tmp_path / name).write_text("mine\n")
        message = f"{name} exists and has other content: move it away, or name a folder with --out"
        assert_fails(call("example"), message)
        assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [(name, "mine\n")]


class TestPageRank:
    def test_values(self, run, club):
        found = run("ppr", "weighted.txt", "--source", 22, "--source", 0, "--alpha", 0.9, "--top", 5)
        expected, info = fo.personalized_pagerank_local(reference(club), 0.9, [22, 0], top_k=5, full_output=True)
        rows = list(csv.DictReader(io.StringIO(found.stdout)))
        assert found.returncode == 0
        assert [int(row["node"]) for row in rows] == list(expected)
        assert_allclose([float(row["value"]) for row in rows], list(expected.values()), rtol=1e-12)
        assert info.top_k_proven
        message = f"L1 error at most {info.l1_error:.1e}; these are proven to be the largest"
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
        assert (answer["sources"], answer["alpha"], answer["top_proven"]) == ([5], 0.85, None)
        assert (answer["l1_error"], answer["operations"]) == (pytest.approx(info.l1_error), info.operations)


class TestInfo:
    def test_what_works(self, run):
        found = run("info", "--json")
        report = json.loads(found.stdout)
        assert (found.returncode, found.stderr) == (0, "")
        assert report["packages"]["nx_fastonl"] == fo.__version__
        assert report["packages"]["networkx"] == nx.__version__
        assert report["backend"]
        assert {"graph._dicts", "push._push", "learners._stream"} <= report["compiled"].keys()
        assert all(report["compiled"].values())

    def test_compiled_modules_are_where_they_are_looked_for(self):
        package = Path(fo.__file__).parent
        built = {
            ".".join((*path.parent.relative_to(package).parts, path.name.split(".")[0]))
            for suffix in EXTENSION_SUFFIXES
            for path in package.rglob(f"*{suffix}")
        }
        assert set(installation.compiled_modules()) <= built  # which may hold what an older version left behind

    def test_what_does_not_work(self, call, monkeypatch):
        monkeypatch.setattr(installation, "compiled_modules", lambda: ["push._push", "push._pull"])
        monkeypatch.setattr(installation, "OPTIONAL_PACKAGES", ("no-such-package",))
        monkeypatch.delenv(datasets.DATA_HOME, raising=False)
        monkeypatch.setitem(sys.modules, "pooch", None)
        lines = call("info").stdout.splitlines()
        assert "compiled modules  push._pull cannot be loaded" in lines
        assert "no-such-package   not installed" in lines
        assert "data folder       unknown without pooch" in lines

    def test_a_module_that_is_not_built(self, call, monkeypatch):
        monkeypatch.setitem(sys.modules, "nx_fastonl.push._push", None)
        (line,) = (line for line in call("info").stdout.splitlines() if line.startswith("compiled modules"))
        assert "push._push" in line  # and those that need it, unless something has loaded them before
        assert line.endswith(" cannot be loaded")


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
        monkeypatch.delenv(datasets.DATA_HOME, raising=False)
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
        assert [line.split()[0] for line in lines[1:-2]] == list(get_args(Method))
        assert lines[-1] == "Picture of the error rates: nx-fastonl-demo.png"
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
        screen.expect("Picture of the error rates: nx-fastonl-demo.png")
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
        arguments = "--graphs cora,karate --trials 3 --n-jobs 2 --out there --data-home here"
        lines = call("experiment", "nnz", *arguments.split()).stdout.splitlines()
        assert lines[0] == f"{experiments.EXPERIMENTS['nnz'].title}: the fraction of the nodes reached, by step"
        assert [line.split() for line in lines[2:5]] == [["graph", "x"], ["a", "0.25"], ["b"]]
        assert seen == {
            "name": "nnz", "graphs": ["cora", "karate"], "trials": 3, "quick": False, "n_jobs": 2, "out": Path("there"),
            "data_home": "here", "progress": False,
        }  # fmt: skip

    def test_graphs_that_a_shell_lists(self, call, tmp_path):
        pytest.importorskip("matplotlib")
        for name in ("a", "b"):
            np.savez(tmp_path / f"{name}.npz", indptr=[0, 1, 2], indices=[1, 0])
        files = sorted(tmp_path.glob("*.npz"))
        lines = call("experiment", "nnz", "--graphs", *files, "karate,", "--trials", 1, "--json").stdout
        assert [row["graph"] for row in json.loads(lines)["summary"]] == ["a", "b", "karate"]
        found = call("experiment", "--graphs", "karate", "nnz")
        assert found.returncode == 2
        assert "which experiment? Its name comes first, before --graphs" in found.stderr

    def test_packages_that_are_missing(self, call, monkeypatch):
        pytest.importorskip("matplotlib")
        monkeypatch.setattr(peers, "_is_installed", lambda module: module == "networkx")
        lines = call("experiment", "few-labels", "--graphs", "karate", "--trials", 1).stdout.splitlines()
        assert "Without 3 methods of scikit-network: pip install scikit-network" in lines

    def test_quick(self, run, tmp_path):
        pytest.importorskip("matplotlib")
        found = run("experiment", "nnz", "--quick", "--graphs", "karate", "--out", "there")
        assert (found.returncode, found.stderr) == (0, "")
        lines = found.stdout.splitlines()
        assert lines[3].startswith("karate")
        assert lines[-1] == "All results: there/nnz-quick.csv, there/nnz-quick.png"
        assert all((tmp_path / "there" / f"nnz-quick.{suffix}").is_file() for suffix in ("csv", "png"))

    def test_json(self, call, tmp_path):
        pytest.importorskip("matplotlib")
        report = json.loads(call("experiment", "nnz", "--graphs", " karate, ", "--trials", 1, "--json").stdout)
        assert report["experiment"] == "nnz"
        assert report["summary"][0]["graph"] == "karate"
        assert all((tmp_path / file).is_file() for file in report["files"])
        assert list(json.loads(call("experiment", "--json").stdout)) == list(experiments.EXPERIMENTS)


class TestInterruptedRows:
    """Ctrl-C while `ppr-matrix` writes."""

    def test_what_is_there_is_said(self, call, tmp_path, monkeypatch):
        (tmp_path / "g.txt").write_text("".join(f"{u} {u + 1}\n" for u in range(9)))
        original = PageRankRows.block

        def interrupted(self, first, *arguments, **options):
            if first >= 4:
                raise KeyboardInterrupt
            return original(self, first, *arguments, **options)

        with monkeypatch.context() as patch:
            patch.setattr(PageRankRows, "block", interrupted)
            found = call("ppr-matrix", "g.txt", "--out", "rows", "--rows-per-shard", "1")
        assert found.returncode == 130
        done = len(list((tmp_path / "rows").glob("rows-*")))
        assert 0 < done <= 4
        message = f"stopped; {done} of 10 shards are complete; the same command continues from here\n"
        assert found.stderr.endswith(message)
        assert call("ppr-matrix", "g.txt", "--out", "rows").stderr.endswith("10 of 10 shards are complete\n")

    def test_nothing_is_said_before_the_folder_is_there(self, call, tmp_path, monkeypatch):
        (tmp_path / "g.txt").write_text("0 1\n")

        def interrupted(*_, **_options):
            raise KeyboardInterrupt

        monkeypatch.setattr("nx_fastonl.batch.jobs.write_folder", interrupted)
        found = call("ppr-matrix", "g.txt", "--out", "rows")
        assert (found.returncode, found.stdout, found.stderr) == (130, "", "")
        assert not (tmp_path / "rows").exists()
