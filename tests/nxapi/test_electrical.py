"""NetworkX's functions of electrical networks against NetworkX's own."""

import functools
import random
import warnings

import networkx as nx
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from networkx import approximate_current_flow_betweenness_centrality as betweenness
from networkx import current_flow_closeness_centrality as closeness
from networkx import resistance_distance

import nx_fastonl as fo
from nx_fastonl.nxapi import electrical
from nx_fastonl.nxapi.backend import BackendInterface
from nx_fastonl.push import laplacian, resistance
from tests import oracles
from tests.oracles import outcome
from tests.strategies import in_double, small_graphs
from tests.symmetric import symmetric_graphs

BACKEND, NETWORKX = "fastonl", "networkx"
SYMMETRIC = {
    name: G
    for name, G in symmetric_graphs().items()
    if not G.is_directed() and nx.is_connected(G) and 30 < len(G) < 500
}

# What NetworkX takes for a seed, or makes of it before it calls a backend.
SEEDS = {
    "number": lambda: 5,
    "random": lambda: random.Random(5),
    "RandomState": lambda: np.random.RandomState(5),
    "Generator": lambda: np.random.default_rng(5),
    "wrapped RandomState": lambda: nx.utils.PythonRandomInterface(np.random.RandomState(5)),
    "wrapped Generator": lambda: nx.utils.PythonRandomViaNumpyBits(np.random.default_rng(5)),
}

pytestmark = pytest.mark.usefixtures("_no_note_on_the_cache")


@st.composite
def circuits(draw):
    """Graphs and multigraphs, connected for the most part, some with self-loops and weights of 0."""
    G = in_double(draw(small_graphs()))
    if draw(st.booleans()):
        nx.add_path(G, G, weight=draw(st.sampled_from([1, 0.5, 3])))
    if draw(st.booleans()):
        G = nx.MultiGraph(G)
        nx.add_path(G, list(G)[:4], weight=2.0)
    if draw(st.integers(0, 9)) == 0 and G.edges:
        next(iter(G.edges(data=True)))[-1]["weight"] = 0
    return G


def same(found, expected, rel=1e-9):
    """Whether both are the same: values, orders of dicts, kinds of numbers, or the exceptions."""
    if isinstance(expected, dict):
        assert list(found) == list(expected)
        for node in expected:
            same(found[node], expected[node], rel)
    elif isinstance(expected, float):
        assert type(found) is float
        assert found == pytest.approx(expected, rel=rel, abs=1e-11)
    else:
        assert found == expected


def compare(function, G, *args, **kwargs):
    expected = outcome(function, G, *args, **kwargs, backend=NETWORKX)
    found = outcome(function, G, *args, **kwargs, backend=BACKEND)
    if found is not NotImplementedError:  # which leaves the call to NetworkX
        same(found, expected)
    return found


class TestAsNetworkX:
    @settings(deadline=None)
    @given(circuits(), st.data())
    def test_resistance_distance(self, G, data):
        nodes = st.none() | st.sampled_from([*G, "not there"])
        weight, invert_weight = data.draw(st.sampled_from(["weight", None])), data.draw(st.booleans())
        ends = data.draw(nodes), data.draw(nodes)
        # Zero weights without inverting them: NetworkX computes with a Laplacian of less rank.
        with pytest.MonkeyPatch.context() as patch:
            # At 1e-15, NetworkX's own, rounding errors may pass for an eigenvalue: values are then wrong by 1 %.
            patch.setattr(np.linalg, "pinv", functools.partial(np.linalg.pinv, rcond=1e-12))
            found = compare(resistance_distance, G, *ends, weight, invert_weight)
        has_zeros = 0 in nx.get_edge_attributes(G, "weight", 1).values()
        assert has_zeros or found is not NotImplementedError

    @pytest.mark.parametrize("few", [0, 200])
    @settings(deadline=None)
    @given(G=circuits(), weight=st.sampled_from(["weight", None]), seed=st.integers(0, 9))
    def test_centralities(self, few, G, weight, seed):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(laplacian, "MAX_DENSE_FACTOR", few)
            patch.setattr(laplacian, "MAX_DENSE_FOR_EACH", few)
            patch.setattr(electrical, "MAX_DENSE_PAIR", few)
            found = compare(closeness, G, weight)
            compare(betweenness, G, bool(seed % 2), weight, seed=seed)
        assert 0 in nx.get_edge_attributes(G, "weight", 1).values() or found is not NotImplementedError

    @pytest.mark.parametrize("kind", SEEDS)
    def test_seeds_of_every_kind(self, karate, kind):
        G = nx.relabel_nodes(karate, str)
        ours, theirs = SEEDS[kind](), SEEDS[kind]()
        for _ in range(2):  # the second time, from where the first one has left the seed
            expected = betweenness(G, weight="weight", seed=theirs, backend=NETWORKX)
            same(betweenness(G, weight="weight", seed=ours, backend=BACKEND), expected)

    def test_the_seed_of_the_operating_system(self, karate):
        assert len(betweenness(karate, seed=random.SystemRandom(), backend=BACKEND)) == len(karate)

    @pytest.mark.parametrize(
        "parameters",
        [
            {"epsilon": 0},
            {"epsilon": -1},
            {"epsilon": 1e300},
            {"epsilon": float("inf")},
            {"sample_weight": 0},
            {"sample_weight": 1e-9},
            {"kmax": 3},
            {"epsilon": 1e-3},
        ],
    )
    def test_exceptions_of_betweenness(self, karate, parameters):
        """NetworkX has `sample_weight` from version 3.6 on. Before that, some of these are other exceptions."""
        found = []
        for backend in (BACKEND, NETWORKX):
            try:
                found.append(betweenness(karate, **parameters, seed=1, backend=backend))
            except Exception as error:  # noqa: BLE001 - whatever it is
                found.append(f"{type(error).__name__}: {error}")
        assert type(found[0]) is type(found[1])
        if isinstance(found[1], dict):
            same(*found)
        else:
            assert found[0] == found[1] or "sample_weight" in parameters

    @pytest.mark.parametrize("function", [resistance_distance, closeness, betweenness, nx.information_centrality])
    @pytest.mark.parametrize(
        "G", [nx.Graph(), nx.DiGraph([(0, 1)]), nx.empty_graph(3), nx.empty_graph(1), nx.path_graph(2)], ids=str
    )
    def test_small_and_strange(self, function, G):
        assert compare(function, G) is not NotImplementedError or G.is_directed()
        for backend in (BACKEND, NETWORKX):
            try:
                function(G, backend=backend)
            except Exception as error:  # noqa: BLE001 - whatever it is
                assert "not implemented" not in str(error) or G.is_directed()  # noqa: PT017

    def test_every_way_there_is(self):
        G = nx.barabasi_albert_graph(150, 3, seed=2)
        for u, v, data in G.edges(data=True):
            data["weight"] = 1 + (u * v) % 5
        for ends in ((3, 140), (None, 7), (149, None)):
            compare(resistance_distance, G, *ends, "weight")
        with pytest.MonkeyPatch.context() as patch:
            for few, dense in ((0, 0.0), (0, np.inf), (10**6, 1.0)):
                patch.setattr(laplacian, "MAX_DENSE_FOR_EACH", few)
                patch.setattr(resistance, "DENSE_STEPS", dense)
                compare(closeness, G, "weight")
                compare(resistance_distance, G, 3, None, "weight")

    def test_a_csr_graph(self, karate):
        graph = fo.CSRGraph.from_networkx(karate)
        same(closeness(graph, "weight"), closeness(karate, "weight", backend=NETWORKX))
        same(
            betweenness(graph, weight="weight", seed=1), betweenness(karate, weight="weight", seed=1, backend=NETWORKX)
        )
        for weight in (None, "weight"):
            expected = resistance_distance(karate, weight=weight, backend=NETWORKX)
            same(resistance_distance(graph, weight=weight), expected)

    @pytest.mark.parametrize("weights", [[1, 2], [1, 0], [1, None]])
    def test_weights_that_cannot_be_inverted(self, weights):
        G = nx.path_graph(3)
        for (_, _, data), weight in zip(G.edges(data=True), weights, strict=True):
            data.update({} if weight is None else {"weight": weight})
        for kind in (nx.Graph, nx.MultiGraph):
            assert compare(resistance_distance, kind(G), 0, 2, "weight") is not NotImplementedError

    @pytest.mark.parametrize("n", [40, 60, 300])
    @pytest.mark.parametrize(("resistance", "invert"), [(0.0, False), (float("inf"), True)])
    def test_edges_that_conduct_nothing_are_left_to_networkx(self, n, resistance, invert):
        G = nx.path_graph(n)
        nx.set_edge_attributes(G, 1.0, "weight")
        G[n // 2][n // 2 + 1]["weight"] = resistance
        for nodes in ((0, n - 1), (0, 1), (0,), ()):
            with pytest.raises(NotImplementedError):
                resistance_distance(G, *nodes, weight="weight", invert_weight=invert, backend=BACKEND)

    def test_nothing_flows_through_the_leaves_of_a_tree(self):
        G = nx.random_labeled_tree(300, seed=1)
        found = betweenness(G, seed=1, epsilon=0.4, backend=BACKEND)
        assert {found[node] for node in G if G.degree[node] == 1} == {0.0}


class TestExact:
    @settings(deadline=None, max_examples=40)
    @given(small_graphs())
    def test_weights_in_single_precision(self, G):
        """NetworkX adds them in single precision, and keeps eight digits. Fractions of the same weights decide."""
        for _, _, data in G.edges(data=True):
            data["weight"] = np.float32(data.get("weight", 1) / 3)
        exact = oracles.effective_resistances(G)
        if len(G) > 1 and nx.is_connected(G):
            sums = {u: sum(exact[u, v] for v in G) for u in G}
            same(closeness(G, "weight", backend=BACKEND), {u: 1 / total for u, total in sums.items()}, 1e-11)

    @settings(deadline=None, max_examples=50)
    @given(small_graphs(), st.integers(-6, 6), st.sampled_from([0, 200]))
    @example(nx.cycle_graph(4), 8, 200)
    def test_weights_of_many_magnitudes(self, G, magnitude, few):
        """Where NetworkX's pseudo-inverse has lost its digits, fractions decide."""
        for place, (_, _, data) in enumerate(G.edges(data=True)):
            data["weight"] = 10.0 ** (magnitude * (place % 3 - 1))
        if not nx.is_connected(G):
            return
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(laplacian, "MAX_DENSE_FACTOR", few)
            patch.setattr(laplacian, "MAX_DENSE_FOR_EACH", few)
            patch.setattr(electrical, "MAX_DENSE_PAIR", few)
            for found, expected in answers_and_fractions(G):
                if found is not NotImplementedError:
                    assert found == pytest.approx(expected, rel=2e-9, abs=0.0)

    @pytest.mark.parametrize("ohms", [1e4, 1e7, 1e11])
    def test_a_weak_bridge(self, ohms):
        """Within each half, resistances are those without the other half, to the last digits."""
        G = nx.disjoint_union(nx.complete_graph(5), nx.complete_graph(5))
        G.add_edge(0, 9, weight=1 / ohms)
        for found, expected in answers_and_fractions(G):
            assert found == pytest.approx(expected, rel=1e-9, abs=0.0)

    @pytest.mark.parametrize("weight", [1e-14, 1e-30, 1e-100, 1e14, 1e100])
    def test_a_bridge_of_any_weight(self, weight):
        """No pseudo-inverse has digits left; fractions decide."""
        G = nx.disjoint_union(nx.complete_graph(5), nx.complete_graph(5))
        G.add_edge(0, 9, weight=weight)
        for found, expected in answers_and_fractions(G):
            assert found == pytest.approx(expected, rel=1e-12, abs=0.0)

    @pytest.mark.parametrize("weight", [1e-14, 1e-30])
    def test_a_bridge_of_a_large_graph_is_left_to_networkx(self, monkeypatch, weight):
        for module, name in ((laplacian, "MAX_DENSE_FACTOR"), (laplacian, "MAX_DENSE"), (resistance, "MAX_NODES")):
            monkeypatch.setattr(module, name, 0)
        G = nx.disjoint_union(nx.complete_graph(5), nx.complete_graph(5))
        nx.set_edge_attributes(G, 1.0, "weight")
        G.add_edge(0, 9, weight=1 / weight)
        for ends in ((), (9,), (None, 9), (9, 0)):
            assert outcome(resistance_distance, G, *ends, weight="weight", backend=BACKEND) is NotImplementedError
            with nx.config.backend_priority(algos=["fastonl"]):
                found = resistance_distance(G, *ends, weight="weight")
            assert found == resistance_distance(G, *ends, weight="weight", backend=NETWORKX)

    @pytest.mark.parametrize("ratio", [1e23, 1e25])
    def test_currents_are_left_to_networkx_where_weights_differ_much(self, ratio):
        G = nx.cycle_graph(7)
        nx.set_edge_attributes(G, dict(zip(G.edges, [1.0, 1.0 / ratio] * 3 + [1.0], strict=True)), "weight")
        with nx.config.backend_priority(algos=["fastonl"]), warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # of NetworkX
            found = betweenness(G, weight="weight", seed=1)
            expected = betweenness(G, weight="weight", seed=1, backend=NETWORKX)
        assert found == pytest.approx(expected, rel=1e-9) or ratio == 1e23


class TestCurrents:
    @pytest.mark.parametrize("G", [nx.path_graph(1_500), nx.cycle_graph(1_501)], ids=str)
    def test_many_steps_reach_what_is_accepted(self, monkeypatch, G):
        """Potentials are large here, so what is asked for is out of reach; steps end a few checks after that."""
        monkeypatch.setattr(laplacian, "MAX_DENSE", 0)
        graph = electrical.converted(fo.CSRGraph.from_networkx(G), None)
        solver, pairs = laplacian.Laplacian(graph), np.array([[0, 1_499], [400, 1_000]])
        currents = electrical._currents(solver, pairs)
        assert solver.n_steps <= 2 * 2 * len(G)
        if G.degree[0] == 1:
            inside = np.arange(1_500)
            expected = 2.0 * ((inside > 0) & (inside < 1_499)) + 2.0 * ((inside > 400) & (inside < 1_000))
            assert np.abs(currents - expected).max() <= electrical.MAX_CURRENT_ERROR


def answers_and_fractions(G):
    """Answers for two nodes, one node and all, and closeness, with weights as conductances; and the exact ones."""
    exact = oracles.effective_resistances(G)
    u, v = min(G), max(G)
    arguments = {"weight": "weight", "invert_weight": False, "backend": BACKEND}
    rows = {node: {other: float(exact[node, other]) for other in G} for node in G}
    yield outcome(resistance_distance, G, u, v, **arguments), rows[u][v]
    yield outcome(resistance_distance, G, v, **arguments), rows[v]
    everything = outcome(resistance_distance, G, **arguments)
    if everything is not NotImplementedError:
        for node in G:
            yield everything[node], rows[node]
    if len(G) > 1:
        sums = {node: float(sum(exact[node, other] for other in G)) for node in G}
        yield outcome(closeness, G, "weight", backend=BACKEND), {node: 1 / total for node, total in sums.items()}


class TestTies:
    @pytest.mark.parametrize("name", SYMMETRIC)
    @pytest.mark.parametrize("few", [0, 10**6])
    def test_nodes_that_are_alike_have_equal_values(self, monkeypatch, name, few):
        monkeypatch.setattr(laplacian, "MAX_DENSE_FOR_EACH", few)
        G = SYMMETRIC[name]
        for function, args in ((closeness, ()), (resistance_distance, (next(iter(G)),))):
            found, expected = (
                np.array(list(function(G, *args, backend=backend).values())) for backend in (BACKEND, NETWORKX)
            )
            assert len(set(found)) == len(set(np.round(expected, 8)))

    def test_all_resistances(self):
        G = nx.hypercube_graph(5)
        values = [value for row in resistance_distance(G, backend=BACKEND).values() for value in row.values()]
        assert len(set(values)) == 6


class TestReasons:
    @pytest.mark.parametrize(
        ("function", "parameters", "reason"),
        [
            (closeness, {"solver": "qr"}, 'solver must be "full", "lu" or "cg", got \'qr\''),
            (closeness, {"dtype": complex}, "dtype must be float, numpy.float64 or numpy.float32, got <c"),
            (betweenness, {"solver": None}, 'solver must be "full", "lu" or "cg", got None'),
            (betweenness, {"epsilon": "1"}, "epsilon must be a number, got '1'"),
            (betweenness, {"kmax": None}, "kmax must be a number, got None"),
        ],
    )
    def test_refused(self, karate, function, parameters, reason):
        assert BackendInterface.can_run(function.__name__, (karate,), parameters).startswith(reason)

    def test_multigraphs(self, karate):
        reason = "NetworkX ignores the weights of parallel edges here"
        name = betweenness.__name__
        assert BackendInterface.can_run(name, (nx.MultiGraph(karate),), {}) == reason
        assert BackendInterface.can_run(closeness.__name__, (nx.MultiGraph(karate),), {"dtype": np.float32}) is True

    @pytest.mark.parametrize("function", [resistance_distance, closeness, betweenness])
    def test_negative_weights_are_left_to_networkx(self, karate, function):
        karate[0][1]["weight"] = -0.5
        nx.config.warnings_to_ignore.add("cache")
        parameters = {"seed": 1} if function is betweenness else {}
        expected = function(karate, weight="weight", **parameters, backend=NETWORKX)
        with nx.config.backend_priority(algos=["fastonl"]):
            assert function(karate, weight="weight", **parameters) == expected

    @pytest.fixture
    def inaccurate(self, monkeypatch):
        """A solver that ends too early."""
        monkeypatch.setattr(electrical, "MAX_DENSE_PAIR", 0)
        monkeypatch.setattr(laplacian, "MAX_DENSE_FACTOR", 0)
        monkeypatch.setattr(laplacian, "MAX_DENSE", 0)
        monkeypatch.setattr(laplacian, "MAX_STEPS", 2)
        monkeypatch.setattr(resistance, "MAX_NODES", 0)

    @pytest.mark.usefixtures("inaccurate")
    @pytest.mark.parametrize("kind", SEEDS)
    def test_networkx_draws_what_it_would_have_drawn(self, karate, kind):
        ours, theirs = SEEDS[kind](), SEEDS[kind]()
        for _ in range(2):
            expected = betweenness(karate, seed=theirs, backend=NETWORKX)
            with nx.config.backend_priority(algos=["fastonl"]):
                assert betweenness(karate, seed=ours) == expected

    @pytest.mark.usefixtures("inaccurate")
    def test_the_global_generator(self, karate):
        random.seed(3)
        expected = betweenness(karate, backend=NETWORKX)
        random.seed(3)
        with nx.config.backend_priority(algos=["fastonl"]):
            assert betweenness(karate) == expected

    @pytest.mark.usefixtures("inaccurate")
    def test_what_is_not_accurate_is_left_to_networkx(self, karate):
        for function, args in ((resistance_distance, (0, 33)), (betweenness, ())):
            with pytest.raises(NotImplementedError) as raised:
                function(karate, *args, backend=BACKEND)
            assert str(raised.value.__cause__) == electrical.INACCURATE
