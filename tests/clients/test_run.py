import sys

import pytest

from tests.clients import __main__ as clients
from tests.clients import environments, report
from tests.clients.catalog import Client

# What a client's tests may do: import the function before, pass, fail, and raise within it.
CLIENT_TESTS = """
import networkx as nx
from networkx import pagerank

def test_passes():
    ranks = pagerank(nx.path_graph(5))
    assert ranks[0] == ranks[4]

def test_fails():
    assert False

def test_raises():
    try:
        pagerank(nx.path_graph(3), personalization={0: 0})
    except ZeroDivisionError:
        nx.pagerank(nx.DiGraph([(0, 1)]), 0.5)
"""


@pytest.fixture(scope="module")
def trial(tmp_path_factory):
    folder = tmp_path_factory.mktemp("client")
    (folder / "test_client.py").write_text(CLIENT_TESTS)
    client = Client("client", tests=("test_client.py",))
    environment = environments.Environment(sys.executable, folder, {"client": "1.0", "networkx": "3", "numpy": "2"})
    plain, through = (
        environments.run_tests(client, environment, folder / f"{backend}.json", backend=backend)
        for backend in (False, True)
    )
    return report.Trial(client, environment.versions, plain, through)


def test_both_runs_are_recorded(trial):
    for record in (trial.plain, trial.through):
        assert list(record["outcomes"].values()) == ["passed", "failed", "passed"]
        assert [call.get("raised") for call in record["calls"]] == [None, "ZeroDivisionError", None]
        assert record["calls"][2]["input"]["arguments"]["alpha"] == 0.5
    assert trial.plain["reached"] == 0
    assert trial.through["reached"] == 3


def test_table_has_both_runs_and_the_reason_of_what_was_not_tried(trial):
    text = report.text_of([trial, report.Trial(Client("other"), reason="pip install fails: ...")])
    assert "2 of 3" in text
    assert "other: not tried. pip install fails" in text
    assert "what differs" not in text
    assert not trial.is_worse


def test_test_that_passes_only_plain_is_worse(trial):
    failing = trial.through | {"outcomes": trial.through["outcomes"] | {"test_client.py::test_passes": "failed"}}
    worse = report.Trial(trial.client, trial.versions, trial.plain, failing)
    assert worse.is_worse
    assert "test_client.py::test_passes: passed plain, failed through the backend" in report.text_of([worse])


def test_client_that_cannot_be_installed_says_why(tmp_path, monkeypatch):
    def fail(*_):
        raise environments.UnavailableError("pip install fails: no such package")

    monkeypatch.setattr(environments, "prepare", fail)
    trial = clients.tried(Client("absent"), "wheel", tmp_path / "absent")
    assert trial.reason == "pip install fails: no such package"
    assert not trial.is_worse


def test_errors_have_no_addresses_and_folders():
    output = "WARNING: slow\nERROR: nothing in https://registry/simple/ for /tmp/x here\nnotice\n"
    assert environments.last_error(output) == "ERROR: nothing in ... for ... here"
    assert environments.last_error("") == ""


def test_failing_command_and_slow_command_say_why():
    with pytest.raises(environments.UnavailableError, match="pip nonsense fails: ERROR: unknown command"):
        environments.pip(sys.executable, "nonsense")
    with pytest.raises(environments.UnavailableError, match=r"longer than 0\.1 seconds"):
        environments.run([sys.executable, "-c", "import time; time.sleep(60)"], 0.1)


def test_unknown_client_is_named(capsys):
    with pytest.raises(SystemExit):
        clients.main(["nobody"])
    assert "unknown clients nobody; the clients are aider-chat" in capsys.readouterr().err
