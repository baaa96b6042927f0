"""
Labels that repel
=================

On a market, buyers trade with sellers, and both hire brokers, who compete with each other. Neighbours hardly ever have
the same label. ``method="adaptive"`` finds that out by itself.
"""

import random

import matplotlib.pyplot as plt
import networkx as nx
import nx_fastonl as fo

# Otherwise a warning says that the converted graph is kept, and what then must not change.
nx.config.warnings_to_ignore.add("cache")

# %%
# We make a market of 1,200 members. The matrix says how probable an edge is between a member of one kind and a member
# of another. There are few edges within a kind.

kinds = ["buyer", "seller", "broker"]
sizes = [600, 450, 150]
probabilities = [
    [0.0005, 0.012, 0.010],
    [0.0120, 0.001, 0.012],
    [0.0100, 0.012, 0.000],
]
G = nx.stochastic_block_model(sizes, probabilities, seed=0)
labels = {node: kinds[block] for node, block in G.nodes(data="block")}
same = sum(labels[u] == labels[v] for u, v in G.edges)
print(f"{same} of {G.number_of_edges()} edges join members of the same kind")

# %%
# The members arrive in a random order. FastONL and the vote of the neighbours expect a member to be as its neighbours
# are. They are worse than the most frequent label, which is right half of the time.

stream = random.Random(0).sample(list(labels.items()), len(labels))
models = {
    method: fo.OnlineNodeLabeler(G, method=method, seed=0)
    for method in ("adaptive", "fastonl", "weighted-majority")
}
sequences = {method: model.run(stream) for method, model in models.items()}

_, ax = plt.subplots(figsize=(5, 3.8), layout="constrained")
fo.plotting.plot_error_curves(sequences, ax=ax)
ax.set_xlim(left=10)
plt.show()

# %%
# Who trades with whom?
# ---------------------
# The model has counted the edges between members whose labels it has learned, and compares them with chance.

model = models["adaptive"]
print(model.compatibility)

# %%
# The same as a picture. Purple kinds repel each other, orange ones attract each other.

_, ax = plt.subplots(figsize=(5, 4), layout="constrained")
fo.plotting.plot_compatibility(model, ax)
plt.show()

# %%
# Whom does it trust?
# -------------------
# The model mixes the opinions of several experts, and learns their weights along the stream. "compatibility" asks
# which labels stand beside those of the neighbours. "profile" asks which labels the neighbours' other neighbours have.
# A negative weight means: rather the opposite.

weights = model.weights
_, ax = plt.subplots(figsize=(5, 3), layout="constrained")
ax.barh(list(weights), list(weights.values()), color="#0072B2")
ax.axvline(0, color="black", linewidth=1)
ax.invert_yaxis()
ax.set_xlabel("weight at the end of the stream")
plt.show()
