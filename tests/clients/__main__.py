"""Clients of NetworkX, plain and through the backend: ``python -m tests.clients``, or `make clients`. See README.md."""

import argparse
import sys
import tempfile
from pathlib import Path

from tests.clients import environments, report
from tests.clients.catalog import CLIENTS


def main(arguments=None):
    """Try every client, print the table; 1 if a client's tests or rankings are worse through the backend."""
    names = [client.name for client in CLIENTS]
    parser = argparse.ArgumentParser(prog="python -m tests.clients", description=__doc__)
    parser.add_argument("clients", nargs="*", metavar="CLIENT", help=f"by default all: {', '.join(names)}")
    chosen = parser.parse_args(arguments).clients
    if unknown := set(chosen) - set(names):
        parser.error(f"unknown clients {', '.join(sorted(unknown))}; the clients are {', '.join(names)}")
    with tempfile.TemporaryDirectory(prefix="nx-fastonl-clients-") as name:
        folder = Path(name)
        wheel = environments.build_wheel(folder)
        trials = []
        for client in CLIENTS:
            if not chosen or client.name in chosen:
                print(f"{client.name} ...", file=sys.stderr, flush=True)
                trials.append(tried(client, wheel, folder / client.name))
    print(report.text_of(trials))
    return 1 if any(trial.is_worse for trial in trials) else 0


def tried(client, wheel, folder):
    """Install a client and run its tests twice. One that cannot be tried says why."""
    folder.mkdir()
    try:
        environment = environments.prepare(client, wheel, folder)
        plain, through = (
            environments.run_tests(client, environment, folder / f"{backend}.json", backend=backend)
            for backend in (False, True)
        )
    except environments.UnavailableError as reason:
        return report.Trial(client, reason=str(reason))
    return report.Trial(client, environment.versions, plain, through)


if __name__ == "__main__":
    sys.exit(main())
