"""Valid calls with hostile parameters on up to 2,000 nodes: each answers or refuses in seconds."""

import time
import tracemalloc

import networkx as nx

import nx_fastonl as fo
from tests.fuzz.verdicts import REFUSALS, check

# Of one call: seconds of the processor, and bytes that it takes at a time, as far as Python is told of them.
MOST_SECONDS = 10.0
MOST_BYTES = 2 << 30
KERNELS = ("laplacian", "normalized-laplacian", "augmented-laplacian")
METHODS = ("adaptive", "fastonl", "fastonl-fifo", "perceptron", "relaxation", "approximate", "weighted-tree")


def graph_of(draw):
    """A graph in which mass may settle slowly."""
    n = draw.choice([5, 12, 100, 500, 2000])
    kind = draw.below(7)
    if kind == 0:
        G = nx.path_graph(n)
    elif kind == 1:
        G = nx.star_graph(n - 1)
    elif kind == 2:
        G = nx.lollipop_graph(max(n // 8, 3), n - max(n // 8, 3))
    elif kind == 3:
        side = int(n**0.5)
        G = nx.convert_node_labels_to_integers(nx.grid_2d_graph(side, side))
    elif kind == 4:
        G = nx.barbell_graph(max(n // 10, 3), max(n - 2 * max(n // 10, 3), 0))
    elif kind == 5:
        G = nx.disjoint_union(nx.path_graph(n // 2), nx.cycle_graph(n - n // 2))
    else:
        G = nx.cycle_graph(n, create_using=nx.DiGraph)
    scale = draw.log_uniform(-100, 100) if draw.chance(0.3) else 1.0
    spread = draw.choice([0.0, 3.0, 100.0]) if scale == 1.0 else 0.0
    if spread or scale != 1.0:
        for _, _, data in G.edges(data=True):
            data["weight"] = scale * draw.log_uniform(-spread, spread)
    return G


def call_of(draw, G):
    """A call by name, as a function without arguments."""
    alpha, epsilon, tol = 1.0 - draw.log_uniform(-12, -1), draw.log_uniform(-12, -2), draw.log_uniform(-14, -1)
    seed = draw.choice(list(G))
    kernel = {"kernel": draw.choice(KERNELS), "smoothness": draw.log_uniform(-9, 9)}
    labels = {node: draw.below(draw.choice([2, 9])) for node in draw.shuffled(G)[: draw.choice([2, 50, 1000])]}
    method = draw.choice(METHODS)
    few = list(G)[:100]
    calls = {
        "pagerank": lambda: fo.personalized_pagerank_local(G, alpha, seed, epsilon=epsilon),
        "pagerank tol": lambda: fo.personalized_pagerank_local(G, alpha, seed, tol=tol),
        "pagerank of all": lambda: fo.personalized_pagerank_local(G, alpha, tol=tol),
        "top": lambda: fo.personalized_pagerank_local(G, alpha, seed, top_k=5),
        "proven top": lambda: fo.personalized_pagerank_local(G, alpha, seed, top_k=5, max_operations=10**30),
        "ppr matrix": lambda: fo.ppr_matrix(G, few, alpha, epsilon),
        "community": lambda: fo.local_community(G, seed, alpha),
        "column": lambda: fo.kernel_column(G, seed, epsilon=epsilon, **kernel),
        "kernel matrix": lambda: fo.kernel_matrix(G, few, epsilon=epsilon, **kernel),
        "fit": lambda: fo.OnlineNodeLabeler(G, smoothness=kernel["smoothness"]).fit(labels).predict_many(),
        "stream": lambda: fo.online_node_labeling(
            G, labels, method=method, **({} if method == "weighted-tree" else kernel)
        ),
        "fifo push": lambda: fo.fifo_push(G, seed, 1.0 - alpha, epsilon, max_operations=10**6),
    }
    name = draw.choice(sorted(calls))
    draw.note(G=repr(G), call=name, alpha=alpha, epsilon=epsilon, tol=tol, seed=seed, method=method, **kernel)
    return name, calls[name]


def costs(draw):
    """One call, and what it took."""
    G = graph_of(draw)
    name, call = call_of(draw, G)
    tracemalloc.start()  # numpy tells it of arrays
    began, is_valid = time.process_time(), True
    try:
        call()
    except REFUSALS:
        is_valid = False
    finally:
        seconds = time.process_time() - began
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    check(seconds <= MOST_SECONDS, "{} took {:.0f} s", name, seconds)
    check(most <= MOST_BYTES, "{} took {:,} bytes", name, most)
    return is_valid
