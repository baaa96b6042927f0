"""Files of arbitrary bytes through `CSRGraph.from_edge_file`: a graph or a refusal, whatever the size of blocks."""

import bz2
import gzip
import io
import lzma
import warnings
from unittest import mock

import nx_fastonl as fo
from nx_fastonl.graph import edgeblocks
from tests import oracles
from tests.fuzz.inputs import mutated
from tests.fuzz.verdicts import check

FILES = (
    b"source,target\n1,2\n2,3\n3,4\n",
    b"1 2\n2 3\n3 4\n",
    b"# SNAP\n1\t2\t2\n2\t3\t0.5\n\n3\t4\t1e3\n",
    b"a,b\nb,c\nc,a\n7,a\n",
    b"\xef\xbb\xbfu;v;w\r\n1;2;3\r\n2;9000000000;.5\r\n",
    b'"1","a ""b"""\n2,"c\nd"\n"c\nd",1\n',
    b"x|y|z\nJos\xc3\xa9|b|1\nb|-3|2\n",
    b"% sym weighted\n1 2 4 1082040961\n2 3 1 1082040962\n",
    b"%%MatrixMarket matrix coordinate real symmetric\n3 3 2\n2 1 0.5\n3 1 2\n",
    b"",
)
PACKED = (gzip.compress, bz2.compress, lzma.compress)


def _outcome(content, block_bytes, options):
    """The nodes and the matrix that are read in blocks of this size, or the error."""
    with mock.patch.object(edgeblocks, "BLOCK_BYTES", block_bytes), warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        try:
            graph = fo.CSRGraph.from_edge_file(io.BytesIO(content), **options)
        except ValueError as error:
            return str(error)
        except ImportError as error:
            check("zstandard" in str(error), "an error of an import: {}", error)
            return str(error)
    return list(graph.nodes), graph.to_scipy().toarray().tolist()


def edge_files(draw):
    """One file, twice: in blocks of the usual size and in small ones."""
    content = mutated(draw, draw.choice(FILES), draw.below(5)) if draw.chance(0.95) else draw.rest()
    if draw.chance(0.1):
        content = mutated(draw, draw.choice(PACKED)(content), draw.below(2))
    options = {"directed": draw.chance(0.3)}
    if draw.chance(0.6):
        options["delimiter"] = draw.choice([",", "\t", ";", "|", " "])
    if draw.chance(0.6):
        options["columns"] = draw.choice([(0, 1), (0, 1, 2), (1, 0), (2, 0)])
    if draw.chance(0.6):
        options["header"] = draw.chance(0.3)
    if draw.chance(0.3):
        options["comments"] = draw.choice(["", "#"])
    if draw.chance(0.2):
        options["nodes"] = draw.some(["1", 2, -5, "x", 2**40, "é"])
    draw.note(content=content, **options)
    found = _outcome(content, 1 << 20, options)
    in_blocks = _outcome(content, draw.between(4, 70), options)  # a byte order mark fits into them
    if options.keys() >= {"delimiter", "columns", "header"}:  # else the first lines decide, and blocks hold fewer
        both_refuse = isinstance(found, str) and isinstance(in_blocks, str)  # perhaps for another of several reasons
        check(both_refuse or found == in_blocks, "{} in small blocks instead of {}", in_blocks, found)
        if not both_refuse:
            _compare(content, found, options)
    return isinstance(found, tuple)


def _compare(content, found, options):
    """Compare a plain table with what the csv module makes of it."""
    plain = options["columns"] in ((0, 1), (0, 1, 2)) and not options["header"] and options.get("comments") == ""
    special = (b'"', b"\r", b"%%M", b"PAR1", b"\x1f\x8b", b"BZh", b"\xfd7z", b"\xef\xbb\xbf")
    special += (b"\t",) if options["delimiter"] == " " else ()
    if plain and "nodes" not in options and not any(mark in content for mark in special):
        text = content.decode("utf-8", "replace")  # columns that do not count may hold anything
        nodes, W = oracles.graph_of_table(text, options["delimiter"], options["directed"], len(options["columns"]))
        check(found == (nodes, W.tolist()), "{} instead of {}", found, (nodes, W.tolist()))
