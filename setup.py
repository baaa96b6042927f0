"""Builds the Cython extensions; everything static is in pyproject.toml.

NX_FASTONL_CHECKED=1 builds with bounds checks and rebuilds everything: slower, for the test suite.
"""

import os
import sys
from pathlib import Path

from Cython.Build import cythonize
from setuptools import Extension, setup

CHECKED = bool(int(os.environ.get("NX_FASTONL_CHECKED", "0")))

OPTIMISE = ["/O2"] if sys.platform == "win32" else ["-O3"]

SOURCES = sorted(Path("nx_fastonl").rglob("*.pyx"))

setup(
    ext_modules=cythonize(
        [
            Extension(".".join(source.with_suffix("").parts), [str(source)], extra_compile_args=OPTIMISE)
            for source in SOURCES
        ],
        force=CHECKED,
        compiler_directives={
            "language_level": 3,
            "boundscheck": CHECKED,
            "wraparound": False,
            "initializedcheck": CHECKED,
            "cdivision": True,
            "embedsignature": True,
            "auto_pickle": False,
        },
    ),
    options={"build_ext": {"force": CHECKED, "parallel": os.cpu_count()}},
)
