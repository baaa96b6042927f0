import subprocess
import sys
import tomllib
from pathlib import Path

import packaging.version
import pytest

import nx_fastonl as fo

ROOT = Path(__file__).resolve().parents[1]


def run(*arguments):
    return subprocess.run([sys.executable, *arguments], capture_output=True, text=True, check=True).stdout


def test_every_public_name_loads_and_has_a_docstring():
    for name in fo.__all__:
        assert getattr(fo, name).__doc__
    assert set(dir(fo)) == set(fo.__all__)


def test_stub_lists_the_public_names():
    namespace = {}
    exec((ROOT / "nx_fastonl" / "__init__.pyi").read_text(), namespace)
    assert sorted(namespace["__all__"]) == sorted(fo.__all__)


def test_unknown_name():
    with pytest.raises(AttributeError, match="no attribute 'fifo_pull'"):
        _ = fo.fifo_pull


def test_version_is_that_of_the_installation():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert fo.__version__ == str(packaging.version.Version(project["version"]))


def test_import_alone_loads_neither_numpy_nor_networkx():
    program = "import sys, nx_fastonl; print([name for name in ('numpy', 'networkx', 'scipy') if name in sys.modules])"
    assert run("-c", program) == "[]\n"


def test_networkx_imports_without_a_warning():
    assert run("-W", "error", "-c", "import networkx") == ""
