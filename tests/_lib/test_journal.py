"""Journals keep what was acknowledged: after a crash, on a full disk, after interrupts, beside other processes."""

import errno
import io
import os
import signal
import struct
import subprocess
import sys
import threading
import warnings
from contextlib import suppress
from pathlib import Path
from zlib import crc32

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nx_fastonl._lib import journal as module
from nx_fastonl._lib import journalfile
from nx_fastonl._lib.journal import BATCH_SECONDS, Journal, JournalDamaged
from tests.fuzz.interrupts import Injected, deadline, raising_at

ROOT = Path(__file__).resolve().parents[2]
POSIX = pytest.mark.skipif(sys.platform == "win32", reason="POSIX")
SYNCS = ("always", "batch", "never")
SYNC = "fdatasync" if hasattr(os, "fdatasync") else "fsync"
HEAD = 12  # bytes before a payload
START = 25  # bytes before the first record, with the token b"token"
PAYLOADS = [b"first", b"", b"\0" * 30, bytes(range(256)), b"last one"]
FULL = OSError(errno.ENOSPC, "No space left on device")


@pytest.fixture
def path(tmp_path):
    return tmp_path / "events"


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A file for the inputs of hypothesis, which share one folder."""
    return tmp_path_factory.mktemp("journals") / "events"


def write(path, payloads=PAYLOADS, token=b"token"):
    """Make a journal in place of any that is there; return its content and the positions of its records."""
    path.unlink(missing_ok=True)
    with Journal.create(path, token, sync="never") as journal:
        positions = [journal.append(payload) for payload in payloads]
    return path.read_bytes(), positions


def read(path, **options):
    with Journal.open(path, **options) as journal:
        found = list(journal.records())
        assert len(found) == journal.n_records
        assert path.stat().st_size == journal.n_bytes
    return found


def others_in(path):
    return sorted(each.name for each in path.parent.iterdir() if each.name not in (path.name, f".{path.name}.lock"))


# What was appended comes back


@given(
    st.lists(st.lists(st.binary(max_size=40), max_size=4), max_size=8), st.binary(max_size=20), st.sampled_from(SYNCS)
)
def test_what_is_appended_comes_back(place, groups, token, sync):
    place.unlink(missing_ok=True)
    payloads, positions = [], []
    with Journal.create(place, token, sync) as journal:
        for group in groups:
            at = journal.n_bytes
            assert (journal.append(group[0]) if len(group) == 1 else journal.append_many(group)) == at
            for payload in group:
                positions.append(at)
                at += HEAD + len(payload)
            payloads += group
        assert list(journal.records()) == payloads
        assert (journal.n_records, journal.n_bytes) == (len(payloads), place.stat().st_size)
    with Journal.open(place, sync) as journal:
        assert journal.token == token
        assert (journal.n_records, journal.n_bytes) == (len(payloads), place.stat().st_size)
        for i, position in enumerate([*positions, journal.n_bytes]):
            assert list(journal.records(position)) == payloads[i:]
        journal.append(b"more")
        assert list(journal.records()) == [*payloads, b"more"]


def test_large_records_come_back_from_blocks(path, monkeypatch):
    monkeypatch.setattr(journalfile, "BLOCK", 1000)
    payloads = [bytes(1000), os.urandom(12_345), b"", os.urandom(999)]
    content, positions = write(path, payloads)
    assert read(path) == payloads
    path.write_bytes(content[: positions[1] + 5000] + b"?" + content[positions[1] + 5001 :])
    with pytest.raises(JournalDamaged):
        read(path)
    path.write_bytes(content + bytes(4500))
    assert read(path) == payloads


def test_bytes_like_payloads(path):
    content = bytearray(b"abcd")
    with Journal.create(path, b"") as journal:
        journal.append_many([content, memoryview(content)[1:3]])
        content[0] = 0
        assert list(journal.records()) == [b"abcd", b"bc"]


def test_iterating_sees_what_was_there_when_it_began(path):
    write(path)
    with Journal.open(path) as journal:
        found = journal.records()
        next(found)
        journal.append(b"more")
        assert list(found) == PAYLOADS[1:]


def test_the_layout(path):
    """Files of today must be readable by later versions."""
    content, positions = write(path, [b"abc", b""], token=b"t")
    header = b"nxfo-log" + struct.pack("<II", 1, 1) + b"t"
    expected = header + struct.pack("<I", crc32(header))
    for at, payload in zip(positions, [b"abc", b""], strict=True):
        assert at == len(expected)
        check = crc32(struct.pack("<QII", at, len(payload), crc32(payload)), crc32(header))
        expected += struct.pack("<III", len(payload), crc32(payload), check) + payload
    assert content == expected


# Cutting


@given(st.lists(st.binary(max_size=30), max_size=6), st.data(), st.sampled_from(SYNCS))
def test_records_are_taken_back(place, payloads, data, sync):
    content, positions = write(place, payloads)
    kept = data.draw(st.integers(0, len(payloads)))
    position = [*positions, len(content)][kept]
    with Journal.open(place, sync) as journal:
        journal.cut(position)
        assert (journal.n_records, journal.n_bytes) == (kept, position)
        assert place.read_bytes() == content[:position]
        journal.append(b"instead")
        assert list(journal.records()) == [*payloads[:kept], b"instead"]
    assert read(place) == [*payloads[:kept], b"instead"]


def test_only_positions_of_records_are_taken(path):
    content, positions = write(path)
    with Journal.open(path) as journal:
        for position in set(range(len(content) + 30)) - {*positions, len(content)}:
            for call in (journal.cut, journal.records):
                with pytest.raises(ValueError, match=f"no record begins at {position}"):
                    call(position)
        with pytest.raises(ValueError, match="position must be at least 0, got -1"):
            journal.cut(-1)
        with pytest.raises(TypeError, match=r"position must be a whole number, got 1\.5"):
            journal.records(1.5)
        assert journal.n_records == len(PAYLOADS)
    assert path.read_bytes() == content


# What a crash leaves


@pytest.mark.parametrize("last", [b"", b"x", b"\0\0\0", b"the last record"])
@pytest.mark.parametrize("zeros", [0, 1, 11, 12, 13, 100])
def test_a_torn_end_is_cut_off(path, last, zeros):
    content, positions = write(path, [*PAYLOADS, last])
    for size in range(positions[-1], len(content)):
        path.write_bytes(content[:size] + bytes(zeros))
        # Zeros may be just what was cut off.
        is_whole = (content[:size] + bytes(zeros)).startswith(content)
        assert read(path) == ([*PAYLOADS, last] if is_whole else PAYLOADS)
        assert path.read_bytes() == (content if is_whole else content[: positions[-1]])
        with Journal.open(path) as journal:
            journal.append(b"next")
        assert read(path)[-1] == b"next"


def test_of_many_records_a_crash_keeps_the_first(path):
    content, positions = write(path)
    for size in range(positions[0], len(content)):
        path.write_bytes(content[:size] + bytes(len(content) - size))
        found = read(path)
        assert found == PAYLOADS[: len(found)]
        assert len(found) >= sum(end <= size for end in positions[1:])


def test_a_torn_end_is_cut_off_on_disk_too(path, monkeypatch):
    content, _ = write(path)
    path.write_bytes(content[:-1])
    sizes = sizes_at_syncs(monkeypatch)
    Journal.open(path, sync="never").close()
    assert sizes[-1] == len(content) - HEAD - len(PAYLOADS[-1])


# Damage


def check_damaged(path, content, positions, payloads=PAYLOADS):
    """Open a damaged journal: it says where, or has lost the last record alone."""
    path.write_bytes(content)
    try:
        assert read(path) == payloads[:-1]
    except JournalDamaged as caught:
        error = caught
    else:
        return None
    before = [*positions, len(content)].index(error.offset) if error.offset else 0
    assert error.records == before
    assert f"{path} is damaged at byte {error.offset}, after {before} whole records" in str(error)
    assert path.read_bytes() == content, "a journal that was refused has changed"
    return error.offset


def test_every_flipped_bit_is_noticed(path):
    content, positions = write(path)
    lost = set()
    for at in range(len(content)):
        for bit in range(8):
            damaged = bytearray(content)
            damaged[at] ^= 1 << bit
            offset = check_damaged(path, bytes(damaged), positions)
            if offset is None:
                lost.add(at)
            else:
                assert offset == max([0, *(each for each in positions if each <= at)])
    # Only a wrong checksum of the last payload looks like a torn end: that of a wrong length does not.
    assert lost == set(range(positions[-1] + HEAD, len(content)))


@given(st.lists(st.binary(max_size=40), min_size=1, max_size=6), st.data())
def test_damage_is_noticed(place, payloads, data):
    content, positions = write(place, payloads)
    damaged = bytearray(content)
    at = data.draw(st.integers(0, len(content) - 1))
    for i in range(at, min(at + data.draw(st.integers(1, 8)), len(content))):
        damaged[i] ^= data.draw(st.integers(1, 255))
    check_damaged(place, bytes(damaged), positions, payloads)


def test_records_in_another_order_or_of_another_journal_are_noticed(path):
    payloads = [b"one", b"two", b"six"]
    content, (first, second, third) = write(path, payloads)
    other, _ = write(path, payloads, token=b"nekot")
    swapped = content[:first] + content[second:third] + content[first:second] + content[third:]
    assert check_damaged(path, swapped, [first, second, third]) == first
    assert check_damaged(path, content[:second] + other[second:], [first, second, third]) == second
    assert check_damaged(path, content[:first] + content[second:], [first, second]) == first


@pytest.mark.parametrize("sync", SYNCS)
def test_recovering_keeps_what_stands_before_and_sets_the_rest_aside(path, sync):
    content, positions = write(path)
    damaged = bytearray(content)
    damaged[positions[3] + HEAD] ^= 1
    path.write_bytes(damaged)
    with pytest.raises(JournalDamaged, match="recover=True"):
        Journal.open(path, sync)
    assert others_in(path) == []
    with pytest.warns(UserWarning, match="damaged at byte") as caught:
        journal = Journal.open(path, sync, recover=True)
    assert caught[0].filename == __file__
    (aside,) = others_in(path)
    assert str(path.with_name(aside)) in str(caught[0].message)
    assert path.with_name(aside).read_bytes() == damaged[positions[3] :]
    with journal:
        assert list(journal.records()) == PAYLOADS[:3]
        journal.append(b"next")
    assert read(path) == [*PAYLOADS[:3], b"next"]
    assert read(path, recover=True) == [*PAYLOADS[:3], b"next"]  # and no warning: nothing is damaged
    assert others_in(path) == [aside]


def test_recovering_with_warnings_as_errors(path):
    content, positions = write(path)
    path.write_bytes(content[: positions[1]] + b"?" + content[positions[1] :])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(UserWarning, match="damaged at byte"):
            Journal.open(path, recover=True)
    assert read(path) == PAYLOADS[:1]
    assert len(others_in(path)) == 1


def test_a_journal_stays_as_it_is_if_the_rest_cannot_be_set_aside(path, monkeypatch):
    content, positions = write(path)
    damaged = content[: positions[1]] + b"?" + content[positions[1] :]
    path.write_bytes(damaged)

    def write_half(file, content):
        file.write(content[:10])
        raise FULL

    monkeypatch.setattr(journalfile, "write_all", write_half)
    with pytest.raises(OSError, match=r"No space left on device.*events"):
        Journal.open(path, recover=True)
    assert path.read_bytes() == damaged
    assert others_in(path) == []


def test_a_damaged_header_is_not_recovered(path):
    content, positions = write(path)
    for damaged in (b"", content[:5], content[: positions[0] - 1], b"?" + content[1:], b"PAR1 and so on, for long"):
        path.write_bytes(damaged)
        with pytest.raises(JournalDamaged, match=r"events is damaged at byte 0, after 0 .*Take it from a backup$"):
            Journal.open(path, recover=True)
        assert path.read_bytes() == damaged


def test_a_damaged_length_of_the_token_takes_no_memory():
    sizes = []

    class Recorded(io.BytesIO):
        def read(self, size):
            sizes.append(size)
            return super().read(size)

    header = journalfile.new_header(b"token")
    with pytest.raises(JournalDamaged, match="the checksum of its header is wrong"):
        journalfile.read_header(Path("events"), Recorded(header[:12] + b"\xff" * 4 + header[16:]))
    assert max(sizes) <= 65_536


def test_what_changed_since_opening_is_noticed(path):
    content, positions = write(path)
    with Journal.open(path) as journal:
        path.write_bytes(content[: positions[2] + HEAD] + b"?" + content[positions[2] + HEAD + 1 :])
        for start in (None, positions[1]):
            found = journal.records(start)
            with pytest.raises(JournalDamaged, match="after 2 whole records: it has changed") as caught:
                list(found)
            assert (caught.value.offset, caught.value.records) == (positions[2], 2)


# Errors name the value and what would be right


def test_what_is_refused(path, monkeypatch):
    with pytest.raises(FileNotFoundError, match="events"):
        Journal.open(path)
    assert list(path.parent.iterdir()) == []
    with pytest.raises(TypeError, match="token must be bytes, got 'text'"):
        Journal.create(path, "text")
    with pytest.raises(ValueError, match="token must have at most 65,536 bytes, got 65,537"):
        Journal.create(path, bytes(65_537))
    with pytest.raises(ValueError, match="sync must be one of 'always', 'batch', 'never', got 'often'"):
        Journal.create(path, b"", sync="often")
    assert not path.exists()
    content, _ = write(path)
    with pytest.raises(FileExistsError, match=r"exists already.*events"):
        Journal.create(path, b"")
    assert path.read_bytes() == content
    monkeypatch.setattr(journalfile, "MAX_PAYLOAD", 10)
    with Journal.open(path) as journal:
        for payload in ("text", 5, None):
            with pytest.raises(TypeError, match=f"a record must be bytes, got {payload!r}"):
                journal.append(payload)
        with pytest.raises(ValueError, match="a record must have at most 10 bytes, got 11"):
            journal.append_many([b"short", bytes(11)])
        assert journal.n_records == len(PAYLOADS)
    assert path.read_bytes() == content
    with pytest.raises(OSError, match="nowhere"):
        Journal.create(path.parent / "nowhere" / "events", b"")


def test_a_newer_version_is_named(path, monkeypatch):
    monkeypatch.setattr(journalfile, "VERSION", 7)
    write(path)
    monkeypatch.undo()
    with pytest.raises(ValueError, match=r"newer nx_fastonl, in version 7 .* up to 1: pip install --upgrade") as caught:
        Journal.open(path, recover=True)
    assert not isinstance(caught.value, JournalDamaged)


def test_a_closed_journal_says_so(path):
    write(path)
    journal = Journal.open(path)
    journal.close()
    journal.close()
    for call in (lambda: journal.append(b""), lambda: journal.cut(START), journal.sync, journal.records):
        with pytest.raises(ValueError, match="events is closed"):
            call()


# Syncing


def sizes_at_syncs(monkeypatch):
    """The sizes that the file had when it was synced, as they come."""
    sizes, sync = [], getattr(os, SYNC)

    def record(fd):
        sizes.append(os.fstat(fd).st_size)
        sync(fd)

    monkeypatch.setattr(os, SYNC, record)
    return sizes


def test_always_syncs_before_it_returns(path, monkeypatch):
    with Journal.create(path, b"") as journal:
        sizes = sizes_at_syncs(monkeypatch)
        for payload in PAYLOADS:
            journal.append(payload)
            assert sizes[-1] == journal.n_bytes
        assert len(sizes) == len(PAYLOADS)
        position = journal.append_many(PAYLOADS)
        assert len(sizes) == len(PAYLOADS) + 1
        journal.cut(position)
        assert sizes[-1] == position == journal.n_bytes
        n = len(sizes)
    assert len(sizes) == n, "closing has nothing left to sync"


def test_batch_syncs_what_is_old_enough(path, monkeypatch):
    with Journal.create(path, b"", sync="batch") as journal:
        sizes, now = sizes_at_syncs(monkeypatch), [0.0]
        monkeypatch.setattr(module.time, "monotonic", lambda: now[0])
        journal.sync()
        del sizes[:]
        found = []
        for i in range(10):
            now[0] = 0.04 * i
            journal.append(b"x")
            found.append(len(sizes))
            assert path.stat().st_size == journal.n_bytes
        # What was written at 0.00 is synced at 0.12, what was written at 0.16 at 0.28.
        assert BATCH_SECONDS == 0.1
        assert found == [0, 0, 0, 1, 1, 1, 1, 2, 2, 2]
        journal.sync()
        assert sizes[-1] == journal.n_bytes
        journal.append(b"x")
        n = len(sizes)
    assert sizes[n:] == [path.stat().st_size]


def test_closing_syncs_what_was_cut(path, monkeypatch):
    _, positions = write(path)
    with Journal.open(path, sync="batch") as journal:
        sizes = sizes_at_syncs(monkeypatch)
        journal.cut(positions[2])
        assert sizes == []
    assert sizes == [positions[2]]


def test_the_name_of_a_new_journal_is_synced(path, monkeypatch):
    synced = []
    monkeypatch.setattr(module, "sync_folder", lambda folder: synced.append((folder, path.exists())))
    Journal.create(path, b"").close()
    assert synced == [(path.parent, True)]


def test_never_syncs_only_when_asked(path, monkeypatch):
    sizes = sizes_at_syncs(monkeypatch)
    with Journal.create(path, b"", sync="never") as journal:
        del sizes[:]
        monkeypatch.setattr(module.time, "monotonic", iter(range(1000)).__next__)
        journal.append_many(PAYLOADS)
        journal.cut(journal.append(b"x"))
        assert sizes == []
        journal.sync()
        assert sizes == [journal.n_bytes]
        journal.append(b"x")
    assert len(sizes) == 1


@pytest.mark.parametrize("sync", SYNCS)
def test_after_a_failed_sync_nothing_more_is_taken(path, monkeypatch, sync):
    write(path)
    journal = Journal.open(path, sync)

    def fail(_):
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(os, SYNC, fail)
    with pytest.raises(OSError, match=r"Input/output error.*events"):
        journal.append(b"x") if sync == "always" else journal.sync()
    monkeypatch.undo()  # a second sync would succeed, though what the first one should have written is gone
    for call in (lambda: journal.append(b"y"), journal.sync, lambda: journal.cut(journal.n_bytes)):
        with pytest.raises(OSError, match=r"no more records, since it could not be synced.*Input/output.*events"):
            call()
    assert list(journal.records()) == PAYLOADS
    journal.close()
    assert read(path) == PAYLOADS


def test_a_failed_sync_at_closing_is_raised_and_the_lock_freed(path, monkeypatch):
    journal = Journal.create(path, b"", sync="batch")
    journal.append(b"x")

    def fail(_):
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(os, SYNC, fail)
    with pytest.raises(OSError, match=r"Input/output error.*events"):
        journal.close()
    monkeypatch.undo()
    journal.close()
    assert read(path) == [b"x"]


# A full disk


def write_half_and_fail(monkeypatch, halves=1, error=FULL):
    """Make `os.write` write half of what it is given, so many times, and then fail."""
    write, left = os.write, [halves]

    def half(fd, content):
        if left[0] == 0:
            raise error
        left[0] -= 1
        return write(fd, content[: (len(content) + 1) // 2])

    monkeypatch.setattr(os, "write", half)


@pytest.mark.parametrize("sync", SYNCS)
@pytest.mark.parametrize("halves", [0, 1, 3])
def test_a_write_that_fails_half_way_is_taken_back(path, monkeypatch, sync, halves):
    content, _ = write(path)
    with Journal.open(path, sync) as journal:
        for payloads in ([b"some text"], PAYLOADS):
            write_half_and_fail(monkeypatch, halves)
            with pytest.raises(OSError, match=r"No space left on device.*events"):
                journal.append_many(payloads)
            monkeypatch.undo()
            assert path.read_bytes() == content
            assert (journal.n_bytes, journal.n_records) == (len(content), len(PAYLOADS))
        journal.append(b"next")
    assert read(path) == [*PAYLOADS, b"next"]


def test_short_writes_go_on(path, monkeypatch):
    write_half_and_fail(monkeypatch, halves=1000)
    with Journal.create(path, b"") as journal:
        journal.append_many(PAYLOADS)
    assert read(path) == PAYLOADS


def test_if_taking_back_fails_nothing_more_is_taken(path, monkeypatch):
    write(path)
    journal = Journal.open(path)

    def fail(*_):
        raise OSError(errno.EIO, "Input/output error")

    write_half_and_fail(monkeypatch)
    monkeypatch.setattr(os, "ftruncate", fail)
    with pytest.raises(OSError, match="No space left on device"):
        journal.append(b"some text")
    monkeypatch.undo()
    with pytest.raises(OSError, match=r"no more records, since .* could not be cut off.*Input/output error.*events"):
        journal.append(b"next")
    assert list(journal.records()) == PAYLOADS
    journal.close()
    assert read(path) == PAYLOADS


@POSIX
def test_a_full_disk(tmp_path):
    disk = tmp_path / "disk"
    disk.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=256k", "none", str(disk)]
    if subprocess.run(command, capture_output=True, check=False).returncode != 0:
        pytest.skip("only the administrator can mount a small disk")
    try:
        with Journal.create(disk / "events", b"") as journal:
            for size, fits in ((400_000, False), (100_000, True), (100_000, True), (100_000, False), (50_000, True)):
                if fits:
                    journal.append(bytes(size))
                else:
                    with pytest.raises(OSError, match=r"No space left on device.*events"):
                        journal.append(bytes(size))
                assert (disk / "events").stat().st_size == journal.n_bytes
            assert [len(payload) for payload in journal.records()] == [100_000, 100_000, 50_000]
        assert [len(payload) for payload in read(disk / "events")] == [100_000, 100_000, 50_000]
    finally:
        subprocess.run(["umount", str(disk)], check=True)


# One writer


def test_a_second_opener_is_refused_until_the_first_closes(path):
    link = path.with_name("link")
    link.symlink_to(path)
    with Journal.create(path, b"") as journal:
        for call in (
            lambda: Journal.open(path),
            lambda: Journal.open(link),
            lambda: Journal.open(path, recover=True),
            lambda: Journal.create(path, b""),
        ):
            with pytest.raises(BlockingIOError, match=r"open already.*(events|link)"):
                call()
        journal.append(b"x")
    assert read(link) == [b"x"]


@POSIX
def test_closing_frees_a_lock_that_another_process_has_inherited(path):
    journal = Journal.create(path, b"")
    inherited = os.dup(journal._lock_file.fileno())
    try:
        journal.close()
        assert read(path) == []
    finally:
        os.close(inherited)


def test_another_process_is_refused_until_the_holder_dies(path):
    write(path)
    code = (
        "import sys, time; from nx_fastonl._lib.journal import Journal\n"
        "j = Journal.open(sys.argv[1]); print('open', flush=True); time.sleep(600)"
    )
    holder = subprocess.Popen([sys.executable, "-c", code, str(path)], cwd=ROOT, stdout=subprocess.PIPE)
    try:
        assert holder.stdout.readline() == b"open" + os.linesep.encode()
        with pytest.raises(BlockingIOError, match=r"open already.*events"):
            Journal.open(path)
    finally:
        holder.kill()
        holder.wait()
        holder.stdout.close()
    assert read(path) == PAYLOADS


def test_a_failed_opening_frees_the_lock(path):
    content, positions = write(path)
    path.write_bytes(content[: positions[1]] + b"?" + content[positions[1] :])
    for _ in range(2):
        with pytest.raises(JournalDamaged):
            Journal.open(path)


FORKS = """
import os, signal, sys, threading
from nx_fastonl._lib.journal import Journal

path = sys.argv[1]
journal = Journal.open(path)
journal._lock.acquire()  # as if another thread were appending
child = os.fork()
if child == 0:
    refused = 0
    for call in (lambda: journal.append(b"child"), lambda: journal.cut(25), journal.sync, lambda: Journal.open(path)):
        try:
            call()
        except (ValueError, BlockingIOError) as error:
            refused += path in str(error)
    journal.close()
    try:
        Journal.open(path)
    except BlockingIOError:
        refused += 1
    os._exit(refused)
journal._lock.release()
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
journal.append(b"parent")
# A child that outlives its parent does not keep the lock.
reader, writer = os.pipe()
if os.fork() == 0:
    os.write(writer, b"x")
    os.read(int(sys.argv[2]), 1)
    os._exit(0)
os.read(reader, 1)
sys.stdout.flush()
os.kill(os.getpid(), signal.SIGKILL)
"""


@POSIX
def test_a_forked_child_neither_writes_nor_keeps_the_lock(path):
    write(path)
    reader, writer = os.pipe()  # the second child lives until this is closed
    try:
        command = [sys.executable, "-c", FORKS, str(path), str(reader)]
        with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, pass_fds=[reader]) as parent:
            assert parent.stdout.readline() == b"5\n"
            assert parent.wait() == -signal.SIGKILL
            assert read(path) == [*PAYLOADS, b"parent"]
            os.write(writer, b"x")
    finally:
        os.close(reader)
        os.close(writer)


@POSIX
def test_killed_appenders_lose_nothing_that_was_acknowledged(path):
    command = [sys.executable, "-m", "tests._lib.killed_appenders", str(path), "200"]
    found = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stderr
    acknowledged, active = map(int, found.stdout.split())
    assert active > 20
    assert acknowledged > active


def test_threads_append_side_by_side(path):
    with Journal.create(path, b"", sync="batch") as journal:

        def work(name):
            for i in range(200):
                journal.append_many([b"%d %d" % (name, i), b"%d and" % name])

        threads = [threading.Thread(target=work, args=(name,)) for name in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        found = list(journal.records())
    for name in range(4):
        own = [payload for payload in found if payload.startswith(b"%d " % name)]
        assert own == [text for i in range(200) for text in (b"%d %d" % (name, i), b"%d and" % name)]
    assert all(second == first[:2] + b"and" for first, second in zip(found[::2], found[1::2], strict=True))
    assert read(path) == found


# Interrupts

CALLS = {
    "append": lambda journal: journal.append(b"new"),
    "append_many": lambda journal: journal.append_many([b"new", b"newer"]),
    "cut": lambda journal: journal.cut(START + HEAD + len(PAYLOADS[0])),
    "sync": lambda journal: journal.sync(),
}
AFTER = {
    "append": [*PAYLOADS, b"new"],
    "append_many": [*PAYLOADS, b"new", b"newer"],
    "cut": PAYLOADS[:1],
    "sync": PAYLOADS,
}


def check_interrupted(path, journal, call, where):
    """The journal has all of a call or nothing, knows which, and goes on."""
    found = list(journal.records())
    assert found in (PAYLOADS, AFTER[call]), where
    assert journal.n_records == len(found), where
    with deadline(10.0):
        journal.append(b"next")
        assert journal.n_bytes == path.stat().st_size, where
        journal.close()
    assert read(path) == [*found, b"next"], where
    return found


@POSIX
@pytest.mark.parametrize("sync", SYNCS)
@pytest.mark.parametrize("call", CALLS)
def test_an_interrupt_at_any_line_leaves_all_or_nothing(path, call, sync):
    seen = []
    for at in range(1, 1000):
        write(path)
        journal = Journal.open(path, sync)
        if sync == "batch":
            journal._unsynced_since = -1e9  # so that a sync is due
        with raising_at(at) as state, suppress(Injected):
            CALLS[call](journal)
        seen.append(check_interrupted(path, journal, call, state["where"]))
        if state["where"] is None:
            break
    assert 5 < at < 999
    assert seen[0] == PAYLOADS
    assert seen[-1] == AFTER[call]


@POSIX
@pytest.mark.parametrize("sync", SYNCS)
def test_an_interrupt_at_any_line_after_a_write_that_failed(path, monkeypatch, sync):
    for at in range(1, 1000):
        write(path)
        journal = Journal.open(path, sync)
        write_half_and_fail(monkeypatch)
        with raising_at(at) as state, pytest.raises((Injected, OSError)):
            journal.append(b"new")
        monkeypatch.undo()
        assert check_interrupted(path, journal, "append", state["where"]) == PAYLOADS
        if state["where"] is None:
            break
    assert 10 < at < 999


@POSIX
def test_an_interrupt_while_opening_frees_the_lock_and_keeps_the_journal(path):
    content, positions = write(path)
    for at in range(1, 1000):
        path.write_bytes(content[:-1])
        journal = None
        with raising_at(at) as state, suppress(Injected):
            journal = Journal.open(path)
        if journal is not None:
            journal.close()
        assert path.read_bytes() in (content[:-1], content[: positions[-1]]), state["where"]
        assert read(path) == PAYLOADS[:-1], state["where"]
        if state["where"] is None:
            break
    assert 50 < at < 999


@POSIX
@pytest.mark.usefixtures("_no_collection")
def test_signals_at_random_moments(path):
    """Real interrupts: whatever was raised, the journal knows what it has."""
    interrupted, expected, armed = 0, [], []

    def interrupt(*_):
        if armed:
            armed.clear()
            raise KeyboardInterrupt

    previous = signal.signal(signal.SIGALRM, interrupt)
    try:
        with Journal.create(path, b"", sync="never") as journal:
            for i in range(5000):
                before = journal.n_records
                try:
                    armed.append(True)
                    signal.setitimer(signal.ITIMER_REAL, 1e-6 * (1 + i % 100))
                    journal.append(b"%d" % i)
                    armed.clear()
                except KeyboardInterrupt:
                    interrupted += 1
                expected += [b"%d" % i] * (journal.n_records - before)
            assert list(journal.records()) == expected
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, previous)
    assert interrupted > 50
    assert len(expected) > 50
    assert read(path) == expected
