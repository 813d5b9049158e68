"""Workloads for trying out a tracker."""

from __future__ import annotations

import os
import time


def cpu_single(duration: float = 1) -> None:
    """Keep one core busy for this many seconds."""
    end = time.monotonic() + duration
    while time.monotonic() < end:
        sum(i * i for i in range(1000))


def cpu_multi(duration: float = 1, ncores: int = 2) -> float:
    """Keep several cores busy for this many seconds, each with a separate process. Returns the seconds that
    it took."""
    import subprocess
    import sys

    start = time.monotonic()
    code = f"from resource_tracker.dummy_workloads import cpu_single; cpu_single({float(duration)})"
    home = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    path = os.pathsep.join(filter(None, (home, os.environ.get("PYTHONPATH"))))
    workers = [subprocess.Popen([sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": path})
               for _ in range(ncores)]
    for worker in workers:
        worker.wait()
    return time.monotonic() - start
