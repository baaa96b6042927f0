"""Records of a journal: JSON, followed by arrays as they are in memory."""

from __future__ import annotations

import json
import struct
from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nx_fastonl._lib.checks import shortened
from nx_fastonl._lib.plain import from_json, to_json

__all__ = ["RecordReader", "RecordWriter"]

LENGTH = struct.Struct("<I")
# From so many integers on, names are written as an array.
MIN_ARRAY = 8
INT64 = np.iinfo(np.int64)


class RecordWriter:
    """Gathers the arrays of a record. Where each belongs, the JSON has its type and length."""

    def __init__(self) -> None:
        self._arrays: list[bytes] = []

    def array(self, array: NDArray[Any]) -> list[Any]:
        """What stands for an array in the JSON."""
        plain = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))
        self._arrays.append(plain.tobytes())
        return [plain.dtype.str, len(plain)]

    def names(self, names: Sequence[Hashable] | NDArray[np.int64], what: str) -> Any:
        """What stands for names in the JSON; `what` they name is said in errors."""
        if isinstance(names, np.ndarray):
            return {"array": self.array(names)}
        plain = [to_json(name, what) for name in names]
        if len(plain) >= MIN_ARRAY and all(type(name) is int and INT64.min <= name <= INT64.max for name in plain):
            return {"array": self.array(np.array(plain, dtype=np.int64))}
        return plain

    def record(self, content: Any) -> bytes:
        text = json.dumps(content, separators=(",", ":")).encode()
        return b"".join((LENGTH.pack(len(text)), text, *self._arrays))


class RecordReader:
    """The reverse: `content` is the JSON, and arrays are read in the order in which they were written."""

    def __init__(self, record: bytes) -> None:
        (length,) = LENGTH.unpack_from(record)
        self.content: Any = json.loads(record[LENGTH.size : LENGTH.size + length])
        self._rest = memoryview(record)[LENGTH.size + length :]

    def array(self, entry: Any, dtype: Any) -> NDArray[Any]:
        """A copy of the next array, which must have this type."""
        kind, length = entry
        found = np.dtype(dtype).newbyteorder("<")
        if kind != found.str or type(length) is not int or not 0 <= length * found.itemsize <= len(self._rest):
            raise ValueError(f"a record has {shortened(entry)} in the place of an array of {found}")
        size = length * found.itemsize
        array: NDArray[Any] = np.frombuffer(self._rest[:size], dtype=found).astype(dtype)
        self._rest = self._rest[size:]
        return array

    def names(self, entry: Any) -> list[Hashable] | NDArray[np.int64]:
        """The next names: integers as an array where they were written as one."""
        if isinstance(entry, dict):
            return self.array(entry["array"], np.int64)
        return list(map(from_json, entry))

    def listed(self, entry: Any) -> list[Hashable]:
        """The same as a list."""
        found = self.names(entry)
        return found.tolist() if isinstance(found, np.ndarray) else found
