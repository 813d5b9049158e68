"""Runs the storm (tests/fault/storm.py) for twenty seconds with a fixed seed. `make storm` runs it for five
minutes."""

import os
import pathlib
import subprocess
import sys

import pytest

pytestmark = pytest.mark.native

STORM = pathlib.Path(__file__).resolve().parents[1] / "fault/storm.py"


def test_a_storm_leaves_the_jobs_result_alone(rt_path):
    done = subprocess.run([sys.executable, STORM, rt_path, "--seconds", "20", "--seed", "7"],
                          capture_output=True, encoding="utf-8", check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_reader_of_stderr_that_left_does_not_end_the_tracker(rt):
    reader, writer = os.pipe()
    os.close(reader)
    with rt.start("run", "--", "sh", "-c", "exit 7", stderr=writer) as process:
        os.close(writer)
        assert process.wait(timeout=240) == 7
