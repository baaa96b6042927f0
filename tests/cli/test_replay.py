"""The command ``replay``: as a process where pipes matter, in this process otherwise."""

import csv
import gzip
import io
import json
import os
import re
import subprocess

import networkx as nx
import pytest

import nx_fastonl as fo
from tests.cli.helpers import PROGRAM, assert_fails

EVENTS = [
    {"event": "label", "node": 0, "label": "Mr. Hi"},
    {"event": "label", "node": 33, "label": "Officer"},
    {"event": "edge", "u": "new", "v": 33, "time": 5},
    {"event": "question", "node": "new"},
    {"event": "arrival", "node": 1, "label": "Mr. Hi", "time": 9},
]
SUMMARY = re.compile(
    r"(.* nodes, .* edges); 5 events, 2 answers, accuracy (.*) in 1 arrivals, [\d,]+ events a second\n"
)


@pytest.fixture
def events(tmp_path):
    (tmp_path / "events.jsonl").write_text("".join(json.dumps(event) + "\n" for event in EVENTS))
    return tmp_path


def expected(graph=None, **options):
    graph = fo.DynamicGraph() if graph is None else fo.DynamicGraph(graph)
    stream = fo.replay(EVENTS, graph, fo.OnlineNodeLabeler(graph, seed=0, **options))
    return [answer._asdict() for answer in stream]


def records(text):
    return [json.loads(line) for line in text.splitlines()]


@pytest.mark.usefixtures("events")
class TestReplay:
    def test_answers_and_a_summary(self, call):
        found = call("replay", "events.jsonl")
        assert found.returncode == 0
        assert records(found.stdout) == expected()
        assert SUMMARY.fullmatch(found.stderr).groups() == ("4 nodes, 1 edges", "1.0000")

    def test_no_accuracy_without_arrivals(self, call, tmp_path):
        (tmp_path / "none.csv").write_text("event,u,v\nedge,1,2\n")
        found = call("replay", "none.csv")
        assert (found.returncode, found.stdout) == (0, "")
        assert re.fullmatch(r"2 nodes, 1 edges; 1 events, 0 answers, [\d,]+ events a second\n", found.stderr)

    @pytest.mark.parametrize("name", ["answers.csv", "answers.jsonl", "answers.NDJSON", "-"])
    def test_outputs(self, call, tmp_path, name):
        found = call("replay", "events.jsonl", "--output", name, *(["--format", "csv"] if name == "-" else []))
        text = found.stdout if name == "-" else (tmp_path / name).read_text()
        if name in ("-", "answers.csv"):
            rows = list(csv.DictReader(io.StringIO(text)))
            shown = [{key: "" if value is None else str(value) for key, value in row.items()} for row in expected()]
            assert rows == shown
        else:
            assert records(text) == expected()
        assert (found.stdout == "") == (name != "-")

    def test_on_a_graph(self, call, tmp_path, karate):
        nx.write_edgelist(karate, tmp_path / "edges.txt", data=False)
        found = call("replay", "events.jsonl", "--graph", "edges.txt", "--method", "fastonl", "--kernel", "K1")
        # An edge file of integers has nodes that are integers, and "new" joins them as a text.
        assert [row["predicted"] for row in records(found.stdout)] == ["Officer", "Mr. Hi"]
        assert records(found.stdout) == expected(
            fo.CSRGraph.from_edge_file(tmp_path / "edges.txt"), method="fastonl", kernel="K1"
        )
        assert found.stderr.startswith("35 nodes, 79 edges; ")

    @pytest.mark.parametrize("node", ["1", 1])
    @pytest.mark.parametrize(("edges", "other"), [("1 2\n", 2), ("1 x\n", "x")])
    def test_nodes_have_the_names_of_the_graph(self, call, tmp_path, edges, other, node):
        (tmp_path / "edges.txt").write_text(edges)
        event = {"event": "arrival", "node": node, "label": "a"}
        (tmp_path / "more.jsonl").write_text(
            f'{json.dumps(event)}\n{{"event": "question", "node": {json.dumps(other)}}}\n'
        )
        found = call("replay", "more.jsonl", "--graph", "edges.txt", "--no-header")
        assert [row["node"] for row in records(found.stdout)] == [1 if other == 2 else "1", other]
        assert found.stderr.startswith("2 nodes, 1 edges; ")

    def test_directed(self, call, tmp_path):
        (tmp_path / "both.csv").write_text("event,u,v\nedge,a,b\nedge,b,a\n")
        assert call("replay", "both.csv", "--directed").stderr.startswith("2 nodes, 2 edges; ")
        assert call("replay", "both.csv").stderr.startswith("2 nodes, 1 edges; ")
        found = call("replay", "both.csv", "--directed", "--method", "fastonl")
        assert found.returncode == 2
        assert "needs an undirected graph: leave out --directed, or use --method adaptive" in found.stderr

    def test_window(self, call):
        assert call("replay", "events.jsonl", "--window", 3).stderr.startswith("4 nodes, 0 edges; ")
        assert call("replay", "events.jsonl", "--window", 4).stderr.startswith("4 nodes, 1 edges; ")

    def test_progress(self, call):
        pytest.importorskip("tqdm")
        found = call("replay", "events.jsonl", "--progress")
        assert "5event" in found.stderr
        assert records(found.stdout) == expected()

    def test_ids_of_two_types_are_warned_of(self, call, tmp_path):
        (tmp_path / "mixed.jsonl").write_text('{"event": "edge", "u": 1, "v": 2}\n{"event": "node", "node": "1"}\n')
        found = call("replay", "mixed.jsonl")
        assert found.stderr.startswith("warning: the integer 1 and the text '1' are two nodes; if one was meant, ")

    def test_a_bad_event_ends_it_and_earlier_answers_stand(self, call, tmp_path):
        with (tmp_path / "events.jsonl").open("a") as file:
            file.write('{"event": "question", "node": "nobody"}\n')
        found = call("replay", "events.jsonl", "--output", "answers.jsonl")
        message = "node 'nobody' is not in the graph; a \"node\" event lets it join"
        assert_fails(found, f"events.jsonl, line 6: {message}")
        assert records((tmp_path / "answers.jsonl").read_text()) == expected()

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (["--output", "answers.txt"], "the suffix of answers.txt names no known format: add --format jsonl or csv"),
            (["--delimiter", ","], "--delimiter is for the file of --graph"),
        ],
    )
    def test_arguments_that_do_not_go_together(self, call, tmp_path, arguments, message):
        found = call("replay", "events.jsonl", *arguments)
        assert (found.returncode, found.stdout) == (2, "")
        assert found.stderr.endswith(f"error: {message}\n")
        assert {path.name for path in tmp_path.iterdir()} == {"events.jsonl"}

    def test_one_standard_input(self, call):
        found = call("replay", "-", "--graph", "-")
        assert found.returncode == 2
        assert "EVENTS and --graph cannot both come from standard input" in found.stderr

    def test_without_events_an_older_answer_stays(self, call, tmp_path):
        (tmp_path / "answers.csv").write_text("old")
        assert_fails(
            call("replay", "nothing.jsonl", "--output", "answers.csv"), "nothing.jsonl: No such file or directory"
        )
        assert (tmp_path / "answers.csv").read_text() == "old"
        assert_fails(call("replay", "events.jsonl", "--output", "no/answers.csv"), "no: no such folder")

    def test_half_of_a_character(self, call, tmp_path):
        (tmp_path / "half.jsonl").write_text('{"event": "arrival", "node": "\\ud83d", "label": 1}\n')
        found = call("replay", "half.jsonl")
        assert (found.returncode, found.stdout) == (1, "")
        assert "standard output: half of a character cannot be written" in found.stderr

    @pytest.mark.parametrize("file_format", ["jsonl", "csv", "gz"])
    def test_standard_input(self, run, events, file_format):
        content = (events / "events.jsonl").read_bytes()
        if file_format == "gz":
            content = gzip.compress(content)
        elif file_format == "csv":
            text = io.StringIO()
            table = csv.DictWriter(text, ["event", "u", "v", "node", "label", "time"])
            table.writeheader()
            table.writerows(EVENTS)
            content = text.getvalue().encode()
        found = run("replay", "-", input=content, text=False)
        assert records(found.stdout.decode()) == expected()

    @pytest.mark.skipif(os.name == "nt", reason="needs a pipe that is read line by line")
    def test_each_line_is_answered_at_once(self, tmp_path):
        with subprocess.Popen(
            [*PROGRAM, "replay", "-"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=tmp_path,
        ) as process:
            for event, answer in zip(EVENTS[3:], expected(), strict=True):
                sent = [*EVENTS[:3], event] if event is EVENTS[3] else [event]
                process.stdin.write("".join(json.dumps(item) + "\n" for item in sent).encode())
                process.stdin.flush()
                assert json.loads(process.stdout.readline()) == answer  # if it waited, so would this, for ever
            process.stdin.close()
            assert SUMMARY.fullmatch(process.stderr.read().decode())
