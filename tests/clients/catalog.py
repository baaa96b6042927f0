"""The clients: programs that call NetworkX's PageRank, and how their graph tests are run."""

from typing import NamedTuple


class Client(NamedTuple):
    """A package of the registry. `tests` are paths in its source distribution, `programs` are files in `inside/`."""

    name: str
    tests: tuple[str, ...] = ()
    programs: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    plugins: tuple[str, ...] = ()
    remark: str = ""


NO_MODEL = "with a stand-in for spaCy's model, which is not in the registry"
NO_TESTS = "it publishes no tests: a program of ours calls its functions"

CLIENTS = (
    Client(
        "aider-chat",
        tests=("tests/basic/test_repomap.py",),
        programs=("program_aider.py",),
        remark="its tests, and a program of ours that maps its own source code",
    ),
    Client("pytextrank", tests=("tests",), plugins=("english",), remark=NO_MODEL),
    Client(
        "textacy",
        tests=("tests/extract/keyterms", "tests/representations/test_network.py"),
        plugins=("english",),
        remark=NO_MODEL,
    ),
    # The pandas that it asks for was compiled for numpy 1, and does not say so.
    Client("littleballoffur", programs=("program_littleballoffur.py",), needs=("numpy<2",), remark=NO_TESTS),
    Client("cdlib", programs=("program_cdlib.py",), remark=NO_TESTS),
    Client("pke"),
)
