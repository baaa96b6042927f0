"""Inputs that atheris chooses by the lines that they reach: for entries whose input is mostly bytes.

Atheris is in the extra ``fuzz``. It sees Python code, not compiled loops.
"""

import importlib
import pkgutil
import sys
import tempfile
from pathlib import Path


def run(entry, minutes):
    """Let atheris run one entry. A failing input goes to the corpus; the process then ends with 1."""
    try:
        import atheris
    except ImportError:
        sys.exit("this needs atheris: pip install 'nx-fastonl[fuzz]'. Without it, random inputs are all there are")

    with atheris.instrument_imports(include=["nx_fastonl"]):
        import nx_fastonl

        for module in pkgutil.walk_packages(nx_fastonl.__path__, "nx_fastonl."):
            if not module.name.endswith("__main__"):
                importlib.import_module(module.name)
    from tests.fuzz import corpus
    from tests.fuzz.workers import run_one

    def one(data):
        _, failure = run_one(entry, data)
        if failure is not None:
            kind, message, notes = failure
            path = corpus.keep(entry, 0, data, kind, message, notes)
            raise RuntimeError(f"{kind}: {message}; kept as {path}")

    with tempfile.TemporaryDirectory() as folder:
        for i, path in enumerate(corpus.FOLDER.glob(f"{entry}-*.json")):
            (Path(folder) / str(i)).write_bytes(corpus.read(path)[1])
        limits = [f"-max_total_time={int(60 * float(minutes))}", "-max_len=512", "-timeout=60"]
        atheris.Setup([sys.argv[0], *limits, f"-artifact_prefix={folder}/", folder], one)
        atheris.Fuzz()
    return 0
