"""Saved folders that somebody has altered, and whose checksums were mended."""

import json
from contextlib import contextmanager

import numpy as np

from nx_fastonl._lib.folders import Content, open_folder, write_folder


@contextmanager
def tampered(folder):
    """What a folder holds, in arrays that can be changed; in the end, the folder holds that, with right checksums."""
    manifest = json.loads((folder / "manifest.json").read_text())
    kind, version = manifest["format"], manifest["version"]
    details, arrays, derived, derived_arrays = open_folder(folder, kind, version).content
    copies = [{name: np.array(array) for name, array in part.items()} for part in (arrays, derived_arrays)]
    content = Content(details, copies[0], derived, copies[1])
    yield content
    write_folder(folder, kind, version, content)
