"""Tests --timeout and --limit (warning, request to end, kill), and marks from inside the job."""

import contextlib
import fcntl
import json
import os
import pathlib
import signal
import subprocess
import time
import uuid

import pytest

GROW = """
import time
kept = []
for i in range(200):
    kept.append(bytearray(b"x") * (5 << 20))
    time.sleep(0.05)
"""
STUBBORN = "trap '' TERM; while :; do sleep 0.05; done"


def test_a_memory_limit_ends_the_job_and_says_so(rt):
    result = rt.track("/usr/bin/python3", "-c", GROW, flags=["--limit", "mem=60MiB"])
    assert result.rc == 124
    exit_of = result.summary["run"]["exit"]
    assert exit_of["verdict"] == "memory_limit" and exit_of["signal"] == 15
    assert "of the memory limit of 60.0 MiB are used: sending TERM" in exit_of["evidence"]
    assert "memory limit" in result.stderr
    peak = result.summary["totals"]["peak_memory_mib"]["value"]
    assert 60 < peak < 800  # it was ended before it had all


def test_a_job_below_its_limits_is_left_alone(rt):
    result = rt.track("sh", "-c", "sleep 2; exit 7",
                      flags=["-i", "0.1", "--limit", "mem=1GiB,time=1h", "--timeout", "1h"])
    assert result.rc == 7
    assert "memory limit" not in result.stderr and "time limit" not in result.stderr
    assert "of 1 GiB limit" in result.stderr  # the summary


def test_a_time_limit_warns_at_nine_tenths(rt):
    result = rt.track("sleep", "30", flags=["--limit", "time=1s"])
    assert result.rc == 124
    assert "of the time limit of 1 s are used" in result.stderr
    assert result.summary["run"]["exit"]["verdict"] == "timeout"


def test_a_job_that_ignores_term_is_killed_after_the_grace_time(rt):
    result = rt.track("sh", "-c", STUBBORN, flags=["--timeout", "0.3s", "--grace", "0.3s"])
    assert result.rc == 124
    assert result.summary["run"]["exit"]["signal"] == 9
    assert "still running 0.3 s after TERM: sending KILL" in result.stderr
    assert result.summary["run"]["duration_s"] >= 0.6


# Processes of all kinds, which the limit of memory ends once the last one of them is ready. `each` is what
# they do at TERM.
TREE = """
import os, pathlib, signal, subprocess, sys, time
home, each = pathlib.Path(sys.argv[1]), sys.argv[2]
for stream in 1, 2:  # nobody shall wait for their end
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream)

def start(name, *, daemon=False, session=False, stops=False):
    if os.fork():
        return
    if session:
        os.setsid()
    if daemon and os.fork():
        os._exit(0)
    def handle(number, frame):
        if each == "respawn" and not name.startswith("new"):
            start("new " + name, session=True)
        if each == "save":
            time.sleep(0.3)  # longer than the first process of the job lives
            (home / f"saved {name}").touch()
            os._exit(0)
    signal.signal(signal.SIGTERM, signal.SIG_IGN if each == "ignore" else handle)
    (home / f"ready {name}").touch()
    if stops:
        os.kill(os.getpid(), signal.SIGSTOP)
    while True:
        time.sleep(100)

start("child")
start("session", session=True)
start("daemon", daemon=True, session=True)
start("stopped", stops=True)
subprocess.Popen(["sh", "-c", f"{sys.executable} -c 'import pathlib, time; "
                  f'pathlib.Path(\\"{home}/ready shell\\").touch(); time.sleep(100)' + "'; :"])
while len(list(home.glob("ready *"))) < 5:
    time.sleep(0.01)
kept = b"x" * (100 << 20)
time.sleep(100)
"""
LIMIT = ["--limit", "mem=60MiB"]


class Marked:
    """The words that start a command with a mark, and the live processes that have it, wherever they are."""

    def __init__(self):
        self.mark = f"RT_TEST_MARK={uuid.uuid4()}"
        self.words = ["/usr/bin/env", self.mark]

    def left(self):
        found = []
        for path in pathlib.Path("/proc").glob("[0-9]*/environ"):
            with contextlib.suppress(OSError):
                if self.mark.encode() in path.read_bytes():
                    found.append(int(path.parent.name))
        return found


@pytest.fixture
def marked():
    marked = Marked()
    yield marked
    for pid in marked.left():
        os.kill(pid, signal.SIGKILL)


@pytest.mark.parametrize("flags", [[], ["--no-children"], ["--cgroup", "auto"]])
def test_a_limit_asks_all_processes_to_end_and_waits_for_them(rt, tmp_path, marked, flags):
    result = rt.track(*marked.words, "/usr/bin/python3", "-c", TREE, tmp_path, "save",
                      flags=[*LIMIT, "--grace", "1h", *flags])
    assert result.rc == 124 and marked.left() == []
    assert "sending KILL" not in result.stderr
    assert {path.name for path in tmp_path.glob("saved *")} == {
        f"saved {name}" for name in ("child", "session", "daemon", "stopped")}
    assert result.summary["run"]["exit"]["verdict"] == "memory_limit"
    assert result.summary["run"]["left_behind"] == 0


@pytest.mark.parametrize("each", ["ignore", "respawn"])
def test_what_does_not_end_is_killed_with_what_it_starts_meanwhile(rt, tmp_path, marked, each):
    result = rt.track(*marked.words, "/usr/bin/python3", "-c", TREE, tmp_path, each,
                      flags=[*LIMIT, "--grace", "0.5s"])
    assert result.rc == 124 and marked.left() == []
    assert "still running 0.5 s after TERM: sending KILL" in result.stderr
    assert result.summary["run"]["left_behind"] == 0


# A chain of processes, each the parent of the next one, that ignore TERM.
CHAIN = r"""
#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>
static void use(int cpu)
{
	cpu_set_t set;
	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
}
int main(int argc, char **argv)
{
	signal(SIGTERM, SIG_IGN);
	for (int stream = 1; stream < 3; stream++) /* nobody shall wait for their end */
		dup2(open("/dev/null", O_WRONLY), stream);
	use(atoi(argv[1]));
	for (int i = 0; i < 280; i++)
		if (fork())
			break;
	for (;;)
		pause();
}
"""


@pytest.mark.native
def test_a_long_chain_of_processes_is_killed_on_a_busy_machine(rt, tmp_path, marked):
    """A process that is killed before its children leaves them to the tracker."""
    cpus = sorted(os.sched_getaffinity(0))
    if len(cpus) < 2:
        pytest.skip("one CPU")
    subprocess.run(["cc", "-O1", "-o", tmp_path / "chain", "-x", "c", "-"], input=CHAIN, text=True, check=True)
    with subprocess.Popen(["taskset", "-c", str(cpus[0]), "sh", "-c", "while :; do :; done"]) as other:
        done = rt.run("-c", str(cpus[0]), rt.path, "run", "--no-discovery", "--renice", "10", "--limit", "time=3s",
                      "--grace", "100ms", "--", *marked.words, tmp_path / "chain", str(cpus[1]),
                      program="/usr/bin/taskset")
        other.kill()
    assert done.rc == 124, done.stderr
    assert marked.left() == [] and "could not be ended" not in done.stderr


def test_processes_that_a_limit_cannot_end_are_named(world, tmp_path):
    """A program that became another user, as sudo does."""
    source = "#include <stdio.h>\n#include <unistd.h>\n" \
             'int main(void) { return setuid(0) || dprintf(1, "%d\\n", getpid()) < 0 || close(1) || pause(); }'
    stubborn = world.base / "stubborn"
    subprocess.run(["cc", "-x", "c", "-o", stubborn, "-"], input=source, text=True, check=True)
    stubborn.chmod(0o4755)
    script = f"mkfifo pipe; {stubborn} >pipe 2>&1 & read pid <pipe; echo $pid; exec >/dev/null 2>&1; " \
             "head -c 100M /dev/zero | tail -c 100M | sleep 100"
    ended = world.victim.rt("run", "--summary-json", "out.json", *LIMIT, "--grace", "10ms", "--", "sh", "-c", script)
    pid = int(ended.stdout)
    try:
        os.kill(pid, 0)
    finally:
        os.kill(pid, signal.SIGKILL)
    told = f"could not be ended: {pid} (stubborn): operation not permitted"
    assert ended.returncode == 124
    assert f"resource-tracker: {told}\n" in ended.stderr
    run = json.loads((world.victim.home / "out.json").read_text())["run"]
    assert run["exit"]["evidence"].endswith(f"of the memory limit of 60.0 MiB are used: sending TERM; {told}")
    assert run["left_behind"] == 1


def test_a_limit_ends_the_tree_where_proc_does_not_show_it(rt, marked):
    """In a PID namespace with the /proc of another one. Its end would end all: the processes are counted before."""
    if os.geteuid() != 0:
        pytest.skip("needs root, for a PID namespace")
    job = "exec >/dev/null 2>&1; (setsid sleep 100 &) & trap '' TERM; sleep 100 & wait; wait"
    script = f"""{rt.path} run --timeout 0.5s --grace 0.2s -- "$@"; echo $?
        grep -l "{marked.mark}" /proc/[0-9]*/environ 2>/dev/null | wc -l"""
    result = rt.run("--pid", "--fork", "sh", "-c", script, "sh", *marked.words, "sh", "-c", job,
                    program="/usr/bin/unshare")
    assert "/proc belongs to another pid namespace" in result.stderr
    assert result.stdout == "124\n0\n"


@pytest.mark.parametrize("flags", [[], ["-q", "-i", "50ms", "-o", "-"]])
def test_a_limit_does_not_wait_for_a_reader_of_messages_or_rows(rt, marked, flags):
    """The pipe is full and nobody reads it until the job has been ended."""
    script = "touch started; sleep 100"
    reader, writer = os.pipe()
    os.write(writer, b"x" * fcntl.fcntl(writer, fcntl.F_GETPIPE_SZ))
    with subprocess.Popen([rt.path, "run", "--no-discovery", "--timeout", "1s", "--grace", "1s", *flags, "--",
                           *marked.words, "sh", "-c", script], env=rt.env, cwd=rt.home, stdout=writer, stderr=writer,
                          stdin=subprocess.DEVNULL) as run:
        os.close(writer)
        while not (rt.home / "started").exists():
            assert run.poll() is None
            time.sleep(0.05)
        while marked.left():  # without a limit acting: 100 s
            time.sleep(0.05)
        assert run.poll() is None  # it waits for the reader of the rest
        with open(reader, "rb") as pipe:
            pipe.read()
    assert run.returncode == 124


FLOOD = """
import os, signal, sys
tracker = os.getppid()
for number in range(34, 65):  # before a child floods: the tracker forwards to this process
    signal.signal(number, signal.SIG_IGN)
os.fork()
os.fork()
while True:
    for number in range(34, 65):
        try:
            os.kill(tracker, number)
        except BlockingIOError:
            pass
"""


def test_a_limit_acts_in_a_flood_of_signals(rt, marked):
    result = rt.track(*marked.words, "/usr/bin/python3", "-c", FLOOD, flags=["--timeout", "1s", "--grace", "1s"])
    assert result.rc == 124 and marked.left() == []


@pytest.mark.parametrize("number", ["TSTP", "TTIN", "TTOU"])
def test_a_limit_ends_a_job_that_stops_itself(rt, marked, number):
    """Nobody continues the tracker: its parent is no shell with job control."""
    result = rt.track(*marked.words, "sh", "-c", f"sleep 100 & kill -{number} $$; sleep 100",
                      flags=["--timeout", "1s", "--grace", "1s"])
    assert result.rc == 124 and marked.left() == []


JOIN = """
import os, pathlib, sys
for path in pathlib.Path("/proc").glob("[0-9]*/stat"):
    try:
        pid, rest = path.read_text().split(" (", 1)
        name, rest = rest.rsplit(") ", 1)
        if name.startswith("rt-") and int(rest.split()[1]) == os.getppid():
            os.setpgid(0, int(pid))
            sys.exit(99)
    except OSError as error:
        print(type(error).__name__, file=sys.stderr)
sys.exit(7)
"""


def test_a_job_cannot_pass_for_a_helper_of_the_tracker(rt):
    """It would be spared by limits, and its exit code would be lost."""
    result = rt.track("/usr/bin/python3", "-c", JOIN)
    assert "PermissionError" in result.stderr and result.rc == 7


def test_wrong_limits_are_told_apart_before_the_job_starts(rt, tmp_path):
    for value in ("mem=", "mem=x", "mem=0", "time=0", "time=1x", "cpu=2", "", "mem=1GiB,,time=-1"):
        result = rt.track("touch", tmp_path / "started", flags=["--limit", value])
        assert result.rc == 125, value
        assert result.stderr.count("\n") == 1 and "--limit" in result.stderr
    assert not (tmp_path / "started").exists()


def test_marks_of_the_job_stand_in_the_summary(rt):
    script = f"{rt.path} mark load; sleep 0.3; {rt.path} mark 'train <1>'"
    marks = rt.track("sh", "-c", script).summary["marks"]
    assert [mark["name"] for mark in marks] == ["load", "train <1>"]
    assert marks[1]["elapsed_s"] - marks[0]["elapsed_s"] > 0.25
    shown = rt.run("show", "--json", "@").json()
    assert shown["marks"] == marks


def test_a_mark_outside_a_run_does_nothing_and_a_wrong_one_is_an_error(rt):
    assert rt.run("mark", "x").rc == 0
    assert rt.run("mark").rc == 2
    assert rt.run("mark", "").rc == 2
    gone = rt.run("mark", "x", env={"RESOURCE_TRACKER_RUN": "r-gone:1"})
    assert gone.rc == 1 and "cannot reach the tracker of the run" in gone.stderr


def request_of(rt, *flags, **env):
    request = rt.track("true", flags=list(flags), env=env).summary["request"]
    return {key: (q["value"], q["source"]) for key, q in request.items() if q["value"] is not None}


SLURM = {"SLURM_JOB_ID": "7", "SLURM_CPUS_PER_TASK": "4", "SLURM_CPUS_ON_NODE": "8",
         "SLURM_MEM_PER_CPU": "2048", "SLURM_GPUS_ON_NODE": "2",
         "SLURM_JOB_START_TIME": "1000", "SLURM_JOB_END_TIME": "4600"}


def test_what_was_requested_is_told_by_the_batch_system(rt):
    assert request_of(rt, **SLURM) == {
        "cpu": (4, "SLURM_CPUS_PER_TASK"), "memory_mib": (16384, "SLURM_MEM_PER_CPU"),
        "gpu": (2, "SLURM_GPUS_ON_NODE"), "time_s": (3600, "SLURM_JOB_END_TIME")}
    pod = request_of(rt, KUBERNETES_SERVICE_HOST="10.0.0.1", CPU_REQUEST="2",
                     MEMORY_LIMIT="4294967296")
    assert pod["cpu"] == (2, "CPU_REQUEST") and pod["memory_mib"] == (4096, "MEMORY_LIMIT")
    # The same names outside a pod are somebody else's.
    assert "MEMORY_LIMIT" not in str(request_of(rt, MEMORY_LIMIT="4294967296"))
    damaged = {**SLURM, "SLURM_CPUS_PER_TASK": "many", "SLURM_MEM_PER_CPU": "-1"}
    assert request_of(rt, **damaged)["cpu"] == (8, "SLURM_CPUS_ON_NODE")


def test_a_whole_node_is_no_request(rt):
    cpus = len(os.sched_getaffinity(0))
    node = {"SLURM_JOB_ID": "7", "SLURM_CPUS_ON_NODE": str(cpus), "SLURM_MEM_PER_NODE": "1024"}

    def kinds(*flags, **env):
        assert rt.track("true", flags=list(flags), env=env).rc == 0
        run = rt.run("history", "--json").json()["runs"][0]
        return {key: of["kind"] for key, of in run["capacity"].items() if key in ("cpu", "memory_mib")}
    assert kinds(**node) == {"cpu": "machine", "memory_mib": "machine"}
    assert kinds(**{**node, "SLURM_CPUS_ON_NODE": str(cpus + 1)}) == {"cpu": "requested", "memory_mib": "requested"}
    assert kinds(**node, SLURM_CPUS_PER_TASK="1") == {"cpu": "requested", "memory_mib": "requested"}
    assert kinds("--request", "mem=2G", **node) == {"cpu": "machine", "memory_mib": "requested"}


def test_what_was_stated_beats_what_is_detected(rt):
    stated = request_of(rt, "--request", "cpu=2.5,mem=3GiB,time=90m", **SLURM)
    assert stated["cpu"] == (2.5, "--request")
    assert stated["memory_mib"] == (3072, "--request")
    assert stated["time_s"] == (5400, "--request")
    assert stated["gpu"] == (2, "SLURM_GPUS_ON_NODE")
    shown = rt.run("show", "--json", "@").json()["request"]
    assert shown["memory_mib"] == {"value": 3072, "quality": "exact", "source": "--request",
                                   "reason": None}


def test_a_wrong_request_is_told(rt):
    for value in ("cpu", "cpu=", "cpu=x", "cpu=0", "mem=0", "mem=-1", "ram=1", "cpu=1,,", "time=x", ""):
        result = rt.track("true", flags=["--request", value])
        assert result.rc == 125, value
        assert "--request" in result.stderr and result.stderr.count("\n") == 1


@pytest.mark.native
def test_a_limit_of_address_space_is_a_limit_of_memory(rt):
    inside = rt.run("-c", f"ulimit -v 2000000; exec {rt.path} run --summary-json "
                          f"{rt.summary_file} -- true", program="/bin/bash").summary
    assert inside["limits"]["memory_mib"]["value"] == 2000000 / 1024
    assert "ulimit -v" in inside["limits"]["memory_mib"]["source"]
