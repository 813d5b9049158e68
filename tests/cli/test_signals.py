"""Tests signals, file descriptors and the environment of the job."""

import signal
import subprocess
import time

import pytest

JOB = """
import os, signal, sys, time
log = open(sys.argv[1], "a", buffering=1)
for name in ("SIGTERM", "SIGHUP", "SIGUSR1"):
    signal.signal(getattr(signal, name), lambda n, f: print(n, file=log))
print("ready", file=log)
end = time.monotonic() + 2
while time.monotonic() < end:
    time.sleep(0.05)
"""


def await_text(path, text):
    for _ in range(200):
        if path.exists() and text in path.read_text():
            return
        time.sleep(0.05)
    pytest.fail(f"{text!r} did not appear")


@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP", "SIGUSR1"])
def test_forwards_a_signal_to_the_job_once(rt, name):
    log, number = rt.home / "log", getattr(signal, name)
    with rt.start("run", "--", "/usr/bin/python3", "-c", JOB, log) as process:
        await_text(log, "ready")
        process.send_signal(number)
        assert process.wait(20) == 0
    assert log.read_text().split() == ["ready", str(int(number))]


def test_the_death_of_the_tracker_leaves_the_job_running(rt):
    log = rt.home / "log"
    script = f"echo ready > {log}; sleep 1.5; echo end >> {log}"
    with rt.start("run", "--", "sh", "-c", script) as process:
        await_text(log, "ready")
        time.sleep(0.5)
        process.kill()
        process.wait(10)
        await_text(log, "end")
    shown = rt.run("show", "--json", "@")
    assert shown.rc == 0
    assert shown.json()["run"]["exit"]["verdict"] == "tracker_died"


def test_passes_stdin_through_and_keeps_stdout_for_the_job(rt):
    result = rt.track("cat", stdin="one\ntwo\n")
    assert (result.rc, result.stdout) == (0, "one\ntwo\n")


@pytest.mark.parametrize("closing", ["2>&-", "<&-", ">&-", "<&- >&- 2>&-"])
def test_a_closed_descriptor_does_not_change_the_result(rt, closing):
    done = subprocess.run(["sh", "-c", f"exec {rt.path} run -- sh -c 'exit 5' {closing}"],
                          env=rt.env, cwd=rt.home, timeout=30, check=False,
                          capture_output=True)
    assert done.returncode == 5


def test_no_descriptor_of_the_tracker_reaches_the_job(rt):
    plain = rt.run("/proc/self/fd", program="/bin/ls")
    assert rt.track("ls", "/proc/self/fd").stdout == plain.stdout


def test_the_environment_gains_one_variable(rt):
    def names(text):
        return {line.split("=")[0] for line in text.splitlines()} - {"_"}
    plain = rt.run(program="/usr/bin/env")
    assert names(rt.track("env").stdout) - names(plain.stdout) == {"RESOURCE_TRACKER_RUN"}


def test_a_nested_run_does_not_track_twice(rt):
    result = rt.track(rt.path, "run", "--", "sh", "-c", "exit 6")
    assert result.rc == 6
    assert len([p for p in rt.state.rglob("*") if p.is_file() and "r-" in p.name]) <= 1


def test_a_background_child_does_not_keep_a_substitution_hanging(rt):
    script = f"x=$({rt.path} run -q -- sh -c 'sleep 30 >/dev/null 2>&1 & echo $!'); kill $x; echo ok"
    result = rt.run("-c", script, program="/bin/sh", timeout=15)
    assert result.stdout == "ok\n"
