"""Tests alerts(), which lists the open alerts of the user, and on_alert, which receives alerts while a job runs."""

import json
import os
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


def test_a_folder_that_is_missing_has_no_alerts_and_is_not_made(state):
    assert resource_tracker.alerts(dir=str(state / "none")) == []
    assert not (state / "none").exists()


def test_the_folder_is_that_of_the_program(state, tmp_path, monkeypatch):
    """TRACKER_RECORDING, then the configuration, then RESOURCE_TRACKER_DIR, then that of the user."""
    def found():
        printed = subprocess.run([program(), "alerts", "list", "--json"], check=True, stdout=subprocess.PIPE).stdout
        (alert,) = resource_tracker.alerts()
        assert [alert] == json.loads(printed)["alerts"]
        return alert["id"]

    home = tmp_path / "home"
    (home / ".config/resource-tracker").mkdir(parents=True)
    places = {"a1": home / ".local/state/resource-tracker", "b2": state, "c3": tmp_path / "configured",
              "d4": tmp_path / "variable"}
    for identifier, folder in places.items():
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        write(folder, json.dumps({"schema": "resource-tracker.alerts/1", "silences": [],
                                  "alerts": [entry(identifier)]}))
    monkeypatch.setenv("HOME", str(home))
    for name in ("XDG_STATE_HOME", "XDG_CONFIG_HOME", "RESOURCE_TRACKER_CONFIG", "TRACKER_RECORDING"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    assert found() == "b2"
    monkeypatch.delenv("RESOURCE_TRACKER_DIR")
    assert found() == "a1"
    monkeypatch.setenv("RESOURCE_TRACKER_DIR", str(state))
    (home / ".config/resource-tracker/config.toml").write_text(
        f"# recording = 'no'\n[run]\nrecording = '{places['c3']}'\n[tags]\nrecording = 'tag'\n", encoding="utf-8")
    assert found() == "c3"
    monkeypatch.setenv("TRACKER_RECORDING", str(places["d4"]))
    assert found() == "d4"


GROWS = """
    import json, mmap, resource, threading
    from resource_tracker import ResourceTracker

    LIMIT = 2 << 30
    resource.setrlimit(resource.RLIMIT_AS, (LIMIT, LIMIT))
    called, told, kept = threading.Event(), [], []

    def on_alert(alert):
        told.append((alert, threading.current_thread() is threading.main_thread()))
        if alert["rule"] == "mem-near-limit":
            called.set()

    with ResourceTracker(interval=0.2, job="grows", lines=False, on_alert=on_alert) as tracker:
        while sum(map(len, kept)) < 0.93 * LIMIT and not called.is_set():
            part = mmap.mmap(-1, 64 << 20)
            for page in range(0, len(part), 4096):
                part[page] = 1
            kept.append(part)
            called.wait(0.05)
        came = called.wait(180)
        del part
        kept.clear()
    print(json.dumps([came, told, tracker.recommend_resources() is not None]))
"""


def test_a_job_that_grows_to_its_limit_is_called(script, state):
    """A real one: it holds 93 % of its address space until the rule has fired, which takes 30 s."""
    came, told, _ = json.loads(script.output(GROWS))
    assert came
    alert, in_main_thread = next(entry for entry in told if entry[0]["rule"] == "mem-near-limit")
    assert not in_main_thread
    assert set(alert) == {"rule", "severity", "state", "text", "fix", "value", "limit", "pid", "job", "run"}
    assert (alert["severity"], alert["state"], alert["job"]) == ("warning", "firing", "grows")
    assert alert["limit"] == pytest.approx(2048, rel=0.01)
    assert 0.9 * alert["limit"] < alert["value"] <= alert["limit"]
    assert alert["text"].startswith("memory at ") and "request" in alert["fix"]


CALLS = """
    import os, sys, threading, time
    from resource_tracker import ResourceTracker, track

    os.environ["TRACKER_REQUEST"] = "time=1s"  # of which 90 % pass at once
    called = threading.Event()

    def on_alert(alert):
        print(alert["rule"], alert["state"], flush=True)
        called.set()
"""


def test_what_on_alert_raises_is_a_warning_and_goes_no_further(script, state):
    code, out, err = script.run(CALLS + """
    def fails(alert):
        on_alert(alert)
        raise ValueError("no disk")

    with ResourceTracker(interval=0.05, on_alert=fails) as tracker:
        assert called.wait(120)
        time.sleep(0.3)
        assert tracker.running
    """)
    assert (code, out) == (0, "time-limit firing\n"), err
    assert "on_alert: ValueError: no disk" in err
    assert "Traceback" not in err


def test_a_tracked_function_takes_on_alert(script, state):
    assert script.output(CALLS + """
    @track(interval=0.05, on_alert=on_alert)
    def work():
        return called.wait(120)

    print(work())
    """) == "time-limit firing\nTrue\n"


def test_on_alert_can_stop_its_own_tracker(script, state):
    assert script.output(CALLS + """
    def ends(alert):
        tracker.cleanup()
        on_alert(alert)

    tracker = ResourceTracker(interval=0.05, autostart=False, on_alert=ends)
    tracker.start()
    print(called.wait(120), tracker.running)
    """) == "time-limit firing\nTrue False\n"


def test_the_thread_ends_with_the_tracker_and_does_not_keep_it(script, state):
    assert script.output("""
    import gc, os, threading, time
    from resource_tracker import ResourceTracker

    def names():
        return [thread.name for thread in threading.enumerate() if thread.name == "resource-tracker alerts"]

    tracker = ResourceTracker(interval=0.1, on_alert=print)
    process = os.fork()
    if process == 0:  # has a copy of the tracker, without the thread
        tracker.cleanup()
        del tracker
        gc.collect()
        os._exit(7)
    print(os.WEXITSTATUS(os.waitpid(process, 0)[1]), tracker.running, names())
    del tracker
    gc.collect()
    for _ in range(1200):
        if names():
            time.sleep(0.1)
    print(names())
    trackers = [ResourceTracker(interval=0.1, on_alert=print) for _ in range(3)]  # left to the end of the program
    """) == "7 True ['resource-tracker alerts']\n[]\n"


def test_a_killed_sampler_ends_the_thread(script, state):
    assert script.output("""
    import os, signal, threading, time
    from resource_tracker import ResourceTracker

    tracker = ResourceTracker(interval=0.1, on_alert=print)
    thread, = (one for one in threading.enumerate() if one.name == "resource-tracker alerts")
    tracker.wait_for_samples(1, timeout=120)
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            words = open(f"/proc/{pid}/cmdline").read().split("\\0")
        except OSError:
            continue
        if "--control-fd" in words and str(os.getpid()) in words:
            os.kill(int(pid), signal.SIGKILL)
    thread.join(60)
    print(thread.is_alive())
    """) == "False\n"


def test_where_no_rule_is_judged_a_line_says_so(script, state):
    code, out, err = script.run("""
    import os
    os.environ["RESOURCE_TRACKER_BIN"] = "/nonexistent/program"
    from resource_tracker import ResourceTracker

    with ResourceTracker(interval=0.1, on_alert=print) as tracker:
        tracker.wait_for_samples(1, timeout=120)
    """)
    assert code == 0, err
    assert "on_alert is not called: rules are checked only if the program of this package takes the samples" in err


def test_on_alert_must_be_a_function():
    with pytest.raises(TypeError, match="on_alert must be a function, got str"):
        resource_tracker.ResourceTracker(on_alert="print", autostart=False)
