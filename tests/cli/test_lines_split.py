"""Tests that the advice to split a job names the line at which to split it. A run of an hour passes in seconds."""

import re

import pytest

from test_lines import SYSTEM, line_of, write

SPEED = 200  # the tracker's clock

# 50 minutes with little memory, then a few with much. The tracker does not see how the memory grows, which takes long on
# a busy machine.
JOB = """
import os
import signal
import time
def prepare():
    for i in range(150):
        time.sleep(0.1)
    return i
def fit(n):
    os.kill(os.getppid(), signal.SIGSTOP)
    kept = bytearray(b"x") * (2 << 30)
    os.kill(os.getppid(), signal.SIGCONT)
    for i in range(30):
        time.sleep(0.1)
    return len(kept) + n
def main():
    n = prepare()
    fit(n)  # CUT
main()
"""


@pytest.mark.native
def test_the_advice_to_split_names_the_line_to_cut_at(rt, clock):
    script = write(rt, "job.py", JOB)
    result = rt.track(SYSTEM, script, flags=("--lines", "1000"),
                      env={"LD_PRELOAD": clock, "TRK_CLOCK": f"0:0:0:{SPEED}"})
    assert result.rc == 0
    place = f"job.py:{line_of(JOB, 'CUT')} main()"
    split = rt.run("show", "--json").json()["split"]
    assert split["pays"] is True and split["cut"] == place, split
    assert split["cut_memory_mib"] < 200  # what prepare() held, not what fit() took
    assert f"split at {place}" in " ".join(rt.run("show").stdout.split())
    advice = " ".join(rt.run("recommend").stdout.split())
    assert re.search(rf"split at the line {re.escape(place)}, where up to [\d.]+ MiB is held", advice), advice
    page = rt.run("report", "--format", "md", "--output", "-").stdout
    assert page.count(f"split at the line {place}") == 1
    # One computation: the page says what is said elsewhere, in the same words.
    assert page.count(split["hint"]) == 1 and split["hint"] in advice
