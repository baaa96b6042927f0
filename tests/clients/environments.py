"""Virtual environments with a client and this checkout, and the client's tests run in them."""

import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
INSIDE = Path(__file__).resolve().parent / "inside"
SECONDS_TO_INSTALL = 1800
SECONDS_TO_TEST = 900
SETTINGS = ("NETWORKX_BACKEND_PRIORITY", "NETWORKX_WARNINGS_TO_IGNORE", "NETWORKX_CACHE_CONVERTED_GRAPHS")


class UnavailableError(Exception):
    """Why a client cannot be tried."""


class Environment(NamedTuple):
    python: Path
    sources: Path
    versions: dict[str, str]


def build_wheel(folder):
    """Build the checkout as it is now, as users install it."""
    copy = folder / "copy"
    copy.mkdir()
    subprocess.run([ROOT / ".ci" / "copy", copy], check=True)
    pip(sys.executable, "wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", folder, copy / "main")
    return next(folder.glob("*.whl"))


def prepare(client, wheel, folder):
    """An environment with the client and the wheel, and the sources of the same version of the client."""
    subprocess.run([sys.executable, "-m", "venv", folder / "venv"], check=True)
    python = folder / "venv" / "bin" / "python"
    pip(python, "install", client.name, *client.needs, wheel, "pytest")
    versions = installed_versions(python, client.name)
    sources = folder / "sources"
    sources.mkdir()
    if client.tests:
        exact = f"{client.name}=={versions[client.name]}"
        pip(python, "download", "--no-deps", "--no-binary", client.name, "--dest", folder, exact)
        with tarfile.open(next(folder.glob("*.tar.gz"))) as archive:
            archive.extractall(sources, filter="data")
        sources = next(sources.iterdir())
    for name in client.programs:  # away from the conftest.py of this repository
        shutil.copy(INSIDE / name, sources)
    return Environment(python, sources, versions)


def run_tests(client, environment, record, *, backend):
    """Run the client's tests, plain or through the backend; what `inside/recorder.py` has written down."""
    settings = {name: value for name, value in os.environ.items() if name not in SETTINGS}
    settings |= {"PYTHONPATH": str(INSIDE), "PYTHONHASHSEED": "0", "NX_FASTONL_RECORD": str(record)}
    if backend:
        settings |= {"NETWORKX_BACKEND_PRIORITY": "fastonl", "NETWORKX_WARNINGS_TO_IGNORE": "cache"}
    plugins = [f"-p{name}" for name in ("recorder", *client.plugins)]
    options = ["-q", "-pno:cacheprovider", "-oaddopts=", f"--rootdir={environment.sources}", *plugins]
    # -P: not what lies in the folder of the sources, but what is installed.
    done = run(
        [environment.python, "-P", "-m", "pytest", *options, *client.tests, *client.programs],
        SECONDS_TO_TEST,
        environment.sources,
        settings,
    )
    if not record.exists():
        raise UnavailableError(f"its tests do not start: {last_error(done.stdout + done.stderr)}")
    return json.loads(record.read_text())


def installed_versions(python, *names):
    program = "import sys, json, importlib.metadata as m; print(json.dumps({n: m.version(n) for n in sys.argv[1:]}))"
    done = run([python, "-c", program, "networkx", "numpy", *names], 60)
    return json.loads(done.stdout)


def pip(python, command, *arguments):
    done = run([python, "-m", "pip", command, "--quiet", "--disable-pip-version-check", *arguments], SECONDS_TO_INSTALL)
    if done.returncode:
        raise UnavailableError(f"pip {command} fails: {last_error(done.stderr)}")


def run(command, seconds, folder=None, settings=None):
    try:
        return subprocess.run(
            command, cwd=folder, env=settings, timeout=seconds, capture_output=True, text=True, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise UnavailableError(f"{Path(command[0]).name} took longer than {seconds} seconds") from error


def last_error(output):
    """The last line that names an error, without addresses and folders."""
    lines = (
        [line.strip() for line in output.splitlines() if "error" in line.lower()] or output.splitlines()[-1:] or [""]
    )
    return re.sub(r"\S*/\S*", "...", lines[-1])[:160]
