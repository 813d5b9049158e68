"""pytest plugin. `--track-resources` reports what each test used; `@pytest.mark.max_memory("500 MiB")` fails a
test that adds more to the memory in use."""

from __future__ import annotations

import json
import re
from typing import Any, Dict, Generator, List, Optional

import pytest

UNITS = {"": 1 / 1048576, "B": 1 / 1048576, "K": 1 / 1024, "KIB": 1 / 1024, "KB": 1000 / 1048576,
         "M": 1.0, "MIB": 1.0, "MB": 1e6 / 1048576, "G": 1024.0, "GIB": 1024.0,
         "GB": 1e9 / 1048576, "TIB": 1048576.0, "TB": 1e12 / 1048576}

INTERVAL_S = 0.05


def parse_size(text: Any) -> float:
    """Parse a size ("500 MiB", "2GB", or a number of bytes). Returns MiB.

    Raises:
        ValueError: not a size
    """
    found = re.fullmatch(r"\s*([0-9.]+)\s*([A-Za-z]*)\s*", str(text))
    if not found or found.group(2).upper() not in UNITS:
        raise ValueError(f"{text!r} is not a size such as '500 MiB'")
    return float(found.group(1)) * UNITS[found.group(2).upper()]


def pytest_addoption(parser: Any) -> None:
    group = parser.getgroup("resource-tracker")
    group.addoption("--track-resources", action="store_true",
                    help="report the tests that used the most memory")
    group.addoption("--track-resources-top", type=int, default=10, metavar="N",
                    help="number of tests in that report (10)")
    group.addoption("--track-resources-json", metavar="FILE",
                    help="write what every test used, as JSON")


def pytest_configure(config: Any) -> None:
    config.addinivalue_line("markers",
                            "max_memory(size): fail when the test adds more to the memory in use, "
                            "such as '500 MiB'")
    if any(config.getoption(name) for name in ("--track-resources", "--track-resources-json")):
        config.pluginmanager.register(Table(config), "resource_tracker_table")


class Table:
    """Collects what each test used, including tests in workers of pytest-xdist, and prints the table."""

    def __init__(self, config: Any):
        self.config = config
        self.rows: List[Dict[str, Any]] = []

    def pytest_runtest_logreport(self, report: Any) -> None:
        for name, value in report.user_properties:
            if name == "resource_tracker" and report.when == "teardown":
                self.rows.append({"test": report.nodeid, **value})

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        path = self.config.getoption("--track-resources-json")
        if path and not hasattr(self.config, "workerinput"):
            from ._trust import open_output

            with open_output(path, "w", encoding="utf-8") as file:
                json.dump(self.rows, file, indent=1)
        if not self.config.getoption("--track-resources"):
            return
        top = sorted(self.rows, key=lambda row: -row["peak_mib"])
        terminalreporter.section("resources: heaviest tests")
        terminalreporter.line(f"{'added MiB':>10} {'peak MiB':>10} {'CPU s':>8}  test")
        for row in top[: self.config.getoption("--track-resources-top")]:
            terminalreporter.line(f"{row['added_mib']:>10.1f} {row['peak_mib']:>10.1f} "
                                  f"{row['cpu_s']:>8.2f}  {row['test']}")


def _memory_mib() -> float:
    import os

    from resource_tracker.tracker_procfs import get_process_stats

    return get_process_stats(os.getpid(), schema="0.5")["memory_mib"]  # type: ignore


def _figures(tracker: Any, before_mib: float) -> Dict[str, float]:
    memory = [v for v in tracker.process_metrics["memory_mib"] if v is not None]
    totals = tracker.totals()
    peak = max(memory, default=before_mib)
    return {"peak_mib": peak, "added_mib": max(0.0, peak - before_mib),
            "cpu_s": totals.get("cpu_s", {}).get("value") or 0.0}


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call(item: Any) -> Generator[None, Any, None]:
    marker = item.get_closest_marker("max_memory")
    wanted = marker is not None or any(
        item.config.getoption(name) for name in ("--track-resources", "--track-resources-json"))
    tracker = _start() if wanted else None
    before_mib = _memory_mib() if tracker else 0.0
    yield
    if tracker is None:
        return
    tracker.stop()
    figures = _figures(tracker, before_mib)
    tracker.cleanup()
    item.user_properties.append(("resource_tracker", figures))
    if marker is not None and figures["added_mib"] > parse_size(marker.args[0]):
        item.resource_tracker_verdict = (
            f"added {figures['added_mib']:.1f} MiB to the memory in use, "
            f"more than {marker.args[0]}")


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: Any, call: Any) -> Generator[None, Any, None]:
    outcome = yield
    verdict = getattr(item, "resource_tracker_verdict", None)
    report = outcome.get_result()
    if call.when == "call" and verdict and report.passed:
        report.outcome = "failed"
        report.longrepr = f"{item.nodeid}: {verdict}"


def _start() -> Optional[Any]:
    from resource_tracker import ResourceTracker

    try:
        tracker = ResourceTracker(autostart=False, interval=INTERVAL_S, track_system=False,
                                  discover_server=False, discover_cloud=False, schema="0.5")
        tracker.start()
        return tracker
    except (OSError, RuntimeError):
        return None
