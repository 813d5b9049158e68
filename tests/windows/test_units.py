"""Runs unit tests that use no files of Linux as programs for Windows (tools/windows.py compiles them)."""

import pathlib
import subprocess

import pytest
from conftest import ENVIRONMENT, TIMEOUT_S, WINE, windows


@pytest.fixture(scope="session")
def programs_of_tests(prefix):
    return {path.stem: path for path in windows.build_tests()}


@pytest.mark.parametrize("name", [pathlib.Path(path).stem.removeprefix("test_") for path in windows.UNIT_TESTS])
def test_passes_as_a_program_for_windows(programs_of_tests, name):
    done = subprocess.run([WINE, programs_of_tests[f"test_{name}"]], env=ENVIRONMENT, stdin=subprocess.DEVNULL, timeout=TIMEOUT_S,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8", errors="replace", check=False)
    cases = [line for line in done.stdout.splitlines() if line.startswith(("ok ", "not ok "))]
    planned = sum(int(line[3:]) for line in done.stdout.splitlines() if line.startswith("1.."))
    assert done.returncode == 0 and cases and planned == len(cases), done.stdout[-3000:]
