"""Two threads on two cores: how much faster than one, beside a control that is known to scale.

    python -m tests.benchmarks.bench_threads

Every task is done twice, by one thread after the other and by two threads at once. The ratio is 2 where threads do not
hinder each other at all; hashing, which runs without the GIL and touches little memory, shows what the machine can do.
Needs the graphs of ../shared/data.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np

import nx_fastonl as fo
from tests.benchmarks.bench_online import label_stream
from tests.benchmarks.measure import Table, load, load_labels

ROUNDS = 5


def tasks() -> dict[str, Callable[[], object]]:
    graph, labels = load("pubmed"), load_labels("pubmed")
    stream = label_stream(labels, 0)
    model = fo.OnlineNodeLabeler(graph, method="fastonl").fit(stream[:5000])
    content = bytes(60_000_000)
    sources = np.arange(0, len(graph), 40).tolist()
    return {
        "control: SHA-256 of 60 MB": lambda: hashlib.sha256(content).digest(),
        "rows of PageRank, one graph": lambda: fo.ppr_matrix(graph, sources, epsilon=1e-6),
        "a stream, a model for each thread": lambda: fo.online_node_labeling(graph, stream, method="fastonl"),
        "predictions, one model": lambda: model.predict_many(range(len(graph))),
    }


def main() -> None:
    table = Table("threads", "task", "one after the other, s", "two threads, s", "ratio")
    with ThreadPoolExecutor(2) as pool:
        for name, task in tasks().items():
            task()
            alone, together = [], []
            for _ in range(ROUNDS):
                start = time.perf_counter()
                task()
                task()
                middle = time.perf_counter()
                for running in [pool.submit(task) for _ in range(2)]:
                    running.result()
                alone.append(middle - start)
                together.append(time.perf_counter() - middle)
            table.add(name, min(alone), min(together), min(alone) / min(together))


if __name__ == "__main__":
    main()
