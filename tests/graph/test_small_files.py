"""Small files that stand for much: they are read in bounded memory, or refused."""

import gzip
import json
import subprocess
import sys

import numpy as np
import pytest

import nx_fastonl as fo

pa = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

# What a process may take beyond the packages that it has loaded.
MOST_MEMORY = 600 << 20
LONG = "x" * 10_000
ROWS = 1 << 18

READ = """
import json, resource, sys, warnings
import pyarrow.parquet
import nx_fastonl as fo
from nx_fastonl.cli.label_tables import read_labels
from nx_fastonl.labeling.eventfile import read_events
path, what = sys.argv[1:]
call = {
    "edges": lambda: fo.CSRGraph.from_edge_file(path).number_of_nodes(),
    "events": lambda: sum(1 for _ in read_events(path)),
    "labels": lambda: len(read_labels(path).rows),
}[what]
fo.CSRGraph.from_edges([0], [1])
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
try:
    found = call()
except ValueError as error:
    found = str(error)
print(json.dumps([found, 1024 * (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)]))
"""


def read(path, what="edges"):
    """What is found in a file, or the error, and the memory that this took."""
    pytest.importorskip("resource", reason="POSIX")
    command = [sys.executable, "-c", READ, str(path), what]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, timeout=100).stdout)


def table_of(rows, **columns):
    """A table in which each column is one value in all rows, or an array."""
    return pa.table(
        {
            name: values
            if isinstance(values, np.ndarray)
            else pa.DictionaryArray.from_arrays(pa.array(np.zeros(rows, np.int32)), [values])
            for name, values in columns.items()
        }
    )


@pytest.mark.parametrize("is_plain", [False, True], ids=["categories", "texts"])
@pytest.mark.parametrize(
    ("what", "columns"),
    [
        ("edges", {"source": "a", "target": LONG}),
        ("events", {"event": "node", "node": LONG}),
        ("labels", {"node": np.arange(ROWS), "label": LONG}),
    ],
    ids=["edges", "events", "labels"],
)
def test_long_texts_of_parquet(what, columns, is_plain, tmp_path):
    path = tmp_path / "table.parquet"
    parquet.write_table(table_of(ROWS, **columns), path, store_schema=not is_plain, compression="zstd")
    assert path.stat().st_size < 3_000_000
    found, memory = read(path, what)
    assert memory < MOST_MEMORY
    if what != "labels":
        assert "200 times" in found


def test_a_page_of_long_texts(tmp_path):
    path = tmp_path / "table.parquet"
    table = pa.table({"source": ["a"] * 50_000, "target": [LONG] * 50_000})
    options = {"use_dictionary": False, "compression": "zstd", "data_page_size": 1 << 30}
    parquet.write_table(table, path, **options)
    found, memory = read(path)
    assert memory < MOST_MEMORY
    assert "200 times" in found


def test_many_equal_rows_of_parquet(tmp_path):
    path = tmp_path / "table.parquet"
    zeros = np.zeros(1 << 24, dtype=np.int64)
    parquet.write_table(pa.table({"source": zeros, "target": zeros}), path)
    found, memory = read(path)
    assert memory < MOST_MEMORY
    assert "200 times" in found


@pytest.mark.parametrize("name", ["edges.csv.gz", "events.jsonl.gz"])
def test_many_equal_lines(name, tmp_path):
    what = name.partition(".")[0]
    line = b"1 2\n" if what == "edges" else b'{"event": "time"}\n'
    with gzip.open(tmp_path / name, "wb") as file:
        for _ in range(100):
            file.write((1 << 20) // len(line) * line)
    found, memory = read(tmp_path / name, what)
    assert memory < MOST_MEMORY
    assert "200 times" in found
    assert "unpack it first" in found


def test_a_line_without_an_end(tmp_path):
    with gzip.open(tmp_path / "events.jsonl.gz", "wb") as file:
        for _ in range(1000):
            file.write(bytes(1 << 20))
    found, memory = read(tmp_path / "events.jsonl.gz", "events")
    assert memory < MOST_MEMORY
    assert "200 times" in found


def test_repeated_texts_are_read_if_the_file_is_not_small_beside_them(tmp_path):
    """In batches of few rows, since there is one long name."""
    rows = 3_000
    names = np.array([LONG * 100, *map(str, range(rows - 1))], dtype=object)
    parquet.write_table(pa.table({"source": names, "target": np.roll(names, 1)}), tmp_path / "table.parquet")
    graph = fo.CSRGraph.from_edge_file(tmp_path / "table.parquet")
    assert set(graph) == set(names)
