"""Processes that append to one journal, and are killed: run as a script, since only a process without threads may fork.

``python -m tests._lib.killed_appenders FILE 200`` kills 200 processes at random moments. Each appends records with
``sync="always"``, cuts some, and reports over a pipe what it was told. It prints how many records were acknowledged and
how many of the processes had acknowledged any.
"""

import os
import random
import struct
import sys
import time
from pathlib import Path

from nx_fastonl._lib.journal import Journal
from tests.killing import kill_at_random

NUMBER = struct.Struct("<q")
ROUNDS = 5  # that a process has time for, at most


def payload_of(value):
    return NUMBER.pack(value) * (1 + value % 700)


def append_and_report(path, pipe, rounds=1 << 40):
    """Append the numbers that follow the last one, singly, in threes, and with one that is taken back."""
    with Journal.open(path, sync="always") as journal:
        for value in range(journal.n_records, 4 * rounds, 4):
            journal.append(payload_of(value))
            os.write(pipe, NUMBER.pack(value))
            journal.cut(journal.append(b"taken back"))
            journal.append_many(map(payload_of, range(value + 1, value + 4)))
            os.write(pipe, NUMBER.pack(value + 3))


def latest_of(pipe):
    """The last number that was acknowledged; -1 if there is none."""
    content = b""
    while block := os.read(pipe, 1 << 16):
        content += block
    return NUMBER.unpack_from(content, len(content) - NUMBER.size)[0] if content else -1


def values_in(path):
    """The numbers in a journal that has only whole records; the last may be one that was to be taken back."""
    with Journal.open(path) as journal:
        found = list(journal.records())
        if found and found[-1] == b"taken back":
            del found[-1]
            journal.cut(journal.n_bytes - 12 - len(b"taken back"))
        values = [NUMBER.unpack_from(payload)[0] for payload in found]
        assert found == list(map(payload_of, values))
        assert journal.n_records == len(values)
    return values


def kill_appenders(path, kills):
    draw = random.Random(1)
    for each in (timed := path.with_name("timed"), path):
        Journal.create(each, b"killed").close()
    with Path(os.devnull).open("wb") as nobody:
        start = time.perf_counter()
        append_and_report(timed, nobody.fileno(), ROUNDS)
        longest = time.perf_counter() - start
    acknowledged = active = 0
    for _ in range(kills):
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            append_and_report(path, writer)
        os.close(writer)
        kill_at_random(child, reader, draw, longest)
        latest = latest_of(reader)
        os.close(reader)
        values = values_in(path)
        assert values == list(range(len(values))), "a record is missing or there twice"
        assert len(values) > latest, f"{latest} was acknowledged, the last one found is {len(values) - 1}"
        acknowledged, active = max(acknowledged, latest + 1), active + (latest >= 0)
    return acknowledged, active


if __name__ == "__main__":
    sys.stdout.write(" ".join(map(str, kill_appenders(Path(sys.argv[1]), int(sys.argv[2])))))
