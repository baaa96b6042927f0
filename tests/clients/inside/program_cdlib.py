"""cdlib's communities by LAIS2, which takes nodes in the order of their PageRank: other ties, other communities."""

import networkx as nx
import pytest
from cdlib import algorithms

GRAPHS = {
    "karate": nx.karate_club_graph(),
    "les miserables": nx.convert_node_labels_to_integers(nx.les_miserables_graph()),
    "davis": nx.convert_node_labels_to_integers(nx.davis_southern_women_graph()),
    "florentine": nx.convert_node_labels_to_integers(nx.florentine_families_graph()),
    "caveman": nx.connected_caveman_graph(6, 5),
    "barbell": nx.barbell_graph(5, 3),
    "grid": nx.convert_node_labels_to_integers(nx.grid_2d_graph(5, 5)),
}


@pytest.mark.parametrize("name", GRAPHS)
def test_lais2(name):
    communities = algorithms.lais2(GRAPHS[name]).communities
    assert set().union(*communities) <= set(GRAPHS[name])
    assert max(map(len, communities)) > 1
