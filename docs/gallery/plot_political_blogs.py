"""
The sides of political blogs
============================

Blogs on politics mostly link to blogs of their own side. Is that enough to tell the side of each blog, as they are
looked at one after the other?
"""

import random

import matplotlib.pyplot as plt
import numpy as np
import nx_fastonl as fo
from sklearn.decomposition import PCA

# %%
# The blogs are those of L. Adamic and N. Glance, *The political blogosphere and the 2004 US election*, joined where one
# links to the other. This dataset is downloaded once. Its labels are numbers: 0 is left or liberal, 1 is right or
# conservative.

blogs = fo.datasets.fetch_political_blogs(as_networkx=True)
G = blogs.graph
sides = {blog: ["left", "right"][label] for blog, label in blogs.labels.items()}

# %%
# The mistakes, on a map
# ----------------------
# Blogs arrive in random order. The side of each is predicted from the links and the sides of those before it.

labels = list(sides.items())
streams = [random.Random(seed).sample(labels, len(labels)) for seed in range(5)]
sequence = fo.online_node_labeling(G, streams[0])

# %%
# Spring layouts take long for so many links. Blogs with similar personalised PageRank belong together, and its first
# two principal components put them so. The square root keeps a few large values from ruling the map.

pagerank = fo.ppr_matrix(G).toarray()
places = PCA(2, random_state=0).fit_transform(np.sqrt(pagerank))
pos = dict(zip(G, places, strict=True))

_, ax = plt.subplots(figsize=(5.5, 4.6), layout="constrained")
fo.plotting.plot_labels(G, sequence, pos=pos, ax=ax)
plt.show()

# %%
# The colours are the predictions, each made when its blog arrived. The first blog got none, as no side was known.
#
# Who was misjudged?
# ------------------
# For each blog: how many others it is linked with, and what part of them is on the other side.


def across(blog):
    return float(np.mean([sides[other] != sides[blog] for other in G[blog]]))


frame = sequence.to_pandas()
frame["arrived"] = range(1, len(frame) + 1)
frame["linked"] = [len(G[blog]) for blog in frame.node]
frame["across"] = [across(blog) for blog in frame.node]
correct, mistakes = frame[frame.correct], frame[~frame.correct]

_, ax = plt.subplots(figsize=(5, 3.8), layout="constrained")
ax.scatter(
    correct.linked,
    correct.across,
    s=14,
    color="#0072B2",
    alpha=0.4,
    linewidths=0,
    label="correct",
)
ax.scatter(
    mistakes.linked,
    mistakes.across,
    s=28,
    color="black",
    marker="x",
    linewidths=1.2,
    label="mistake",
)
ax.set_xscale("log")
ax.set_xlabel("linked blogs")
ax.set_ylabel("part of them on the other side")
ax.legend()
plt.show()

# %%
# Most blogs that were misjudged link mainly across, so that their links speak against them, or have few links, or
# arrived when little was known. These are the mistakes with the most links; ``arrived`` counts from 1. The dataset has
# no names of blogs, only numbers.

mistakes.nlargest(8, "linked")[
    ["node", "arrived", "predicted", "truth", "linked", "across"]
].round(2)

# %%
# More than a vote
# ----------------
# Would it do to let the neighbours vote whose side is known already? Here are both on five orders, as means with a band
# of one standard deviation.

sequences = {
    method: [
        fo.online_node_labeling(G, stream, method=method, seed=0) for stream in streams
    ]
    for method in ("fastonl", "weighted-majority")
}

_, ax = plt.subplots(figsize=(5, 3.8), layout="constrained")
fo.plotting.plot_error_curves(sequences, ax=ax)
plt.show()

# %%
# FastONL is ahead from early on: a neighbour's neighbours count too, and a vote has nothing to say about a blog none of
# whose neighbours is known.
