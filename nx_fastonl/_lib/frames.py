"""Tables and columns of data frame libraries -> lists of plain Python objects and arrays; lists -> tables.

narwhals reads all of them alike. It is imported only where somebody has passed one, so has loaded their library.
"""

from __future__ import annotations

import sys
from collections.abc import Hashable, Mapping, Sequence
from contextlib import suppress
from datetime import date, datetime, timedelta
from importlib import import_module
from typing import Any, Literal, NoReturn, get_args

import numpy as np
from numpy.typing import NDArray

from nx_fastonl._lib.checks import a_few, shortened
from nx_fastonl._lib.plain import is_missing

__all__ = [
    "FIRST_INEXACT",
    "Backend",
    "Column",
    "Table",
    "is_frame",
    "make_frame",
    "named_nodes",
    "one_column",
    "read_frame",
    "whole_numbers",
]

# Packages whose tables and columns are read.
LIBRARIES = (
    "cudf",
    "dask",
    "duckdb",
    "ibis",
    "modin",
    "narwhals",
    "pandas",
    "polars",
    "pyarrow",
    "pyspark",
    "sqlframe",
)
# What tables that are not computed yet have. Values of these packages, such as a time, have none of them.
COLLECTIONS = ("__len__", "collect", "compute", "execute")
# From here on, floats no longer tell integers apart.
FIRST_INEXACT = 2**53
# The libraries whose tables `make_frame` makes.
Backend = Literal["pandas", "polars", "pyarrow"]
BACKENDS = get_args(Backend)
# Types of values that every library has for columns.
PLAIN_TYPES = {bool, int, float, str, bytes, date, datetime, timedelta}


def is_frame(values: object) -> bool:
    """Whether this is a table or a column of a data frame library. Nothing is imported to find out."""
    kind = type(values)
    if kind.__module__ in ("builtins", "numpy"):
        return False
    packages = (str(base.__module__).partition(".")[0] for base in kind.__mro__)
    return any(package in LIBRARIES for package in packages) and any(hasattr(kind, name) for name in COLLECTIONS)


def read_frame(values: Any, name: str) -> Table | Column:
    """A table or column that `is_frame`; errors call it `name`."""
    try:
        import narwhals as nw
    except ImportError as error:
        kind = type(values).__module__.partition(".")[0]
        raise ImportError(
            f"{name} is a {type(values).__name__} of {kind}, which needs narwhals: pip install narwhals"
        ) from error
    try:
        found = nw.from_native(_as_series(values), allow_series=True, pass_through=True)
    except nw.exceptions.DuplicateError as error:
        raise ValueError(f"{name} is a table with two columns of the same name: {error}") from error
    if isinstance(found, nw.LazyFrame):
        kind = type(values).__name__
        raise TypeError(f"{name} is a {kind}, whose rows are not there yet: collect it first, as {name}.collect() does")
    if isinstance(found, nw.DataFrame):
        return Table(found, name)
    if isinstance(found, nw.Series):
        has_index = hasattr(values, "index") and hasattr(values, "items")  # as in pandas
        return Column(found, name, _index_of(values, name) if has_index else None)
    raise TypeError(f"{name} must be a table or a column of pandas, polars or Arrow, got {shortened(values)}")


def _index_of(values: Any, name: str) -> Column:
    import narwhals as nw

    return Column(nw.from_native(_as_series(values.index), series_only=True), f"the index of {name}")


def _as_series(values: Any) -> Any:
    """The same as narwhals knows it: an index of pandas, or an array of it or of Arrow, as a column."""
    pandas, pyarrow = sys.modules.get("pandas"), sys.modules.get("pyarrow")
    if pandas is not None and isinstance(values, pandas.Index):
        return pandas.Series(values.to_flat_index())
    if pandas is not None and isinstance(values, pandas.api.extensions.ExtensionArray):
        return pandas.Series(values)
    if pyarrow is not None and isinstance(values, pyarrow.Array):
        return pyarrow.chunked_array([values])
    if pyarrow is not None and isinstance(values, pyarrow.RecordBatch):
        return pyarrow.Table.from_batches([values])
    return values


class Column:
    """A column of values.

    Attributes
    ----------
    name : str
        What errors call it.
    native : object
        The column as its library has it.
    index : Column or None
        The index of a column of pandas.
    """

    def __init__(self, series: Any, name: str, index: Column | None = None) -> None:
        self._series, self.name, self.index = series, name, index
        self.native = series.to_native()

    def __len__(self) -> int:
        return len(self._series)

    @property
    def has_integers(self) -> bool:
        """Whether its type is that of integers, so that none is missing or all can be."""
        return bool(self._series.dtype.is_integer())

    @property
    def has_numbers(self) -> bool:
        """Whether its type is that of numbers."""
        return bool(self._series.dtype.is_numeric())

    def holds_numbers(self) -> bool:
        """Whether its values are numbers, also if its type is that of any objects, or of categories."""
        return self.has_numbers or self._holds(int, float, np.integer, np.floating)

    def holds_integers(self) -> bool:
        """The same of integers."""
        return self.has_integers if self.has_numbers else self._holds(int, np.integer)

    def _holds(self, *kinds: type) -> bool:
        """Whether it has values, and all are of these types."""
        found = [value for value in self._series.to_list() if not is_missing(value)]
        return bool(found) and all(isinstance(value, kinds) and not isinstance(value, bool) for value in found)

    @property
    def counts_rows(self) -> bool:
        """Whether its index has nothing but the numbers of the rows, which is what columns have by default."""
        index = self.native.index
        return getattr(index, "start", None) == 0 and getattr(index, "step", None) == 1  # of a RangeIndex

    @property
    def has_names(self) -> bool:
        """Whether an index says which node each value is for. One that counts the rows does not."""
        return self.index is not None and not (len(self) and self.counts_rows)

    @property
    def casts(self) -> tuple[str, str]:
        """The calls that make floats and a list of it, as its library writes them."""
        library = self._series.implementation
        if library.is_polars():
            return "cast(float)", "to_list()"
        return ('cast("double")', "to_pylist()") if library.is_pyarrow() else ("astype(float)", "tolist()")

    @property
    def n_missing(self) -> int:
        return int(self._series.null_count())

    def values(self) -> list[Any]:
        """The values as plain Python objects; None where one is missing.

        Libraries make floats of integers where some are missing. So where all numbers are whole, they are integers.
        """
        self._check_times()
        found: list[Any] = self._series.to_list()
        if not self.has_integers or self.n_missing:
            found = [_plain(value) for value in found]
        if any(type(value) is float for value in found) and all(map(_is_whole, found)):
            return [int(value) if type(value) is float else value for value in found]
        return found

    def nodes(self) -> list[Hashable]:
        """The same, of a column that names nodes: none may be missing."""
        found = self.nodes_or_none()
        self._refuse_missing([row for row, value in enumerate(found) if value is None], "node")
        return found

    def nodes_or_none(self) -> list[Hashable | None]:
        """The same, where a row need not name a node."""
        found = self.values()
        if any(type(value) is bool for value in found):
            raise ValueError(f"{self.name} must name nodes, got a column of booleans; pass the nodes where it is true")
        bits = 24 if str(self._series.dtype) == "Float32" else 53  # of the integers that its floats tell apart
        are_floats = self._series.dtype.is_float()
        numbers = (x for x in found if type(x) is float or (are_floats and x is not None))
        inexact = next((x for x in numbers if abs(x) >= 2**bits), None)
        if inexact is not None:
            raise ValueError(
                f"{self.name} holds {float(inexact)!r}: floats of its type do not tell integers apart from 2**{bits} "
                "on; read the column as integers, in pandas as dtype Int64"
            )
        return found

    def check_complete(self, what: str) -> None:
        """Raise if a row has no value, which is `what`."""
        if self._series.dtype.is_float():
            self._refuse_missing(np.flatnonzero(np.isnan(self.numbers())), what)
        elif self.n_missing:
            self._refuse_missing(np.flatnonzero(self._series.is_null().to_numpy()), what)

    def _refuse_missing(self, rows: Sequence[int] | NDArray[np.intp], what: str) -> None:
        if len(rows):
            raise ValueError(
                f"{self.name} has no {what} in row {rows[0]}, and in {len(rows)} of {len(self)} rows in all; "
                "leave these rows out"
            )

    def integers(self) -> NDArray[np.int64] | None:
        """An array, where all are integers of up to 64 bits with a sign, so that none becomes a Python object."""
        if not self.has_integers or self.n_missing:
            return None
        found: NDArray[Any] = self._series.to_numpy()
        fits = found.dtype.kind == "i" or (found.dtype.kind == "u" and (found <= np.iinfo(np.int64).max).all())
        return found.astype(np.int64) if fits else None

    def numbers(self) -> NDArray[np.float64]:
        """An array of floats, NaN where one is missing."""
        import narwhals as nw

        if self.has_numbers:
            return np.array(self._series.cast(nw.Float64).to_numpy(), dtype=np.float64)
        values = [np.nan if value is None else value for value in self.values()]
        bad = next((value for value in values if isinstance(value, bool) or not isinstance(value, int | float)), None)
        if bad is not None:
            raise TypeError(f"{self.name} must hold numbers, got {shortened(bad)} in a column of {self._series.dtype}")
        return np.array(values, dtype=np.float64)

    def _check_times(self) -> None:
        """Raise for times that Python cannot hold, which libraries would cut."""
        nanoseconds = self._nanoseconds()
        if nanoseconds is not None and len(nanoseconds) and (nanoseconds % 1000 != 0).any():
            raise ValueError(
                f"{self.name} holds times with nanoseconds, and those of Python have microseconds: cast it to those"
            )

    def _nanoseconds(self) -> Any:
        """A column that says how many nanoseconds there are beside other units; None if its type holds none."""
        import narwhals as nw

        dtype, times = self._series.dtype, self._series.drop_nulls()
        if isinstance(dtype, nw.Datetime) and dtype.time_unit == "ns":
            return times.dt.nanosecond()
        if isinstance(dtype, nw.Duration) and dtype.time_unit == "ns":
            return times.dt.total_nanoseconds()
        if isinstance(dtype, nw.Time):
            kind = str(getattr(self.native, "dtype", None) or self.native.type)
            return times.cast(nw.Int64) if "[" not in kind or "[ns]" in kind else None  # those of polars have no unit
        return None


class Table:
    """A table with named columns.

    Attributes
    ----------
    name : str
        What errors call it.
    columns : list of str
        The names of its columns, as texts: in pandas, they may be others.
    """

    def __init__(self, frame: Any, name: str) -> None:
        self._frame, self.name = frame, name
        self.columns = [str(column) for column in frame.columns]

    def __len__(self) -> int:
        return len(self._frame)

    def column(self, number: int) -> Column:
        """A column, counted from 0."""
        column = self._frame.columns[number]
        return Column(self._frame.get_column(column), f"column {shortened(column)} of {self.name}")

    def named(self, *names: str) -> list[Column]:
        """The columns of these names or, if there are so many and no more, the columns in their order.

        Then a column with one of the names must be in its place: else it cannot be told what the others are.
        """
        if all(self.columns.count(name) == 1 for name in names):
            return [self.column(self.columns.index(name)) for name in names]
        if len(self.columns) != len(names) or any(
            column in names and column != name for column, name in zip(self.columns, names, strict=True)
        ):
            expected = names[0] if len(names) == 1 else f"{' and '.join(names)}, or {len(names)} in this order"
            self.refuse(
                f"expected columns {expected}" if len(names) > 1 else f"expected a column {expected}", len(names)
            )
        return [self.column(number) for number in range(len(names))]

    def refuse(self, expected: str, n_columns: int) -> NoReturn:
        """Raise: it cannot be told which of its columns count."""
        library = type(self._frame.to_native()).__module__.partition(".")[0]
        hint = ""
        columns = self._frame.columns
        if len(columns) > n_columns:
            chosen = columns[:n_columns]
            hint = f"; {self.name}.select({chosen})" if library == "pyarrow" else f"; {self.name}[{chosen}]"
            hint += f" chooses {n_columns} of them"
        elif library == "pandas":
            hint = "; reset_index() makes a column of an index"
        raise ValueError(f"{self.name} is a table with the columns {a_few(columns)}; {expected}{hint}")


def named_nodes(values: Any, name: str) -> NDArray[np.int64] | list[Hashable]:
    """The nodes that a column names: an array of integers, where all fit into one, or a list of plain objects."""
    column = one_column(values, name, "node")
    integers = column.integers()
    return column.nodes() if integers is None else integers


def one_column(values: Any, name: str, column: str) -> Column:
    """A column that was passed or, of a table, the one of this name, or its only one."""
    found = read_frame(values, name)
    return found.named(column)[0] if isinstance(found, Table) else found


def _plain(value: Any) -> Any:
    """A value as a plain Python object; None if it is missing."""
    if is_missing(value):
        return None
    if isinstance(value, np.generic) and value.dtype.kind not in "mM":
        return value.item()
    if getattr(value, "nanosecond", 0) or getattr(value, "nanoseconds", 0):  # of pandas
        raise ValueError(f"{value!r} has nanoseconds, and times of Python have microseconds: round it to those")
    if isinstance(value, datetime) and type(value) is not datetime:  # of pandas
        return value.to_pydatetime() if hasattr(value, "to_pydatetime") else value
    if isinstance(value, timedelta) and type(value) is not timedelta:
        return value.to_pytimedelta() if hasattr(value, "to_pytimedelta") else value
    return value


def _is_whole(value: Any) -> bool:
    """Whether this is no float, or one that stands for an integer exactly."""
    return type(value) is not float or (value.is_integer() and abs(value) < FIRST_INEXACT)


def whole_numbers(values: NDArray[np.floating[Any]], name: str) -> NDArray[np.int64]:
    """Floats that libraries have made of integers, as integers again."""
    most = 2.0 ** (np.finfo(values.dtype).nmant + 1)
    exact = values.astype(np.float64)
    bad = ~((exact == np.trunc(exact)) & (np.abs(exact) < most))
    if bad.any():
        row = int(bad.argmax())
        raise TypeError(f"{name} holds {float(values[row])!r} in row {row}; expected an integer or a text in every row")
    return exact.astype(np.int64)


def make_frame(columns: Mapping[str, Any], backend: Backend) -> Any:
    """A table with these columns, of which arrays hold numbers, and other sequences names, or None for none."""
    if not (isinstance(backend, str) and backend in BACKENDS):
        valid = ", ".join(f'"{name}"' for name in BACKENDS)
        raise ValueError(f"unknown backend {shortened(backend)}; tables are made by {valid}")
    for package in ("narwhals", backend):
        try:
            import_module(package)
        except ImportError as error:
            raise ImportError(f'to_frame(backend="{backend}") needs {package}: pip install {package}') from error
    import narwhals as nw

    numbers: dict[str, Any] = {"b": nw.Boolean, "i": nw.Int64, "f": nw.Float64}
    made = {}
    for name, values in columns.items():
        if isinstance(values, np.ndarray):
            made[name] = nw.new_series(name, values.tolist(), numbers[values.dtype.kind], backend=backend)
        elif backend == "pandas":
            made[name] = nw.from_native(_pandas_series(values), series_only=True)
        else:
            made[name] = nw.new_series(name, _of_one_type(values, name, backend), backend=backend)
    return nw.from_dict(made).to_native()


def _pandas_series(names: Sequence[Any]) -> Any:
    """Names of one type in that type; others, of which some may be missing, and texts that UTF-8 lacks, as objects."""
    Series = import_module("pandas").Series
    kinds = set(map(type, names))
    if len(kinds) == 1 and kinds <= PLAIN_TYPES:
        with suppress(UnicodeEncodeError):
            return Series(list(names))
    return Series(list(names), dtype=object)


def _of_one_type(names: Sequence[Any], column: str, backend: str) -> list[Any]:
    """Names, each of which may be missing, in a library whose columns have one type."""
    kinds = {type(name) for name in names if name is not None}
    listed = sorted({_type_name(name) for name in names if name is not None})
    is_long = kinds == {int} and any(name is not None and not -(2**63) <= name < 2**63 for name in names)
    if len(listed) > 1 or not kinds <= PLAIN_TYPES or is_long:
        held = "integers of more than 64 bits" if is_long else ", ".join(listed)
        raise TypeError(
            f"the column {column} holds values of type {held}, and a column of {backend} holds plain values of one "
            'type: pass backend="pandas"'
        )
    return list(names)


def _type_name(value: Any) -> str:
    """The type of a value. Times with a time zone and those without are of two."""
    has_zone = isinstance(value, datetime) and value.tzinfo is not None
    return f"{type(value).__name__}{' with a time zone' if has_zone else ''}"
