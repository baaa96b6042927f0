import json

import pytest

from nx_fastonl.cli.formats import FORMATS, TableError
from nx_fastonl.cli.graphs import NamedGraph
from nx_fastonl.cli.label_tables import labels_of, read_labels
from nx_fastonl.cli.render import render
from nx_fastonl.graph.csr import CSRGraph
from tests.cli.helpers import read, write


@pytest.mark.parametrize("file_format", FORMATS)
def test_what_is_written_can_be_read(file_format, tmp_path):
    names = ["a,b", 'say "x"', "#hash", "tab\tin", "two\nlines", "Žofia", "5"]
    labels = ["#1", '"', "x, y", "a\t.", "a\nb", "é", "5"]
    if file_format == "parquet":
        pytest.importorskip("pyarrow")
    edges = {"source": names, "target": [*names[1:], "end"]}
    write(tmp_path / "edges.csv", edges)
    graph = NamedGraph("edges.csv", CSRGraph.from_edge_file(tmp_path / "edges.csv"))
    path = tmp_path / f"labels.{file_format}"
    write(path, {"node": names, "label": labels})
    assert labels_of(read_labels(str(path)), graph) == (dict(zip(names, labels, strict=True)), [])


@pytest.mark.parametrize("file_format", ["json", "parquet"])
def test_types_and_gaps_are_kept(file_format, tmp_path):
    columns = {"node": [1, 2], "predicted": [None, "x"], "probability": [0.1, 1 / 3], "correct": [True, False]}
    path = tmp_path / f"t.{file_format}"
    if file_format == "parquet":
        pytest.importorskip("pyarrow")
    write(path, columns)
    assert read(path) == columns


def test_text():
    columns = {"node": [1, 2], "predicted": [None, "x"], "probability": [0.1, 1 / 3]}
    assert render(columns, "csv") == f"node,predicted,probability\n1,,0.1\n2,x,{1 / 3}\n".encode()
    assert render(columns, "tsv") == f"node\tpredicted\tprobability\n1\t\t0.1\n2\tx\t{1 / 3}\n".encode()


def test_empty():
    assert render({"node": [], "value": []}, "csv") == b"node,value\n"
    assert json.loads(render({"node": [], "value": []}, "json")) == []


@pytest.mark.parametrize("values", [[10**30], [1, "x"]])
def test_a_column_that_parquet_cannot_hold_is_named(values):
    pytest.importorskip("pyarrow")
    with pytest.raises(TableError, match=r"^Parquet cannot hold column node \(.*\); csv and json can$"):
        render({"node": values}, "parquet")


@pytest.mark.parametrize("file_format", ["csv", "tsv", "json", "parquet"])
def test_half_of_a_character_is_refused(file_format):
    if file_format == "parquet":
        pytest.importorskip("pyarrow")
    with pytest.raises(TableError) as caught:
        render({"node": ["a", "b"], "label": ["x", "y\ud800"]}, file_format)
    assert str(caught.value) == r"row 2, column label: 'y\ud800' has half of a character, which cannot be written"
