"""Tests alerts, the digest, and the page of a running job with the program for Windows, under Wine."""

import json
import os
import time

import pytest
from conftest import PROGRAM, TIMEOUT_S, WINE, newest, run, windows_path
from test_reading import expect_same
from test_tracking import QUIET, read_until, tracker  # noqa: F401  # pylint: disable=unused-import

SOON = ("--no-discovery", "--interval", "0.1s", "--request", "time=1s")
LATER = str(4102444800)  # 2100-01-01, for both programs
NO_SINK = "this build for Windows sends no alerts, as it loads no libcurl. Try: --on-alert RULE=COMMAND\n"


def wait_for(is_there):
    until = time.monotonic() + TIMEOUT_S
    while not is_there():
        assert time.monotonic() < until
        time.sleep(0.1)


# ---- while a job runs ----

def test_a_command_runs_when_an_alert_fires(tracker):  # noqa: F811
    command = "time-limit=(.\\job.exe env RT_JSON> alert.json) & echo \"%RT_JOB%\" %RT_STATE% %GRÖSSE%> told.txt"
    result = tracker("run", *SOON, "--job", "größe 試", "--on-alert", command, "--", ".\\job.exe", "sleep", "4000", GRÖSSE="ß")
    assert result.rc == 0
    alert = json.loads((tracker.folder / "alert.json").read_text("utf-8"))
    shown = json.loads(tracker("show", "--json").stdout)
    assert (alert["rule"], alert["state"], alert["job"], alert["run"]) == ("time-limit", "firing", "größe 試", shown["run"]["id"])
    assert (tracker.folder / "told.txt").is_file()
    assert shown["totals"]["peak_processes"]["value"] == 1  # cmd.exe is none of the job
    assert "resource-tracker: alert time-limit: " in result.stderr and "on-alert" not in result.stderr


def test_a_command_that_fails_is_named(tracker):  # noqa: F811
    result = tracker("run", *SOON, "--on-alert", "all=echo no such sink& exit 7", "--", ".\\job.exe", "sleep", "4000")
    assert (result.rc, "resource-tracker: --on-alert all: exit status 7: no such sink\n" in result.stderr) == (0, True)


def test_a_command_that_goes_on_is_ended_with_the_run(tracker):  # noqa: F811
    result = tracker("run", *SOON, "--quiet", "--on-alert", "all=.\\job.exe sleep 600000 > pid.txt", "--", ".\\job.exe", "sleep", "4000")
    assert result.rc == 0
    pid = (tracker.folder / "pid.txt").read_text().split()[0]
    wait_for(lambda: tracker("attach", "--no-discovery", "--quiet", pid).stderr == f"resource-tracker: pid {pid}: no such process\n")


def test_a_sink_that_cannot_be_reached_is_named_and_the_job_runs(tracker):  # noqa: F811
    result = tracker("run", *SOON, "--quiet", "--alert", "mail:ann@example.org", "--", ".\\job.exe", "sleep", "2000")
    assert (result.rc, result.stderr) == (0, f"resource-tracker: --alert: {NO_SINK}")


def test_the_page_is_written_while_the_job_runs(tracker):  # noqa: F811
    page = tracker.folder / "Seite ü.html"
    live = tracker.start(PROGRAM, "run", *QUIET, "--interval", "0.2s", f"--report={page.name}", "--report-every", "1s", "--job", "page",
                         "--", ".\\job.exe", "sleep", "600000")
    pid = int(live.stdout.readline().split()[0])
    wait_for(lambda: page.is_file() and b" data-live=" in page.read_bytes())
    first = page.read_bytes()
    wait_for(lambda: page.read_bytes() != first)
    assert run([WINE, "taskkill", "/f", "/pid", str(pid)], tracker.folder, {}).rc == 0
    live.wait(TIMEOUT_S)
    assert b" data-live=" not in page.read_bytes()
    shown = json.loads(tracker("show", "--json").stdout)
    assert shown["totals"]["peak_processes"]["value"] == 1
    assert [path.name for path in tracker.folder.iterdir() if path.name.startswith(("Seite", ".Seite"))] == [page.name]


# ---- after it ----

def fail(tracker_, times, *words):
    for _ in range(times):
        assert tracker_("run", *QUIET, *words, "--job", "fails", "--", ".\\job.exe", "exit", "3").rc == 3


def test_a_job_that_fails_again_runs_a_command_after_it(tracker):  # noqa: F811
    told = tracker.folder / "told.txt"
    fail(tracker, 3, "--on-alert", "failing-again=echo %RT_RULE% %RT_STATE% %RT_JOB%>> told.txt")
    wait_for(lambda: told.is_file() and told.read_text())
    assert told.read_text().split() == ["failing-again", "firing", "fails"]
    listed = tracker("alerts")
    assert b" critical failing-again: fails: the newest 3 runs failed" in listed.stdout
    assert b"failing-again: fails: " in tracker("digest").stdout
    result = tracker("alerts", "ack", "failing-again:fails")
    assert (result.rc, result.stderr) == (0, "")
    assert b"; acknowledged" in tracker("alerts", "list").stdout


def test_a_check_runs_commands(tracker):  # noqa: F811
    fail(tracker, 3)
    result = tracker("alerts", "check", "--on-alert", "all=.\\job.exe env RT_TEXT")
    assert result.rc == 0, result.stderr
    lines = result.stdout.decode().splitlines()
    assert lines[0].startswith("[critical] failing-again: fails: the newest 3 runs failed")
    assert lines[1].startswith("the newest 3 runs failed")
    assert tracker("alerts", "check", "--on-alert", "all=.\\job.exe env RT_TEXT").stdout == b""
    unsent = tracker("digest", "--send", "--alert", "mail:ann@example.org")
    assert (unsent.rc, unsent.stderr) == (2, f"resource-tracker: alerts: mail: {NO_SINK}")
    day = time.strftime("%Y-%m-%d 08:00", time.localtime(time.time() + 3 * 86400))
    assert tracker("alerts", "silence", "--rule", "slower", "--until", day).rc == 0
    silence = tracker("alerts", "silence", "--rule", "slower", "--for", "1h")
    assert (silence.rc, len(silence.stdout.split())) == (0, 1)
    assert tracker("alerts", "unsilence", silence.stdout.split()[0].decode()).rc == 0


def test_a_command_that_fails_after_a_check_is_named(tracker):  # noqa: F811
    fail(tracker, 3)
    result = tracker("alerts", "check", "--on-alert", "all=exit 9")
    assert (result.rc, result.stderr) == (1, "resource-tracker: --on-alert all: exit status 9\n")


@pytest.mark.parametrize("arguments", [
    ["alerts", "rules"], ["alerts", "rules", "--json"], ["alerts", "list"], ["alerts", "list", "--json"],
    ["internal", "alerts", "check", "--now", LATER], ["internal", "digest", "--now", LATER],
    ["internal", "digest", "--json", "--now", LATER],
], ids=" ".join)
def test_alerts_are_those_of_the_native_program(programs, arguments):
    assert expect_same(programs, *arguments) or "check" in arguments


@pytest.mark.parametrize("words", [
    ["alerts", "test", "json:https://example.org/"], ["alerts", "send", "json:https://example.org/"],
    ["alerts", "check", "--alert", "mail:ann@example.org"],
], ids=" ".join)
def test_a_sink_that_cannot_be_reached_is_named(programs, words):
    result = programs.wine(*words, RT_JSON='{"rule": "test", "state": "firing", "text": "x"}')
    kind = words[-1].partition(":")[0]
    assert (result.rc, result.stderr) == (2, f"resource-tracker: alerts: {kind}: {NO_SINK}")
    assert not any((programs.state["wine"] / "outbox").glob("*"))


# ---- the live view ----

def test_the_live_view_replays_a_recording(programs):
    name = newest(programs.state["native"]).name
    for words in (["--size", "100x40"], ["--size", "60x20", "--plain", "--at", "0s"], ["--json"]):
        native = programs.native("top", "--once", *words, programs.state["native"] / "runs" / name)
        wine = programs.wine("top", "--once", *words, windows_path(programs.state["wine"] / "runs" / name))
        assert native.rc == 0, native.stderr
        assert (wine.rc, wine.stderr, wine.stdout) == (0, "", native.stdout)


def test_the_live_view_shows_a_running_job_and_takes_keys(tracker):  # noqa: F811
    with tracker.start(PROGRAM, "run", *QUIET, "--interval", "0.2s", "--job", "watched", "--", ".\\job.exe", "sleep", "600000") as job:
        pid = int(job.stdout.readline().split()[0])
        wait_for(lambda: json.loads(tracker("top", "--json").stdout)["runs"])
        process, terminal = tracker.in_terminal("top")
        read_until(terminal, b"watched")
        os.write(terminal, b"\r")
        read_until(terminal, b"CPU")
        os.write(terminal, b"q")
        while True:  # until the other end is closed
            try:
                if not os.read(terminal, 4096):
                    break
            except OSError:
                break
        assert process.wait(TIMEOUT_S) == 0
        os.close(terminal)
        assert run([WINE, "taskkill", "/f", "/pid", str(pid)], tracker.folder, {}).rc == 0


# ---- pages and copies ----

def test_a_report_is_opened_in_the_browser(tracker):  # noqa: F811
    (tracker.folder / "explorer.cmd").write_text("@echo %1> opened.txt\r\n")
    (tracker.folder / "a b").mkdir()
    assert tracker("run", *QUIET, "--", ".\\job.exe", "exit", "0").rc == 0
    result = tracker("report", "--open", "-o", "a b\\page.html", WINEPATH=windows_path(tracker.folder))
    assert (result.rc, result.stderr) == (0, "resource-tracker: wrote a b\\page.html\n")
    page, opened = tracker.folder / "a b" / "page.html", tracker.folder / "opened.txt"
    wait_for(lambda: opened.is_file() and opened.read_text())
    assert opened.read_text().strip().strip('"') == windows_path(page)


def test_metaflow_is_refused_in_one_line(tracker):  # noqa: F811
    said = ("resource-tracker: metaflow: Metaflow does not run on Windows. Try: the program for Linux in WSL, where the flow runs\n")
    for words in (["recommend", "Flow"], []):
        result = tracker("metaflow", *words)
        assert (result.rc, result.stdout, result.stderr) == (1, b"", said)
    assert (tracker("metaflow", "--help").rc, b"WSL" in tracker("metaflow", "--help").stdout) == (0, True)


def test_a_copy_of_the_program_runs(tracker):  # noqa: F811
    result = tracker("self", "install", "Kopie ü")
    assert (result.rc, result.stderr) == (0, "")
    assert [path.name for path in (tracker.folder / "Kopie ü").iterdir()] == ["resource-tracker.exe"]
    copy = run([WINE, tracker.folder / "Kopie ü" / "resource-tracker.exe", "version"], tracker.folder, {})
    assert copy.stdout == tracker("version").stdout
    assert tracker("self", "install", "Kopie ü").rc == 0  # again
    checked = tracker("self", "check").stdout
    assert b"libcurl" in checked and b"libmicrohttpd" not in checked  # it has a server of its own
