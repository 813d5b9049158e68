"""Where the time of a job went, on jobs that are known to wait for one thing."""

import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.native

BURN = "import time\nend = time.process_time() + {}\nwhile time.process_time() < end: pass\n"


def parts(rt, *command):
    """Sums of the parts over the run, as shares of its time."""
    result = rt.track(*command, flags=["-i", "0.1"])
    assert result.rc == 0, result.stderr
    summary = result.summary
    total = summary["stats"]["interval_s"]["sum"]
    return {name: (summary["stats"][f"process_{name}"]["sum"] or 0) / total
            for name in ("on_cpu", "disk_wait", "memory_wait", "cpu_wait")}


def test_a_job_that_sleeps_waits_for_nothing_that_is_named(rt):
    share = parts(rt, "sleep", "1")
    assert share["on_cpu"] < 0.1 and share["cpu_wait"] < 0.1 and share["disk_wait"] < 0.1


def test_a_job_that_shares_its_core_waits_for_a_cpu(rt):
    core = min(os.sched_getaffinity(0))
    pin = ["taskset", "-c", str(core)]
    rival = subprocess.Popen([*pin, sys.executable, "-c", "while True: pass"])
    try:
        share = parts(rt, *pin, sys.executable, "-c", BURN.format(1))
    finally:
        rival.kill()
        rival.wait()
    assert share["cpu_wait"] > 0.25
    assert share["on_cpu"] + share["cpu_wait"] > 0.85
    assert sum(share.values()) <= 1.001


def test_a_job_that_writes_through_the_cache_waits_for_the_disk(rt, tmp_path):
    out = tmp_path / "out"
    share = parts(rt, "sh", "-c", f"for i in 1 2 3 4 5 6; do dd if=/dev/zero of={out} bs=1M "
                  "count=200 conv=fsync 2>/dev/null; done")
    if os.path.exists("/proc/pressure/io"):
        assert share["disk_wait"] > 0.02
    assert sum(share.values()) <= 1.001


def test_the_summary_says_where_the_time_went_and_which_phases_there_were(rt):
    mark = f"{rt.path} mark"
    result = rt.track("sh", "-c", f"{mark} load; sleep 0.7; {mark} 'work hard'; "
                      f"{sys.executable} -c '{BURN.format(1)}'", flags=["-i", "0.1"])
    wall, phases = result.summary["wall"], result.summary["phases"]
    assert wall["quality"] == "estimated" and wall["bottleneck"]
    assert sum(v or 0 for v in wall["share"].values()) == pytest.approx(1)
    assert [p["name"] for p in phases][-2:] == ["load", "work hard"]
    # On a busy machine it waits for a CPU as well.
    busy = phases[-1]["share"]
    assert phases[-2]["share"]["other"] > 0.6
    assert busy["on_cpu"] > 0.1 and busy["on_cpu"] + (busy["for_cpu"] or 0) > 0.5
    assert phases[-1]["bound"] in ("one core", "all cores", "short of CPU")
    assert phases[-2]["end_s"] == phases[-1]["start_s"]
    assert "   Waited " in result.stderr and "   Phases " in result.stderr
    assert "work hard" in result.stderr
    again = rt.run("show", "--json", "@")
    assert again.json()["phases"] == phases
    assert again.json()["wall"]["share"] == pytest.approx(wall["share"], nan_ok=True) \
        if None not in wall["share"].values() else True
