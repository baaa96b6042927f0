"""
The sides of political blogs
============================

Blogs on politics mostly link to blogs of their own side. Is that enough to predict the side of each blog, one after
the other?
"""

import random

import matplotlib.pyplot as plt
import networkx as nx
import numpy as np
import nx_fastonl as fo
from sklearn.decomposition import PCA

# %%
# The blogs are those of L. Adamic and N. Glance, *The political blogosphere and the 2004 US election*. An edge joins
# two blogs if one links to the other. The dataset is downloaded once. Its labels are numbers: 0 is left or liberal, 1
# is right or conservative.

# Otherwise a warning says that the converted graph is kept, and what then must not change.
nx.config.warnings_to_ignore.add("cache")

blogs = fo.datasets.fetch_political_blogs(as_networkx=True)
G = blogs.graph
sides = {blog: ["left", "right"][label] for blog, label in blogs.labels.items()}

# %%
# The mistakes, on a map
# ----------------------
# Blogs arrive in random order. The side of each blog is predicted from the links and from the sides of the blogs
# before it.

labels = list(sides.items())
streams = [random.Random(seed).sample(labels, len(labels)) for seed in range(5)]
sequence = fo.online_node_labeling(G, streams[0])

# %%
# A spring layout takes long for so many links. Instead, we use the first two principal components of personalised
# PageRank. They put blogs with similar PageRank close together. The square root keeps a few large values from
# dominating the map.

pagerank = fo.ppr_matrix(G).toarray()
places = PCA(2, random_state=0).fit_transform(np.sqrt(pagerank))
pos = dict(zip(G, places, strict=True))

_, ax = plt.subplots(figsize=(5.5, 4.6), layout="constrained")
fo.plotting.plot_labels(G, sequence, pos=pos, ax=ax)
plt.show()

# %%
# The colours are the predictions. Each was made when its blog arrived. The first blog has no prediction, because no
# side was known.
#
# Who was misjudged?
# ------------------
# For each blog, we count the blogs that it is linked with, and compute the fraction of them on the other side.


def across(blog):
    return float(np.mean([sides[other] != sides[blog] for other in G[blog]]))


frame = sequence.to_frame()
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
ax.set_ylabel("fraction of them on the other side")
ax.legend()
plt.show()

# %%
# Most of the mistakes are of three kinds. The blog links mainly to the other side, or it has few links, or it arrived
# when few labels were known. The table shows the mistakes with the most links. ``arrived`` counts from 1. The dataset
# has numbers instead of names.

mistakes.nlargest(8, "linked")[
    ["node", "arrived", "predicted", "truth", "linked", "across"]
].round(2)

# %%
# More than a vote
# ----------------
# A simpler method lets the neighbours vote whose side is already known. Is it as good? Here are both methods on five
# orders, as means with a band of one standard deviation.

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
# FastONL is ahead from early on, for two reasons. It also uses the neighbours of the neighbours. And a vote says
# nothing about a blog if no side of its neighbours is known.
