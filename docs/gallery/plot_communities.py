"""
The community around a node
===========================

To which group does a node belong? A sweep cut finds one by looking around the node alone: it takes the nodes in the
order of personalised PageRank over degree, and cuts where the smallest part of their edges leads out.
"""

# %%
# The sweep
# ---------
# The conductance of a set of nodes is the weight of the edges that leave it, over the degrees in it: 0 if nothing
# leaves, 1 if everything does. Each prefix of the order is one node larger than the last, so one pass is enough: the
# edges of the new node now leave, except those to nodes inside, which did leave and no longer do.

import time

import matplotlib.pyplot as plt
import networkx as nx
import numpy as np
import nx_fastonl as fo
import pandas as pd

plt.style.use("tableau-colorblind10")


def sweep(G, pagerank, total_degree):
    """Return the nodes, closest first, and the conductance of each prefix of up to half of the graph."""
    degree = {v: G.degree(v, weight="weight") for v in pagerank}
    closest_first = sorted(pagerank, key=lambda v: pagerank[v] / degree[v], reverse=True)
    inside, leaving, volume = set(), 0, 0
    conductance = []
    for v in closest_first:
        volume += degree[v]
        if 2 * volume > total_degree:
            break
        to_inside = sum(data.get("weight", 1) for u, data in G[v].items() if u in inside)
        leaving += degree[v] - 2 * to_inside
        inside.add(v)
        conductance.append(leaving / volume)
    return closest_first[: len(conductance)], conductance


# %%
# A small graph
# -------------
# Who in *Les Misérables* belongs with Enjolras? Two characters are joined by the number of chapters they share. The
# answer is the society of students that he leads, with Gavroche, Mabeuf and a few who meet hardly anybody else.

G = nx.les_miserables_graph()
pagerank = fo.personalized_pagerank_local(G, personalization="Enjolras")
nodes, conductance = sweep(G, pagerank, total_degree=2 * G.size(weight="weight"))
community = nodes[: np.argmin(conductance) + 1]
print(", ".join(community))

fig, ax = plt.subplots(figsize=(6, 5), layout="constrained")
labels = {v: "with Enjolras" if v in community else "others" for v in G}
pos = nx.kamada_kawai_layout(G, weight=None)
fo.plotting.plot_labels(G, labels, pos=pos, ax=ax)
plt.show()

# %%
# A large graph
# -------------
# Now 500 communities of 50 to 150 nodes, some 50,000 nodes in all. A node has ten edges inside its community on
# average, and two to anywhere.

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
total_degree = 2 * G.number_of_edges()
print(G)

# %%
# ``epsilon`` decides how far the push goes. It need only reach beyond the community: what it leaves out, the sweep
# does not see either.

seed = 0
pagerank, info = fo.personalized_pagerank_local(
    G, personalization=seed, epsilon=1e-5, full_output=True
)
nodes, conductance = sweep(G, pagerank, total_degree)
best = int(np.argmin(conductance)) + 1
print(
    f"{len(pagerank):,} of {n:,} nodes have a value; {info.operations:,} edges were walked"
)

fig, ax = plt.subplots(figsize=(6, 4), layout="constrained")
ax.semilogx(np.arange(len(nodes)) + 1, conductance, color="C0")
ax.axvline(
    sizes[planted[seed]], color="C1", linestyle="--", label="size of the planted community"
)
ax.plot(best, conductance[best - 1], "o", color="black", label=f"lowest: {best} nodes")
ax.set(xlabel="nodes in the prefix", ylabel="conductance", ylim=(0, 1.05))
ax.legend()
plt.show()

# %%
# How often is it right?
# ----------------------
# Precision is the part of what was found that belongs to the planted community, recall the part of the planted
# community that was found. The first call above has converted the graph; these find it in NetworkX's cache. Most of the
# time is the sweep, as that is Python.

rows = []
for seed in rng.choice(n, size=40, replace=False).tolist():
    start = time.perf_counter()
    pagerank = fo.personalized_pagerank_local(G, personalization=seed, epsilon=1e-5)
    pushed = time.perf_counter()
    nodes, conductance = sweep(G, pagerank, total_degree)
    swept = time.perf_counter()
    found = nodes[: np.argmin(conductance) + 1]
    right = np.sum(planted[found] == planted[seed])
    rows.append(
        {
            "precision": right / len(found),
            "recall": right / sizes[planted[seed]],
            "part of nodes reached": len(pagerank) / n,
            "push, milliseconds": 1e3 * (pushed - start),
            "sweep, milliseconds": 1e3 * (swept - pushed),
        }
    )
print(pd.DataFrame(rows).quantile([0.1, 0.5, 0.9]).T.round(3).to_string())
