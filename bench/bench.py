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
    say(f"Written by `make bench`, {time.strftime('%Y-%m-%d')}. Machine: {os.cpu_count()} CPUs"
        f" ({model[1] if model else platform.machine()}), Linux {platform.release().split('-')[0]},"
        f" {platform.machine()}; load {os.getloadavg()[0]:.1f} at the start. The machine is shared with"
        " other work that comes and goes, so times are what they were: ratios within a row count, and"
        " all of a row was measured in one run.")
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
    say("From the call to the job's first line, and from its last line to the return of the call, in ms"
        " more than without a tracker (medians of 30, interleaved; three of the sibling, which takes"
        " whole intervals). Ours: start <= 3, end <= 30, all <= 10. "
        f"Bare: {bare[0]:.2f}, {bare[1]:.2f} and {bare[2]:.2f} ms.")
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
    say(f"Stripped {mine:.0f} KiB, {table:.0f} KiB of it the table of servers and prices"
        f" (program <= 1 MiB without the table: {met(mine - table <= 1024)}); needs {', '.join(needed)}."
        + (f" The sibling {size_of(SIBLING):.0f} KiB." if has_sibling() else "")
        + f" The Python package {folder_kib('resource_tracker'):.0f} KiB and psutil"
        f" {folder_kib('psutil'):.0f} KiB of files beside an interpreter.")
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
    say(f"A tick over the captured files of a small virtual machine takes {used:.0f} instructions"
        f" (callgrind; budget {budget['SYSTEM']}), a member of the tree that did nothing at most"
        f" {budget['IDLE_MEMBER']}. `tests/cli/test_budget.py` holds both.")
    say()


def notes():
    with open(os.path.join(HERE, "notes.md"), encoding="utf-8") as file:
        say(file.read().rstrip())


CHAPTERS = {
    "head": head, "samples": cost.samples, "full_read": cost.full_read, "tools": cost.tools,
    "edges": edges, "totals": exact.totals, "peaks": exact.peaks, "impact": impact.impact,
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
