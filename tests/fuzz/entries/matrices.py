"""Folders of rows with bits flipped, files cut, swapped or gone: opening or reading them raises, or is safe.

Values are not compared with their checksums when they are read, so they may be others than before. The shape is right,
and so are all rows if only manifests were damaged.
"""

import functools
import tempfile
from pathlib import Path

import networkx as nx
import numpy as np

import nx_fastonl as fo
from tests.fuzz.verdicts import check

DAMAGES = ("bit", "bit", "bit", "byte", "cut", "longer", "swap", "gone")


@functools.cache
def originals():
    """The files of small jobs of every kind by their paths, with their rows in memory."""
    G = nx.path_graph(7)
    G.add_edge(1, 4, weight=2.5)
    mixed = nx.relabel_nodes(G, {0: "zero", 1: (1, "one")})
    texts = nx.relabel_nodes(G, str)
    calls = [
        (G, fo.ppr_matrix, {}),
        (mixed, fo.ppr_matrix, {"sources": [(1, "one"), 3, "zero"], "top_k": 3, "dtype": "float32"}),
        (texts, fo.kernel_matrix, {"kernel": "scaled-laplacian", "S": np.linspace(1.0, 2.0, 7)}),
    ]
    return [(_files_of(function, G, options), list(G), function(G, **options)) for G, function, options in calls]


def _files_of(function, G, options):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows"
        function(G, out=path, rows_per_shard=3, **options)
        return {str(each.relative_to(path)): each.read_bytes() for each in sorted(path.rglob("*")) if each.is_file()}


def matrices(draw):
    """One folder, damaged, opened and read."""
    files, nodes, expected = draw.choice(originals())
    files, damaged = dict(files), set()
    for _ in range(draw.choice([1, 1, 1, 2, 3])):
        name, damage = draw.choice(sorted(files)), draw.choice(DAMAGES)
        draw.note(name=name, damage=damage)
        damaged.add(Path(name).name)
        content = _damaged(draw, files, name, damage)
        if content is not None:
            files[name] = content
        elif len(files) > 1:
            del files[name]
    with tempfile.TemporaryDirectory() as folder:
        for name, content in files.items():
            path = Path(folder) / name
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(content)
        try:
            matrix = fo.open_matrix(folder)
            rows, other = matrix.to_scipy(), matrix[::-1]
        except (ValueError, FileNotFoundError):
            return False
        check(rows.shape == other.shape == expected.shape, "{} rows and columns", rows.shape)
        check(rows.dtype == expected.dtype, "{} values", rows.dtype)
        rows.check_format(full_check=True)
        check(rows.nnz == other.nnz, "{} and {} values", rows.nnz, other.nnz)
        if damaged == {"manifest.json"}:
            check((rows != expected).nnz == 0, "other rows, though their arrays are whole")
            check(list(matrix.nodes) == nodes, "other nodes, though their arrays are whole")
        _read(matrix, nodes)
    return True


def _damaged(draw, files, name, damage):
    """The content of a file after a damage, None if it is gone."""
    content = bytearray(files[name])
    # More often near the end, where the numbers of an array are, than in what comes before.
    at = draw.below(len(content) + 1) if draw.chance(0.3) else max(0, len(content) - 1 - draw.below(64))
    if damage in ("bit", "byte") and at < len(content):
        content[at] ^= 1 << draw.below(8) if damage == "bit" else draw.between(1, 255)
    elif damage == "cut":
        del content[at:]
    elif damage == "longer":
        content += draw.rest(64)
    elif damage == "swap":
        return files[draw.choice(sorted(files))]
    elif damage == "gone":
        return None
    return bytes(content)


def _read(matrix, nodes):
    """Every way to read rows; a name that is another one now, or no text, is refused."""
    for read in (matrix.row, matrix.error, lambda node: matrix.rows([node])):
        for node in nodes:
            try:
                read(node)
            except nx.NodeNotFound as error:
                check("has no row of" in str(error), "{}", error)
            except ValueError as error:
                check("UTF-8" in str(error), "{}", error)
    try:
        sum(len(names) for names, _ in matrix.shards())
    except ValueError as error:
        check("UTF-8" in str(error), "{}", error)
