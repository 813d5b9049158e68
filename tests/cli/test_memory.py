"""Tests memory peaks and their labels with jobs that know their memory."""

import contextlib
import csv
import io
import json
import os
import pathlib
import re
import shlex
import signal
import subprocess
import sys
import time

import pytest
from conftest import TIMEOUT_S, memory_group

pytestmark = pytest.mark.native

MIB = 1 << 20

# Four children at once, 60 MiB each, for 150 ms.
CHILDREN = """
import mmap, os, time
for i in range(4):
    if os.fork() == 0:
        m = mmap.mmap(-1, 60 << 20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        for at in range(0, len(m), 4096):
            m[at] = 1
        time.sleep(0.15)
        os._exit(0)
for i in range(4):
    os.wait()
time.sleep(0.1)
"""

# 100 MiB that four children map as well, and sleep.
SHARED = """
import mmap, os, time
m = mmap.mmap(-1, 100 << 20)
for at in range(0, len(m), 4096):
    m[at] = 1
for i in range(4):
    if os.fork() == 0:
        for at in range(0, len(m), 4096):
            m[at]
        time.sleep(1.5)
        os._exit(0)
for i in range(4):
    os.wait()
"""

FILE = """
import os, time
f = open(PATH, "wb")
for i in range(80):
    f.write(bytes(1 << 20))
f.flush()
time.sleep(0.6)
os.unlink(PATH)
f.close()
"""

UNMAPPED = """
import os, time
f = os.memfd_create("x")
for i in range(80):
    os.write(f, bytes(1 << 20))
time.sleep(0.6)
"""


# 150 MiB in place of 200 MiB that were there before.
REPLACED = """
import os, sys, time
time.sleep(0.5)
os.unlink(sys.argv[1])
time.sleep(0.5)
f = os.memfd_create("x")
for i in range(150):
    os.write(f, bytes(1 << 20))
time.sleep(0.6)
"""


def python(script):
    return sys.executable, "-c", script


def peak_of(result):
    totals = result.summary["totals"]
    return totals["peak_memory_mib"], totals["peak_memory_at_least_mib"]["value"], (
        totals["peak_memory_at_most_mib"]["value"])


def in_shm(rt):
    path = pathlib.Path("/dev/shm") / f"resource-tracker-{os.getpid()}-{rt.home.name}"
    return f"PATH = {str(path)!r}\n" + FILE


@pytest.fixture
def own_group(rt):
    """Flags for a control group of the job's own; skipped where none can be made."""
    checks = json.loads(rt.run("doctor", "--json").stdout)["checks"]
    check, = (c for c in checks if c["what"] == "exact peak of the job's memory")
    if check["available"] != "yes":
        assert check["hint"]
        pytest.skip(check["hint"])
    if "--cgroup" not in check["source"]:
        pytest.skip(check["source"])
    return ["--cgroup", "auto"]


def own_groups():
    """Groups of trackers in the control group of this process."""
    found = []
    for line in pathlib.Path("/proc/self/cgroup").read_text(encoding="utf-8").splitlines():
        _, controllers, path = line.split(":", 2)
        for root in ("/sys/fs/cgroup/memory", "/sys/fs/cgroup"):
            if "memory" in controllers or not controllers:
                found += pathlib.Path(root + path).glob("resource-tracker-*")
                found += pathlib.Path(root + path).parent.glob("resource-tracker-*")
    return found


@pytest.mark.parametrize("start", [0, 10.4], ids=["quick-ticks", "late"])
def test_children_at_once_lie_between_the_bounds(rt, start):
    result = rt.track(*python(f"import time; time.sleep({start})\n" + CHILDREN))
    assert result.rc == 0, result.stderr
    peak, least, most = peak_of(result)
    assert peak["quality"] in ("at_least", "estimated"), peak
    assert least <= 4 * 75 and least <= peak["value"]
    # Where other programs fill shared memory meanwhile, no upper bound is known.
    others = result.summary["totals"]["peak_shared_files_mib"]["value"] > 1
    assert (most is None and others) or most >= 4 * 60, (peak, most)
    if peak["quality"] == "at_least":
        assert peak["reason"]
        assert "peak memory at least" in result.stderr


def test_the_group_of_the_job_tells_the_peak_of_children_at_once(rt, own_group):
    result = rt.track(*python(CHILDREN), flags=own_group)
    peak, least, most = peak_of(result)
    group = result.summary["totals"]["peak_group_memory_mib"]
    assert group["quality"] == "exact" and least <= peak["value"] <= most
    # Python's files may have been read from a disk: then the cache is between the bounds.
    assert peak["quality"] in ("exact", "estimated"), peak
    assert peak["value"] == pytest.approx(group["value"], rel=0.1, abs=12)
    assert own_groups() == []


def rss_slack_mib():
    """How far the size of a process of one thread may be off: the kernel counts three kinds of pages in batches."""
    major, minor = (int(part) for part in os.uname().release.split(".")[:2])
    cpus = os.cpu_count()
    batches = cpus * max(32, 2 * cpus) if (major, minor) >= (6, 2) else 64
    return 3 * batches * os.sysconf("SC_PAGE_SIZE") / (1 << 20)


def test_one_process_alone_is_exact(rt):
    for _ in range(60): # other processes of the machine may fill /dev/shm meanwhile
        result = rt.track("/usr/bin/python3", "-c", "x = bytearray(80 << 20)") # no shim, which forks
        if result.summary["totals"]["peak_shared_files_mib"]["value"] <= 1:
            break
        time.sleep(1)
    peak, least, most = peak_of(result)
    assert peak["value"] == pytest.approx(80 + 10, rel=0.1)
    slack = rss_slack_mib()
    if slack > 1:
        assert peak["quality"] == "estimated" and f"within {slack:.1f} MiB" in peak["reason"], peak
        assert least == pytest.approx(peak["value"] - slack)
        assert most == pytest.approx(peak["value"] + slack)
    else:
        assert peak["quality"] == "exact", peak
        assert least == most == peak["value"]


# A child of 100 MiB between two looks, for which the kernel makes its parent wait in vain.
UNSEEN = """
import ctypes, os, signal, time
class Action(ctypes.Structure):
    _fields_ = [("handler", ctypes.c_void_p), ("mask", ctypes.c_ulong * 16), ("flags", ctypes.c_int),
                ("restorer", ctypes.c_void_p)]
action = Action(flags=2) # SA_NOCLDWAIT
assert ctypes.CDLL(None).sigaction(signal.SIGCHLD, ctypes.byref(action), None) == 0
x = bytearray(40 << 20)
time.sleep(10.3)
child = os.fork()
if child == 0:
    y = bytearray(100 << 20)
    os._exit(0)
try:
    os.waitpid(child, 0)
except ChildProcessError:
    pass
while time.process_time() < 0.5:
    pass
"""


def test_an_unseen_child_that_nobody_waits_for_leaves_no_exact_peak(rt):
    peak, least, most = peak_of(rt.track("/usr/bin/python3", "-c", UNSEEN))
    assert peak["quality"] in ("at_least", "estimated") and peak["reason"], peak
    assert least <= peak["value"] and (most is None or most >= 140)


def test_memory_that_is_freed_does_not_hide_what_the_job_fills(rt):
    path = pathlib.Path("/dev/shm") / f"resource-tracker-{os.getpid()}-{rt.home.name}"
    try:
        path.write_bytes(bytes(200 << 20))
        result = rt.track("/usr/bin/python3", "-c", REPLACED, path, flags=["-i", "0.1"])
    finally:
        path.unlink(missing_ok=True)
    assert result.rc == 0, result.stderr
    peak, _, most = peak_of(result)
    assert peak["quality"] != "exact" and most is None, peak
    assert result.summary["totals"]["peak_shared_files_mib"]["value"] > 100


def test_a_process_that_has_waited_for_another_is_not_alone(rt):
    # Both live between two ticks.
    script = "import subprocess, time; time.sleep(10.4); subprocess.run(['/bin/true']); time.sleep(.1)"
    peak, _, _ = peak_of(rt.track(*python(script)))
    assert peak["quality"] != "exact", peak


@pytest.mark.parametrize("interval", ["1", "0.05"])
def test_shared_memory_counts_once(rt, interval):
    result = rt.track(*python(SHARED), flags=["-i", interval])
    peak, _, _ = peak_of(result)
    assert peak["value"] == pytest.approx(100 + 12, rel=0.12), peak
    rows = csv.DictReader(io.StringIO(rt.run("export", "@").stdout))
    # The children are forked when all is filled, which takes long on a busy machine.
    sums = sorted(float(r["process_memory_mib"]) for r in rows
                  if r["process_memory_mib"] and int(r["process_children"] or 0) > 0)
    assert 85 < sums[len(sums) // 2] < 125 and sums[-1] < 135, sums


@pytest.mark.parametrize("kind", ["file", "memfd"])
def test_memory_that_no_process_maps_is_a_possibility(rt, kind):
    result = rt.track(*python(in_shm(rt) if kind == "file" else UNMAPPED))
    totals = result.summary["totals"]
    peak, _, most = peak_of(result)
    assert peak["quality"] in ("at_least", "estimated") and "/dev/shm" in peak["reason"], peak
    # The figure is the machine's: other programs may fill and free shared memory at the same time.
    shared_mib = totals["peak_shared_files_mib"]["value"]
    assert shared_mib > 40
    assert totals["peak_shared_files_mib"]["quality"] == "estimated"
    assert most is None
    assert "perhaps due to this job" in result.stderr
    said = re.search(r"(\d+) MiB more", rt.run("recommend", "--no-servers").stdout)
    assert float(said[1]) == pytest.approx(shared_mib, abs=1)
    lines = rt.run("recommend", "--for", "k8s").stdout.splitlines()
    assert lines[0].startswith("# ") and "/dev/shm" in lines[0] and "resources:" in lines
    docker = rt.run("recommend", "--for", "docker")
    assert "/dev/shm" in docker.stderr and docker.stdout.count("\n") == 1
    advice = rt.run("recommend", "--json", "--no-servers").json()["advice"]["memory"]
    assert advice["possible_shared_mib"] == pytest.approx(shared_mib, abs=1)


@pytest.mark.parametrize("kind", ["file", "memfd"])
def test_the_group_of_the_job_counts_memory_that_no_process_maps(rt, own_group, kind):
    result = rt.track(*python(in_shm(rt) if kind == "file" else UNMAPPED), flags=own_group)
    peak, _, _ = peak_of(result)
    assert 80 < peak["value"] < 110, peak
    assert "perhaps due to this job" not in result.stderr
    assert result.summary["totals"]["peak_shared_files_mib"]["value"] == pytest.approx(80, rel=0.1)
    assert rt.run("recommend", "--for", "k8s").stdout.startswith("resources:")


@pytest.mark.parametrize("start, interval", [(0, "1"), (10.4, "60")], ids=["rows", "between-rows"])
def test_a_limit_counts_memory_that_no_process_maps(rt, own_group, start, interval):
    """Also between two rows; the file is held for longer than the looks are apart."""
    script = f"import time; time.sleep({start})\n" + UNMAPPED.replace("0.6", "1000")
    result = rt.track(*python(script),
                      flags=[*own_group, "--limit", "mem=60MiB", "-i", interval])
    assert result.rc == 124, result.stderr
    exit_of = result.summary["run"]["exit"]
    assert exit_of["verdict"] == "memory_limit" and "limit of 60.0 MiB" in exit_of["evidence"]


def test_page_cache_is_nothing_that_a_limit_counts(rt, own_group):
    path = rt.home / "file"
    script = f"PATH = {str(path)!r}\n" + FILE
    result = rt.track(*python(script), flags=[*own_group, "--limit", "mem=60MiB"])
    assert result.rc == 0, result.stderr


def test_what_the_job_leaves_running_leaves_the_group(rt, own_group):
    result = rt.track("sh", "-c", "sleep 300 >/dev/null 2>&1 & echo $!", flags=own_group)
    pid = int(result.stdout)
    try:
        assert result.summary["run"]["left_behind"] == 1
        group = pathlib.Path(f"/proc/{pid}/cgroup").read_text(encoding="utf-8")
        assert "resource-tracker-" not in group
        assert own_groups() == []
    finally:
        os.kill(pid, signal.SIGKILL)


def test_the_group_of_a_killed_tracker_goes_with_the_next_run(rt, own_group):
    def left():
        return [group for group in own_groups() if f"-tracker-{tracker.pid}-" in group.name]

    with rt.start("run", "--no-discovery", *own_group, "--", "sh", "-c", "sleep 30") as tracker:
        pid = None
        while pid is None:
            for group in left():
                pid = int((group / "cgroup.procs").read_text().split() [0]) if (
                    (group / "cgroup.procs").read_text().strip()) else None
            time.sleep(0.02)
        tracker.send_signal(signal.SIGKILL)
        tracker.wait()
        os.kill(pid, 0)  # the job goes on
        rt.track("true", flags=own_group)
        assert len(left()) == 1  # it is in use
    while left():
        rt.track("true", flags=own_group)
        time.sleep(0.02)


def test_the_job_starts_in_its_group_with_the_same_limit(rt, own_group):
    result = rt.track("cat", "/proc/self/cgroup", flags=own_group)
    assert result.rc == 0 and "/resource-tracker-" in result.stdout
    plain = rt.track("cat", "/proc/self/cgroup")
    assert "/resource-tracker-" not in plain.stdout
    limits = [r.summary["limits"]["memory_mib"]["value"] for r in (result, plain)]
    assert limits[0] == limits[1]


# ---- a group below the tracker's ----


@pytest.fixture
def below(rt):
    """Flags for a control group below the tracker's; skipped where none can be made."""
    checks = json.loads(rt.run("doctor", "--json").stdout)["checks"]
    check, = (c for c in checks if c["what"] == "exact peak of the job's memory")
    if "--cgroup below" not in check["source"]:
        pytest.skip(f"{check['source']}: {check['hint']}")
    return ["--cgroup", "below"]


def test_a_job_has_a_group_below_the_trackers(rt, below):
    result = rt.track("cat", "/proc/self/cgroup", flags=below)
    name, = re.findall("/(resource-tracker-.*)", result.stdout)
    assert name not in {group.name for group in own_groups()}


def test_a_run_inside_a_run_counts_in_both(rt, below):
    inner = f"{rt.path} run -q --no-discovery --cgroup below --job inner --summary-json inner.json -- "
    result = rt.track("sh", "-c", inner + shlex.join(
        python("x = b'x' * (100 << 20); print(open('/proc/self/cgroup').read())")), flags=below)
    assert result.rc == 0, result.stderr
    with open(rt.home / "inner.json", encoding="utf-8") as file:
        peaks = [s["totals"]["peak_memory_mib"]["value"] for s in (json.load(file), result.summary)]
    assert all(100 < peak < 150 for peak in peaks), peaks
    assert result.stdout.count("/resource-tracker-") == 2  # the inner group is below the outer one


@pytest.fixture
def limited(below):
    """A control group with a limit of 256 MiB, in which no other process is."""
    folder = pathlib.Path(memory_group())
    folder.mkdir()
    limit = folder / "memory.limit_in_bytes"
    if not limit.exists():
        limit = folder / "memory.max"
    limit.write_text(str(256 * MIB))
    yield folder
    until_gone = time.monotonic() + TIMEOUT_S
    while folder.exists() and time.monotonic() < until_gone:
        with contextlib.suppress(OSError):
            folder.rmdir()
        time.sleep(0.02)


def test_below_a_memory_limit_there_is_none(rt, limited):
    """A copy would not follow the limit when it is raised."""
    with subprocess.Popen(["sh", "-c", f"echo $$ >{limited}/cgroup.procs; exec sleep 60"]) as neighbour:
        lines = [line for word in ("below", "auto") for line in subprocess.run(
            ["sh", "-c", f'echo $$ >{limited}/cgroup.procs; exec "$@"', "sh", rt.path, "run", "-q",
             "--no-discovery", "--cgroup", word, "--", "cat", "/proc/self/cgroup"],
            env=rt.env, check=True, capture_output=True, text=True).stdout.splitlines() if limited.name in line]
        doctor = subprocess.run(["sh", "-c", f'echo $$ >{limited}/cgroup.procs; exec "$@"', "sh", rt.path,
                                 "doctor"], env=rt.env, check=True, capture_output=True, text=True).stdout
        neighbour.kill()
    assert ["resource-tracker-" in line for line in lines] == [False, True]
    assert "with run --cgroup auto; not below: its copy of the memory limit" in doctor


def test_a_job_that_leaves_its_group_is_measured_by_its_processes(rt, below, limited):
    code = f"""
import os, time
x = b"x" * (100 << 20)
time.sleep(0.5)
open("{limited}/cgroup.procs", "w").write(str(os.getpid()))
y = b"y" * (1 << 20)
time.sleep(1.5)
"""
    result = rt.track(*python(code), flags=[*below, "-i", "0.2"])
    peak = result.summary["totals"]["peak_memory_mib"]
    assert result.rc == 0 and 100 < peak["value"] < 130
    assert "own group" not in peak["source"]
    assert result.summary["totals"]["peak_group_memory_mib"]["value"] is None


def test_a_job_may_limit_its_own_group(rt, below):
    code = """
import pathlib, re
path = re.search(":memory:(.*)|^0::(.*)", pathlib.Path("/proc/self/cgroup").read_text(), re.M)
for folder, name in (("memory", "memory.limit_in_bytes"), (".", "memory.max")):
    file = pathlib.Path(f"/sys/fs/cgroup/{folder}/{path[1] or path[2]}/{name}")
    if file.exists():
        file.write_text(str(64 << 20))
x = b"x" * (100 << 20)
"""
    result = rt.track(*python(code), flags=below)
    assert result.summary["run"]["exit"]["verdict"] == "out_of_memory"


def test_cgroup_takes_three_words(rt):
    result = rt.run("run", "--cgroup", "always", "--", "true")
    assert result.rc == 125 and "below auto never" in result.stderr
    assert subprocess.run([rt.path, "run", "--help"], capture_output=True, check=True,
                          text=True).stdout.count("--cgroup") == 1


# Maps a file of 120 MiB and reads each page once, or again and again.
MAPPED = """
import mmap, sys, time
with open(sys.argv[1], "rb") as file:
    data = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
for _ in range(int(sys.argv[2])):
    sum(data[i] for i in range(0, len(data), 4096))
time.sleep(1.5)
"""


@pytest.mark.parametrize("passes", [1, 3])
def test_pages_of_a_mapped_file_are_named_and_stay_in_the_request(rt, passes):
    """Both jobs have the same figures, but only one runs as fast in less memory."""
    path = rt.home / "mapped"
    with path.open("wb") as file:
        file.write(bytes(range(256)) * (120 << 12))
        file.flush()
        os.fsync(file.fileno()) # what is not on the disk yet cannot be dropped
    result = rt.track(*python(MAPPED), path, str(passes), flags=["-n", "mapped"])
    assert result.rc == 0, result.stderr
    part = result.summary["totals"]["peak_file_pages_mib"]
    assert part["quality"] == "estimated" and 115 < part["value"] < 145, part
    rows = csv.DictReader(io.StringIO(rt.run("export", "@").stdout))
    for row in rows:
        if row["process_file_pages_mib"]:
            assert float(row["process_file_pages_mib"]) <= float(row["process_memory_mib"]), row
    assert re.search(r"^Files +up to 1\d\d MiB of the peak are pages of mapped files", result.stderr, re.M)
    advised = rt.run("recommend", "--json", "--no-servers").json()["advice"]["memory"]
    assert advised["file_pages_mib"] == pytest.approx(part["value"], abs=0.1)
    assert any("pages of mapped files, which the kernel can drop" in reason for reason in advised["reasons"])
    assert advised["request_mib"] >= 120
    assert "of it pages of files, at most" in rt.run("report", "--format", "md", "-o", "-").stdout
