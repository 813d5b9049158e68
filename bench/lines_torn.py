#!/usr/bin/python3
"""Reads a million stacks of each CPython from outside as fast as possible. Counts torn stacks, and checks that the job
is not disturbed.

    ninja -C build bench/bench_stacks && bench/lines_torn.py [STACKS] [PYTHON...]

There are two jobs. "steps" computes in a few functions. "wild" runs recursion, generators, exceptions, coroutines and
short-lived code objects in three threads. Torn stacks are discarded and counted. The job must end normally when it is
asked to.
"""

import glob
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
END = """
import signal, sys
stop = []
signal.signal(signal.SIGTERM, lambda *a: stop.append(1))
"""
JOBS = {
    "steps": END + """
def turn(n):
    x = 0
    for i in range(n):
        x += i * i
    return x
def step():
    return turn(300) + turn(500)
while not stop:
    step()
""",
    "wild": END + """
import asyncio, random, threading
def down(n):
    return down(n - 1) + 1 if n else 0
def numbers(n):
    for i in range(n):
        yield from (i * k for k in range(3))
def fails(n):
    try:
        return 1 // n if n == 0 else fails(n - 1)
    except ZeroDivisionError:
        return n
async def later(n):
    await asyncio.sleep(0)
    return n and await later(n - 1)
def dies(i):
    space = {}
    exec(compile("\\n" * (i % 50) + "def f():\\n    return [k for k in range(9)]\\nf()\\n", "/made/%d.py" % i, "exec"), space)
def wild(seed):
    own = random.Random(seed)
    while not stop:
        what = own.randrange(5)
        n = own.randrange(60)
        if what == 0:
            down(n)
        elif what == 1:
            sum(numbers(n))
        elif what == 2:
            fails(n)
        elif what == 3:
            dies(n)
        else:
            asyncio.run(later(n))
threads = [threading.Thread(target=wild, args=(i,)) for i in range(2)]
for t in threads:
    t.start()
wild(9)
for t in threads:
    t.join()
""",
}


def pythons():
    found = {os.path.realpath(p) for pattern in (
        "/usr/bin/python3", "~/.pyenv/versions/3.9.*/bin/python3", "~/.pyenv/versions/3.1?.*/bin/python3")
        for p in glob.glob(os.path.expanduser(pattern))}
    return sorted(found)


def version(python):
    return subprocess.run([python, "-c", "import platform; print(platform.python_version())"], capture_output=True,
                          text=True, check=True).stdout.strip()


def read(python, script, stacks):
    reader = os.environ.get("BENCH_STACKS") or str(HERE.parent / "build/bench/bench_stacks")
    job = subprocess.Popen([python, str(script)])
    time.sleep(1)
    try:
        found = subprocess.run([reader, "walk", str(job.pid), stacks], capture_output=True, text=True, check=True)
    finally:
        job.send_signal(signal.SIGTERM)
    return json.loads(found.stdout), job.wait(timeout=60)


def main(stacks="1000000", *chosen):
    print("| CPython | job | stacks | depth | torn | system calls a reading | CPU time a reading | exit of the job |\n"
          "|---|---|---|---|---|---|---|---|")
    for python in chosen or pythons():
        for name, text in JOBS.items():
            with tempfile.TemporaryDirectory() as folder:
                script = pathlib.Path(folder, "job.py")
                script.write_text(text)
                found, status = read(python, script, stacks)
            torn = found["torn"] / (found["stacks"] + found["torn"])
            print(f"| {version(python)} | {name} | {found['stacks']} | {found['depth']} | {found['torn']} ({torn:.4%}) | "
                  f"{found['reads']} | {found['walk_us']} us | {status} |", flush=True)


if __name__ == "__main__":
    if "-h" in sys.argv[1:] or "--help" in sys.argv[1:]:
        sys.exit(__doc__)
    main(*sys.argv[1:])
