import importlib
import sys
from pathlib import Path

import pytest

FILES = {
    "__init__.py": """
from nx_fastonl._lib.lazy import lazy_names

__all__, __getattr__, __dir__ = lazy_names(__name__, {"answer": "numbers.small", "letters": "letters"})
""",
    "letters.py": "alpha = 'a'",
    "numbers/__init__.py": "",
    "numbers/small.py": "answer = 42",
}


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package with a name and a module that are loaded on first use."""
    for name, content in FILES.items():
        path = tmp_path / "lazy_package" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(content)
    monkeypatch.syspath_prepend(tmp_path)
    yield importlib.import_module("lazy_package")
    for name in [name for name in sys.modules if name.split(".")[0] == "lazy_package"]:
        del sys.modules[name]


def loaded():
    return {name for name in sys.modules if name.startswith("lazy_package.")}


def test_nothing_is_loaded_before_its_use(package):
    assert package.__all__ == ["answer", "letters"]
    assert dir(package) == ["answer", "letters"]
    assert loaded() == set()


def test_names_are_loaded_once(package):
    assert package.answer == 42
    assert loaded() == {"lazy_package.numbers", "lazy_package.numbers.small"}
    assert vars(package)["answer"] == 42


def test_modules_are_loaded(package):
    assert package.letters is importlib.import_module("lazy_package.letters")
    assert package.letters.alpha == "a"


def test_unknown_name(package):
    with pytest.raises(AttributeError, match="module 'lazy_package' has no attribute 'question'"):
        _ = package.question


@pytest.mark.parametrize("name", ["nx_fastonl", "nx_fastonl.datasets", "nx_fastonl.experiments", "nx_fastonl.plotting"])
def test_stub_has_the_same_names(name):
    package = importlib.import_module(name)
    namespace = {}
    exec(Path(package.__file__).with_suffix(".pyi").read_text(), namespace)
    assert sorted(namespace["__all__"]) == sorted(package.__all__)
    assert all(namespace[public] is getattr(package, public) for public in package.__all__)
