"""The layout of a journal: a header and then records. Numbers are unsigned, the lowest byte first.

- Header: magic (8 bytes), version (4), length of the token (4), the token, CRC-32 of all of these (4).
- Record: length of the payload (4), CRC-32 of the payload (4), check (4), the payload.

The token is the caller's: it says which snapshot the journal continues. The check of a record is the CRC-32 of the
record's offset, its length and the CRC-32 of its payload, begun with the CRC-32 of the header. So a damaged length is
told from an end that was torn off, and no record is taken for one of another place or of a journal with another token.
A check of 0 is written as 1: zeros are no record.

A crash may leave a part of the last write, or zeros in the place of its end. That is a torn end, which opening cuts
off. Anything else that is wrong is damage. The two cannot always be told apart:

- A last record with a wrong checksum counts as torn, even if it was acknowledged, and its disk damaged it later.
- A power cut may keep later blocks of what was not yet synced, and lose earlier ones. That counts as damage. All
  records that were synced stand before it.
"""

from __future__ import annotations

import os
import secrets
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple
from zlib import crc32

from nx_fastonl._lib.checks import shortened
from nx_fastonl._lib.files import sync_folder, write_all
from nx_fastonl._lib.forks import removed_on_error

__all__ = [
    "Header",
    "JournalDamaged",
    "as_payload",
    "begins_record",
    "new_header",
    "read_header",
    "read_records",
    "record_head",
    "scan",
    "set_aside",
]

MAGIC, VERSION = b"nxfo-log", 1
HEADER, RECORD, CHECKED, CRC = struct.Struct("<8sII"), struct.Struct("<III"), struct.Struct("<QII"), struct.Struct("<I")
MAX_TOKEN, MAX_PAYLOAD = 1 << 16, (1 << 32) - 1
BLOCK = 1 << 20


class JournalDamaged(ValueError):  # noqa: N818  the file is at fault, not the program
    """A journal is not as it was written. `records` whole records stand before the damage at byte `offset`."""

    def __init__(self, path: Path, offset: int, records: int, why: str) -> None:
        advice = "Take it from a backup"
        if offset > 0:
            advice += ", or open it with recover=True: that keeps the records before the damage"
        super().__init__(f"{path} is damaged at byte {offset}, after {records} whole records: {why}. {advice}")
        self.path, self.offset, self.records = path, offset, records


class Header(NamedTuple):
    """What the header says, its CRC-32, and where the first record begins."""

    token: bytes
    crc: int
    size: int


class Scan(NamedTuple):
    """Where the last whole record ends, how many there are, and what is damaged there, if it is no torn end."""

    end: int
    n: int
    damage: str


def new_header(token: bytes) -> bytes:
    token = _as_bytes("token", token, MAX_TOKEN)
    header = HEADER.pack(MAGIC, VERSION, len(token)) + token
    return header + CRC.pack(crc32(header))


def read_header(path: Path, file: BinaryIO) -> Header:
    header = file.read(HEADER.size)
    if len(header) < HEADER.size or not header.startswith(MAGIC):
        raise JournalDamaged(path, 0, 0, "it does not begin as a journal")
    _, version, length = HEADER.unpack(header)
    header += file.read(min(length, MAX_TOKEN))
    crc = crc32(header)
    if len(header) < HEADER.size + length or file.read(CRC.size) != CRC.pack(crc):
        raise JournalDamaged(path, 0, 0, "the checksum of its header is wrong")
    if version > VERSION:
        raise ValueError(
            f"{path} was written by a newer nx_fastonl, in version {version} of its format; this one reads versions up "
            f"to {VERSION}: pip install --upgrade nx-fastonl"
        )
    return Header(header[HEADER.size :], crc, len(header) + CRC.size)


def as_payload(value: bytes) -> bytes:
    return _as_bytes("a record", value, MAX_PAYLOAD)


def record_head(header: Header, at: int, length: int, payload_crc: int) -> bytes:
    """What stands before a payload."""
    return RECORD.pack(length, payload_crc, _check_of(header, at, length, payload_crc))


def begins_record(header: Header, file: BinaryIO, at: int) -> bool:
    file.seek(at)
    return _read_head(header, file, at) is not None


def read_records(path: Path, header: Header, file: BinaryIO, at: int, end: int) -> Iterator[bytes]:
    """Iterate over the payloads between two positions where records begin, all of them whole when last looked at."""
    file.seek(at)
    while at < end:
        head = _read_head(header, file, at)
        payload = file.read(head[0]) if head else b""
        if head is None or crc32(payload) != head[1]:
            n = sum(1 for _ in read_records(path, header, file, header.size, at))
            raise JournalDamaged(path, at, n, "it has changed since it was opened")
        yield payload
        at += RECORD.size + len(payload)


def scan(header: Header, file: BinaryIO) -> Scan:
    """Read all records, in bounded memory."""
    at, n, size = header.size, 0, os.fstat(file.fileno()).st_size
    file.seek(at)
    while at < size:
        head = _read_head(header, file, at)
        after = at + RECORD.size + (head[0] if head else 0)
        if head is None or after > size or _crc_of(file, head[0]) != head[1]:
            damage = "the check of a record's length is wrong" if head is None else "the checksum of a record is wrong"
            return Scan(at, n, "" if _only_zeros(file, after) else damage)
        at, n = after, n + 1
    return Scan(at, n, "")


def set_aside(path: Path, file: BinaryIO, at: int) -> Path:
    """Copy what follows to a new file beside the journal."""
    aside = path.with_name(f"{path.name}.damaged-{secrets.token_hex(4)}")
    file.seek(at)
    with removed_on_error(aside), aside.open("xb", buffering=0) as copy:
        while block := file.read(BLOCK):
            write_all(copy, block)
        os.fsync(copy.fileno())
    sync_folder(path.parent)
    return aside


def _as_bytes(name: str, value: bytes, most: int) -> bytes:
    if not isinstance(value, bytes | bytearray | memoryview):
        raise TypeError(f"{name} must be bytes, got {shortened(value)}")
    if memoryview(value).nbytes > most:
        raise ValueError(f"{name} must have at most {most:,} bytes, got {memoryview(value).nbytes:,}")
    return bytes(value)


def _check_of(header: Header, at: int, length: int, payload_crc: int) -> int:
    return crc32(CHECKED.pack(at, length, payload_crc), header.crc) or 1


def _read_head(header: Header, file: BinaryIO, at: int) -> tuple[int, int] | None:
    """The length and the CRC-32 of the payload that follows. None if no record begins here."""
    head = file.read(RECORD.size)
    if len(head) < RECORD.size:
        return None
    length, payload_crc, check = RECORD.unpack(head)
    return (length, payload_crc) if check == _check_of(header, at, length, payload_crc) else None


def _crc_of(file: BinaryIO, length: int) -> int:
    found = 0
    while length > 0:
        block = file.read(min(length, BLOCK))
        if not block:
            return -1
        found, length = crc32(block, found), length - len(block)
    return found


def _only_zeros(file: BinaryIO, at: int) -> bool:
    """Whether nothing else follows."""
    file.seek(at)
    while block := file.read(BLOCK):
        if block.count(0) < len(block):
            return False
    return True
