import csv
import io
import json
import sys

import networkx as nx
import pytest

import nx_fastonl as fo
from nx_fastonl.cli.formats import SEPARATORS
from nx_fastonl.cli.render import render

PROGRAM = [sys.executable, "-W", "error", "-m", "nx_fastonl"]
KNOWN = {0: "Mr. Hi", 1: "Mr. Hi", 32: "Officer", 33: "Officer"}


def write(path, columns, file_format=None):
    path.write_bytes(render(columns, file_format or path.suffix[1:]))


def read(path, file_format=None):
    """A table that was written, as columns of Python objects; in CSV and TSV all are texts."""
    file_format, content = file_format or path.suffix[1:], path.read_bytes()
    if file_format == "json":
        rows = json.loads(content)
    elif file_format == "parquet":
        rows = pytest.importorskip("pyarrow.parquet").read_table(io.BytesIO(content)).to_pylist()
    else:
        rows = list(csv.DictReader(io.StringIO(content.decode()), delimiter=SEPARATORS[file_format]))
    return {name: [row[name] for row in rows] for name in rows[0]}


def reference(folder, weight="weight"):
    """The graph of the files with its nodes in the same order, made by NetworkX and scipy only."""
    G = nx.read_weighted_edgelist(folder / "weighted.txt", nodetype=int)
    nodes = sorted(G)
    return fo.CSRGraph.from_scipy(nx.to_scipy_sparse_array(G, nodes, weight=weight, format="csr"), nodes=nodes)


def assert_fails(found, message, code=1):
    assert (found.returncode, found.stdout) == (code, "")
    assert found.stderr.splitlines() == [f"nx-fastonl: {message}"]
