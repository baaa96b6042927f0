"""
Which labels are certain?
=========================

FastONL approximates a kernel. ``certify_one`` says of a label whether the exact kernel gives the same, where that can
be proved without computing the kernel.
"""

import random

import matplotlib.pyplot as plt
import nx_fastonl as fo
import pandas as pd

# %%
# The labels of a twentieth of the digits are known. They are learned at once; the others are to be labelled.

digits = fo.datasets.load_digits_graph()
nodes = list(digits.labels)
random.Random(0).shuffle(nodes)
known, unknown = nodes[:90], nodes[90:]

model = fo.OnlineNodeLabeler(digits.graph).fit(
    {node: digits.labels[node] for node in known}
)

# %%
# The margin is how far the best label is ahead of the second best, and the error is how much the margin can be off. A
# label is certain where the error is smaller than the margin: below the line in the pictures. ``certify_one`` looks
# further and further around the node, until that is so or it has walked ``max_operations`` edges.


def certify(max_operations):
    return pd.DataFrame(
        [model.certify_one(node, max_operations=max_operations) for node in unknown],
        index=unknown,
    )


answers = {budget: certify(budget) for budget in (1_000, 10_000, 100_000)}

figure, axes = plt.subplots(
    1, 3, figsize=(6, 3), sharex=True, sharey=True, layout="constrained"
)
for ax, (budget, answer) in zip(axes, answers.items(), strict=True):
    for certain, colour, marker in (True, "#0072B2", "o"), (False, "#E69F00", "^"):
        points = answer[answer.certain == certain]
        ax.scatter(
            points.margin, points.error, s=7, color=colour, marker=marker, linewidths=0
        )
    ax.axline((10, 10), (100, 100), color="black", linewidth=1)
    ax.set(xscale="log", yscale="log", xticks=[1, 100])
    ax.set_title(
        f"{budget:,} edges:\n{answer.certain.mean():.0%} certain", fontsize="medium"
    )
axes[0].set_ylabel("error of the margin")
figure.supxlabel("margin", fontsize="medium")
plt.show()

# %%
# Certain of what?
# ----------------
# A certificate speaks of the exact kernel, not of the truth. On a graph this small the kernel's own label can be had
# too: the one whose known nodes have the largest sum of kernel values with a node. With an ``epsilon`` this small, the
# values are as good as exact.

rows = fo.kernel_matrix(digits.graph, known, epsilon=1e-12)
votes = (
    pd.DataFrame(rows.toarray(), index=[digits.labels[node] for node in known])
    .groupby(level=0)
    .sum()
)
kernel_label = votes.idxmax()
truth = pd.Series(digits.labels)

table = pd.concat(answers, names=["edges", "node"]).reset_index()
table["as_kernel"] = table.label == table.node.map(kernel_label)
table["true"] = table.label == table.node.map(truth)
table.groupby(["edges", "certain"]).agg(
    nodes=("node", "size"), as_kernel=("as_kernel", "mean"), true=("true", "mean")
)

# %%
# Every certain label is that of the kernel, and so are most of the others: it is the proof that is missing, not the
# label. But not every certain label is true, for the kernel itself errs. With few edges only the clearest cases are
# certain, and those are easy; with many, what is left without a proof is close to a tie.
#
# What does speak of the truth is the margin. In ten groups of nodes, from the smallest margins to the largest:

answer = table[table.edges == 100_000]
groups = answer.groupby(pd.qcut(answer.margin, 10))

_, ax = plt.subplots(figsize=(5, 3.4), layout="constrained")
ax.plot(groups.margin.median(), groups.true.mean(), "o-", color="#0072B2")
ax.set_xlabel("margin, median of the group")
ax.set_ylabel("part of the labels that are true")
plt.show()
