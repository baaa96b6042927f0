"""Files of edges -> edges by the numbers of their ends, and the names of the nodes."""

from __future__ import annotations

import warnings
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from nx_fastonl._lib.checks import shortened
from nx_fastonl._lib.streams import FileLike, Progress, Source, Stream, opened, sources_of
from nx_fastonl.graph._edgefile import EdgeTokenizer, LineError
from nx_fastonl.graph._gathered import GatheredEdges
from nx_fastonl.graph._names import TextTable
from nx_fastonl.graph.edgelayout import COMMENTS, Columns, Layout, Options, checked_options, find_layout
from nx_fastonl.graph.edgetables import MATRIX_MARKET, PARQUET, read_matrix_market, read_parquet
from nx_fastonl.graph.names import IntegerNames, TextNames, text_names
from nx_fastonl.graph.rows import EdgeChunk

# Bytes that are read at a time. A line that is longer makes its buffer larger, up to the second number.
BLOCK_BYTES = 1 << 20
MAX_RECORD_BYTES = 1 << 26
# Edges of which the ends stand in one array.
CHUNK_EDGES = 1 << 20


class EdgeFile(NamedTuple):
    """The edges of a file in chunks of arrays, and the names of the nodes."""

    chunks: list[EdgeChunk]
    nodes: range | IntegerNames | TextNames


def read_edge_files(
    path: FileLike | Sequence[FileLike],
    *,
    delimiter: str | None,
    columns: Columns | None,
    header: bool | None,
    comments: str | None,
    directed: bool,
    nodes: Iterable[str | int] | None,
    progress: bool,
) -> EdgeFile:
    """See `CSRGraph.from_edge_file`."""
    options = checked_options(delimiter, columns, header, comments)
    sources = sources_of(path)
    further = [_name_bytes(node) for node in nodes or ()]
    edges = GatheredEdges(CHUNK_EDGES)
    bar = Progress(sources, progress)
    first: Layout | None = None
    warned: list[str] = []
    try:
        for source in sources:
            with opened(source) as stream:
                layout, found = _read_file(source, stream, options, edges, first, directed, len(sources) == 1, bar)
            first = first or layout
            warned += found
            bar.end_file()
    finally:
        bar.close()
    if edges.count == 0:
        raise ValueError(_no_edges(sources, first, options))
    for warning in warned:
        warnings.warn(warning, stacklevel=3)
    edges.add_nodes(further)
    chunks, names = edges.finish()
    if isinstance(names, TextTable):
        return EdgeFile(chunks, text_names(names))
    return EdgeFile(chunks, range(names) if isinstance(names, int) else IntegerNames(names, ascending=True))


def _name_bytes(node: Any) -> bytes:
    """A name of `nodes=` as it would stand in a file."""
    if isinstance(node, bool) or not isinstance(node, str | int) or node == "":
        raise TypeError(f"nodes must be texts or integers, as a file holds them, got {shortened(node)}")
    try:
        return str(node).encode()
    except UnicodeEncodeError:
        raise ValueError(f"nodes holds half of a character, which no file can: {shortened(node)}") from None


def _read_file(
    source: Source,
    stream: Stream,
    options: Options,
    edges: GatheredEdges,
    first: Layout | None,
    directed: bool,
    is_only: bool,
    bar: Progress,
) -> tuple[Layout | None, list[str]]:
    """Gather the edges of one file; return its layout, if it is text, and what to warn of."""
    begin = stream.text.peek(len(MATRIX_MARKET))  # type: ignore[attr-defined]
    try:
        if begin.startswith(PARQUET):
            read_parquet(source, stream, options.columns, edges)
        elif begin[: len(MATRIX_MARKET)].lower() == MATRIX_MARKET:
            if not is_only:
                raise ValueError("a Matrix Market file is a whole graph: read it alone")
            read_matrix_market(stream, options.columns, edges, directed)
        else:
            return _read_text(source, stream, options, edges, first, bar)
    except ValueError as error:
        raise _located(source, error) from error
    return None, []


def _located(source: Source, error: ValueError) -> ValueError:
    return ValueError(f"{source.name}{', ' if isinstance(error, LineError) else ': '}{error}")


def _read_text(
    source: Source, stream: Stream, options: Options, edges: GatheredEdges, first: Layout | None, bar: Progress
) -> tuple[Layout | None, list[str]]:
    buffer = bytearray(BLOCK_BYTES)
    filled = _fill(stream.text, buffer, 0)
    if buffer.startswith((BOM_UTF16_LE, BOM_UTF16_BE)):
        raise LineError("line 1: text in UTF-16; convert the file first, for example with iconv -f utf-16 -t utf-8")
    if buffer.startswith(BOM_UTF8):
        del buffer[: len(BOM_UTF8)]
        filled -= len(BOM_UTF8)
        filled += _fill(stream.text, buffer, filled)
    layout = None
    while True:
        is_last = filled < len(buffer)
        layout = find_layout(memoryview(buffer)[:filled], is_last, options, first)
        if layout is not None or is_last:
            break
        tokenizer = EdgeTokenizer(ord(options.delimiter or " "), options.comment_bytes)
        tokenizer.sample(memoryview(buffer), False, 2)
        buffer, filled = _enlarged(stream.text, buffer, filled, tokenizer.line)
    if layout is None:
        return None, []

    tokenizer = layout.tokenizer(options)
    edges.begin_file(layout.columns[2] >= 0)
    while True:
        used = tokenizer.read(buffer, filled, is_last, edges)
        bar.reach(stream.stored)
        if is_last:
            break
        left = filled - used
        buffer[:left] = memoryview(buffer)[used:filled]
        filled = left
        if left == len(buffer):
            buffer, filled = _enlarged(stream.text, buffer, filled, tokenizer.line)
        else:
            filled += _fill(stream.text, buffer, filled)
        is_last = filled < len(buffer)
    _check_header(layout, edges)
    return layout, [f"{source.name}, {warning}" for warning in _warnings(layout, options, tokenizer)]


def _fill(file: Any, buffer: bytearray, filled: int) -> int:
    """Read until the buffer is full or the file ends; return the number of bytes."""
    start = filled
    with memoryview(buffer) as view:
        while filled < len(buffer):
            size = file.readinto1(view[filled:])  # one read at a time: Ctrl-C is noticed between two
            if not size:
                break
            filled += size
    return filled - start


def _enlarged(file: Any, buffer: bytearray, filled: int, line: int) -> tuple[bytearray, int]:
    """A buffer of twice the size, filled: what is in this one is not yet a whole record."""
    if len(buffer) >= MAX_RECORD_BYTES:
        raise LineError(
            f"line {line}: longer than {MAX_RECORD_BYTES >> 20} MiB; is it a list of edges, and is every quote closed?"
        )
    larger = bytearray(2 * len(buffer))
    larger[:filled] = memoryview(buffer)[:filled]
    return larger, filled + _fill(file, larger, filled)


def _check_header(layout: Layout, edges: GatheredEdges) -> None:
    """Raise if the names in a header that was only found out are nodes too: then it may be an edge."""
    if layout.header is None or layout.is_header_certain:
        return
    for column in layout.columns[:2]:
        if edges.has_text(layout.header[column]):
            name = shortened(layout.header[column].decode("utf-8", "backslashreplace"))
            raise ValueError(
                f"{name} stands in the header and is a node too; header=True keeps the first line as a header, "
                "header=False reads it as an edge"
            )


def _warnings(layout: Layout, options: Options, tokenizer: Any) -> list[str]:
    found = [layout.warning] if layout.warning else []
    if options.comments is None and tokenizer.comments_among_edges:
        found.append(
            f"line {tokenizer.first_comment_line}: skipped as a comment, though it stands among edges, like "
            f'{tokenizer.comments_among_edges - 1} more lines. comments="{COMMENTS}" says that these are comments, '
            'comments="" that they are not'
        )
    return found


def _no_edges(sources: list[Source], layout: Layout | None, options: Options) -> str:
    names = sources[0].name if len(sources) == 1 else f"{sources[0].name} and {len(sources) - 1} more files"
    if layout is not None and layout.header is not None:
        return f"{names}: a header, but no edges; header=False reads the first line as an edge"
    hint = "" if options.comments == "" else '; lines that begin with # or % are read if comments=""'
    return f"{names}: no edges{hint}"
