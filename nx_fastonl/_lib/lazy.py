"""Packages that load their public names on first use, so that importing the package is cheap."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping
from typing import Any


def lazy_names(
    package: str, homes: Mapping[str, str]
) -> tuple[list[str], Callable[[str], Any], Callable[[], list[str]]]:
    """Return ``__all__``, ``__getattr__`` and ``__dir__`` of a package.

    `homes` names the module of each public name, relative to the package. A name that is its own home is a module of
    the package. Type checkers do not see such names: the package needs an ``__init__.pyi``.
    """
    names = list(homes)

    def load(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        home = importlib.import_module(f"{package}.{homes[name]}")
        value = home if homes[name] == name else getattr(home, name)
        setattr(sys.modules[package], name, value)  # the next use finds it without this function
        return value

    return names, load, lambda: names
