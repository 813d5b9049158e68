"""Tests the C library for Windows with a program that links to resource_tracker.dll, under Wine: it reads recordings."""

import json
import re
import shutil
import subprocess

import pytest
from conftest import PROGRAM, ROOT, WINE, run, windows, windows_path

FILE = "Messung ä.rtrk"


@pytest.fixture(scope="module")
def reader(prefix, tmp_path_factory):
    """reader.exe, beside the library."""
    folder = tmp_path_factory.mktemp("library")
    library, imports = (PROGRAM.with_name(name) for name in ("resource_tracker.dll", "resource_tracker.dll.a"))
    assert library.is_file(), f"{library} is missing. Try: tools/windows.py library"
    shutil.copy2(library, folder)
    subprocess.run(["x86_64-w64-mingw32-gcc", "-municode", "-O1", "-Wall", "-Wextra", "-Werror", f"-I{ROOT}/include", "-o",
                    folder / "reader.exe", ROOT / "tests/windows/reader.c", imports], check=True)
    return folder / "reader.exe"


def test_it_reads_what_show_prints(reader, programs):
    done = run([WINE, reader, FILE], programs.folder, {})
    head, _, document = done.stdout.decode().partition("\n")
    shown = json.loads(programs.native("show", "--json", FILE).stdout)
    told = json.loads(document)
    assert {**told, "advice": 0, "change": 0} == {**shown, "advice": 0, "change": 0}
    total, rows, cpu, quality = re.fullmatch(r"total=(\d) rows=(\d+) cpu_s=(\S+) quality=(\d)", head).groups()
    assert (total, quality) == ("0", "1") and int(rows) > 1
    assert float(cpu) == pytest.approx(shown["totals"]["cpu_s"]["value"])


def test_an_error_has_a_sentence(reader, programs):
    assert run([WINE, reader, "missing.rtrk"], programs.folder, {}).stdout == b"open=-2 No such file or directory\n"


def test_it_exports_no_function_that_tracks(reader):
    names = windows.exports_of(reader.with_name("resource_tracker.dll"))
    assert {"trk_recording_open", "trk_recommend", "trk_import", "trk_report_write_with", "trk_compare"} <= set(names)
    assert not [name for name in names if re.match(r"trk_(tracker|counters)_|trk_mark$|trk_(server|cloud)_info$", name)]


def test_a_path_with_backslashes(reader, programs):
    done = run([WINE, reader, windows_path(programs.folder / FILE)], programs.folder, {})
    assert done.rc == 0 and done.stdout.startswith(b"total=0 ")
