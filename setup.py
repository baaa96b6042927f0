"""Builds the Cython extensions; everything static is in pyproject.toml.

Two environment variables, each 0 or 1, ask for slower builds for the test suite, and rebuild everything.
NX_FASTONL_CHECKED=1 builds with bounds checks.
NX_FASTONL_SANITIZE=1 builds with the compiler's AddressSanitizer and UndefinedBehaviorSanitizer (gcc or clang).
Python must then be started with their libraries preloaded: `.ci/sanitize` does so.

CYTHON_CACHE_DIR names a folder where Cython stores what it makes, for the next build of the same sources.
"""

import multiprocessing
import os
import sys
from pathlib import Path

from Cython.Build import cythonize
from setuptools import Extension, setup


def is_set(name):
    value = os.environ.get(name, "0")
    if value not in ("0", "1"):
        raise SystemExit(f"{name} must be 0 or 1, got {value!r}")
    return value == "1"


CHECKED = is_set("NX_FASTONL_CHECKED")
SANITIZE = is_set("NX_FASTONL_SANITIZE")
REBUILD = CHECKED or SANITIZE
# Cython works on one file at a time. Several processes are safe only where they begin as copies of this one.
PROCESSES = os.cpu_count() if multiprocessing.get_start_method() == "fork" else 0

# Wheels run on processors that are older than the one that builds them: no option may name a processor.
OPTIMISE = ["/O2"] if sys.platform == "win32" else ["-O3"]
# Undefined behaviour ends the program, as a wrong address does. Less optimising leaves more of both to be seen.
SANITIZERS = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
# Python's own options make an integer that overflows start again from below; here it is an error. Reports need line
# numbers only: the rest of what debuggers want takes a third of the time to compile.
SANITIZED = [*SANITIZERS, "-fno-wrapv", "-O1", "-g1", "-fno-omit-frame-pointer"]
COMPILE = SANITIZED if SANITIZE else OPTIMISE
LINK = SANITIZERS if SANITIZE else []

SOURCES = sorted(Path("nx_fastonl").rglob("*.pyx"))

setup(
    ext_modules=cythonize(
        [
            Extension(
                ".".join(source.with_suffix("").parts),
                [str(source)],
                extra_compile_args=COMPILE,
                extra_link_args=LINK,
            )
            for source in SOURCES
        ],
        force=REBUILD,
        nthreads=PROCESSES,
        cache=os.environ.get("CYTHON_CACHE_DIR", False),
        compiler_directives={
            "language_level": 3,
            "boundscheck": CHECKED,
            "wraparound": False,
            "initializedcheck": CHECKED,
            "cdivision": True,
            "embedsignature": True,
            "auto_pickle": False,
            # What threads share is guarded without the GIL too: see "Threads" in CONTRIBUTING.md.
            "freethreading_compatible": True,
        },
    ),
    options={"build_ext": {"force": REBUILD, "parallel": os.cpu_count()}},
)
