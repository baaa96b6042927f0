"""
Handwritten digits, one at a time
=================================

Images of digits arrive one by one. Each is labelled by its place among the images that look like it and came before;
then its true label is revealed.
"""

import random

import matplotlib.pyplot as plt
import nx_fastonl as fo
from sklearn.datasets import load_digits

# %%
# The graph joins each of scikit-learn's 1,797 digits to those that look most like it. Mistakes depend on the order of
# arrival, so there are several random ones here.

digits = fo.datasets.load_digits_graph()
labels = list(digits.labels.items())
streams = [random.Random(seed).sample(labels, len(labels)) for seed in range(5)]

# %%
# One call runs a whole stream: it predicts the label of a node, learns the true one, and goes on to the next. Here are
# four methods on the same streams: FastONL as one diffusion, FastONL with a push for each node as in the paper, and two
# simpler methods to compare with. The lines are means over the streams, the bands one standard deviation. With ten
# digits to discover, the first few nodes are mostly wrong; the picture begins with the tenth.

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
# The two forms of FastONL are close to each other, and ahead of the others most of all while few labels are known.
#
# When does it err?
# -----------------
# Most often at the beginning, while the labels known are few and far between. Take the first stream and count the
# mistakes in each tenth of it.

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
# The last mistakes tell more about the images, as by then nearly all others were known. A node's number is that of
# its image in scikit-learn.

frame = sequence.to_pandas()
last_mistakes = frame[~frame.correct].tail(8)
images = load_digits().images

_, axes = plt.subplots(2, 4, figsize=(5, 3.2), layout="constrained")
for ax, mistake in zip(axes.flat, last_mistakes.itertuples(), strict=True):
    ax.imshow(images[mistake.node], cmap="gray_r")
    ax.set_title(f"read {mistake.predicted}, is {mistake.truth}", fontsize="medium")
    ax.set_axis_off()
plt.show()
