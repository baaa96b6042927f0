"""littleballoffur's sampling of nodes by PageRank, which numbers nodes from 0."""

import networkx as nx
import pytest
from littleballoffur import PageRankBasedSampler

GRAPHS = {
    "small world": nx.newman_watts_strogatz_graph(200, 10, 0.1, seed=1),
    "preferential attachment": nx.barabasi_albert_graph(500, 3, seed=2),
    "grid": nx.convert_node_labels_to_integers(nx.grid_2d_graph(8, 8)),
    "caveman": nx.connected_caveman_graph(10, 6),
}


@pytest.mark.parametrize("name", GRAPHS)
@pytest.mark.parametrize("alpha", [0.5, 0.85, 0.95])
def test_sample(name, alpha):
    G = GRAPHS[name]
    sampled = PageRankBasedSampler(number_of_nodes=25, alpha=alpha).sample(G)
    assert len(sampled) == 25
    assert set(sampled) <= set(G)
