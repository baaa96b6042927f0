"""
Recommendations at query time
=============================

What might this reader like to read next? Personalised PageRank answers from the graph of who read what, at the moment
of the question. Nothing is trained. A book that was read a second ago already counts.
"""

# %%
# A catalogue
# -----------
# There are twenty thousand readers and five thousand books. An edge joins a reader to each book that they have read.
# Each reader and each book has one of 25 tastes, and seven in ten books of a reader are of their own taste. A few
# books have very many readers. Most books have only a few. The graph does not contain the tastes. We hope to find
# them again.

import time

import matplotlib.pyplot as plt
import numpy as np
import nx_fastonl as fo
import pandas as pd

READERS, BOOKS, TASTES = 20_000, 5_000, 25
rng = np.random.default_rng(0)

taste_of_reader = rng.integers(TASTES, size=READERS)
taste_of_book = rng.integers(TASTES, size=BOOKS)
popularity = np.minimum(1 + rng.pareto(1.2, size=BOOKS), 300)
books_read = 5 + rng.poisson(rng.lognormal(2.0, 0.8, size=READERS))

reader = np.repeat(np.arange(READERS), books_read)
own_taste = rng.random(len(reader)) < 0.7
taste = np.where(own_taste, taste_of_reader[reader], rng.integers(TASTES, size=len(reader)))
book = np.empty_like(reader)
for t in range(TASTES):
    shelf = np.flatnonzero(taste_of_book == t)
    chance = popularity[shelf] / popularity[shelf].sum()
    book[taste == t] = rng.choice(shelf, size=(taste == t).sum(), p=chance)
reader, book = np.unique([reader, book], axis=1)

# %%
# To test the recommendations, we hide one book of each of 200 readers. The rest becomes the graph.
# ``CSRGraph.from_edges`` takes arrays, so it makes no Python object for an edge. The nodes can still have names.

asked = rng.choice(READERS, size=200, replace=False)
hidden = np.array([rng.choice(np.flatnonzero(reader == r)) for r in asked])
hidden_book = {
    f"reader {r}": f"book {b}" for r, b in zip(reader[hidden], book[hidden], strict=True)
}
reader, book = np.delete(reader, hidden), np.delete(book, hidden)

names = [f"reader {r}" for r in range(READERS)] + [f"book {b}" for b in range(BOOKS)]
graph = fo.CSRGraph.from_edges(reader, READERS + book, nodes=names)
print(graph)

# %%
# One query
# ---------
# Random walks start at the reader, and go from reader to book to reader. The nodes where they often stop are close.
# The largest values belong to the reader, to the books they have read, to similar readers, and to unread books. Only
# the last are of use. So books are the candidates, and ``exclude_neighbors`` leaves out those that the reader has read.

books = names[READERS:]


def query(name, tol=1e-4, top_k=40):
    return fo.personalized_pagerank_local(
        graph,
        alpha=0.5,
        personalization=name,
        tol=tol,
        top_k=top_k,
        candidates=books,
        exclude_neighbors=True,
        full_output=True,
    )


someone = f"reader {asked[0]}"
top, info = query(someone, top_k=10)
ten_books = list(top)

tastes = taste_of_book[[int(name.split()[1]) for name in ten_books]]
print(f"{someone}, whose taste is number {taste_of_reader[asked[0]]}, might like")
table = pd.DataFrame(
    {"book": ten_books, "value": [top[name] for name in ten_books], "taste": tastes}
)
print(table.to_string(index=False))

# %%
# How sure is that?
# -----------------
# ``info.l1_error`` bounds the distance to the exact vector. ``info.top_k_proven`` is True if there is a proof that
# no other unread book has a larger value than the ten. It says nothing about their order.

print(f"the ten best unread books; proven: {info.top_k_proven}")
print(f"L1 error at most {info.l1_error:.1e}")

# %%
# Without ``tol``, the push goes on until the ten books are proven, and their order too.

best, info = query(someone, tol=None, top_k=10)
print(f"proven, with their order: {info.top_k_proven}")
print(f"the same ten books: {set(best) == set(ten_books)}")

# %%
# Do they find the hidden books?
# ------------------------------
# We compare with what many shops show: the most popular books that the reader has not read yet.


def unread(name, books):
    row = graph.index(name)
    read = {names[v] for v in graph.indices[graph.indptr[row] : graph.indptr[row + 1]]}
    return [book for book in books if book not in read]


by_popularity = [
    f"book {b}" for b in np.argsort(-np.bincount(book, minlength=BOOKS), kind="stable")
]
rows = []
for name, wanted in hidden_book.items():
    lists = {
        "personalised PageRank": list(query(name)[0]),
        "most popular": unread(name, by_popularity),
    }
    rows += [
        (kind, n, wanted in books[:n])
        for kind, books in lists.items()
        for n in range(1, 41)
    ]

hits = pd.DataFrame(rows, columns=["list", "length_of_the_list", "hidden_books_found"])
fig, ax = plt.subplots(figsize=(6, 4), layout="constrained")
fo.plotting.plot_bands(
    hits, "length_of_the_list", "hidden_books_found", by="list", ax=ax, band=None
)
ax.yaxis.set_major_formatter("{x:.0%}")
ax.set_ylim(bottom=0)
plt.show()

# %%
# What certainty costs
# --------------------
# ``tol`` is the L1 error that we ask for. With a large ``tol`` the answer takes a fraction of the time, and often
# finds the hidden book as well. To prove that the right books were returned, a small ``tol`` is needed.

rows = []
for tol in [1e-1, 1e-2, 1e-3, 1e-4, 1e-5]:
    for name, wanted in list(hidden_book.items())[:60]:
        start = time.perf_counter()
        top, info = query(name, tol, top_k=10)
        milliseconds = 1e3 * (time.perf_counter() - start)
        rows.append((tol, milliseconds, wanted in top, info.top_k_proven))

cost = pd.DataFrame(
    rows, columns=["tol", "milliseconds", "hidden book among ten", "ten books certain"]
)
shares = cost.melt(
    "tol",
    ["hidden book among ten", "ten books certain"],
    var_name="what",
    value_name="fraction_of_readers",
)
fig, (above, below) = plt.subplots(2, figsize=(6, 6), sharex=True, layout="constrained")
fo.plotting.plot_bands(
    cost.assign(query="a query"), "tol", "milliseconds", by="query", ax=above
)
fo.plotting.plot_bands(shares, "tol", "fraction_of_readers", by="what", ax=below, band=None)
above.get_legend().remove()
below.legend(handlelength=3)
above.set(xlabel="", ylabel="milliseconds per query", ylim=(0, None))
below.set(xlabel="L1 error asked for (tol)", ylabel="fraction of readers")
below.yaxis.set_major_formatter("{x:.0%}")
below.invert_xaxis()
plt.show()
