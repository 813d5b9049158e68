#!/usr/bin/python3
"""Measures the CPU time that @track_resources adds to a Metaflow run of three empty steps, and that of one update of
the live page.

    bench/metaflow_overhead.py [PYTHON [RUNS [PROGRAM]]]    (build/venv-python/bin/python, 15,
                                                            build/resource-tracker)

Prints medians of the user CPU time of all processes that a run has started, including those that have left its tree.
Runs with and without the decorator alternate. For the update, it prints the difference of the CPU time of a sampler
and its children with and without a page every 100 ms, divided by the number of pages.
"""

import ctypes
import os
import resource
import signal
import statistics
import subprocess
import sys
import tempfile
import time

FLOW = """
from metaflow import FlowSpec, step
class F(FlowSpec):
    @step
    def start(self):
        self.next(self.middle)
    @step
    def middle(self):
        self.next(self.end)
    @step
    def end(self):
        pass
if __name__ == "__main__":
    F()
"""
PR_SET_CHILD_SUBREAPER = 36


def used_by(command, **options):
    """(user, user + system) CPU seconds of a command and of all its descendants, including orphans."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **options)
    while True:
        try:
            os.wait()
        except ChildProcessError:
            break
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    user = after.ru_utime - before.ru_utime
    return user, user + after.ru_stime - before.ru_stime


def overhead(python, runs):
    figures = {"without": [], "with": []}
    with tempfile.TemporaryDirectory() as top:
        for kind in figures:
            folder = os.path.join(top, kind)
            os.makedirs(os.path.join(folder, ".metaflow"))
            with open(os.path.join(folder, "flow.py"), "w", encoding="ascii") as file:
                file.write(FLOW)
        for i in range(runs + 1):
            for kind in sorted(figures, reverse=bool(i % 2)):
                folder = os.path.join(top, kind)
                env = {**os.environ, "HOME": folder, "USER": "bench", "METAFLOW_USER": "bench",
                       "METAFLOW_DEFAULT_DATASTORE": "local", "METAFLOW_DEFAULT_METADATA": "local"}
                more = ["--with", "track_resources"] if kind == "with" else []
                used = used_by([python, "flow.py", "--no-pylint", "run", *more], cwd=folder, env=env)
                if i:  # the first run warms up the caches and does not count
                    figures[kind].append(used)
    for at, name in enumerate(("user CPU", "user and system CPU")):
        a, b = (statistics.median(f[at] for f in figures[kind]) for kind in ("without", "with"))
        print(f"{name}: {a:.3f} s without, {b:.3f} s with: {100 * (b / a - 1):+.1f} %")


def sampler(program, seconds, live):
    """(CPU seconds of a sampler with ten rows per second and of its pages, number of pages written)"""
    with tempfile.TemporaryDirectory() as folder:
        page, pages, seen = os.path.join(folder, "page.html"), 0, None
        more = ["--report-every", "100ms"] if live else []
        target = subprocess.Popen(["sleep", str(seconds + 60)])
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        process = subprocess.Popen([program, "attach", "-q", "-i", "0.1", "--recording", folder,
                                    "--report=" + page, *more, str(target.pid)])
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            time.sleep(0.01)
            if os.path.exists(page):
                inode = os.stat(page).st_ino
                pages, seen = pages + (inode != seen), inode
        process.send_signal(signal.SIGINT)
        process.wait()
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        target.kill()
        target.wait()
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, pages


def refresh(program):
    rows = [(sampler(program, 30, False)[0], *sampler(program, 30, True)) for _ in range(3)]
    cost = statistics.median((busy - plain) / pages for plain, busy, pages in rows)
    print(f"live page: {cost * 1e3:.2f} ms CPU a refresh ({sum(row[2] for row in rows)} of them)")


def main():
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    arguments = sys.argv[1:]
    python = os.path.abspath(arguments[0] if arguments else "build/venv-python/bin/python")
    overhead(python, int(arguments[1]) if len(arguments) > 1 else 15)
    refresh(os.path.abspath(arguments[2] if len(arguments) > 2 else "build/resource-tracker"))


if __name__ == "__main__":
    main()
