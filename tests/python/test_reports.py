"""Tests the end of the job in report(), for each way in which a tracker gets its samples, and the message that nothing
is sent to Sentinel."""

import json
import os
import re
import subprocess
import sys

import pytest

from resource_tracker import ResourceTracker, _engine, get_server_info, server_info

from test_snapshots import NEW, OLD


def state_of(page):
    """The words beside the name of the job, and whether the page is the library's."""
    assert page.count('<figure class="chart') >= 2 and "Right-sizing" in page
    return re.search(r'<span class="state[^>]*>(?:<[^>]*>)*([^<]*)', page)[1]


def stopped(**how):
    tracker = ResourceTracker(interval=0.05, discover_cloud=False)
    tracker.wait_for_samples(3, timeout=120)
    tracker.stop(**how)
    return tracker


def left_by(exception):
    with pytest.raises(type(exception)):
        with ResourceTracker(interval=0.05, discover_cloud=False) as tracker:
            tracker.wait_for_samples(3, timeout=120)
            raise exception
    return tracker


@pytest.mark.parametrize("make, report, want", [
    (stopped, {}, "✓ exit 0"),
    (stopped, {"status_failed": True}, "✗ failed"),
    (lambda: stopped(exit_code=3, run_status="failed"), {}, "✗ exit 3"),
    (lambda: stopped(exit_code=3), {}, "✗ exit 3"),
    (lambda: stopped(run_status="failed"), {}, "✗ failed"),
    (lambda: stopped(exit_code=-9), {}, "✗ exit 137"),
    (lambda: stopped(exit_code=None), {}, "✓ exit 0"),
    (lambda: left_by(KeyError("x")), {}, "✗ exit 1"),
    (lambda: left_by(SystemExit(2)), {}, "✗ exit 2"),
    (lambda: left_by(SystemExit("a message")), {}, "✗ exit 1"),
    (lambda: left_by(SystemExit()), {}, "✓ exit 0"),
    (lambda: left_by(KeyboardInterrupt()), {}, "✗ exit 130"),
])
def test_the_page_says_how_the_job_ended(make, report, want):
    tracker = make()
    assert state_of(tracker.report(**report)) == want
    # The same after it was written, loaded, and cleaned up.
    assert state_of(ResourceTracker.loads(tracker.dumps()).report(**report)) == want
    failed = "raises a request and never lowers it" in tracker.report(**report)
    assert failed == want.startswith("✗")
    tracker.cleanup()
    assert state_of(tracker.report(**report)) == want


def test_advice_knows_of_a_failure_as_the_page_does():
    tracker = stopped(run_status="failed")
    loaded = ResourceTracker.loads(tracker.dumps())
    from resource_tracker import _advice

    told = [_advice.ask(t, "[]", no_servers=True)["advice"]["memory"] for t in (tracker, loaded)]
    for key in ("request_mib", "next_rung_mib", "basis", "runs_used", "confidence"):
        assert told[0][key] == told[1][key]
    assert tracker.recommend_resources() == loaded.recommend_resources()


def test_while_it_runs_the_page_says_so():
    with ResourceTracker(interval=0.05, discover_cloud=False) as tracker:
        tracker.wait_for_samples(3, timeout=120)
        assert state_of(tracker.report()) == "… still running"


def test_of_another_process_stop_does_not_tell_the_end(burner):
    with ResourceTracker(pid=burner.pid, interval=0.05, discover_cloud=False) as tracker:
        tracker.wait_for_samples(3, timeout=120)
    assert state_of(tracker.report()) == "■ stopped"
    with ResourceTracker(pid=burner.pid, interval=0.05, discover_cloud=False) as tracker:
        tracker.wait_for_samples(3, timeout=120)
        tracker.stop(exit_code=4)
    assert state_of(tracker.report()) == "✗ exit 4"


@pytest.mark.parametrize("snapshot", [OLD, NEW], ids=["0.4", "0.5"])
def test_snapshots_of_the_original_have_the_page(snapshot):
    tracker = ResourceTracker.from_snapshot(snapshot)
    page = tracker.report()
    assert state_of(page) == "■ ended (exit code not known)"
    assert "c5.large" in page and "300 MiB" in page and "1970-01-01" in page
    assert state_of(tracker.report(status_failed=True)) == "✗ failed"


def test_what_is_known_beside_the_samples_is_in_the_page_of_a_snapshot(tmp_path):
    with ResourceTracker(interval=0.05, discover_cloud=False, job="nightly") as tracker:
        with tracker.phase("load"):
            tracker.wait_for_samples(4, timeout=120)
    tracker.dump(str(tmp_path / "a.json.gz"))
    again = ResourceTracker.load(str(tmp_path / "a.json.gz"))
    assert again.totals() == tracker.totals() and again.totals()["cpu_s"]["quality"]
    page = again.report()
    assert "nightly" in page and "load" in page
    assert "sum of the samples" not in page  # the totals are those of the recording
    assert again.snapshot()["top_processes"] == tracker.snapshot()["top_processes"] != []
    assert all("command" not in process for process in again.snapshot()["top_processes"])
    assert tracker.snapshot()["metadata"]["job"] == again.job == "nightly"
    tracker.cleanup()
    assert tracker.totals() == again.totals()


def test_earlier_runs_of_either_schema_count(finished):
    alone = finished.report()
    assert "Basis: 1 run;" in alone
    old, new = ({"process_memory": {"max": 4096.0 * 1024, "mean": 1024.0}},
                {"process_memory_mib": {"max": 4096.0, "mean": 1.0}})
    for earlier in (old, new):
        page = finished.report(historical_stats=[{**earlier, "timestamp": {"duration": 60.0},
                                                  "process_cpu_usage": {"mean": 1.0, "max": 2.0}}])
        assert state_of(page) and "Basis: 2 runs;" in page and "4 GiB" in page
        loaded = ResourceTracker.loads(finished.dumps()).report(historical_stats=[earlier])
        assert "Basis: 2 runs;" in loaded and "4 GiB" in loaded


@pytest.mark.parametrize("integration, version, foot", [
    ("Metaflow", None, "from <code>Metaflow</code>"), ("R", "4.4.1", "from <code>R 4.4.1</code>"),
    ("<b>", None, "from <code>&lt;b&gt;</code>")])
def test_the_page_names_what_has_tracked(finished, integration, version, foot):
    page = finished.report(integration=integration, integration_version=version)
    assert foot in page and "from <code>" not in finished.report()
    first = re.search(r'id="snippet-(\w+)"', page)[1]
    assert (first == "metaflow") == (integration == "Metaflow")


def test_without_the_library_there_is_a_page_all_the_same(finished, monkeypatch):
    finished = ResourceTracker.loads(finished.dumps())
    monkeypatch.setattr(_engine, "_core", None)
    page = finished.report(status_failed=True)
    assert "<h1>What the job used</h1>" in page and '<p class="failed">' in page


# Two loops on one CPU want two, however busy the rest of the machine is.
WAITED = """
    import os, re, subprocess, sys
    from resource_tracker import ResourceTracker, _engine, _figures, _pure
    _engine._core = None
    os.sched_setaffinity(0, list(os.sched_getaffinity(0))[:1])
    loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(2)]
    with ResourceTracker(interval=0.1) as tracker:
        tracker.wait_for_samples(10, timeout=120)
    for loop in loops:
        loop.kill()
        loop.wait()
    _pure.limit_cpus = lambda: None
    found = [tracker.recommend_resources()["cpu"], tracker.recommend_resources(method="original")["cpu"]]
    page = tracker.report()
    _pure.limit_cpus = lambda: 2.5
    found.append(tracker.recommend_resources()["cpu"])
    tracker._requested_cpus = 8
    found.append(tracker.recommend_resources()["cpu"])
    _figures.queue_of = lambda tracker: (0.05, 0.0)  # without a queue
    found.append(tracker.recommend_resources()["cpu"])
    tracker.run_status = "failed"
    found.append(tracker.recommend_resources()["cpu"])
    print(*found, re.search("Waited for a CPU</th><td>([0-9]+)%", page)[1], "over-provisioned" in page)
"""


def test_without_the_library_a_run_that_waited_for_cpus_is_not_asked_to_take_fewer(script):
    words = script.output(WAITED).split()
    cpus, share = list(map(int, words[:6])), int(words[6])
    assert cpus[0] >= min(2, os.cpu_count()) and cpus[1:] == [1, 3, 8, 1, 8] and share >= 30, words
    assert words[7] == "False"  # nobody has requested anything


# ---- the machine ----

def test_sizes_are_rounded_alike_everywhere(finished):
    info = get_server_info()
    mib = info["memory_mib"]
    assert mib == round(mib, 2) == info["memory_mb"] == server_info.get_total_memory_mib()
    assert info["details"]["memory_mib"] == info["details"]["memory_mb"] == mib
    assert finished.server_info["memory_mib"] == mib
    assert finished.snapshot()["server_info"]["memory_mib"] == mib
    summary = json.loads(finished._recording().summary())
    assert summary["server"]["memory_mib"] == summary["server"]["memory_mb"] == mib
    assert server_info.info_of(summary["server"])["memory_mib"] == mib


def test_a_tracker_describes_the_machine_as_its_recording_does(monkeypatch):
    """The sampler has loaded the drivers of GPUs; a program that is asked now may not find them."""
    tracker = stopped()
    monkeypatch.setattr(server_info, "_ask_program", lambda: {"gpu_count": 7, "gpu_names": ["x"] * 7})
    recorded = json.loads(tracker._recording().summary())["server"]
    assert tracker.server_info["details"] == recorded
    assert tracker.server_info["gpu_count"] == recorded["gpu_count"] != 7
    assert json.loads(tracker.dumps())["server_info"]["gpu_count"] == recorded["gpu_count"]
    some = {"gpu_count": 1, "gpu_names": ["GB10"], "gpu_memory_mib": None}
    assert server_info.info_of(some)["gpu_memory_mib"] is None
    assert server_info.info_of({"gpu_count": 0, "gpu_names": None})["gpu_names"] == []


# ---- nothing is sent ----

TOKEN = """
from resource_tracker import ResourceTracker
{before}
for _ in range(3):
    with ResourceTracker(interval=0.05, discover_cloud=False{given}) as tracker:
        tracker.wait_for_samples(1, timeout=120)
print(tracker.sentinel_result)
"""


@pytest.mark.parametrize("variable, given, before, want", [
    ("secret-1", "", "", "resource_tracker: SENTINEL_API_TOKEN is set, but nothing is sent: "
                         "this version has no streaming\n"),
    (None, ", sentinel_token='secret-1'", "",
     "resource_tracker: sentinel_token is given, but nothing is sent: this version has no "
     "streaming\n"),
    ("secret-1", "", "import logging; logging.basicConfig(format='%(levelname)s %(message)s')",
     "WARNING SENTINEL_API_TOKEN is set, but nothing is sent: this version has no streaming\n"),
    (None, "", "", ""), ("", "", "", ""),
])
def test_a_token_is_one_line(tmp_path, monkeypatch, variable, given, before, want):
    monkeypatch.delenv("SENTINEL_API_TOKEN", raising=False)
    if variable is not None:
        monkeypatch.setenv("SENTINEL_API_TOKEN", variable)
    done = subprocess.run([sys.executable, "-c", TOKEN.format(before=before, given=given)],
                          cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "None\n", want)
