"""Alerts while the job runs: the line on stderr, commands, and what may name a command.

The windows of rules are tested with a clock of their own in tests/unit/test_alert.c; the rule for the
requested time has none, and serves here."""

import json
import os

import pytest

FAST = ["-i", "50ms", "--request", "time=1s"]
WAITS_FOR_SIGNAL = """
import signal, sys
signal.signal(signal.SIGUSR1, lambda *_: None)
signal.alarm(60)
signal.pause()
print("checkpoint")
"""


def test_a_command_can_tell_the_job_to_write_a_checkpoint(rt, tmp_path):
    said = tmp_path / "alert.json"
    command = f'time-limit=printf %s "$RT_JSON" >{said}; kill -USR1 "$RT_PID"'
    done = rt.track("/usr/bin/python3", "-c", WAITS_FOR_SIGNAL, flags=[*FAST, "--on-alert", command],
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
    done = rt.track("/usr/bin/python3", "-c", WAITS_FOR_SIGNAL,
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
    assert done.summary["run"]["duration_s"] < 60


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
