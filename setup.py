"""Builds the Cython extensions; everything static is in pyproject.toml.

NX_FASTONL_CHECKED=1 builds with bounds checks and rebuilds everything: slower, for the test suite.
"""

import os
import sys

from Cython.Build import cythonize
from setuptools import Extension, setup

CHECKED = bool(int(os.environ.get("NX_FASTONL_CHECKED", "0")))

OPTIMISE = ["/O2"] if sys.platform == "win32" else ["-O3"]

setup(
    ext_modules=cythonize(
        [
            Extension(f"nx_fastonl.{name}", [f"nx_fastonl/{name}.pyx"], extra_compile_args=OPTIMISE)
            for name in ("_convert", "_diffusion", "_fastonl", "_push", "_relaxation", "_tree")
        ],
        force=CHECKED,
        compiler_directives={
            "language_level": 3,
            "boundscheck": CHECKED,
            "wraparound": False,
            "initializedcheck": CHECKED,
            "cdivision": True,
            "embedsignature": True,
        },
    ),
    options={"build_ext": {"force": CHECKED}},
)
