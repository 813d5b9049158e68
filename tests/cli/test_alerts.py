"""Tests alerts while a job runs: the line on stderr, commands, and which settings may name a command.

tests/unit/test_alert.c tests the windows of rules with a simulated clock. Here the rule for the requested time is
used, which has no window, and `internal run --alert-speed`, which shortens minutes to seconds."""

import contextlib
import json
import os
import sqlite3
import time

import pytest

from conftest import memory_group
from test_gpu import DEVICES

FAST = ["-i", "50ms", "--request", "time=1s"]
# The signal is blocked from the first instruction on, so that it may come before Python has started.
WAITS_FOR_SIGNAL = ["env", "--block-signal=USR1", "/usr/bin/python3", "-c",
                    "import signal; signal.alarm(60); signal.sigwait([signal.SIGUSR1]); print('checkpoint')"]


def test_a_command_can_tell_the_job_to_write_a_checkpoint(rt, tmp_path):
    said = tmp_path / "alert.json"
    command = f'time-limit=printf %s "$RT_JSON" >{said}; kill -USR1 "$RT_PID"'
    done = rt.track(*WAITS_FOR_SIGNAL, flags=[*FAST, "--on-alert", command],
                    timeout=120)
    assert (done.rc, done.stdout) == (0, "checkpoint\n")
    alert = json.loads(said.read_text())
    assert alert["rule"] == "time-limit"
    assert alert["state"] == "firing"
    assert alert["limit"] == 1
    assert alert["value"] >= 0.9
    assert alert["pid"] == done.summary["run"]["pid"]
    assert alert["run"] == done.summary["run"]["id"]
    line, = (line for line in done.stderr.splitlines() if " alert " in line)
    assert line.startswith("resource-tracker: alert time-limit: ")
    assert line.endswith(" of the requested 1.0 s have passed. Try: write a checkpoint, and request more time")


def test_the_command_is_no_part_of_the_job(rt):
    burn = 'i=0; while [ $i -lt 1000000 ]; do i=$((i+1)); done; kill -USR1 "$RT_PID"'
    done = rt.track(*WAITS_FOR_SIGNAL,
                    flags=[*FAST, "--on-alert", f"time-limit={burn}"], timeout=120)
    assert done.stdout == "checkpoint\n"
    assert done.summary["totals"]["cpu_s"]["value"] < 0.3
    assert done.summary["totals"]["peak_processes"]["value"] == 1


def test_a_command_that_fails_is_named(rt, tmp_path):
    done = rt.track("sh", "-c", "until [ -e done ]; do sleep 0.1; done; sleep 2", cwd=tmp_path, timeout=120,
                    flags=[*FAST, "--on-alert", "all=touch done; echo no such sink; exit 7"])
    assert done.rc == 0
    assert "resource-tracker: --on-alert all: exit status 7: no such sink\n" in done.stderr


def test_a_command_that_writes_without_end_does_not_stop_the_tracker(rt):
    done = rt.track("sleep", "3", flags=[*FAST, "--on-alert", "time-limit=yes"], timeout=120)
    assert done.rc == 0


@pytest.mark.parametrize("flag", [["--alerts", "never"], ["--quiet"]])
def test_alerts_can_be_silenced(rt, flag):
    done = rt.track("sleep", "1.2", flags=[*FAST, *flag])
    assert " alert " not in done.stderr


def test_a_workflow_of_github_gets_an_annotation(rt):
    done = rt.track("sleep", "1.2", flags=FAST, env={**os.environ, "GITHUB_ACTIONS": "true"})
    assert "\n::warning title=resource-tracker time-limit::" in "\n" + done.stderr


@pytest.mark.parametrize("text", ["x=y", "time-limit", "time-limit=", "=x"])
def test_what_is_no_rule_or_no_command_is_refused(rt, text):
    done = rt.run("run", "--on-alert", text, "--", "touch", "started")
    assert done.rc == 125
    assert f"--on-alert {text}: not of the form RULE=COMMAND. Rules: all, oom-risk, " in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_file_of_the_working_directory_names_no_command(rt, tmp_path):
    found = tmp_path / "found"
    text = f'on-alert = "time-limit=touch {found}"\n'
    (tmp_path / "resource-tracker.toml").write_text(text)
    done = rt.track("sleep", "2", flags=FAST, cwd=tmp_path)
    assert "on-alert is ignored" in done.stderr
    assert not found.exists()
    named = tmp_path / "named.toml"
    named.write_text(text)
    rt.track("sh", "-c", f"until [ -e {found} ]; do sleep 0.1; done", timeout=120,
             flags=["--config", named, *FAST])
    assert found.exists()


def with_earlier_runs(rt, seconds, count):
    """So many runs of the job "train" in the history, as if each had taken so long."""
    for _ in range(count):
        assert rt.run("run", "-q", "--no-discovery", "--job", "train", "--", "true").rc == 0
    assert "train" in rt.run("history").stdout
    with sqlite3.connect(rt.state / "history.sqlite") as history:
        history.execute(f"UPDATE run SET duration_s = {seconds}")
    history.close()


def run_until_alert(rt, rule, *flags, env=None):
    """The lines on stderr about a rule, of a job that ends when it fires."""
    done = rt.run("internal", "run", "--no-discovery", "--job", "train", "-i", "50ms", *flags,
                  "--on-alert", f'{rule}=kill -USR1 "$RT_PID"', "--",
                  *WAITS_FOR_SIGNAL, env=env, timeout=120)
    assert (done.rc, done.stdout) == (0, "checkpoint\n")
    return [line for line in done.stderr.splitlines() if f": alert {rule}: " in line]


def test_a_run_that_usually_takes_too_long_is_told_long_before_its_limit(rt):
    with_earlier_runs(rt, 7200, 5)
    # Half an hour of the hour that was requested would take 90 s.
    line, = run_until_alert(rt, "time-limit", "--request", "time=1h", "--alert-speed", "20")
    assert line == ("resource-tracker: alert time-limit: the run is expected to take 2 h 0 m, from 5 earlier runs, and "
                    "1 h 0 m are requested. Try: write a checkpoint, and request 150 minutes or more next time "
                    "(Slurm: --time=150)")


@pytest.mark.parametrize("seconds, count", [(7200, 4), (3000, 5)], ids=["few", "short"])
def test_without_earlier_runs_or_after_them_the_time_that_has_passed_counts(rt, seconds, count):
    with_earlier_runs(rt, seconds, count)
    line, = run_until_alert(rt, "time-limit", "--request", "time=1h", "--alert-speed", "2000")
    assert " of the requested 1 h 0 m have passed. Try: " in line


def test_gpus_that_stay_idle_are_told_again_after_an_hour(rt, rt_path, tmp_path):
    script, calls = tmp_path / "nvml.script", tmp_path / "calls"
    script.write_text(DEVICES.replace("util=75", "util=0").replace("sm=40", "sm=0"))
    job = (f'echo "process device=0 pid=$$ memory=1073741824 lists=cg" >>{script}\n'
           f"until [ -e {calls} ] && [ $(wc -l <{calls}) -ge 2 ]; do sleep 0.1; done")
    done = rt.run("internal", "run", "--no-discovery", "--gpu", "always", "-i", "0.1", "--alert-speed", "900",
                  "--on-alert", f'gpu-idle=echo "$RT_TEXT" >>{calls}', "--", "sh", "-c", job, timeout=120,
                  env={"LD_LIBRARY_PATH": rt_path.parent / "tests/gpu", "TRK_STANDIN_NVML": script})
    assert done.rc == 0
    told = calls.read_text().splitlines()
    assert [line[:len("1 GPU of the job has computed nothing for ")] for line in told] == [
        "1 GPU of the job has computed nothing for "] * 2
    assert told[0].endswith(" m") and " for 1 h" in told[1]
    assert sum("alert gpu-idle: " in line for line in done.stderr.splitlines()) == 2


def test_a_job_that_has_stalled_is_told_with_what_it_waits_for(rt):
    line, = run_until_alert(rt, "stalled", "--alert-speed", "500")
    assert "the job uses no CPU, disk or GPU; process " in line
    assert " (python3" in line and ") waits for a signal. Try: " in line


@pytest.mark.native
@pytest.mark.skipif(os.geteuid() != 0 or memory_group() is None, reason="needs root and a memory controller")
def test_a_job_whose_cache_and_heap_fill_its_limit_is_at_risk(rt, tmp_path):
    group, big = memory_group() + "-hits", tmp_path / "big"
    big.write_bytes(bytes(100 << 20))
    with open(big, "rb") as file:  # pages in the cache count for the group that read them first
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    os.makedirs(group)
    v2 = os.path.exists(f"{group}/memory.max")
    with open(f"{group}/{'memory.max' if v2 else 'memory.limit_in_bytes'}", "w") as file:
        file.write(str(200 << 20))
    # It holds 186 of 200 MiB, and reads a file through what is left until it is told.
    job = ("import signal, sys\n"
           "told = []\n"
           "signal.signal(signal.SIGUSR1, lambda *_: told.append(1))\n"
           "held = b'x' * (178 << 20)\n"
           "signal.alarm(100)\n"
           f"while not told:\n    open({str(big)!r}, 'rb').read(1 << 20)\n"
           f"    with open({str(big)!r}, 'rb', buffering=0) as f:\n        while f.read(1 << 20): pass\n")
    try:
        done = rt.run("internal", "run", "--no-discovery", "--lines", "off", "-i", "0.2", "--alert-speed", "4",
                      "--on-alert", 'oom-risk=kill -USR1 "$RT_PID"', "--", "sh", "-c",
                      f'echo $$ >{group}/cgroup.procs; exec /usr/bin/python3 -c "$0"', job, timeout=150)
    finally:
        for _ in range(100):
            with contextlib.suppress(OSError):
                os.rmdir(group)
                break
            time.sleep(0.1)
    assert done.rc == 0, done.stderr
    assert "and the kernel reclaims memory at the limit again and again. Try: " in done.stderr
