"""Files of edges -> rows of neighbours, and the names of the nodes."""

from __future__ import annotations

import errno
import warnings
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from nx_fastonl._lib.checks import shortened
from nx_fastonl._lib.streams import FileLike, Progress, Source, Stream, opened, sources_of
from nx_fastonl.graph import edgeparquet, matrixmarket
from nx_fastonl.graph._check import find_fault
from nx_fastonl.graph._edgefile import EdgeTokenizer, LineError
from nx_fastonl.graph._gathered import GatheredEdges
from nx_fastonl.graph._names import TextTable
from nx_fastonl.graph.edgeblocks import TextBlocks
from nx_fastonl.graph.edgelayout import COMMENTS, Columns, Layout, Options, checked_options, find_layout
from nx_fastonl.graph.names import IntegerNames, TextNames, text_names
from nx_fastonl.graph.rows import Rows, rows_from_chunks

Names = range | IntegerNames | TextNames

# Edges of which the ends stand in one array.
CHUNK_EDGES = 1 << 20


class FileRead(NamedTuple):
    """What is known of a file whose edges were gathered: the layout of a text, warnings, the symmetry of a matrix."""

    layout: Layout | None = None
    warnings: Sequence[str] = ()
    symmetry: str | None = None


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
) -> tuple[Rows, Names]:
    """The rows of the graph and the names of its nodes: see `CSRGraph.from_edge_file`."""
    options = checked_options(delimiter, columns, header, comments)
    sources = sources_of(path)
    further = [_name_bytes(node) for node in nodes or ()]
    edges = GatheredEdges(CHUNK_EDGES)
    files: list[FileRead] = []
    first: Layout | None = None
    bar = Progress(sources, progress)
    try:
        for source in sources:
            _check_no_folder(source)
            with opened(source) as stream:
                files.append(_read_file(source, stream, options, edges, first, bar, len(sources) == 1))
            first = first or files[-1].layout
            bar.end_file()
    finally:
        bar.close()
    if edges.count == 0:
        raise ValueError(_no_edges(sources, first, options))
    edges.add_nodes(further)
    rows, names = _rows_and_names(edges, directed, files[0].symmetry)
    if files[0].symmetry == "general" and not directed and find_fault(*rows, symmetric=True):
        raise ValueError(f"{sources[0].name}: the matrix is not symmetric; pass directed=True")
    for file in files:
        for warning in file.warnings:
            warnings.warn(warning, stacklevel=3)
    return rows, names


def _rows_and_names(edges: GatheredEdges, directed: bool, symmetry: str | None) -> tuple[Rows, Names]:
    chunks, names = edges.finish()
    nodes: Names
    if isinstance(names, TextTable):
        nodes = text_names(names)
    else:
        nodes = range(names) if isinstance(names, int) else IntegerNames(names, ascending=True)
    # A general matrix lists every entry. A symmetric one lists the half of them, whether directed or not.
    lists_arcs = directed if symmetry is None else symmetry == "general"
    return rows_from_chunks(chunks, len(nodes), directed=lists_arcs), nodes


def _name_bytes(node: Any) -> bytes:
    """A name of `nodes=` as it would stand in a file."""
    if isinstance(node, bool) or not isinstance(node, str | int) or node == "":
        raise TypeError(f"nodes must be texts or integers, as a file holds them, got {shortened(node)}")
    try:
        return str(node).encode()
    except UnicodeEncodeError:
        raise ValueError(f"nodes holds half of a character, which no file can: {shortened(node)}") from None


def _check_no_folder(source: Source) -> None:
    if isinstance(source.file, Path) and source.file.is_dir():
        what = "is a folder; CSRGraph.open opens a graph that was saved to one"
        raise IsADirectoryError(errno.EISDIR, what, source.name)


def _read_file(
    source: Source,
    stream: Stream,
    options: Options,
    edges: GatheredEdges,
    first: Layout | None,
    bar: Progress,
    is_only: bool,
) -> FileRead:
    """Gather the edges of one file."""
    is_matrix = stream.begin[: len(matrixmarket.MAGIC)].lower() == matrixmarket.MAGIC
    try:
        if stream.begin.startswith(edgeparquet.MAGIC):
            edgeparquet.read_parquet(source, stream, options.columns, edges)
            return FileRead()
        if not is_matrix and stream.begin.removeprefix(BOM_UTF8).lstrip().lower().startswith(matrixmarket.MAGIC):
            raise LineError("line 1: %%MatrixMarket must be the first text of a file; remove what stands before it")
        if is_matrix:
            if not is_only:
                raise ValueError("a Matrix Market file is a whole graph: read it alone")
            return FileRead(symmetry=matrixmarket.read_matrix_market(stream, options.columns, edges, bar))
        return _read_text(source, stream, options, edges, first, bar)
    except ValueError as error:
        separator = ", " if isinstance(error, LineError) else ": "
        raise ValueError(f"{source.name}{separator}{error}") from error


def _read_text(
    source: Source, stream: Stream, options: Options, edges: GatheredEdges, first: Layout | None, bar: Progress
) -> FileRead:
    blocks = TextBlocks(stream, bar)
    if bytes(blocks.head[:2]) in (BOM_UTF16_LE, BOM_UTF16_BE):
        raise LineError("line 1: text in UTF-16; convert the file first, for example with iconv -f utf-16 -t utf-8")
    if bytes(blocks.head[: len(BOM_UTF8)]) == BOM_UTF8:
        blocks.skip(len(BOM_UTF8))
    while (layout := find_layout(blocks.head, blocks.is_last, options, first)) is None:
        if blocks.is_last:
            return FileRead()
        tokenizer = EdgeTokenizer(ord(options.delimiter or " "), options.comment_bytes)
        tokenizer.sample(blocks.head, False, 2)
        blocks.enlarge(tokenizer.line)
    tokenizer = layout.tokenizer(options)
    edges.begin_file(layout.columns[2] >= 0)
    blocks.read_all(tokenizer, edges)
    _check_header(layout, edges)
    return FileRead(layout, [f"{source.name}, {warning}" for warning in _warnings(layout, options, tokenizer)])


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
