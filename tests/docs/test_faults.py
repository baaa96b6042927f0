"""Every row of docs/guide/faults.md, by its name."""

import errno
import gzip
import io
import os
import pickle
import signal
import subprocess
import sys
import threading
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from matplotlib.figure import Figure

import nx_fastonl as fo
from nx_fastonl._lib import files, streams
from nx_fastonl.cli import screen
from nx_fastonl.learners import _diffusion
from tests._lib import test_sharing
from tests.batch import test_jobs
from tests.experiments import test_runner
from tests.fuzz import interrupts
from tests.graph import test_hostile_nodes as graph_nodes
from tests.labeling import test_durable
from tests.labeling import test_hostile_nodes as learning_nodes
from tests.seams import dense, learner_of
from tests.sklearn import test_classifier
from tests.tampering import tampered

PAGE = Path(__file__).parents[2] / "docs" / "guide" / "faults.md"
FAULTS = []  # the rows that have a test


def fault(row):
    FAULTS.append(row)
    return lambda test: test


def model_of(G=None, **options):
    return fo.OnlineNodeLabeler(nx.karate_club_graph() if G is None else G, **options)


@fault("a weight that is negative, infinite or no number")
def test_bad_weight():
    for weight in (-1.0, float("inf"), float("nan"), "heavy"):
        G = nx.Graph()
        G.add_edge("a", "b", weight=weight)
        with pytest.raises(ValueError, match=r"edge \('a', 'b'\) has weight"):
            fo.personalized_pagerank_local(G, personalization="a")


@fault("arcs that add up to more than a weight may be")
def test_heavy_arcs(tmp_path):
    for directed, weight in ((True, 6e99), (False, 1.2e100)):
        with fo.DurableGraph(tmp_path / str(directed), directed=directed) as graph:
            graph.add_edge("a", "b", weight=weight / 2)
            with pytest.raises(ValueError, match=r"edge \('a', 'a'\) has weight"):
                graph.add_edge("a", "a", weight=weight)
            graph.snapshot()
        with fo.DurableGraph(tmp_path / str(directed)) as graph:
            assert list(graph) == ["a", "b"]


def weighted_cycle(weights):
    return nx.Graph([(u, (u + 1) % len(weights), {"weight": weight}) for u, weight in enumerate(weights)])


@fault("weights that differ by 200 orders of magnitude")
def test_resistances_of_weights_that_differ():
    cycle, path = weighted_cycle([1e100, 1e-100] * 2), nx.path_graph(2_500)
    nx.set_edge_attributes(path, {(u, v): 1e-100 if u % 2 else 1e100 for u, v in path.edges}, "weight")
    for G, pair, expected in ((cycle, (0, 2), 5e99), (cycle, (0, 1), 1e-100), (path, (0, 2_499), 1.249e103)):
        [found], info = fo.effective_resistance(G, [pair], full_output=True)
        assert info.errors[0] <= 1e-11 * found
        assert found == pytest.approx(expected, rel=1e-11, abs=0.0)


@fault("weights that differ by more than 24 orders of magnitude in a larger network")
def test_resistances_of_weights_that_differ_too_much():
    G = weighted_cycle([1e-13, *[1.0] * 2_000, 1e13])
    with pytest.raises(ValueError, match=r"1e\+26 times the smallest one; .* up to a factor of 1e\+24"):
        fo.effective_resistance(G, [(0, 5)])
    with pytest.raises(NotImplementedError):
        nx.resistance_distance(fo.CSRGraph.from_networkx(G), 0, 5, weight="weight")


@fault("a `weight=` that no edge of an `nx.Graph` has")
def test_unused_weight():
    with pytest.warns(UserWarning, match="no edge has the attribute 'wweight', .*; perhaps weight was meant"):
        fo.personalized_pagerank_local(nx.karate_club_graph(), personalization=22, weight="wweight")


@fault("a view that shows an edge in one direction only")
def test_one_sided_view():
    V = nx.subgraph_view(nx.complete_graph(4), filter_edge=lambda u, v: u < v)
    assert (fo.CSRGraph.from_networkx(V).to_scipy().toarray() == nx.to_scipy_sparse_array(V).toarray()).all()


@fault("arrays that describe no graph")
def test_bad_arrays():
    for arrays in (([0, 5], [0]), ([0, 1], [9]), ([0, 2, 4], [1, 1, 0, 0]), ([0, 1, 1], [1])):
        with pytest.raises(ValueError, match=r"must|twice|symmetric"):
            fo.CSRGraph(*arrays)


@fault("arrays that change while they are read")
def test_changing_arrays():
    indices = np.array([1, 0])

    class Node:
        def __hash__(self):
            indices[:] = 10**6
            return 1

    graph = fo.CSRGraph([0, 1, 2], indices, nodes=[Node(), "other"])
    assert graph.indices.tolist() == [1, 0]


@fault("the arrays of a graph, made writable")
def test_writable_arrays():
    with pytest.raises(ValueError, match="WRITEABLE"):
        fo.CSRGraph([0, 1, 2], [1, 0]).indices.flags.writeable = True


@fault("a small file that stands for gigabytes")
def test_file_that_expands(tmp_path):
    with gzip.open(tmp_path / "edges.csv.gz", "wb") as file:
        file.write(b"1 2\n" * (streams.FREE_BYTES // 4 + 1))
    with pytest.raises(ValueError, match=r"edges\.csv\.gz: .*over 200 times as much; if that is intended, unpack it"):
        fo.CSRGraph.from_edge_file(tmp_path / "edges.csv.gz")


@fault("a name with characters that a terminal obeys")
def test_terminal(monkeypatch, capfd):
    for is_terminal, shown in ((True, "\\x1b[2J\n"), (False, "\x1b[2J\n")):
        monkeypatch.setattr(sys.stdout, "isatty", lambda answer=is_terminal: answer)
        screen.write(b"\x1b[2J\n")
        assert capfd.readouterr().out == shown


@fault("a label or a name with dollar signs, control characters or half of a character, in a picture")
def test_odd_texts_in_pictures():
    for text in ("$x_{$", "\x1b[2J", "half \ud800"):
        figure = Figure()
        G = nx.path_graph([text, "b"])
        fo.plotting.plot_labels(G, {text: text, "b": "b"}, ax=figure.add_subplot(), with_labels=True)
        figure.savefig(io.BytesIO(), format="svg")


@fault("a node that is not in the graph")
def test_unknown_node():
    model = model_of()
    for call in (lambda: model.predict_one(99), lambda: model.learn_many({0: "a", 99: "b"})):
        with pytest.raises(nx.NodeNotFound, match="node 99 is not in the graph"):
            call()
    assert model.labels == {}


@fault('a node that is in the graph with another type, as 22 beside "22"')
def test_node_of_another_type():
    with pytest.raises(nx.NodeNotFound, match="node '22' is not in the graph, which has the integer 22"):
        fo.personalized_pagerank_local(nx.karate_club_graph(), personalization="22")


@fault("events in which the same id is a number here and a text there")
def test_ids_of_two_types():
    with pytest.warns(UserWarning, match="the integer 1 and the text '1' are two nodes; if one was meant"):
        fo.replay([("edge", 1, 2), ("edge", "1", "3")]).run()


@fault("cross-validation of a pipeline that hides from scikit-learn that X is a graph")
def test_pipeline_of_a_graph():
    test_classifier.test_a_pipeline_whose_first_step_hides_that_x_is_a_graph()


@fault("a misspelt keyword of a function of a graph, or option of a model")
def test_misspelt_keyword():
    with pytest.raises(TypeError, match="'topk'; perhaps top_k was meant"):
        fo.personalized_pagerank_local(nx.karate_club_graph(), personalization=22, topk=3)
    with pytest.raises(TypeError, match="no option smothness; perhaps smoothness was meant"):
        model_of(smothness=0.1)


@fault("a file in place of a graph, a node in place of `alpha`, a date in place of a time")
def test_slips():
    with pytest.raises(TypeError, match=r"CSRGraph\.from_edge_file reads"):
        fo.personalized_pagerank_local("graph.csv")
    with pytest.raises(ValueError, match="personalization=22 says where walks start"):
        fo.personalized_pagerank_local(nx.karate_club_graph(), 22)
    with pytest.raises(TypeError, match=r"timestamp\(\) makes seconds of it"):
        fo.DynamicGraph().add_edge(0, 1, time="2024-01-01")


@fault("a label of None or NaN")
def test_missing_label():
    model = model_of()
    for missing in (None, float("nan")):
        with pytest.raises(ValueError, match="means that it has none"):
            model.learn_one(0, missing)
    model.run({1: None, 2: "a"})
    assert model.learn_many({3: float("nan"), 4: "b"}).labels == {2: "a", 4: "b"}
    assert model.fit({5: None, 6: "c"}).labels == {6: "c"}


@fault("a label that is not one of the classes")
def test_unknown_label():
    with pytest.raises(
        ValueError, match=r"label 'x' of node 0 is not one of the classes: 0, 1, 2.* and 99,995 more"
    ) as e:
        model_of(classes=range(100_000), method="weighted-majority").learn_one(0, "x")
    assert len(str(e.value)) < 200


@fault("a node that is given twice")
def test_node_twice():
    model = model_of()
    with pytest.raises(ValueError, match="node 1 is given twice"):
        model.learn_many([(0, "a"), (1, "a"), (1, "b")])
    assert model.labels == {}
    with pytest.raises(ValueError, match="node 1 was learned before"):
        model.run([(0, "a"), (1, "a"), (1, "b"), (2, "a")])
    assert model.labels == {0: "a", 1: "a"}


@fault("a parameter that is out of range")
def test_bad_parameter():
    for options, error in (
        ({"smoothness": 0}, ValueError),
        ({"epsilon": "small"}, TypeError),
        ({"seed": -1}, ValueError),
    ):
        with pytest.raises(error, match=f"{next(iter(options))} must .*got"):
            model_of(**options)


@fault("a saved model that was altered, cut short or saved by a newer version")
def test_damaged_model(tmp_path):
    model = fo.OnlineNodeLabeler(nx.path_graph(5)).fit({0: "a", 4: "b"})
    model.save(tmp_path)
    manifest = (tmp_path / "manifest.json").read_text()
    for damaged, why in (
        (manifest.replace('"seed": ', '"seed": 1'), "is damaged"),
        (manifest[:-20], "is damaged"),
        (manifest.replace('"version": 1', '"version": 2'), "saved by a newer nx_fastonl"),
    ):
        (tmp_path / "manifest.json").write_text(damaged)
        with pytest.raises(ValueError, match=why):
            fo.OnlineNodeLabeler.load(tmp_path)


@fault("a saved model whose arrays do not fit its graph or each other")
def test_altered_model(tmp_path):
    model = fo.OnlineNodeLabeler(nx.path_graph(5), experts=["vote"]).fit({0: "a", 4: "b"})
    model.save(tmp_path)
    with tampered(tmp_path) as content:
        names = [name for name in content.arrays if name.startswith("label_history")]
        for name in names[2:]:  # labels and arrivals of nodes
            content.arrays[name] = content.arrays[name][:-1]
    with pytest.raises(ValueError, match="its learner cannot be made again"):
        fo.OnlineNodeLabeler.load(tmp_path)


@fault("a saved graph with damage that could do harm")
def test_damaged_graph(tmp_path):
    fo.CSRGraph.from_edges([0, 1], [1, 2]).save(tmp_path)
    (file,) = tmp_path.glob("indices-*.npy")
    np.save(file, np.array([1, 0, 2, 3], dtype=np.int32))
    with pytest.raises(ValueError, match="an edge leads to a node that is not there"):
        fo.CSRGraph.open(tmp_path)
    np.save(file, np.array([1, 2, 0, 1], dtype=np.int32))  # the same edges in another order
    assert len(fo.CSRGraph.open(tmp_path)) == 3
    with pytest.raises(ValueError, match="checksum of its array indices is wrong"):
        fo.CSRGraph.open(tmp_path, verify="checksum")


@fault("a saved graph that was altered, with an edge in one row only, or twice in a row")
def test_altered_graph(tmp_path):
    fo.CSRGraph.from_edges([0, 1, 2], [1, 2, 0]).save(tmp_path / "graph")
    with tampered(tmp_path / "graph") as content:
        content.arrays["indices"][-1] = 0
    with pytest.raises(ValueError, match="graph is damaged: two rows differ about an edge"):
        fo.CSRGraph.open(tmp_path / "graph", verify="checksum")  # the checksums were mended
    with tampered(tmp_path / "graph") as content:
        content.arrays["indices"][:] = [1, 1, 0, 0, 2, 2]
    graph = fo.CSRGraph.open(tmp_path / "graph", verify="checksum")
    for change in (fo.DynamicGraph, lambda G: fo.DurableGraph(tmp_path / "durable", G)):
        with pytest.raises(ValueError, match="graph is damaged: a row lists a neighbour twice"):
            change(graph)


@fault("saved rows with damage that could do harm")
def test_damaged_rows(tmp_path):
    rows = fo.ppr_matrix(nx.karate_club_graph(), out=tmp_path / "rows", rows_per_shard=34)
    (columns,) = rows.path.glob("rows-*/columns-*.npy")
    content = bytearray(columns.read_bytes())
    content[-4:] = (99).to_bytes(4, "little")  # there are 34 columns
    columns.write_bytes(content)
    with pytest.raises(ValueError, match="damaged"):
        fo.open_matrix(rows.path).to_scipy()
    content[-4:] = (2).to_bytes(4, "little")
    columns.write_bytes(content)
    with pytest.raises(ValueError, match="checksum"):
        fo.open_matrix(rows.path, verify="checksum")


@fault("a file of saved rows that was given the name of another")
def test_misnamed_rows(tmp_path):
    rows = fo.ppr_matrix(nx.karate_club_graph(), out=tmp_path / "rows", rows_per_shard=17)
    first, second = sorted(rows.path.glob("rows-*"))
    for old, new in ((first, tmp_path / "spare"), (second, first), (tmp_path / "spare", second)):
        old.rename(new)
    for verify in (True, "checksum"):
        with pytest.raises(ValueError, match="it holds rows 17 to 33, and its name says 0 to 16"):
            fo.open_matrix(rows.path, verify=verify).row(0)


@fault("a folder with rows of another graph or of other parameters")
def test_other_rows(tmp_path):
    G = nx.karate_club_graph()
    expected = fo.ppr_matrix(G, top_k=3, out=tmp_path / "rows").to_scipy()
    with pytest.raises(ValueError, match="holds rows with top_k=3, not top_k=4"):
        fo.ppr_matrix(G, top_k=4, out=tmp_path / "rows")
    with pytest.raises(ValueError, match="holds rows of another graph"):
        fo.ppr_matrix(nx.path_graph(34), top_k=3, out=tmp_path / "rows")
    assert (fo.open_matrix(tmp_path / "rows").to_scipy() != expected).nnz == 0


@fault("a model and a graph that it was not learned on")
def test_other_graph(tmp_path):
    fo.OnlineNodeLabeler(nx.path_graph(5)).save(tmp_path, include_graph=False)
    with pytest.raises(ValueError, match="learned on another graph"):
        fo.OnlineNodeLabeler.load(tmp_path, graph=nx.cycle_graph(5))


@fault("a pickle with damaged arrays")
def test_damaged_pickle():
    graph = fo.CSRGraph([0, 1, 3, 4], [1, 0, 2, 1])
    content = pickle.dumps(graph)
    part = graph.indices.tobytes()
    assert content.count(part) == 1
    with pytest.raises(ValueError, match="indices must lie between 0 and 2"):
        pickle.loads(content.replace(part, b"\x01\x00\x00\x01" + part[4:]))


def interrupted_at_some_lines(*calls):
    for call in calls:
        n = interrupts.places("fastonl", call)
        for place in range(1, n + 1, max(n // 5, 1)):
            interrupts.inject("fastonl", call, place)


@fault("Ctrl-C while a label is learned or forgotten")
def test_interrupted_label():
    interrupted_at_some_lines("learn_one", "overwrite", "forget")


@fault("Ctrl-C while many labels are learned")
def test_interrupted_labels():
    interrupted_at_some_lines("learn_many")


@fault("Ctrl-C in `fit`")
def test_interrupted_fit():
    interrupted_at_some_lines("fit")


@fault("Ctrl-C in a stream")
def test_interrupted_stream():
    interrupted_at_some_lines("run")
    model = model_of()

    def stream():
        yield 0, "a"
        yield 1, "b"
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        model.run(stream())
    assert model.labels == {0: "a", 1: "b"}


@fault("no memory while learning")
def test_no_memory(monkeypatch):
    class NoMemory:
        def __getattr__(self, name):
            return getattr(np, name)

        def zeros(self, *_, **__):
            raise MemoryError

    model = model_of(nx.star_graph(9000), epsilon=1e-9)
    with monkeypatch.context() as patch:
        patch.setattr(_diffusion, "np", NoMemory())
        with pytest.raises(MemoryError):
            model.learn_one(5, "a")
    assert model.labels in ({}, {5: "a"})
    model.learn_one(6, "b")
    assert model.predict_one(6) == "b"


@fault("a graph that leaves the range of a model, as by an edge of weight 1e9")
def test_graph_out_of_range(tmp_path):
    with fo.DurableGraph(tmp_path, nx.path_graph("abcd")) as graph:
        graph.labeler("model", method="perceptron").learn_many({"a": "x", "d": "y"})
        graph.labeler("other").learn_one("a", "x")
        graph.add_edge("b", "e", weight=1e9)
        graph.remove_node("d")
        graph.snapshot()
    with fo.DurableGraph(tmp_path) as graph:
        model = graph.labeler("model")
        with pytest.raises(ValueError, match=r"cannot follow its graph as that is now: .* degree 1e\+09 of node 'b'"):
            model.predict_one("b")
        assert model.labels == {"a": "x"}
        assert graph.labeler("other").predict_one("b") == "x"
        graph.remove_edge("b", "e")
        assert model.predict_one("b") == "x"


@fault('a later edge whose weight a model with `dtype="float32"` cannot hold')
def test_weight_out_of_single_precision():
    for method in ("adaptive", "fastonl"):
        graph = fo.DynamicGraph(nx.path_graph("abcd"))
        model, double = (model_of(graph, method=method, dtype=dtype) for dtype in ("float32", "float64"))
        for each in (model, double):
            each.learn_many({"a": "x", "d": "y"})
        for weight in (1e50, 1e-50):
            graph.add_edge("b" if weight > 1.0 else "e", "e", weight)
            with pytest.raises(ValueError, match='dtype="float32" needs weighted degrees between 1e-20 and'):
                model.predict_one("b")
            assert not np.isnan(double.predict_proba_many()).any()
            graph.remove_node("e")
        assert model.predict_many() == [model.predict_one(node) for node in "abcd"]


@fault("several threads use one model")
def test_threads():
    G = nx.cycle_graph(400)
    model, failed = model_of(G, classes=["a", "b"]), []

    def learn(first):
        for node in range(first, 400, 2):
            model.learn_one(node, "ab"[node % 2])

    def read():
        while any(thread.is_alive() for thread in learning):
            if not set(model.predict_many([1, 200])) <= {"a", "b"}:
                failed.append("prediction")

    learning = [threading.Thread(target=learn, args=(first,)) for first in (0, 1)]
    others = [threading.Thread(target=read) for _ in range(2)]
    for thread in (*learning, *others):
        thread.start()
    for thread in (*learning, *others):
        thread.join()
    assert (model.n_learned, failed) == (400, [])


@fault("labels whose code calls the model")
def test_calling_labels():
    model = model_of()

    class Label(str):
        __slots__ = ()

        def __hash__(self):
            model.predict_one(5)
            return super().__hash__()

        __eq__ = str.__eq__

    model.learn_one(0, Label("a"))
    model.learn_many((node, model.predict_one(node)) for node in (1, 2))
    assert model.labels == {0: "a", 1: "a", 2: "a"}


@fault("a node whose `__eq__` or `__hash__` raises")
def test_raising_nodes():
    graph_nodes.test_a_change_is_whole_whenever_a_node_raises("remove_nodes_from", lasting=False, directed=True)
    learning_nodes.test_nodes_that_were_added_leave_again_whenever_a_node_raises("learn_many", lasting=True)


@fault("a node whose `__eq__` changes the graph that looks it up for another change")
def test_changing_nodes():
    graph_nodes.test_a_node_cannot_change_the_graph_that_looks_it_up_for_a_change(
        "add_edge", "add_edge", directed=False
    )


@fault("a signal handler that changes, saves or closes a `DurableGraph` in the middle of a change")
def test_closing_handler(tmp_path, monkeypatch):
    for i, verb in enumerate(["snapshot", "close", "learn"]):
        test_durable.test_what_signal_handlers_cannot_do_loses_nothing(
            tmp_path / str(i), monkeypatch, "add_edges_from", verb
        )


@fault("a signal handler that changes a model while it is being changed")
def test_changing_handler(monkeypatch):
    if sys.platform == "win32":
        pytest.skip("signals to oneself")
    model, errors = model_of(), []
    learn = learner_of(model).learn

    def handler(*_):
        for change in (
            lambda: model.learn_one(1, "b"),
            lambda: model.fit({1: "b"}),
            lambda: model.forget(0),
            lambda: model.save("no"),
        ):
            try:
                change()
            except RuntimeError as error:
                errors.append(str(error))

    def learn_and_be_signalled(*arguments):
        signal.raise_signal(signal.SIGUSR1)
        learn(*arguments)

    before = signal.signal(signal.SIGUSR1, handler)
    try:
        monkeypatch.setattr(learner_of(model), "learn", learn_and_be_signalled)
        model.learn_one(0, "a")
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert errors == ["this model is being changed by the same thread; a signal handler cannot change or save it"] * 4
    assert model.labels == {0: "a"}


@fault("mass that hardly settles on a small graph")
def test_slow_graph():
    model = model_of(nx.path_graph(300), smoothness=1e-9)
    model.learn_one(0, "a")
    model.learn_one(299, "b")
    assert model.predict_many([1, 298]) == ["a", "b"]


@fault("a damping close to 1 on a small graph")
def test_slow_walks():
    for G in (nx.path_graph(5), nx.cycle_graph(5, create_using=nx.DiGraph)):
        _, info = fo.personalized_pagerank_local(G, 1 - 1e-8, 0, tol=2.1e-7, full_output=True)
        assert info.l1_error <= 2.1e-7
        assert info.operations <= 10**6
        rows = fo.ppr_matrix(G, alpha=1 - 1e-8, tol=2.1e-7).toarray()
        assert np.abs(rows - rows[0]).max() <= 1e-7


@fault("resistances that take many steps on a small graph")
def test_resistances_on_a_clique_with_a_tail():
    found, info = fo.effective_resistance(
        nx.lollipop_graph(200, 200), [(0, v) for v in range(300, 400)], full_output=True
    )
    assert found == pytest.approx([v - 199 + 0.01 for v in range(300, 400)], rel=1e-11)
    assert info.operations < 1e7  # steps alone walk 9e8


@fault("mass that hardly settles in single precision")
def test_slow_in_single_precision():
    with pytest.raises(ValueError, match=r'dtype="float32" needs a smoothness .*: use float64'):
        model_of(smoothness=1e-8, dtype="float32")


@fault("changes that lead to dead ends under a PageRank vector")
def test_dead_ends_that_appear():
    graph = fo.DynamicGraph(directed=True)
    graph.add_weighted_edges_from([(0, 1, 1.1), (1, 0, 1.3), (1, 1, 1.7)])
    ranks = fo.DynamicPageRank(graph, 0, 0.999, epsilon=1e-14)
    assert ranks.l1_error < 1e-10
    graph.remove_edge(0, 1)
    assert abs(ranks[0] - 1.0) <= ranks.l1_error
    graph.remove_edge(1, 0)
    assert abs(ranks[0] - 1.0) + ranks[1] <= ranks.l1_error < 1e-6


@fault("a weight that jumps by many powers of ten under a model")
def test_a_weight_that_jumps_under_a_model():
    graph = fo.DynamicGraph()
    graph.add_weighted_edges_from([("a", "b", 1.0), ("b", "c", 1.0)])
    model = fo.OnlineNodeLabeler(graph, method="fastonl", kernel="normalized-laplacian")
    model.learn_many({"a": 0, "c": 1})
    for weight in (1e50, 1e-50, 1.0):
        graph.add_edge("a", "b", weight=weight)
        model.predict_one("b")
        H, Z, R, B = dense(model)
        exact = np.linalg.solve(H, B - R)
        assert np.abs(Z - exact).max() <= 1e-6 * np.abs(exact).max()


@fault("a weight that jumps by many powers of ten under a PageRank vector")
def test_a_weight_that_jumps():
    graph = fo.DynamicGraph()
    graph.add_edge("a", "a", weight=1.0)
    ranks = fo.DynamicPageRank(graph, "a")
    for weight in (1.0, 1e50, 1e-50, 1e100):
        graph.add_edge("a", "a", weight=weight)
        assert abs(ranks["a"] - 1.0) <= ranks.l1_error < 1e-6


@fault("a disk that is full while a file is written")
def test_full_disk(monkeypatch, tmp_path):
    target = tmp_path / "answers.csv"
    target.write_text("old")

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(files.os, "fsync", full)
    with pytest.raises(OSError, match=r"answers\.csv"):
        files.write_file(target, b"new")
    assert (target.read_text(), [path.name for path in tmp_path.iterdir()]) == ("old", ["answers.csv"])


@fault("a process that is killed while it saves a graph or a model")
@pytest.mark.skipif(sys.platform == "win32", reason="POSIX")
def test_killed_saver(tmp_path):
    command = [sys.executable, "-m", "tests._lib.killed_savers", str(tmp_path), "20"]
    subprocess.run(command, cwd=Path(__file__).resolve().parents[2], check=True)


@fault("a process that forks while another thread uses a model")
@pytest.mark.skipif(not hasattr(os, "fork"), reason="Windows has no fork")
def test_fork_of_a_model():
    test_sharing.test_a_forked_child_refuses_a_model_that_another_thread_was_using()


@fault("a process that forks while a `DurableGraph` is open")
@pytest.mark.skipif(not hasattr(os, "fork"), reason="Windows has no fork")
def test_fork(tmp_path):
    test_durable.test_a_forked_child_reads_and_does_not_write(tmp_path)


@fault("the folder of an open `DurableGraph` is moved, or removed")
@pytest.mark.skipif(sys.platform == "win32", reason="Windows refuses to move it")
def test_moved_folder(tmp_path, monkeypatch):
    path = tmp_path / "graph"
    test_durable.test_a_folder_that_was_moved_is_written_on_and_the_one_in_its_place_is_not(
        path, monkeypatch, replaced=True, by_itself=False
    )
    test_durable.test_changes_of_a_graph_whose_folder_was_removed_are_refused(tmp_path / "other", monkeypatch, "always")


@fault("other files in the folder of a `DurableGraph` or of rows, such as copies")
def test_other_files(tmp_path):
    test_durable.test_opening_removes_what_a_crash_has_left_and_nothing_else(tmp_path / "graph")
    test_jobs.test_files_of_others_stay(tmp_path)


@fault("a process that is killed while it writes rows to a folder")
@pytest.mark.skipif(sys.platform == "win32", reason="POSIX")
def test_killed_job(tmp_path):
    command = [sys.executable, "-m", "tests.batch.killed_jobs", str(tmp_path / "rows"), "5"]
    subprocess.run(command, cwd=Path(__file__).resolve().parents[2], check=True, stdout=subprocess.PIPE)


@fault("a folder that is saved to while it is open")
def test_open_folder(tmp_path):
    fo.CSRGraph.from_edges([0, 1], [1, 2]).save(tmp_path)
    graph = fo.CSRGraph.open(tmp_path)
    fo.CSRGraph.from_edges([0], [1]).save(tmp_path)
    assert graph.indices.tolist() == [1, 0, 2, 1]


@fault("two experiments that write one folder")
def test_two_experiments(tmp_path):
    test_runner.test_two_processes_write_to_one_file(tmp_path)


def test_every_row_of_the_page_has_a_test():
    rows = [
        line.split("|")[1].strip() for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("|")
    ]
    assert [row for row in rows if not row.startswith(("what ", "---"))] == FAULTS
