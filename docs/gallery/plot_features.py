"""
PageRank as features for scikit-learn
=====================================

Nodes without attributes, few of which have a label: the rows of ``ppr_matrix`` say for each node which others are
close to it, and any classifier can learn from that.
"""

# %%
# Features
# --------
# The graph joins scikit-learn's handwritten digits to those that look like them. Three ways to describe a digit: its
# pixels, its neighbours (a row of the adjacency matrix), and its personalised PageRank, which reaches beyond the
# neighbours. PageRank falls off by orders of magnitude with distance, so we take logarithms, on a scale on which 1 is
# the mean of a row.

import matplotlib.pyplot as plt
import numpy as np
import nx_fastonl as fo
import pandas as pd
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_limits

digits = fo.datasets.load_digits_graph()
graph = digits.graph
n = graph.number_of_nodes()
truth = np.array([digits.labels[v] for v in range(n)])

closeness = fo.ppr_matrix(graph, epsilon=1e-5, n_jobs=-1)
closeness.data = np.log1p(n * closeness.data)
features = {
    "personalised PageRank": closeness,
    "neighbours": graph.to_scipy(),
    "pixels": load_digits().data / 16,
}
print(digits)
print(f"{closeness.nnz / n:.0f} of {n} values in a row of PageRank are not 0")

# %%
# Few labels, many nodes
# ----------------------
# For each number of labels and each seed, that many digits are drawn and the others predicted. The same labels go to
# ``OnlineNodeLabeler.fit``, which needs no features and no classifier, as it works on the graph itself. With few
# labels on a small graph its default ``epsilon`` is coarse; a smaller one costs little.

rows = []
with threadpool_limits(1):  # matrices this small are no faster on several cores
    for labels_known in [20, 50, 100, 200, 500]:
        for seed in range(5):
            known, others = np.split(
                np.random.default_rng(seed).permutation(n), [labels_known]
            )
            for name, X in features.items():
                model = LogisticRegression(C=10, max_iter=1_000).fit(X[known], truth[known])
                rows.append((name, labels_known, model.score(X[others], truth[others])))
            labeler = fo.OnlineNodeLabeler(graph, epsilon=1e-6).fit(
                zip(known, truth[known], strict=True)
            )
            predicted = labeler.predict_many(others)
            rows.append(
                ("OnlineNodeLabeler", labels_known, np.mean(predicted == truth[others]))
            )
results = pd.DataFrame(rows, columns=["method", "labels_known", "accuracy"])
print(results.pivot_table("accuracy", "labels_known", "method").round(3).to_string())

# %%
# The bands are one standard deviation of five draws. PageRank helps most where labels are few: then hardly a node has
# a labelled neighbour, but most have labelled nodes some steps away. With hundreds of labels the neighbours alone do
# about as well. A classifier on PageRank is as good here as the labeler, or a little better; the labeler needs no
# features, takes milliseconds, and can go on learning one label at a time.

fig, ax = plt.subplots(figsize=(6, 4.5), layout="constrained")
fo.plotting.plot_bands(results, "labels_known", "accuracy", by="method", ax=ax)
ax.set(xscale="log", ylim=(0.2, 1.0))
ax.set_xticks([20, 50, 100, 200, 500], ["20", "50", "100", "200", "500"], minor=False)
ax.minorticks_off()
ax.yaxis.set_major_formatter("{x:.0%}")
ax.legend(loc="lower right", handlelength=3)
plt.show()
