import subprocess
import sys

import pytest

from nx_fastonl import datasets
from nx_fastonl.datasets.files import FILES


@pytest.mark.parametrize("function", [datasets.load, datasets.summary, datasets.is_available])
def test_unknown_name(function):
    with pytest.raises(ValueError, match="unknown dataset 'coro'; there are karate, digits, political-blogs"):
        function("coro")
    with pytest.raises(ValueError, match=r"unknown dataset \['cora'\]; there are karate"):
        function(["cora"])
    with pytest.raises(ValueError, match=r"unknown dataset 'x{119}\.\.\. \(1,002 characters\); there are karate"):
        function("x" * 1_000)


def test_every_dataset_has_a_function():
    assert {loader.__name__ for loader in datasets.DATASETS.values()} == {
        name for name in datasets.__all__ if name.startswith(("fetch_", "load_"))
    }
    assert FILES.keys() <= datasets.DATASETS.keys()


@pytest.mark.parametrize("name", datasets.DATASETS)
def test_summary_is_a_sentence(name):
    assert datasets.summary(name).endswith(".")
    assert "\n" not in datasets.summary(name)


def test_import_alone_loads_nothing_heavy():
    program = "import sys, nx_fastonl.datasets; print({'numpy', 'scipy', 'networkx', 'pooch'} & set(sys.modules))"
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert found.stdout == "set()\n"
