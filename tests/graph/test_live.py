import gc
import pickle
import warnings
import weakref
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from numpy.testing import assert_array_equal

import nx_fastonl as fo
from nx_fastonl.graph import live
from nx_fastonl.graph._dicts import some_edges
from nx_fastonl.graph.csr import CSRGraph, csr_graph_of
from nx_fastonl.graph.live import MAX_CHECKED_EDGES, LiveGraph, live_graph
from tests import oracles

KINDS = (nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph)


def dense(graph):
    return graph.to_scipy().toarray()


def test_graph_that_keeps_its_edges_in_other_dicts():
    class Ordered(dict):
        pass

    class Graph(nx.Graph):
        adjlist_outer_dict_factory = Ordered
        adjlist_inner_dict_factory = Ordered
        edge_attr_dict_factory = Ordered

    G = Graph([(0, 1, {"weight": 2}), (1, 2, {"weight": 3})])
    live = live_graph(G)
    assert csr_graph_of(live, "weight").degrees.tolist() == [2.0, 5.0, 3.0]
    assert csr_graph_of(live, "weight") is csr_graph_of(live, "weight")
    G[0][1]["weight"] = 4
    assert csr_graph_of(live, "weight").degrees.tolist() == [4.0, 7.0, 3.0]


def test_views_are_converted():
    G = nx.karate_club_graph()
    view = G.subgraph([5, 3, 0, 33])
    assert_array_equal(dense(CSRGraph.from_networkx(view)), oracles.adjacency(nx.Graph(view)))
    D = nx.DiGraph([(0, 1), (1, 2)])
    assert_array_equal(dense(CSRGraph.from_networkx(D.reverse(copy=False))), oracles.adjacency(D).T)


def test_a_graph_that_changes_while_it_is_converted_is_refused():
    asked = 0

    def show(*_edge):
        nonlocal asked
        asked += 1
        return asked > 400

    view = nx.subgraph_view(nx.complete_graph(20), filter_edge=show)
    with pytest.raises(RuntimeError, match="changed while it was converted"):
        CSRGraph.from_networkx(view)


@pytest.mark.parametrize("kind", [nx.DiGraph, nx.MultiDiGraph])
def test_view_without_directions_has_the_edge_of_the_first_node(kind):
    D = kind([(0, 1, {"weight": 2}), (1, 0, {"weight": 5}), (2, 0, {"weight": 3}), (2, 2, {"weight": 4}), (2, 1, {})])
    view = D.to_undirected(as_view=True)
    expected = nx.to_scipy_sparse_array(view).toarray()
    assert_array_equal(dense(CSRGraph.from_networkx(view)), expected)
    assert_array_equal(expected, expected.T)


class TestCache:
    def test_second_conversion_is_the_first(self):
        G = nx.path_graph(4)
        assert CSRGraph.from_networkx(G) is CSRGraph.from_networkx(G)
        assert CSRGraph.from_networkx(G, weight=None) is not CSRGraph.from_networkx(G)

    @pytest.mark.parametrize(
        "change",
        [
            lambda G: G.add_edge(0, 3),
            lambda G: G.add_node(9),
            lambda G: G.remove_edge(0, 1),
            lambda G: G.remove_node(0),
            lambda G: G.add_weighted_edges_from([(0, 1, 7.0)]),
            lambda G: nx.set_edge_attributes(G, 5.0, "weight"),
            lambda G: G.clear_edges(),
        ],
    )
    def test_changes_through_networkx_are_seen(self, change):
        G = nx.path_graph(4)
        CSRGraph.from_networkx(G)
        change(G)
        graph = CSRGraph.from_networkx(G)
        assert list(graph) == list(G)
        assert_array_equal(dense(graph), oracles.adjacency(G))

    def test_views_are_never_stale(self):
        G = nx.path_graph(4)
        view = G.subgraph([0, 1, 2])
        assert CSRGraph.from_networkx(view).number_of_edges() == 2
        G.remove_edge(0, 1)
        assert CSRGraph.from_networkx(view).number_of_edges() == 1

    def test_networkx_configuration_is_heard(self):
        G = nx.path_graph(4)
        with nx.config(cache_converted_graphs=False):
            assert CSRGraph.from_networkx(G) is not CSRGraph.from_networkx(G)
        assert "backends" not in G.__networkx_cache__

    def test_graph_with_a_cached_conversion_can_be_pickled(self):
        G = nx.path_graph(4)
        size = len(pickle.dumps(G))
        CSRGraph.from_networkx(G)
        pickled = pickle.dumps(G)
        assert len(pickled) < size + 400  # without the arrays
        again = pickle.loads(pickled)
        assert nx.utils.graphs_equal(again, G)
        again.add_edge(0, 3)
        assert CSRGraph.from_networkx(again).number_of_edges() == 4

    def test_keeps_no_graph_alive(self):
        G = nx.karate_club_graph()
        CSRGraph.from_networkx(G)
        alive = weakref.ref(G)
        gc.disable()
        try:
            del G
            assert alive() is None
        finally:
            gc.enable()


def large_graph(kind=nx.Graph, weights=True):
    """A graph with ten times the edges that are compared."""
    G = kind(nx.gnm_random_graph(300, 10 * MAX_CHECKED_EDGES, seed=1, directed=kind().is_directed()))
    if weights:
        rng = np.random.default_rng(1)
        for *_, data in G.edges(data=True):
            data["weight"] = rng.uniform(1.0, 2.0)
    return G


@pytest.mark.usefixtures("_no_note_on_the_cache")
class TestChangesInPlace:
    """NetworkX does not see ``G[u][v]["weight"] = 2``."""

    @pytest.mark.parametrize(
        "change",
        [
            lambda data: data.update(weight=4.0),
            lambda data: data.update(weight=4),
            lambda data: data.update(weight=np.float64(4.0)),
            lambda data: data.update(weight=0),
            lambda data: data.pop("weight", None),
            lambda data: data.clear(),
        ],
    )
    @pytest.mark.parametrize("weights", [3, 2.5, 1000, np.float32(2.5)])
    @pytest.mark.parametrize("kind", KINDS)
    def test_every_one_is_seen_in_a_small_graph(self, kind, weights, change):
        edges = list(nx.gnm_random_graph(40, MAX_CHECKED_EDGES - 1, seed=1, directed=True).edges())
        G = kind([*edges, edges[0]])
        nx.set_edge_attributes(G, weights, "weight")
        assert G.number_of_edges() <= MAX_CHECKED_EDGES
        for number in (0, 1, G.number_of_edges() // 2, G.number_of_edges() - 1):
            CSRGraph.from_networkx(G)
            change(list(G.edges(data=True))[number][2])
            assert_array_equal(dense(CSRGraph.from_networkx(G)), oracles.adjacency(G))
            assert CSRGraph.from_networkx(G) is CSRGraph.from_networkx(G)

    def test_weight_that_appears_is_seen(self):
        G = nx.path_graph(3)
        assert CSRGraph.from_networkx(G).weights is None
        G[1][2]["weight"] = 4.0
        assert CSRGraph.from_networkx(G).degrees.tolist() == [1.0, 5.0, 4.0]

    def test_each_weight_has_its_own(self):
        G = nx.path_graph(3)
        nx.set_edge_attributes(G, 2.0, "cost")
        plain, costs, none = (CSRGraph.from_networkx(G, weight) for weight in ("weight", "cost", None))
        G[0][1]["cost"] = 5.0
        assert CSRGraph.from_networkx(G) is plain
        assert CSRGraph.from_networkx(G, None) is none
        assert CSRGraph.from_networkx(G, "cost").degrees.tolist() == [5.0, 7.0, 2.0]
        assert costs.degrees.tolist() == [2.0, 4.0, 2.0]

    def test_other_attributes_do_not_matter(self):
        G = nx.path_graph(3)
        graph = CSRGraph.from_networkx(G)
        G[0][1]["colour"] = "red"
        G.nodes[0]["colour"] = "red"
        assert CSRGraph.from_networkx(G) is graph

    def test_missing_weight_is_one(self):
        G = nx.path_graph(3)
        graph = CSRGraph.from_networkx(G)
        for value in (1, 1.0):
            G[0][1]["weight"] = value
            assert CSRGraph.from_networkx(G) is graph
        del G[0][1]["weight"]
        assert CSRGraph.from_networkx(G) is graph

    @pytest.mark.parametrize("weight", [2.0, 300])
    def test_equal_weight_is_no_change(self, weight):
        G = nx.path_graph(3)
        nx.set_edge_attributes(G, weight, "weight")
        graph = CSRGraph.from_networkx(G)
        for value in (weight + 0, float(str(weight)), int(str(int(weight)))):
            G[0][1]["weight"] = value
            assert CSRGraph.from_networkx(G) is graph

    @pytest.mark.parametrize("weight", [-1.0, "heavy", None, np.array([1.0, 2.0]), [], np.nan])
    def test_bad_weight_raises_though_a_good_one_was_stored(self, weight):
        G = nx.path_graph(3)
        CSRGraph.from_networkx(G)
        G[0][1]["weight"] = weight
        with pytest.raises(ValueError, match=r"edge \(0, 1\) has weight"):
            CSRGraph.from_networkx(G)
        G[0][1]["weight"] = 3.0
        assert CSRGraph.from_networkx(G).degrees.tolist() == [3.0, 4.0, 1.0]

    @pytest.mark.parametrize("kind", KINDS)
    @pytest.mark.parametrize("weights", [False, True])
    def test_change_of_many_is_seen_in_a_large_graph(self, kind, weights):
        G = large_graph(kind, weights)
        CSRGraph.from_networkx(G)
        for *_, data in list(G.edges(data=True))[::7]:
            data["weight"] = 5.0
        assert_array_equal(dense(CSRGraph.from_networkx(G)), oracles.adjacency(G))

    def test_change_of_one_in_a_large_graph_needs_a_cleared_cache(self):
        G = large_graph()
        graph = CSRGraph.from_networkx(G)
        checked = {id(data) for data in some_edges(G._adj, False, MAX_CHECKED_EDGES)[0]}
        data = next(data for *_, data in G.edges(data=True) if id(data) not in checked)
        data["weight"] = 50.0
        assert CSRGraph.from_networkx(G) is graph
        G.__networkx_cache__.clear()
        assert_array_equal(dense(CSRGraph.from_networkx(G)), oracles.adjacency(G))

    @pytest.mark.parametrize(
        "compute",
        [
            lambda G: fo.personalized_pagerank_local(G, personalization=0),
            lambda G: fo.fifo_push(G, 0),
            lambda G: fo.kernel_column(G, 0),
            lambda G: list(fo.OnlineNodeLabeler(G).learn_many({0: 1, 33: 2}).predict_proba_one(8).values()),
            lambda G: fo.labeling_cut(G, "club"),
            lambda G: nx.pagerank(G, backend="fastonl"),
            lambda G: fo.fifo_push(G, 0, backend="fastonl"),
        ],
    )
    def test_no_function_gives_the_old_answer(self, compute):
        G = nx.karate_club_graph()
        before = compute(G)
        G[0][8]["weight"] = 50.0
        after = compute(G)
        assert after != before
        with nx.config(cache_converted_graphs=False):
            assert after == compute(G)


class TestSomeEdges:
    @pytest.mark.parametrize("kind", KINDS)
    @pytest.mark.parametrize("count", [0, 1, 10, 11, 40])
    def test_all_of_a_small_graph(self, kind, count):
        G = kind(nx.gnm_random_graph(12, count, seed=1, directed=kind().is_directed()))
        found, are_all = some_edges(G._adj, G.is_multigraph(), 40)
        assert are_all
        assert sorted(map(id, found)) == sorted(id(data) for *_, data in G.edges(data=True))

    @pytest.mark.parametrize("kind", KINDS)
    @pytest.mark.parametrize("count", [41, 60, 100, 1000])
    def test_spread_over_a_large_graph(self, kind, count):
        G = kind(nx.gnm_random_graph(50, count, seed=1, directed=kind().is_directed()))
        number = {id(data): i for i, (*_, data) in enumerate(G.edges(data=True))}
        found, are_all = some_edges(G._adj, G.is_multigraph(), 40)
        assert not are_all
        numbers = sorted(number[id(data)] for data in found)
        assert 15 <= len(set(numbers)) == len(numbers) <= 40
        assert max(np.diff([0, *numbers, count])) < count / 4

    def test_self_loops_and_parallel_edges(self):
        G = nx.MultiGraph([(0, 0)] * 30 + [(0, 1)] * 10)
        assert len(some_edges(G._adj, True, 40)[0]) == 40
        found, are_all = some_edges(G._adj, True, 39)
        assert (len(found), are_all) == (20, False)


class TestWarning:
    @pytest.fixture(autouse=True)
    def _as_in_a_new_process(self, monkeypatch):
        monkeypatch.setattr(live, "_told", [])

    @pytest.mark.filterwarnings("error:nx_fastonl keeps")
    def test_is_an_error_at_most_once_and_names_the_caller(self):
        G = large_graph()
        fo.fifo_push(G, 0, epsilon=0.1)
        with pytest.raises(UserWarning, match="nx_fastonl keeps"):
            fo.fifo_push(G, 0, epsilon=0.1)
        fo.fifo_push(G, 0, epsilon=0.1)

    @pytest.mark.filterwarnings("always:nx_fastonl keeps")
    def test_names_the_line_that_called(self, recwarn):
        G = large_graph()
        for _ in range(2):
            fo.fifo_push(G, 0, epsilon=0.1)
        assert [Path(warning.filename).name for warning in recwarn] == [Path(__file__).name]

    @pytest.mark.filterwarnings("always:nx_fastonl keeps")
    def test_comes_once_with_the_first_use_of_what_is_not_checked_whole(self, recwarn):
        G = large_graph()
        CSRGraph.from_networkx(G)
        fo.fifo_push(nx.karate_club_graph(), 0)
        fo.fifo_push(G, 0, weight=None)
        assert not recwarn.list
        fo.fifo_push(G, 0)
        [warning] = recwarn.list
        assert warning.category is UserWarning
        assert "call G.__networkx_cache__.clear()" in str(warning.message)
        assert len(str(warning.message).splitlines()) == 1
        fo.fifo_push(G, 1)
        CSRGraph.from_networkx(large_graph(nx.DiGraph))
        assert len(recwarn.list) == 1

    @pytest.mark.filterwarnings("error:nx_fastonl keeps")
    def test_does_not_come_where_all_edges_are_checked_or_no_weights_matter(self):
        G = nx.karate_club_graph()
        for weight in ("weight", None):
            fo.fifo_push(G, 0, weight=weight)
            fo.fifo_push(G, 0, weight=weight)
        H = large_graph()
        fo.fifo_push(H, 0, weight=None)
        fo.fifo_push(H, 0, weight=None)
        fo.fifo_push(H, 0)
        with pytest.raises(UserWarning, match="nx_fastonl keeps"):
            fo.fifo_push(H, 0)

    @pytest.mark.filterwarnings("error:nx_fastonl keeps")
    def test_is_left_to_networkx_and_to_its_configuration(self):
        G = large_graph()
        with nx.config(warnings_to_ignore={"cache"}):
            fo.fifo_push(G, 0)
            fo.fifo_push(G, 0)
        with pytest.warns(UserWarning, match="conversions to backend graphs are saved to cache"):
            nx.pagerank(G, backend="fastonl")


def test_changes_that_fail_half_way():
    """NetworkX does not clear its cache then."""
    G = nx.path_graph(10)
    live = live_graph(G)
    graph = csr_graph_of(live, "weight")
    with pytest.raises(nx.NetworkXError):
        G.add_edges_from([(0, 9), (1,)])
    assert live_graph(G) is live
    assert csr_graph_of(live, "weight") is graph
    assert csr_graph_of(live, "weight", recount=True).number_of_edges() == 10
    with pytest.raises(ValueError, match="unpack"):
        G.add_nodes_from(["new", {}])
    assert len(csr_graph_of(live, "weight")) == 11
    assert repr(live) == repr(LiveGraph(G)) == "LiveGraph of 11 nodes"


class TestWeightsThatNoEdgeHas:
    CALLS = (
        lambda G: fo.personalized_pagerank_local(G, personalization=0, weight="wweight"),
        lambda G: fo.OnlineNodeLabeler(G, weight="wweight"),
        lambda G: fo.CSRGraph.from_networkx(G, weight="wweight"),
        lambda G: fo.DynamicGraph(G, weight="wweight"),
    )

    @pytest.mark.parametrize("kind", [nx.Graph, nx.DiGraph, nx.MultiGraph])
    @pytest.mark.parametrize("call", CALLS)
    def test_are_warned_of(self, call, kind):
        G = kind(nx.path_graph(3))
        G.add_edge(0, 1)  # in a multigraph a second one
        nx.set_edge_attributes(G, 2.0, "weight")
        message = "no edge has the attribute 'wweight', so all weights are 1; perhaps weight was meant"
        for _ in range(2):  # the second call uses what the first has kept
            with pytest.warns(UserWarning, match=message) as found:
                call(G)
            assert found[0].filename == __file__

    def test_are_silent_by_default_and_where_weights_are_known(self):
        G = nx.path_graph(3)
        G.add_edge(1, 2, km=3)
        for weight in ("weight", None, "km"):
            fo.personalized_pagerank_local(G, personalization=0, weight=weight)
        fo.personalized_pagerank_local(nx.empty_graph(3), personalization=0, weight="km")
        fo.personalized_pagerank_local(fo.CSRGraph.from_networkx(G), personalization=0, weight="wweight")

    def test_are_silent_in_functions_of_networkx(self):
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="Note: conversions to backend graphs")
            for _ in range(2):
                nx.pagerank(nx.path_graph(3), weight="wweight", backend="fastonl")

    def test_are_looked_for_anew_when_the_graph_changes(self):
        G = nx.path_graph(3)
        with pytest.warns(UserWarning, match="no edge has the attribute 'km'"):
            fo.CSRGraph.from_networkx(G, weight="km")
        G.add_edge(0, 2, km=2.0)
        assert fo.CSRGraph.from_networkx(G, weight="km").weights is not None
