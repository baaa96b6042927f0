"""The version that is installed; the only place that states it is pyproject.toml."""

from importlib.metadata import version

__version__ = version("nx-fastonl")
