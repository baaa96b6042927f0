"""Runs many tasks in parallel, and keeps their records in a file, so that a run that was stopped can be resumed."""

from __future__ import annotations

import csv
import io
from collections.abc import Generator, Iterable, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nx_fastonl._lib.checks import cut
from nx_fastonl._lib.files import locked, write_file
from nx_fastonl._lib.progress import progress_bar
from nx_fastonl.batch.engines import is_elsewhere, over_joblib
from nx_fastonl.experiments.base import Record, Task, Work

if TYPE_CHECKING:
    import pandas as pd


def run_tasks(
    tasks: Sequence[Task], work: Work, path: Path, n_jobs: int | None, progress: bool, *, serial: bool = False
) -> pd.DataFrame:
    """The records of all tasks, in the order of the tasks. The columns of the task come first.

    Tasks whose records are in the CSV file at `path` are not worked on again. The file is replaced after each task, so
    it always holds complete records. Inside of ``joblib.parallel_config``, its workers do the work, unless tasks are
    `serial`. Several runs may share it: each adds its records to those of the others.
    """
    import pandas as pd

    records = _read(path, tasks[0])
    done = {_key(record, tasks[0]) for record in records}
    missing = [task for task in tasks if _key(task, tasks[0]) not in done]
    results = _results(missing, work, n_jobs, serial)
    with closing(results):
        shown: Iterable[tuple[Task, list[Record]]] = results
        if progress:
            shown = progress_bar(results, total=len(missing), desc=path.stem, unit="task", leave=False)
        for task, measured in shown:
            new = [{**task, **record} for record in measured]
            records += new
            with locked(path):  # read the file again: another run may have added records
                others = [record for record in _read(path, task) if _key(record, task) != _key(task, task)]
                _write(path, others + new)
    order = {_key(task, tasks[0]): i for i, task in enumerate(tasks)}
    wanted = [record for record in records if _key(record, tasks[0]) in order]
    wanted.sort(key=lambda record: order[_key(record, tasks[0])])
    frame = pd.DataFrame([{name: str(value) for name, value in record.items()} for record in wanted])
    return frame.apply(_as_numbers)


def _results(
    tasks: Sequence[Task], work: Work, n_jobs: int | None, serial: bool
) -> Generator[tuple[Task, list[Record]]]:
    """Each task with its records, in the order in which they are done."""
    if serial or (n_jobs in (None, 1) and not is_elsewhere()):
        for task in tasks:
            yield task, work(task)
        return
    yield from over_joblib(partial(_with_task, work), tasks, n_jobs)


def _with_task(work: Work, task: Task) -> tuple[Task, list[Record]]:
    return task, work(task)


def _key(record: Record, columns: Task) -> tuple[str, ...]:
    """The task that a record belongs to. Values are compared as texts, as they are in the file."""
    return tuple(str(record[name]) for name in columns)


def _as_numbers(column: pd.Series[Any]) -> pd.Series[Any]:
    import pandas as pd

    try:
        return pd.to_numeric(column.replace("nan", ""))  # pandas 3 reads only an empty text as NaN
    except ValueError:
        return column


def _read(path: Path, columns: Task) -> list[Record]:
    """The records of earlier runs."""
    if not path.exists() or path.stat().st_size == 0:
        return []
    with path.open(encoding="utf-8-sig", newline="") as file:  # a program for tables may have written a mark first
        reader = csv.DictReader(file)
        try:
            names = list(reader.fieldnames or ())
            if names[: len(columns)] != list(columns):
                raise ValueError(
                    f"{path} holds other results than these, with columns {cut(', '.join(names))}; move it away"
                )
            records = []
            for record in reader:
                if None in record or None in record.values():
                    raise ValueError(f"{path}, line {reader.line_num}: not a record of these results; remove it")
                records.append(record)
        except (csv.Error, UnicodeDecodeError) as error:
            raise ValueError(f"{path} is not a table in UTF-8; move it away") from error
        return records


def _write(path: Path, records: list[Record]) -> None:
    content = io.StringIO()
    writer = csv.DictWriter(content, list(records[0]))
    writer.writeheader()
    writer.writerows(records)
    write_file(path, content.getvalue().encode())
