"""Every code block of the README and of the pages runs.

`pycon` blocks are doctests, which pytest collects by itself. The others are run here: a block with a caption is a file;
a `console` block is run beside these files, and its output compared. Blocks that install (`sh`) are run by `.ci/run`,
from the README. The page on development is CONTRIBUTING.md, whose commands are those of the Makefile.
"""

import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import pytest
from markdown_it import MarkdownIt

from nx_fastonl.nxapi.backend import BackendInterface

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
GENERATED = {"_build", "auto_gallery"}
PAGES = [page for page in sorted(DOCS.rglob("*.md")) if not GENERATED & set(page.relative_to(DOCS).parts)]
PAGES.insert(0, ROOT / "README.md")
# What holds no code: directives of Sphinx, and a reference.
NOT_CODE = {"bibtex", "{bars}", "{include}", "{recorded}", "{toctree}", "{literalinclude} ../CITATION.cff"}
RST_DIRECTIVES = {"automodule", "autosummary", "currentmodule"}
# Files that need a package which the `test` extra does not have. Where it is missing, commands with them are left out.
NEEDS = {"with_ray.py": "ray"}
CAPTION = re.compile(r":caption: (\S+)\n\n")


class Block(NamedTuple):
    kind: str
    text: str

    @property
    def caption(self):
        """The file that the block is, if any."""
        found = CAPTION.match(self.text) if self.kind.startswith("{code-block}") else None
        return found and found[1]

    @property
    def commands(self):
        """The commands of a session, each with the output shown below it."""
        sessions = self.text.removeprefix("$ ").split("\n$ ") if self.kind == "console" else []
        return [session.partition("\n")[::2] for session in sessions]


def blocks(page):
    tokens = MarkdownIt().parse(page.read_text("utf-8"))
    assert not any(token.type == "code_block" for token in tokens), "nothing runs an indented block"
    return [Block(token.info.strip(), token.content) for token in tokens if token.type == "fence"]


def name(page):
    return page.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_every_block_is_of_a_kind_that_is_run(page):
    installing = [line for block in blocks(PAGES[0]) if block.kind == "sh" for line in block.text.splitlines()]
    assert ":::{code" not in page.read_text("utf-8"), "a block of code has a fence of backticks"
    found = blocks(page)
    for i, block in enumerate(found):
        match block.kind:
            case "pycon":
                assert block.text.startswith(">>> ")
                assert block.text.endswith("\n\n"), "a doctest would take the fence for output"
                assert "+SKIP" not in block.text
            case "console":
                assert block.text.startswith("$ ")
            case "sh":
                assert block.text.splitlines()[0] in installing, "the gate runs what is in the README only"
                assert set(block.text.splitlines()) <= set(installing)
            case "{eval-rst}":
                assert set(re.findall(r"(\S+)::", block.text)) <= RST_DIRECTIVES
            case kind if kind.startswith("{code-block}"):
                assert block.caption, f"a file needs a name: {block.text}"
                used = [command for later in found[i:] for command, _ in later.commands]
                used += [later.text for later in found[i + 1 :] if later.caption]
                assert any(block.caption in text for text in used), f"nothing uses {block.caption}"
            case kind:
                assert kind in NOT_CODE or kind.split()[0] in NOT_CODE, f"nothing runs this block: {block}"


@pytest.mark.skipif(sys.platform == "win32", reason="the commands are written for a POSIX shell")
@pytest.mark.parametrize("page", [page for page in PAGES if "\n```console" in page.read_text("utf-8")], ids=name)
def test_commands_print_what_the_page_shows(page, tmp_path):
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = os.environ | {"PATH": path, "COLUMNS": "80", "MPLBACKEND": "Agg"}
    for block in blocks(page):
        if block.caption:
            (tmp_path / block.caption).write_text(CAPTION.sub("", block.text, count=1))
        for command, shown in block.commands:
            if any(file in command and find_spec(package) is None for file, package in NEEDS.items()):
                continue
            done = subprocess.run(
                command,
                shell=True,
                cwd=tmp_path,
                env=environment,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                check=False,
            )
            assert comparable(done.stdout) == comparable(shown), f"$ {command}\n{done.stdout}"
            assert done.returncode == shown.startswith("nx-fastonl: "), "an error, and only that, exits with 1"


def comparable(output):
    """Lines as lists of words; numbers to six digits, seconds in the last column of a table left out."""
    lines, in_seconds = [], False
    for line in output.rstrip().splitlines():
        in_seconds = bool(line) and (in_seconds or line.endswith(" seconds"))
        words = [rounded(word) for word in re.split(r"[ ,]+", line)]
        lines.append(words[:-1] if in_seconds else words)
    return lines


def rounded(word):
    try:
        return f"{float(word):.6g}"
    except ValueError:
        return word


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_tables_are_whole(page):
    """A row after a blank line is no row of its table, but a paragraph that begins with a bar."""
    lines = MarkdownIt().enable("table").parse(page.read_text("utf-8"))
    assert [token.content for token in lines if token.type == "inline" and token.content.startswith("|")] == []


@pytest.mark.parametrize(
    "page", [*PAGES, *(ROOT / file for file in ("CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md"))], ids=name
)
def test_links_to_files_lead_somewhere(page):
    tokens = MarkdownIt().parse(page.read_text("utf-8"))
    targets = [child.attrs["href"] for token in tokens for child in token.children or () if child.type == "link_open"]
    for target in targets:
        path = target.split("#")[0]
        if path and "://" not in target and not GENERATED & set(Path(path).parts):
            assert (page.parent / path).exists(), target


def test_the_table_of_files_in_contributing_is_complete():
    named, folder = set(), ""
    for row in re.findall(r"^\| (?:`(\w+)/`)? ?\|(.*?)\|", (ROOT / "CONTRIBUTING.md").read_text("utf-8"), re.MULTILINE):
        folder = row[0] or folder
        named |= {f"{folder}/{file.partition('.')[0]}" for file in re.findall("`(.+?)`", row[1])}
    sources = (path for path in (ROOT / "nx_fastonl").glob("*/*.p*") if path.suffix in {".py", ".pyx", ".pxd"})
    assert named == {f"{path.parent.name}/{path.stem}" for path in sources if path.stem != "__init__"}


def test_the_guide_to_networkx_names_all_functions_of_the_package():
    guide = (DOCS / "guide" / "networkx.md").read_text()
    names = guide.split("## The package's own functions", 1)[1].split(" are dispatchable functions", 1)[0]
    own = {name.removeprefix("fastonl_") for name in vars(BackendInterface) if name.startswith("fastonl_")}
    assert set(re.findall(r"`(\w+)`", names)) == own
