"""
How sure is it?
===============

Images of digits arrive one by one. With each label, ``method="adaptive"`` says how probable it is, and which other
labels should be considered. Both can be checked against what then turned out to be true.
"""

import random

import matplotlib.pyplot as plt
import numpy as np
import nx_fastonl as fo

# %%
# The graph joins each of scikit-learn's 1,797 digits to the digits that look most like it. To make it harder, a third
# of the edges is kept, and as many random edges are added. The ten labels are given from the start: a label that nobody
# has seen has no probability.

digits = fo.datasets.load_digits_graph(as_networkx=True)
G = digits.graph
rng = random.Random(0)
edges = sorted(G.edges)
G.remove_edges_from(rng.sample(edges, 2 * len(edges) // 3))
G.add_edges_from(rng.sample(list(G), 2) for _ in range(len(edges) // 3))
graph = fo.CSRGraph.from_networkx(G, weight=None)

stream = rng.sample(list(digits.labels.items()), len(digits.labels))
sequence = fo.online_node_labeling(graph, stream, classes=range(10), method="adaptive")
print(sequence)
print(sequence.calibration())

# %%
# Probabilities
# -------------
# A reliability diagram sorts predictions by their probability into ten bins, and shows how many of each bin were
# right. On the diagonal, probabilities are calibrated. Below it the model was too sure, above it not sure enough.
# Larger points stand for more predictions.

_, ax = plt.subplots(figsize=(4.2, 4), layout="constrained")
sequence.plot_calibration(ax)
ax.set_title(f"calibration error {sequence.calibration().error:.3f}", fontsize="medium")
plt.show()

# %%
# So probabilities can be used to choose: who answers only where the model is sure makes fewer mistakes. Here is the
# accuracy of the most probable predictions, up to all of them.

order = np.argsort(sequence.probabilities)[::-1]
right = np.array(sequence.correct)[order]
answered = np.arange(1, len(right) + 1)

_, ax = plt.subplots(figsize=(5, 3.2), layout="constrained")
ax.plot(answered / len(right), np.cumsum(right) / answered, color="#0072B2")
ax.set(xlabel="fraction of the nodes answered", ylabel="accuracy", xlim=(0, 1))
plt.show()

# %%
# Prediction sets
# ---------------
# A prediction set holds every label that should be considered. ``coverage`` is how often it should hold the true one.
# We ask for the set of each node before its label is learned.


def sets_along(coverage):
    """Whether each set held the true label, and how many labels it had."""
    model = fo.OnlineNodeLabeler(graph, classes=range(10), method="adaptive")
    covered, sizes = [], []
    for node, label in stream:
        labels = model.predict_set_one(node, coverage)
        covered.append(label in labels)
        sizes.append(len(labels))
        model.learn_one(node, label)
    return np.array(covered), np.array(sizes)


found = {coverage: sets_along(coverage) for coverage in (0.8, 0.9, 0.95)}
for coverage, (covered, sizes) in found.items():
    print(
        f"asked for {coverage:.0%}: covered {covered.mean():.1%}, mean size {sizes.mean():.2f}"
    )

# %%
# The dotted lines are what is proved for any stream: after T arrivals, the coverage is at least as asked for, up to
# 21 / T. At first sets are large, because little is known. Later they become smaller. After misses that follow each
# other closely, they grow for a while. Sets always hold the predicted label. So they cover more than was asked for
# wherever that label alone is right often enough.

arrivals = np.arange(1, len(stream) + 1)
_, (top, bottom) = plt.subplots(2, 1, figsize=(5, 5), sharex=True, layout="constrained")
for colour, (coverage, (covered, sizes)) in zip(
    ("#0072B2", "#E69F00", "#009E73"), found.items(), strict=True
):
    top.plot(arrivals, np.cumsum(covered) / arrivals, color=colour, label=f"{coverage:.0%}")
    top.plot(arrivals, coverage - 21 / arrivals, color=colour, linestyle=":")
    mean_size = np.convolve(sizes, np.full(100, 0.01), mode="valid")
    bottom.plot(arrivals[99:], mean_size, color=colour)
top.set(ylabel="coverage so far", ylim=(0.6, 1.01))
top.legend(title="asked for", loc="lower right")
bottom.set(xlabel="nodes seen", ylabel="labels in a set\n(mean of the last 100)")
bottom.set_ylim(bottom=0)
plt.show()
