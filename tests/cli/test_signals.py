"""Tests signals, file descriptors and the environment of the job."""

import signal
import subprocess
import time

import pytest

from conftest import TIMEOUT_S

JOB = """
import os, signal, sys, time
log = open(sys.argv[1], "a", buffering=1)
seen = []
for name in ("SIGTERM", "SIGHUP", "SIGUSR1"):
    signal.signal(getattr(signal, name), lambda n, f: seen.append(n))
print("ready", file=log)
while not seen:
    time.sleep(0.05)
time.sleep(0.5)  # a second signal would arrive now
print(*map(int, seen), file=log)
"""


def await_text(path, text):
    for _ in range(20 * TIMEOUT_S):
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
        assert process.wait(TIMEOUT_S) == 0
    assert log.read_text().split() == ["ready", str(int(number))]


def test_the_death_of_the_tracker_leaves_the_job_running(rt):
    log = rt.home / "log"
    script = f"echo ready > {log}; until [ -e go ]; do sleep 0.1; done; echo end >> {log}"
    with rt.start("run", "--", "sh", "-c", script) as process:
        await_text(log, "ready")
        while rt.run("show", "@").rc != 0:
            time.sleep(0.1)
        process.kill()
        process.wait()
        (rt.home / "go").touch()
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
                          env=rt.env, cwd=rt.home, timeout=TIMEOUT_S, check=False,
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
    script = f"x=$({rt.path} run -q -- sh -c 'sleep 1000 >/dev/null 2>&1 & echo $!'); kill $x; echo ok"
    result = rt.run("-c", script, program="/bin/sh")
    assert result.stdout == "ok\n"
