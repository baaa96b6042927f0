import io

import pytest

from nx_fastonl.cli.formats import TableError
from nx_fastonl.cli.graphs import NamedGraph
from nx_fastonl.cli.label_tables import labels_of, parse_labels, read_labels
from nx_fastonl.cli.render import render
from nx_fastonl.graph.csr import CSRGraph

GRAPH = NamedGraph("g.csv", CSRGraph.from_edges(["a", "b"], ["b", "c"]))
SKIP = "; --unknown skip leaves it out, --unknown add adds it without edges"


def parse(content, name, file_format, graph, **options):
    labels, _ = labels_of(parse_labels(content, name, file_format), graph, **options)
    return labels


@pytest.mark.parametrize(
    ("file_format", "content"),
    [
        ("csv", b"a,x\nb,\nc,y\n"),
        ("csv", b"node,label\na,x\nc,y\n"),
        ("csv", b"\xef\xbb\xbfLabel, Node\r\nx, a\r\ny, c\r\n"),
        ("tsv", b"# known\na\tx\n\nc\ty\n"),
        ("csv", b"node label\na x\nc y\n"),
        ("json", b'{"a": "x", "b": null, "c": "y"}'),
        ("json", b'[{"node": "a", "label": "x"}, {"label": "y", "node": "c"}]'),
    ],
)
def test_forms(file_format, content):
    found = parse(content, "labels", file_format, GRAPH)
    assert list(found.items()) == [("a", "x"), ("c", "y")]


def test_parquet_made_by_pandas(tmp_path):
    pytest.importorskip("pyarrow")
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"node": ["b", "a", "c"], "label": pd.Categorical(["x", None, "y"])}, index=[5, 2, 7])
    frame.to_parquet(tmp_path / "labels.parquet")  # with the index in a column of its own
    labels, _ = labels_of(read_labels(str(tmp_path / "labels.parquet")), GRAPH)
    assert labels == {"b": "x", "c": "y"}


@pytest.mark.parametrize("file_format", ["json", "parquet"])
def test_types_of_labels_are_kept(file_format):
    if file_format == "parquet":
        pytest.importorskip("pyarrow")
    content = render({"node": ["a", "b", "c"], "label": [7, None, 8]}, file_format)
    assert parse(content, "labels", file_format, GRAPH) == {"a": 7, "c": 8}


def test_integers_and_texts_follow_the_graph():
    integers = NamedGraph("g.csv", CSRGraph.from_edge_file(io.BytesIO(b"1 2\n2 3\n")))
    assert list(parse(b'{"3": 0, "1": 1}', "labels", "json", integers)) == [3, 1]
    assert list(parse(b'[{"node": 3, "label": 0}]', "labels", "json", integers)) == [3]
    assert parse(b"3,0\n", "labels", "csv", integers) == {3: "0"}
    texts = NamedGraph("g.csv", CSRGraph.from_edges(["1"], ["x"]))
    assert list(parse(b'[{"node": 1, "label": 0}]', "labels", "json", texts)) == ["1"]


@pytest.mark.parametrize(
    ("file_format", "content", "message"),
    [
        ("csv", b"", "f has no labels"),
        ("csv", b"node,label\n", "f has no labels"),
        ("csv", b"a,\n", "f has no labels"),
        ("csv", b"a,x\nd,y\n", "f, line 2: node 'd' is not in g.csv" + SKIP),
        ("csv", b"id,kind\na,x\n", "f, line 1: node 'id' is not in g.csv; a header should read node, label" + SKIP),
        ("csv", b"a,x\n\na,y\n", "f, line 3: node 'a' is listed twice, first in line 1"),
        ("csv", b"node,class\na,x\n", "f, line 1: columns node, class; expected node, label"),
        ("csv", b"node,label,age\na,x,3\n", "f, line 1: columns node, label, age; expected node, label"),
        ("csv", b"a,x,3\n", "f, line 1: 3 columns (a, x, 3); expected node, label"),
        ("csv", b"a,x\nb\n", "f, line 2: 1 column (b); expected node, label"),
        ("csv", b"a,x\n\xff,y\n", "f, line 2: not text in UTF-8"),
        ("json", b"", "f, line 1: not JSON: Expecting value"),
        ("json", b'{"a": "x",\n "b"}', "f, line 2: not JSON: Expecting ':' delimiter"),
        ("json", b"\xff\xff", "f: not JSON"),
        ("json", b"[" * 100_000, "f: not JSON"),
        ("json", b"{}", "f has no labels"),
        ("json", b"3", 'f, entry 1: expected {"node": ..., "label": ...}, got 3'),
        ("json", b'[["a", "x"]]', 'f, entry 1: expected {"node": ..., "label": ...}, got ["a", "x"]'),
        ("json", b'[{"node": "a"}]', "f, entry 1: columns node; expected node, label"),
        ("json", b"[{}]", "f, entry 1: columns none; expected node, label"),
        ("json", b'{"a": "x", "d": "y"}', "f, entry 2: node 'd' is not in g.csv" + SKIP),
        ("json", b'{"a": "x", "a": "y"}', "f, entry 2: node 'a' is listed twice, first in entry 1"),
        ("json", b'{"a": ["x"]}', "f, entry 1: node 'a' has a label that is not a text, a number, true or false"),
        ("parquet", b"a,x\n", "f: not a Parquet file"),
        (
            "csv",
            b"%s,x\n" % (b"d" * 5_000),
            f"f, line 1: node '{'d' * 119}... (5,002 characters) is not in g.csv; a header should read node, label"
            + SKIP,
        ),
        (
            "csv",
            b"%s,x,y\n" % (b"d" * 5_000),
            f"f, line 1: 3 columns ({'d' * 120}... (5,006 characters)); expected node, label",
        ),
        (
            "json",
            b'[{"%s": 1}]' % (b"d" * 5_000),
            f"f, entry 1: columns {'d' * 120}... (5,000 characters); expected node, label",
        ),
        (
            "json",
            b'{"a": 1, "b": %s}' % (b"1" * 4_301),
            "f, entry 2: node 'b' has a label of 4,301 digits; numbers have up to 4,300, texts stand in quotes",
        ),
        (
            "json",
            b'[{"node": %s, "label": 1}]' % (b"1" * 4_301),
            f"f, entry 1: node '{'1' * 119}... (4,303 characters) is not in g.csv{SKIP}",
        ),
        ("json", b"1" * 4_301, 'f, entry 1: expected {"node": ..., "label": ...}, got [...]'),
        (
            "json",
            b'{"a": "x", "b": "y\\ud800"}',
            r"f, entry 2: node 'b' has a label with half of a character, '\ud800', which cannot be written; "
            "expected both halves",
        ),
        ("json", b'{"\\ud800": "x"}', r"f, entry 1: node '\ud800' is not in g.csv" + SKIP),
        ("json", b'[{"node": null, "label": 1}]', "f, entry 1: no node; expected node, label"),
        (
            "json",
            b'[{"node": "a", "node": "b", "label": 1}]',
            "f, entry 1: columns node, node, label; expected node, label",
        ),
        ("csv", b"a,x\rb,y\r", "f, line 1: a carriage return inside the line; lines end with LF or CR LF"),
    ],
)
def test_what_is_wrong_and_where(file_format, content, message):
    if file_format == "parquet":
        pytest.importorskip("pyarrow")
    with pytest.raises(TableError) as caught:
        parse(content, "f", file_format, GRAPH)
    assert str(caught.value) == message


def test_all_nodes_that_are_not_in_the_graph_are_reported_at_once():
    content = b"a,x\n" + b"".join(b"n%d,y\n" % i for i in range(7)) + b"n3,z\n"
    problem = "f, line 2: this is the first of 7 nodes that are not in g.csv: 'n0', 'n1', 'n2', 'n3', 'n4' and 2 more"
    with pytest.raises(TableError) as caught:
        parse(content, "f", "csv", GRAPH)
    assert str(caught.value) == problem + SKIP.replace(" it ", " them ")


def test_nodes_that_are_not_in_the_graph_are_skipped():
    table = parse_labels(b"d,x\na,y\ne,\n", "f", "csv")
    assert labels_of(table, GRAPH, skip=True) == ({"a": "y"}, ["d", "e"])
    with pytest.raises(TableError, match=r"^f has no labels of nodes in g\.csv$"):
        parse(b"d,x\n", "f", "csv", GRAPH, skip=True)


def test_no_node():
    with pytest.raises(TableError, match=r"^f, line 2: no node; expected node, label$"):
        parse_labels(b"a,x\n,y\n", "f", "csv")


def test_columns_of_parquet():
    pytest.importorskip("pyarrow")
    with pytest.raises(TableError, match=r"^f: columns id, label, age; expected node, label$"):
        parse(render({"id": ["a"], "label": ["x"], "age": [3]}, "parquet"), "f", "parquet", GRAPH)
    with pytest.raises(TableError, match=r"^f, row 2: node 'd' is not in g\.csv; --unknown skip"):
        parse(render({"node": ["a", "d"], "label": [1, 2]}, "parquet"), "f", "parquet", GRAPH)


def test_parquet_that_is_odd():
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")

    def content(names, *columns):
        file = io.BytesIO()
        parquet.write_table(pyarrow.table([pyarrow.array(column) for column in columns], names=names), file)
        return file.getvalue()

    latin = pyarrow.array([b"\xff"]).view(pyarrow.string())
    for table, message in (
        (content(["node", "label"], ["a"], latin), "f: not text in UTF-8"),
        (content(["node", "node", "label"], ["a"], ["b"], ["x"]), "f: columns node, node, label; expected node, label"),
        (content(["node", "label"], [None, "a"], ["x", "y"]), "f, row 1: no node; expected node, label"),
    ):
        with pytest.raises(TableError) as caught:
            parse(table, "f", "parquet", GRAPH)
        assert str(caught.value) == message


def test_whole_characters_and_long_texts():
    found = parse(b'{"a": "\\ud83d\\ude00", "b": "%s"}' % (b"1" * 5_000), "f", "json", GRAPH)
    assert found == {"a": "\U0001f600", "b": "1" * 5_000}
