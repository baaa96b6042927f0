"""Tables and columns of every kind, made of lists of plain values in which None is missing."""

import pandas as pd
import pyarrow as pa
import pytest

pl = pytest.importorskip("polars", reason="not made for builds of Python without the GIL")


def arrow_chunks(values):
    """A column of Arrow in two chunks of one type."""
    array = pa.array(values)
    middle = len(values) // 2
    return pa.chunked_array([array[:middle], array[middle:]], type=array.type)


def arrow_table(columns):
    return pa.table({name: arrow_chunks(values) for name, values in columns.items()})


def pandas_arrow(columns):
    return arrow_table(columns).to_pandas(types_mapper=pd.ArrowDtype)


# A table of {name: values}.
TABLES = {
    "pandas": pd.DataFrame,
    "pandas objects": lambda columns: pd.DataFrame(columns, dtype=object),
    "pandas nullable": lambda columns: pd.DataFrame(columns).convert_dtypes(dtype_backend="numpy_nullable"),
    "pandas Arrow": pandas_arrow,
    "pandas, other index": lambda columns: pd.DataFrame(columns, index=range(7, 7 + len(next(iter(columns.values()))))),
    "polars": pl.DataFrame,
    "Arrow": arrow_table,
    "Arrow batch": lambda columns: pa.record_batch({name: pa.array(values) for name, values in columns.items()}),
}
# A column without an index.
COLUMNS = {
    "pandas Index": pd.Index,
    "pandas Categorical": pd.Categorical,
    "pandas nullable": lambda values: pd.array(values),
    "polars": pl.Series,
    "Arrow": pa.array,
    "Arrow chunks": arrow_chunks,
}
