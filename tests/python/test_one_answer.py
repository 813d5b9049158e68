"""Tests that the package and the command give the same answers about a run and about servers, byte for byte.
tests/cli/test_one_answer.py compares the command with the C API."""

import hashlib
import json
import sys
import time

import pytest
from resource_tracker import ResourceTracker, _core, recording
from resource_tracker._advice import ask


@pytest.fixture
def tracker(tmp_path, monkeypatch, command):
    """A tracker of a job that this user has run before."""
    monkeypatch.setenv("RESOURCE_TRACKER_DIR", str(tmp_path))
    command("run", "--quiet", "--no-discovery", "-n", "nightly", "--", sys.executable, "-c",
            "import time\nb = bytearray(100 << 20)\nb[::4096] = b'1' * len(b[::4096])\ntime.sleep(0.3)")
    tracker = ResourceTracker(interval=0.05, job="nightly")
    held, end = bytearray(80 << 20), time.process_time() + 0.5
    held[::4096] = b"1" * len(held[::4096])
    while time.process_time() < end:
        pass
    tracker.wait_for_samples(4, timeout=120)
    tracker.stop()
    return tracker


def test_a_report_is_the_command_s(tracker, tmp_path, command):
    command("report", "-o", str(tmp_path / "page.html"), tracker._tracker.recording)
    assert str(tracker.report()) == (tmp_path / "page.html").read_text(encoding="utf-8")


def test_earlier_runs_change_a_report(tracker):
    earlier = [{"process_memory_mib": {"max": 900.0}, "process_cpu_usage": {"mean": 0.5, "max": 1.0},
                "timestamp": {"duration": 3.0}}] * 3
    assert "Basis: 4 runs;" in tracker.report(historical_stats=earlier)
    assert "Basis: 2 runs;" in tracker.report()


def test_a_recommendation_is_the_command_s(tracker, command):
    path = tracker._tracker.recording
    printed = command("recommend", "--json", path)
    assert _core.recommend(path, {"of_user": True}, {}) == (printed, "")
    assert recording.recommend(path) == json.loads(printed) == ask(tracker, None)
    assert json.loads(printed)["advice"]["runs"] == 2
    printed = command("recommend", "--json", "--no-servers", "--risk", "safe", "--cpu", "3", path)
    assert _core.recommend(path, {"of_user": True, "no_servers": True, "risk": "safe"}, {"vcpus": 3})[0] == printed
    with pytest.raises(ValueError, match="risk much: not one of: default cheap safe"):
        recording.recommend(path, risk="much")
    with pytest.raises(TypeError, match="unknown option 'colour'"):
        recording.recommend(path, colour="red")
    with pytest.raises(FileNotFoundError):
        recording.recommend(path + "x")


def test_a_summary_is_the_command_s(tracker, command):
    path = tracker._tracker.recording
    printed = json.loads(command("show", "--json", path))
    assert recording.summary(path) == {key: printed[key] for key in printed if key not in ("advice", "change")}
    totals = {name: {**total, "source": total["source"] or ""} for name, total in printed["totals"].items()}
    assert tracker.totals() == totals and "gpu_energy_j" in totals
    with pytest.raises(FileNotFoundError):
        recording.summary(path + "x")


def test_a_comparison_is_the_command_s(tracker, tmp_path, command):
    path = tracker._tracker.recording
    printed = command("compare", "--json", path)
    assert _core.compare(path, {"of_user": True}) == (printed, "")
    assert recording.compare(path) == json.loads(printed)
    (first,) = (tmp_path / "runs").iterdir()
    assert recording.compare(path, first) == json.loads(command("compare", "--json", str(first), path))
    with pytest.raises(ValueError, match="fail"):
        recording.compare(path, fail_on="speed>1")
    with pytest.raises(RuntimeError):
        recording.compare(first)


def test_a_search_of_servers_is_the_command_s(tmp_path, monkeypatch, command):
    prices = tmp_path / "own.tsv"
    prices.write_text("catalogue\t1\t2026-11-01\nsource\timport\t2026-11-01\town\tprices of this site\n"
                      "prices\taws\tus-east-1\timport\t2026-11-01\tnegotiated\n\tm5.large\t0.0123\nend\n")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    command("catalog", "update", "--from", str(prices), "--sha256",
            hashlib.sha256(prices.read_bytes()).hexdigest())
    printed = command("servers", "--json", "-n", "4", "--cpu", "2", "--mem", "4GiB", "--vendor", "aws,hetzner",
                      "--arch", "any", "--spot")
    needs = {"vcpus": 2, "memory_mib": 4096, "vendors": "aws,hetzner", "arch": "any", "spot": True}
    assert _core.servers(needs, 4) == (printed, "")
    printed = json.loads(command("servers", "--json", "-n", "1", "--cpu", "2", "--mem", "4GiB"))
    assert printed["servers"][0]["min_price_ondemand"] == 0.0123
    with pytest.raises(ValueError, match="unknown vendor nobody"):
        _core.servers({"vendors": "nobody"}, 1)
