"""
Handwritten digits, one at a time
=================================

Images of digits arrive one by one. The label of each image is predicted from the similar images that came before.
Then its true label is revealed.
"""

import random

import matplotlib.pyplot as plt
import nx_fastonl as fo
from sklearn.datasets import load_digits

# %%
# The graph joins each of scikit-learn's 1,797 digits to the digits that look most like it. The number of mistakes
# depends on the order of arrival, so we use several random orders.

digits = fo.datasets.load_digits_graph()
labels = list(digits.labels.items())
streams = [random.Random(seed).sample(labels, len(labels)) for seed in range(5)]

# %%
# One call runs a whole stream. It predicts the label of a node, learns the true label, and goes on to the next node.
# We compare four methods on the same streams: FastONL as one diffusion, FastONL with a push for each node as in the
# paper, and two simpler methods. The lines are means over the streams. The bands are one standard deviation. The ten
# digits must first be discovered, so the first few predictions are mostly wrong. The picture begins with the tenth
# node.

methods = ["fastonl", "fastonl-fifo", "weighted-tree", "weighted-majority"]
sequences = {
    method: [
        fo.online_node_labeling(digits.graph, stream, method=method, seed=0)
        for stream in streams
    ]
    for method in methods
}

_, ax = plt.subplots(figsize=(5, 3.8), layout="constrained")
fo.plotting.plot_error_curves(sequences, ax=ax)
ax.set_xlim(left=10)
plt.show()

# %%
# The two forms of FastONL are close to each other. They are ahead of the other methods, most of all while few labels
# are known.
#
# When does it err?
# -----------------
# Most often at the beginning, while few labels are known. We take the first stream and count the mistakes in each
# tenth of it.

sequence = sequences["fastonl"][0]
tenth = len(sequence) / 10
mistakes = [sequence[round(i * tenth) : round((i + 1) * tenth)].mistakes for i in range(10)]

_, ax = plt.subplots(figsize=(5, 3.2), layout="constrained")
ax.bar(range(1, 11), mistakes, color="#0072B2")
ax.set_xticks(range(1, 11))
ax.set_xlabel("tenth of the stream")
ax.set_ylabel("mistakes")
ax.set_title(
    f"{mistakes[0] / sequence.mistakes:.0%} of the mistakes are in the first tenth",
    fontsize="medium",
)
plt.show()

# %%
# What was hard?
# --------------
# The last mistakes say more about the images, because by then nearly all other labels were known. The number of a
# node is the number of its image in scikit-learn.

frame = sequence.to_frame()
last_mistakes = frame[~frame.correct].tail(8)
images = load_digits().images

_, axes = plt.subplots(2, 4, figsize=(5, 3.2), layout="constrained")
for ax, mistake in zip(axes.flat, last_mistakes.itertuples(), strict=True):
    ax.imshow(images[mistake.node], cmap="gray_r")
    ax.set_title(f"read {mistake.predicted}, is {mistake.truth}", fontsize="medium")
    ax.set_axis_off()
plt.show()
