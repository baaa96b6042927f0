"""Files of edges, as they are found: read rightly, or refused with the line and the option that helps."""

import bz2
import gzip
import io
import lzma
import re
import sys
import warnings
from itertools import pairwise

import networkx as nx
import numpy as np
import pyarrow as pa
import pytest
import scipy.io
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from pyarrow import parquet
from scipy import sparse

import nx_fastonl as fo
from nx_fastonl._lib import streams
from nx_fastonl.graph import edgeblocks, edgefile, edgeparquet
from nx_fastonl.graph._edgefile import EdgeTokenizer, LineError
from nx_fastonl.graph._gathered import INTEGERS_PER_EDGE, GatheredEdges
from nx_fastonl.graph.names import IntegerNames, TextNames
from tests import oracles


def read(content, **options):
    return fo.CSRGraph.from_edge_file(io.BytesIO(content), **options)


def edges_of(graph):
    """{(source, target): weight}, an undirected edge once."""
    return {(u, v): data.get("weight", 1) for u, v, data in graph.to_networkx().edges(data=True)}


PATH = {(0, 1): 1, (1, 2): 1}
LETTERS = {("a", "b"): 1, ("b", "c"): 1}
SNAP = b"# Undirected graph: com-x\n# Nodes: 3 Edges: 2\n# FromNodeId\tToNodeId\n0\t1\n1\t2\n"
KONECT = b"% sym weighted\n% 2 3 3\n1 2 4 1082040961\n2 3 1 1082040962\n"
LONG = "x" * 10**6

# Each ordinary file, with options if it needs them, and its edges; with a header that was guessed, its edges come with
# a warning.
ORDINARY = {
    "blanks": (b"0 1\n1 2\n", {}, PATH),
    "blanks and tabs, no end of line": (b"  0 \t1\n\n1   2  ", {}, PATH),
    "SNAP": (SNAP, {}, PATH),
    "SNAP, Windows": (SNAP.replace(b"\n", b"\r\n"), {}, PATH),
    "SNAP, gz": (gzip.compress(SNAP), {}, PATH),
    "SNAP, bz2": (bz2.compress(SNAP), {}, PATH),
    "SNAP, xz": (lzma.compress(SNAP), {}, PATH),
    "SNAP, gz in two parts": (gzip.compress(SNAP[:90]) + gzip.compress(SNAP[90:]), {}, PATH),
    "SNAP, sparse integers": (b"# x\n30\t1004\n1004\t7\n", {}, {(30, 1004): 1, (7, 1004): 1}),
    "KONECT": (KONECT, {}, {(1, 2): 4, (2, 3): 1}),
    "KONECT, unweighted": (b"% asym unweighted\n1 2\n2 3\n", {"directed": True}, {(1, 2): 1, (2, 3): 1}),
    "Matrix Market": (
        b"%%MatrixMarket matrix coordinate pattern symmetric\n% x\n4 4 2\n2 1\n3 2\n",
        {},
        {(1, 2): 1, (2, 3): 1},
    ),
    "Matrix Market, general": (
        b"%%MatrixMarket matrix coordinate real general\n2 2 2\n1 2 0.5\n2 1 0.5\n",
        {},
        {(1, 2): 0.5},
    ),
    "Matrix Market, symmetric as arcs": (
        b"%%MatrixMarket matrix coordinate real symmetric\n3 3 2\n2 1 0.5\n3 3 2\n",
        {"directed": True},
        {(1, 2): 0.5, (2, 1): 0.5, (3, 3): 2},
    ),
    "Matrix Market, directed": (
        b"%%MatrixMarket matrix coordinate integer general\n2 2 1\n1 2 5\n",
        {"directed": True},
        {(1, 2): 5},
    ),
    "CSV": (b"source,target\n0,1\n1,2\n", {}, PATH),
    "CSV, weights": (b"u,v,w\n0,1,2.5\n1,2,1e-3\n", {}, {(0, 1): 2.5, (1, 2): 0.001}),
    "CSV, quotes": (
        b'"from","to"\r\n"a, ""b""","c\nd"\r\n"c\nd", e \r\n',
        {},
        {('a, "b"', "c\nd"): 1, ("c\nd", "e"): 1},
    ),
    "CSV, byte order mark": (b"\xef\xbb\xbfSource,Target\r\na,b\r\nb,c\r\n", {}, LETTERS),
    "CSV, columns in any order": (b"time,dst,value,src\n99,1,2,0\n99,2,3,1\n", {}, {(0, 1): 2, (1, 2): 3}),
    "CSV, an index of pandas": (b",source,target\n0,a,b\n1,b,c\n", {}, LETTERS),
    "CSV, chosen columns": (
        b"id,boss,worker,years\n9,a,b,2\n8,b,c,5\n",
        {"columns": ("boss", "worker", "years")},
        {("a", "b"): 2, ("b", "c"): 5},
    ),
    "four columns, by number": (b"0 9 1 x\n1 9 2 y\n", {"columns": (0, 2)}, PATH),
    "times, ignored": (b"0 1 1082040961\n1 2 1082040962\n", {"columns": (0, 1)}, PATH),
    "semicolons": (b"0;1;0.5\n1;2;1\n", {}, {(0, 1): 0.5, (1, 2): 1}),
    "bars": (b"a|b\nb|c\n", {}, LETTERS),
    "texts with blanks between tabs": (b"a x\tb x\nb x\tc\n", {}, {("a x", "b x"): 1, ("b x", "c"): 1}),
    "Unicode": ("José,Zoë\nZoë,林\n".encode(), {}, {("José", "Zoë"): 1, ("Zoë", "林"): 1}),
    "integers, then a text": (b"7 8\n8 007\n", {}, {("7", "8"): 1, ("8", "007"): 1}),
    "integers of 64 bits": (b"-3 9000000000\n9000000000 1\n", {}, {(-3, 9000000000): 1, (1, 9000000000): 1}),
    "integers beyond 64 bits": (b"9223372036854775808 1\n", {}, {("9223372036854775808", "1"): 1}),
    "an edge twice": (b"a b 2\nb a 3\na c 1\n", {}, {("a", "b"): 5, ("a", "c"): 1}),
    "weights of 0": (b"a b 0\nb c 1\n", {}, {("b", "c"): 1}),
    "networkx, without data": (b"0 1 {}\n1 2 {'weight': 3}\n", {"columns": (0, 1)}, PATH),
    "hashtags": (b"#a,#b\n#b,#c\n", {"comments": ""}, {("#a", "#b"): 1, ("#b", "#c"): 1}),
    "a line of 10^6 characters": (f"a {LONG}\n{LONG} b\n".encode(), {}, {("a", LONG): 1, (LONG, "b"): 1}),
    "one edge": (b"a b\n", {"header": False}, {("a", "b"): 1}),
    "letters that might be a header": (b"u v\nv w\n", {"header": False}, {("u", "v"): 1, ("v", "w"): 1}),
    "an unknown header": (b"follower,followee\n0,1\n1,2\n", {"header": True}, PATH),
}

GUESSED_HEADERS = {
    "numbers below": (b"follower,followee\n0,1\n1,2\n", PATH),
    "one column of numbers": (b"user item\na 1\nb 2\n", {("a", "1"): 1, ("b", "2"): 1}),
    "weights below": (b"boss,worker,weight\na,b,2\nb,c,3\n", {("a", "b"): 2, ("b", "c"): 3}),
    "names that come nowhere else": (b"# x\nboss worker\na b\nb c\n", LETTERS),
}

# Files that are refused, and what the message says of them.
REFUSED = {
    "empty": (b"", {}, "FILE: no edges"),
    "comments only": (SNAP[:60], {}, 'FILE: no edges; lines that begin with # or % are read if comments=""'),
    "header only": (b"source,target\n", {}, "FILE: a header, but no edges; header=False"),
    "four columns": (b"# x\n1 2 3 4\n", {}, "FILE, line 2: 4 columns between blanks, 1, 2, 3, 4; columns=(0, 1) takes"),
    "four columns, unknown header": (b"a,b,c,d\n1,2,3,4\n", {}, "FILE, line 1: which of the columns a, b, c, d are"),
    "three columns, unknown header": (b"a,b,c\n1,2,3\n", {}, "columns=('a', 'b') says so"),
    "one column": (b"1\n2\n", {}, "FILE, line 1: one column, 1; expected two nodes"),
    "one line of 10^6 characters": (LONG.encode(), {}, "FILE, line 1: one column, xxx"),
    "times": (b"1 2 1082040961\n2 3 1082040962\n", {}, "FILE, line 1: the third column, 1082040961, looks like a time"),
    "a third column of texts": (b"1,2,friend\n2,3,foe\n", {}, "the third, 'friend', is no number; columns=(0, 1)"),
    "decimal commas": (b"1;2;0,5\n", {}, "the third, '0,5', is no number"),
    "decimal commas between blanks": (b"1 2 0,5\n2 3 1,5\n", {}, "three columns between blanks"),
    "networkx": (b"0 1 {}\n1 2 {}\n", {}, "the third, '{}', is no number; columns=(0, 1)"),
    "header or edge": (b"a b\nc d\n", {}, "FILE, line 1: a, b may be a header or an edge; header=True or header=False"),
    "one edge": (b"a,b\n", {}, "may be a header or an edge"),
    "the header once more": (b"source,target\na,b\nsource,target\n", {}, "'source' stands in the header and is a node"),
    "known names that are nodes": (
        b"src dst\ndst w\n",
        {},
        "'dst' stands in the header and is a node too; header=True",
    ),
    "KONECT, bipartite": (b"% bip weighted\n1 1 4\n", {}, "FILE, line 1: a bipartite graph of KONECT"),
    "a line with more columns": (
        b"1 2\n2 3 4\n",
        {},
        "FILE, line 2: 3 columns, but 2 in the first line; columns=(0, 1)",
    ),
    "a line with fewer columns": (b"1 2 3\n2\n", {}, "FILE, line 2: 1 column, but 3 in the first line"),
    "a line without a column that is wanted": (b"1 2 3\n2 3\n", {"columns": (0, 2)}, "line 2: 2 columns, but column 2"),
    "an empty cell": (b"1,2\n,3\n", {}, "FILE, line 2: column 0 is empty"),
    "an empty weight": (b"1,2,3\n2,3,\n", {}, "line 2: three columns between commas, and the third, '', is no number"),
    "an empty weight, later": (b"u,v,w\n2,3,\n", {}, "FILE, line 2: column 2 is empty; columns=(0, 1) ignores weights"),
    "a negative weight": (b"1 2 3\n2 3 -1\n", {}, "FILE, line 2: the weight '-1' must be 0 or a number between"),
    "a huge weight": (b"1 2 3\n2 3 1e101\n", {}, "FILE, line 2: the weight '1e101' must be 0"),
    "no number": (b"u,v,w\n1,2,nan\n", {}, "FILE, line 2: the weight 'nan' must be 0 or a number"),
    "NUL bytes": (b"1 2\n2 \x003\n", {}, "FILE, line 2: a NUL byte; expected text in UTF-8"),
    "UTF-16": ("1 2\n".encode("utf-16"), {}, "FILE, line 1: text in UTF-16; convert the file first"),
    "Latin-1": ("a,b\nb,José\n".encode("latin1"), {}, r"FILE, line 2: 'Jos\\xe9' is not UTF-8; convert the file"),
    "an open quote": (b'a,b\nb,a\n"b,c\nc,d\n', {}, "FILE, line 3: a quote that is never closed"),
    "text after a quote": (b'a,b\n"b"x,c\n', {"delimiter": ","}, "FILE, line 2: text after a closing quote"),
    "old Macintosh": (b"1 2\r2 3\r", {}, "FILE, line 1: a carriage return inside of the line"),
    "ZIP": (b"PK\x03\x04xx", {}, "FILE is a ZIP archive; unpack it first"),
    "gz, cut": (gzip.compress(SNAP)[:-20], {}, "FILE ends in the middle of its compressed data"),
    "bz2, cut": (bz2.compress(SNAP)[:-20], {}, "FILE ends in the middle of its compressed data"),
    "xz, cut": (lzma.compress(SNAP)[:-20], {}, "FILE ends in the middle of its compressed data"),
    "gz, damaged": (gzip.compress(SNAP)[:30] + bytes(30), {}, "FILE: the compressed data is damaged"),
    "bz2, damaged": (bz2.compress(SNAP)[:30] + bytes(60), {}, "FILE: the compressed data is damaged"),
    "a matrix that is not symmetric": (
        b"%%MatrixMarket matrix coordinate pattern general\n2 2 1\n1 2\n",
        {},
        "FILE: the matrix is not symmetric; pass directed=True",
    ),
    "a matrix that is not square": (
        b"%%MatrixMarket matrix coordinate pattern general\n% x\n\n2 3 1\n1 2\n",
        {},
        "FILE, line 4: an adjacency matrix is square, got 2 rows and 3 columns",
    ),
    "a matrix of complex numbers": (
        b"%%MatrixMarket matrix coordinate complex general\n2 2 1\n1 2 1 1\n",
        {"directed": True},
        "FILE, line 1: %%MatrixMarket matrix coordinate complex general; expected a matrix in coordinate format",
    ),
    "a matrix that is cut": (
        b"%%MatrixMarket matrix coordinate pattern general\n2 2 2\n1 2\n",
        {},
        "FILE: 1 entries, but 2 are announced in line 2; is the file complete?",
    ),
    "a matrix without a size": (
        b"%%MatrixMarket matrix coordinate pattern general\n2 2\n",
        {},
        "FILE, line 2: expected the",
    ),
    "a matrix that counts from 0": (
        b"%%MatrixMarket matrix coordinate pattern symmetric\n2 2 1\n1 0\n",
        {},
        "FILE: rows and columns must be numbered from 1 to 2",
    ),
    "a matrix with texts": (
        b"%%MatrixMarket matrix coordinate pattern symmetric\n2 2 1\n1 x\n",
        {},
        "FILE: rows and columns must be numbered from 1 to 2",
    ),
    "a matrix with a bad entry": (
        b"%%MatrixMarket matrix coordinate real symmetric\n2 2 2\n1 1 1\n2 1 x\n",
        {},
        "FILE, line 4: the weight 'x' must be 0 or a number",
    ),
    "a matrix of nothing": (
        b"%%MatrixMarket matrix coordinate real symmetric\n2000000000 2000000000 1\n1 1 1\n",
        {},
        "FILE, line 2: 2000000000 rows with 1 entries",
    ),
    "a table that is cut": (b"PAR1xxxx", {}, "FILE: not a Parquet file that can be read"),
    "a column that is not there": (
        b"a,b\n1,2\n",
        {"columns": ("a", "c")},
        "FILE, line 1: no column named 'c' in the header a, b",
    ),
    "a column that is there twice": (b"a,a\n1,2\n", {"columns": ("a", "b")}, "more than one column named 'a'"),
}


@pytest.mark.parametrize("name", ORDINARY)
def test_ordinary_files_are_read(name):
    content, options, expected = ORDINARY[name]
    assert edges_of(read(content, **options)) == expected


@pytest.mark.parametrize("name", GUESSED_HEADERS)
def test_a_first_line_that_looks_like_a_header_is_one_and_is_told(name, tmp_path):
    content, expected = GUESSED_HEADERS[name]
    path = tmp_path / "edges.csv"
    path.write_bytes(content)
    line = 1 + content.count(b"#")
    with pytest.warns(UserWarning, match=f"^{re.escape(str(path))}, line {line}: .* was taken for a header") as found:
        graph = fo.CSRGraph.from_edge_file(path)
    assert found[0].filename == __file__
    assert edges_of(graph) == expected
    assert edges_of(fo.CSRGraph.from_edge_file(path, header=True)) == expected
    first = [cell.decode() for cell in re.split(rb"[ ,]", content.split(b"\n")[line - 1])]
    if "weights" not in name:
        assert tuple(first[:2]) in edges_of(fo.CSRGraph.from_edge_file(path, header=False, directed=True))


@pytest.mark.parametrize("name", REFUSED)
def test_other_files_are_refused_with_the_line_and_the_option_that_helps(name, tmp_path):
    content, options, message = REFUSED[name]
    path = tmp_path / "edges"
    path.write_bytes(content)
    for given_path, called in ((path, str(path)), (io.BytesIO(content), "the open file")):
        with pytest.raises(ValueError, match=re.escape(message.replace("FILE", called))):
            fo.CSRGraph.from_edge_file(given_path, **options)


def test_nodes_are_a_range_integers_or_texts():
    assert read(b"2 0\n1 0\n").nodes == range(3)
    sparse = read(b"2 0\n7 0\n").nodes
    assert isinstance(sparse, IntegerNames)
    assert list(sparse) == [0, 2, 7]
    texts = read(b"b a\n7 c\na 7\n").nodes
    assert isinstance(texts, TextNames)
    assert list(texts) == ["b", "a", "7", "c"]


def test_the_nodes_of_a_matrix_count_from_1_and_may_have_no_edges():
    graph = read(b"%%MatrixMarket matrix coordinate pattern symmetric\n4 4 1\n3 2\n")
    assert list(graph) == [1, 2, 3, 4]
    assert graph.degrees.tolist() == [0, 1, 1, 0]
    weighted = b"%%matrixmarket  Matrix coordinate REAL symmetric\r\n2 2 1\r\n2 1 9\r\n"
    assert read(weighted).weights.tolist() == [9, 9]
    assert read(weighted, columns=(0, 1)).weights is None


@pytest.mark.parametrize(
    ("content", "nodes", "expected"),
    [
        (b"1 2\n", [2, "7", 0], [0, 1, 2, 7]),
        (b"1 2\n", [2**40, -1], [-1, 1, 2, 2**40]),
        (b"1 2\n", ["x", 3, 1], ["1", "2", "x", "3"]),
        (b"1 a\n", [3, "a"], ["1", "a", "3"]),
        (b"1 9000000000\n", ["007"], ["1", "9000000000", "007"]),
    ],
)
def test_further_nodes_have_no_edges(content, nodes, expected):
    graph = read(content, nodes=nodes)
    assert list(graph) == expected
    assert graph.number_of_edges() == 1


# Names, as they stand in a file: without blanks around them, as these do not count.
names = st.one_of(
    st.integers(-2, 12).map(str),
    st.sampled_from(["007", "-0", "+1", "1.0", "1_0", "2147483646", "2147483647", "-9223372036854775808"]),
    st.sampled_from(["9223372036854775807", "9223372036854775808", "18446744073709551616", "1 2", '"', '""', "a,b"]),
    st.text(st.sampled_from('ab",;|\t \r\n#%éλ林😀'), min_size=1, max_size=5),
).filter(lambda name: name.strip(" \t") == name)


@st.composite
def tables(draw):
    """A delimiter, two or three columns, and a table of them: cells are quoted where they must be, or at will."""
    delimiter = draw(st.sampled_from("\t;,| "))
    weighted = draw(st.booleans())
    pool = draw(st.lists(names if draw(st.booleans()) else st.integers(-2, 40).map(str), min_size=1, max_size=6))
    end = draw(st.sampled_from(["\n", "\r\n"]))
    space = st.just("") if delimiter == " " else st.sampled_from(["", "", " ", "  "])

    def cell(text):
        if any(character in text for character in f'",;|\t \r\n#%{delimiter}') or draw(st.booleans()):
            return '"' + text.replace('"', '""') + '"'
        return draw(space) + text + draw(space)

    lines = []
    for _ in range(draw(st.integers(1, 12))):
        cells = [cell(draw(st.sampled_from(pool))) for _ in range(2)]
        if weighted:
            cells.append(str(draw(st.sampled_from([0, 1, 2, 0.5, 1e-3, 7e22, 0.1]))))
        lines.append((delimiter * draw(st.integers(1, 3)) if delimiter == " " else delimiter).join(cells))
        lines += [""] * draw(st.integers(0, 1))
    return delimiter, (0, 1, 2) if weighted else (0, 1), end.join(lines) + end * draw(st.integers(0, 1))


@settings(max_examples=600)
@given(tables(), st.booleans())
def test_tables_are_read_as_the_csv_module_reads_them(table, directed):
    delimiter, columns, text = table
    nodes, W = oracles.graph_of_table(text, delimiter, directed)
    graph = read(text.encode(), delimiter=delimiter, header=False, columns=columns, directed=directed)
    assert list(graph) == nodes
    assert [type(node) for node in graph] == [type(node) for node in nodes]
    assert_array_equal(graph.to_scipy().toarray(), W)


def gathered(content, sizes, delimiter, columns, chunk_size):
    """What blocks of these sizes give, one after another: edges by the names of their ends, or the error."""
    edges, tokenizer = GatheredEdges(chunk_size), EdgeTokenizer(ord(delimiter), b"#", columns)
    edges.begin_file(columns[2] >= 0)
    left, at, sizes = b"", 0, iter(sizes)
    try:
        while True:
            size = next(sizes, len(content))
            block = bytearray(left + content[at : at + size])
            at += size
            used = tokenizer.read(block, len(block), at >= len(content), edges)
            left = bytes(block[used:])
            if at >= len(content):
                break
    except LineError as error:
        return str(error)
    assert left == b""
    chunks, found = edges.finish()
    if not isinstance(found, int | np.ndarray):
        data, offsets = found.names()
        found = [data[a:b].tobytes() for a, b in pairwise(offsets)]
    nodes = list(range(found)) if isinstance(found, int) else list(found)
    return [
        (nodes[u], nodes[v], None if weights is None else weights[e])
        for sources, targets, weights in chunks
        for e, (u, v) in enumerate(zip(sources, targets, strict=True))
    ], tokenizer.line


# Tables, and what merely looks like one.
lines_of_cells = st.text(st.sampled_from('01a, "\r\n#é.-e'), max_size=40).map(lambda text: (",", (0, 1), text))


@settings(max_examples=600)
@given(st.one_of(tables(), lines_of_cells), st.lists(st.integers(1, 9), max_size=30), st.integers(1, 5))
def test_blocks_may_end_anywhere(table, sizes, chunk_size):
    delimiter, _, text = table
    for columns in ((0, 1, -1), (0, 1, 2), (1, 0, -1)):
        whole = gathered(text.encode(), [], delimiter, columns, 1000)
        assert gathered(text.encode(), sizes, delimiter, columns, chunk_size) == whole


# Bytes that begin and continue characters, at the ends of their ranges.
UTF8_BYTES = [
    0x41,
    0x7F,
    0x80,
    0x8F,
    0x90,
    0x9F,
    0xA0,
    0xBF,
    0xC0,
    0xC1,
    0xC2,
    0xDF,
    0xE0,
    0xE1,
    0xEC,
    0xED,
    0xEE,
    0xEF,
]
UTF8_BYTES += [0xF0, 0xF1, 0xF3, 0xF4, 0xF5, 0xFF]


@settings(max_examples=1000)
@given(st.lists(st.sampled_from(UTF8_BYTES), min_size=1, max_size=5).map(bytes))
def test_names_are_utf8_as_python_reads_it(name):
    content = b"x," + name + b"\n"
    try:
        expected = name.decode()
    except UnicodeDecodeError:
        with pytest.raises(ValueError, match=r"line 1: .* is not UTF-8"):
            read(content, header=False)
    else:
        assert list(read(content, header=False)) == ["x", expected]


FRAGMENTS = (
    *(b"%%MatrixMarket matrix coordinate pattern general\n", b"3 3 1\n", b"PAR1", b"\x1f\x8b", b"\xff\xfe"),
    *(b"source,target\n", b"% bip x\n", b"1 2\n", b'"', b",", b"1", b"\n", b"9" * 30),
)
any_bytes = st.one_of(
    st.binary(max_size=60),
    st.text(st.sampled_from('0123456789ab,;\t\r\n "#%.-\x00é'), max_size=60).map(str.encode),
    st.lists(st.sampled_from(FRAGMENTS), max_size=8).map(b"".join),
)
any_columns = st.sampled_from([None, (0, 1), (1, 0, 2), ("source", "target")])


@settings(max_examples=600)
@given(any_bytes, st.sampled_from([None, True, False]), any_columns, st.booleans())
def test_any_bytes_are_a_graph_or_a_value_error(content, header, columns, directed):
    if header is False and columns == ("source", "target"):
        columns = None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if content.startswith(b"\x28\xb5\x2f\xfd"):  # what it needs may not be installed
            return
        try:
            graph = read(content, header=header, columns=columns, directed=directed)
        except ValueError as error:
            assert "the open file" in str(error)  # noqa: PT017
        else:
            assert len(graph) > 0


def with_point(digits_and_place):
    """A decimal number with a point after so many digits."""
    digits, place = str(digits_and_place[0]), digits_and_place[1]
    return f"{digits[:place]}.{digits[place:]}"


DECIMALS = st.one_of(
    st.floats(1e-100, 1e100).map(repr),
    st.decimals(0, 10**30, allow_nan=False).map("{:f}".format),
    st.tuples(st.integers(0, 2**70), st.integers(-40, 30)).map("{0[0]}e{0[1]}".format),
    st.tuples(st.integers(2**52, 2**57), st.integers(0, 16)).map(with_point),
    st.integers(1, 40).map(lambda zeros: f"0.{'0' * zeros}7"),
    st.sampled_from(["5.", ".5", "+5", "0", "0.0", "00012", "9007199254740993", "9007199254740992.0", "1e22", "1E2"]),
)


@settings(max_examples=600)
@given(DECIMALS)
def test_weights_are_the_floats_that_python_reads(text):
    value = float(text)
    assume(value == 0 or 1e-100 <= value <= 1e100)
    graph = read(f"0 1 {text}\n1 2 7\n".encode(), columns=(0, 1, 2))
    assert graph.to_scipy()[0, 1] == value


@pytest.mark.parametrize("text", ["", ".", "-", "1_0", "0x1", "1e", "infinity", "1 2", "1,5", "٣", "5" * 501, "1\v"])
def test_what_is_no_weight_is_refused(text):
    with pytest.raises(ValueError, match=r"^the open file, line 2: (the weight|column 2 is empty)"):
        read(f'a,b,c\n0,1,"{text}"\n'.encode(), columns=(0, 1, 2), header=True)


@pytest.mark.parametrize("largest", [5, INTEGERS_PER_EDGE * 3 - 1, INTEGERS_PER_EDGE * 3, 2**31 - 2, 2**31 - 1, 2**62])
def test_integers_are_numbered_in_order_however_large(largest):
    graph = read(f"3 {largest}\n{largest} 0\n0 3\n".encode())
    assert list(graph) == [0, 3, largest]
    assert edges_of(graph) == {(0, 3): 1, (0, largest): 1, (3, largest): 1}


@pytest.mark.parametrize("last", ["5 5", "9000000000 5", "x 5"])
def test_names_change_their_kind_after_many_edges(last, monkeypatch):
    monkeypatch.setattr(edgefile, "CHUNK_EDGES", 7)
    monkeypatch.setattr(edgeblocks, "BLOCK_BYTES", 64)
    rng = np.random.default_rng(0)
    text = "".join(f"{u} {v}\n" for u, v in rng.integers(0, 60, (200, 2))) + last
    graph = read(text.encode())
    nodes, W = oracles.graph_of_table(text, " ")
    assert list(graph) == nodes
    assert_array_equal(graph.to_scipy().toarray(), W)


def test_several_files_make_one_graph(tmp_path):
    (tmp_path / "part-0.csv").write_bytes(b"a,b,weight\n0,1,2\n")
    (tmp_path / "part-1.csv.gz").write_bytes(gzip.compress(b"a,b,weight\n1,2,5\n"))
    (tmp_path / "part-2.csv").write_bytes(b"")
    (tmp_path / "part-3.csv").write_bytes(b"2,3,7\n")
    (tmp_path / "part-4.csv").write_bytes(b"weight,target,source\n9,4,3\n")
    expected = {(0, 1): 2, (1, 2): 5, (2, 3): 7, (3, 4): 9}
    with pytest.warns(UserWarning, match=r"part-0.csv, line 1: a, b, weight was taken for a header") as found:
        graph = fo.CSRGraph.from_edge_file(f"{tmp_path}/part-*.csv*")
    assert len(found) == 1
    assert edges_of(graph) == expected
    files = [str(tmp_path / "part-0.csv"), tmp_path / "part-1.csv.gz"]
    assert edges_of(fo.CSRGraph.from_edge_file(files, columns=("a", "b"))) == {(0, 1): 1, (1, 2): 1}


def test_files_with_and_without_weights():
    first, second = io.BytesIO(b"source,target\na,b\n"), io.BytesIO(b"source,target,weight\nb,c,5\n")
    assert edges_of(fo.CSRGraph.from_edge_file([first, second])) == {("a", "b"): 1, ("b", "c"): 5}


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5), st.integers(1, 9)), min_size=1), st.booleans())
def test_matrices_are_those_of_scipy(entries, symmetric):
    rows, columns, values = map(list, zip(*entries, strict=True))
    A = sparse.coo_array((values, (rows, columns)), (6, 6)).tocsr()
    A = A + A.T if symmetric else A
    file = io.BytesIO()
    scipy.io.mmwrite(file, A)
    graph = read(file.getvalue(), directed=True)
    assert list(graph) == [1, 2, 3, 4, 5, 6]
    assert_array_equal(graph.to_scipy().toarray(), A.toarray())
    if symmetric:
        assert_array_equal(read(file.getvalue()).to_scipy().toarray(), A.toarray())


def test_a_matrix_is_read_alone():
    matrix = b"%%MatrixMarket matrix coordinate pattern symmetric\n2 2 1\n2 1\n"
    with pytest.raises(ValueError, match="a Matrix Market file is a whole graph: read it alone"):
        fo.CSRGraph.from_edge_file([io.BytesIO(b"1 2\n"), io.BytesIO(matrix)])


def test_files_that_are_not_there(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"none\.txt"):
        fo.CSRGraph.from_edge_file(tmp_path / "none.txt")
    with pytest.raises(FileNotFoundError, match=r"no file matches .*/edges-\*.csv"):
        fo.CSRGraph.from_edge_file(f"{tmp_path}/edges-*.csv")
    (tmp_path / "edges-[1].txt").write_bytes(b"1 2\n")
    assert len(fo.CSRGraph.from_edge_file(tmp_path / "edges-[1].txt")) == 2


def test_an_open_file_stays_open(tmp_path):
    (tmp_path / "edges.txt").write_bytes(b"1 2\n")
    with (tmp_path / "edges.txt").open("rb") as file:
        assert len(fo.CSRGraph.from_edge_file(file)) == 2
        assert not file.closed
    memory = io.BytesIO(b"1 2\n")
    assert len(fo.CSRGraph.from_edge_file(memory)) == 2
    assert not memory.closed
    with (tmp_path / "edges.txt").open() as file, pytest.raises(TypeError, match="open it with mode 'rb'"):
        fo.CSRGraph.from_edge_file(file)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"delimiter": ", "}, ValueError, "delimiter must be one ASCII character"),
        ({"delimiter": "\n"}, ValueError, "delimiter must be one ASCII character"),
        ({"delimiter": "1"}, ValueError, "delimiter must be one ASCII character"),
        ({"columns": (0,)}, ValueError, "columns must be two or three names or numbers"),
        ({"columns": "ab"}, ValueError, "columns must be two or three names or numbers"),
        ({"columns": (0, "b")}, ValueError, "columns must be two or three names or numbers"),
        ({"columns": (0, 0)}, ValueError, "all different"),
        ({"columns": (-1, 0)}, ValueError, "columns must be two or three names or numbers"),
        ({"columns": ("a", "b"), "header": False}, ValueError, "columns by name need a header"),
        ({"header": 1}, TypeError, "header must be True, False or None, got 1"),
        ({"comments": "é"}, ValueError, "comments must be a text of ASCII characters"),
        ({"nodes": [1.5]}, TypeError, "nodes must be texts or integers"),
        ({"nodes": [""]}, TypeError, "nodes must be texts or integers"),
        ({"nodes": ["\ud83d"]}, ValueError, "half of a character"),
    ],
)
def test_options_that_mean_nothing(options, error, message):
    with pytest.raises(error, match=message):
        read(b"1 2\n", **options)


@pytest.mark.parametrize(("path", "error"), [([], ValueError), (7, TypeError), ([7], TypeError)])
def test_paths_that_are_none(path, error):
    with pytest.raises(error, match="path"):
        fo.CSRGraph.from_edge_file(path)


def test_lines_among_edges_that_may_be_no_comments():
    content = b"# SNAP\n1 2\n#2 3\n# a remark\n\n##\n%x 4\n2 4\n"
    with pytest.warns(UserWarning, match="line 3: skipped as a comment, .* like 1 more lines"):
        assert len(read(content)) == 3
    assert len(read(content, comments="#%")) == 3
    assert len(read(b"1 2\n#2 3\n", comments="")) == 4


def test_a_line_without_end(monkeypatch):
    monkeypatch.setattr(edgeblocks, "BLOCK_BYTES", 16)
    monkeypatch.setattr(edgeblocks, "MAX_RECORD_BYTES", 64)
    assert len(read(b"1 2\n" * 50 + b"a" * 50 + b" b\n")) == 4
    with pytest.raises(ValueError, match="line 2: longer than 0 MiB; is it a list of edges, and is every quote closed"):
        read(b'1 2\n"' + b"x\n" * 500)


def test_a_long_first_line_that_one_delimiter_cannot_split(monkeypatch):
    """The error of that delimiter still holds a view of the buffer when this must grow."""
    monkeypatch.setattr(edgeblocks, "BLOCK_BYTES", 16)
    assert len(read(b'"a" b,' + b"9" * 50 + b'\n"a" b,c\n', header=False, columns=(0, 1))) == 3


class Slow(io.RawIOBase):
    """A pipe that gives one byte at a time."""

    def __init__(self, content):
        self._content = iter(content)

    def readable(self):
        return True

    def readinto(self, buffer):
        byte = next(self._content, None)
        if byte is None:
            return 0
        buffer[0] = byte
        return 1


MATRIX = b"%%MatrixMarket matrix coordinate real symmetric\n3 3 2\n2 1 5\n3 2 5\n"


@pytest.mark.parametrize(
    "compress", [bytes, gzip.compress, lambda text: gzip.compress(text[:5]) + gzip.compress(text[5:])]
)
@pytest.mark.parametrize("content", [SNAP, MATRIX])
def test_a_pipe(content, compress):
    expected = edges_of(read(content))
    assert edges_of(fo.CSRGraph.from_edge_file(Slow(compress(content)))) == expected
    assert edges_of(read(compress(content))) == expected


@pytest.mark.parametrize("before", [b"\n", b" ", "\ufeff".encode()])
def test_a_matrix_begins_with_its_name(before):
    with pytest.raises(ValueError, match="must be the first text of a file"):
        read(before + MATRIX)


def test_of_several_columns_the_first_known_name_is_the_weight():
    assert read(b"source,target,value,weight\n1,2,7,3\n2,3,8,4\n").weights.tolist() == [3, 3, 4, 4]


def test_a_third_column_that_is_ignored_is_told():
    with pytest.warns(UserWarning, match=r"the column km is ignored; columns=\('from', 'to', 'km'\) takes km"):
        assert read(b"from,to,km\n1,2,7\n2,3,8\n").weights is None
    assert read(b"from,to,note\n1,2,x\n2,3,y\n").weights is None
    with pytest.warns(
        UserWarning, match=r"the columns km, age are ignored; columns=\('from', 'to', 'km'\) takes km as"
    ):
        assert read(b"note,from,to,km,age\nx,1,2,7,1\ny,2,3,8,2\n").weights is None


def test_the_column_of_an_index_has_no_name():
    with pytest.warns(UserWarning, match="was taken for a header"):
        assert len(read(b",a,b\n0,10,20\n1,20,30\n")) == 3
    with pytest.raises(ValueError, match=r"columns=\('c', 'p'\) says so, .* columns=\('c', 'p', 'n'\) takes a third"):
        read(b",c,p,n\n0,10,20,5\n1,20,30,5\n")


def test_numbers_with_a_sign_between_blanks():
    graph = read(b"-0.1,51.5 -0.2,51.4\n-0.2,51.4 -0.3,51.3\n")
    assert list(graph) == ["-0.1,51.5", "-0.2,51.4", "-0.3,51.3"]


def test_the_first_line_of_a_later_file_is_never_silently_an_edge():
    parts = [io.BytesIO(b"a,b\na,b\nb,a\n"), io.BytesIO(b"follower,followee\na,d\nd,c\na,d\nc,a\n")]
    with pytest.warns(UserWarning, match="follower, followee was taken for an edge, as the first file"):
        assert "follower" in fo.CSRGraph.from_edge_file(parts)
    parts = [io.BytesIO(b"follower,followee\n1,2\n"), io.BytesIO(b"Follower,Followee\n2,3\n")]
    with pytest.warns(UserWarning, match="was taken for a header"):
        assert list(fo.CSRGraph.from_edge_file(parts)) == [1, 2, 3]


@pytest.mark.parametrize("content", [b"id,1\n5,6\n6,7\n", b"u v\nx y\ny z\nx z\n"])
def test_short_names_above_the_rest_are_told(content):
    with pytest.warns(UserWarning, match="was taken for a header"):
        assert len(read(content)) == 3


def test_a_folder_is_no_file(tmp_path):
    (tmp_path / "edges.txt").write_bytes(b"1 2\n")
    (tmp_path / "graph").mkdir()
    with pytest.raises(IsADirectoryError, match=r"is a folder; CSRGraph\.open opens .*/graph"):
        fo.CSRGraph.from_edge_file([tmp_path / "edges.txt", tmp_path / "graph"])


def test_zstd_needs_a_package_or_a_newer_python(monkeypatch):
    for module in ("compression", "zstandard"):
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ImportError, match="the open file is compressed by zstd, which needs zstandard: pip install"):
        read(b"\x28\xb5\x2f\xfd....")


def test_zstd():
    if sys.version_info >= (3, 14):
        from compression import zstd

        compress, frames = zstd.compress, zstd.compress(SNAP[:90]) + zstd.compress(SNAP[90:])
    else:
        zstandard = pytest.importorskip("zstandard")
        compress = zstandard.ZstdCompressor().compress
        frames = compress(SNAP[:90]) + compress(SNAP[90:])
    assert edges_of(read(frames)) == PATH
    with pytest.raises(ValueError, match="ends in the middle of its compressed data"):
        read(compress(SNAP)[:-9])
    with pytest.raises(ValueError, match="the compressed data is damaged"):
        read(frames[:4] + b"\xff" * 20)


def test_progress_counts_the_bytes_of_the_files(tmp_path, monkeypatch):
    bars = []

    class Bar:
        def __init__(self, total, **_):
            self.total, self.count, self.closed = total, 0, False
            bars.append(self)

        def update(self, count):
            self.count += count

        def close(self):
            self.closed = True

    monkeypatch.setattr(streams, "progress_bar", Bar)
    monkeypatch.setattr(edgeblocks, "BLOCK_BYTES", 16)
    path = tmp_path / "edges.txt.gz"
    path.write_bytes(gzip.compress(SNAP))
    fo.CSRGraph.from_edge_file([path, path], progress=True)
    assert bars[0].closed
    assert bars[0].count == bars[0].total == 2 * path.stat().st_size
    fo.CSRGraph.from_edge_file(Slow(SNAP), progress=True)  # nobody knows how long it is
    assert bars[1].total is None
    with pytest.raises(ValueError, match="no edges"):
        fo.CSRGraph.from_edge_file(io.BytesIO(b""), progress=True)
    assert bars[2].closed


def parquet_of(columns):
    file = io.BytesIO()
    parquet.write_table(pa.table(columns), file)
    return file.getvalue()


@pytest.mark.parametrize(
    ("columns", "options", "expected"),
    [
        ({"source": [1, 1], "target": [2, 9]}, {}, {(1, 2): 1, (1, 9): 1}),
        ({"x": pa.array([1, 1], pa.int8()), "y": pa.array([2, 9], pa.uint64())}, {}, {(1, 2): 1, (1, 9): 1}),
        ({"w": [3.5, 1], "to": ["é", "c"], "from": ["a", "b"]}, {}, {("a", "é"): 3.5, ("b", "c"): 1}),
        ({"w": [3, 1], "to": ["é", "c"], "from": ["a", "b"]}, {"columns": ("to", "from")},
         {("é", "a"): 1, ("c", "b"): 1}),
        ({"x": ["1", "2"], "y": ["2", "3"]}, {}, {(1, 2): 1, (2, 3): 1}),
        ({"x": pa.array(["a", "b"]).dictionary_encode(), "y": [1, 2], "z": [5, 6]}, {"columns": (0, 1, 2)},
         {("a", "1"): 5, ("b", "2"): 6}),
        ({"x": pa.array([2**64 - 1, 1], pa.uint64()), "y": [1, 2]}, {}, {(str(2**64 - 1), "1"): 1, ("1", "2"): 1}),
    ],
)  # fmt: skip
def test_parquet(columns, options, expected, tmp_path):
    content = parquet_of(columns)
    path = tmp_path / "edges.parquet"
    path.write_bytes(content)
    for file in (path, io.BytesIO(content)):
        assert edges_of(fo.CSRGraph.from_edge_file(file, directed=True, **options)) == expected


@pytest.mark.parametrize(
    ("columns", "options", "message"),
    [
        ({"x": [1], "y": [2], "z": [3]}, {}, "which of the columns x, y, z are the ends of an edge"),
        ({"x": [1], "y": [2]}, {"columns": ("x", "z")}, "one column named 'z' is wanted, among x, y"),
        ({"x": [1], "y": [2]}, {"columns": (0, 2)}, "no column 2: columns count from 0, and these are x, y"),
        ({"x": [1, None], "y": [2, 3]}, {}, "row 1: column x is empty"),
        ({"x": ["a", "b"], "y": ["b", ""]}, {}, "row 1: the name of a node is empty"),
        ({"x": [1.5], "y": [2]}, {}, "column x must hold integers or texts, got double"),
        ({"u": [1], "v": [2], "w": [-1]}, {}, "row 0: the weight -1 must be 0 or a number"),
        ({"u": [1], "v": [2], "w": ["x"]}, {}, "column w must hold numbers, got string"),
        ({"u": pa.array([], pa.int64()), "v": pa.array([], pa.int64())}, {}, "the open file: no edges"),
    ],
)
def test_tables_that_are_refused(columns, options, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        read(parquet_of(columns), **options)


def test_a_table_in_batches(monkeypatch):
    monkeypatch.setattr(edgeparquet, "BATCH_ROWS", 3)
    G = nx.gnm_random_graph(20, 50, seed=0)
    sources, targets = zip(*G.edges, strict=True)
    for names in (sources, targets), ([f"n{u}" for u in sources], [f"n{v}" for v in targets]):
        graph = read(parquet_of({"source": names[0], "target": names[1]}))
        assert edges_of(graph) == edges_of(fo.CSRGraph.from_edge_file(io.BytesIO(
            "".join(f"{u} {v}\n" for u, v in zip(*names, strict=True)).encode())))  # fmt: skip


def test_parquet_needs_pyarrow(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ImportError, match="the open file is in Parquet, which needs pyarrow: pip install pyarrow"):
        read(b"PAR1....")


def test_the_slow_paths_take_linear_time():
    """Cells of a million characters that nearly are a number, an integer, a quoted text or several numbers."""
    for cell in (b"1" * 10**6 + b"x", b"1 " * 10**6 + b"x", b'"' + b'""' * 10**6 + b'"', b"-" * 10**6):
        with pytest.raises(ValueError, match="the open file"):
            read(cell + b"\n" + cell + b"\n", delimiter=";")
