"""What the campaign prints."""

import sys
import time

COLUMNS = ("entry", "inputs", "per second", "valid", "crashes", "hangs", "wrong", "slowest")


def progress_printer(every=10.0):
    """A function that says, now and then, how many inputs of an entry were tried."""
    last = {"time": 0.0}

    def say(entry, tried):
        if time.monotonic() - last["time"] >= every:
            last["time"] = time.monotonic()
            sys.stderr.write(f"{entry}: {tried:,} inputs\n")
            sys.stderr.flush()

    return say


def table(tallies):
    """A line for each entry, and one for all."""
    rows = [COLUMNS]
    for entry, tally in tallies.items():
        rows.append(
            (
                entry,
                f"{tally.tried:,}",
                f"{tally.tried / max(tally.seconds, 1e-9):,.0f}",
                f"{tally.passed / max(tally.tried, 1):.0%}",
                str(tally.crashes),
                str(tally.hangs),
                str(tally.wrong),
                f"{tally.slowest:.2f} s (seed {tally.slowest_seed})",
            )
        )
    sums = [sum(getattr(tally, name) for tally in tallies.values()) for name in ("tried", "crashes", "hangs", "wrong")]
    rows.append(("all", f"{sums[0]:,}", "", "", *map(str, sums[1:]), ""))
    widths = [max(len(row[i]) for row in rows) for i in range(len(COLUMNS))]
    lines = [
        "  ".join(
            cell.ljust(width) if i == 0 else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    ]
    return "\n".join(line.rstrip() for line in lines)
