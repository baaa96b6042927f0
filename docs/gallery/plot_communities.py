"""
The community around a node
===========================

To which group does a node belong? A sweep cut finds the group, and looks only at the neighbourhood of the node. It
sorts the nodes by personalised PageRank divided by degree. Then it cuts the list where the smallest fraction of the
edges leads out.
"""

# %%
# The sweep
# ---------
# The conductance of a set of nodes is the weight of the edges that leave it, divided by the sum of its degrees. It is
# 0 if no edge leaves, and 1 if all edges leave. Each prefix of the list has one node more than the one before, so one
# pass is enough. A new node adds its edges to those that leave. Its edges to nodes inside left the set before, and no
# longer do. ``local_community`` does all of this in compiled code.

import time

import matplotlib.pyplot as plt
import networkx as nx
import numpy as np
import nx_fastonl as fo
import pandas as pd

plt.style.use("tableau-colorblind10")
# Otherwise a warning says that the converted graph is kept, and what then must not change.
nx.config.warnings_to_ignore.add("cache")

# %%
# A small graph
# -------------
# Who in *Les Misérables* belongs to the group of Enjolras? The weight of an edge is the number of chapters that two
# characters share. The answer is the society of students that he leads, with Gavroche, Mabeuf and a few who meet
# hardly anybody else.

G = nx.les_miserables_graph()
community = fo.local_community(G, "Enjolras").nodes
print(", ".join(community))

fig, ax = plt.subplots(figsize=(6, 5), layout="constrained")
labels = {v: "with Enjolras" if v in community else "others" for v in G}
pos = nx.kamada_kawai_layout(G, weight=None)
fo.plotting.plot_labels(G, labels, pos=pos, ax=ax)
plt.show()

# %%
# A large graph
# -------------
# Now we make 500 communities of 50 to 150 nodes, about 50,000 nodes in all. On average a node has ten edges inside
# its community, and two edges to nodes anywhere.

rng = np.random.default_rng(0)
sizes = rng.integers(50, 151, size=500)
n = sizes.sum()
planted = np.repeat(np.arange(500), sizes)
first_of_community = np.repeat(np.cumsum(sizes) - sizes, sizes)

u = rng.integers(n, size=5 * n)
v = first_of_community[u] + rng.integers(sizes[planted[u]])
anywhere = rng.integers(n, size=(2, n))
G = nx.Graph()
G.add_nodes_from(range(n))
G.add_edges_from(zip(*np.hstack([[u, v], anywhere]).tolist(), strict=True))
G.remove_edges_from(list(nx.selfloop_edges(G)))
print(G)

# %%
# The push must reach a little beyond the community: the sweep does not see nodes that it did not reach. So ``epsilon``
# falls from 1e-3 to 1e-5, and the best of three sweeps wins. The profile of the sweep has one deep valley, at the size
# of the planted community.

seed = 0
found = fo.local_community(G, seed)
print(
    f"{len(found.order):,} of {n:,} nodes were swept; {found.operations:,} edges were walked"
)

fig, ax = plt.subplots(figsize=(6, 4), layout="constrained")
fo.plotting.plot_sweep(found, ax)
ax.axvline(
    sizes[planted[seed]], color="C1", linestyle="--", label="size of the planted community"
)
ax.legend()
plt.show()

# %%
# How often is it right?
# ----------------------
# Precision is the fraction of the nodes found that belong to the planted community. Recall is the fraction of the
# planted community that was found. The first call above has converted the graph. These calls find the converted graph
# in NetworkX's cache.

rows = []
for seed in rng.choice(n, size=200, replace=False).tolist():
    start = time.perf_counter()
    found = fo.local_community(G, seed)
    milliseconds = 1e3 * (time.perf_counter() - start)
    right = np.sum(planted[found.nodes] == planted[seed])
    rows.append(
        {
            "precision": right / len(found.nodes),
            "recall": right / sizes[planted[seed]],
            "conductance": found.conductance,
            "fraction of nodes swept": len(found.order) / n,
            "milliseconds": milliseconds,
        }
    )
print(pd.DataFrame(rows).quantile([0.1, 0.5, 0.9]).T.round(3).to_string())
