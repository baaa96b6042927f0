"""What is built, for which Python, and with which options: stated in several files, which must agree."""

import os
import re
import subprocess
import sys
import sysconfig
import tomllib
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text())
PROJECT, WHEELS = SETTINGS["project"], SETTINGS["tool"]["cibuildwheel"]
VERSIONS = [
    classifier.rpartition(" ")[2]
    for classifier in PROJECT["classifiers"]
    if re.fullmatch(r"Programming Language :: Python :: 3\.\d+", classifier)
]
FREE_THREADED = f"{VERSIONS[-1]}t"  # the first of them that is no experiment is 3.14t


def workflow(name):
    return (ROOT / ".github" / "workflows" / name).read_text()


def test_the_oldest_python_is_the_first_that_is_named():
    assert PROJECT["requires-python"] == f">={VERSIONS[0]}"
    assert SETTINGS["tool"]["ruff"]["target-version"] == f"py{VERSIONS[0].replace('.', '')}"


def test_every_named_python_gets_wheels_and_no_other_does():
    tags = [f"cp3{minor}{kind}" for minor in range(8, 20) for kind in ("", "t")]
    patterns = WHEELS["build"].split()
    built = {tag for tag in tags if any(fnmatchcase(f"{tag}-manylinux_x86_64", pattern) for pattern in patterns)}
    assert built == {f"cp{version.replace('.', '')}" for version in [*VERSIONS, FREE_THREADED]}


def test_every_named_python_is_tested():
    [listed] = re.findall(r"python: (\[.*\])", workflow("ci.yml"))
    assert re.findall(r"3\.\d+", listed) == VERSIONS
    assert f'python-version: "{FREE_THREADED}"' in workflow("ci.yml")


@pytest.mark.skipif(not sysconfig.get_config_var("Py_GIL_DISABLED"), reason="this Python always has the GIL")
def test_no_extension_switches_the_gil_on():
    """One that does not say that it runs without the GIL would, for the whole process."""
    program = "import importlib, sys\n"
    for path in sorted((ROOT / "nx_fastonl").rglob("*.pyx")):
        module = ".".join(path.relative_to(ROOT).with_suffix("").parts)
        program += f"importlib.import_module({module!r})\n"
    environment = {name: value for name, value in os.environ.items() if name != "PYTHON_GIL"}
    command = [sys.executable, "-W", "error", "-c", f"{program}assert not sys._is_gil_enabled()"]
    ended = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr


@pytest.mark.parametrize(
    "command", [part["test-command"] for part in (WHEELS, *WHEELS["overrides"]) if "test-command" in part]
)
def test_tests_of_wheels_exist(command):
    """What is left out by name must be there, or a file that was renamed would be run, or left out, unnoticed."""
    paths = re.findall(r"tests(?:/\w+(?:\.py)?)*", command)
    assert paths
    for path in paths:
        assert (ROOT / path).exists(), path


def test_tests_of_wheels_leave_out_those_that_look_at_the_sources():
    """In the folder where wheels are tested, there are only tests/ and pyproject.toml."""
    assert WHEELS["test-sources"] == ["tests", "pyproject.toml"]
    looking = r'ROOT / "(?!pyproject\.toml|tests)|\(ROOT\)|DOCS'
    ignored = [ROOT / name for name in re.findall(r"--ignore=(\S+)", WHEELS["test-command"])]
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        is_ignored = any(path.is_relative_to(name) for name in ignored)
        assert is_ignored or not re.search(looking, path.read_text()), path


def test_deselected_tests_exist():
    """A test that was renamed would no longer be left out of the sanitized run."""
    names = re.findall(r"--deselect (\S+)::(\w+)", (ROOT / ".ci" / "sanitize").read_text())
    assert names
    for path, name in names:
        assert f"def {name}(" in (ROOT / path).read_text(), name


def test_lower_bounds_are_stated():
    """`.ci/oldest` installs them."""
    for requirement in [*SETTINGS["build-system"]["requires"], *PROJECT["dependencies"]]:
        assert re.fullmatch(r"[\w-]+>=[\d.]+", requirement), requirement
    for requirement in SETTINGS["build-system"]["requires"]:
        assert requirement in PROJECT["optional-dependencies"]["dev"]


class TestSetup:
    """What setup.py hands to the compiler."""

    # Instead of building, print the options of the first extension.
    PROGRAM = (
        "import runpy, setuptools, Cython.Build\n"
        "Cython.Build.cythonize = lambda extensions, **options: [*extensions, options]\n"
        "setuptools.setup = lambda ext_modules, options: print(\n"
        "    ext_modules[0].extra_compile_args, ext_modules[0].extra_link_args,\n"
        "    ext_modules[-1]['compiler_directives']['boundscheck'], ext_modules[-1]['force'],\n"
        "    options['build_ext']['force'])\n"
        "runpy.run_path('setup.py')\n"
    )

    def run(self, **environment):
        pytest.importorskip("Cython")
        pytest.importorskip("setuptools")
        inherited = {name: value for name, value in os.environ.items() if not name.startswith("NX_FASTONL_")}
        command = [sys.executable, "-c", self.PROGRAM]
        return subprocess.run(command, cwd=ROOT, env=inherited | environment, capture_output=True, text=True)

    @pytest.mark.skipif(sys.platform == "win32", reason="another compiler, with other options")
    def test_normal_build(self):
        """Nothing names a processor, so that wheels run on others; nothing changes what numbers mean."""
        assert self.run().stdout == "['-O3'] [] False False False\n"

    def test_checked_build(self):
        assert self.run(NX_FASTONL_CHECKED="1").stdout.endswith(" [] True True True\n")

    def test_sanitized_build(self):
        """Errors end the program, and bounds checks do not come before the sanitizers."""
        compile_options, _, rest = self.run(NX_FASTONL_SANITIZE="1").stdout.partition("] [")
        assert "-fsanitize=address,undefined" in compile_options
        assert "-fno-sanitize-recover=all" in compile_options
        assert "-fno-wrapv" in compile_options
        assert rest.startswith("'-fsanitize=address,undefined'")
        assert rest.endswith("] False True True\n")

    @pytest.mark.parametrize("name", ["NX_FASTONL_CHECKED", "NX_FASTONL_SANITIZE"])
    @pytest.mark.parametrize("value", ["yes", "", "2"])
    def test_other_values_are_refused(self, name, value):
        found = self.run(**{name: value})
        assert found.returncode == 1
        assert found.stderr == f"{name} must be 0 or 1, got {value!r}\n"
