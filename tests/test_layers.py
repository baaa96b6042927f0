"""Imports point along the data, never back."""

import ast
import re
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

PACKAGE = "nx_fastonl"
ROOT = Path(__file__).resolve().parents[1]
# A module imports only what stands before it here, or in its own layer. The longest name that fits a module decides.
LAYERS = (
    "_lib",
    "graph",
    "nxapi.dispatch",
    "batch",
    "push",
    "kernels",
    "learners",
    "labeling",
    "nxapi",
    "datasets",
    "plotting",
    "sklearn",
    "experiments",
    "__init__",
    "cli",
    "__main__",
)
CYTHON_IMPORT = re.compile(r"^\s*(?:from\s+([\w.]+)\s+c?import\s+(\([^)]*\)|.*)|c?import\s+([\w., ]+))", re.MULTILINE)


def modules(root):
    """The modules below this folder, as in ``graph.csr``, each with its files."""
    found = {}
    for path in sorted((root / PACKAGE).rglob("*.p*")):
        if path.suffix in {".py", ".pyi", ".pyx", ".pxd"}:
            parts = path.relative_to(root / PACKAGE).with_suffix("").parts
            is_folder = len(parts) > 1 and parts[-1] == "__init__"
            found.setdefault(".".join(parts[:-1] if is_folder else parts), []).append(path)
    return found


def imported(path):
    """What a file imports, wherever in it: modules, and names from modules."""
    text = path.read_text("utf-8")
    if path.suffix in {".pyx", ".pxd"}:
        for source, names, plain in CYTHON_IMPORT.findall(text):
            yield from (f"{source}.{name}" for name in re.findall(r"\w+", names))
            yield from re.findall(r"[\w.]+", plain)
        return
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} imports relatively"
            yield from (f"{node.module}.{name.name}" for name in node.names)


def import_graph(root):
    """{module: modules that it imports}, of the package alone."""
    known = modules(root)
    graph = {}
    for module, paths in known.items():
        graph[module] = set()
        for name in {name for path in paths for name in imported(path)}:
            package, _, target = name.partition(".")
            if package == PACKAGE:
                while target and target not in known:  # a name in a module
                    target = target.rpartition(".")[0]
                graph[module].add(target or "__init__")
        graph[module].discard(module)
    return graph


def layer(module):
    fitting = [name for name in LAYERS if f"{module}.".startswith(f"{name}.")]
    assert fitting, f"{module} belongs to no layer"
    return LAYERS.index(max(fitting, key=len))


def complaints(root):
    graph = import_graph(root)
    for module, targets in graph.items():
        for target in sorted(targets):
            if layer(target) > layer(module):
                yield f"{module} imports {target}, which comes later"
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        yield f"modules import each other: {' -> '.join(error.args[1])}"


def test_imports_point_along_the_data():
    assert list(complaints(ROOT)) == []
    graph = import_graph(ROOT)
    assert len(graph) > 50
    assert "graph.rows" in graph["graph.live"]
    assert "_lib.typedefs" in graph["push._push"]


def test_every_layer_has_modules():
    assert {layer(module) for module in modules(ROOT)} == set(range(len(LAYERS)))


@pytest.mark.parametrize(
    ("file", "line", "complaint"),
    [
        ("graph/csr.py", "import nx_fastonl.push.local", "graph.csr imports push.local, which comes later"),
        ("graph/csr.py", "from nx_fastonl.push import local", "graph.csr imports push.local, which comes later"),
        ("graph/csr.py", "from nx_fastonl.push.local import (\n    a,\n    b,\n)", "imports push.local, which"),
        ("graph/csr.py", "def late():\n    from nx_fastonl.push.local import a", "graph.csr imports push.local"),
        ("graph/csr.py", "if TYPE_CHECKING:\n    from nx_fastonl.push.local import a", "graph.csr imports push.local"),
        ("graph/csr.py", "from nx_fastonl import push", "graph.csr imports push, which comes later"),
        ("graph/csr.py", "import nx_fastonl as fo", "graph.csr imports __init__, which comes later"),
        ("graph/_view.pyx", "from nx_fastonl.push._push cimport a, b", "graph._view imports push._push"),
        ("graph/_view.pyx", "cimport nx_fastonl.push._push", "graph._view imports push._push"),
        ("graph/_view.pyx", "def late():\n    from nx_fastonl.push.local import a", "graph._view imports push.local"),
        ("graph/_view.pxd", "from nx_fastonl.push cimport _push", "graph._view imports push._push"),
        ("nxapi/dispatch.py", "from nx_fastonl.nxapi.backend import a", "nxapi.dispatch imports nxapi.backend, which"),
        ("push/local.py", "from nx_fastonl.nxapi.backend import a", "push.local imports nxapi.backend, which comes"),
        ("push/_push.pyx", "from nx_fastonl.push.local import a", "modules import each other: "),
        ("nxapi/backend.py", "from nx_fastonl.cli import main", "nxapi.backend imports cli.main, which comes later"),
    ],
)
def test_back_imports_are_found(tmp_path, file, line, complaint):
    plain = {
        "graph/csr.py": "from nx_fastonl.graph import _view\nimport networkx",
        "graph/_view.pyx": "cimport numpy\nfrom libc.math cimport sqrt",
        "graph/_view.pxd": "",
        "nxapi/dispatch.py": "from nx_fastonl.graph.csr import CSRGraph",
        "push/__init__.py": "",
        "push/_push.pyx": "from nx_fastonl.graph._view cimport (\n    GraphView,\n)",
        "push/local.py": "from nx_fastonl.push._push import push\nfrom nx_fastonl.nxapi.dispatch import a",
        "nxapi/backend.py": "from nx_fastonl.push.local import a",
        "cli/main.py": "from nx_fastonl.nxapi import backend",
        "__init__.py": "import importlib",
    }
    for name, text in plain.items():
        path = tmp_path / PACKAGE / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    assert list(complaints(tmp_path)) == []
    planted = tmp_path / PACKAGE / file
    planted.write_text(f"{planted.read_text()}\n{line}\n")
    assert any(complaint in found for found in complaints(tmp_path))
