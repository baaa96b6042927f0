"""Saved folders that somebody has altered, and whose checksums were mended."""

import json
from contextlib import contextmanager

import numpy as np

from nx_fastonl._lib import folders
from nx_fastonl._lib.folders import Content


def read(folder):
    """What a folder holds, in arrays that can be changed."""
    manifest = _manifest(folder)
    parts = [
        {name: np.load(folder / entry["file"]) for name, entry in manifest[part].items()}
        for part in ("arrays", "derived_arrays")
    ]
    return Content(manifest["details"], parts[0], manifest["derived"], parts[1])


def mend(folder, content):
    """Write to a folder what it shall hold, with right checksums; return its fingerprint."""
    manifest = _manifest(folder)
    for part, arrays in (("arrays", content.arrays), ("derived_arrays", content.derived_arrays)):
        entries = {}
        for i, (name, array) in enumerate(arrays.items()):
            file, plain = f"{part}-{i:016x}.npy", folders._plain(array)
            with (folder / file).open("wb") as stream:
                entries[name] = {"file": file, **folders._entry(plain, folders._write_array(stream, plain))}
        manifest[part] = entries
    manifest.update(details=content.details, derived=content.derived_details)
    manifest["fingerprint"] = folders._fingerprint(manifest["format"], manifest["details"], manifest["arrays"])
    manifest["checksum"] = folders._digest({name: value for name, value in manifest.items() if name != "checksum"})
    (folder / folders.MANIFEST).write_text(json.dumps(manifest))
    return manifest["fingerprint"]


@contextmanager
def tampered(folder):
    """What a folder holds, to be changed; in the end, the folder holds that, with right checksums."""
    content = read(folder)
    yield content
    mend(folder, content)


def _manifest(folder):
    return json.loads((folder / folders.MANIFEST).read_text())
