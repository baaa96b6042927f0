"""Events in, answers out: against the same calls made by hand, from Python and from every kind of file."""

import bz2
import contextlib
import csv
import gzip
import io
import json
import lzma
import os
import re
import threading

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nx_fastonl as fo
from nx_fastonl.labeling import replay as module
from nx_fastonl.labeling.events import FIELDS, KINDS

SIGN_UPS = [
    ("label", "ann", "person"),
    ("label", "spam1", "robot"),
    ("edge", "bob", "ann"),
    ("question", "bob"),
    ("edge", "spam2", "spam1", 2.5, 7),
    ("arrival", "spam2", "robot", 8),
    ("node", "cid"),
    ("question", "cid"),
]


def as_dict(event):
    kind, *values = event
    return {"event": kind} | dict(zip(KINDS[kind], values, strict=False))


def raise_interrupt(*_):
    raise KeyboardInterrupt


def state(graph, labeler):
    edges = sorted((*sorted((u, v), key=str), w) for u, v, w in graph.edges(data="weight"))
    return list(graph), edges, labeler.labels


class TestEvents:
    def test_edges_with_weights_and_times(self):
        stream = fo.replay([("edge", 0, 1), ("edge", 1, 2, 0.5), ("edge", 2, 3, None, 4), ("edge", 1, 0, 2.0)])
        stream.run()
        assert stream.graph.edges(data="weight") == [(0, 1, 2.0), (1, 2, 0.5), (2, 3, 1.0)]
        assert stream.graph.expire_before(5) == 1
        assert (stream.n_events, stream.n_answers, stream.clock) == (4, 0, 4.0)

    def test_removals(self):
        events = [("edge", 0, 1), ("edge", 1, 2), ("label", 2, "a"), ("remove-edge", 1, 0), ("remove-node", 2)]
        stream = fo.replay(events)
        stream.run()
        assert (list(stream.graph), stream.graph.edges()) == ([0, 1], [])
        assert stream.labeler.labels == {}

    def test_nodes_join_once(self):
        stream = fo.replay([("node", "a"), ("node", "a"), ("edge", "a", "b")])
        stream.run()
        assert list(stream.graph) == ["a", "b"]

    def test_a_label_lets_its_node_join_and_replaces_an_earlier_one(self):
        stream = fo.replay([("label", "a", 1), ("label", "a", 2)])
        stream.run()
        assert (list(stream.graph), stream.labeler.labels) == (["a"], {"a": 2})

    def test_questions_and_arrivals(self):
        answers = list(fo.replay(SIGN_UPS))
        assert [answer[:3] for answer in answers] == [
            ("bob", "person", None),
            ("spam2", "robot", "robot"),
            ("cid", "robot", None),  # the most frequent label
        ]
        assert [answer.time for answer in answers] == [None, 8.0, None]
        assert all(0.0 < answer.probability <= 1.0 for answer in answers)

    def test_no_probability_where_it_is_not_calibrated(self):
        graph = fo.DynamicGraph()
        stream = fo.replay(SIGN_UPS, graph, fo.OnlineNodeLabeler(graph, method="fastonl"))
        assert [answer.probability for answer in stream] == [None] * 3
        assert stream.sequence.probabilities is None

    def test_nothing_is_predicted_before_the_first_label(self):
        answers = list(fo.replay([("node", 0), ("question", 0), ("arrival", 1, "a"), ("question", 0)]))
        assert [answer.predicted for answer in answers] == [None, None, "a"]
        assert answers[0].probability == 0.0

    def test_the_sequence_is_that_of_the_arrivals(self):
        stream = fo.replay([*SIGN_UPS, ("arrival", "dan", "robot")])
        assert len(stream.sequence) == 0
        answers = list(stream)
        sequence = stream.sequence
        assert (sequence.nodes, sequence.truth) == (("spam2", "dan"), ("robot", "robot"))
        assert list(sequence) == [answers[1].predicted, answers[3].predicted]
        assert sequence.probabilities == (answers[1].probability, answers[3].probability)
        assert len(sequence.true_probabilities) == 2
        assert stream.run() == sequence

    def test_dicts_and_lists_are_tuples_too(self):
        expected = list(fo.replay(SIGN_UPS))
        assert list(fo.replay(map(as_dict, SIGN_UPS))) == expected
        assert list(fo.replay(map(list, SIGN_UPS))) == expected

    def test_values_of_numpy(self):
        events = [
            ("edge", np.int64(0), np.int64(1), np.float32(0.5), np.int32(3)),
            ("arrival", np.int64(1), np.str_("a")),
        ]
        (answer,) = stream = fo.replay(events)
        assert type(answer.node) is int
        assert type(answer.truth) is str
        assert stream.graph.weight(0, 1) == 0.5

    def test_directed(self):
        graph = fo.DynamicGraph(directed=True)
        fo.replay([("edge", 0, 1), ("edge", 1, 0), ("remove-edge", 0, 1)], graph).run()
        assert graph.edges() == [(1, 0)]

    def test_a_graph_and_a_model_that_were_there_before(self, karate):
        graph = fo.DynamicGraph(karate)
        model = fo.OnlineNodeLabeler(graph, method="fastonl").learn_many({0: "Mr. Hi", 33: "Officer"})
        stream = fo.replay([("edge", "new", 33), ("question", "new")], labeler=model)
        assert stream.graph is graph
        assert [answer.predicted for answer in stream] == ["Officer"]


class TestOrder:
    def test_nothing_happens_before_an_answer_is_asked_for(self):
        read = []
        stream = fo.replay(read.append(event) or event for event in SIGN_UPS)
        assert (read, len(stream.graph)) == ([], 0)
        next(stream)
        assert len(read) == stream.n_events == 4
        assert list(stream.graph) == ["ann", "spam1", "bob"]

    @pytest.mark.parametrize("at_once", [1, 2, 3, 4096])
    def test_edges_are_added_before_what_follows_them(self, monkeypatch, at_once):
        monkeypatch.setattr(module, "EDGES_AT_ONCE", at_once)
        events = [("edge", i, i + 1, None, *times) for i, times in enumerate([(), (), (5,), (6,), (7,), ()])]
        stream = fo.replay([*events, ("label", 0, "a"), ("question", 6), ("edge", 6, 7)])
        next(stream)
        assert stream.graph.number_of_edges() == 6
        assert list(stream) == []
        assert stream.graph.number_of_edges() == 7
        assert stream.graph.expire_before(7) == 2

    def test_edges_at_once_go_in_one_call(self, monkeypatch):
        sizes = []
        add = fo.DynamicGraph.add_edges_from
        monkeypatch.setattr(
            fo.DynamicGraph,
            "add_edges_from",
            lambda self, edges, *rest: sizes.append(len(edges)) or add(self, edges, *rest),
        )
        monkeypatch.setattr(module, "EDGES_AT_ONCE", 3)
        fo.replay([("edge", i, i + 1) for i in range(7)]).run()
        assert sizes == [3, 3]

    @pytest.mark.parametrize("far", [5, 2**70, "x", True, 1.0])
    def test_many_edges_are_added_as_one_by_one(self, far):
        graph = fo.DynamicGraph()
        edges = [(i % 40, i * i % 37, 1.0 + i % 3) for i in range(200)]
        edges.insert(100, (3, far, 2.0))
        for u, v, weight in edges:
            graph.add_edge(u, v, weight)
        stream = fo.replay([("edge", *edge) for edge in edges])
        stream.run()
        assert list(stream.graph) == list(graph)
        assert list(map(type, stream.graph)) == list(map(type, graph))
        assert stream.graph.edges(data="weight") == graph.edges(data="weight")

    def test_edges_are_not_lost_by_an_interrupt(self, monkeypatch):
        stream = fo.replay([("edge", 0, 1), ("edge", 1, 2), ("label", 0, "a"), ("edge", 2, 3), ("question", 3)])
        monkeypatch.setattr(stream.graph, "add_edges_from", raise_interrupt)
        with pytest.raises(KeyboardInterrupt):
            next(stream)
        monkeypatch.undo()
        assert list(stream.graph) == []
        next(stream)
        assert stream.graph.edges() == [(0, 1), (1, 2), (2, 3)]

    def test_what_was_read_is_applied_when_reading_fails(self):
        def events():
            yield "edge", 0, 1
            raise OSError("the line is dead")

        stream = fo.replay(events())
        with pytest.raises(OSError, match="the line is dead"):
            next(stream)
        assert stream.graph.edges() == [(0, 1)]


class TestWindow:
    def test_old_edges_leave(self):
        events = [("edge", 0, 1, None, 0), ("edge", 1, 2, None, 5), ("edge", 2, 3), ("time", 10), ("time", 10.5)]
        stream = fo.replay(events, window=10)
        stream.run()
        assert stream.graph.edges() == [(1, 2), (2, 3)]

    def test_without_a_window_none_leaves(self):
        stream = fo.replay([("edge", 0, 1, None, 0), ("time", 1e9)])
        stream.run()
        assert stream.graph.edges() == [(0, 1)]

    @pytest.mark.parametrize("at_once", [1, 4096])
    def test_they_leave_before_the_next_event_that_is_no_edge(self, monkeypatch, at_once):
        monkeypatch.setattr(module, "EDGES_AT_ONCE", at_once)
        # The edge that is renewed keeps its weight, since nothing has happened between.
        events = [("edge", 0, 1, 3.0, 0), ("edge", 1, 2, None, 20), ("edge", 0, 1, None, 21), ("edge", 3, 4, None, 2)]
        stream = fo.replay([*events, ("node", 9)], window=5)
        stream.run()
        assert sorted(stream.graph.edges(data="weight")) == [(0, 1, 3.0), (1, 2, 1.0)]

    def test_the_time_of_any_event_counts_and_never_runs_back(self):
        events = [
            ("label", 0, "a"),
            ("edge", 0, 1, None, 0),
            ("question", 1, 50),
            ("edge", 0, 2, None, 40),
            ("question", 2, 3),
        ]
        stream = fo.replay(events, window=5)
        stream.run()
        assert (stream.graph.edges(), stream.clock) == ([], 50.0)

    def test_what_has_left_may_be_removed(self):
        events = [("edge", 0, 1, None, 0), ("time", 9), ("remove-edge", 0, 1)]
        fo.replay(events, window=5).run()
        with pytest.raises(nx.NetworkXError, match="event 2"):
            fo.replay([events[0], ("remove-edge", 0, 2)]).run()

    @pytest.mark.parametrize("window", [-1, "day", np.nan])
    def test_bad_windows(self, window):
        with pytest.raises((TypeError, ValueError), match="window"):
            fo.replay([], window=window)


BAD = [
    ({"u": 1}, ValueError, 'no event is named; event must be one of "edge", "remove-edge"'),
    (("edges", 0, 1), ValueError, "unknown event 'edges'; expected one of \"edge\""),
    (([], 0, 1), ValueError, r"unknown event \[\]"),
    (("edge", 0), ValueError, r'the event "edge" lacks v; it takes u, v, weight \(optional\), time \(optional\)'),
    (("question",), ValueError, "lacks node"),
    (("time",), ValueError, "lacks time; it takes time$"),
    (("label", 0, None), ValueError, "lacks label"),
    (("label", 0, float("nan")), ValueError, "lacks label"),
    (("question", 0, 1, 2), ValueError, "has 3 values after its name"),
    ({"event": "edge", "u": 0, "v": 1, "heft": 2}, ValueError, "has no 'heft'; it takes u, v, weight"),
    (("edge", 0, 1, -1), ValueError, "the weight must be a number between .* got -1"),
    (("edge", 0, 1, "2"), ValueError, "the weight must be a number between .* got '2'"),
    (("edge", 0, 1, [2]), ValueError, r"got \[2\]"),
    (("edge", 0, 1, 1, "noon"), TypeError, "time must be a number, got 'noon'"),
    (("edge", 0, 1, 1, float("inf")), ValueError, "time must be a finite number, got inf"),
    (("edge", 0, []), TypeError, r"a node must be hashable, got \[\]"),
    (("label", 0, {}), TypeError, "a label must be hashable, got {} for node 0"),
    ("edge", TypeError, "an event must be a dict .* got 'edge'"),
    ((), TypeError, r"an event must be a dict .* got \(\)"),
    (("remove-edge", 0, 9), nx.NetworkXError, "The edge 0-9 is not in the graph"),
    (("remove-node", 9), nx.NetworkXError, "The node 9 is not in the graph"),
    (("question", 9), nx.NodeNotFound, 'node 9 is not in the graph; a "node" event lets it join'),
    (("arrival", 0, "b"), ValueError, "node 0 was learned before, as 'a'"),
    (("arrival", 9, "z"), ValueError, "label 'z' of node 9 is not one of the classes"),
    (("label", 9, "z"), ValueError, "label 'z' of node 9 is not one of the classes"),
]


@pytest.mark.parametrize(("bad", "kind", "message"), BAD)
def test_a_bad_event_changes_nothing_and_those_before_it_count(bad, kind, message):
    graph = fo.DynamicGraph()
    model = fo.OnlineNodeLabeler(graph, classes=["a", "b"])
    stream = fo.replay([("label", 0, "a"), ("edge", 0, 1), bad, ("edge", 1, 2), ("question", 2)], labeler=model)
    with pytest.raises(kind, match=f"^event 3: .*{message}"):
        next(stream)
    assert state(graph, model) == ([0, 1], [(0, 1, 1.0)], {0: "a"})
    assert stream.n_events == 2
    assert next(stream).predicted == "a"  # who goes on, goes on behind it


@pytest.mark.parametrize("events", [None, 5, {"event": "time", "time": 0}])
def test_what_is_no_events(events):
    with pytest.raises(TypeError, match="events must be an iterable of events or the path of a file"):
        fo.replay(events)


def test_graphs_and_models_that_do_not_fit(karate):
    with pytest.raises(TypeError, match=r"graph must be a DynamicGraph, got .*; DynamicGraph\(G\) makes one"):
        fo.replay([], karate)
    with pytest.raises(TypeError, match="the graph of the labeler must be a DynamicGraph"):
        fo.replay([], labeler=fo.OnlineNodeLabeler(karate))
    with pytest.raises(TypeError, match="labeler must be an OnlineNodeLabeler, got 'adaptive'"):
        fo.replay([], fo.DynamicGraph(), "adaptive")
    with pytest.raises(ValueError, match="the labeler must be on the same graph"):
        fo.replay([], fo.DynamicGraph(), fo.OnlineNodeLabeler(fo.DynamicGraph()))


NODE = st.integers(0, 6)
LABEL = st.sampled_from("ab")
WEIGHT = st.none() | st.sampled_from([0.5, 1.0, 3.0])
TIME = st.none() | st.integers(0, 9)
EVENT = st.one_of(
    st.tuples(st.just("edge"), NODE, NODE, WEIGHT, TIME),
    st.tuples(st.just("remove-edge"), NODE, NODE),
    st.tuples(st.just("node"), NODE),
    st.tuples(st.just("remove-node"), NODE),
    st.tuples(st.just("label"), NODE, LABEL),
    st.tuples(st.just("question"), NODE),
    st.tuples(st.just("arrival"), NODE, LABEL),
)


def by_hand(graph, model, event):
    """What an event means, in calls of the graph and the model; an answer, or whether the event was bad."""
    kind, *values = event
    match kind:
        case "edge":
            graph.add_edge(*values[:3], time=values[3])
        case "remove-edge":
            graph.remove_edge(*values)
        case "node":
            graph.add_node(*values)
        case "remove-node":
            graph.remove_node(*values)
        case "label":
            graph.add_node(values[0])
            model.learn_one(*values, overwrite=True)
        case "question":
            return model.predict_one(values[0])
        case "arrival":
            if values[0] in model.labels:
                raise ValueError("learned before")
            graph.add_node(values[0])
            predicted = model.predict_one(values[0])
            model.learn_one(*values)
            return predicted
    return None


@settings(max_examples=60, deadline=None)
@given(st.lists(EVENT, max_size=30), st.sampled_from(["fastonl", "adaptive"]), st.booleans())
def test_the_same_as_calls_by_hand(events, method, directed):
    direction = "ignore" if method == "fastonl" else "use"
    graphs = [fo.DynamicGraph(directed=directed) for _ in range(2)]
    ours, theirs = (fo.OnlineNodeLabeler(graph, method=method, direction=direction, seed=0) for graph in graphs)
    answers, errors = [], 0
    stream = fo.replay(events, graphs[0], ours)
    while True:
        try:
            answers.append(next(stream).predicted)
        except StopIteration:
            break
        except (ValueError, nx.NetworkXException):
            errors += 1
    expected, expected_errors = [], 0
    for event in events:
        try:
            found = by_hand(graphs[1], theirs, event)
        except (ValueError, nx.NetworkXException):
            expected_errors += 1
        else:
            expected += [found] if event[0] in ("question", "arrival") else []
    assert (answers, errors) == (expected, expected_errors)
    assert state(graphs[0], ours) == state(graphs[1], theirs)
    assert graphs[0].expire_before(5) == graphs[1].expire_before(5)
    assert stream.n_events == len(events) - errors


def json_lines(events):
    return "".join(json.dumps(as_dict(event)) + "\n" for event in events).encode()


def csv_table(events, separator=","):
    text = io.StringIO()
    table = csv.DictWriter(text, FIELDS, delimiter=separator)
    table.writeheader()
    table.writerows(map(as_dict, events))
    return text.getvalue().encode()


def parquet_table(events):
    pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    rows = [dict.fromkeys(FIELDS) | as_dict(event) for event in events]
    content = io.BytesIO()
    parquet.write_table(pa.Table.from_pylist(rows), content)
    return content.getvalue()


FILES = {
    "events.jsonl": json_lines,
    "events.ndjson": json_lines,
    "events.csv": csv_table,
    "events.tsv": lambda events: csv_table(events, "\t"),
    "events.parquet": parquet_table,
    "events.jsonl.gz": lambda events: gzip.compress(json_lines(events)),
    "events.csv.bz2": lambda events: bz2.compress(csv_table(events)),
    "EVENTS.CSV.XZ": lambda events: lzma.compress(csv_table(events)),
}
NUMBERED = [
    ("edge", 0, 1, 0.5, 3.0),
    ("edge", 1, 2),
    ("label", 0, "red, or not"),
    ("question", 2),
    ("remove-edge", 1, 2),
    ("node", 7),
    ("time", 4.0),
    ("arrival", 3, "blue\nor so"),
    ("remove-node", 3),
]


class TestFiles:
    @pytest.mark.parametrize("events", [SIGN_UPS, NUMBERED], ids=["texts", "integers"])
    @pytest.mark.parametrize("name", FILES)
    def test_every_format_agrees(self, tmp_path, name, events):
        path = tmp_path / name
        path.write_bytes(FILES[name](events))
        expected, found = fo.replay(events), fo.replay(path)
        assert list(found) == list(expected)
        assert state(found.graph, found.labeler) == state(expected.graph, expected.labeler)
        assert list(map(type, found.graph)) == list(map(type, expected.graph))
        assert (found.n_events, found.clock) == (expected.n_events, expected.clock)

    @pytest.mark.parametrize("name", ["events.jsonl", "events.csv", "events.parquet", "events.jsonl.gz"])
    def test_open_files(self, tmp_path, name):
        path = tmp_path / name
        path.write_bytes(FILES[name](SIGN_UPS))
        expected = list(fo.replay(SIGN_UPS))
        with path.open("rb") as file:
            assert list(fo.replay(file)) == expected
        assert list(fo.replay(io.BytesIO(path.read_bytes()))) == expected
        assert list(fo.replay(str(path))) == expected

    def test_several_files(self, tmp_path):
        (tmp_path / "a.jsonl").write_bytes(json_lines(SIGN_UPS[:4]))
        (tmp_path / "b.jsonl").write_bytes(json_lines(SIGN_UPS[4:]))
        assert list(fo.replay(tmp_path / "*.jsonl")) == list(fo.replay(SIGN_UPS))

    def test_lists_in_json_are_tuples(self, tmp_path):
        path = tmp_path / "events.jsonl"
        path.write_text(
            '\ufeff{"event": "edge", "u": [1, [2]], "v": "x"}\n\n{"event": "label", "node": "x", "label": [1]}\n'
        )
        stream = fo.replay(path)
        stream.run()
        assert (list(stream.graph), stream.labeler.labels) == ([(1, (2,)), "x"], {"x": (1,)})

    def test_integers_that_pandas_has_made_floats(self, tmp_path):
        pd = pytest.importorskip("pandas")
        pytest.importorskip("pyarrow")
        table = pd.DataFrame([as_dict(event) for event in NUMBERED])
        assert table["u"].dtype == float
        table.to_parquet(tmp_path / "events.parquet", index=False)
        table.to_csv(tmp_path / "events.csv", index=False)
        for events in (tmp_path / "events.parquet", tmp_path / "events.csv", table):
            stream = fo.replay(events)
            stream.run()
            assert repr(list(stream.graph)) == "[0, 1, 2, 7]"

    def test_texts_that_are_no_whole_floats(self):
        cells = ["1.5", "01.0", "1.00", ".0", "1.0.0", "-0.0", "-3.0", "9007199254740991.0"]
        file = io.BytesIO("\n".join(["event,node", *(f"node,{cell}" for cell in cells)]).encode())
        stream = fo.replay(file)
        stream.run()
        assert list(stream.graph) == ["1.5", "01.0", "1.00", ".0", "1.0.0", "-0.0", -3, 2**53 - 1]

    def test_floats_that_may_be_several_integers(self, tmp_path):
        pd = pytest.importorskip("pandas")
        table = pd.DataFrame({"event": ["node", "node", "time"], "node": [1, 2**53, None], "time": [None, None, 1.0]})
        table.to_parquet(tmp_path / "events.parquet", index=False)
        table.to_csv(tmp_path / "events.csv", index=False)
        places = {tmp_path / "events.parquet": r"events\.parquet, row", tmp_path / "events.csv": r"events\.csv, line"}
        for events, place in places.items():
            stream = fo.replay(events)
            message = rf"{place} \d: node 9007199254740992\.0 was an integer before it became a float.* dtype Int64"
            with pytest.raises(ValueError, match=message):
                stream.run()
            assert list(stream.graph) == [1]

    def test_an_answer_does_not_wait_for_the_next_line(self):
        reading, writing = os.pipe()
        with os.fdopen(reading, "rb") as file, os.fdopen(writing, "wb", buffering=0) as pipe:
            pipe.write(json_lines([("label", 0, "a"), ("question", 0)]))
            stream = fo.replay(file)
            answers = []
            asking = threading.Thread(target=lambda: answers.append(next(stream)))
            asking.start()
            asking.join(30)
            assert [answer.predicted for answer in answers] == ["a"]

    @pytest.mark.parametrize(
        ("name", "content", "message"),
        [
            ("e.jsonl", '{"event": "time", "time": 1}\n\n{"event": "tim"}\n', "line 3: unknown event 'tim'"),
            ("e.jsonl", '{"event": "time", "time": 1}\n{"event"\n', "line 2: not a line of JSON: Expecting ':'"),
            ("e.jsonl", '{"event": "time", "time": NaN}\n', "line 1: not a line of JSON: NaN is not a value of JSON"),
            ("e.jsonl", '["time", 1]\n', "line 1: expected an object such as .* got .'time', 1"),
            ("e.jsonl", b"\xff\xfe{}", "line 1: not text in UTF-8"),
            ("e.csv", "event,u,w\n", "line 1: columns event, u, w; expected event and some of u, v, node"),
            ("e.csv", "node,label\n", "line 1: columns node, label; expected event"),
            ("e.csv", "event,u,u\n", "line 1: columns event, u, u"),
            ("e.csv", "event,node\nnode,1\nnode,2,3\n", "line 3: 3 cells, expected 2: event, node"),
            ("e.csv", 'event,node\n"no\nde",1\n', r"line 2: unknown event 'no\\nde'"),
            ("e.csv", 'event,node\nnode,"1\n', "line 2: unexpected end of data"),
            ("e.csv", "event,u,v,weight\nedge,1,2,heavy\n", "line 2: the weight must be a number .* got 'heavy'"),
            ("e.csv", "event,time\n,3\n", "line 2: no event is named"),
            ("e.txt", "", "the name of a file of events must end in .jsonl, .ndjson, .csv, .tsv or .parquet"),
            ("e.parquet", "event\n", "is not a Parquet file, though its name says so"),
        ],
    )
    def test_errors_name_the_file_and_the_line(self, tmp_path, name, content, message):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        with pytest.raises(ValueError, match=rf"^{re.escape(str(path))}(: | |, ){message}"):
            fo.replay(path).run()

    def test_errors_name_the_row_of_a_parquet_file(self, tmp_path):
        path = tmp_path / "e.parquet"
        path.write_bytes(parquet_table([("edge", 0, 1), ("question", 9)]))
        stream = fo.replay(path)
        with pytest.raises(nx.NodeNotFound, match=rf"^{re.escape(str(path))}, row 2: node 9 is not in the graph"):
            stream.run()
        assert stream.graph.edges() == [(0, 1)]
        path.write_bytes(path.read_bytes()[:60])
        with pytest.raises(ValueError, match=r"e\.parquet: not a Parquet file that can be read"):
            fo.replay(path).run()

    def test_a_file_that_is_not_there(self, tmp_path):
        with pytest.raises(FileNotFoundError):
            fo.replay(tmp_path / "events.jsonl").run()

    def test_progress(self, capsys):
        pytest.importorskip("tqdm")
        fo.replay(SIGN_UPS, progress=True).run()
        assert "8/8" in capsys.readouterr().err


class TestIdsOfTwoTypes:
    """JSON tells 1 and "1" apart, and so do graphs; a user who mixes them is told once."""

    MESSAGE = "the integer 1 and the text '1' are two nodes"

    @pytest.mark.parametrize(
        "lines",
        [
            ['{"event": "edge", "u": 1, "v": 2}', '{"event": "edge", "u": "1", "v": "3"}'],
            ['{"event": "edge", "u": "1", "v": "2"}', '{"event": "question", "node": 1}'],
            ['{"event": "label", "node": 1, "label": "a"}', '{"event": "arrival", "node": "1", "label": "a"}'],
            ['{"event": "node", "node": 1}', '{"event": "edge", "u": "a", "v": "1"}'],
            ['{"event": "edge", "u": 1, "v": "1"}'],
        ],
    )
    def test_are_warned_of_once(self, lines, tmp_path):
        path = tmp_path / "events.jsonl"
        path.write_text("\n".join([*lines, *lines]))
        with pytest.warns(UserWarning, match=self.MESSAGE) as found, contextlib.suppress(nx.NodeNotFound, ValueError):
            fo.replay(path).run()
        assert [str(warning.message).partition(";")[0] for warning in found] == [self.MESSAGE]

    def test_are_warned_of_where_the_graph_has_the_other_type(self):
        graph = fo.DynamicGraph(nx.path_graph(3))
        with pytest.warns(UserWarning, match=self.MESSAGE):
            fo.replay([("edge", "1", "2")], graph).run()

    def test_are_silent_where_none_are_written_alike(self):
        events = [("edge", 1, "ann"), ("edge", "2", 3), ("question", "ann"), ("arrival", "02", "a"), ("edge", True, 4)]
        fo.replay(events).run()
        fo.replay([("edge", "1", "2"), ("edge", "2", "3")]).run()
