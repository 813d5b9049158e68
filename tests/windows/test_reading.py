"""Tests verbs that only read: the program for Windows prints the same as the native one."""

import fcntl
import os
import re
import select
import struct
import subprocess
import termios
import time

import pytest
from conftest import ENVIRONMENT, PROGRAM, ROOT, TIMEOUT_S, WINE, newest, run, windows_path

FILE = "Messung ä.rtrk"


def expect_same(programs, *arguments, **variables):
    native, wine = programs.both(*arguments, **variables)
    assert native.rc == 0, native.stderr
    assert (wine.rc, wine.stderr, wine.stdout) == (native.rc, native.stderr, native.stdout)
    return native.stdout


@pytest.mark.parametrize("arguments", [
    ["show", FILE],
    ["show", "--json", FILE],
    ["stats", FILE],
    ["stats", "--json", FILE],
    ["export", "--format", "csv", FILE],
    ["export", "--format", "tsv", FILE],
    ["export", "--format", "jsonl", FILE],
    ["report", "--output", "-", FILE],
    ["report", "--output", "-", "--format", "md", FILE],
    ["report", "--output", "-", "--format", "md", FILE],
    ["compare", "@2", "@1"],
    ["recommend"],
    ["recommend", "--for", "slurm"],
    ["history", "--json"],
    ["ls"],
    ["fleet", "--as-of", "2100-01-01"],
    ["fleet", "--json", "--as-of", "2100-01-01"],
    ["dashboard", "--json", "--as-of", "2100-01-01"],
    ["servers", "--limit", "3"],
    ["config"],
], ids=" ".join)
def test_prints_what_the_native_program_prints(programs, arguments):
    assert expect_same(programs, *arguments)


def test_names_keep_their_letters(programs):
    assert "Übung 試験".encode() in expect_same(programs, "show", "--json")
    assert '"größe": "ß"'.encode() in expect_same(programs, "show", "--json")


def test_the_width_is_that_of_columns(programs):
    wide, narrow = (expect_same(programs, "show", FILE, COLUMNS=columns) for columns in ("120", "60"))
    assert wide != narrow


def test_takes_backslashes(programs):
    expected = programs.native("show", FILE).stdout
    for name in (f".\\{FILE}", windows_path(programs.folder / FILE), f"wine\\runs\\{newest(programs.state['wine']).name}"):
        result = programs.wine("show", name)
        assert (result.rc, result.stdout) == (0, expected), (name, result.stderr)


def test_writes_and_replaces_a_file(programs):
    page = programs.folder / "Bericht 試.html"
    page.write_text("an older page")
    assert programs.wine("report", f"--output=.\\{page.name}", FILE).rc == 0
    assert page.read_bytes() == programs.native("report", "--output", "-", FILE).stdout
    assert [path.name for path in programs.folder.iterdir() if "Bericht" in path.name] == [page.name]


def test_writes_a_static_dashboard(programs):
    result = programs.wine("dashboard", "--static", "Übersicht")
    assert result.rc == 0, result.stderr
    names = {str(path.relative_to(programs.folder / "Übersicht")) for path in (programs.folder / "Übersicht").rglob("*.html")}
    assert "index.html" in names and len(names) == 4, names


def test_imports_and_shows(programs):
    file = ROOT / "tests/fixtures/import/system-0.5.csv"
    native, wine = programs.native("import", file), programs.wine("import", windows_path(file))
    assert (wine.rc, wine.stderr.replace(windows_path(file).replace("\\", "/"), str(file))) == (native.rc, native.stderr)
    assert len(list((programs.state["wine"] / "runs").iterdir())) == 4
    native, wine = programs.both("show", "@")
    assert native.stdout.split()[:4] == wine.stdout.split()[:4]


def test_makes_the_state_folder_that_backslashes_name(programs):
    file = ROOT / "tests/fixtures/import/system-0.5.csv"
    result = programs.wine("import", windows_path(file), RESOURCE_TRACKER_DIR=windows_path(programs.folder / "neu ü" / "x"))
    assert result.rc == 0, result.stderr
    assert len(list((programs.folder / "neu ü" / "x" / "runs").iterdir())) == 1


def test_state_lies_in_the_local_application_data(programs):
    result = programs.wine("show", RESOURCE_TRACKER_DIR="")
    assert result.rc == 4
    assert "/AppData/Local/resource-tracker." in result.stderr


@pytest.mark.parametrize("path", ["missing.rtrk", "C:\\kein Ördner\\x.rtrk", "./nothing/x.rtrk", "."])
def test_a_missing_file_gives_one_line(programs, path):
    result = programs.wine("show", path)
    assert result.rc == 4
    assert result.stdout == b"" and result.stderr.startswith("resource-tracker: ") and result.stderr.count("\n") == 1


def test_a_damaged_recording_gives_one_line(programs):
    (programs.folder / "bad.rtrk").write_bytes(b"no recording at all")
    native, wine = programs.both("show", "bad.rtrk")
    assert (wine.rc, wine.stderr) == (native.rc, native.stderr)
    assert wine.rc != 0


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file to another user")
def test_a_file_of_another_user_is_refused(programs):
    for path in (programs.state["wine"] / "runs").iterdir():
        os.chown(path, 65534, 65534)
    result = programs.wine("show")
    assert result.rc == 4
    assert "belongs to another user" in result.stderr


def test_self_check_names_what_is_not_there(programs):
    result = programs.wine("self", "check")
    lines = {line[8:].split("  ")[0]: line for line in result.stdout.decode().splitlines()}
    assert lines["SQLite"].startswith("ok ")
    assert lines["zlib"].startswith("absent ") and "only the system's SQLite" in lines["zlib"]
    assert lines["tracked job"].startswith("absent ") and "python -m resource_tracker run" in lines["tracked job"]
    assert "libmicrohttpd" not in lines
    assert result.rc == 0


# ---- what is not there ----

@pytest.mark.parametrize("words, instead", [
    (["run", "--", "cmd"], "python -m resource_tracker run -- CMD"),
    (["run", "--help"], "python -m resource_tracker run -- CMD"),
    (["cmd", "/c", "exit"], "python -m resource_tracker run -- CMD"),
    (["--quiet", "cmd"], "python -m resource_tracker run -- CMD"),
    (["attach", "1"], "python -m resource_tracker run -- CMD"),
    (["system"], "python -m resource_tracker run -- CMD"),
    (["top"], "resource-tracker show"),
    (["mark", "x"], "resource_tracker.mark() in Python"),
    (["server-info"], "resource_tracker.get_server_info() in Python"),
    (["cloud-info"], "resource_tracker.get_cloud_info() in Python"),
    (["metaflow"], "python -m resource_tracker metaflow"),
], ids=lambda words: " ".join(words) if isinstance(words, list) else "")
def test_a_verb_that_tracks_says_what_to_use_instead(programs, words, instead):
    result = programs.wine(*words)
    verb = {"cmd": "run", "--quiet": "run", "server-info": "machine", "cloud-info": "machine"}.get(words[0], words[0])
    assert (result.rc, result.stdout) == (125, b"")
    assert result.stderr == f"resource-tracker: {verb}: not available on this system. Try: {instead}\n"


def test_there_is_no_server_of_the_dashboard(programs):
    result = programs.wine("dashboard")
    assert (result.rc, result.stdout) == (1, b"")
    assert result.stderr == ("resource-tracker: dashboard: no server is available on this system. "
                             "Try: resource-tracker dashboard --static FILE.html\n")


def test_the_help_says_so(programs):
    text = programs.wine("help").stdout.decode()
    assert "  run          Not available on this system. Use: python -m resource_tracker run -- CMD.\n" in text
    assert "Not available" in programs.wine("help", "top").stdout.decode()


# ---- alerts of recorded runs ----

LATER = str(4102444800)  # 2100-01-01, for both programs
NO_SINK = "this build for Windows sends no alerts and starts no commands\n"


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


# ---- long paths, the console, a copy ----

@pytest.mark.parametrize("length", [300, 1000])
def test_a_state_folder_with_a_long_path(programs, length):
    folder = windows_path(programs.folder / "long")
    while len(folder) < length:
        folder += "\\" + "x" * 60
    where = {"RESOURCE_TRACKER_DIR": folder}
    result = programs.wine("import", windows_path(ROOT / "tests/fixtures/import/system-0.5.csv"), **where)
    assert result.rc == 0, result.stderr
    assert programs.wine("show", "--json", **where).rc == 0
    assert b"system-0.5" in programs.wine("history", **where).stdout
    assert programs.wine("report", "--output", "page.html", **where).rc == 0


@pytest.mark.parametrize("length", [4300, 32000])
def test_a_state_folder_whose_path_is_too_long(programs, length):
    where = {"RESOURCE_TRACKER_DIR": windows_path(programs.folder) + "\\y" * (length // 2)}
    for words in (["history"], ["show"], ["report"]):
        result = programs.wine(*words, **where)
        assert result.rc == 1 and result.stderr.endswith("File name too long\n") and result.stderr.count("\n") == 1


def test_the_console_is_given_back(programs, job_program):
    """Both its code page and its mode."""
    ours, theirs = os.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("4H", 50, 200, 0, 0))
    with subprocess.Popen([WINE, job_program, "paged", windows_path(PROGRAM), "help"], cwd=programs.folder, stdin=theirs, stdout=theirs,
                          stderr=theirs, env=ENVIRONMENT, start_new_session=True,
                          preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0)) as process:
        os.close(theirs)
        shown, until = b"", time.monotonic() + TIMEOUT_S
        while b"page=850,mode=1." not in shown:
            assert select.select([ours], [], [], max(0, until - time.monotonic()))[0], shown
            shown = re.sub(rb"\x1b\[[?0-9;]*[A-Za-z]", b"", shown + os.read(ours, 4096))
        assert process.wait(TIMEOUT_S) == 0
    os.close(ours)
    assert b"resource-tracker" in shown and b"page=65001" not in shown


def test_a_copy_of_the_program_runs(programs):
    for _ in range(2):
        result = programs.wine("self", "install", "Kopie ü")
        assert (result.rc, result.stderr) == (0, "")
    copy = programs.folder / "Kopie ü"
    assert [path.name for path in copy.iterdir()] == ["resource-tracker.exe"]
    assert run([WINE, copy / "resource-tracker.exe", "version"], programs.folder, {}).stdout == programs.wine("version").stdout
