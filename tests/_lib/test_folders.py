"""Folders are replaced as a whole: by two processes, by one that is killed, on a disk that is full."""

import errno
import json
import os
import pickle
import stat
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from nx_fastonl._lib import folders
from nx_fastonl._lib.folders import Content, check_sums, fingerprint_of, open_folder, read_arrays, write_folder
from tests._lib.killed_savers import KIND, content, value_in

DAY = 24 * 60 * 60
ROOT = Path(__file__).resolve().parents[2]
POSIX = pytest.mark.skipif(sys.platform == "win32", reason="POSIX")


def files_in(folder):
    return sorted(path.name.partition("-")[0] for path in folder.iterdir())


def test_what_is_saved_is_opened(tmp_path):
    arrays = {
        "doubles": np.random.default_rng(0).random((3, 4)),
        "integers": np.arange(7, dtype=np.int32),
        "columns": np.asfortranarray(np.arange(6.0).reshape(2, 3)),
        "big_endian": np.arange(3, dtype=">i8"),
        "none": np.empty(0, dtype=np.uint8),
    }
    details = {"text": "ä\ud800", "number": 0.1, "huge": 10**40, "list": [None, True]}
    saved = Content(details, arrays, {"seed": 3}, {"more": np.zeros(2)})
    fingerprint = write_folder(tmp_path / "new", KIND, 3, saved)
    found = open_folder(tmp_path / "new", KIND, 3)
    assert found.fingerprint == fingerprint == fingerprint_of(KIND, saved)
    assert found.content.details == details
    assert found.content.derived_details == {"seed": 3}
    for name, array in arrays.items():
        np.testing.assert_array_equal(found.content.arrays[name], array)
        assert not found.content.arrays[name].flags.writeable or array.size == 0
    check_sums(found)
    copies = read_arrays(found, ["doubles"])
    copies["doubles"][0] = 1.0


@POSIX
@pytest.mark.parametrize("is_there", [False, True])
def test_the_name_of_a_new_folder_is_synced(tmp_path, monkeypatch, is_there):
    if is_there:  # made by a process that was killed
        (tmp_path / "new").mkdir()
    synced, sync = [], os.fsync
    monkeypatch.setattr(os, "fsync", lambda file: (synced.append(os.fstat(file).st_ino), sync(file)))
    write_folder(tmp_path / "new", KIND, 1, content(1))
    assert {tmp_path.stat().st_ino, (tmp_path / "new").stat().st_ino} <= set(synced)


def test_fingerprints_tell_content_apart_and_nothing_else(tmp_path):
    one = content(1)
    assert fingerprint_of(KIND, one) == fingerprint_of(KIND, content(1)._replace(derived_details={"more": 2}))
    others = [
        content(2),
        content(1, size=6),
        one._replace(details={"value": 1, "b": 2}),
        one._replace(arrays={**one.arrays, "numbers": one.arrays["numbers"].astype(np.int32)}),
        one._replace(arrays={**one.arrays, "none": np.empty((3, 0))}),
    ]
    assert fingerprint_of(KIND, one) not in [fingerprint_of(KIND, other) for other in others]
    assert fingerprint_of("else", one) != fingerprint_of(KIND, one)
    assert write_folder(tmp_path / "a", KIND, 1, one) == write_folder(tmp_path / "b", KIND, 1, one)


def test_saving_again_takes_the_place_of_what_was_saved(tmp_path):
    folder = tmp_path / "saved"
    write_folder(folder, KIND, 1, content(1))
    old = open_folder(folder, KIND, 1)
    link = tmp_path / "link"
    link.symlink_to(folder)
    write_folder(link, KIND, 1, content(2))
    assert value_in(folder) == value_in(link) == 2
    assert link.is_symlink()
    assert files_in(folder) == ["manifest.json", "none", "numbers"]
    assert (old.content.arrays["numbers"] == 1).all()  # what is mapped stays


@pytest.mark.parametrize("step", ["_write_array", "sync_folder", "write_file"])
@pytest.mark.parametrize("is_new", [True, False])
@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, "No space left on device"), KeyboardInterrupt()])
def test_an_error_or_an_interrupt_leaves_what_was_there(tmp_path, monkeypatch, step, is_new, error):
    folder = tmp_path / "saved"
    if not is_new:
        write_folder(folder, KIND, 1, content(1))
    before = sorted(tmp_path.rglob("*"))

    def fail(*_, **_options):
        raise error

    monkeypatch.setattr(folders, step, fail)
    with pytest.raises(type(error)) as caught:
        write_folder(folder, KIND, 1, content(2))
    assert isinstance(error, KeyboardInterrupt) or "saved" in str(caught.value)
    monkeypatch.undo()
    assert sorted(tmp_path.rglob("*")) == before
    if not is_new:
        assert value_in(folder) == 1


def test_an_interrupt_right_after_the_manifest_was_replaced_leaves_the_new_state(tmp_path, monkeypatch):
    write_folder(tmp_path / "saved", KIND, 1, content(1))

    def replace_and_stop(path, text, **_options):
        path.write_bytes(text)
        raise KeyboardInterrupt

    monkeypatch.setattr(folders, "write_file", replace_and_stop)
    with pytest.raises(KeyboardInterrupt):
        write_folder(tmp_path / "saved", KIND, 1, content(2))
    assert value_in(tmp_path / "saved") == 2


def test_without_replace_the_first_content_stays(tmp_path):
    write_folder(tmp_path / "saved", KIND, 1, content(1), replace=False)
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(FileExistsError, match="saved"):
        write_folder(tmp_path / "saved", KIND, 1, content(2), replace=False)
    assert value_in(tmp_path / "saved") == 1
    assert sorted(tmp_path.rglob("*")) == before


def test_an_error_about_damage_can_be_pickled(tmp_path):
    error = folders.DamagedError(tmp_path, "an array is too short")
    assert str(pickle.loads(pickle.dumps(error))) == str(error)
    assert str(error) == f"{tmp_path} is damaged: an array is too short. Save it again, or take it from a backup"


@POSIX
@pytest.mark.parametrize("is_new", [True, False])
def test_names_are_on_disk_before_and_after_the_manifest_is_replaced(tmp_path, monkeypatch, is_new):
    folder = tmp_path / "saved"
    if not is_new:
        write_folder(folder, KIND, 1, content(1))
    synced = []

    def record(handle):
        if stat.S_ISDIR(os.fstat(handle).st_mode):
            value = value_in(folder) if (folder / "manifest.json").exists() else None
            synced.append((os.fstat(handle).st_ino, value))

    monkeypatch.setattr(os, "fsync", record)
    write_folder(folder, KIND, 1, content(2))
    own, parent = folder.stat().st_ino, tmp_path.stat().st_ino
    assert synced == ([(own, None), (own, 2), (parent, 2)] if is_new else [(own, 1), (own, 2)])


def test_files_of_killed_processes_are_removed_after_a_day(tmp_path):
    write_folder(tmp_path, KIND, 1, content(1))
    old, recent, others = (tmp_path / name for name in ("a-0123456789abcdef.npy", "b-0123456789abcdef.npy", "c.npy"))
    for file in (old, recent, others):
        file.write_bytes(b"")
    for file in (old, others):
        os.utime(file, (time.time() - 2 * DAY,) * 2)
    write_folder(tmp_path, KIND, 1, content(2))
    assert (old.exists(), recent.exists(), others.exists()) == (False, True, True)


def test_folders_with_another_purpose_are_left_alone(tmp_path):
    (tmp_path / "file").write_text("mine")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.tex").write_text("mine")
    write_folder(tmp_path / "other", "another kind", 1, content(1))
    for name, why in (
        ("file", "this is a file"),
        ("mine", "the folder has other files, such as thesis.tex"),
        ("other", "another kind"),
    ):
        with pytest.raises(FileExistsError, match=why) as caught:
            write_folder(tmp_path / name, KIND, 1, content(2))
        assert name in str(caught.value)
    with pytest.raises(FileNotFoundError, match="no folder"):
        write_folder(tmp_path / "no" / "where", KIND, 1, content(2))
    assert (tmp_path / "file").read_text() == (tmp_path / "mine" / "thesis.tex").read_text() == "mine"
    (tmp_path / "empty").mkdir()
    write_folder(tmp_path / "empty", KIND, 1, content(3))
    assert value_in(tmp_path / "empty") == 3


def test_what_cannot_be_opened_says_why(tmp_path):
    write_folder(tmp_path / "newer", KIND, 7, content(1))
    write_folder(tmp_path / "other", "another kind", 1, content(1))
    (tmp_path / "empty").mkdir()
    (tmp_path / "file").write_text("")
    for name, kind, why in (
        ("newer", ValueError, "newer nx_fastonl, in version 7 .* up to 1: pip install --upgrade"),
        ("other", ValueError, "holds 'another kind', expected 'a test'"),
        ("empty", FileNotFoundError, "the folder has no manifest.json"),
        ("file", NotADirectoryError, "this is a file"),
        ("missing", FileNotFoundError, "no such folder"),
    ):
        with pytest.raises(kind, match=why) as caught:
            open_folder(tmp_path / name, KIND, 1)
        assert name in str(caught.value)


def edited(folder, change, *, with_fingerprint=False):
    """Change the manifest, and keep its checksum right, perhaps its fingerprint too."""
    manifest = json.loads((folder / "manifest.json").read_text())
    del manifest["checksum"]
    change(manifest)
    if with_fingerprint:
        manifest["fingerprint"] = folders._fingerprint(manifest["format"], manifest["details"], manifest["arrays"])
    manifest["checksum"] = folders._digest(manifest)
    (folder / "manifest.json").write_text(json.dumps(manifest))


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda m: m["arrays"].update(numbers={}), "not as it was written"),
        (lambda m: m.update(version="1"), "version is '1'"),
        (lambda m: m.update(version=0), "version is 0"),
        (lambda m: m.pop("arrays"), "not as it was written"),
        (lambda m: m.pop("derived"), "not as it was written"),
        (lambda m: m.pop("fingerprint"), "not as it was written"),
        (lambda m: m.update(arrays=[1]), "not as it was written"),
        (lambda m: m["arrays"]["numbers"].pop("sha256"), "not as it was written"),
        (lambda m: m["details"].update(value=2), "not as it was written"),
    ],
)
def test_edited_manifests_are_noticed(tmp_path, change, why):
    write_folder(tmp_path, KIND, 1, content(1))
    edited(tmp_path, change)
    with pytest.raises(ValueError, match=why):
        open_folder(tmp_path, KIND, 1)


@pytest.mark.parametrize(
    ("entry", "why"),
    [
        ({"file": "../../etc/passwd"}, "entry in the manifest is wrong"),
        ({"file": "numbers-0123456789abcdef.npy"}, "missing"),
        ({"shape": [4]}, "shape"),
        ({"shape": [-5]}, "entry in the manifest is wrong"),
        ({"shape": [10**30]}, "shape"),
        ({"dtype": "|O"}, "entry in the manifest is wrong"),
        ({"dtype": "<f8"}, "float64 of shape"),
    ],
)
def test_entries_of_arrays_that_were_edited_with_their_fingerprint_are_noticed(tmp_path, entry, why):
    write_folder(tmp_path, KIND, 1, content(1))
    edited(tmp_path, lambda m: m["arrays"]["numbers"].update(entry), with_fingerprint=True)
    with pytest.raises(ValueError, match=why):
        open_folder(tmp_path, KIND, 1)


def test_a_damaged_folder_can_be_saved_again(tmp_path):
    write_folder(tmp_path, KIND, 1, content(1))
    (tmp_path / "manifest.json").write_text("{")
    write_folder(tmp_path, KIND, 1, content(2))
    assert value_in(tmp_path) == 2
    (tmp_path / "manifest.json").write_text("{")
    (tmp_path / "thesis.tex").write_text("mine")
    with pytest.raises(FileExistsError, match="holds 'something else'"):
        write_folder(tmp_path, KIND, 1, content(3))


def test_files_that_are_cut_or_longer_are_noticed(tmp_path):
    write_folder(tmp_path, KIND, 1, content(1))
    (file,) = tmp_path.glob("numbers-*.npy")
    whole = file.read_bytes()
    for damaged in (whole[:-1], whole + b"\0", whole[:50], b""):
        file.write_bytes(damaged)
        with pytest.raises(ValueError, match="damaged: array numbers"):
            open_folder(tmp_path, KIND, 1)
    file.write_bytes(whole[:-1] + b"\7")
    found = open_folder(tmp_path, KIND, 1)
    with pytest.raises(ValueError, match="checksum of its array numbers"):
        check_sums(found)
    with pytest.raises(ValueError, match="checksum of its array numbers"):
        read_arrays(found, ["numbers"])


@POSIX
def test_killed_savers_and_readers_beside_savers_leave_and_see_whole_states(tmp_path):
    command = [sys.executable, "-m", "tests._lib.killed_savers", str(tmp_path), "200"]
    found = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stderr
    replaced, seen = (list(map(int, line.split())) for line in found.stdout.splitlines())
    assert replaced[0] > 20
    assert seen == sorted(seen)
    assert seen[-1] == 99


@POSIX
def test_on_a_full_disk_what_was_saved_stays(tmp_path):
    disk = tmp_path / "disk"
    disk.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=256k", "none", str(disk)]
    if subprocess.run(command, capture_output=True, check=False).returncode != 0:
        pytest.skip("only the administrator can mount a small disk")
    try:
        write_folder(disk / "saved", KIND, 1, content(1))
        before = sorted(disk.rglob("*"))
        for size in (10_000, 28_000, 100_000):
            with pytest.raises(OSError, match=r"No space left on device.*saved"):
                write_folder(disk / "saved", KIND, 1, content(2, size=4 * size))
            assert sorted(disk.rglob("*")) == before
            assert value_in(disk / "saved") == 1
        with pytest.raises(OSError, match=r"No space left on device.*other"):
            write_folder(disk / "other", KIND, 1, content(2, size=100_000))
        assert not (disk / "other").exists()
    finally:
        subprocess.run(["umount", str(disk)], check=True)


def test_a_folder_that_cannot_be_written_is_named(tmp_path):
    if sys.platform == "win32" or os.geteuid() == 0:
        pytest.skip("the administrator may write everywhere")
    Path(tmp_path).chmod(0o500)
    with pytest.raises(PermissionError, match="saved"):
        write_folder(tmp_path / "saved", KIND, 1, content(1))
