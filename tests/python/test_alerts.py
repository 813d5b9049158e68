"""alerts(): the open alerts of the program, and why they cannot be read."""

import json
import subprocess

import pytest

import resource_tracker
from resource_tracker._engine import program


def entry(identifier, **more):
    return {"id": identifier, "rule": "oom-risk", "severity": "critical", "job": "train", "scope": None,
            "run": "r-0a1b2c3d", "text": "at its limit in 11 min", "fix": "ask for 96 GiB", "opened": 1e9,
            "new": 1e9, "seen": 1e9, "ended": None, "acked": None, "held": None, "told": [], **more}


@pytest.fixture
def state(tmp_path, monkeypatch):
    folder = tmp_path / "state"
    folder.mkdir(mode=0o700)
    monkeypatch.setenv("RESOURCE_TRACKER_DIR", str(folder))
    return folder


def write(folder, text):
    path = folder / "alerts.json"
    path.write_text(text, encoding="utf-8")
    path.chmod(0o600)


def test_without_alerts_the_list_is_empty(state):
    assert resource_tracker.alerts() == []


def test_open_alerts_are_those_of_the_program(state, tmp_path):
    write(state, json.dumps({"schema": "resource-tracker.alerts/1", "silences": [],
                             "alerts": [entry("a1", ended=1.1e9), entry("b2")]}))
    printed = json.loads(subprocess.run([program(), "alerts", "list", "--json"], check=True,
                                        stdout=subprocess.PIPE).stdout)["alerts"]
    assert resource_tracker.alerts(ended=True) == printed and len(printed) == 2
    (alert,) = resource_tracker.alerts()
    assert (alert["id"], alert["state"], alert["text"]) == ("b2", "firing", "at its limit in 11 min")
    assert alert["ended"] is None and alert["scope"] is None
    other = tmp_path / "other"
    other.mkdir(mode=0o700)
    assert resource_tracker.alerts(dir=str(other)) == []


def test_a_file_that_cannot_be_read_is_an_error_with_its_reason(state):
    write(state, "{")
    with pytest.raises(RuntimeError, match="alerts.json"):
        resource_tracker.alerts()
