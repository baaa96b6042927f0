import importlib
import subprocess
import sys
import tomllib
from pathlib import Path

import packaging.version
import pytest

import nx_fastonl as fo

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "nx_fastonl"
MODULES = [
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
    for suffix in ("py", "pyx")
    for path in sorted(PACKAGE.rglob(f"*.{suffix}"))
]
PUBLIC_FOLDERS = ("datasets", "experiments", "plotting", "sklearn")


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


@pytest.mark.parametrize("folder", PUBLIC_FOLDERS)
def test_public_folders_load_their_names_on_first_use(folder):
    package = importlib.import_module(f"nx_fastonl.{folder}")
    assert set(dir(package)) == set(package.__all__)
    assert all(getattr(package, name) is not None for name in package.__all__)
    with pytest.raises(AttributeError, match=f"module 'nx_fastonl.{folder}' has no attribute 'nothing'"):
        _ = package.nothing
    program = f"import sys, nx_fastonl.{folder}; print([m for m in ('numpy', 'networkx', 'scipy') if m in sys.modules])"
    assert run("-c", program) == "[]\n"


def test_other_folders_hold_modules_only():
    folders = {path.parent for suffix in ("py", "pyx", "pxd") for path in PACKAGE.rglob(f"*.{suffix}")} - {PACKAGE}
    assert len(folders) > 10
    for folder in folders:
        text = (folder / "__init__.py").read_text()  # without it, the wheel would not have the folder
        assert bool(text) is (folder.name in PUBLIC_FOLDERS), folder


@pytest.mark.parametrize("module", [name for name in MODULES if not name.endswith("__main__")])
def test_every_module_imports_and_says_what_it_is_for(module):
    """Here from the repository; `.ci/wheel` does the same with what users install."""
    assert importlib.import_module(module).__doc__ or module.rpartition(".")[2] in {f.name for f in PACKAGE.iterdir()}


def test_unknown_name():
    with pytest.raises(AttributeError, match="no attribute 'fifo_pull'"):
        _ = fo.fifo_pull


def test_version_is_that_of_the_installation():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert fo.__version__ == str(packaging.version.Version(project["version"]))


def test_import_alone_loads_neither_numpy_nor_networkx():
    program = "import sys, nx_fastonl; print([name for name in ('numpy', 'networkx', 'scipy') if name in sys.modules])"
    assert run("-c", program) == "[]\n"


def test_nobody_without_data_frames_loads_their_libraries():
    program = (
        "import sys, networkx as nx, nx_fastonl as fo; G = nx.karate_club_graph(); nx.pagerank(G, backend='fastonl'); "
        "fo.personalized_pagerank_local(G, personalization=0); fo.online_node_labeling(G, 'club').to_dict(); "
        "fo.DynamicGraph(G).add_edges_from([(0, 1)]); fo.CSRGraph.from_edges([0], [1], [1.0]); "
        "print([name for name in ('narwhals', 'pandas', 'polars', 'pyarrow') if name in sys.modules])"
    )
    assert run("-c", program) == "[]\n"


def test_networkx_imports_without_a_warning():
    assert run("-W", "error", "-c", "import networkx") == ""
