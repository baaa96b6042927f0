"""
A drop-in for nx.pagerank
=========================

The program still calls ``nx.pagerank``. NetworkX hands the call to nx_fastonl. How long does it take then, and how
far is the answer from the exact one?
"""

# %%
# Three ways to switch it on
# --------------------------
# You can switch it on by keyword, for one call; by configuration, for a program or a block of it; or by environment,
# without a change to the program::
#
#     NETWORKX_BACKEND_PRIORITY=fastonl python program.py
#
# nx_fastonl must be installed. It need not be imported.

import time

import matplotlib.pyplot as plt
import networkx as nx
import pandas as pd

plt.style.use("tableau-colorblind10")
# Otherwise NetworkX warns when it uses a converted graph again.
nx.config.warnings_to_ignore.add("cache")

G = nx.barabasi_albert_graph(50_000, 5, seed=0)
print(G)

by_keyword = nx.pagerank(G, backend="fastonl")
with nx.config.backend_priority(algos=["fastonl"]):
    by_configuration = nx.pagerank(G)
print("the same answer:", by_keyword == by_configuration)

# %%
# How long, and how exact?
# ------------------------
# Only this backend has the parameter ``l1_error``. It asks for an L1 distance to the exact vector. With 1e-13 the
# vector is exact enough to compare the others with it. The first call converts the graph, and later calls find it in
# NetworkX's cache. So we clear the cache to time a first call. NetworkX itself builds its matrix at each call.


def seconds_and_error(exact, **parameters):
    start = time.perf_counter()
    ranks = nx.pagerank(G, **parameters)
    seconds = time.perf_counter() - start
    return seconds, sum(abs(ranks[v] - exact[v]) for v in G)


rows = []
for question, seeds in {"every node": None, "around node 40,000": {40_000: 1}}.items():
    exact = nx.pagerank(G, personalization=seeds, backend="fastonl", l1_error=1e-13)
    G.__networkx_cache__.clear()
    rows += [
        (question, "networkx", *seconds_and_error(exact, personalization=seeds)),
        (
            question,
            "fastonl, first call",
            *seconds_and_error(exact, personalization=seeds, backend="fastonl"),
        ),
        (
            question,
            "fastonl, later call",
            *seconds_and_error(exact, personalization=seeds, backend="fastonl"),
        ),
    ]
table = pd.DataFrame(rows, columns=["question", "backend", "seconds", "L1 error"])
print(table.to_string(formatters={"seconds": "{:.3f}".format, "L1 error": "{:.1e}".format}))

# %%
# The price of an exact answer
# ----------------------------
# ``tol`` of NetworkX is not an error. NetworkX stops when one iteration changes the vector by less than ``N * tol``.
# The distance to the exact vector can be much larger. Here we ask both for more and more exact answers, around node
# 40,000. Points on the left are faster. Lower points are more exact.

seeds = {40_000: 1}
backends = {
    "networkx": [{"tol": tol, "max_iter": 1_000} for tol in (1e-6, 1e-8, 1e-10, 1e-12)],
    "fastonl": [
        {"backend": "fastonl", "l1_error": error}
        for error in (1e-1, 1e-3, 1e-5, 1e-7, 1e-9, 1e-11)
    ],
}
fig, ax = plt.subplots(figsize=(6, 4), layout="constrained")
for (name, settings), marker in zip(backends.items(), "so", strict=True):
    points = [
        seconds_and_error(exact, personalization=seeds, **parameters)
        for parameters in settings
    ]
    ax.loglog(*zip(*points, strict=True), marker=marker, label=name)
ax.set(xlabel="seconds per call", ylabel="L1 error")
ax.set_xticks([0.01, 0.03, 0.1, 0.3, 1], ["0.01", "0.03", "0.1", "0.3", "1"])
ax.minorticks_off()
ax.legend(title="backend")
plt.show()
