"""Processes that are forked while rows are read and written: a script, since only one thread may fork.

``python -m tests.batch.forked_jobs FOLDER`` prints the exit codes of two children. One reads a matrix whose lock a
thread of its parent holds. The other is forked while a shard is written, and leaves by an exception.
"""

import os
import signal
import sys
import threading
from pathlib import Path

import networkx as nx

import nx_fastonl as fo
from nx_fastonl.batch import jobs

PATIENCE = 60  # seconds, until a child counts as hanging


def exit_code_of(child):
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def read_in_a_child(path):
    matrix = fo.ppr_matrix(nx.path_graph(9), top_k=3, out=path, rows_per_shard=3)
    held, leave = threading.Event(), threading.Event()

    def hold():
        with matrix._lock:
            held.set()
            leave.wait(PATIENCE)

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait(PATIENCE)
    child = os.fork()
    if child == 0:
        signal.alarm(PATIENCE)
        os._exit(len(matrix.row(4)))
    code = exit_code_of(child)
    leave.set()
    thread.join()
    return code


def fork_amid_a_shard(path):
    original, codes = jobs.write_folder, []

    def fork(*given):
        original(*given)
        if not codes:
            child = os.fork()
            if child == 0:
                sys.exit(7)
            codes.append(exit_code_of(child))

    G = nx.path_graph(9)
    jobs.write_folder = lambda *given, **options: fork(*given) if not options else original(*given, **options)
    try:
        rows = fo.ppr_matrix(G, top_k=3, out=path, rows_per_shard=3).to_scipy()
    except SystemExit:
        os._exit(7)
    assert (rows != fo.ppr_matrix(G, top_k=3)).nnz == 0
    return codes[0]


if __name__ == "__main__":
    place = Path(sys.argv[1])
    sys.stdout.write(f"{read_in_a_child(place / 'read')} {fork_amid_a_shard(place / 'written')}")
