"""Worker processes: each runs inputs of one entry in turn, and tells the campaign where it is.

A worker writes its state into a small file in shared memory. So the campaign knows which input a worker died from, or
does not come back from.
"""

import mmap
import os
import struct
import subprocess
import sys
import time
import warnings
from dataclasses import dataclass, field
from pathlib import Path

from tests.fuzz import corpus
from tests.fuzz.draws import Draw, data_of
from tests.fuzz.verdicts import Wrong

ROOT = Path(__file__).resolve().parents[2]
# The seed at work, inputs tried, inputs past validation, crashes, wrong answers, and the slowest input's microseconds
# and seed.
STATE = struct.Struct("<7q")
# A silent worker is looked at this often.
POLL_SECONDS = 0.25
# No input needs as much memory: an allocation beyond this raises MemoryError.
MAX_MEMORY = 6 << 30


@dataclass
class Tally:
    """What was found of one entry."""

    tried: int = 0
    passed: int = 0
    crashes: int = 0
    hangs: int = 0
    wrong: int = 0
    slowest: float = 0.0
    slowest_seed: int = 0
    seconds: float = 0.0
    files: list[str] = field(default_factory=list)

    @property
    def failed(self):
        return self.crashes + self.hangs + self.wrong > 0

    def add(self, state):
        """Add what a worker has counted."""
        _, tried, passed, crashes, wrong, micros, seed = state
        self.tried += tried
        self.passed += passed
        self.crashes += crashes
        self.wrong += wrong
        if micros / 1e6 > self.slowest:
            self.slowest, self.slowest_seed = micros / 1e6, seed


def run_one(entry, data):
    """Run one input. Returns whether it got past validation, and the failure as (kind, message, notes) or None."""
    from tests.fuzz.entries import ENTRIES

    draw, unraisable = Draw(data), []
    previous, sys.unraisablehook = sys.unraisablehook, lambda found: unraisable.append(found.exc_value)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # a compiled loop cannot raise, and warns
            warnings.filterwarnings("ignore", "nx_fastonl keeps", UserWarning)
            warnings.filterwarnings("ignore", "most of the nodes 0 to", UserWarning)
            warnings.filterwarnings("ignore", "no edge has the attribute", UserWarning)
            passed = ENTRIES[entry](draw)
    except Wrong as error:
        return True, ("wrong", str(error), draw.notes)
    except Exception as error:  # noqa: BLE001  that is what the campaign looks for
        return True, ("crash", _described(error), draw.notes)
    finally:
        sys.unraisablehook = previous
    if unraisable:
        return passed, ("crash", f"could not be raised: {unraisable[0]!r}", draw.notes)
    return passed, None


def _described(error):
    """The exception, and the last line of the package or of an entry that it passed."""
    place, trace = "", error.__traceback__
    while trace is not None:
        name = trace.tb_frame.f_code.co_filename
        if name.startswith(str(ROOT)) or "nx_fastonl" in name:
            place = f" at {name.removeprefix(str(ROOT) + os.sep)}:{trace.tb_lineno}"
        trace = trace.tb_next
    return f"{type(error).__name__}: {error}{place}"


def work(entry, seed, stride, seconds, path):
    """The life of a worker: inputs with seeds seed, seed + stride, ... until the time is over."""
    _limit_memory()
    with Path(path).open("r+b") as file:
        shared = mmap.mmap(file.fileno(), STATE.size)
    _, tried, passed, crashes, wrong, micros, slowest = STATE.unpack_from(shared)
    end = time.monotonic() + seconds
    while (start := time.monotonic()) < end:
        STATE.pack_into(shared, 0, seed, tried, passed, crashes, wrong, micros, slowest)
        data = data_of(seed)
        is_valid, failure = run_one(entry, data)
        tried, passed = tried + 1, passed + is_valid
        if failure:
            kind, message, notes = failure
            crashes, wrong = crashes + (kind == "crash"), wrong + (kind == "wrong")
            corpus.keep(entry, seed, data, kind, message, notes, shrink=_same_failure(entry, kind, message))
        took = int(1e6 * (time.monotonic() - start))
        if took > micros and not failure:
            micros, slowest = took, seed
        seed += stride
    STATE.pack_into(shared, 0, seed, tried, passed, crashes, wrong, micros, slowest)


def _same_failure(entry, kind, message):
    def fails(data):
        _, failure = run_one(entry, data)
        return failure is not None and failure[0] == kind and corpus.short(failure[1]) == corpus.short(message)

    return fails


def _limit_memory():
    try:
        import resource
    except ImportError:  # Windows
        return
    resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY, MAX_MEMORY))


class Worker:
    """A worker process, as the campaign sees it."""

    def __init__(self, entry, seed, stride, folder):
        self.entry, self.seed, self.stride = entry, seed, stride
        self.path = Path(folder) / f"{entry}-{seed}"
        self.path.write_bytes(bytes(STATE.size))
        self._process = None

    def start(self, seconds):
        arguments = ["--worker", self.entry, str(self.seed), str(self.stride), f"{seconds:.1f}", str(self.path)]
        environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "PYTHONFAULTHANDLER": "1"}
        log = self.path.with_suffix(".log").open("wb")
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.fuzz", *arguments], cwd=ROOT, env=environment, stdout=log, stderr=log
        )
        self._seen, self._since = None, time.monotonic()

    @property
    def state(self):
        return STATE.unpack(self.path.read_bytes())

    def poll(self, silence):
        """Whether it is "running" or "done", or ended by a "crash" or a "hang"."""
        code = self._process.poll()
        if code is not None:
            return "done" if code == 0 else "crash"
        now, at = time.monotonic(), self.state[:2]
        if at != self._seen:
            self._seen, self._since = at, now
        elif now - self._since > silence:
            self.stop()
            return "hang"
        return "running"

    def stop(self):
        if self._process is not None and self._process.poll() is None:
            self._process.kill()
            self._process.wait()

    def skip(self):
        """Count the input that the worker did not survive, and go on behind it."""
        seed, tried, passed, *rest = self.state
        self.path.write_bytes(STATE.pack(seed, tried + 1, passed + 1, *rest))
        self.seed = seed + self.stride
        return seed

    def last_words(self):
        """What a dead process wrote last: the place where it died."""
        lines = self.path.with_suffix(".log").read_text(errors="replace").splitlines()
        places = [line.strip() for line in lines if "nx_fastonl" in line or "Fatal" in line or "Error" in line]
        return "; ".join(places[:3]) or "no message"


def run_entry(entry, seconds, *, jobs, seed, silence, folder, progress):
    """Run one entry for some time in several processes. Returns its `Tally`."""
    tally, end = Tally(), time.monotonic() + seconds
    workers = [Worker(entry, seed + i, jobs, folder) for i in range(jobs)]
    running = set(workers)
    try:
        for worker in workers:
            worker.start(seconds)
        while running:
            time.sleep(POLL_SECONDS)
            for worker in list(running):
                found = worker.poll(silence)
                if found in ("crash", "hang"):
                    tally.crashes += found == "crash"
                    tally.hangs += found == "hang"
                    failed = worker.skip()
                    message = worker.last_words() if found == "crash" else f"no answer for {silence:g} s"
                    corpus.keep(entry, failed, data_of(failed), f"{found} of the process", message, {})
                    left = end - time.monotonic()
                    if left > 2 * POLL_SECONDS:
                        worker.start(left)
                        continue
                if found != "running":
                    running.discard(worker)
            progress(entry, sum(worker.state[1] for worker in workers))
    finally:
        for worker in workers:
            worker.stop()
    for worker in workers:
        tally.add(worker.state)
    tally.seconds = seconds - max(0.0, end - time.monotonic())
    return tally
