"""Tests that no line of text for a terminal is wider than the terminal, from 40 to 200 columns, for all verbs."""
import unicodedata

import pytest

JOB = """
import subprocess, sys, time
for name in ("reading the input of the day", "join"):
    subprocess.run([sys.argv[1], "mark", name], check=True)
    kept = bytearray(int(sys.argv[2]) << 20)
    time.sleep(0.25)
"""

VERBS = [("show",), ("stats",), ("history",), ("compare",), ("recommend",),
         ("fleet",), ("fleet", "--what", "jobs"), ("lines",),
         ("servers", "--cpu", "2", "--mem", "4GiB")]


def columns(line):
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1
               for c in line)


@pytest.fixture(scope="module")
def rt(shared_rt):
    """Runs of a job that grows, one that ends at its limit, and one with a name of wide letters."""
    (shared_rt.home / "job.py").write_text(JOB)
    for mib in (20, 20, 20, 20, 20, 120):
        done = shared_rt.track("python3", "job.py", shared_rt.path, mib, cwd=shared_rt.home,
                               flags=("-q", "-i", "0.05", "-n", "features-of-a-long-name"))
        assert done.rc == 0, done.stderr
    shared_rt.track("python3", "-c", "x = b'x' * (200 << 20); import time; time.sleep(9)",
                    flags=("-q", "-i", "0.05", "-n", "at-its-limit", "--limit", "mem=60MiB"))
    assert shared_rt.track("sleep", "0.2", flags=("-q", "-i", "0.05", "-n", "\u6bce\u65e5\u306e\u96c6\u8a08")).rc == 0
    return shared_rt


@pytest.mark.parametrize("width", [40, 60, 80, 120, 200])
def test_no_line_is_wider_than_the_terminal(rt, width):
    jobs = ["features-of-a-long-name", "at-its-limit", "\u6bce\u65e5\u306e\u96c6\u8a08"]
    for verb in VERBS:
        takes_job = verb in (("show",), ("stats",), ("compare",), ("recommend",), ("history",))
        for job in jobs if takes_job else [None]:
            done = rt.run(*verb, *([job] if job else []), env={"COLUMNS": width})
            if verb not in (("compare",), ("lines",)):  # a first run, and no stacks, are no output
                assert done.rc == 0 and done.stdout, (verb, job, done.stderr)
            wide = [line for line in done.stdout.splitlines() if columns(line) > width]
            assert not wide, (verb, job, wide)


def test_compare_names_both_sides_in_few_columns(rt):
    text = rt.run("compare", "features-of-a-long-name", env={"COLUMNS": 40}).stdout
    assert "features-of-a-long-name" in " ".join(text.split()) and "beside" in text
    assert "peak memory changed in" in " ".join(text.split())  # of samples every 50 ms a fork can be the peak
