"""Tests on Linux what samples on macOS and Windows: psutil, with real processes, and the package with /proc hidden. The
wrapper `python -m resource_tracker run` is in test_run.py."""

import json
import os
import signal
import subprocess
import sys
import types

import pytest

psutil = pytest.importorskip("psutil")

from resource_tracker import _elsewhere, _platform, _psutil_tree  # noqa: E402

MIB = 1 << 20

# A process whose children each wait for a line on the pipe, then for the end.
FAMILY = """
import os, sys, time
def burn(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end: pass
def child():
    held = bytearray(b"1") * (40 << 20)
    burn(0.3)
    print("child", os.getpid(), flush=True)
    os.read(0, 1)
    os._exit(0)
if os.fork() == 0:
    child()
print("parent", os.getpid(), flush=True)
os.wait()
print("waited", flush=True)
os.read(0, 1)
"""

ORPHAN = """
import os, time
if os.fork() == 0:
    if os.fork() == 0:
        parent = os.getppid()
        print(os.getpid(), flush=True)
        while os.getppid() == parent: time.sleep(0.01)
        end = time.process_time() + 0.3
        while time.process_time() < end: pass
        print("burnt", flush=True)
        time.sleep(600)
    os.read(0, 1)
    os._exit(0)
os.wait()
print("orphaned", flush=True)
time.sleep(600)
"""


@pytest.fixture
def start():
    """start(text): a process that runs Python text."""
    started = []

    def start_(text):
        process = subprocess.Popen([sys.executable, "-u", "-c", text], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                   encoding="utf-8", start_new_session=True)
        started.append(process)
        return process

    yield start_
    for process in started:
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        process.communicate()


def used(tree):
    total = tree.totals()
    return total.user_s + total.system_s


# ---- the tree ----

def test_children_count_as_they_were_last_read(start):
    process = start(FAMILY)
    lines = sorted(process.stdout.readline().split()[0] for _ in range(2))
    assert lines == ["child", "parent"]
    tree = _psutil_tree.Tree(process.pid)
    assert len(tree.read()) == 2
    seen = used(tree)
    assert 0.3 <= seen < 30 and sum(reading.memory for reading in tree.read()) > 40 * MIB
    process.stdin.write("\n")
    process.stdin.flush()
    assert process.stdout.readline() == "waited\n"
    assert len(tree.read()) == 1 and seen <= used(tree) < 30
    process.stdin.write("\n")
    process.stdin.flush()
    process.wait()
    before = used(tree)
    assert tree.read() is None and used(tree) == before


def test_an_orphan_is_followed(start):
    process = start(ORPHAN)
    orphan = int(process.stdout.readline())
    tree = _psutil_tree.Tree(process.pid)
    assert len(tree.read()) == 3
    process.stdin.write("\n")
    process.stdin.flush()
    assert sorted(process.stdout.readline() for _ in range(2)) == ["burnt\n", "orphaned\n"]
    assert psutil.Process(orphan).ppid() != process.pid
    before = used(tree)
    assert len(tree.read()) == 2 and used(tree) >= before + 0.25


def test_only_the_process_without_its_children(start):
    process = start(FAMILY)
    process.stdout.readline(), process.stdout.readline()
    tree = _psutil_tree.Tree(process.pid, children=False)
    assert len(tree.read()) == 1 and used(tree) < 0.3


def test_a_process_that_is_not_there_or_not_readable():
    with pytest.raises(ProcessLookupError):
        _psutil_tree.Tree(1 << 22)
    with pytest.raises(ProcessLookupError):
        _elsewhere.Counters(1 << 40)


class Fake:
    """A process of a simulated psutil."""

    def __init__(self, pid, parent=0, born=0.0, cpu=1.0):
        self.pid, self.parent, self.born, self.cpu = pid, parent, born, cpu
        self.ended, self.refuses = False, ""

    def answer(self, what, value):
        if self.ended:
            raise psutil.NoSuchProcess(self.pid)
        if what in self.refuses:
            raise psutil.AccessDenied(self.pid)
        return value

    def cpu_times(self):
        return self.answer("cpu", types.SimpleNamespace(user=self.cpu, system=0.0))

    def memory_info(self):
        return self.answer("memory", types.SimpleNamespace(rss=10 * MIB, private=20 * MIB))

    def memory_full_info(self):
        return self.answer("full", types.SimpleNamespace(uss=5 * MIB))

    def io_counters(self):
        return self.answer("io", types.SimpleNamespace(read_bytes=100, write_bytes=10))

    def status(self):
        return self.answer("status", psutil.STATUS_RUNNING)

    def create_time(self):
        return self.born

    def ppid(self):
        return self.answer("ppid", self.parent)

    def is_running(self):
        return not self.ended


@pytest.fixture
def simulated(monkeypatch):
    """simulated(system, *processes): a tree of the first process, on that system."""
    def choose(system, *processes):
        monkeypatch.setattr(_platform, "system", lambda: system)
        monkeypatch.setattr(psutil, "Process", lambda pid: processes[0])
        monkeypatch.setattr(psutil, "process_iter", lambda: [process for process in processes if not process.ended])
        return _psutil_tree.Tree(processes[0].pid)
    return choose


def test_the_totals_never_decrease_and_keep_the_dead(simulated):
    first, child, grandchild = Fake(1), Fake(2, 1, 1.0, 2.0), Fake(3, 2, 2.0, 4.0)
    tree = simulated("macos", first, child, grandchild)
    assert len(tree.read()) == 3 and used(tree) == 7
    child.ended, grandchild.parent = True, 0  # an orphan now
    grandchild.cpu = 5.0
    assert len(tree.read()) == 2 and used(tree) == 8
    grandchild.ended = True
    assert len(tree.read()) == 1 and used(tree) == 8
    assert tree.totals().read == 300 and tree.totals().written == 30


def test_a_pid_that_is_given_out_again_is_another_process(simulated):
    first, child, later, stranger = Fake(1, born=5.0), Fake(2, 1, 6.0, 2.0), Fake(2, 1, 8.0, 3.0), Fake(9, 1, 4.0, 50.0)
    later.ended = True
    tree = simulated("windows", first, child, later, stranger)
    assert len(tree.read()) == 2 and used(tree) == 3  # the stranger is older than its "parent"
    child.ended, later.ended = True, False
    assert len(tree.read()) == 2 and used(tree) == 6


def test_a_process_that_may_not_be_read(simulated):
    first, child = Fake(1), Fake(2, 1, 1.0, 2.0)
    tree = simulated("macos", first, child)
    assert used(tree) == 0 and tree.read() and used(tree) == 3
    child.refuses = "cpu"
    assert len(tree.read()) == 1 and tree.denied == 1 and used(tree) == 3
    child.refuses, child.cpu = "", 4.0
    assert len(tree.read()) == 2 and tree.denied == 0 and used(tree) == 5
    first.refuses = "cpu"
    with pytest.raises(PermissionError):
        simulated("macos", first)


def test_the_memory_of_windows_is_private(simulated):
    tree = simulated("windows", Fake(1))
    assert tree.read()[0].memory == 5 * MIB and tree.memory_source == "sum of private working sets"
    process = Fake(1)
    process.refuses = "full"
    assert simulated("windows", process).read()[0].memory == 20 * MIB
    process.refuses = "full memory"
    assert simulated("windows", process).read()[0].memory is None
    # Transfers of all kinds are no bytes of a disk.
    assert tree.totals().read is None


def test_memory_that_cannot_be_read_is_unknown_and_not_0(simulated, monkeypatch):
    process = Fake(1)
    process.refuses = "memory io"
    simulated("macos", process)
    counters = _elsewhere.Counters(1)
    assert counters.process() == (1.0, 0.0, None, None, None, 1, 0) and counters.denied == 1
    # And a row with it does not end a tracker of CSV.
    from resource_tracker import tracker_procfs

    now = (1.0, 1.0, None, None, None, 1, 0)
    assert tracker_procfs.process_stats(now, 0.0, 100, True, "0.4")["memory"] is None


def test_the_machine():
    from resource_tracker._pure import Counters

    told, true = _elsewhere.Counters().machine(False), Counters().machine(False)
    assert len(told) == len(true)
    assert told[3] + told[4] == pytest.approx(true[3] + true[4], rel=0.2)
    assert told[1] == pytest.approx(true[1], rel=0.05)


# ---- the package with /proc hidden ----

HIDDEN = """
    import builtins, json, os, subprocess, sys
    sys.modules["resource_tracker._core"] = None

    def no_proc(event, words):
        if event in ("open", "os.listdir", "os.scandir") and str(words[0]).startswith(("/proc", "/sys")):
            frame = sys._getframe(1)
            if "resource_tracker" in frame.f_code.co_filename:
                raise FileNotFoundError(2, "hidden", words[0])
    sys.addaudithook(no_proc)
    import resource_tracker._platform as platform
    platform.is_procfs_available = lambda: False
    import resource_tracker._engine
    resource_tracker._engine.program = lambda: ""
    from resource_tracker import ResourceTracker, track
    from resource_tracker.tracker_psutil import get_process_stats, get_system_stats

    with ResourceTracker(interval=0.05) as t:
        with t.phase("children"):
            for n in range(5):
                subprocess.run([sys.executable, "-c",
                                "import time\\nwhile time.process_time() < 0.3: pass"])
        t.wait_for_samples(4, timeout=120)
    again = ResourceTracker.loads(t.dumps())

    @track(interval=0.05)
    def work():
        return 42

    assert work() == 42
    try:
        t.recommend_server()
        server = "found"
    except LookupError as error:
        server = str(error)
    print(json.dumps({
        "module": type(t._tracker).__module__, "totals": t.totals(), "again": again.totals() == t.totals(),
        "stats": t.stats(), "request": t.recommend_resources(), "server": server,
        "report": t.report(), "info": t.server_info, "phases": t.phases().to_dict(),
        "row": t.process_metrics[0], "machine": t.system_metrics[0], "name": t.snapshot()["metadata"],
        "now": str(get_process_stats(os.getpid())), "system": sorted(get_system_stats()),
        "track": work.tracker.totals()["cpu_s"]["quality"]}))
"""


def test_the_package_without_proc(script):
    told = json.loads(script.output(HIDDEN))
    assert told["module"] == "resource_tracker._elsewhere" and told["again"]
    cpu = told["totals"]["cpu_s"]
    assert 0.3 < cpu["value"] < 60 and cpu["quality"] == "estimated" and cpu["source"] == "psutil"
    assert "short processes are missing" in cpu["reason"]
    assert {total["quality"] for total in told["totals"].values()} <= {"estimated", "unknown"}
    assert told["totals"]["peak_memory_mib"]["value"] > 5
    assert told["stats"]["process_memory"]["max"] > 5000
    assert told["row"]["gpu_usage"] is None  # nothing says that there is none
    assert told["request"]["cpu"] >= 1 and told["request"]["memory"] >= 128
    assert "C library is not in this package" in told["server"] and "What the job used" in told["report"]
    assert "estimated; psutil" in told["report"]
    assert told["info"]["memory_mib"] > 100 and told["info"]["gpu_count"] is None
    assert told["phases"][0]["phase"] == "children" and told["track"] == "estimated"
    assert told["name"]["resource_tracker"]["implementation"] == "psutil"
    assert "disk_spaces" in told["system"] and "'utime'" in told["now"]


def test_with_the_library_there_are_report_and_advice(script):
    """As with the wheels for macOS and Windows: psutil samples, the library answers."""
    told = json.loads(script.output("""
        import json
        from resource_tracker import ResourceTracker
        with ResourceTracker(interval=0.05) as t:
            t.wait_for_samples(4, timeout=120)
        print(json.dumps({"module": type(t._tracker).__module__, "server": t.recommend_server()["vcpus"],
                          "request": t.recommend_resources(), "report": t.report()}))
    """, env={**os.environ, "RESOURCE_TRACKER_ENGINE": "psutil"}))
    assert told["module"] == "resource_tracker._elsewhere" and told["server"] >= 1
    assert told["request"]["cpu"] >= 1 and "<svg" in told["report"] and "Totals" not in told["report"].split("<title>")[0]
