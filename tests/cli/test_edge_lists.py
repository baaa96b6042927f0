import io

import pytest

from nx_fastonl.cli.edge_lists import parse_graph
from nx_fastonl.cli.formats import TableError
from tests.cli.helpers import edges_of


@pytest.mark.parametrize("separator", [",", "\t", " ", "   ", ", ", " \t"])
@pytest.mark.parametrize("header", ["", "source{}target\n", "Source{}Target\n"])
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_separators_headers_and_line_ends(separator, header, newline):
    text = (header.format(separator) + f"a{separator}b\nb{separator}c\n").replace("\n", newline)
    found = parse_graph(io.BytesIO(text.encode()), "graph")
    assert found.graph.nodes == ("a", "b", "c")
    assert edges_of(found.graph) == {frozenset("ab"): 1.0, frozenset("bc"): 1.0}


@pytest.mark.parametrize("header", ["", "source,target,weight\n"])
def test_weights(header):
    found = parse_graph(io.BytesIO(f"{header}a,b,0.5\nb,c,2e3\nc,d,0\n".encode()), "graph")
    assert edges_of(found.graph) == {frozenset("ab"): 0.5, frozenset("bc"): 2e3}
    assert "d" in found.graph


def test_comments_and_empty_lines():
    found = parse_graph(io.BytesIO(b"\n# source,target,capacity\n\na b\n  # c d\n \t\nb c"), "graph")
    assert found.graph.nodes == ("a", "b", "c")


def test_mark_of_the_encoding_and_other_alphabets():
    assert parse_graph(io.BytesIO("\ufeffsource,target\nÅse,Žofia\n".encode()), "graph").graph.nodes == (
        "Åse",
        "Žofia",
    )


def test_quoted_names():
    content = b'"#a, b","say ""x"""\n"two\n# lines",c\n'
    assert parse_graph(io.BytesIO(content), "graph").graph.nodes == ("#a, b", 'say "x"', "two\n# lines", "c")


def test_repeated_edges_add_up():
    lines = b"a b\nb a\nb c\n"
    assert edges_of(parse_graph(io.BytesIO(lines), "graph").graph) == {frozenset("ab"): 2.0, frozenset("bc"): 1.0}
    directed = parse_graph(io.BytesIO(lines), "graph", directed=True).graph
    assert sorted(directed.to_networkx().edges) == [("a", "b"), ("b", "a"), ("b", "c")]


@pytest.mark.parametrize(
    ("content", "nodes"),
    [
        (b"10 -2\n-2 0\n", (10, -2, 0)),
        (b"1 2\n2 x\n", ("1", "2", "x")),
        (b"01 02\n02 3\n", ("01", "02", "3")),
        (b"1_0 +2\n", ("1_0", "+2")),
        (b"source,target\nleft,right\n1,2\n", ("left", "right", "1", "2")),
        (b"1 -%s\n" % (b"1" * 4_300), (1, -int("1" * 4_300))),
        (b"x %s\n" % (b"1" * 4_301), ("x", "1" * 4_301)),
    ],
)
def test_names_are_integers_if_all_are(content, nodes):
    found = parse_graph(io.BytesIO(content), "graph")
    assert found.graph.nodes == nodes
    assert found.integers == isinstance(nodes[0], int)
    assert found.node("2") == (2 if found.integers else "2")
    assert found.node("2" * 4_301) == "2" * 4_301  # no node of the graph


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "g.csv has no edges"),
        (b"# nothing\n\n", "g.csv has no edges"),
        (b"source,target\n", "g.csv has no edges"),
        (b"a b\nc\n", "g.csv, line 2: 1 column, but 2 in the first line"),
        (b"# two\na,b\n\na,b,1\n", "g.csv, line 4: 3 columns, but 2 in the first line"),
        (b"a b c d\n", "g.csv, line 1: 4 columns; expected two nodes and, optionally, a weight"),
        (b"abc\n", "g.csv, line 1: 1 column; expected two nodes"),
        (b"a,b\na,\n", "g.csv, line 2: column 2 is empty"),
        (b"a,b,heavy\n", "g.csv, line 1: the weight must be a number, got 'heavy'"),
        (b"a,b,1\nb,c,-1\n", "g.csv, line 2: the weight must be 0 or lie between 1e-100 and 1e+100, got -1"),
        (b"a,b,nan\n", "g.csv, line 1: the weight must be 0 or lie between 1e-100 and 1e+100, got nan"),
        (b"a,b,1e300\n", "g.csv, line 1: the weight must be 0 or lie between 1e-100 and 1e+100, got 1e300"),
        (b"source,target,capacity\n", "line 1: columns source, target, capacity; expected source, target and, opt"),
        (b"target,source\na,b\n", "g.csv, line 1: columns target, source; expected source, target"),
        (b"begin,end\n1,2\n2,3\n", "g.csv: begin, end looks like a header, which should read source, target"),
        (b"a,b\n\xff\xfe\n", "g.csv, line 2: not text in UTF-8"),
        (b'a,b\n"c,d\ne,f\n', "g.csv, line 2: unexpected end of data"),
        (b'a,b\n"c"d,e\n', "g.csv, line 2: "),
        (
            b"# long\n1,2\n2,%s\n" % (b"1" * 4_301),
            "g.csv, line 3: a node of 4,301 digits; where all nodes are integers, they have up to 4,300",
        ),
        (b"1 2\n-%s 2\n" % (b"1" * 5_000), "g.csv, line 2: a node of 5,000 digits; where all nodes are integers"),
        (b"1,2,%s\n" % (b"1" * 5_000), f"between 1e-100 and 1e+100, got {'1' * 120}... (5,000 characters)"),
        (b"1,2,%s\n" % (b"x" * 5_000), f"the weight must be a number, got '{'x' * 119}... (5,002 characters)"),
        (
            b"source,%s\n" % (b"x" * 5_000),
            f"columns source, {'x' * 112}... (5,008 characters); expected source, target",
        ),
        (b"%s,end\n1,2\n" % (b"x" * 5_000), f"g.csv: {'x' * 120}... (5,005 characters) looks like a header"),
        (b"a,b\rb,c\r", "g.csv, line 1: a carriage return inside the line; lines end with LF or CR LF"),
        (b"# old\na b\rb c\r", "g.csv, line 2: a carriage return inside the line; lines end with LF or CR LF"),
        ("a,b\nb,c\n".encode("utf-16-le"), "g.csv, line 1: a NUL character; expected text in UTF-8"),
    ],
)
def test_what_is_wrong_and_where(content, message):
    with pytest.raises(TableError) as caught:
        parse_graph(io.BytesIO(content), "g.csv")
    assert message in str(caught.value)


@pytest.mark.parametrize("header", ["from,to", "SRC,DST", "u\tv", "source target"])
def test_headers_by_other_names(header):
    separator = "\t" if "\t" in header else "," if "," in header else " "
    lines = [header.encode(), separator.join("ab").encode()]
    assert list(parse_graph(lines, "g").graph) == ["a", "b"]


def test_carriage_returns_in_quotes():
    assert list(parse_graph([b'"a\rb",c\r\n', b"c,d\r\n"], "g").graph) == ["a\rb", "c", "d"]
