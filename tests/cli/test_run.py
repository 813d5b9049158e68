"""Tests the behaviour of `run` towards the job and towards its parent process."""

import contextlib
import csv
import io
import json
import os
import pathlib
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import pytest

from conftest import TIMEOUT_S, memory_group
from report_page import Page


def cpu_of(result):
    return result.summary["totals"]["cpu_s"]["value"]


def rows(rt, *flags):
    return list(csv.DictReader(io.StringIO(rt.run("export", "@", *flags).stdout)))


@pytest.mark.parametrize("code", [0, 7, 255])
def test_passes_the_exit_code_on(rt, code):
    result = rt.track("sh", "-c", f"exit {code}")
    assert result.rc == code
    assert result.summary["run"]["exit"] == {
        "code": code, "signal": None, "verdict": "exited", "evidence": None}


@pytest.mark.parametrize("signo", [signal.SIGTERM, signal.SIGKILL, signal.SIGINT, signal.SIGSEGV])
def test_dies_of_the_signal_that_the_job_died_of(rt, signo):
    result = rt.track("sh", "-c", f"kill -{int(signo)} $$")
    assert result.rc == -signo
    ended = result.summary["run"]["exit"]
    assert (ended["signal"], ended["code"], ended["verdict"]) == (signo, 128 + signo, "signalled")


@pytest.mark.parametrize("command,code", [
    (["no-such-command-here"], 127), (["/etc/passwd"], 126), (["/etc"], 126)])
def test_says_why_a_command_cannot_be_started(rt, command, code):
    result = rt.run("run", "--", *command)
    assert result.rc == code
    assert result.stderr.count("\n") == 1 and command[0] in result.stderr
    assert not list(rt.state.glob("runs/*"))


@pytest.mark.parametrize("flags", [
    ["--no-such-flag"], ["-i", "0"], ["-i", "-1"], ["-i", "1x"], ["-i", "nan"], ["-i", "1e300"],
    ["-i", "5ms"], ["-i", "2h"], ["-i"], ["--tag", "=x"], ["--format", "xml"], ["--timeout", "0"],
    ["--request", "ram=1"]])
def test_refuses_wrong_usage_before_the_job_starts(rt, flags):
    result = rt.run("run", *flags, "--", "touch", rt.home / "started")
    assert result.rc == 125
    assert result.stderr.count("\n") == 1
    assert not (rt.home / "started").exists()


def test_ends_a_job_at_its_timeout(rt):
    result = rt.track("sleep", "30", flags=["--timeout", "0.3"])
    assert result.rc == 124
    assert result.summary["run"]["exit"]["verdict"] == "timeout"


@pytest.mark.parametrize("args,rc", [
    (["hsow"], 2), (["show", "r-none"], 4), (["export", "r-none"], 4), (["attach", "0"], 2),
    (["attach", "abc"], 2), (["attach", "-5"], 2), (["attach"], 2), (["attach", "4194303"], 4),
    (["show", "/etc/passwd"], 1), (["export", "--columns", "0.9", "@"], 2)])
def test_other_verbs_fail_with_one_clear_line(rt, args, rc):
    result = rt.run(*args)
    assert (result.rc, result.stderr.count("\n"), result.stdout) == (rc, 1, "")


def test_standard_streams_are_the_jobs(rt):
    result = rt.run("run", "--", "cat", stdin="one\ntwo\n")
    assert result.stdout == "one\ntwo\n"
    assert "exit 0   cat   " in result.stderr


def test_the_job_inherits_no_descriptor_of_ours(rt):
    command = ["sh", "-c", "ls /proc/$$/fd"]
    bare = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          check=True).stdout
    assert rt.run("run", "--", *command).stdout == bare


def test_the_environment_gains_one_variable(rt):
    bare = subprocess.run(["env"], env=rt.env, capture_output=True, text=True, check=True).stdout
    gained = set(rt.run("run", "--", "env").stdout.splitlines()) - set(bare.splitlines())
    assert [line.split("=")[0] for line in gained] == ["RESOURCE_TRACKER_RUN"]


@pytest.mark.parametrize("closed", ["2>&-", "0<&-", "0<&- 1>&- 2>&-"])
def test_closed_streams_do_not_change_the_result(rt, closed):
    result = subprocess.run(
        ["sh", "-c", f'"$0" run -- sh -c "echo x > out; exit 3" {closed}', rt.path],
        env=rt.env, cwd=rt.home, check=False)
    assert result.returncode == 3
    assert (rt.home / "out").read_text() == "x\n"


@pytest.mark.parametrize("signo", [signal.SIGTERM, signal.SIGUSR1, signal.SIGHUP])
def test_a_signal_sent_to_us_reaches_the_job_once(rt, signo):
    job = (f"trap 'echo got >> log; n=1' {signo.name[3:]}; echo ready > ready; n=0; "
           "while [ $n = 0 ]; do sleep 0.05; done; sleep 0.3; exit 9")
    with rt.start("run", "--", "sh", "-c", job) as process:
        while not (rt.home / "ready").exists():
            time.sleep(0.02)
        process.send_signal(signo)
        assert process.wait(TIMEOUT_S) == 9
    assert (rt.home / "log").read_text() == "got\n"


def test_a_killed_tracker_leaves_the_job_and_a_readable_recording(rt):
    job = "until [ -e go ]; do sleep 0.05; done; echo x > done"
    with rt.start("run", "-i", "0.1", "--", "sh", "-c", job) as p:
        until(lambda: samples_of(rt) >= 3)
        p.kill()
        p.wait()
        (rt.home / "go").touch()
        until((rt.home / "done").exists)
    shown = rt.run("show", "@", "--json")
    assert shown.rc == 0
    assert shown.json()["run"]["exit"]["verdict"] == "tracker_died"
    assert shown.json()["tracker"]["samples"] >= 3
    assert shown.json()["totals"]["cpu_s"]["quality"] == "at_least"
    assert "did not end cleanly" in rt.run("show", "@").stdout


def test_a_background_child_does_not_hold_the_caller(rt):
    result = rt.track("sh", "-c", "sleep 1000 >/dev/null 2>&1 </dev/null & echo $!")
    os.kill(int(result.stdout), signal.SIGKILL)  # it is still there
    assert result.summary["run"]["left_behind"] == 1


def test_a_nested_run_does_not_track_twice(rt):
    result = rt.run("run", "--", rt.path, "run", "--", "sh", "-c", "exit 5")
    assert result.rc == 5
    assert result.stderr.count("exit 5") == 1


def test_a_nested_run_keeps_its_own_outputs(rt):
    """What the inner command line asks for holds for the inner command."""
    inner = [rt.path, "run", "--summary-json", "inner.json", "--output", "inner.csv", "--format",
             "csv", "--report=inner.html", "--tag", "part=inner", "--", "sh", "-c", "exit 5"]
    result = rt.track(*inner)
    assert result.rc == 5
    assert json.loads((rt.home / "inner.json").read_text())["run"]["exit"]["code"] == 5
    assert (rt.home / "inner.csv").read_text().startswith("timestamp,")
    assert "<html" in (rt.home / "inner.html").read_text()
    assert [mark["name"] for mark in result.summary["marks"]] == ["sh"]


@pytest.mark.parametrize("flags, name", [
    (["--timeout", "1s"], "timeout"), (["--limit", "time=1s"], "timeout"),
    (["--limit", "mem=50MiB"], "memory_limit")])
def test_a_nested_run_keeps_its_own_limits(rt, flags, name):
    script = "import time; x = bytearray(200 << 20); time.sleep(60)"
    inner = [rt.path, "run", "--summary-json", "inner.json", *flags, "--", "/usr/bin/python3", "-c",
             script]
    result = rt.track("sh", "-c", '"$@"; echo "ended with $?"', "sh", *inner)
    assert result.stdout == "ended with 124\n"
    inner_exit = json.loads((rt.home / "inner.json").read_text())["run"]["exit"]
    assert inner_exit["verdict"] == name
    assert result.summary["run"]["exit"]["verdict"] == "exited"


def test_a_nested_run_leaves_the_outer_runs_files_alone(rt):
    """The inner command inherits variables that were meant for the outer one."""
    result = rt.run("run", "--", rt.path, "run", "--", "sh", "-c", "exit 5",
                    env={"TRACKER_SUMMARY_JSON": "outer.json"})
    assert result.rc == 5
    assert "run" in json.loads((rt.home / "outer.json").read_text())["run"]["command"]


def test_an_unwritable_recording_does_not_change_the_result(rt):
    (rt.home / "file").write_text("")
    flags = ["--recording", rt.home / "file" / "below"]
    result = rt.track("sh", "-c", "exit 6", flags=flags)
    assert result.rc == 6
    assert "no recording: " in result.stderr
    assert rt.track("true", flags=[*flags, "--strict"]).rc == 125


def test_the_summary_has_every_documented_key(rt):
    summary = rt.track("sleep", "0.5").summary
    assert summary["schema"] == "resource-tracker.summary/1"
    assert {"id", "job", "command", "pid", "start_time", "stop_time", "duration_s", "interval_s",
            "exit"} <= set(summary["run"])
    assert set(summary["totals"]) == {
        "cpu_s", "cpu_user_s", "cpu_system_s", "peak_memory_mib", "peak_processes",
        "disk_read_bytes", "disk_write_bytes", "major_faults", "context_switches",
        "gpu_energy_j", "peak_memory_at_least_mib", "peak_memory_at_most_mib",
        "peak_group_memory_mib", "peak_shared_files_mib", "peak_swap_mib", "forks_refused",
        "peak_commit_mib", "peak_huge_pages_mib", "peak_needed_mib", "peak_file_pages_mib"}
    for quantity in [*summary["totals"].values(), *summary["limits"].values()]:
        assert set(quantity) == {"value", "quality", "source", "reason"}
        assert (quantity["value"] is None) == (quantity["quality"] == "unknown")
    assert set(summary["limits"]) == {"cpu", "memory_mib", "pids", "memory_high_mib", "swap_mib", "gpu",
                                      "time_s"}
    assert set(summary["stats"]["process_cpu_usage"]) == {
        "mean", "max", "min", "p50", "p95", "p99", "sum"}
    assert summary["stats"]["process_gpu_usage"]["mean"] is None
    assert {"version", "samples", "missed", "cpu_s", "peak_rss_mib", "sources"} <= set(
        summary["tracker"])


def test_show_says_the_same_as_the_end_of_the_run(rt):
    result = rt.track("sleep", "0.7")
    assert rt.run("show", "@", "--json").json() == result.summary
    assert rt.run("show", "@").stdout == result.stderr


@pytest.mark.parametrize("plain", [False, True])
def test_the_summary_fits_a_terminal(rt, plain):
    result = rt.track("sleep", "0.7", flags=["-n", "j" * 200, *(["--plain"] if plain else [])])
    lines = result.stderr.splitlines()
    assert len(lines) <= 12 and max(map(len, lines)) <= 80
    assert result.stderr.isascii() == plain


def test_control_bytes_of_a_job_name_do_not_reach_the_terminal(rt):
    result = rt.track("true", flags=["-n", "a\x1b[31mb\nc"])
    assert "\x1b" not in result.stderr and "a?[31mb c" in result.stderr


def test_the_older_column_sets_have_their_names_and_units(rt):
    rt.run("run", "-i", "0.1", "--", "sleep", "0.6")
    full = rows(rt)
    new = rows(rt, "--columns", "0.5")
    process = rt.run("export", "@", "--columns", "0.4").stdout.splitlines()
    system = rows(rt, "--columns", "0.4", "--table", "system")
    assert list(new[0])[:3] == ["timestamp", "system_processes", "system_utime"]
    assert len(new[0]) == 33 and list(new[0])[-1] == "system_steal_time" and new[0]["process_gpu_usage"] == ""
    assert process[0] == (
        '"timestamp","pid","children","utime","stime","cpu_usage","memory","read_bytes",'
        '"write_bytes","gpu_usage","gpu_vram","gpu_utilized"')
    assert process[1].endswith('"","",""')
    with_rate = [r for r in full if r["system_cpu_usage"]]
    assert len(system) == len(new) == len(with_rate)
    assert float(system[0]["memory_used"]) == pytest.approx(
        float(with_rate[0]["system_memory_used_mib"]) * 1024, abs=1)
    assert json.loads(rt.run("export", "-f", "jsonl").stdout.splitlines()[0])["process_gpu_usage"] is None


def test_samples_can_be_written_while_they_come(rt):
    result = rt.track("sleep", "0.5", flags=["-i", "0.1", "-f", "csv", "-o", "s.csv"])
    lines = (rt.home / "s.csv").read_text().splitlines()
    assert result.rc == 0 and lines[0].startswith("timestamp,system_processes")
    assert len(lines) >= 4
    assert rt.track("sh", "-c", "exit 4", flags=["-o", "/dev/full"]).rc == 4


def test_environment_variables_of_the_sibling_are_understood(rt):
    result = rt.track("true", env={"TRACKER_QUIET": "1", "TRACKER_JOB_NAME": "named",
                                   "TRACKER_TEAM": "blue"})
    assert result.stderr == ""
    assert result.summary["run"]["job"] == "named"
    assert result.summary["run"]["tags"] == {"team": "blue"}


def test_runs_are_found_by_reference_and_private(rt):
    rt.run("run", "-n", "first", "--", "true")
    rt.run("run", "-n", "second", "--", "true")
    names = sorted((rt.state / "runs").iterdir())
    assert [oct(n.stat().st_mode & 0o777) for n in names] == ["0o600"] * 2
    assert (rt.state / "runs").stat().st_mode & 0o777 == 0o700
    for reference, job in [("@", "second"), ("@2", "first"), ("first@-1", "first"),
                           (str(names[0]), "first")]:
        assert rt.run("show", reference, "--json").json()["run"]["job"] == job
    run_id = rt.run("show", "@", "--json").json()["run"]["id"]
    assert rt.run("show", run_id[:6], "--json").json()["run"]["job"] == "second"


def test_a_cut_recording_is_read_up_to_the_cut(rt):
    rt.run("run", "-i", "0.1", "--", "sleep", "0.5")
    [path] = (rt.state / "runs").iterdir()
    whole = path.read_bytes()
    cut = rt.home / "cut.rtrk"
    for size in [0, 3, 8, 20, *range(2000, len(whole), 211)]:
        cut.write_bytes(whole[:size])
        result = rt.run("show", cut)
        assert result.rc in (0, 1)
        assert (result.stdout == "") == (result.rc == 1) and result.stderr.count("\n") == result.rc
    cut.write_bytes(whole[:4] + b"\x09" + whole[5:])
    assert "newer version" in rt.run("show", cut).stderr


# Takes the rest of the disk, and ends when the recording has filled its last page as well.
FILL = """
import contextlib, os, sys, time
disk = sys.argv[1]
fill = os.open(disk + "/fill", os.O_WRONLY | os.O_CREAT)
with contextlib.suppress(OSError):
    while True:
        os.write(fill, bytes(4096))
recording = disk + "/runs/" + os.listdir(disk + "/runs")[0]
end = time.monotonic() + 100
while -os.path.getsize(recording) % 4096 > 400 and time.monotonic() < end:
    time.sleep(0.02)
time.sleep(1)
sys.exit(5)
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="mounting needs root")
def test_a_full_disk_loses_samples_and_nothing_else(rt):
    disk = rt.home / "disk"
    disk.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16k", "none", disk], check=True)
    try:
        result = rt.track(sys.executable, "-c", FILL, disk, flags=["-i", "0.01", "--recording", disk])
        assert result.rc == 5
        assert "recording incomplete" in result.stderr
        # The end has its place.
        shown = rt.run("show", "@", "--recording", disk)
        assert shown.rc == 0 and "did not end cleanly" not in shown.stdout
        run, = rt.run("history", "--json", "--recording", disk).json()["runs"]
        assert (run["verdict"], run["code"]) == ("exited", 5)
    finally:
        subprocess.run(["umount", disk], check=True)


@pytest.mark.native
def test_a_short_memory_spike_is_seen(rt):
    script = "import time\nx = bytearray(600 << 20)\ntime.sleep(0.3)\ndel x\ntime.sleep(0.5)"
    result = rt.track("sh", "-c", f'sleep 10.4; {sys.executable} -c "$0"; true', script)
    peak = result.summary["totals"]["peak_memory_mib"]["value"]
    assert peak == pytest.approx(600 + 10, rel=0.02)


@pytest.mark.native
def test_memory_shared_by_forked_workers_counts_once(rt):
    script = ("import os, time\nx = bytearray(512 << 20)\n"
              "for i in range(0, len(x), 4096): x[i] = 1\n"
              "for k in range(8):\n    if os.fork() == 0:\n        time.sleep(1.2)\n        os._exit(0)\n"
              "for k in range(8): os.wait()")
    result = rt.track(sys.executable, "-c", script)
    assert result.summary["totals"]["peak_memory_mib"]["value"] == pytest.approx(512 + 15, rel=0.03)


@pytest.mark.native
def test_pages_that_ending_workers_shared_count_once_in_every_row(rt):
    """Looks fall into the moments in which workers end, when the shares of those that stay grow."""
    script = ("import os, time\nx = bytearray(256 << 20)\n"
              "for i in range(0, len(x), 4096): x[i] = 1\n"
              "for n in range(12):\n    for k in range(8):\n"
              "        if os.fork() == 0:\n            time.sleep(0.3 + k * 0.01)\n            os._exit(0)\n"
              "    for k in range(8): os.wait()")
    result = rt.track(sys.executable, "-c", script, flags=["-i", "0.05"])
    rows = [json.loads(line)["process_memory_mib"]
            for line in rt.run("export", "--format", "jsonl").stdout.splitlines()]
    assert 256 < max(row for row in rows if row is not None) < 1.1 * (256 + 15)
    assert 256 < result.summary["totals"]["peak_memory_mib"]["value"] < 1.1 * (256 + 15)


@pytest.mark.native
def test_bytes_of_exited_children_are_counted(rt):
    dd = "dd if=/dev/zero of=f$i bs=1M count=10 conv=fsync 2>/dev/null"
    result = rt.track("sh", "-c", f"for i in 1 2 3 4; do {dd}; done")
    assert result.summary["totals"]["disk_write_bytes"]["value"] == pytest.approx(40 << 20, rel=0.02)


@pytest.mark.native
@pytest.mark.parametrize("name", ["a b c d e", "x) S 1 1 (", "tmux: server"])
def test_odd_process_names_do_not_shift_the_counters(rt, burn, name):
    odd = rt.home / name
    odd.write_bytes(burn.read_bytes())
    odd.chmod(0o755)
    assert cpu_of(rt.track(odd, "0.5")) == pytest.approx(0.5, abs=0.05)


@pytest.mark.native
def test_no_children_tracks_one_process(rt, burn):
    result = rt.track("sh", "-c", f"{burn} 0.5; true", flags=["--no-children"])
    assert cpu_of(result) < 0.1


def until(condition, seconds=TIMEOUT_S):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


def waits(pid):
    """How often the threads of the process have begun to wait."""
    lines = [line for path in pathlib.Path(f"/proc/{pid}/task").glob("*/status") for line in path.read_text().splitlines()]
    return sum(int(line.split()[1]) for line in lines if line.startswith("voluntary_ctxt_switches"))


@contextlib.contextmanager
def attached(rt, **options):
    """The tracker of a process that ends with its stdin, once there are five rows."""
    with (subprocess.Popen(["cat"], stdin=subprocess.PIPE) as job,
          rt.start("attach", "-i", "0.1", "--summary-json", rt.summary_file, str(job.pid), **options) as tracker):
        until(lambda: any(rt.state.glob("runs/*.rtrk")) and len(rows(rt)) >= 5)
        yield job, tracker


def test_attach_follows_a_process_to_its_end(rt):
    with attached(rt) as (job, tracker):
        job.communicate()
        assert tracker.wait(TIMEOUT_S) == 0
    summary = json.loads(rt.summary_file.read_text())
    assert summary["run"]["kind"] == "attach"
    assert summary["run"]["exit"]["code"] is None
    assert summary["totals"]["cpu_s"]["quality"] == "at_least"
    assert summary["tracker"]["samples"] >= 5


@pytest.mark.native
def test_attach_sees_the_end_when_no_descriptor_is_left(rt):
    """And nobody has reaped the process."""
    few = 50  # too few to keep any of the process open
    with attached(rt, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (few, few))) as (job, tracker):
        resource.prlimit(tracker.pid, resource.RLIMIT_NOFILE, (1, 1))
        before = waits(tracker.pid)
        until(lambda: waits(tracker.pid) > before + 5)
        job.stdin.close()
        assert tracker.wait(TIMEOUT_S) == 0


# Prints the id of its second thread, and ends when its input does.
THREAD = """
import sys, threading
thread = threading.Thread(target=sys.stdin.read)
thread.start()
print(thread.native_id, flush=True)
"""


@pytest.mark.parametrize("flags,lines", [([], 1), (["-q"], 0)])
def test_attach_to_a_thread_tracks_its_process_and_says_so(rt, flags, lines):
    with subprocess.Popen([sys.executable, "-c", THREAD], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          encoding="ascii") as job:
        thread = int(job.stdout.readline())
        result = rt.run("attach", "-i", "0.1", "--duration", "0.3", "--summary=never", *flags,
                        "--summary-json", rt.summary_file, thread)
        job.stdin.close()
    assert (result.rc, result.summary["run"]["pid"]) == (0, job.pid) and thread != job.pid
    assert [str(number) in result.stderr for number in (thread, job.pid)] == 2 * [bool(lines)]
    assert result.stderr.count("\n") == lines


def samples_of(rt):
    """Of the last run, which may go on; 0 without one."""
    result = rt.run("show", "--json")
    return result.json()["tracker"]["samples"] if result.rc == 0 else 0


# Uses 1 s of CPU, 120 MiB and a file of 20 MB, then says so; then a little in a time that is known.
PAST = """
import os, sys, time
def burn(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass
burn(1)
block = b"x" * (120 << 20)
del block
with open(sys.argv[1], "wb", buffering=0) as file:
    file.write(b"x" * 20_000_000)
    os.fsync(file.fileno())
print("ready", flush=True)
sys.stdin.readline()
burn(0.2)
"""


@pytest.mark.native
def test_the_table_of_processes_begins_where_tracking_does(rt):
    """What a process used before it was attached to is no part of the run."""
    with subprocess.Popen([sys.executable, "-c", PAST, rt.home / "file"], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, text=True) as job:
        assert job.stdout.readline() == "ready\n"
        with rt.start("attach", "-i", "0.1", "--summary-json", rt.summary_file,
                      job.pid) as tracker:
            until(lambda: samples_of(rt) >= 2)
            job.stdin.close()
            tracker.wait(TIMEOUT_S)
    summary = json.loads(rt.summary_file.read_text())
    (top,) = [p for p in summary["top_processes"] if p["pid"] == job.pid]
    total = summary["totals"]["cpu_s"]["value"]
    assert 0.1 < top["cpu_s"] <= total + 0.02 and total < 0.6
    assert top["peak_memory_mib"] < 100
    assert top["disk_write_bytes"] < 10_000_000
    shares = [row["Share of CPU"] for row in Page(rt).rows("Processes", 1)]
    assert shares and all(float(share.strip("< %")) <= 105 for share in shares)


def test_system_needs_no_process(rt):
    result = rt.run("system", "-i", "0.1", "--duration", "0.5", "--summary-json", rt.summary_file)
    assert result.rc == 0 and result.summary["run"]["pid"] is None
    assert result.summary["stats"]["system_cpu_usage"]["mean"] is not None
    assert result.summary["totals"]["cpu_s"]["value"] is None


@pytest.mark.native
@pytest.mark.skipif(os.geteuid() != 0, reason="changing the user needs root")
def test_what_may_not_be_read_is_said(rt):
    # A copy that the other user can reach: pytest keeps its folders to their owner.
    with tempfile.TemporaryDirectory() as folder, subprocess.Popen(["sleep", "30"]) as job:
        os.chmod(folder, 0o755)
        program = shutil.copy(rt.path, folder)
        result = subprocess.run(
            ["setpriv", "--reuid=65534", "--clear-groups", program, "attach", "--no-recording", "-q",
             "--duration", "0.5", "-i", "0.1", "--summary-json", "-", str(job.pid)],
            env=rt.env, capture_output=True, text=True, check=False, cwd="/")
        job.kill()
    summary = json.loads(result.stdout)
    assert result.returncode == 0
    assert "RSS" in summary["tracker"]["sources"]["process_memory"]
    assert summary["totals"]["disk_read_bytes"]["quality"] == "at_least"


needs_memory_group = pytest.mark.skipif(os.geteuid() != 0 or memory_group() is None,
                                        reason="needs root and a memory controller")


@contextlib.contextmanager
def limited(rt, mib):
    """Runs Python text under the tracker in a control group with so much memory."""
    group = memory_group()
    os.makedirs(group, exist_ok=True)
    limit = "memory.max" if os.path.exists(f"{group}/memory.max") else "memory.limit_in_bytes"
    with open(f"{group}/{limit}", "w") as file:
        file.write(str(mib << 20))
    enter = f'echo $$ > {group}/cgroup.procs; exec "$0" "$@"'

    def run(script):
        return subprocess.run(
            ["sh", "-c", enter, rt.path, "run", "-q", "--summary-json", "-", "--", sys.executable,
             "-c", script], env=rt.env, cwd=rt.home, capture_output=True, text=True, check=False)
    try:
        yield run
    finally:
        for _ in range(50):
            try:
                os.rmdir(group)
                break
            except OSError:
                time.sleep(0.1)


@pytest.mark.native
@needs_memory_group
def test_a_kill_for_memory_is_told_from_a_plain_kill(rt):
    with limited(rt, 96) as run:
        killed = run("x = bytearray(300 << 20)")
        plain = run("import os; os.kill(os.getpid(), 9)")
    summary = json.loads(killed.stdout)
    assert killed.returncode == -signal.SIGKILL
    assert summary["run"]["exit"]["verdict"] == "out_of_memory"
    assert "oom_kill" in summary["run"]["exit"]["evidence"]
    assert summary["limits"]["memory_mib"]["value"] == 96
    assert json.loads(plain.stdout)["run"]["exit"]["verdict"] == "signalled"


@pytest.mark.native
@needs_memory_group
def test_at_a_kill_for_memory_the_largest_process_has_the_peak(rt):
    """It grows between the last sample and the kill."""
    with limited(rt, 200) as run:
        killed = run("import time\ntime.sleep(0.3)\nx = []\nwhile True: x.append(b'x' * (1 << 20))")
    summary = json.loads(killed.stdout)
    assert summary["run"]["exit"]["verdict"] == "out_of_memory"
    largest = max(process["peak_memory_mib"] for process in summary["top_processes"])
    assert largest > 150
    assert summary["totals"]["peak_memory_mib"]["value"] == pytest.approx(largest, rel=0.05)


def test_the_page_of_columns_is_the_programs(rt):
    page = os.path.join(os.path.dirname(__file__), "../../docs/columns.md")
    with open(page, encoding="utf-8") as file:
        assert file.read() == rt.run("help", "columns").stdout


def test_the_piece_of_a_tick_before_the_end_has_no_rate(rt):
    """Over so little the steps of the CPU clock would make more cores than the job had."""
    rt.track("sh", "-c", "sleep 0.45")
    rows = list(csv.DictReader(io.StringIO(rt.run("export", "@").stdout)))
    assert {row["process_cpu_usage"] for row in rows[1:] if float(row["interval_s"]) < 0.09} <= {""}
    assert all(row["process_cpu_usage"] for row in rows[1:] if float(row["interval_s"]) > 0.11)
