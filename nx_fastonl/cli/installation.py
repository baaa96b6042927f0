"""What is installed and what works: the report of the command ``info``."""

from __future__ import annotations

import importlib
import importlib.metadata
import platform
from pathlib import Path
from typing import Any

import nx_fastonl
from nx_fastonl.datasets import data_folder

REQUIRED_PACKAGES = ("numpy", "scipy", "networkx")
OPTIONAL_PACKAGES = (
    "filelock",
    "joblib",
    "matplotlib",
    "narwhals",
    "pandas",
    "pooch",
    "pyarrow",
    "rich",
    "scikit-learn",
    "tqdm",
)


def installation() -> dict[str, Any]:
    """Versions, the platform, which compiled modules load, whether NetworkX knows the backend, and the data folder."""
    return {
        "packages": {
            "nx_fastonl": nx_fastonl.__version__,
            "Python": platform.python_version(),
            **{name: _version(name) for name in (*REQUIRED_PACKAGES, *OPTIONAL_PACKAGES)},
        },
        "platform": platform.platform(),
        "compiled": {name: _loads(f"nx_fastonl.{name}") for name in compiled_modules()},
        "backend": _is_known_to_networkx(),
        "data_folder": _data_folder(),
    }


def compiled_modules() -> list[str]:
    """The modules that are written in Cython, by their names in the package. Their sources are installed with them."""
    package = Path(nx_fastonl.__file__).parent
    sources = (path.relative_to(package).with_suffix("") for path in package.rglob("*.pyx"))
    return sorted(".".join(source.parts) for source in sources)


def _version(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def _loads(module: str) -> bool:
    try:
        importlib.import_module(module)
    except (ImportError, ValueError):  # a ValueError if it was built for another numpy
        return False
    return True


def _is_known_to_networkx() -> bool:
    found: Any = importlib.import_module("networkx.utils.backends")
    return "fastonl" in found.backends


def _data_folder() -> str | None:
    try:
        return str(data_folder())
    except ImportError:
        return None
