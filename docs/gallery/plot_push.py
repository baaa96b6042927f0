"""
What a push does
================

``fifo_push`` is the basic loop of the package. Mass starts at a node. A push at a node settles a fraction of its mass
there and moves the rest to the neighbours. A node whose mass is too small is not pushed.
"""

import matplotlib.pyplot as plt
import networkx as nx
import nx_fastonl as fo
import pandas as pd
from matplotlib.colors import LogNorm

# Otherwise a warning says that the converted graph is kept, and what then must not change.
nx.config.warnings_to_ignore.add("cache")

# %%
# The push estimates personalised PageRank. A random walk starts at a node and stops with the same probability at each
# step. PageRank says how often it ends at each other node. Here is PageRank in the karate club, from member 22:

G = nx.karate_club_graph()
_, ax = plt.subplots(figsize=(5.5, 4.4), layout="constrained")
fo.plotting.plot_pagerank(G, 22, ax=ax)
plt.show()

# %%
# Estimate and residual
# ---------------------
# A node is pushed only while its residual is at least ``epsilon`` per neighbour. With a large ``epsilon``, few nodes
# are pushed. The estimate is the mass that has settled. The residual is the mass that was not pushed. Together they
# are the mass of 1 at the start.
#
# Note that ``alpha`` is the probability to stop here, as in the paper. In ``nx.pagerank`` and in ``plot_pagerank``
# above it is 1 minus that.

estimate, residual = fo.fifo_push(G, 22, alpha=0.15, epsilon=0.01)
table = (
    pd.DataFrame({"estimate": estimate, "residual": residual})
    .fillna(0.0)
    .sort_values("estimate", ascending=False)
)
table.loc["sum"] = table.sum()
table.round(3)

# %%
# As epsilon shrinks
# ------------------
# A grid shows which region is touched. The region depends on ``epsilon``, not on the size of the grid. White nodes
# were not pushed.

side, middle = 41, (20, 20)
grid = nx.grid_2d_graph(side, side)

figure, axes = plt.subplots(1, 3, figsize=(6, 2.3), sharey=True, layout="compressed")
for ax, epsilon in zip(axes, (1e-3, 1e-5, 1e-7), strict=True):
    estimate, _ = fo.fifo_push(grid, middle, alpha=0.15, epsilon=epsilon)
    heat = pd.Series(estimate).unstack().reindex(index=range(side), columns=range(side))
    image = ax.imshow(heat, norm=LogNorm(1e-8, 1), cmap="viridis_r")
    ax.set_title(f"epsilon = {epsilon:g}", fontsize="medium")
    ax.set_xticks([0, 20, 40])
    ax.set_yticks([0, 20, 40])
axes[1].set_xlabel("column of the grid")
axes[0].set_ylabel("row of the grid")
figure.colorbar(image, ax=axes, label="estimate")
plt.show()

# %%
# The error is known
# ------------------
# The sum of the residuals is the L1 error of the estimate. It is not only a bound, but the error itself. A comparison
# with NetworkX shows this.

exact = nx.pagerank(
    grid, alpha=0.85, personalization={middle: 1}, tol=1e-14, max_iter=1_000
)


def push(epsilon):
    estimate, _, info = fo.fifo_push(
        grid, middle, alpha=0.15, epsilon=epsilon, full_output=True
    )
    error = sum(abs(value - estimate.get(node, 0.0)) for node, value in exact.items())
    return {
        "epsilon": epsilon,
        "error": error,
        "residual mass": info.residual_mass,
        "operations": info.operations,
        "local bound": info.local_bound,
        "worst-case bound": info.worst_case_bound,
    }


pushes = pd.DataFrame([push(10.0**-exponent) for exponent in range(2, 9)])

_, ax = plt.subplots(figsize=(5, 3.4), layout="constrained")
ax.loglog(
    pushes["epsilon"], pushes["residual mass"], color="#0072B2", label="residual mass"
)
ax.loglog(
    pushes["epsilon"], pushes["error"], "s", color="#E69F00", label="L1 error, measured"
)
ax.set_xlabel("epsilon")
ax.set_ylabel("mass")
ax.legend()
plt.show()

# %%
# The work is bounded
# -------------------
# An operation is a step along an edge. The worst-case bound is known before the push, and is the same for every
# graph. The local bound is known after the push, and depends on the nodes that the push reached. As ``epsilon``
# shrinks, the local bound is much closer to the operations here.

_, ax = plt.subplots(figsize=(5, 3.4), layout="constrained")
styles = {
    "worst-case bound": ("^:", "#009E73"),
    "local bound": ("s--", "#E69F00"),
    "operations": ("o-", "#0072B2"),
}
for name, (style, colour) in styles.items():
    ax.loglog(pushes["epsilon"], pushes[name], style, color=colour, label=name)
ax.set_xlabel("epsilon")
ax.set_ylabel("edges walked")
ax.legend()
plt.show()
