"""
PageRank as features for scikit-learn
=====================================

The nodes have no attributes, and few of them have a label. The rows of ``ppr_matrix`` say for each node which others
are close to it. Any classifier can learn from these rows.
"""

# %%
# Features
# --------
# The graph joins each of scikit-learn's handwritten digits to those that look like it. We describe a digit in three
# ways: by its pixels, by its neighbours (a row of the adjacency matrix), and by its personalised PageRank, which
# reaches beyond the neighbours. PageRank falls by orders of magnitude with distance. So we take logarithms, on a
# scale on which 1 is the mean of a row.

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
# For each number of labels and each seed, we draw that many digits and predict the others. The same labels go to
# ``OnlineNodeLabeler.fit``. It needs no features and no classifier, because it works on the graph itself.

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
            labeler = fo.OnlineNodeLabeler(graph).fit(zip(known, truth[known], strict=True))
            predicted = labeler.predict_many(others)
            rows.append(
                ("OnlineNodeLabeler", labels_known, np.mean(predicted == truth[others]))
            )
results = pd.DataFrame(rows, columns=["method", "labels_known", "accuracy"])
print(results.pivot_table("accuracy", "labels_known", "method").round(3).to_string())

# %%
# The bands are one standard deviation of five draws. PageRank helps most when few labels are known. Then hardly any
# node has a labelled neighbour, but most have labelled nodes some steps away. With hundreds of labels, the neighbours
# alone are about as good. A classifier on PageRank is as good here as the labeler, or a little better. The labeler
# needs no features, takes a fraction of a second, and can go on learning one label at a time.

fig, ax = plt.subplots(figsize=(6, 4.5), layout="constrained")
fo.plotting.plot_bands(results, "labels_known", "accuracy", by="method", ax=ax)
ax.set(xscale="log", ylim=(0.2, 1.0))
ax.set_xticks([20, 50, 100, 200, 500], ["20", "50", "100", "200", "500"], minor=False)
ax.minorticks_off()
ax.yaxis.set_major_formatter("{x:.0%}")
ax.legend(loc="lower right", handlelength=3)
plt.show()
