"""Runs the benchmarks of this tracker and its peers, and writes docs/performance.md.

bench/run.sh calls it: bench.py PROGRAM TICK PYTHON SIBLING [CHAPTER…]. With CHAPTERs, only these are measured, and
they replace their sections of the page.
"""
import json
import os
import platform
import re
import subprocess
import sys
import time
import traceback

from common import (ENV, HERE, PYTHON, RT, SIBLING, TICK, about_sibling, compiled, has_sibling, met,
                    offline, say, work)
import common
import cost
import exact
import impact
import shared

ROOT = os.path.dirname(HERE)
EDGES = r"""
#include <stdio.h>
#include <time.h>
static long long now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}
int main(void)
{
    long long came = now();
    printf("\n%lld %lld\n", came, now());
}
"""


def version_of(command):
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.split("\n")[0]
    except (OSError, subprocess.CalledProcessError):
        return "not here"


def package_version(name):
    """Version of a Debian package. GNU time of Debian does not print its version."""
    return version_of(["dpkg-query", "-W", "-f", "${Version}", name])


def head():
    model = re.search(r"model name\s*: (.*)", open("/proc/cpuinfo", encoding="utf-8").read())
    peers = subprocess.run(
        [PYTHON, "-m", "pip", "list", "--format", "freeze", "--disable-pip-version-check"],
        capture_output=True, text=True, check=True).stdout.split()
    peers = ", ".join(p.replace("==", " ") for p in peers
                      if p.startswith(("resource-tracker", "resource_tracker", "psutil", "psrecord")))
    say("# Performance")
    say()
    say("This page is for readers who want to know what tracking costs, and how exact its figures are compared with"
        " other tools. It answers both with the results of one run of the benchmarks. *Ours* is this program.")
    say()
    say(f"Written by `make bench`, {time.strftime('%Y-%m-%d')}. Machine: {os.cpu_count()} CPUs"
        f" ({model[1] if model else platform.machine()}), Linux {platform.release().split('-')[0]},"
        f" {platform.machine()}; load {os.getloadavg()[0]:.1f} at the start. Other work runs on the machine and changes"
        " over time. Compare the ratios within a row, which was measured in one run; do not compare times of"
        " different rows.")
    say()
    say(f"The peers: {peers} (PyPI); the Rust sibling: {about_sibling()};"
        f" pidstat of {version_of(['pidstat', '-V'])};"
        f" GNU time {package_version('time')}.")
    say()


def edges():
    job = compiled("edges", EDGES, "-static")
    mine = [RT, "run", "-q", "--no-discovery"]
    prefixes = {
        "bare": [],
        "ours": [*mine, "--no-recording", "--"],
        "ours, with a recording": [*mine, "--recording", os.path.join(work, "edges"), "--"],
        "GNU time": ["/usr/bin/time", "-o", "/dev/null"],
    }
    if has_sibling():
        prefixes["sibling"] = [SIBLING, "-i", "1", "-f", "csv", "-o", "/dev/null", "--"]
    text = subprocess.run(
        [*(offline() or []), sys.executable, os.path.join(HERE, "edges.py"),
         *(f"{k}={json.dumps(v)}" for k, v in prefixes.items()), "--", job],
        check=True, capture_output=True, text=True, env=ENV).stdout
    rows = {line.rsplit(" ", 3)[0]: [float(word) for word in line.rsplit(" ", 3)[1:]]
            for line in text.splitlines()}
    bare = rows.pop("bare")
    say("## Start and end of a run")
    say()
    say("Additional time compared with a run without a tracker, in ms: *start* is from the call to the job's first line,"
        " *end* from its last line to the return of the call. Medians of 30 interleaved runs (three of the sibling,"
        " which waits for whole intervals). Targets: start <= 3, end <= 30, in all <= 10 ms. Without a tracker the"
        f" times are {bare[0]:.2f}, {bare[1]:.2f} and {bare[2]:.2f} ms.")
    say()
    say("| tracker | start | end | in all | target |\n|---|---|---|---|---|")
    for label, (start, end, both) in rows.items():
        more = [start - bare[0], end - bare[1], both - bare[2]]
        good = more[0] <= 3 and more[1] <= 30 and both <= 10
        say(f"| {label} | {more[0]:.2f} | {more[1]:.2f} | {more[2]:.2f} | "
            + (met(good) if label.startswith("ours") else "-") + " |")
    say()


def size_of(path):
    """Size of a program without symbols, in KiB."""
    small = os.path.join(work, "stripped")
    subprocess.run(["strip", "-o", small, path], check=True)
    return os.path.getsize(small) / 1024


def folder_kib(module):
    path = subprocess.run([PYTHON, "-c", f"import {module}, os; print(os.path.dirname({module}.__file__))"],
                          capture_output=True, text=True, check=True).stdout.strip()
    return sum(os.path.getsize(os.path.join(root, name)) for root, _, files in os.walk(path)
               for name in files if not name.endswith(".pyc")) / 1024


def size():
    needed = [line.split("[")[1].rstrip("]") for line in subprocess.run(
        ["readelf", "-d", RT], capture_output=True, text=True, check=True).stdout.splitlines()
        if "NEEDED" in line]
    table = os.path.getsize(os.path.join(os.path.dirname(RT), "src/catalog/catalog.image")) / 1024
    mine = size_of(RT)
    say("## Size")
    say()
    say(f"The stripped program has {mine:.0f} KiB, {table:.0f} KiB of it for the table of servers and prices (target"
        f" without the table: <= 1 MiB, {met(mine - table <= 1024)}). It needs {', '.join(needed)}."
        + (f" The sibling has {size_of(SIBLING):.0f} KiB." if has_sibling() else "")
        + f" The Python package of Spare Cores has {folder_kib('resource_tracker'):.0f} KiB and psutil"
        f" {folder_kib('psutil'):.0f} KiB of files, without the interpreter.")
    say()


def instructions():
    """Count the instructions of a tick over captured files with callgrind. The result is the same on every machine."""
    def total(count):
        done = subprocess.run(
            ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", TICK, "loop", "0",
             str(count), os.path.join(ROOT, "tests/fixtures/vm-virtio")], check=True,
            capture_output=True, text=True)
        return int(re.search(r"refs:\s+([\d,]+)", done.stderr)[1].replace(",", ""))
    with open(os.path.join(ROOT, "tests/cli/test_budget.py"), encoding="utf-8") as file:
        budget = {name: int(value.replace("_", "")) for name, value in re.findall(
            r"^(SYSTEM|IDLE_MEMBER) = ([\d_]+)", file.read(), re.M)}
    used = (total(450) - total(150)) / 300
    say("## Instructions")
    say()
    say(f"A tick over the captured files of a small virtual machine takes {used:.0f} instructions (counted by"
        f" callgrind; budget {budget['SYSTEM']}). An idle process of the tree adds at most {budget['IDLE_MEMBER']}."
        " `tests/cli/test_budget.py` checks both budgets.")
    say()


def notes():
    with open(os.path.join(HERE, "notes.md"), encoding="utf-8") as file:
        say(file.read().rstrip())


CHAPTERS = {
    "head": head, "samples": cost.samples, "full_read": cost.full_read, "tools": cost.tools,
    "edges": edges, "totals": exact.totals, "peaks": exact.peaks, "shared": shared.shared, "impact": impact.impact,
    "size": size, "instructions": instructions, "notes": notes,
}
failed = []
for chapter in common.CHAPTERS or CHAPTERS:
    try:
        load = os.getloadavg()[0]
        CHAPTERS[chapter]()
        if common.CHAPTERS and chapter not in ("head", "notes"):
            say(f"*Measured apart from the other chapters, {time.strftime('%Y-%m-%d')}; load"
                f" {load:.1f} at the start.*")
        if common.CHAPTERS:
            common.splice()
    except Exception:  # if a peer fails, continue with the next chapter
        traceback.print_exc()
        failed.append(chapter)
        if common.CHAPTERS:
            common.out.clear()
        else:
            say(f"\n*{chapter}: could not be measured this time.*\n")
sys.exit(f"bench: could not be measured: {' '.join(failed)}" if failed else 0)
