#!/usr/bin/python3
"""One reading of a tree of 100 processes and of the machine, with the original package beside it in
the same run.

    bench/python_stats.py [OURS THEIRS]    Python interpreters with the one and the other package
                                           (build/venv-python, build/venv-bench)

Prints the median of the wall time, ms, and the ratio.
"""

import json
import os
import signal
import subprocess
import sys

CHILDREN = 99
CODE = """
import json, statistics, sys, time
from resource_tracker import tracker_procfs, tracker_psutil
pid = int(sys.argv[1])
result = {}
for name, call in (
        ("process procfs", lambda: tracker_procfs.get_process_stats(pid)),
        ("process psutil", lambda: tracker_psutil.get_process_stats(pid)),
        ("system procfs", tracker_procfs.get_system_stats),
        ("system psutil", tracker_psutil.get_system_stats)):
    times = []
    for _ in range(41):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    result[name] = [times[0] * 1e3, statistics.median(times[1:]) * 1e3]
json.dump(result, sys.stdout)
"""


def measure(python, pid):
    out = subprocess.run([python, "-c", CODE, str(pid)], stdout=subprocess.PIPE, check=True).stdout
    return json.loads(out)


def main():
    ours, theirs = sys.argv[1:] or ("build/venv-python/bin/python", "build/venv-bench/bin/python")
    tree = subprocess.Popen(
        ["sh", "-c", f"for i in $(seq {CHILDREN}); do sleep 600 & done; echo; wait"],
        stdout=subprocess.PIPE, start_new_session=True)
    try:
        tree.stdout.readline()
        rounds = [(measure(ours, tree.pid), measure(theirs, tree.pid)) for _ in range(3)]
    finally:
        os.killpg(tree.pid, signal.SIGKILL)
        tree.wait()
    print(f"{'':16} {'ours':>9} {'(first)':>9} {'original':>9} {'ratio':>7}")
    for name in rounds[0][0]:
        a = min(r[0][name][1] for r in rounds)
        first = min(r[0][name][0] for r in rounds)
        b = min(r[1][name][1] for r in rounds)
        print(f"{name:16} {a:9.3f} {first:9.3f} {b:9.3f} {b / a:6.1f}x")


if __name__ == "__main__":
    main()
