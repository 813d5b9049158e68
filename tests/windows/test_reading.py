"""Tests verbs that only read: the program for Windows prints the same as the native one."""

import os

import pytest
from conftest import ROOT, newest, windows_path

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
    ["report", "--output", "-", "--format", "json", FILE],
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
    assert "tracked job" in lines["tracked job"]
    assert result.rc == 0
