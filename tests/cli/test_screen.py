import re
import sys

import pytest

from nx_fastonl.cli.screen import show_table


@pytest.fixture
def shown(capsys, monkeypatch):
    """What a table looks like on a terminal of some width."""
    pytest.importorskip("rich")

    def shown(width, *table):
        monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
        monkeypatch.setenv("COLUMNS", str(width))
        show_table(*table)
        return re.sub(r"\x1b\[\d+m", "", capsys.readouterr().out)  # without bold

    return shown


def test_texts_are_wrapped(shown):
    text = shown(40, ("name", "text"), [("[bold]", "word " * 20)])
    assert max(map(len, text.splitlines())) <= 40
    assert text.count("word") == 20
    assert "[bold]" in text


@pytest.mark.parametrize("width", [40, 200])
def test_numbers_are_never_cut(shown, width):
    numbers = [f"{1 / i:.6f}" for i in range(1, 9)]
    text = shown(width, ("graph", *map(str, range(8))), [("karate", *numbers)], range(1, 9))
    assert ("\u2500" in text) == (width == 200)
    assert all(number in text for number in numbers)


def test_without_rich(shown, monkeypatch):
    monkeypatch.setitem(sys.modules, "rich", None)
    assert shown(40, ("name", "text"), [("a", "b")]) == "name  text\na     b\n"
