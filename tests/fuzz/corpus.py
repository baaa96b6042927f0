"""Inputs that failed: small files of text, which the suite runs again."""

import hashlib
import json
import re
from pathlib import Path

from tests.fuzz.inputs import text_of

FOLDER = Path(__file__).with_name("corpus")
# Of inputs that fail in the same way, this many are kept.
MAX_FILES_EACH = 2
# Of one entry, at most so many.
MAX_FILES = 20
MAX_TRIES = 200


def short(message):
    """The kind of a failure: its message without numbers and values."""
    return hashlib.sha256(re.sub(r"[^A-Za-z ]+", " ", message)[:50].encode()).hexdigest()[:8]


def keep(entry, seed, data, kind, message, notes, shrink=None):
    """Write a failing input to the corpus, unless it holds enough that fail in the same way."""
    name = f"{entry}-{short(kind + message)}"
    same, all_ = (len(list(FOLDER.glob(f"{start}-*.json"))) for start in (name, entry))
    if same >= MAX_FILES_EACH or all_ >= MAX_FILES:
        return None
    if shrink is not None:
        data = shrunk(data, shrink)
    path = FOLDER / f"{name}-{seed}.json"
    content = {
        "entry": entry,
        "seed": seed,
        "found": kind,
        "message": message[:1000],
        "input": {key: text_of(value)[:2000] for key, value in notes.items()},
        "data": data.hex(),
    }
    path.write_text(json.dumps(content, indent=1) + "\n", "utf-8")
    return path


def shrunk(data, fails):
    """Shorter and simpler bytes that fail in the same way; the notes still describe the input that was found."""
    tries = MAX_TRIES
    length = len(data)
    while length > 1 and tries > 0:  # where bytes end, every choice is the first
        tries -= 1
        if fails(data[: length // 2]):
            data = data[: length // 2]
        elif fails(data[: length * 3 // 4]):
            data = data[: length * 3 // 4]
        else:
            break
        length = len(data)
    for at in range(len(data) - 1, -1, -1):
        if tries <= 0:
            break
        if data[at]:
            tries -= 1
            simpler = data[:at] + b"\0" + data[at + 1 :]
            if fails(simpler):
                data = simpler
    return data.rstrip(b"\0")


def read(path):
    """The entry and the bytes of an input."""
    content = json.loads(Path(path).read_text("utf-8"))
    return content["entry"], bytes.fromhex(content["data"])
