"""The fuzz campaign: ``python -m tests.fuzz --minutes 10``. See README.md."""

import argparse
import os
import sys
import tempfile
from pathlib import Path

from tests.fuzz import corpus, report, workers
from tests.fuzz.draws import data_of
from tests.fuzz.inputs import text_of


def main(arguments=None):
    """Run the campaign, or one input again; returns the exit code."""
    if arguments is None and sys.argv[1:2] == ["--worker"]:
        entry, seed, stride, seconds, path = sys.argv[2:]
        workers.work(entry, int(seed), int(stride), float(seconds), path)
        return 0
    if arguments is None and sys.argv[1:2] == ["--guided"]:  # before the package is imported, to see its lines
        from tests.fuzz import guided

        return guided.run(*sys.argv[2:])
    from tests.fuzz.entries import ENTRIES

    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("entries", nargs="*", metavar="ENTRY", help=f"by default all: {', '.join(ENTRIES)}")
    parser.add_argument("--minutes", type=float, default=10.0, help="for all entries together (default: %(default)s)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes (default: one per core)")
    parser.add_argument("--seed", type=int, default=0, help="of the first input (default: %(default)s)")
    parser.add_argument("--silence", type=float, default=60.0, help="seconds after which an input counts as a hang")
    parser.add_argument("--replay", nargs=2, metavar=("ENTRY", "SEED"), help="run one input again, in this process")
    parser.add_argument("--every-line", action="store_true", help="raise at every line of every learning call, and end")
    parser.add_argument("--guided", nargs=2, metavar=("ENTRY", "MINUTES"), help="let atheris choose the inputs")
    chosen = parser.parse_args(arguments)
    unknown = set(chosen.entries) - set(ENTRIES)
    if unknown:
        parser.error(f"unknown entries {', '.join(sorted(unknown))}; the entries are {', '.join(ENTRIES)}")
    if chosen.replay:
        return replay(*chosen.replay)
    if chosen.every_line:
        return every_line()
    if chosen.guided:
        parser.error("--guided must be the first argument")
    return campaign(chosen, chosen.entries or list(ENTRIES))


def campaign(chosen, entries):
    """Run entries in turn, and print the table. 1 if anything was found."""
    tallies, progress = {}, report.progress_printer()
    with tempfile.TemporaryDirectory(prefix="nx-fastonl-fuzz-") as folder:
        for entry in entries:
            tallies[entry] = workers.run_entry(
                entry,
                60.0 * chosen.minutes / len(entries),
                jobs=chosen.jobs,
                seed=chosen.seed,
                silence=chosen.silence,
                folder=folder,
                progress=progress,
            )
    print(report.table(tallies))
    failed = [entry for entry, tally in tallies.items() if tally.failed]
    for path in sorted(path for entry in failed for path in corpus.FOLDER.glob(f"{entry}-*.json")):
        print(f"kept: {path}")
    return 1 if failed else 0


def replay(entry, seed):
    """Run one input again: of a seed, or of a file of the corpus."""
    data = corpus.read(seed)[1] if Path(seed).suffix == ".json" else data_of(int(seed))
    passed, failure = workers.run_one(entry, data)
    if failure is None:
        print(f"{entry} {seed}: {'passed' if passed else 'refused'}")
        return 0
    kind, message, notes = failure
    print(f"{entry} {seed}: {kind}: {message}")
    for key, value in notes.items():
        print(f"  {key} = {text_of(value)}")
    return 1


def every_line():
    """Raise at every line of every learning call, of every method."""
    from tests.fuzz import interrupts
    from tests.fuzz.verdicts import Wrong

    tried, found = 0, {}
    for name in interrupts.MODELS:
        for call in interrupts.CALLS:
            for place in range(1, interrupts.places(name, call) + 1):
                tried += 1
                try:
                    interrupts.inject(name, call, place)
                except Wrong as error:
                    found[name, call, place] = str(error)
                    print(f"{name}, {call}, place {place}: {error}")
            print(f"{name}, {call}: {interrupts.places(name, call)} places", file=sys.stderr)
    print(f"{tried:,} places, {len(found)} failures")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
