import gc
import inspect
import logging
import os
import subprocess
import sys
import tomllib
import weakref
from concurrent.futures import ThreadPoolExecutor
from functools import wraps
from importlib.metadata import entry_points
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from networkx.algorithms.node_classification import harmonic_function, local_and_global_consistency
from networkx.classes.tests.dispatch_interface import LoopbackGraph
from numpy.testing import assert_array_equal

import nx_fastonl as fo
from nx_fastonl.nxapi import algorithms
from nx_fastonl.nxapi.backend import BackendInterface
from nx_fastonl.nxapi.info import get_info
from tests import oracles
from tests.oracles import outcome

ROOT = Path(__file__).resolve().parents[2]
ALGORITHMS = (
    "pagerank",
    "google_matrix",
    "katz_centrality",
    "local_and_global_consistency",
    "harmonic_function",
)
ELECTRICAL = (
    "resistance_distance",
    "current_flow_closeness_centrality",
    "approximate_current_flow_betweenness_centrality",
)
READERS = ("from_scipy_sparse_array", "from_pandas_edgelist", "read_edgelist", "read_weighted_edgelist")
SUITES = (
    "networkx.algorithms.link_analysis.tests.test_pagerank",
    "networkx.algorithms.tests.test_node_classification",
    "networkx.algorithms.centrality.tests.test_katz_centrality",
    "networkx.algorithms.centrality.tests.test_current_flow_closeness",
    "networkx.algorithms.centrality.tests.test_current_flow_betweenness_centrality",
    "networkx.algorithms.tests.test_distance_measures::TestResistanceDistance",
)
READER_SUITES = (
    "networkx.readwrite.tests.test_edgelist",
    "networkx.tests.test_convert_pandas",
    "networkx.tests.test_convert_scipy",
)


pytestmark = pytest.mark.usefixtures("_no_note_on_the_cache")


@pytest.fixture
def path():
    """A path of 30 nodes, enough to be worth a conversion, with a label at each end."""
    G = nx.path_graph(30)
    G.nodes[0]["label"], G.nodes[29]["label"] = "left", "right"
    return G


@pytest.fixture
def ran(monkeypatch):
    """The algorithms that were called, by name."""
    names = []

    def spy(function):
        @wraps(function)
        def called(*args, **kwargs):
            names.append(function.__name__)
            return function(*args, **kwargs)

        return staticmethod(called)

    for name in ALGORITHMS:
        monkeypatch.setattr(BackendInterface, name, spy(getattr(algorithms, name)))
    return names


def environment_of(**settings):
    """The environment of this process, with these settings of NetworkX and no others."""
    return {name: value for name, value in os.environ.items() if not name.startswith("NETWORKX_")} | settings


def run(program, **settings):
    completed = subprocess.run(
        [sys.executable, "-W", "error", "-c", program],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
        env=environment_of(**settings),
    )
    return completed.stdout.strip()


class TestEntryPoints:
    def test_are_those_of_the_project(self):
        points = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["entry-points"]
        assert points == {
            "networkx.backends": {"fastonl": "nx_fastonl.nxapi.backend:BackendInterface"},
            "networkx.backend_info": {"fastonl": "nx_fastonl.nxapi.info:get_info"},
        }
        for group, (_, target) in ((group, *names.items()) for group, names in points.items()):
            [point] = entry_points(group=group, name="fastonl")
            assert point.value == target
            assert callable(point.load())

    def test_information_is_what_there_is(self):
        info = get_info()
        assert info["backend_name"] == "fastonl"
        assert tuple(info["functions"]) == ALGORITHMS + ELECTRICAL + READERS
        own = {f"fastonl_{function.__name__}" for function, *_ in TestOwnFunctions.CALLS}
        functions = {name for name in vars(BackendInterface) if not name.startswith(("_", "convert", "can", "should"))}
        assert functions == own | {*ALGORITHMS, *ELECTRICAL, *READERS}

    def test_networkx_shows_it(self):
        assert "The L1 error is certified" in nx.pagerank.__doc__
        assert "l1_error : float, optional" in nx.pagerank.__doc__
        assert "fastonl : " in nx.google_matrix.__doc__

    def test_information_imports_nothing(self):
        program = "import sys, nx_fastonl.nxapi.info as b; b.get_info(); print({'numpy', 'networkx'} & {*sys.modules})"
        assert run(program) == "set()"

    def test_setting_the_priority_loads_no_numpy(self):
        program = (
            "import sys, networkx as nx; nx.is_connected(nx.path_graph(3)); "
            "print({'numpy', 'nx_fastonl.nxapi.backend'} & {*sys.modules})"
        )
        assert run(program, NETWORKX_BACKEND_PRIORITY="fastonl") == "{'nx_fastonl.nxapi.backend'}"

    def test_importing_networkx_loads_neither_numpy_nor_the_backend(self):
        program = "import sys, networkx; print({'numpy', 'scipy', 'nx_fastonl.nxapi.backend'} & {*sys.modules})"
        assert run(program) == "set()"

    @pytest.mark.parametrize("directed", [False, True])
    def test_pagerank_of_a_networkx_graph_does_not_wait_for_scipy(self, directed):
        """Also where it starts from a guess, as it does on a cycle."""
        program = (
            "import sys, networkx as nx, nx_fastonl as fo\n"
            f"K = nx.karate_club_graph().to_{'' if directed else 'un'}directed()\n"
            "for G in (K, nx.cycle_graph(30, create_using=K.__class__)):\n"
            "    for parameters in ({}, {'personalization': {0: 1}}, {'nstart': {0: 1, 1: 2}, 'dangling': {0: 1}}):\n"
            "        nx.pagerank(G, **parameters, backend='fastonl')\n"
            "        fo.personalized_pagerank_local(G, **parameters)\n"
            "print('numpy' in sys.modules, 'scipy' in sys.modules)"
        )
        assert run(program, NETWORKX_WARNINGS_TO_IGNORE="cache") == "True False"


class TestThreeWays:
    def test_keyword(self, karate, ran):
        nx.pagerank(karate, backend="fastonl")
        assert ran == ["pagerank"]

    def test_configuration(self, karate, ran):
        with nx.config.backend_priority(algos=["fastonl"]):
            nx.pagerank(karate)
            nx.google_matrix(nx.path_graph(80))
            nx.katz_centrality(karate, alpha=0.01)
            local_and_global_consistency(karate, label_name="club")
            harmonic_function(karate, label_name="club")
        nx.pagerank(karate)
        assert tuple(ran) == ALGORITHMS

    def test_environment(self):
        program = (
            "import sys, networkx as nx; nx.pagerank(nx.path_graph(30)); "
            "print('nx_fastonl.nxapi.backend' in sys.modules)"
        )
        assert run(program, NETWORKX_BACKEND_PRIORITY="fastonl") == "True"
        assert run(program) == "False"


class TestEnvironment:
    """The variables of NetworkX that the guide names."""

    TWICE = (
        "import networkx as nx, nx_fastonl as fo; G = nx.path_graph(300)\n"
        "for _ in range(2): nx.pagerank(G); fo.personalized_pagerank_local(G, personalization=0)\n"
        "print(nx.config.cache_converted_graphs, 'backends' in G.__networkx_cache__)"
    )

    @pytest.mark.parametrize("text", ["", "0", "False", "1"])
    def test_only_empty_text_switches_the_cache_off(self, text):
        settings = {"NETWORKX_BACKEND_PRIORITY": "fastonl", "NETWORKX_WARNINGS_TO_IGNORE": "cache"}
        assert run(self.TWICE, NETWORKX_CACHE_CONVERTED_GRAPHS=text, **settings) == f"{text != ''} {text != ''}"

    def test_the_cache_is_on_by_default_and_warns(self):
        assert run(self.TWICE, NETWORKX_WARNINGS_TO_IGNORE="cache") == "True True"
        for settings in ({"NETWORKX_BACKEND_PRIORITY": "fastonl"}, {}):  # NetworkX warns, the package warns
            with pytest.raises(subprocess.CalledProcessError) as raised:
                run(self.TWICE, **settings)
            assert "UserWarning" in raised.value.stderr

    @pytest.mark.parametrize("first", [True, False])
    def test_variables_are_read_when_networkx_is_imported(self, first):
        lines = [
            "import os; os.environ.update(NETWORKX_BACKEND_PRIORITY='fastonl', NETWORKX_CACHE_CONVERTED_GRAPHS='')",
            "import networkx as nx",
        ]
        show = "print(nx.config.backend_priority.algos, nx.config.cache_converted_graphs)"
        expected = "['fastonl'] False" if first else "[] True"
        assert run("\n".join([*(lines if first else lines[::-1]), show])) == expected


class TestReasons:
    @pytest.mark.parametrize(
        ("parameters", "reason"),
        [
            ({"alpha": 1.0}, "alpha must lie strictly between 0 and 1, and 1e-12 away from both, got 1.0"),
            ({"alpha": "0.85"}, "alpha must be a number, got '0.85'"),
            ({"alpha": 0.99999}, "this backend may take too long where alpha is above 0.9999, got 0.99999"),
            (
                {"personalization": {0: 1, 1: -0.5}},
                "personalization gives node 1 the value -0.5; numbers from 0 to 1e+100 are supported",
            ),
            ({"dangling": {0: np.nan}}, "dangling gives node 0 the value nan; numbers from 0 to 1e+100 are supported"),
            ({"nstart": {0: "1"}}, "nstart gives node 0 the value '1'; numbers from 0 to 1e+100 are supported"),
            ({"personalization": [0]}, "personalization must be a dict {node: value}, got list"),
            ({"nstart": 0.5}, "nstart must be a dict {node: value}, got float"),
            ({"damping": 0.5}, "got an unexpected keyword argument 'damping'"),
        ],
    )
    def test_pagerank_refuses(self, karate, parameters, reason):
        assert BackendInterface.can_run("pagerank", (karate,), parameters) == reason
        with pytest.raises(NotImplementedError, match="not implemented by 'fastonl' backend for the given arguments"):
            nx.pagerank(karate, **parameters, backend="fastonl")

    @pytest.mark.parametrize("name", ["harmonic_function", "local_and_global_consistency"])
    def test_labels_need_attributes(self, karate, name):
        graph = fo.CSRGraph.from_networkx(karate)
        assert BackendInterface.can_run(name, (graph,), {}) == "a CSRGraph has no node attributes, so no labels"
        assert BackendInterface.can_run(name, (karate,), {}) is True

    @pytest.mark.parametrize(
        ("parameters", "reason"),
        [
            ({"alpha": 1j}, "alpha must be a real number, got 1j"),
            ({"beta": {0: "1"}}, "beta gives node 0 the value '1'; real numbers are supported"),
            ({"nstart": {0: None}}, "nstart gives node 0 the value None; real numbers are supported"),
            ({"nstart": {0: 1}}, "nstart must be a dict with a value for each node of the graph"),
            ({"nstart": [1] * 34}, "nstart must be a dict with a value for each node of the graph"),
        ],
    )
    def test_katz_refuses(self, karate, parameters, reason):
        assert BackendInterface.can_run("katz_centrality", (karate,), parameters) == reason

    @pytest.mark.parametrize("name", ["google_matrix", "katz_centrality"])
    def test_two_weights_for_an_edge(self, name):
        D = nx.DiGraph([(0, 1, {"weight": 1}), (1, 0, {"weight": 9})])
        view = D.to_undirected(as_view=True)
        reason = "an undirected view of a directed graph may have two weights for an edge"
        assert BackendInterface.can_run(name, (view,), {}) == reason
        assert BackendInterface.can_run(name, (view.subgraph([0, 1]),), {}) == reason
        for graph in (D, D.to_undirected(), D.reverse(copy=False)):
            assert BackendInterface.can_run(name, (graph,), {}) is True

    def test_what_it_can_run(self, karate):
        masses = dict.fromkeys(karate, np.float32(1.0))
        for parameters in ({}, {"personalization": masses}, {"dangling": {0: 2}}, {"nstart": masses, "weight": None}):
            assert BackendInterface.can_run("pagerank", (karate,), parameters) is True
            assert BackendInterface.can_run("pagerank", (), {"G": karate, **parameters}) is True

    @pytest.mark.parametrize(
        ("name", "min_nodes"),
        [("google_matrix", 80), ("katz_centrality", 10), ("approximate_current_flow_betweenness_centrality", 5)],
    )
    def test_tiny_graphs_are_left_to_networkx(self, name, min_nodes):
        reason = f"converting a graph of {min_nodes - 1} nodes would take longer than NetworkX does"
        assert BackendInterface.should_run(name, (nx.path_graph(min_nodes - 1),), {}) == reason
        assert BackendInterface.should_run(name, (), {"G": nx.path_graph(min_nodes)}) is True

    @pytest.mark.parametrize(
        "name",
        [
            "pagerank",
            "local_and_global_consistency",
            "harmonic_function",
            "resistance_distance",
            "current_flow_closeness_centrality",
        ],
    )
    def test_where_networkx_takes_longer_on_any_graph(self, name):
        assert BackendInterface.should_run(name, (nx.path_graph(2),), {}) is True

    def test_where_the_push_would_be_slow(self):
        G = nx.gnm_random_graph(30, 60, seed=1, directed=True)
        reason = "NetworkX takes less time on directed graphs where alpha is above 0.99, got 0.999"
        for graph in (G, fo.CSRGraph.from_networkx(G)):
            assert BackendInterface.should_run("pagerank", (graph, 0.999), {}) == reason
            assert BackendInterface.should_run("pagerank", (graph, 0.99), {}) is True
            assert BackendInterface.should_run("pagerank", (graph, 0.999), {"max_iter": 2}) is True  # NetworkX fails
        assert BackendInterface.should_run("pagerank", (G.to_undirected(), 0.9999), {}) is True
        assert BackendInterface.should_run("katz_centrality", (G, 0.999), {}) is True

    @pytest.mark.parametrize("alpha", [0.995, 0.9999])
    @pytest.mark.parametrize("kind", [nx.Graph, nx.DiGraph])
    def test_what_networkx_fails_at_runs_by_configuration(self, ran, kind, alpha):
        G = nx.cycle_graph(300, create_using=kind)
        nx.add_path(G, range(300, 600))
        parameters = {"alpha": alpha, "personalization": {0: 1, 300: 1}, "tol": 1e-8}
        with pytest.raises(nx.PowerIterationFailedConvergence):
            nx.pagerank(G, **parameters)
        with nx.config.backend_priority(algos=["fastonl"]):
            found = nx.pagerank(G, **parameters)
        assert ran == ["pagerank"]
        seeds = oracles.to_vector({0: 0.5, 300: 0.5}, G)
        assert vector(found) == pytest.approx(oracles.pagerank(oracles.adjacency(G), seeds, alpha), abs=1e-10)

    def test_what_networkx_fails_at_runs_by_environment(self):
        """Without a warning: the try-out of NetworkX's iteration is not seen as the first use of the cache."""
        program = (
            "import networkx as nx; G = nx.cycle_graph(2000, create_using=nx.DiGraph)\n"
            "print(max(nx.pagerank(G, alpha=0.995, personalization={7: 1}).items(), key=lambda item: item[1])[0])"
        )
        assert run(program, NETWORKX_BACKEND_PRIORITY="fastonl") == "7"
        with pytest.raises(subprocess.CalledProcessError) as raised:
            run(program)
        assert "PowerIterationFailedConvergence" in raised.value.stderr

    @pytest.mark.parametrize(
        "parameters",
        [{}, {"max_iter": 2}, {"max_iter": 1.5}, {"max_iter": 10**30}, {"tol": "1"}, {"tol": 0}, {"nstart": {0: 0}}],
    )
    @pytest.mark.parametrize("weight", [1.0, -1.0])
    @pytest.mark.filterwarnings("ignore:(invalid value|divide by zero):RuntimeWarning")
    def test_large_alpha_by_configuration_ends_as_networkx_does(self, parameters, weight):
        G = nx.gnm_random_graph(30, 200, seed=1, directed=True)
        G.add_edge(0, 1, weight=weight)
        expected = outcome(nx.pagerank, G, 0.999, **parameters)
        with nx.config.backend_priority(algos=["fastonl"]):
            found = outcome(nx.pagerank, G, 0.999, **parameters)
        if "max_iter" in parameters and expected is nx.PowerIterationFailedConvergence and weight > 0:
            assert vector(found) == pytest.approx(vector(oracles.networkx_pagerank(G, alpha=0.999)), abs=1e-10)
        else:
            assert found == expected

    def test_what_only_this_backend_knows_runs_here(self, ran):
        G = nx.gnm_random_graph(30, 60, seed=1, directed=True)
        with nx.config.backend_priority(algos=["fastonl"]):
            nx.pagerank(G, 0.995, l1_error=1e-9)
        assert ran == ["pagerank"]

    def test_small_graphs_run_by_configuration_in_networkx(self, ran, caplog):
        with nx.config.backend_priority(algos=["fastonl"]), caplog.at_level(logging.DEBUG, "networkx"):
            nx.katz_centrality(nx.path_graph(3))
        assert ran == []
        assert "shouldn't run `katz_centrality`" in caplog.text
        assert "converting a graph of 3 nodes would take longer" in caplog.text

    @pytest.mark.parametrize("weight", [-1.0, "heavy", 1e200, np.nan, 2 + 3j, np.complex64(2 + 3j)])
    def test_weights_beyond_the_package_are_left_to_networkx(self, path, weight):
        path.add_edge(0, 1, weight=weight)
        expected = outcome(nx.pagerank, path)
        with nx.config.backend_priority(algos=["fastonl"]):
            assert outcome(nx.pagerank, path) == expected
        with pytest.raises(NotImplementedError) as raised:
            nx.pagerank(path, backend="fastonl")
        assert f"edge (0, 1) has weight {weight!r}" in str(raised.value.__cause__)
        # It was not the conversion that NetworkX saw fail, so a repaired graph is converted.
        path[0][1]["weight"] = 2.0
        assert nx.pagerank(path, backend="fastonl")[0] == pytest.approx(nx.pagerank(path)[0], abs=1e-4)


class TestCache:
    """NetworkX's test mode uses no cache, so what is cached is tested here."""

    def test_one_conversion_for_everything(self, path):
        nx.pagerank(path, backend="fastonl")
        graph = fo.CSRGraph.from_networkx(path)
        harmonic_function(path, backend="fastonl")
        assert fo.CSRGraph.from_networkx(path) is graph
        assert set(path.__networkx_cache__["backends"]["fastonl"].values()) == {BackendInterface.convert_from_nx(path)}

    @pytest.mark.parametrize(
        "change",
        [
            lambda G: G.add_edge(0, 15),
            lambda G: G.add_node("new"),
            lambda G: G.remove_edge(3, 4),
            lambda G: G.remove_node(0),
            lambda G: G.add_edge(3, 4, weight=9.0),
            lambda G: nx.set_edge_attributes(G, {(3, 4): 5.0}, "weight"),
            lambda G: nx.relabel_nodes(G, {0: "zero", 29: "last"}, copy=False),
            lambda G: G.clear_edges(),
            lambda G: G.update([(0, 29)]),
        ],
    )
    def test_changes_are_seen(self, path, change):
        before = nx.pagerank(path, backend="fastonl")
        change(path)
        found = nx.pagerank(path, backend="fastonl")
        assert found != before
        assert list(found) == list(path)
        assert found == pytest.approx(oracles.networkx_pagerank(path), abs=1e-9)

    @pytest.mark.parametrize("function", [harmonic_function, local_and_global_consistency])
    def test_labels_are_those_of_now(self, path, function):
        assert function(path, backend="fastonl") == ["left"] * 15 + ["right"] * 15
        path.nodes[0]["label"] = "west"
        assert function(path, backend="fastonl") == ["west"] * 15 + ["right"] * 15
        nx.set_node_attributes(path, {29: "east"}, "label")
        assert function(path, backend="fastonl") == ["west"] * 15 + ["east"] * 15
        del path.nodes[29]["label"]
        assert function(path, backend="fastonl") == ["west"] * 30
        nx.relabel_nodes(path, {0: "zero"}, copy=False)  # it goes to the end of the list of nodes
        path.nodes["zero"]["label"], path.nodes[29]["label"] = "zero", "east"
        assert function(path, backend="fastonl") == function(path, backend="networkx")
        del path.nodes["zero"]["label"], path.nodes[29]["label"]
        with pytest.raises(nx.NetworkXError, match="No node"):
            function(path, backend="fastonl")

    @pytest.mark.parametrize("nodes", [range(25), range(4, 12), [29, 3, 7, 4]])
    def test_views_are_never_stale(self, path, nodes):
        view = path.subgraph(nodes)
        path.nodes[4]["label"] = "left"
        for change in (
            lambda: path.remove_edge(4, 5),
            lambda: path.add_edge(7, 4, weight=3.0),
            lambda: path.add_edge(3, 4, label="of an edge"),
            lambda: path.nodes[7].update(label="seven"),
            lambda: path.remove_node(7),
        ):
            for function in (nx.pagerank, nx.google_matrix, harmonic_function, local_and_global_consistency):
                found, expected = function(view, backend="fastonl"), function(view.copy(), backend="networkx")
                if function is nx.pagerank:
                    assert list(found) == list(view)
                    found, expected = vector(found), vector(oracles.networkx_pagerank(view.copy()))
                if isinstance(found, list):
                    assert found == expected
                else:
                    assert found == pytest.approx(expected, abs=1e-9)
            change()

    def test_reversed_and_other_views(self):
        G = nx.gnm_random_graph(30, 80, seed=1, directed=True)
        for view in (G.reverse(copy=False), G.to_undirected(as_view=True), nx.restricted_view(G, [1], [])):
            nx.pagerank(view, backend="fastonl")
            G.add_edge(0, 29, weight=7.0)
            expected = vector(oracles.networkx_pagerank(view.copy()))
            assert vector(nx.pagerank(view, backend="fastonl")) == pytest.approx(expected, abs=1e-9)
            G.remove_edge(0, 29)

    @pytest.mark.parametrize(
        "change",
        [
            lambda G: G.add_edges_from([(0, 9), (1,)]),
            lambda G: G.add_nodes_from([("new", {"label": "up"}), {}]),
            lambda G: G.remove_edges_from([(0, 1), 5]),
            lambda G: G.remove_nodes_from([0, {}]),
        ],
    )
    def test_changes_that_fail_half_way_are_seen(self, path, change):
        path.nodes[15]["label"] = "middle"
        nx.pagerank(path, backend="fastonl")
        with pytest.raises((TypeError, ValueError, nx.NetworkXError)):
            change(path)
        assert nx.pagerank(path, backend="fastonl") == pytest.approx(oracles.networkx_pagerank(path), abs=1e-9)
        assert harmonic_function(path, backend="fastonl") == harmonic_function(path, backend="networkx")

    def test_no_cache_where_none_is_wanted(self, path):
        with nx.config(cache_converted_graphs=False):
            nx.pagerank(path, backend="fastonl")
            path[0][1]["weight"] = 50.0
            found = nx.pagerank(path, backend="fastonl")
        assert found == pytest.approx(oracles.networkx_pagerank(path), abs=1e-9)

    def test_graph_is_freed_at_once(self):
        G = nx.path_graph(30)
        G.nodes[0]["label"] = "left"
        nx.pagerank(G, backend="fastonl")
        harmonic_function(G, backend="fastonl")
        alive = weakref.ref(G)
        gc.disable()
        try:
            del G
            assert alive() is None
        finally:
            gc.enable()

    def test_threads_share_a_graph(self):
        G = nx.barabasi_albert_graph(2_000, 3, seed=1)
        expected = nx.pagerank(G, personalization={7: 1}, backend="fastonl")
        G.__networkx_cache__.clear()
        with ThreadPoolExecutor(8) as pool:
            calls = [
                pool.submit(algorithms.pagerank, BackendInterface.convert_from_nx(G), 0.85, {7: 1}) for _ in range(40)
            ]
        assert all(call.result() == expected for call in calls)


def vector(values):
    return np.array(list(values.values()))


class TestConversion:
    @pytest.mark.parametrize("kind", [nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph])
    def test_there_and_back(self, kind):
        G = kind([("a", "b", {"weight": 2, "colour": "red"}), ("b", "a", {"weight": 3}), ("c", "c", {})])
        G.add_node("d", label=4)
        G.graph["name"] = "four"
        G.graph[1] = "not a text"
        nx.set_edge_attributes(G, "nor this", 2)
        for graph in (G, G.subgraph(["a", "b", "d"])):
            back = BackendInterface.convert_to_nx(BackendInterface.convert_from_nx(graph))
            assert type(back) is kind
            assert nx.utils.graphs_equal(back, graph)
            assert back.graph is not graph.graph
            assert back["a"]["b"] is not graph["a"]["b"]

    @pytest.mark.parametrize("directed", [False, True])
    @pytest.mark.parametrize("weights", [None, [1.0, 0.5, 2.0]])
    def test_arrays_to_networkx(self, directed, weights):
        graph = fo.CSRGraph.from_edges([0, 1, 3], [1, 2, 3], weights, nodes=["a", "b", "c", "d"], directed=directed)
        G = BackendInterface.convert_to_nx(graph)
        assert type(G) is (nx.DiGraph if directed else nx.Graph)
        assert list(G) == ["a", "b", "c", "d"]
        assert_array_equal(oracles.adjacency(G), graph.to_scipy().toarray())
        assert {type(weight) for *_, weight in G.edges(data="weight")} == {type(None) if weights is None else float}

    def test_results_pass(self):
        assert BackendInterface.convert_to_nx({0: 1.0}) == {0: 1.0}
        assert repr(BackendInterface.convert_from_nx(nx.path_graph(3))) == "LiveGraph of 3 nodes"

    def test_networkx_takes_scipy(self, karate):
        A = nx.to_scipy_sparse_array(karate)
        assert nx.pagerank(A, backend="fastonl") == pytest.approx(nx.pagerank(karate, backend="fastonl"), abs=1e-9)
        assert_array_equal(nx.google_matrix(A, backend="fastonl"), nx.google_matrix(karate))
        assert nx.pagerank(A[:0, :0], backend="fastonl") == {}

    def test_networkx_takes_arrays(self, karate):
        graph = fo.CSRGraph.from_networkx(karate)
        assert nx.pagerank(graph) == nx.pagerank(karate, backend="fastonl")
        assert_array_equal(nx.google_matrix(graph), nx.google_matrix(karate, backend="fastonl"))
        # Without a weight, as NetworkX has it by default.
        assert nx.katz_centrality(graph, 0.01) == nx.katz_centrality(karate, 0.01, backend="fastonl")
        with nx.config(fallback_to_nx=True):
            assert nx.number_connected_components(graph) == 1
        with pytest.raises(NotImplementedError, match="diameter' is not implemented by"):
            nx.diameter(graph)


class TestOwnFunctions:
    CALLS = (
        (fo.fifo_push, (0,), {}),
        (fo.personalized_pagerank_local, (), {"personalization": 0}),
        (fo.ppr_matrix, ([0, 5],), {}),
        (fo.effective_resistance, ([(0, 5)],), {}),
        (fo.sweep_cut, ({0: 2.0, 1: 1.0, 33: 1.0},), {}),
        (fo.local_community, (0,), {}),
        (fo.kernel_column, (0,), {}),
        (fo.kernel_matrix, ([0, 1],), {}),
        # Without probabilities, which depend on the order of edges.
        (fo.online_node_labeling, ("club",), {"method": "fastonl"}),
        (fo.labeling_cut, ("club",), {}),
        (fo.regret_bound, (2,), {}),
    )

    def test_all_are_there(self):
        functions = {value for name in fo.__all__ if inspect.isfunction(value := getattr(fo, name))}
        functions -= {fo.open_matrix, fo.shards}  # their first argument is no graph
        functions.remove(fo.replay)  # its graph changes: that can only be one of ours
        assert {function for function, _, _ in self.CALLS} == functions

    @pytest.mark.parametrize(("function", "args", "kwargs"), CALLS)
    def test_backend_keyword(self, karate, function, args, kwargs):
        expected = plain(function(karate, *args, **kwargs))
        for backend in ("fastonl", "networkx", None):
            assert plain(function(karate, *args, **kwargs, backend=backend)) == expected
            assert plain(function(G=karate, **named(function, args), **kwargs, backend=backend)) == expected
        with pytest.raises(ImportError, match="'cugraphs' backend is not installed"):
            function(karate, *args, **kwargs, backend="cugraphs")

    @pytest.mark.parametrize(("function", "args", "kwargs"), CALLS)
    def test_graphs_of_other_backends(self, karate, monkeypatch, function, args, kwargs):
        monkeypatch.setitem(nx.utils.backends.backends, "nx_loopback", entry_points(name="nx_loopback")["nx_loopback"])
        monkeypatch.setitem(nx.utils.backends.backend_info, "nx_loopback", {})
        other = LoopbackGraph(karate)
        for backend in (None, "fastonl", "networkx"):
            assert plain(function(other, *args, **kwargs, backend=backend)) == plain(function(karate, *args, **kwargs))

    @pytest.mark.parametrize(("function", "args", "kwargs"), CALLS)
    def test_scipy_and_arrays(self, karate, function, args, kwargs):
        clubs = nx.get_node_attributes(karate, "club")
        args = tuple(clubs if arg == "club" else arg for arg in args)
        expected = plain(function(karate, *args, **kwargs))
        for G in (nx.to_scipy_sparse_array(karate), fo.CSRGraph.from_networkx(karate)):
            assert plain(function(G, *args, **kwargs)) == expected

    def test_graph_of_another_backend_that_is_no_networkx_graph(self, karate, monkeypatch):
        class Foreign:
            __networkx_backend__ = "elsewhere"

        class Elsewhere:
            convert_to_nx = staticmethod(lambda _graph, **_: karate)
            load = classmethod(lambda cls: cls)

        monkeypatch.setitem(nx.utils.backends.backends, "elsewhere", Elsewhere)
        monkeypatch.setitem(nx.utils.backends.backend_info, "elsewhere", {})
        assert fo.fifo_push(Foreign(), 0) == fo.fifo_push(karate, 0)
        model = fo.OnlineNodeLabeler(Foreign())
        model.learn_one(0, "Mr. Hi")
        assert model.predict_one(1) == "Mr. Hi"
        Foreign.__networkx_backend__ = None
        with pytest.raises(TypeError, match=r"expected an nx.Graph, .* or a DynamicGraph, got Foreign"):
            fo.OnlineNodeLabeler(Foreign())


def named(function, args):
    """Positional arguments after the graph, by name."""
    return dict(zip(list(inspect.signature(function).parameters)[1:], args, strict=False))


def plain(result):
    """A result as something that can be compared."""
    if hasattr(result, "toarray"):
        return result.toarray().tolist()
    if isinstance(result, fo.SweepCut):
        return result.order, len(result.nodes), *map(plain, result.profile)
    return result.tolist() if isinstance(result, np.ndarray) else result


class TestSuitesOfNetworkX:
    @pytest.mark.parametrize("fallback", ["", "True"])
    def test_pass(self, fallback, tmp_path):
        """Without fallback, tests of functions that the backend lacks fail as expected; no test of its own may."""
        environment = environment_of(NETWORKX_TEST_BACKEND="fastonl", NETWORKX_FALLBACK_TO_NX=fallback)
        command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-q", "-rxX", "--pyargs", *SUITES]
        completed = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=environment)
        assert completed.returncode == 0, completed.stdout
        expected_failures = [line for line in completed.stdout.splitlines() if line.startswith("XFAIL")]
        assert bool(expected_failures) is not bool(fallback)
        assert not any(f"'{name}'" in line for name in ALGORITHMS + ELECTRICAL for line in expected_failures)
        assert not any("with the given arguments" in line for line in expected_failures)

    @pytest.mark.slow
    def test_readers_pass(self, tmp_path):
        """What they refuse, as multigraphs, NetworkX reads; what they read is compared with what NetworkX reads."""
        environment = environment_of(NETWORKX_TEST_BACKEND="fastonl", NETWORKX_FALLBACK_TO_NX="True")
        command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-q", "--pyargs", *READER_SUITES]
        completed = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=environment)
        assert completed.returncode == 0, completed.stdout
