"""What notebooks show of predictions and models."""

import re

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import nx_fastonl as fo
from nx_fastonl._lib.html import CURVE_POINTS, name_of
from nx_fastonl.labeling.views import SHOWN_LABELS
from tests.views import view_of

# Bytes of the view of anything: style, a curve, two tables.
MOST = 12_000
LABELS = ["<script>alert(1)</script>", "a\nb", "x" * 1000, "Ω", 1, ("t", 2), "&amp;", "</style>", False, 2.5]


def confusion(seq):
    """How often each label was predicted as which, as the table shows it: slow and obvious."""
    labels = sorted(set(seq.truth), key=lambda label: (-seq.truth.count(label), seq.truth.index(label)))[:SHOWN_LABELS]

    def column(label):
        return "none" if label is None else name_of(label) if label in labels else "other labels"

    table = {}
    for guess, label in zip(seq.predicted, seq.truth, strict=True):
        pair = column(label), column(guess)
        table[pair] = table.get(pair, 0) + 1
    return table


@given(st.data())
def test_streams(data):
    n = data.draw(st.integers(1, 60))
    truth = data.draw(st.lists(st.sampled_from(LABELS), min_size=n, max_size=n))
    predicted = data.draw(st.lists(st.sampled_from([None, *LABELS]), min_size=n, max_size=n))
    seq = fo.LabelSequence(tuple(predicted), tuple(range(n)), tuple(truth))
    found = view_of(seq)
    (table,) = found.tables
    (corner, *columns), *rows = table
    assert corner == "true label"
    shown = {(row[0], name): int(cell) for row in rows for name, cell in zip(columns, row[1:], strict=True)}
    assert {pair: count for pair, count in shown.items() if count} == confusion(seq)
    assert found.facts["accuracy"] == f"{100.0 * seq.accuracy:.1f} %"
    assert len(found.source.encode()) < MOST


def test_rare_labels_that_are_taken_for_each_other_have_no_colour():
    frequent = list(range(SHOWN_LABELS)) * 3
    truth = (*frequent, "x", "y", "z")
    seq = fo.LabelSequence((*frequent, "y", "x", 0), tuple(range(len(truth))), truth)
    last = view_of(seq).source.rpartition("other labels")[2]
    cells = re.findall(r"<td(.*?)>(\d+)</td>", last)
    assert [count for _, count in cells] == ["1", *["0"] * (SHOWN_LABELS - 1), "2"]
    assert ["style" in attributes for attributes, _ in cells] == [True, *[False] * SHOWN_LABELS]


def test_the_curve_is_that_of_the_errors():
    rng = np.random.default_rng(0)
    predicted = tuple(rng.choice(["a", "b"], 1000).tolist())
    seq = fo.LabelSequence(predicted, tuple(range(1000)), ("a",) * 1000)
    points = view_of(seq).points
    assert len(points) == CURVE_POINTS
    errors, top = seq.error_curve, 1.0
    for x, y in points[12:]:
        assert 1.0 - y / 96.0 == pytest.approx(errors[round(x / 300.0 * 999)] / top, abs=2e-3)


def test_an_empty_stream():
    found = view_of(fo.LabelSequence((), (), ()))
    assert "0 predictions, 0 mistakes" in found.texts
    assert view_of(fo.LabelSequence((), (), (), (), ())).tables == []


def test_probabilities():
    seq = fo.LabelSequence(("a", "b"), (0, 1), ("a", "a"), (0.75, 0.5), (0.75, 0.5))
    assert view_of(seq).facts["calibration error"] == "0.375"
    assert "calibration error" not in view_of(fo.LabelSequence(("a",), (0,), ("a",))).facts


def test_the_view_does_not_grow_with_the_stream():
    n = 20_000
    labels = tuple(f"label {i % 5000} of many" for i in range(n))
    seq = fo.LabelSequence(labels, tuple(range(n)), labels[1:] + labels[:1])
    assert len(view_of(seq).source) < MOST


@pytest.mark.parametrize("method", ["adaptive", "fastonl", "weighted-majority"])
def test_models(karate, method):
    model = fo.OnlineNodeLabeler(karate, method=method)
    assert view_of(model).facts["labels"] == "none yet"
    for node, label in zip(karate, LABELS, strict=False):
        model.learn_one(node, label)
    found = view_of(model)
    assert found.facts["method"] == method
    assert found.facts["graph"] == "CSRGraph with 34 nodes and 78 edges"
    assert found.facts["learned"] == f"{model.n_learned} of 34 nodes"
    assert found.tables[0][0] == ["label", "nodes"]
    assert sum(int(row[1]) for row in found.tables[0][1:]) == model.n_learned
    assert len(found.source.encode()) < MOST
    if method == "adaptive":
        shown = {name: float(weight) for name, weight in found.tables[1][1:]}
        assert shown == pytest.approx(model.weights, abs=0.006)
    else:
        assert len(found.tables) == 1


def test_a_model_is_not_asked():
    graph = fo.DynamicGraph(nx.path_graph(4))
    model = fo.OnlineNodeLabeler(graph)
    model.learn_one(0, "a")
    assert "behind" not in view_of(model).facts
    graph.add_edge(0, 9)
    assert model._knowledge.learner.is_behind
    assert "catches up" in view_of(model).facts["behind"]
    assert model._knowledge.learner.is_behind
    model.predict_one(9)
    assert "behind" not in view_of(model).facts


def test_arrows_are_named():
    model = fo.OnlineNodeLabeler(nx.DiGraph([(0, 1), (1, 2)]))
    assert view_of(model).facts["arrows"] == "used"


def test_a_view_of_what_cannot_be_printed_is_that_of_its_kind():
    class Unspeakable:
        def __repr__(self):
            raise RuntimeError("no")

    seq = fo.LabelSequence((Unspeakable(),), (0,), (Unspeakable(),))
    assert view_of(seq).tables[0][0][1] == "a Unspeakable"


def test_what_cannot_be_shown_is_left_to_the_repr():
    class Rude:
        def __eq__(self, other):
            raise RuntimeError("no")

        __hash__ = None

    assert fo.LabelSequence((Rude(),), (0,), (Rude(),))._repr_html_() is None


def test_calibration():
    seq = fo.LabelSequence(("a", "b", "a"), (0, 1, 2), ("a", "a", "a"), (0.75, 0.55, 0.75), (0.75, 0.5, 0.5))
    found = view_of(seq.calibration())
    assert found.tables == [
        [
            ["bin", "probability", "right", "predictions"],
            ["0.5 to 0.6", "0.550", "0.000", "1"],
            ["0.7 to 0.8", "0.750", "1.000", "2"],
        ]
    ]
    assert found.bars == pytest.approx([48.0, 96.0])
    assert "0 predictions in 3 bins" in view_of(fo.Calibration((0, 0, 0), (np.nan,) * 3, (np.nan,) * 3)).texts
    rng = np.random.default_rng(0)
    p = tuple(rng.random(3000).tolist())
    many = view_of(fo.LabelSequence(("a",) * 3000, tuple(range(3000)), ("a",) * 3000, p, p).calibration(bins=1000))
    assert len(many.source) < MOST
    assert many.bars == []


@pytest.mark.parametrize("directed", [False, True])
def test_compatibility(directed):
    found = view_of(fo.Compatibility(("fox", "<b>"), [[0.5, 31.4], [np.nan, 0.0]], [[2, 20], [20, 4]], directed))
    assert found.tables == [[["", "fox", "<b>"], ["fox", "0.5", "31"], ["<b>", "", "0"]]]
    assert any(("points to" if directed else "is joined to") in text for text in found.texts)


def test_compatibility_of_many_labels_shows_those_with_the_most_edges():
    k = 40
    counts = np.diag(np.arange(k, dtype=float))
    found = view_of(fo.Compatibility(tuple(range(k)), np.ones((k, k)), counts))
    assert found.tables[0][0] == ["", *map(str, range(k - SHOWN_LABELS, k))]
    assert "not shown, with fewer edges: 30 of 40 labels" in found.texts
    assert view_of(fo.Compatibility((), np.ones((0, 0)), np.ones((0, 0)))).tables == []


def test_statistics(karate):
    *_, push = fo.fifo_push(karate, 0, full_output=True)
    _, ranks = fo.personalized_pagerank_local(karate, personalization=22, top_k=3, full_output=True)
    _, column = fo.kernel_column(karate, 0, full_output=True)
    assert view_of(push).facts["outcome"] == "converged"
    assert view_of(ranks).facts["top_k_proven"] == "yes"
    assert view_of(column).facts["elsewhere"] == "0"
    model = fo.OnlineNodeLabeler(karate).fit({0: "<b>", 33: "Officer"})
    assert view_of(model.certify_one(0)).facts["label"] == "<b>"
    for label in (True, 2024, 0.30000000000000004):
        found = view_of(fo.OnlineNodeLabeler(nx.path_graph(3)).fit({0: label, 2: "b"}).certify_one(0)).facts
        assert (found["label"], found["certain"]) == (str(label), "yes")
