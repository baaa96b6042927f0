"""Journals with bits flipped, cut, with records swapped or zeros: refused, or the first records as they were."""

import functools
import tempfile
import warnings
from pathlib import Path

from nx_fastonl._lib.journal import Journal, JournalDamaged
from tests import oracles
from tests.fuzz.verdicts import check

TOKEN = b"a snapshot"
PAYLOADS = (
    (),
    (b"",),
    (b"one", b"two", b"six", b"ten"),
    (b"same", b"same", b"same"),
    (b"", b"\0", b"\0" * 12, b"\0" * 40, b""),
    (b"short", bytes(range(256)) * 20, b"", b"last"),
    tuple(b"%d" % i for i in range(40)),
)
DAMAGES = (
    "bit",
    "bit",
    "bit",
    "byte",
    "cut",
    "cut",
    "longer",
    "swap",
    "swap",
    "repeat",
    "gone",
    "zeros",
    "torn",
    "other",
)


@functools.cache
def originals():
    """The payloads of each journal, its content, and where its records begin and end."""
    return [(list(payloads), *_written(payloads, TOKEN)) for payloads in PAYLOADS]


def _written(payloads, token):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "events"
        with Journal.create(path, token, sync="never") as journal:
            bounds = [journal.append(payload) for payload in payloads]
            bounds.append(journal.n_bytes)
        return path.read_bytes(), bounds


def _damaged(draw, content, bounds, damage):
    """The content, damaged. Records are taken from where they were at first."""
    content = bytearray(content)
    spared = bounds[0] if draw.chance(0.9) else 0  # a damaged header ends the story early
    at = draw.between(min(spared, len(content)), len(content))
    if damage in ("bit", "byte") and at < len(content):
        content[at] ^= 1 << draw.below(8) if damage == "bit" else draw.between(1, 255)
    elif damage == "cut":
        del content[at:]
    elif damage == "longer":
        content += draw.rest(64)
    elif damage == "zeros":
        content[at : at + 64] = bytes(len(content[at : at + 64]))
    elif damage == "torn":
        content[at:] = bytes(len(content) - at + draw.below(100))
    elif damage == "other":
        content[at:] = draw.choice(originals())[1][at:]
    elif len(bounds) > 2:
        i, j = sorted((draw.below(len(bounds) - 1), draw.below(len(bounds) - 1)))
        first, second = content[bounds[i] : bounds[i + 1]], content[bounds[j] : bounds[j + 1]]
        if damage == "swap" and i < j:
            between = content[bounds[i + 1] : bounds[j]]
            content[bounds[i] : bounds[j + 1]] = second + between + first
        elif damage == "repeat":
            content[bounds[j] : bounds[j]] = first
        elif damage == "gone":
            del content[bounds[i] : bounds[i + 1]]
    return bytes(content)


def journals(draw):
    """One journal, damaged, opened, perhaps recovered, and appended to."""
    payloads, content, bounds = draw.choice(originals())
    damages = [draw.choice(DAMAGES) for _ in range(draw.choice([1, 1, 1, 2, 3]))]
    for damage in damages:
        content = _damaged(draw, content, bounds, damage)
    draw.note(payloads=payloads, damages=damages, content=content)
    expected, end, is_torn = oracles.journal_of(content)
    check("other" in damages or expected == payloads[: len(expected)], "{} look whole", expected)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "events"
        path.write_bytes(content)
        try:
            found = _records_and_more(path, recover=False)
        except JournalDamaged as error:
            check((error.offset, error.records) == (end, len(expected)), "{} instead of byte {}", error, end)
            check(not is_torn, "a torn end counts as damage: {}", error)
            check(path.read_bytes() == content, "a journal that was refused has changed")
            if end == 0:
                return False
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)
                found = _records_and_more(path, recover=True)
            (aside,) = path.parent.glob("events.damaged-*")
            check(aside.read_bytes() == content[end:], "what was set aside is not the rest")
        else:
            check(is_torn, "damage counts as a torn end")
        check(found == expected, "{} instead of {}", found, expected)
        again = _records_and_more(path, recover=False)
        check(again == [*expected, b"more"], "{} after one was appended to {}", again, expected)
    return True


def _records_and_more(path, *, recover):
    """What a journal holds when it is opened. Then one record is appended."""
    with Journal.open(path, sync="never", recover=recover) as journal:
        found = list(journal.records())
        check(journal.n_records == len(found), "{} records instead of {}", journal.n_records, len(found))
        journal.append(b"more")
        check(journal.n_bytes == path.stat().st_size, "the file has another length than {}", journal.n_bytes)
        return found
