"""Tests the C library for Windows with a program that links to resource_tracker.dll, under Wine. The tracker is a
separate process, which receives commands through a named pipe of this user."""

import json
import os
import re
import shutil
import subprocess
import time

import pytest
from conftest import ENVIRONMENT, PREFIX, PROGRAM, ROOT, TIMEOUT_S, WINE, run, windows_path


@pytest.fixture(scope="module")
def user(prefix, tmp_path_factory):
    """tracker.exe, beside the library."""
    folder = tmp_path_factory.mktemp("library")
    library, imports = (PROGRAM.with_name(name) for name in ("resource_tracker.dll", "resource_tracker.dll.a"))
    assert library.is_file(), f"{library} is missing. Try: tools/windows.py library"
    shutil.copy2(library, folder)
    subprocess.run(["x86_64-w64-mingw32-gcc", "-municode", "-O1", "-Wall", "-Wextra", "-Werror", f"-I{ROOT}/include", "-o",
                    folder / "tracker.exe", ROOT / "tests/windows/tracker.c", imports], check=True)
    return folder / "tracker.exe"


@pytest.fixture
def call(user, tmp_path):
    """What the program prints, as {name: value}, and its standard error."""
    def call_(what, *words, program=windows_path(PROGRAM)):
        done = run([WINE, user, what, program, *words], tmp_path, {})
        lines = done.stdout.decode().splitlines()
        return dict(re.findall(r"(\w+)=(.*)", line)[0] for line in lines if re.match(r"\w+=", line)), lines, done
    return call_


def test_a_program_tracks_itself(call, tmp_path):
    told, lines, done = call("self", windows_path(tmp_path / "Läufe"))
    assert (done.rc, done.stderr) == (0, ""), lines
    assert told["marked"] == "0" and told["waited"] == "1" and told["alert"] == "0"
    assert "running=1" in lines and "running=0 again=0 late=-32" in lines
    assert told["mark"] == "spät" and told["stopped"] == "0" and int(told["rows"]) >= 5
    cpu, quality, source = re.match(r"(\S+) quality=(\d) source=(.*)", told["cpu_s"]).groups()
    assert 0.3 <= float(cpu) <= 3 and quality == "2" and source
    assert told["disk_read_bytes"].startswith("nan quality=0")
    run_ = json.loads(told["summary"])["run"]
    assert (run_["job"], run_["kind"], run_["exit"]["code"]) == ("größe", "attach", 3)
    # The recording stays where it was asked for, and the command tells the same of it.
    (recording,) = (tmp_path / "Läufe" / "runs").iterdir()
    assert told["recording"].endswith(recording.name)
    shown = json.loads(run([WINE, PROGRAM, "show", "--json", windows_path(recording)], tmp_path, {}).stdout)
    summary = json.loads(told["summary"])
    assert {key: shown[key] for key in ("totals", "run", "marks")} == {key: summary[key] for key in ("totals", "run", "marks")}


def temporary(recording):
    """A recording for which no folder was named is in the user's folder for temporary files."""
    found = re.search(r"C:(/users/[^/]+/Temp/resource-tracker-\w+)/runs/", recording)
    return PREFIX / f"drive_c{found[1]}"


def test_a_recording_without_a_folder_is_temporary(call):
    told, lines, done = call("machine")
    assert done.rc == 0, lines
    assert json.loads(told["summary"])["run"]["kind"] == "system"
    assert not temporary(told["recording"]).exists()


def test_a_command_is_run_and_its_exit_code_told(call, job_program, tmp_path):
    shutil.copyfile(job_program, tmp_path / "job.exe")
    told, lines, done = call("run", ".\\job.exe", "exit", "7")
    assert (done.rc, done.stderr) == (0, ""), lines
    assert told["command"] == "0 status=7" and told["stopped"] == "0"
    run_ = json.loads(told["summary"])["run"]
    assert run_["kind"] == "run" and run_["exit"]["code"] == 7
    # It has the standard streams of the program.
    assert "ß" in call("run", ".\\job.exe", "print", "ß")[1]
    assert call("run", ".\\nothing.exe")[1][0] == ("start=-5 ./nothing.exe: the command cannot be started: "
                                                      "No such file or directory")


@pytest.mark.parametrize("what, words, said", [
    ("pid", ["999999"], "start=-3 pid 999999: no such process"),
    ("thread", [], "start=-4007 thread: "),
])
def test_an_error_has_a_sentence(call, what, words, said):
    assert call(what, *words)[1][0].startswith(said)


def test_a_program_that_is_not_there(call):
    assert call("machine", program="C:\\nothing\\resource-tracker.exe")[1] == [
        "start=-2 C:\\nothing\\resource-tracker.exe: No such file or directory"]


def wine_processes(word):
    """Processes of Linux whose command line has the word."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                if word.encode() in file.read():
                    found.append(int(pid))
        except OSError:
            continue
    return found


def kill_once_it_records(words, folder, variables):
    """Kill a program that prints the path of its recording: its tracker ends, too, and removes the recording."""
    with subprocess.Popen([WINE, *words], cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          env={**ENVIRONMENT, **variables}) as program:
        recording = program.stdout.readline().decode()
        found = temporary(recording).is_dir(), len(wine_processes(temporary(recording).name))
        program.kill()
    assert found == (True, 1)
    end = time.monotonic() + TIMEOUT_S
    while (wine_processes(temporary(recording).name) or temporary(recording).exists()) and time.monotonic() < end:
        time.sleep(0.1)
    assert not wine_processes(temporary(recording).name) and not temporary(recording).exists()


def test_the_tracker_ends_with_its_program(user, tmp_path):
    kill_once_it_records([user, "stay", windows_path(PROGRAM)], tmp_path, {})
