"""
Which labels are certain?
=========================

FastONL uses an approximation of a kernel. ``certify_many`` says for each label whether the exact kernel gives the
same label. It proves this without computing the kernel.
"""

import random

import matplotlib.pyplot as plt
import nx_fastonl as fo
import pandas as pd

# %%
# The labels of a twentieth of the digits are known. The model learns them at once. We want the labels of the others.

digits = fo.datasets.load_digits_graph()
nodes = list(digits.labels)
random.Random(0).shuffle(nodes)
known, unknown = nodes[:90], nodes[90:]

model = fo.OnlineNodeLabeler(digits.graph, method="fastonl").fit(
    {node: digits.labels[node] for node in known}
)

# %%
# The margin is the distance from the score of the best label to that of the second best. The error is an upper bound
# on the error of the margin. A label is certain if the error is smaller than the margin. In the pictures this is
# below the line. ``certify_many`` looks further and further around each node, until the label is certain or until it
# has walked ``max_operations`` edges.


def certify(max_operations):
    answers = model.certify_many(unknown, max_operations=max_operations)
    return pd.DataFrame(answers, index=unknown)


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
# A certificate is about the exact kernel, not about the truth. On a graph this small we can also compute the label of
# the exact kernel. For each label, we add up the kernel values between a node and the known nodes with this label.
# The label with the largest sum wins. With an ``epsilon`` this small, the values are practically exact.

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
# Every certain label is that of the kernel. So are most of the other labels: only their proof is missing. But not
# every certain label is true, because the kernel itself makes mistakes. With few edges only the clearest cases are
# certain, and those are easy. With many edges, the nodes that stay uncertain are close to a tie.
#
# The margin does say something about the truth. Here are ten groups of nodes, from the smallest margins to the
# largest:

answer = table[table.edges == 100_000]
groups = answer.groupby(pd.qcut(answer.margin, 10))

_, ax = plt.subplots(figsize=(5, 3.4), layout="constrained")
ax.plot(groups.margin.median(), groups.true.mean(), "o-", color="#0072B2")
ax.set_xlabel("margin, median of the group")
ax.set_ylabel("fraction of the labels that are true")
plt.show()
