#!/usr/bin/python3
"""Measures one reading of a tree of 100 processes and of the machine, with this package and with the original one. The
processes of one tree sleep; those of the other tree wake up 50 times a second, so that the figures of each process
change between two readings. Readings follow each other directly, or after 30 ms, when the caches contain other data.

    bench/python_stats.py [OURS THEIRS]    Python interpreters with this and the original package
                                           (default: build/venv-python, build/venv-bench)

Prints a section in Markdown with the median CPU times of the best of three turns.
"""

import json
import os
import signal
import statistics
import subprocess
import sys

CHILDREN = 99
CODE = """
import json, statistics, sys, time
from resource_tracker import tracker_procfs, tracker_psutil
pid, pause_s = int(sys.argv[1]), float(sys.argv[2])
result = {}
for name, call in (
        ("process procfs", lambda: tracker_procfs.get_process_stats(pid)),
        ("process psutil", lambda: tracker_psutil.get_process_stats(pid)),
        ("system procfs", tracker_procfs.get_system_stats),
        ("system psutil", tracker_psutil.get_system_stats)):
    times = []
    for _ in range(31):
        start = time.process_time()
        call()
        times.append(time.process_time() - start)
        time.sleep(pause_s)
    result[name] = [times[0] * 1e3, statistics.median(times[1:]) * 1e3]
json.dump(result, sys.stdout)
"""


def measure(python, pid, pause_s):
    out = subprocess.run([python, "-c", CODE, str(pid), str(pause_s)], stdout=subprocess.PIPE, check=True).stdout
    return json.loads(out)


TREES = {
    "asleep": ["sh", "-c", f"for i in $(seq {CHILDREN}); do sleep 600 & done; echo; wait"],
    "awake": [sys.executable, "-c", f"""
import os, time
for i in range({CHILDREN}):
    if os.fork() == 0:
        while True:
            time.sleep(0.02)
print(flush=True)
time.sleep(600)
"""],
}


IMPORTS = "import resource_tracker", "from resource_tracker import ResourceTracker"


def import_ms(python, statement):
    code = f"import time\na = time.perf_counter()\n{statement}\nprint(time.perf_counter() - a)"
    times = [float(subprocess.run([python, "-c", code], stdout=subprocess.PIPE, check=True).stdout)
             for _ in range(15)]
    return statistics.median(times) * 1e3


def compare(tree_name, pause_s, command, ours, theirs):
    tree = subprocess.Popen(command, stdout=subprocess.PIPE, start_new_session=True)
    try:
        tree.stdout.readline()
        rounds = [(measure(ours, tree.pid, pause_s), measure(theirs, tree.pid, pause_s))
                  for _ in range(3)]
    finally:
        os.killpg(tree.pid, signal.SIGKILL)
        tree.wait()
    for name in rounds[0][0]:
        a = min(r[0][name][1] for r in rounds)
        first = min(r[0][name][0] for r in rounds)
        b = min(r[1][name][1] for r in rounds)
        pause = f", {pause_s * 1e3:.0f} ms apart" if pause_s else ""
        print(f"| {tree_name}{pause} | {name} | {a:.3f} | {first:.3f} | {b:.3f} | {b / a:.1f} |")


def main():
    ours, theirs = sys.argv[1:] or ("build/venv-python/bin/python", "build/venv-bench/bin/python")
    print("""## The Python package

CPU time in ms of one call of `get_process_stats` for a tree of 100 processes, and of `get_system_stats` for the machine.
*Ours* are the functions of this Python package, in both of its modules; *original* are those of the same name of Spare Cores'
package, in the same run. The processes of a tree are asleep, or each wakes up 50 times a second. The calls follow each other at
once, or 30 ms apart, when the caches contain other data. *First* is the call that finds the tree and opens its files.

| tree | reading | ours | first | original | ratio |
|---|---|---|---|---|---|""")
    for name, command in TREES.items():
        for pause_s in (0, 0.03):
            compare(name, pause_s, command, ours, theirs)
    print("""
An awake tree is the worst case: the files of each of its processes are read, which is mostly work of the kernel. The targets are
ratios of 20 for a process tree and 10 for the machine.

Time of an import:
""")
    for statement in IMPORTS:
        a, b = import_ms(ours, statement), import_ms(theirs, statement)
        print(f"- `{statement}`: {a:.2f} ms, the original {b:.1f} ms")


if __name__ == "__main__":
    main()
