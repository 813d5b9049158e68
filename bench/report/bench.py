#!/usr/bin/python3
"""Compares this program's report with the report of the original package, for the same samples. Prints Markdown.

    bench/report/bench.py PROGRAM MAKE_RECORDINGS PYTHON

PYTHON has the original package (tools/setup.sh bench). It runs without a network."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

RT, MAKE, PYTHON = (os.path.abspath(path) for path in sys.argv[1:])
HERE = os.path.dirname(os.path.abspath(__file__))
RUNS = (("20 s", 20), ("1 h", 3600), ("24 h", 86400), ("30 days", 2592000))
PEER_MAX = 86400
work = tempfile.mkdtemp(prefix="bench-report-")


def ours(state, page):
    """Seconds and MiB of the program itself, medians of five."""
    times, memory = [], []
    for _ in range(5):
        start = time.monotonic()
        child = subprocess.Popen([RT, "report", "--recording", state, "-o", page],
                                 stderr=subprocess.DEVNULL)
        _, status, usage = os.wait4(child.pid, 0)
        times.append(time.monotonic() - start)
        memory.append(usage.ru_maxrss / 1024)
        assert status == 0
    return sorted(times)[2], sorted(memory)[2]


def peer(state, page):
    samples = os.path.join(work, "samples.csv")
    subprocess.run([RT, "export", "--recording", state, "--columns", "0.5", "-o", samples],
                   check=True)
    done = subprocess.run(["unshare", "-rn", PYTHON, os.path.join(HERE, "peer.py"), samples, page],
                          check=True, capture_output=True, text=True, timeout=1200)
    seconds, most, before = map(float, done.stdout.split()[-3:])
    return seconds, most - before


def browser(page, kind):
    done = subprocess.run(["node", os.path.join(HERE, "browser.mjs"), page, kind], check=True,
                          capture_output=True, text=True, timeout=1200)
    return json.loads(done.stdout)


def main():
    empty = os.path.join(work, "empty.html")
    with open(empty, "w", encoding="utf-8") as file:
        file.write("<!doctype html><title>x</title><p>x")
    blank = browser(empty, "empty")
    print("## The report\n")
    print("This section compares the report of this program with the report of the original Python package. Both are"
          " made from the same samples in the same run (`bench/report`). The original's look-up on the network is switched off. First paint, and all shown (loaded,"
          " scripts run, one frame later), are measured in headless Chromium on this machine, where an empty page"
          f" takes {blank['paint']:.0f} and {blank['shown']:.0f} ms. For ours, memory is that of the whole program; for"
          " the original, it is the increase while the report is made, without the samples.\n")
    print("| run at 1 Hz | ours: made in | memory | size | first paint | all shown |"
          " original: made in | memory | size | first paint | all shown |"
          " ratios: time, size, shown |")
    print("|---|---|---|---|---|---|---|---|---|---|---|---|")
    day = None
    for name, seconds in RUNS:
        state, page = os.path.join(work, name.replace(" ", "")), os.path.join(work, "ours.html")
        subprocess.run([MAKE, state, "steps", str(seconds)], check=True, capture_output=True)
        made, memory = ours(state, page)
        size, seen = os.path.getsize(page) / 1000, browser(page, "ours")
        line = f"| {name} | {made:.3f} s | {memory:.0f} MiB | {size:.0f} kB"
        line += f" | {seen['paint']:.0f} ms | {seen['shown']:.0f} ms "
        if seconds <= PEER_MAX:
            other = os.path.join(work, "peer.html")
            peer_made, peer_memory = peer(state, other)
            peer_size, peer_seen = os.path.getsize(other) / 1000, browser(other, "peer")
            line += (f"| {peer_made:.2f} s | {peer_memory:.0f} MiB | {peer_size:.0f} kB |"
                     f" {peer_seen['paint']:.0f} ms | {peer_seen['shown']:.0f} ms |"
                     f" {peer_made / made:.3g}, {peer_size / size:.3g},"
                     f" {peer_seen['shown'] / seen['shown']:.2g} |")
        else:
            line += "| - | - | - | - | - | - |"
        print(line, flush=True)
        if seconds == 86400:
            day = seen
    late = sum(day[f"{what}_{rate}_late"] for what in ("hover", "zoom") for rate in (1, 4))
    print("\nInteraction with the page of 24 h, by real input and Chromium's trace (60 events each; a frame is 16.7 ms):\n")
    print("| event | page thread, full speed | at a CPU slowed down 4 times |\n|---|---|---|")
    print(f"| the frame that shows a hover | {day['hover_1']:.1f} ms | {day['hover_4']:.1f} ms |")
    print(f"| the frame that shows a zoom of all charts | {day['zoom_1']:.1f} ms | {day['zoom_4']:.1f} ms |")
    print(f"\nThe times include input, script, layout, paint and commit. {late} of these 240 events were shown one frame"
          f" later than the first frame after them. At full speed the detailed drawing appears {day['closer']:.0f} ms after the"
          " key, of which 120 ms are an intentional delay.\n")
    state, page = os.path.join(work, "24h"), os.path.join(work, "raw.html")
    subprocess.run([RT, "report", "--recording", state, "--embed-raw", "-o", page], check=True,
                   capture_output=True)
    seen = browser(page, "raw")
    print(f"With the embedded recording (`--embed-raw`) the page of 24 h has {os.path.getsize(page) / 1e6:.1f} MB and is shown"
          f" after {seen['shown']:.0f} ms. The first detailed view from all samples appears {seen['closer']:.0f} ms after the key.")


try:
    main()
finally:
    shutil.rmtree(work, ignore_errors=True)
