"""The table of `make clients`, and below it whatever differs between the two runs."""

from functools import cached_property

from tests.clients.rankings import compare, other_outcomes

RUNS = ("plain", "backend")
HEADER = (
    ("client", "", "", "", "passed", "", "calls", "", "reached", "rankings", "at our", "seconds", ""),
    ("", "version", "networkx", "numpy", *RUNS, *RUNS, "backend", "differ", "fault", *RUNS),
)


class Trial:
    """What became of a client: records of both runs, or the reason why there are none."""

    def __init__(self, client, versions=None, plain=None, through=None, reason=None):
        self.client, self.versions, self.reason = client, versions, reason
        self.plain, self.through = plain, through

    @cached_property
    def differences(self):
        """The rankings that differ."""
        return compare(self.through["calls"])

    @property
    def changed_tests(self):
        """{test: (outcome plain, outcome through the backend)}."""
        plain, through = self.plain["outcomes"], self.through["outcomes"]
        tests = sorted(plain.keys() | through.keys())
        pairs = {test: (plain.get(test, "not run"), through.get(test, "not run")) for test in tests}
        return {test: pair for test, pair in pairs.items() if pair[0] != pair[1]}

    @property
    def is_worse(self):
        """True if the backend costs a test, an exception or the better ranking."""
        if self.reason:
            return False
        only_plain = any(plain == "passed" for plain, _ in self.changed_tests.values())
        has_faults = any(found.is_fault for found in self.differences)
        return only_plain or has_faults or bool(other_outcomes(self.through["calls"]))


def text_of(trials):
    """The table, the remarks, and what differs."""
    rows = [*HEADER, *(row(trial) for trial in trials if not trial.reason)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)).rstrip() for cells in rows]
    lines += [f"{trial.client.name}: not tried. {trial.reason}" for trial in trials if trial.reason]
    lines += ["", *(f"{t.client.name}: {t.client.remark}" for t in trials if t.client.remark and not t.reason)]
    for trial in trials:
        if not trial.reason:
            lines += details(trial)
    return "\n".join(lines)


def row(trial):
    plain, through = trial.plain, trial.through
    return (
        trial.client.name,
        trial.versions[trial.client.name],
        trial.versions["networkx"],
        trial.versions["numpy"],
        *(passed(record) for record in (plain, through)),
        *(str(len(record["calls"])) for record in (plain, through)),
        str(through["reached"]),
        str(len(trial.differences)),
        str(sum(found.is_fault for found in trial.differences)),
        *(f"{sum(call['seconds'] for call in record['calls']):.3f}" for record in (plain, through)),
    )


def passed(record):
    outcomes = list(record["outcomes"].values())
    return f"{outcomes.count('passed')} of {len(outcomes)}"


def details(trial):
    lines = [
        f"  {test}: {plain} plain, {through} through the backend"
        for test, (plain, through) in trial.changed_tests.items()
    ]
    lines += [
        f"  {test}: NetworkX raises {plain}, the backend {through}"
        for test, (plain, through) in other_outcomes(trial.through["calls"]).items()
    ]
    tests_of = {}
    for found in trial.differences:
        tests_of.setdefault(found._replace(test=None), []).append(found.test)
    for found, tests in tests_of.items():
        kind = "directed" if found.directed else "undirected"
        lines.append(f"  {found.function}, {kind}, {found.n} nodes, calls: {len(tests)}, first in {tests[0]}")
        for pairs in found.pairs:
            lines.append(f"    {pairs.verdict}. Pairs: {pairs.count}, first {pairs.nodes[0]} and {pairs.nodes[1]}")
            vectors = {"plain": pairs.plain, "backend": pairs.through, "exact": pairs.exact}
            lines += [f"      {name:8}{pair[0]:.18f} {pair[1]:.18f}" for name, pair in vectors.items() if pair]
    return ["", f"{trial.client.name}: what differs", *lines] if lines else []
