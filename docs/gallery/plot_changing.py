"""
A graph that changes
====================

The members of a forum talk to each other, mostly within their circle. They sign up, and later some of them move from
one circle to another. Who belongs where today? A model is asked all the time, while edges come and go.
"""

import random

import matplotlib.pyplot as plt
import numpy as np
import nx_fastonl as fo

# %%
# We make up what happens in 8,000 steps. In each of the first 300 steps a member signs up, with two contacts. Then
# somebody talks to somebody else in every step, four times out of five within the same circle. From step 3,000 on, a
# member moves to another circle now and then: its old contacts stay, its new ones are elsewhere.
#
# Every contact is an event with a time. Then comes a question: to which circle does this member belong? One member in
# five tells us afterwards.

circles = ["chess", "music", "cooking", "cycling"]
steps, members, first_move = 8_000, 300, 3_000


def events(truth):
    """What happens; the true answer to every question is added to `truth`."""
    draw = random.Random(0)
    circle_of = {}

    def contact(member, step):
        mates = [
            other for other, circle in circle_of.items() if circle == circle_of[member]
        ]
        other = draw.choice(mates if draw.random() < 0.8 else list(circle_of))
        return "edge", member, other, None, step

    for step in range(steps):
        if step < members:
            member = step
            circle_of[member] = draw.choice(circles)
            yield contact(member, step)
        else:
            member = draw.randrange(members)
        if step >= first_move and draw.random() < 0.05:
            circle_of[draw.randrange(members)] = draw.choice(circles)
        yield contact(member, step)
        truth.append(circle_of[member])
        yield "question", member, step
        if draw.random() < 0.2:
            yield "label", member, circle_of[member]


# %%
# :func:`~nx_fastonl.replay` applies the events to an empty :class:`~nx_fastonl.DynamicGraph` and yields the answers.
# For the first model, every contact stays. For the second one, contacts leave after 1,000 steps.

curves = {}
for name, window in {"all contacts": None, "the last 1,000 steps": 1_000}.items():
    truth = []
    stream = fo.replay(events(truth), window=window)
    right = np.equal([answer.predicted for answer in stream], truth)
    curves[name] = np.convolve(right, np.full(400, 1 / 400), mode="valid")
    print(
        f"{name}: {right[first_move:].mean():.1%} right since the first move; {stream.graph}"
    )

# %%
# As long as everybody stays, both are right nearly always. Then old contacts mislead: they lead to the circle in which
# a member used to be.

_, ax = plt.subplots(figsize=(6, 3.8), layout="constrained")
for (name, curve), color in zip(curves.items(), ["#D55E00", "#0072B2"], strict=True):
    ax.plot(np.arange(399, steps), curve, color=color, label=name)
ax.axvline(first_move, color="0.5", linestyle="--", linewidth=1)
ax.annotate(
    "members begin to move",
    (first_move, 0.72),
    xytext=(-5, 0),
    textcoords="offset points",
    ha="right",
)
ax.set_ylim(0.7, 1.01)
ax.set_xlabel("step")
ax.set_ylabel("fraction right, last 400 answers")
ax.legend(loc="lower right")
plt.show()
