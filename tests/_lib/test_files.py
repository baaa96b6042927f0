import errno
import os
import secrets
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from nx_fastonl._lib import files
from nx_fastonl._lib.files import locked, write_file

DAY = 24 * 60 * 60


def test_a_file_is_replaced_as_a_whole(tmp_path, monkeypatch):
    path = tmp_path / "out.csv"
    write_file(path, b"old")
    link = tmp_path / "link.csv"
    link.symlink_to(path)
    write_file(link, b"new")
    assert (path.read_bytes(), link.is_symlink()) == (b"new", True)

    def fail(*_, **__):
        raise OSError("no")

    monkeypatch.setattr(os, "replace", fail)
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


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX permissions")
@pytest.mark.parametrize("umask", [0o022, 0o077])
def test_permissions_of_a_new_file_follow_the_umask(tmp_path, umask):
    before = os.umask(umask)
    try:
        write_file(tmp_path / "new.csv", b"new")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "new.csv").stat().st_mode) == 0o666 & ~umask


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX permissions")
def test_nobody_else_reads_a_private_file_while_it_is_written(tmp_path, monkeypatch):
    path = tmp_path / "mine.csv"
    path.write_text("old")
    path.chmod(0o600)
    seen = []
    monkeypatch.setattr(os, "fsync", lambda descriptor: seen.append(stat.S_IMODE(os.fstat(descriptor).st_mode)))
    write_file(path, b"new")
    assert seen == [0o600]


def test_content_is_on_disk_before_the_file_is_replaced(tmp_path, monkeypatch):
    path = tmp_path / "out.csv"
    path.write_text("old")
    seen = []

    def sync(descriptor):
        seen.append((os.fstat(descriptor).st_size, path.read_text()))

    monkeypatch.setattr(os, "fsync", sync)
    write_file(path, b"newer")
    assert seen == [(5, "old")]


def test_a_planted_link_is_not_followed(tmp_path, monkeypatch):
    """Even one with the name of the temporary file, which nobody can know."""
    path, precious = tmp_path / "out.csv", tmp_path / "precious"
    precious.write_text("mine")
    names = []
    monkeypatch.setattr(secrets, "token_hex", lambda n: "0" * 2 * n)
    monkeypatch.setattr(os, "fsync", lambda _: names.extend(tmp_path.glob(".*.part")))
    write_file(path, b"new")
    (temporary,) = names
    for planted in (temporary, tmp_path / f".out.csv.{os.getpid()}.part"):
        planted.symlink_to(precious)
    with pytest.raises(FileExistsError, match=r"out\.csv"):
        write_file(path, b"newer")
    assert (path.read_text(), precious.read_text(), temporary.is_symlink()) == ("new", "mine", True)
    monkeypatch.undo()
    write_file(path, b"newer")
    assert (path.read_text(), path.is_symlink(), precious.read_text()) == ("newer", False, "mine")


def test_names_of_temporary_files_differ(tmp_path, monkeypatch):
    names = set()
    monkeypatch.setattr(os, "fsync", lambda _: names.update(path.name for path in tmp_path.glob(".*.part")))
    for _ in range(3):
        write_file(tmp_path / "out.csv", b"new")
    assert len(names) == 3


def test_the_longest_name_and_others_that_are_odd(tmp_path):
    names = ["x" * 251 + ".csv", "ä" * 125 + ".csv", "[a]*?.csv", " .csv", "two\nlines"]
    for name in names:
        path = tmp_path / name
        for content in (b"old", b"new"):
            write_file(path, content)
        assert path.read_bytes() == b"new"
    assert len(list(tmp_path.iterdir())) == len(names)


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
def test_what_a_killed_process_left_is_removed_after_a_day(tmp_path):
    path = tmp_path / "out.csv"
    path.write_text("old")
    program = (
        "import os, pathlib, signal, sys\n"
        "from nx_fastonl._lib.files import write_file\n"
        "os.fsync = lambda _: os.kill(os.getpid(), signal.SIGKILL)\n"
        "write_file(pathlib.Path(sys.argv[1]), b'new')\n"
    )
    found = subprocess.run([sys.executable, "-c", program, path], check=False, timeout=60)
    assert found.returncode == -signal.SIGKILL
    (left,) = tmp_path.glob(".*.part")
    assert (path.read_text(), left.read_text()) == ("old", "new")

    (tmp_path / "other.part").touch()
    os.utime(tmp_path / "other.part", (0, 0))
    for age, stays in ((DAY - 60, True), (DAY + 60, False)):
        os.utime(left, (time.time() - age,) * 2)
        write_file(tmp_path / "another.csv", b"")  # not its temporary file
        assert left.exists()
        write_file(path, b"newer")
        assert (path.read_text(), left.exists()) == ("newer", stays)
    assert (tmp_path / "other.part").exists()


class Full:
    """A file on a full disk: it takes a few bytes."""

    def __init__(self, file):
        self._file = file

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._file.close()

    def __getattr__(self, name):
        return getattr(self._file, name)

    def write(self, content):
        self._file.write(content[:2])
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.mark.parametrize("before", [None, "old"])
def test_no_room_for_the_content(tmp_path, monkeypatch, before):
    path = tmp_path / "out.csv"
    if before:
        path.write_text(before)
    full = lambda *args, **options: Full(open(*args, **options))  # noqa: E731, PTH123, SIM115
    monkeypatch.setattr(files, "open", full, raising=False)
    with pytest.raises(OSError, match="No space left on device") as caught:
        write_file(path, b"content")
    assert (caught.value.errno, caught.value.filename) == (errno.ENOSPC, str(path))
    assert [entry.read_text() for entry in tmp_path.iterdir()] == [before] * bool(before)


def test_an_error_that_comes_late(tmp_path, monkeypatch):
    """Some file systems find out that there is no room only when they are asked to write to the disk."""

    def full(_):
        raise OSError(errno.EDQUOT, os.strerror(errno.EDQUOT))

    path = tmp_path / "out.csv"
    path.write_text("old")
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match=r"out\.csv") as caught:
        write_file(path, b"new")
    assert (caught.value.errno, caught.value.filename) == (errno.EDQUOT, str(path))
    assert [entry.read_text() for entry in tmp_path.iterdir()] == ["old"]


@pytest.mark.parametrize("number", [errno.EACCES, errno.EROFS])
def test_a_folder_that_cannot_be_written_to(tmp_path, monkeypatch, number):
    """Not by its permissions, which do not hold root up."""

    def refuse(name, *_args, **_options):
        raise OSError(number, os.strerror(number), name)

    path = tmp_path / "out.csv"
    path.write_text("old")
    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(OSError, match=os.strerror(number)) as caught:
        write_file(path, b"new")
    assert caught.value.filename == str(path)
    assert isinstance(caught.value, PermissionError) == (number == errno.EACCES)
    assert [entry.read_text() for entry in tmp_path.iterdir()] == ["old"]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
def test_a_device_that_is_full():
    with pytest.raises(OSError, match="No space left on device: '/dev/full'"):
        write_file(Path("/dev/full"), b"content")


def test_a_folder_and_a_link_to_itself(tmp_path):
    with pytest.raises(IsADirectoryError if sys.platform != "win32" else PermissionError, match=tmp_path.name):
        write_file(tmp_path, b"content")
    link = tmp_path / "link"
    link.symlink_to(link)
    with pytest.raises(OSError, match=os.strerror(errno.ELOOP)):
        write_file(link, b"content")
    assert list(tmp_path.iterdir()) == [link]
    with pytest.raises(FileNotFoundError) as caught:
        write_file(tmp_path / "nowhere" / "out.csv", b"content")
    assert caught.value.filename == str(tmp_path / "nowhere" / "out.csv")


HOLD = """
import pathlib, sys, time
from nx_fastonl._lib.files import locked
with locked(pathlib.Path(sys.argv[1])):
    print("locked", flush=True)
    time.sleep(600)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
def test_a_lock_is_free_once_its_holder_is_killed(tmp_path, monkeypatch):
    pytest.importorskip("filelock")
    path = tmp_path / "out.csv"
    with subprocess.Popen([sys.executable, "-c", HOLD, path], stdout=subprocess.PIPE) as holder:
        try:
            assert holder.stdout.readline() == b"locked\n"
            monkeypatch.setattr(files, "LOCK_TIMEOUT", 0)
            message = rf"out\.csv: another process has held .*{path.name}\.lock for 0 seconds; end it, then try again"
            with pytest.raises(TimeoutError, match=message), locked(path):
                raise AssertionError("two processes hold the lock")
            with locked(tmp_path / "other.csv"):
                pass
        finally:
            holder.kill()
        holder.wait(timeout=60)
    with locked(path):
        pass


def test_a_lock_where_nothing_can_be_written(tmp_path):
    pytest.importorskip("filelock")
    (tmp_path / "file").touch()
    path = tmp_path / "file" / "out.csv"
    with pytest.raises(OSError, match="file/out") as caught, locked(path):
        pass
    assert caught.value.filename == str(path)


def test_a_lock_needs_filelock(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "filelock", None)
    with pytest.raises(ImportError, match="needs filelock: pip install filelock"), locked(tmp_path / "out.csv"):
        pass


def fails(error):
    def raise_it(*_):
        raise error

    return raise_it


@pytest.mark.parametrize("has_links", [True, False])
def test_without_replace_a_file_that_is_there_stays(tmp_path, monkeypatch, has_links):
    if not has_links:
        monkeypatch.setattr(os, "link", fails(OSError(errno.EPERM, "Operation not permitted")))
    write_file(tmp_path / "new", b"first", replace=False)
    with pytest.raises(FileExistsError, match="new"):
        write_file(tmp_path / "new", b"second", replace=False)
    assert (tmp_path / "new").read_bytes() == b"first"
    assert [path.name for path in tmp_path.iterdir()] == ["new"]
