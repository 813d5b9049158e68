"""Tests run, attach, system and mark of the program for Windows, under Wine.

Wine's job objects do not count CPU time. The program detects that, and adds up the CPU time in the list of processes.
Therefore the tests compare CPU times only with wide bounds.
"""

import fcntl
import json
import os
import re
import select
import shutil
import struct
import subprocess
import termios
import time

import pytest
from conftest import ENVIRONMENT, PROGRAM, TIMEOUT_S, WINE, newest, run, windows_path

QUIET = ("--no-discovery", "--quiet")


def read_until(terminal, end):
    """What a terminal shows, without its sequences for colours and the cursor."""
    shown, until = b"", time.monotonic() + TIMEOUT_S
    while end not in shown:
        readable, _, _ = select.select([terminal], [], [], max(0, until - time.monotonic()))
        assert readable, shown
        shown = re.sub(rb"\x1b\[[?0-9;]*[A-Za-z]", b"", shown + os.read(terminal, 4096))
    return shown


@pytest.fixture
def tracker(prefix, job_program, tmp_path):
    """Runs the program in a folder in which job.exe lies, with an empty state folder."""
    shutil.copyfile(job_program, tmp_path / "job.exe")
    state = tmp_path / "state"

    class Tracker:
        folder = tmp_path

        def __call__(self, *words, **variables):
            return run([WINE, PROGRAM, *words], tmp_path, self.variables(**variables))

        def job(self, *words, **variables):
            """job.exe itself."""
            return run([WINE, tmp_path / "job.exe", *words], tmp_path, self.variables(**variables))

        def variables(self, **variables):
            return {"RESOURCE_TRACKER_DIR": windows_path(state), **variables}

        def tracked(self, *words):
            """A run of a job, and what `show --json` says about it."""
            result = self("run", *QUIET, "--interval", "0.2s", "--", *words)
            shown = self("show", "--json")
            assert shown.rc == 0, (result.stderr, shown.stderr)
            return result, json.loads(shown.stdout)

        def in_terminal(self, *words, program=PROGRAM, **variables):
            """A program in a terminal, of which the other end is returned."""
            ours, theirs = os.openpty()
            fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("4H", 50, 200, 0, 0))
            process = subprocess.Popen([WINE, program, *words], cwd=tmp_path, env={**ENVIRONMENT, **self.variables(**variables)},
                                       stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True,
                                       preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
            os.close(theirs)
            return process, ours

        def recording(self):
            return newest(state)

        def start(self, *words):
            return subprocess.Popen([str(word) for word in (WINE, *words)], cwd=tmp_path, stdin=subprocess.DEVNULL,
                                    env={**ENVIRONMENT, **self.variables()}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    return Tracker()


# ---- start and end ----

@pytest.mark.parametrize("code", [0, 1, 3, 255])
def test_an_exit_code_is_passed_on(tracker, code):
    result, shown = tracker.tracked(".\\job.exe", "exit", str(code))
    assert (result.rc, result.stdout, result.stderr) == (code, b"", "")
    assert (shown["run"]["exit"]["verdict"], shown["run"]["exit"]["code"]) == ("exited", code)


@pytest.mark.parametrize("code", [256, 70000, 0xFFFFFFFF, 0xC0000142])
def test_a_code_of_32_bits_is_passed_on(tracker, code):
    words = [windows_path(PROGRAM), "run", *QUIET, "--", ".\\job.exe", "exit", hex(code)]
    assert tracker.job("code", *words).stdout.decode() == f"exit code {code}\n"


@pytest.mark.parametrize("code, said", [(0xC0000142, "exit code 0xC0000142: a DLL could not be initialized"),
                                        (0xFFFFFFFE, "exit code 0xFFFFFFFE"), (300, None)])
def test_the_whole_code_is_in_the_recording(tracker, code, said):
    _, shown = tracker.tracked(".\\job.exe", "exit", hex(code))
    assert (shown["run"]["exit"]["code"], shown["run"]["exit"]["evidence"]) == (code if code < 1 << 31 else code & 0xff, said)


def test_a_crash_is_told_as_a_signal_and_passed_on(tracker):
    words = [windows_path(PROGRAM), "run", *QUIET, "--", ".\\job.exe", "crash"]
    assert tracker.job("code", *words).stdout.decode().endswith(f"exit code {0xC0000005}\n")
    end = json.loads(tracker("show", "--json").stdout)["run"]["exit"]
    assert (end["verdict"], end["signal"]) == ("signalled", 11)


def test_a_program_that_is_not_there(tracker):
    result = tracker("run", *QUIET, "--", "no such program")
    assert (result.rc, result.stderr) == (127, "resource-tracker: no such program: command not found\n")


def test_a_file_that_is_no_program(tracker):
    (tracker.folder / "text.exe").write_text("no program")
    result = tracker("run", *QUIET, "--", ".\\text.exe")
    assert result.rc == 126
    assert result.stderr.count("\n") == 1


def test_names_are_looked_up_in_path_and_not_in_the_working_directory(tracker):
    assert tracker("run", *QUIET, "--", "job", "exit", "4").rc == 127
    assert tracker("run", *QUIET, "--", "job", "exit", "4", WINEPATH=windows_path(tracker.folder)).rc == 4


def test_a_program_needs_no_verb(tracker):
    assert tracker("cmd", "/c", "exit 5").rc == 5
    assert tracker("job", "exit", "4", WINEPATH=windows_path(tracker.folder)).rc == 4
    result = tracker("shwo")
    assert (result.rc, result.stderr) == (2, "resource-tracker: no such command or program: shwo. Did you mean: resource-tracker show\n")


@pytest.mark.parametrize("words", [
    ["a", "", "b c", "größe 試験"],
    ['"', 'a"b', '\\"', "C:\\x y\\", "\\\\server\\x", "a\\\\"],
    ["%PATH%", "^&|<>", "*", "--", "-x", "a=b c"],
], ids=str)
def test_arguments_arrive_as_they_were_given(tracker, words):
    result = tracker("run", *QUIET, "--", ".\\job.exe", "print", *words)
    assert result.rc == 0, result.stderr
    assert result.stdout.decode() == "".join(f"{word}\n" for word in words)


@pytest.mark.parametrize("name, file", [
    ("tool3.11", "tool3.11.exe"), ("my.tool", "my.tool.exe"), ("my.tool.exe", "my.tool.exe"), ("a.b.TOOL.EXE", "A.B.tool.exe"),
    ("tool.bin", "tool.bin"),
])
@pytest.mark.parametrize("by_path", [False, True], ids=["in PATH", "by path"])
def test_a_program_whose_name_has_dots(tracker, name, file, by_path):
    folder = tracker.folder / "in.path"
    folder.mkdir()
    shutil.copyfile(tracker.folder / "job.exe", folder / file)
    result = tracker("run", *QUIET, "--", f".\\in.path\\{name}" if by_path else name, "exit", "6",
                     WINEPATH=windows_path(folder))
    assert (result.rc, result.stderr) == (6, "")


def test_a_program_comes_before_a_file_of_its_name_without_ending(tracker):
    shutil.copyfile(tracker.folder / "job.exe", tracker.folder / "tool3.11.exe")
    (tracker.folder / "tool3.11").write_text("#!/bin/sh\n")
    assert tracker("run", *QUIET, "--", ".\\tool3.11", "exit", "6").rc == 6


def test_a_file_without_ending_is_no_program(tracker):
    shutil.copyfile(tracker.folder / "job.exe", tracker.folder / "bare")
    assert tracker("run", *QUIET, "--", ".\\bare", "exit", "6").rc == 126


@pytest.mark.parametrize("path", [".", "sub", "..\\x"])
def test_a_relative_folder_of_path_is_passed_over(tracker, path):
    (tracker.folder / "sub").mkdir()
    shutil.copyfile(tracker.folder / "job.exe", tracker.folder / "sub" / "job.exe")
    assert tracker("run", *QUIET, "--", "job", "exit", "4", WINEPATH=path).rc == 127


def test_a_program_whose_name_has_other_letters(tracker):
    folder = tracker.folder / "Ördner mit 試験"
    folder.mkdir()
    shutil.copyfile(tracker.folder / "job.exe", folder / "Übung.exe")
    result, shown = tracker.tracked(f".\\{folder.name}\\Übung.exe", "exit", "5")
    assert result.rc == 5
    assert "Übung.exe" in shown["run"]["command"][0]


def test_a_batch_file(tracker):
    (tracker.folder / "a b.cmd").write_text("@echo off\r\n.\\job.exe print %1 %2\r\nexit /b 7\r\n")
    result = tracker("run", *QUIET, "--", ".\\a b.cmd", "x & y", "z")
    assert (result.rc, result.stdout.decode().split()) == (7, ["x", "&", "y", "z"])
    refused = tracker("run", *QUIET, "--", ".\\a b.cmd", "%PATH%")
    assert refused.rc == 126
    assert refused.stderr.count("\n") == 1


def test_a_batch_file_gets_exclamation_marks_and_carets_as_they_are(tracker):
    (tracker.folder / "print.bat").write_text("@.\\job.exe print %1 %2\r\n")
    words = ["a!b!", "c^d&e|f<g>(h)"]
    result = tracker("run", *QUIET, "--", ".\\print.bat", *words)
    assert (result.rc, result.stdout.decode().split()) == (0, words)


def test_a_line_that_is_too_long_for_a_batch_file(tracker):
    (tracker.folder / "a.cmd").write_text("@exit /b 7\r\n")
    assert tracker("run", *QUIET, "--", ".\\a.cmd", "x" * 7000).rc == 7
    result = tracker("run", *QUIET, "--", ".\\a.cmd", "x" * 8200)
    assert (result.rc, result.stderr) == (126, "resource-tracker: ./a.cmd: Argument list too long\n")


def test_streams_pass_through(tracker):
    data = bytes(range(256)) * 4096
    done = subprocess.run([WINE, PROGRAM, "run", *QUIET, "--", ".\\job.exe", "echo"], cwd=tracker.folder, input=b"x" + data,
                          env={**ENVIRONMENT, **tracker.variables()}, capture_output=True, timeout=TIMEOUT_S, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(b"x")


def test_the_job_has_the_environment_of_the_tracker(tracker):
    assert tracker("run", *QUIET, "--", ".\\job.exe", "env", "GRÖSSE", GRÖSSE="ß 試").stdout.decode() == "ß 試\n"
    run_id = tracker("run", *QUIET, "--", ".\\job.exe", "env", "RESOURCE_TRACKER_RUN").stdout.decode()
    assert run_id.count(":") == 1 and run_id.split(":")[0] in tracker.recording().name
    direct = tracker.job("env", "XDG_STATE_HOME").stdout
    assert tracker("run", *QUIET, "--", ".\\job.exe", "env", "XDG_STATE_HOME").stdout == direct


@pytest.mark.parametrize("length", [300, 1000])
def test_a_state_folder_with_a_long_path(tracker, length):
    folder = windows_path(tracker.folder / "long")
    while len(folder) < length:
        folder += "\\" + "x" * 60
    where = {"RESOURCE_TRACKER_DIR": folder}
    result = tracker("run", *QUIET, "--job", "long", "--", ".\\job.exe", "exit", "3", **where)
    assert (result.rc, result.stderr) == (3, "")
    assert json.loads(tracker("show", "--json", **where).stdout)["run"]["exit"]["code"] == 3
    assert b"long" in tracker("history", **where).stdout
    assert tracker("report", "--output", "page.html", **where).rc == 0


@pytest.mark.parametrize("length", [4300, 32000])
def test_a_state_folder_whose_path_is_too_long(tracker, length):
    where = {"RESOURCE_TRACKER_DIR": windows_path(tracker.folder) + "\\y" * (length // 2)}
    result = tracker("run", *QUIET, "--", ".\\job.exe", "exit", "3", **where)
    assert result.rc == 3 and result.stderr.endswith("no recording: File name too long\n") and result.stderr.count("\n") == 1
    for words in (["history"], ["show"], ["report"]):
        result = tracker(*words, **where)
        assert result.rc == 1 and result.stderr.endswith("File name too long\n") and result.stderr.count("\n") == 1


# ---- the console ----

def test_the_console_is_given_back(tracker):
    """Both its code page and its mode: at the end, and while a job runs."""
    for words in (["help"], ["run", *QUIET, "--", ".\\job.exe", "page"], ["run", "--no-discovery", "--", ".\\job.exe", "exit", "1"],
                  ["run", *QUIET, "--", "nothing"]):
        process, terminal = tracker.in_terminal("paged", windows_path(PROGRAM), *words, program=tracker.folder / "job.exe")
        shown = read_until(terminal, b"page=850,mode=1.")
        assert process.wait(TIMEOUT_S) == 0
        os.close(terminal)
        assert b"page=65001" not in shown


def test_the_console_is_given_back_after_ctrl_c(tracker):
    command = ["run", "--no-discovery", "--", ".\\job.exe", "sleep", "600000"]
    process, terminal = tracker.in_terminal("paged", windows_path(PROGRAM), *command, program=tracker.folder / "job.exe")
    read_until(terminal, b"ready")
    os.write(terminal, b"\x03")
    read_until(terminal, b"page=850,mode=1.")
    assert process.wait(TIMEOUT_S) == 0
    os.close(terminal)


# ---- what is measured ----

def test_children_belong_to_the_job(tracker):
    result, shown = tracker.tracked(".\\job.exe", "children", "3", "400")
    assert result.rc == 0, result.stderr
    assert shown["totals"]["peak_processes"]["value"] >= 2
    cpu = shown["totals"]["cpu_s"]
    assert 0.3 <= cpu["value"] <= 3  # true: 1.2 s, of which the last look at each child is missing
    assert cpu["quality"] == "at_least"
    assert "job object counts less than its members" in cpu["reason"]
    assert shown["totals"]["peak_memory_mib"]["value"] > 1


def test_an_orphan_is_followed_and_left_behind(tracker):
    result, shown = tracker.tracked(".\\job.exe", "orphan", "5000")
    assert result.rc == 0
    assert shown["run"]["left_behind"] == 1


def test_disk_bytes_are_unknown_and_not_0(tracker):
    _, shown = tracker.tracked(".\\job.exe", "sleep", "500")
    assert shown["totals"]["disk_write_bytes"]["value"] is None
    assert "no disk bytes" in shown["totals"]["disk_write_bytes"]["reason"]


def test_the_machine_is_in_each_row(tracker):
    tracker.tracked(".\\job.exe", "burn", "1000")
    rows = [json.loads(line) for line in tracker("export", "--format", "jsonl").stdout.splitlines()]
    last = rows[-1]
    assert last["system_memory_used_mib"] > 100 and last["system_memory_free_mib"] > 100
    assert last["system_processes"] > 1
    assert last["system_disk_space_total_gb"] > 1
    assert sum(row["system_utime"] or 0 for row in rows) > 0.3
    assert last["process_read_chars"] is None and last["process_disk_wait"] is None  # Wine tells none


def test_the_native_program_reads_the_recording(tracker, programs):
    tracker.tracked(".\\job.exe", "sleep", "300")
    native = programs.native("show", tracker.recording())
    assert native.rc == 0, native.stderr
    assert native.stdout == tracker("show", windows_path(tracker.recording())).stdout


def test_the_summary_is_printed(tracker):
    result = tracker("run", "--no-discovery", "--", ".\\job.exe", "burn", "300")
    assert result.rc == 0
    assert "CPU" in result.stderr and "emory" in result.stderr


# ---- while it runs ----

def test_a_mark_reaches_the_run(tracker):
    (tracker.folder / "marks.cmd").write_text(
        f"@\"{windows_path(PROGRAM)}\" mark spaet\r\n@\"{windows_path(PROGRAM)}\" mark \"zwei Worte\"\r\n")
    result, shown = tracker.tracked(".\\marks.cmd")
    assert result.rc == 0, result.stdout
    assert [mark["name"] for mark in shown["marks"]] == ["spaet", "zwei Worte"]


def test_a_mark_outside_of_a_run_does_nothing(tracker):
    assert tracker("mark", "a").rc == 0
    gone = tracker("mark", "a", RESOURCE_TRACKER_RUN="00000000-none:1")
    assert gone.rc == 1 and "cannot reach the tracker of the run" in gone.stderr


@pytest.mark.parametrize("words, said", [
    (("--lines", "50"), "--lines: not available on Windows"),
    (("--cgroup", "auto"), "--cgroup: not available, Windows has no control groups"),
])
def test_an_option_without_effect_is_named(tracker, words, said):
    result = tracker("run", *QUIET, *words, "--", ".\\job.exe", "exit", "3")
    assert (result.rc, result.stderr) == (3, f"resource-tracker: {said}\n")


def test_a_time_limit_ends_the_job_with_its_children(tracker):
    result = tracker("run", *QUIET, "--timeout", "1s", "--", ".\\job.exe", "children", "1", "600000")
    assert result.rc == 124
    assert json.loads(tracker("show", "--json").stdout)["run"]["exit"]["verdict"] == "timeout"
    assert json.loads(tracker("show", "--json").stdout)["run"]["left_behind"] == 0


def test_attach_ends_with_the_process(tracker):
    with tracker.start(tracker.folder / "job.exe", "sleep", "6000") as job:
        pid = int(job.stdout.readline().split()[0])
        result = tracker("attach", "--no-discovery", "--quiet", "--interval", "0.5s", str(pid))
        assert result.rc == 0, result.stderr
    run_ = json.loads(tracker("show", "--json").stdout)
    assert run_["run"]["exit"]["verdict"] == "exited"
    assert run_["totals"]["cpu_s"]["quality"] == "at_least"


def test_attach_to_nothing(tracker):
    result = tracker("attach", "--no-discovery", "999999")
    assert (result.rc, result.stderr) == (4, "resource-tracker: pid 999999: no such process\n")


def test_system_ends_after_its_duration(tracker):
    result = tracker("system", "--no-discovery", "--quiet", "--duration", "1s", "--interval", "0.5s")
    assert result.rc == 0, result.stderr
    assert json.loads(tracker("show", "--json").stdout)["run"]["kind"] == "system"


def test_ctrl_c_ends_the_job_and_the_tracker_tells(tracker):
    """Wine's console is a terminal here; Ctrl-Break cannot be sent there."""
    process, terminal = tracker.in_terminal("run", "--no-discovery", "--", ".\\job.exe", "sleep", "600000")
    read_until(terminal, b"ready")
    os.write(terminal, b"\x03")
    read_until(terminal, b"Total")
    assert process.wait(TIMEOUT_S) == 0  # that is what Wine gives to a program that Ctrl-C ended
    os.close(terminal)
    assert json.loads(tracker("show", "--json").stdout)["run"]["duration_s"] < 300


# ---- events of the console ----

def ended(tracker_):
    run_ = json.loads(tracker_("show", "--json").stdout)["run"]
    return run_["exit"]["verdict"], run_["exit"]["code"], run_["left_behind"]


def in_terminal_until(tracker_, end, *words):
    """What is shown until then; the program has ended when this returns."""
    process, terminal = tracker_.in_terminal("run", "--no-discovery", *words)
    shown = read_until(terminal, end)
    code = process.wait(TIMEOUT_S)
    os.close(terminal)
    return code, shown


def test_a_time_limit_asks_the_job_to_end(tracker):
    """Under Wine by Ctrl-C, as it refuses Ctrl-Break."""
    code, shown = in_terminal_until(tracker, b"Total", "--timeout", "2s", "--grace", "10m", "--", ".\\job.exe", "asked", "300")
    assert (code, b"saved" in shown, b"KILL" in shown) == (124, True, False)
    assert ended(tracker) == ("timeout", 7, 0)


def test_what_the_first_process_leaves_ends_with_it(tracker):
    words = ["cmd", "/c", "start /b .\\job.exe deaf 600000 & .\\job.exe asked 300"]
    assert in_terminal_until(tracker, b"Total", "--timeout", "3s", "--grace", "10m", "--", *words)[0] == 124
    assert ended(tracker)[::2] == ("timeout", 0)


def test_a_job_that_does_not_end_is_killed_after_the_grace_time(tracker):
    code, shown = in_terminal_until(tracker, b"Total", "--timeout", "2s", "--grace", "1s", "--", ".\\job.exe", "deaf", "600000")
    assert (code, b"still running 1 s after TERM: sending KILL" in shown) == (124, True)
    assert ended(tracker) == ("timeout", 137, 0)


def test_ctrl_c_reaches_a_job_with_a_time_limit_once(tracker):
    process, terminal = tracker.in_terminal("run", "--no-discovery", "--timeout", "10m", "--", ".\\job.exe", "asked", "1000")
    read_until(terminal, b"ready")
    os.write(terminal, b"\x03")
    assert read_until(terminal, b"Total").count(b"saved") == 1
    assert process.wait(TIMEOUT_S) == 7
    os.close(terminal)
    assert ended(tracker) == ("exited", 7, 0)


def test_a_program_with_a_time_limit_says_everything_once(tracker):
    """It goes on in a second process, which reads options, variables and files again."""
    nested = [windows_path(PROGRAM), "run", *QUIET, "--timeout", "10m", "--", ".\\job.exe", "exit", "3"]
    assert in_terminal_until(tracker, b"Total", "--", *nested)[0] == 3
    assert [mark["name"] for mark in json.loads(tracker("show", "--json", "@2").stdout)["marks"]] == ["job.exe"]
    (tracker.folder / "resource-tracker.toml").write_text("report = 'x.html'\n")
    code, shown = in_terminal_until(tracker, b"Total", "--timeout", "10m", "--", ".\\job.exe", "env", "RESOURCE_TRACKER_GROUP")
    assert (code, b"(not" in shown, shown.count(b"in the working directory")) == (0, True, 1)


def test_a_closed_console_ends_the_job_before_windows_ends_the_tracker(tracker):
    words = [windows_path(PROGRAM), "run", *QUIET, "--", ".\\job.exe", "event", "2"]
    assert tracker.job("code", *words, "600000").stdout.decode() == f"exit code {0xC000013A}\n"
    end = json.loads(tracker("show", "--json").stdout)["run"]
    assert (end["exit"]["verdict"], end["exit"]["signal"], end["left_behind"]) == ("signalled", 2, 0)
    assert tracker.job("code", *words, "0").stdout.decode() == "exit code 0\n"
    assert ended(tracker) == ("exited", 0, 0)


@pytest.mark.parametrize("event", [0, 1], ids=["Ctrl-C", "Ctrl-Break"])
def test_an_event_does_not_end_the_tracker_before_the_job(tracker, event):
    assert tracker("run", *QUIET, "--", ".\\job.exe", "event", str(event), "1000").rc == 0
    assert ended(tracker) == ("exited", 0, 0)
