"""Tests the breakdown of run time, with jobs that wait for one known thing."""

import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.native

BURN = "import time\nend = time.process_time() + {}\nwhile time.process_time() < end: pass\n"


# What the kernel says of the main thread: nanoseconds on a CPU, and in the queue for one.
TELL = "import sys\nsys.stdout.write(open('/proc/thread-self/schedstat').read())\n"
NAMES = ("on_cpu", "disk_wait", "memory_wait", "cpu_wait")


def seconds(result):
    """The named parts of the job's time, and all of its time."""
    assert result.rc == 0, result.stderr
    stats = result.summary["stats"]
    parts = {name: stats[f"process_{name}"]["sum"] or 0 for name in NAMES}
    return parts, stats["interval_s"]["sum"]


def parts(rt, *command):
    """Sums of the parts over the run, as shares of its time."""
    spent, total = seconds(rt.track(*command, flags=["-i", "0.1"]))
    return {name: value / total for name, value in spent.items()}


def test_a_job_that_sleeps_waits_for_nothing_that_is_named(rt):
    result = rt.track(sys.executable, "-c", "import time\ntime.sleep(1)\n" + TELL,
                      flags=["-i", "0.1"])
    spent, total = seconds(result)
    ran, queued = (int(word) / 1e9 for word in result.stdout.split()[:2])
    assert spent["on_cpu"] <= 1.15 * ran + 0.1 and spent["cpu_wait"] <= 1.15 * queued + 0.1
    assert spent["disk_wait"] < 0.1 * total


def test_a_job_that_shares_its_core_waits_for_a_cpu(rt):
    core = min(os.sched_getaffinity(0))
    pin = ["taskset", "-c", str(core)]
    rival = subprocess.Popen([*pin, sys.executable, "-c", "while True: pass"])
    try:
        result = rt.track(*pin, sys.executable, "-c", BURN.format(1) + TELL, flags=["-i", "0.1"],
                          timeout=240)
    finally:
        rival.kill()
        rival.wait()
    spent, total = seconds(result)
    ran, queued = (int(word) / 1e9 for word in result.stdout.split()[:2])
    assert queued > 0.2  # the kernel has let the rival run
    # What comes after the last look before its end is not seen: on a busy machine most of it.
    assert ran / 4 < spent["on_cpu"] <= 1.15 * ran + 0.1
    assert min(ran, queued) / 4 < spent["cpu_wait"] <= 1.15 * queued + 0.1
    assert spent["cpu_wait"] > 4 * (spent["disk_wait"] + spent["memory_wait"])
    assert sum(spent.values()) <= 1.001 * total


def test_a_job_that_writes_through_the_cache_waits_for_the_disk(rt, tmp_path):
    out = tmp_path / "out"
    share = parts(rt, "sh", "-c", f"for i in 1 2 3 4 5 6; do dd if=/dev/zero of={out} bs=1M "
                  "count=200 conv=fsync 2>/dev/null; done")
    if os.path.exists("/proc/pressure/io"):
        assert share["disk_wait"] > 0.02 * (1 - share["cpu_wait"])
    assert sum(share.values()) <= 1.001


def test_the_summary_says_where_the_time_went_and_which_phases_there_were(rt):
    mark = f"{rt.path} mark"
    result = rt.track("sh", "-c", f"{mark} load; sleep 0.7; {mark} 'work hard'; "
                      f"{sys.executable} -c '{BURN.format(1)}'", flags=["-i", "0.1"])
    wall, phases = result.summary["wall"], result.summary["phases"]
    assert wall["quality"] == "estimated" and wall["bottleneck"]
    assert sum(v or 0 for v in wall["share"].values()) == pytest.approx(1)
    assert [p["name"] for p in phases][-2:] == ["load", "work hard"]
    # Shares depend on what else runs on the machine; their order does not.
    load, busy = phases[-2]["share"], phases[-1]["share"]
    assert load["other"] > busy["other"]
    assert busy["on_cpu"] > load["on_cpu"]
    assert busy["on_cpu"] + (busy["for_cpu"] or 0) > load["on_cpu"] + (load["for_cpu"] or 0)
    assert phases[-1]["bound"] != phases[-2]["bound"]
    assert phases[-2]["end_s"] == phases[-1]["start_s"]
    assert "\nTime     " in result.stderr and "\nPhases   " in result.stderr
    assert "work hard" in result.stderr
    again = rt.run("show", "--json", "@")
    assert again.json()["phases"] == phases
    assert again.json()["wall"]["share"] == pytest.approx(wall["share"], nan_ok=True) \
        if None not in wall["share"].values() else True
