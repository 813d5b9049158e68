"""The package gives the program's answer about a run: page and advice, byte for byte."""

import json
import time

import pytest
from resource_tracker import ResourceTracker
from resource_tracker._advice import ask
from resource_tracker._engine import run_program


@pytest.fixture
def tracker(tmp_path, monkeypatch):
    monkeypatch.setenv("RESOURCE_TRACKER_DIR", str(tmp_path))
    tracker = ResourceTracker(interval=0.05)
    held, end = bytearray(80 << 20), time.process_time() + 0.5
    held[::4096] = b"1" * len(held[::4096])
    while time.process_time() < end:
        pass
    tracker.wait_for_samples(4, timeout=30)
    tracker.stop()
    return tracker


def test_a_report_is_the_program_s(tracker, tmp_path):
    code, _, text = run_program("report", "-o", str(tmp_path / "page.html"), tracker._tracker.recording)
    assert code == 0, text
    assert str(tracker.report()) == (tmp_path / "page.html").read_text(encoding="utf-8")


def test_earlier_runs_and_a_failure_are_told_to_the_program(tracker, tmp_path):
    earlier = [{"process_memory_mib": {"max": 900.0}, "process_cpu_usage": {"mean": 0.5, "max": 1.0},
                "timestamp": {"duration": 3.0}}] * 3
    alone = str(tracker.report())
    page = str(tracker.report(historical_stats=earlier))
    assert page != alone
    (tmp_path / "earlier.json").write_text(json.dumps([
        {"cpu_mean": 0.5, "cpu_max": 1.0, "peak_memory_mib": 900.0, "duration_s": 3.0}] * 3))
    code, _, text = run_program("internal", "report", "-o", str(tmp_path / "page.html"), "--earlier",
                                str(tmp_path / "earlier.json"), tracker._tracker.recording)
    assert code == 0, text
    assert page == (tmp_path / "page.html").read_text(encoding="utf-8")


def test_advice_is_the_program_s(tracker):
    code, told, text = run_program("recommend", "--json", tracker._tracker.recording)
    assert code == 0, text
    assert json.dumps(ask(tracker, None), indent=1) == json.dumps(json.loads(told), indent=1)
