"""Files that are written completely or not at all."""

from __future__ import annotations

import os
from pathlib import Path


def write_file(path: Path, content: bytes) -> None:
    """Replace the file by one with this content. If that fails, the file stays as it was.

    The content first goes to a temporary file in the same folder, which then takes the name of the old one.
    """
    if path.exists() and not path.is_file():  # a device such as /dev/null is written to; a folder raises an error
        path.write_bytes(content)
        return
    path = path.resolve()  # a symbolic link keeps pointing to the new file
    temporary = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        temporary.write_bytes(content)
        if path.exists():
            temporary.chmod(path.stat().st_mode)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
