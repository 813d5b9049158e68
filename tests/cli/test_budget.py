"""Instructions a tick, counted by callgrind: what the machine does besides has no part in it.

The budgets are a tenth above what was measured; docs/performance.md has the times.
"""

import pathlib
import re
import subprocess
import sys

import pytest

pytestmark = pytest.mark.native

ROOT = pathlib.Path(__file__).resolve().parents[2]
SYSTEM = 22_000  # the system's files of a small virtual machine
IDLE_MEMBER = 800  # a member of the tree that did nothing, with its part of the rare full looks


@pytest.fixture(scope="module")
def tick(rt_path):
    build = pathlib.Path(rt_path).parent
    subprocess.run(["ninja", "-C", build, "bench/bench_tick"], check=True, capture_output=True)
    return build / "bench/bench_tick"


def instructions(tick, pid, *root):
    """A tick, without what starting costs."""
    def total(count):
        done = subprocess.run(
            ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", tick, "loop",
             str(pid), str(count), *root], check=True, capture_output=True, text=True)
        return int(re.search(r"refs:\s+([\d,]+)", done.stderr)[1].replace(",", ""))
    return (total(450) - total(150)) / 300


def test_a_sample_of_the_system_stays_in_its_budget(tick):
    used = instructions(tick, 0, ROOT / "tests/fixtures/vm-virtio")
    assert 0.5 * SYSTEM < used <= SYSTEM, used


def test_an_idle_member_stays_in_its_budget(tick):
    def tree(children):
        script = (f"import os, time\nfor i in range({children}):\n    if os.fork() == 0:\n"
                  "        time.sleep(600)\nprint('up', flush=True)\ntime.sleep(600)\n")
        process = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE,
                                   start_new_session=True)
        process.stdout.readline()
        try:
            return instructions(tick, process.pid)
        finally:
            subprocess.run(["kill", "-KILL", "--", f"-{process.pid}"], check=True)
            process.wait()
            process.stdout.close()
    used = (tree(110) - tree(10)) / 100
    assert 0 < used <= IDLE_MEMBER, used
