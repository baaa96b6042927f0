import os
from pathlib import Path

import pytest

from nx_fastonl._lib.files import write_file


def test_a_file_is_replaced_as_a_whole(tmp_path, monkeypatch):
    path = tmp_path / "out.csv"
    write_file(path, b"old")
    link = tmp_path / "link.csv"
    link.symlink_to(path)
    write_file(link, b"new")
    assert (path.read_bytes(), link.is_symlink()) == (b"new", True)

    def fail(*_):
        raise OSError("no")

    monkeypatch.setattr(Path, "replace", fail)
    with pytest.raises(OSError, match="no"):
        write_file(path, b"newer")
    assert path.read_bytes() == b"new"
    assert sorted(tmp_path.iterdir()) == [link, path]


def test_what_is_no_file_is_written_to():
    write_file(Path(os.devnull), b"gone")
    assert not Path(os.devnull).is_file()


def test_file_keeps_its_permissions(tmp_path):
    path = tmp_path / "mine.csv"
    path.write_text("old")
    path.chmod(0o600)
    write_file(path, b"new")
    assert (path.read_text(), path.stat().st_mode & 0o777) == ("new", 0o600)
