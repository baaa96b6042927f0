"""
From a file to labels
=====================

A graph of a million edges comes as a text file. We read it, save it, open it in milliseconds, and label its nodes. In
the middle of the stream the model goes to disk, and another one takes its place.
"""

# %%
# The file
# --------
# ``planted_partition`` draws a graph with ten labels. Degrees follow a power law, and half of the edges join nodes of
# the same label. A tenth of the labels are noise. We write the edges to a compressed file, in random order, and then
# forget the graph.

import gzip
import tempfile
import time
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import nx_fastonl as fo
from scipy import sparse

temporary = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
folder = Path(temporary.name)
made = fo.datasets.planted_partition(
    100_000, mean_degree=20, homophily=0.5, label_noise=0.1, seed=0
)
labels = made.labels
edges = np.column_stack(sparse.triu(made.graph.to_scipy()).nonzero())
np.random.default_rng(0).shuffle(edges)
with gzip.open(folder / "edges.csv.gz", "wt", compresslevel=1) as file:
    file.write("source,target\n")
    file.writelines(f"{u},{v}\n" for u, v in edges.tolist())
print(f"{(folder / 'edges.csv.gz').stat().st_size / 1e6:.1f} MB")
del made, edges

# %%
# Read, save, open
# ----------------
# Nothing has to be said about the file. The first lines show that it is compressed, that commas separate the cells,
# and that it has a header. Nodes without edges are not in the file, so the graph has a few nodes less. The others keep
# their numbers as names.

start = time.perf_counter()
graph = fo.CSRGraph.from_edge_file(folder / "edges.csv.gz")
read = time.perf_counter()
graph.save(folder / "graph")
saved = time.perf_counter()
graph = fo.CSRGraph.open(folder / "graph")
opened = time.perf_counter()
print(graph)
print(f"read in {read - start:.2f} s, saved in {saved - read:.2f} s")
print(f"opened in {1e3 * (opened - saved):.1f} ms")

# %%
# The graph that was opened stays on disk. What is needed of it is read when it is needed, and several processes share
# the memory. All functions take it:

nearest = fo.personalized_pagerank_local(graph, personalization=0, top_k=5)
print({node: round(value, 4) for node, value in nearest.items()})

# %%
# Label a stream, and stop in the middle
# --------------------------------------
# Ten thousand nodes arrive, in random order. After 2,000 the model is saved, as if the program had to end. It need not
# hold the graph, since that has a folder of its own.

order = np.random.default_rng(1).permutation(len(graph))[:10_000].tolist()
stream = [(graph.nodes[u], labels[graph.nodes[u]]) for u in order]

model = fo.OnlineNodeLabeler(graph)
before = model.run(stream[:2_000])
model.save(folder / "model", include_graph=False)

# %%
# Another process would go on in this way. The graph is found in its folder.

model = fo.OnlineNodeLabeler.load(folder / "model")
after = model.run(stream[2_000:])
print(model)

# %%
# The predictions are the same as those of a model that was never saved:

never_saved = fo.online_node_labeling(graph, stream)
print(list(before) + list(after) == list(never_saved))

# %%
# How many are right?
# -------------------
# A curve is the fraction of correct predictions among the last 500. Nobody can do better than the dashed line, because
# of the noise. A vote of the neighbours knows little, as few nodes have a neighbour whose label is known.

voted = fo.online_node_labeling(graph, stream, method="weighted-majority", seed=0)
window = np.ones(500) / 500
fig, ax = plt.subplots(figsize=(6.5, 4), layout="constrained")
for sequence, name in (
    (never_saved, "adaptive, the default"),
    (voted, "weighted majority"),
):
    right = np.array(sequence.predicted) == np.array(sequence.truth)
    ax.plot(np.arange(500, len(right) + 1), np.convolve(right, window, "valid"), label=name)
ax.axhline(0.9, color="gray", linestyle="--", linewidth=1)
ax.axvline(2_000, color="gray", linewidth=1)
ax.annotate("saved and loaded", (2_100, 0.02), color="gray")
ax.set(xlabel="nodes that have arrived", ylabel="correct, of the last 500", ylim=(0, 1))
ax.legend(loc="center right")
plt.show()

temporary.cleanup()
