#!/usr/bin/python3
"""Measures the effect of stack sampling on the speed of the job, in a way that works on a busy machine.

    bench/lines_speed.py PYTHON [SECONDS] [HZ...]

One job spins all the time, and records its CPU clock and its turns every few ms. Two trackers are attached to it, one
with --lines and one without. In slots of 0.3 s one of them runs and the other is stopped (SIGSTOP), in the order with,
without, without, with. Each pair of slots compares the turns per CPU second of the same process within 0.6 s, so other
load on the machine affects both alike. The program prints the median of the ratios with / without, its 95 % interval
from a bootstrap, and the CPU time of sampling that the tracker itself counts.
"""

import json
import os
import pathlib
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import time

SLOT_S, MARGIN_S = 0.3, 0.03
JOB = """
import json, signal, sys, time
def turn(n):
    x = 0
    for i in range(n):
        x += i * i
    return x
stop = []
signal.signal(signal.SIGTERM, lambda *a: stop.append(1))
notes, turns, now = [], 0, time.monotonic
while not stop:
    turn(4000)
    turns += 1
    notes.append((now(), time.process_time(), turns))
json.dump(notes[::4], open(sys.argv[1], "w"))
"""


def slots(trackers, seconds):
    """(whether lines are sampled, start, end) of each slot."""
    found, end = [], time.monotonic() + seconds
    while time.monotonic() < end:
        for with_lines in (True, False, False, True):
            for tracker, on in zip(trackers, (with_lines, not with_lines)):
                os.kill(tracker.pid, signal.SIGCONT if on else signal.SIGSTOP)
            start = time.monotonic()
            time.sleep(SLOT_S)
            found.append((with_lines, start + MARGIN_S, time.monotonic()))
    for tracker in trackers:
        os.kill(tracker.pid, signal.SIGCONT)
    return found


def speeds(notes, found):
    """Turns per CPU second of each slot."""
    result, at = [], 0
    for is_on, start, end in found:
        while at < len(notes) and notes[at][0] < start:
            at += 1
        first, last = at, at
        while last + 1 < len(notes) and notes[last + 1][0] < end:
            last += 1
        cpu = notes[last][1] - notes[first][1] if last < len(notes) else 0
        result.append((is_on, (notes[last][2] - notes[first][2]) / cpu if cpu > 0.03 else None))
    return result


def ratios(measured):
    for (on_a, a), (_, b) in zip(measured[::2], measured[1::2]):
        if a and b:
            yield a / b if on_a else b / a


def compare(python, seconds, hz, folder):
    ours = str(pathlib.Path(__file__).resolve().parent.parent / "build/resource-tracker")
    job = folder / "job.py"
    job.write_text(JOB)
    spinning = subprocess.Popen([python, str(job), str(folder / "notes")])
    time.sleep(1)
    trackers = []
    for name, lines in (("with", hz), ("without", "off")):
        env = {**os.environ, "RESOURCE_TRACKER_DIR": str(folder / name)}
        trackers.append(subprocess.Popen(
            [ours, "attach", "-q", "--no-discovery", "--lines", lines, str(spinning.pid)], env=env,
            stdout=subprocess.DEVNULL))
    time.sleep(12)  # skip the first 10 s, which have a higher rate
    found = slots(trackers, seconds)
    spinning.send_signal(signal.SIGTERM)
    spinning.wait()
    for tracker in trackers:
        tracker.wait()
    document = json.loads(subprocess.run([ours, "lines", "--json"], check=True, capture_output=True, env={
        **os.environ, "RESOURCE_TRACKER_DIR": str(folder / "with")}).stdout)
    looks = document["sampling_cpu_s"] / document["looks"], document["looks"]
    return list(ratios(speeds(json.loads((folder / "notes").read_text()), found))), looks


def main(python, seconds="120", *rates):
    print("| rate | pairs | speed with / without | 95 % interval | looks | CPU of a look |\n|---|---|---|---|---|---|")
    for hz in rates or ("20", "100", "1000"):
        with tempfile.TemporaryDirectory() as folder:
            values, (look_s, looks) = compare(python, float(seconds), hz, pathlib.Path(folder))
        medians = sorted(statistics.median(random.choices(values, k=len(values))) for _ in range(2000))
        print(f"| {hz} | {len(values)} | {statistics.median(values):.4f} | {medians[50]:.4f} to {medians[1949]:.4f} "
              f"| {looks} | {look_s * 1e6:.0f} us |", flush=True)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(*sys.argv[1:])
