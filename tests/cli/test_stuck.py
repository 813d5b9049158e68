"""Processes that are stuck in the kernel: nothing that the tracker needs for signals, time limits, rows
and the end of a run reads what such a process can block.

A job is stuck for good, so each of these tests would hang without the bounded reading."""

import os
import signal
import subprocess

import pytest
from conftest import ROOT

pytestmark = [
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root"),
    pytest.mark.skipif(not os.path.exists("/dev/fuse"), reason="needs /dev/fuse"),
]

# Runs its arguments with $DIR as a file system whose server never answers.
DEAD = """
"$STUCK" serve "$DIR" >"$DIR.ready" &
server=$!
until grep -q ready "$DIR.ready"; do kill -0 $server || exit 99; sleep 0.02; done
"$@"
rc=$?
kill -9 $server
exit $rc
"""


@pytest.fixture(scope="module")
def stuck(tmp_path_factory):
    path = tmp_path_factory.mktemp("stuck") / "stuck"
    subprocess.run(["cc", "-O1", "-rdynamic", "-pthread", "-o", path, ROOT / "tests/fault/stuck.c"], check=True)
    return path


@pytest.fixture
def dead(rt, stuck, tmp_path):
    """A function that runs a command with a dead file system on $DIR."""
    folder = tmp_path / "dead"
    folder.mkdir()

    def run(*command, **options):
        return rt.run("-m", "--propagation", "private", "bash", "-c", DEAD, "bash", *command,
                      program="/usr/bin/unshare", env={"STUCK": stuck, "DIR": folder}, **options)

    run.folder = folder
    return run


def test_a_time_limit_ends_a_job_whose_memory_map_is_locked(rt, dead, stuck):
    """The rows go on, and the process is named in the JSON, in the summary and while it runs."""
    done = dead(rt.path, "run", "--no-discovery", "--interval", "200ms", "--timeout", "4s", "--grace", "1s",
                "--summary-json", rt.summary_file, "--", stuck, "hold", dead.folder)
    assert done.rc == 124, done.stderr
    run, pid = done.summary["run"], done.summary["run"]["pid"]
    assert [p["pid"] for p in run["stuck_processes"]] == [pid]
    assert run["stuck_processes"][0]["name"] == "stuck"
    assert done.summary["tracker"]["samples"] + done.summary["tracker"]["missed"] >= 15
    assert done.summary["tracker"]["samples"] >= 5
    said = f"process {pid} (stuck) is stuck in the kernel since 0:00:0"
    assert f"resource-tracker: {said}" in done.stderr
    assert f"! process {pid} (stuck) was stuck in the kernel at 0:00:0" in done.stderr
    shown = rt.run("show", "@1", "--json").json()
    assert shown["run"]["stuck_processes"] == run["stuck_processes"]


def test_a_signal_reaches_a_job_whose_memory_map_is_locked(rt, dead, stuck):
    """The tracker forwards SIGTERM and ends with the job."""
    script = '"$@" 2>"$DIR.said" & t=$!; until grep -q "stuck in the kernel" "$DIR.said"; do sleep 0.05; done; ' \
             'kill -TERM $t; wait $t'
    done = dead("bash", "-c", script, "bash", rt.path, "run", "--no-discovery", "--interval", "200ms",
                "--summary-json", rt.summary_file, "--", stuck, "hold", dead.folder)
    assert done.rc == 128 + signal.SIGTERM, done.stderr
    assert done.summary["run"]["exit"]["signal"] == signal.SIGTERM


def test_attaching_to_a_stuck_process_ends(rt, dead, stuck):
    script = '"$STUCK" hold "$DIR" >"$DIR.hold" & j=$!; until grep -q ready "$DIR.hold"; do sleep 0.05; ' \
             'done; sleep 0.2; "$@" --pid $j; rc=$?; kill -9 $j; exit $rc'
    done = dead("bash", "-c", script, "bash", rt.path, "attach", "--no-discovery", "--duration", "2s",
                "--interval", "500ms", "--summary-json", rt.summary_file)
    assert done.rc == 0, done.stderr
    assert done.summary["run"]["stuck_processes"][0]["name"] == "stuck"


def test_an_argument_on_a_dead_file_server_does_not_delay_the_job(rt, dead, tmp_path):
    done = dead(rt.path, "run", "--no-discovery", "--summary-json", rt.summary_file, "--", "sh", "-c", "echo ran",
                dead.folder / "absent", rt.path)
    assert (done.rc, done.stdout) == (0, "ran\n"), done.stderr
    assert done.summary["run"]["input_bytes"] is None  # unknown


def test_the_size_of_the_arguments_is_recorded(rt, tmp_path):
    for name in ("a", "b"):
        (tmp_path / name).write_bytes(b"x" * 1000)
    done = rt.track("sh", "-c", "exit", tmp_path / "a", f"--in={tmp_path}/b", tmp_path)
    assert done.summary["run"]["input_bytes"] == 2000


@pytest.mark.parametrize("how", ["timeout", "end"])
def test_an_interpreter_in_memory_that_never_comes(rt, stuck, how):
    """A reading of its stacks blocks. Only the worker that reads stacks waits for it."""
    if subprocess.run(["timeout", "-k", "1", "5", stuck, "absent", "0"], check=False).returncode != 0:
        pytest.skip("this kernel has no userfaultfd")
    flags = ("--timeout", "3s", "--grace", "1s") if how == "timeout" else ()
    job = (stuck, "absent", "2.5") if how == "end" else (stuck, "absent")
    done = rt.track(*job, flags=("--interval", "200ms", *flags))
    assert done.rc == (124 if how == "timeout" else 0), done.stderr
    assert [(p["name"], p["reason"]) for p in done.summary["lines"]["not_read"]] == [
        ("stuck", "it was stuck in the kernel when its memory was read")]


def test_the_worker_that_samples_stacks_is_started_again(rt, tmp_path):
    """Killed in the middle of a run: the lines of what follows are sampled, and no output waits for it."""
    script = tmp_path / "job.py"
    script.write_text(f"""
import os, pathlib, signal, subprocess, time
def of_tracker():
    children = pathlib.Path(f"/proc/{{os.getppid()}}/task/{{os.getppid()}}/children").read_text().split()
    return [int(pid) for pid in children if pathlib.Path(f"/proc/{{pid}}/comm").read_text() == "rt-lines\\n"]
def burn(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass
burn(0.5)
[worker] = of_tracker()
os.kill(worker, signal.SIGKILL)
while worker in of_tracker() or not of_tracker():
    burn(0.1)
subprocess.run([{str(rt.path)!r}, "mark", "after"], check=True)
burn(2)
""")
    done = rt.track("/usr/bin/python3", script, flags=("--lines", "200", "--interval", "200ms"))
    assert done.rc == 0, done.stderr
    after = rt.run("lines", "--json", "--phase", "after").json()
    assert after["all"]["cpu_s"] > 1


@pytest.mark.parametrize("kind", ["program", "script", "path"])
def test_a_time_limit_ends_an_exec_that_waits_for_a_dead_file_server(rt, dead, tmp_path, kind):
    command, path = dead.folder / "program", os.environ["PATH"]
    if kind == "script":
        command = tmp_path / "script"
        command.write_text(f"#!{dead.folder}/interpreter\n")
        command.chmod(0o755)
    if kind == "path":
        command, path = "program", f"{dead.folder}:{path}"
    done = dead("env", f"PATH={path}", rt.path, "run", "--no-discovery", "--timeout", "2s", "--grace", "1s", "--",
                command)
    assert done.rc == 124, done.stderr
