"""Tests the build artefacts: dependencies and size of the program, exported symbols of the libraries."""

import re
import shutil
import subprocess

import pytest

from conftest import ROOT

pytestmark = pytest.mark.native

PUBLIC_NAME = re.compile(r"\btrk_[a-z0-9]\w*(?=\s*\()")


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, encoding="utf-8").stdout


def defined_symbols(path, *flags):
    lines = output("nm", "--defined-only", "--extern-only", *flags, str(path)).splitlines()
    return {line.split()[-1] for line in lines if len(line.split()) == 3}


@pytest.fixture
def libraries(rt_path):
    return rt_path.parent / "src"


def test_the_program_needs_libc_only(rt_path):
    needed = re.findall(r"\(NEEDED\).*\[(.*)\]", output("readelf", "-dW", str(rt_path)))
    assert [name for name in needed if not name.startswith("ld-")] == ["libc.so.6"]  # ld-linux: its loader


def test_the_stripped_program_stays_small(rt_path, tmp_path):
    stripped = tmp_path / "resource-tracker"
    output("strip", "-o", str(stripped), str(rt_path))
    table = next(int(line.split()[1], 16) for line in output("nm", "-S", str(rt_path)).splitlines()
                 if line.endswith(" trk__catalog_bytes"))
    assert stripped.stat().st_size - table <= 7 << 18
    assert table <= 2 << 20  # servers and prices


def test_the_program_is_hardened(rt_path):
    assert "DYN" in output("readelf", "-hW", str(rt_path))
    assert "BIND_NOW" in output("readelf", "-dW", str(rt_path))
    headers = output("readelf", "-lW", str(rt_path))
    assert "GNU_RELRO" in headers
    assert re.search(r"GNU_STACK.* RW ", headers)
    assert not re.search(r"LOAD .* RWE ", headers)
    dynamic = output("readelf", "-dW", str(rt_path))
    assert re.search(r"FLAGS_1\).*\bNOW\b.*\bPIE\b", dynamic)
    assert "TEXTREL" not in dynamic


def test_the_program_checks_its_stack_and_its_copies(rt_path):
    symbols = output("readelf", "--dyn-syms", "-W", str(rt_path))
    assert " __stack_chk_fail@" in symbols
    assert re.search(r" __\w+_chk@", symbols), "not fortified"
    assert not re.search(r" (sprintf|vsprintf|strcpy|strcat|gets)@", symbols)


def test_the_shared_library_exports_what_the_header_declares(libraries):
    header = (ROOT / "include/resource_tracker.h").read_text(encoding="utf-8")
    code = re.sub(r"/\*.*?\*/", "", header, flags=re.DOTALL)
    exported = defined_symbols(libraries / "libresource_tracker.so", "--dynamic")
    assert exported == set(PUBLIC_NAME.findall(code))


def test_the_shared_library_needs_libc_only(libraries):
    dynamic = output("readelf", "-dW", str(libraries / "libresource_tracker.so"))
    needed = re.findall(r"\(NEEDED\).*\[(.*)\]", dynamic)
    assert [name for name in needed if not name.startswith("ld-")] == ["libc.so.6"]  # ld-linux: its loader


def test_the_static_library_takes_no_foreign_names(libraries):
    symbols = defined_symbols(libraries / "libresource_tracker.a")
    assert symbols and all(name.startswith("trk_") for name in symbols)


def test_the_header_stands_alone(tmp_path):
    for compiler, language in (("cc", "c"), ("c++", "c++")):
        output(compiler, "-x", language, "-fsyntax-only", "-Wall", "-Wextra", "-Wpedantic",
               "-Werror", "-include", str(ROOT / "include/resource_tracker.h"), "/dev/null")
