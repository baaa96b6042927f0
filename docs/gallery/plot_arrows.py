"""
Who cites whom
==============

Papers cite older papers. So the direction of a citation says something about when both papers were written, and an
edge without a direction says much less. ``method="adaptive"`` learns from the arrows of a directed graph.
"""

import random

import matplotlib.pyplot as plt
import networkx as nx
import numpy as np
import nx_fastonl as fo

# Otherwise a warning says that the converted graph is kept, and what then must not change.
nx.config.warnings_to_ignore.add("cache")

# %%
# We make 2,000 papers of five decades. Each cites eight papers that came before it, recent ones more often than old
# ones. An arc leads from the paper that cites to the paper that is cited.

rng = np.random.default_rng(0)
n = 2_000
years = np.sort(rng.uniform(1970, 2020, n))
G = nx.DiGraph()
G.add_nodes_from(range(n))
for paper in range(20, n):
    chances = np.exp((years[:paper] - years[paper]) / 8)
    cited = rng.choice(paper, size=8, replace=False, p=chances / chances.sum())
    G.add_edges_from((paper, int(other)) for other in cited)
decades = {paper: f"{int(year) // 10 * 10}s" for paper, year in enumerate(years)}
print(G)

# %%
# Somebody dates the papers one by one, in a random order. We name the decades beforehand, so that the table below is in
# the order of time. With ``direction="ignore"`` the model learns on the same graph without its arrows.

stream = random.Random(0).sample(list(decades.items()), n)
classes = sorted(set(decades.values()))
model = fo.OnlineNodeLabeler(G, classes)
sequences = {
    "with arrows": model.run(stream),
    "without arrows": fo.online_node_labeling(
        G, stream, classes=classes, direction="ignore"
    ),
}

_, ax = plt.subplots(figsize=(5, 3.8), layout="constrained")
fo.plotting.plot_error_curves(sequences, ax=ax)
ax.set_xlim(left=20)
plt.show()

# %%
# Which decade cites which?
# -------------------------
# The model has counted the citations between papers whose decade it has learned, and compares them with chance.

print(model.compatibility)

# %%
# The same as a picture, with both directions side by side. A row on the left says which decades a decade cites, and the
# same row on the right, by which decades it is cited. Orange is more often than by chance, purple less often.

_, ax = plt.subplots(figsize=(8, 3.8), layout="constrained")
fo.plotting.plot_compatibility(model, ax)
plt.show()

# %%
# Whom does it trust?
# -------------------
# The experts that look at neighbours come in three: for all edges, for arcs out and for arcs in. "profile out" asks
# papers that cite the same papers, "profile in" papers that are cited together.

weights = model.weights
_, ax = plt.subplots(figsize=(5, 4.5), layout="constrained")
ax.barh(list(weights), list(weights.values()), color="#0072B2")
ax.axvline(0, color="black", linewidth=1)
ax.invert_yaxis()
ax.set_xlabel("weight at the end of the stream")
plt.show()
