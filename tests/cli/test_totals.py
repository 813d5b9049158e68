"""CPU totals against the kernel's own, within one execution of the job.

The first ten seconds of a run have five ticks each: where the interval is longer than all of a job, the
job begins after them.
"""

import csv
import io
import json
import pathlib
import sys

import pytest

pytestmark = pytest.mark.native

ROOT = pathlib.Path(__file__).resolve().parents[2]
INTERVALS = ["0.1", "1", "5"]

# Runs a command and writes what the kernel says it used.
TRUTH = """
import json, resource, subprocess, sys
subprocess.run(sys.argv[2:], check=True)
used = [resource.getrusage(w) for w in (resource.RUSAGE_CHILDREN, resource.RUSAGE_SELF)]
json.dump(sum(u.ru_utime + u.ru_stime for u in used), open(sys.argv[1], "w"))
"""

# The same for a script of Python: own time, that of its children, and what `extra` s it knows of.
WRITE_TRUTH = """
import json, resource
used = [resource.getrusage(w) for w in (resource.RUSAGE_CHILDREN, resource.RUSAGE_SELF)]
json.dump(extra + sum(u.ru_utime + u.ru_stime for u in used), open(TRUTH, "w"))
"""

# A part of this project, with nothing of its build but the compiler.
MAKEFILE = """
SOURCE := {root}/src
FILES := $(wildcard $(SOURCE)/base/*.c $(SOURCE)/probe/linux/*.c)
all: $(patsubst $(SOURCE)/%.c,out/%.o,$(FILES))
out/%.o: $(SOURCE)/%.c
	@mkdir -p $(@D)
	@cc -std=gnu11 -D_GNU_SOURCE -O1 -I$(SOURCE) -I{root}/include -c -o $@ $<
"""

DAEMON = """
import os, time
r, w = os.pipe() # its end, which the daemon holds, tells that it ended, however busy the machine is
os.set_inheritable(w, True)
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.execv(BURN, [BURN, "1.5"])
    os._exit(0)
os.close(w)
os.wait()
os.read(r, 1)
time.sleep(0.3)
extra = 1.5
"""

THREADS = """
import subprocess
from concurrent.futures import ThreadPoolExecutor
list(ThreadPoolExecutor(2).map(lambda i: subprocess.run([BURN, "0.5"]), range(4)))
extra = 0
"""

UNWAITED = """
import os, signal
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
for i in range(20):
    p = os.fork()
    if p == 0:
        os.execv(BURN, [BURN, "0.1"])
    try:
        os.waitpid(p, 0)
    except ChildProcessError:
        pass
extra = 2.0
"""


def late(interval, *command):
    """The command, after the ten seconds of quick ticks where the interval is long."""
    return ["sh", "-c", 'sleep 10.3; "$@"', "sh", *command] if interval == "5" else command


def total(rt, interval, *command):
    """CPU of the run, and the kernel's figure."""
    result = rt.track(*late(interval, *command), flags=["-i", interval])
    assert result.rc == 0, result.stderr
    return result.summary["totals"]["cpu_s"], json.loads((rt.home / "truth").read_text())


def of_command(rt, interval, *command):
    return total(rt, interval, sys.executable, "-c", TRUTH, rt.home / "truth", *command)


def of_script(rt, burn, interval, script):
    names = f"BURN, TRUTH = {str(burn)!r}, {str(rt.home / 'truth')!r}\n"
    return total(rt, interval, sys.executable, "-c", names + script + WRITE_TRUTH)


def is_exact(truth):
    # 20 ms: what the interpreter itself uses after it has written the truth, and a shell.
    return pytest.approx(truth, rel=0.01, abs=0.02)


@pytest.mark.parametrize("interval", INTERVALS)
@pytest.mark.parametrize("job", [
    "i=0; while [ $i -lt 2000 ]; do /bin/true; i=$((i+1)); done",
    "seq 100 | xargs -P4 -I{} $BURN 0.05",
    "seq 4 | xargs -P2 -I{} $BURN 1",
], ids=["2000-true", "100-short", "4-long"])
def test_cpu_time_is_within_one_percent_of_the_kernels(rt, burn, job, interval):
    rt.env["BURN"] = str(burn)
    cpu, truth = of_command(rt, interval, "sh", "-c", job)
    assert cpu["value"] == is_exact(truth), cpu
    rows = csv.DictReader(io.StringIO(rt.run("export", "@").stdout))
    assert sum(float(r["process_utime"]) + float(r["process_stime"]) for r in rows) == (
        pytest.approx(cpu["value"], abs=0.001))


@pytest.mark.parametrize("interval", INTERVALS)
def test_a_build_of_a_real_project_is_within_one_percent_of_the_kernels(rt, interval):
    (rt.home / "Makefile").write_text(MAKEFILE.format(root=ROOT))
    cpu, truth = of_command(rt, interval, "make", "-B", "-j2")
    assert cpu["value"] == is_exact(truth), cpu
    assert truth > 1 and len(list(rt.home.glob("out/probe/linux/*.o"))) > 20


@pytest.mark.parametrize("interval", INTERVALS)
@pytest.mark.parametrize("script", [DAEMON, THREADS], ids=["daemon", "threads"])
def test_children_of_threads_and_daemons_are_counted(rt, burn, script, interval):
    cpu, truth = of_script(rt, burn, interval, script)
    assert cpu["value"] == is_exact(truth), cpu


@pytest.mark.parametrize("interval", INTERVALS)
def test_children_that_nobody_waits_for_are_counted_by_the_perf_counter(rt, burn, interval):
    cpu, truth = of_script(rt, burn, interval, UNWAITED)
    if cpu["quality"] == "at_least":
        assert "perf" in cpu["reason"]  # the counter may not be opened here: then it must say so
    else:
        # The counter runs on the machine's clock, which holds what a hypervisor took away.
        assert truth * 0.99 <= cpu["value"] <= truth * 1.1
