"""Many small pieces of work: in parallel, and kept on disk so that a run which was stopped goes on where it was."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nx_fastonl._tables import write_file

if TYPE_CHECKING:
    import pandas as pd

Cell = dict[str, Any]  # what one piece of work is for: a graph, a method, a trial, ...
Row = dict[str, Any]  # one of the things that it found
Work = Callable[[Cell], list[Row]]


def run_cells(cells: Sequence[Cell], work: Work, path: Path, jobs: int | None, progress: bool) -> pd.DataFrame:
    """The rows that `work` finds for each cell, the cell's own columns before the others, in the order of the cells.

    Cells whose rows are in the CSV file at `path` are not worked on again. The file is replaced as a whole after each
    cell, so it is never half-written.
    """
    import pandas as pd

    rows = _read(path, cells[0])
    done = {_key(row, cells[0]) for row in rows}
    missing = [cell for cell in cells if _key(cell, cells[0]) not in done]
    results: Iterable[tuple[Cell, list[Row]]] = _results(missing, work, jobs)
    if progress:
        from tqdm import tqdm

        results = tqdm(results, total=len(missing), desc=path.stem, unit="cell", leave=False)
    for cell, found in results:
        new = [{**cell, **row} for row in found]
        rows += new
        # Read again, as another run may have added to it.
        others = [row for row in _read(path, cell) if _key(row, cell) != _key(cell, cell)]
        _write(path, others + new)
    order = {_key(cell, cells[0]): i for i, cell in enumerate(cells)}
    wanted = [row for row in rows if _key(row, cells[0]) in order]
    wanted.sort(key=lambda row: order[_key(row, cells[0])])
    frame = pd.DataFrame([{name: str(value) for name, value in row.items()} for row in wanted])
    return frame.apply(_as_numbers)


def _results(cells: Sequence[Cell], work: Work, jobs: int | None) -> Iterator[tuple[Cell, list[Row]]]:
    """Cells with what was found for them, in the order in which they are done."""
    if jobs in (None, 1):
        for cell in cells:
            yield cell, work(cell)
        return
    from joblib import Parallel, delayed

    parallel = Parallel(n_jobs=jobs, return_as="generator_unordered")
    yield from parallel(delayed(_with_cell)(work, cell) for cell in cells)


def _with_cell(work: Work, cell: Cell) -> tuple[Cell, list[Row]]:
    return cell, work(cell)


def _key(row: Row, columns: Cell) -> tuple[str, ...]:
    """What tells a cell from the others, as it stands in the file."""
    return tuple(str(row[name]) for name in columns)


def _as_numbers(column: pd.Series[Any]) -> pd.Series[Any]:
    import pandas as pd

    try:
        return pd.to_numeric(column)
    except ValueError:
        return column


def _read(path: Path, columns: Cell) -> list[Row]:
    """The rows of earlier runs."""
    if not path.exists() or path.stat().st_size == 0:
        return []
    with path.open(newline="") as file:
        reader = csv.DictReader(file)
        names = list(reader.fieldnames or ())
        if names[: len(columns)] != list(columns):
            raise ValueError(f"{path} holds other results than these, with columns {', '.join(names)}; move it away")
        rows = []
        for row in reader:
            if None in row or None in row.values():
                raise ValueError(f"{path}, line {reader.line_num}: not a row of these results; remove it")
            rows.append(row)
        return rows


def _write(path: Path, rows: list[Row]) -> None:
    content = io.StringIO()
    writer = csv.DictWriter(content, list(rows[0]))
    writer.writeheader()
    writer.writerows(rows)
    write_file(path, content.getvalue().encode())
