#!/usr/bin/python3
"""Replays recorded CPU and memory series with the catalogue, to compute the cost per run on the recommended server.

    bench/servers.py SERIES.csv.gz INSTANCES.csv.gz [BUILD]

SERIES has lines "dataset,task,instance,kind(m|c),t0,dt:value dt:value …" (MiB, and percent of one core), INSTANCES
the start of each instance. This script converts the series to histograms; bench/servers.c replays them.
"""

import csv
import gzip
import subprocess
import sys
from collections import Counter
from pathlib import Path

csv.field_size_limit(1 << 30)


def pairs(text):
    for item in text.split():
        dt, _, value = item.partition(":")
        yield float(dt), float(value)


def histogram(points, seconds):
    """Histogram of a series: seconds by tenths of a core. A sample counts for the time since the previous one."""
    found, last, total = Counter(), None, 0.0
    for at, percent in points:
        step = 2.0 if last is None else at - last
        last = at
        found[round(percent / 10)] += step
        total += step
    scale = seconds / total if total else 0
    return {bin_: time * scale for bin_, time in sorted(found.items())}


def main(series, instances, build):
    start, seconds = {}, {}
    with gzip.open(instances, "rt") as f:
        for r in csv.DictReader(f):
            key = r["dataset"], r["task"], r["instance"]
            start[key], seconds[key] = float(r["start"]), float(r["dur_s"])
    peak, cpu = {}, {}
    with gzip.open(series, "rt") as f:
        for dataset, task, instance, kind, _, values in csv.reader(f):
            key = dataset, task, instance
            if key not in seconds or seconds[key] <= 0:
                continue
            if kind == "m":
                peak[key] = max(value for _, value in pairs(values))
            else:
                cpu[key] = histogram(pairs(values), seconds[key])
    lines = []
    for key in sorted(set(peak) & set(cpu), key=lambda k: (k[0], k[1], start[k], k[2])):
        bins = cpu[key]
        mean = sum(b * t for b, t in bins.items()) / 10 / seconds[key] if bins else 0
        text = " ".join(f"{b / 10:.1f}:{t:.2f}" for b, t in bins.items())
        lines.append(f"{key[0]} {key[1]} {peak[key]} {seconds[key]} {mean:.4f} {text}\n")
    root = Path(__file__).resolve().parent.parent
    for scores in ("none", str(root / "data/sparecores.tsv")):
        what = "CoreMark only" if scores == "none" else "with the stress-ng scores"
        print(f"== {what}", flush=True)
        subprocess.run([str(Path(build) / "bench/bench_servers"), scores],
                       input="".join(lines), text=True, check=True)


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2], sys.argv[3] if len(sys.argv) > 3 else "build")
