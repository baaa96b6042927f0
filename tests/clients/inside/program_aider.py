"""aider's repository map of its own source code: calls on a graph of the size that users have."""

import shutil
from pathlib import Path

import aider
import pytest
from aider.io import InputOutput
from aider.repomap import RepoMap


class Words:
    """Counts tokens without a download."""

    def token_count(self, text):
        return len(text.split())


@pytest.fixture(scope="module")
def repository(tmp_path_factory):
    root = tmp_path_factory.mktemp("root")
    shutil.copytree(Path(aider.__file__).parent, root / "aider", ignore=shutil.ignore_patterns("__pycache__"))
    return root


def repository_map(root):
    return RepoMap(root=str(root), main_model=Words(), io=InputOutput(yes=True))


@pytest.mark.parametrize(
    ("in_chat", "mentioned"),
    [((), set()), (("repomap.py",), set()), (("main.py", "io.py"), {"RepoMap", "get_tags", "unheard_of"})],
)
def test_ranked_tags(repository, in_chat, mentioned):
    files = sorted(map(str, repository.rglob("*.py")))
    chat = [name for name in files if Path(name).name in in_chat]
    others = [name for name in files if name not in chat]
    tags = repository_map(repository).get_ranked_tags(chat, others, set(), mentioned)
    assert len(tags) > len(others) // 2


def test_map_as_text(repository):
    text = repository_map(repository).get_repo_map([], sorted(map(str, repository.rglob("*.py"))))
    assert "class " in text
