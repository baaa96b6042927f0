"""The note on an example that could not run."""

import importlib.util
from pathlib import Path

EXTENSION = Path(__file__).resolve().parents[2] / "docs" / "_ext" / "unrun.py"


def test_the_note_stands_below_the_title():
    spec = importlib.util.spec_from_file_location("unrun", EXTENSION)
    unrun = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(unrun)
    page = ".. only:: html\n\nA title\n=======\n\nText.\n\nAnother\n=======\n"
    found = unrun.with_note(page)
    assert found == page.replace("=======\n", f"=======\n{unrun.NOTE}", 1)
    assert found.count("could not be had") == 1
