#!/usr/bin/python3
"""Measures how often the summary of a job that ran out of memory names the line that allocated the memory.

    bench/lines_oom.py [RUNS] [PROGRAM...]

Each program grows in a different way until its control group reaches its limit and the kernel kills it. The line that
keeps the memory ends with "# KEEPS". A run counts as correct if this is the first line in `lines.growth` of the
summary's JSON. If the kernel has killed the tracker as well, `show` reads the summary from the recording; such runs are
also counted separately. Needs root and a memory controller; without these, `--limit mem=` ends the job.
"""

import collections
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "tests/cli"))
from conftest import memory_group  # noqa: E402  pylint: disable=wrong-import-position

OURS = os.environ.get("RESOURCE_TRACKER_BIN") or str(HERE.parent / "build/resource-tracker")
LIMIT = 400 << 20
WORK = """
import json, sys, time
def work(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass
work(0.5)
kept = []
"""

PROGRAMS = {
    # 5 MB in 1 ms, then 20 ms of work: nearly every sample finds the work.
    "short steps": """
def load():
    kept.append(b"x" * 5_000_000)  # KEEPS
while True:
    load()
    work(0.02)
""",
    "small pieces": """
def keep():
    kept.append(bytearray(b"x") * 100_000)  # KEEPS
    time.sleep(0.0005)
while True:
    for _ in range(200):
        keep()
    work(0.02)
""",
    "one large step": """
def load():
    return bytearray(b"x") * (3 << 30)  # KEEPS
work(1)
load()
""",
    "objects": """
def build():
    for i in range(10 ** 9):
        kept.append((i, str(i)))  # KEEPS
build()
""",
    "comprehension": """
def build():
    return [{"name": str(i)} for i in range(10 ** 9)]  # KEEPS
build()
""",
    "called library": """
text = json.dumps([{"a": i, "b": [i, i + 1]} for i in range(2000)])
def read():
    kept.append(json.loads(text))  # KEEPS
while True:
    read()
    work(0.002)
""",
    # The other line allocates 4 MB at a time and frees it.
    "beside buffers": """
def buffers():
    for _ in range(5):
        len(b"y" * 4_000_000)
def load():
    kept.append(b"x" * 2_000_000)  # KEEPS
while True:
    buffers()
    load()
    work(0.01)
""",
    "worker": """
import multiprocessing
def grow():
    while True:
        kept.append(b"x" * 1_000_000)  # KEEPS
        work(0.003)
process = multiprocessing.get_context("fork").Process(target=grow)
process.start()
process.join()
sys.exit(process.exitcode and 1)
""",
    "thread": """
import threading
def grow():
    while True:
        kept.append(b"x" * 1_000_000)  # KEEPS
        time.sleep(0.003)
thread = threading.Thread(target=grow)
thread.start()
while True:
    work(0.1)
""",
}


def command_in_group(command, group):
    if not group:
        return [*command[:2], "--limit", f"mem={LIMIT}", *command[2:]]
    os.makedirs(group, exist_ok=True)
    limit = "memory.max" if os.path.exists(f"{group}/memory.max") else "memory.limit_in_bytes"
    pathlib.Path(group, limit).write_text(str(LIMIT))
    return ["sh", "-c", f'echo $$ > {group}/cgroup.procs; exec "$0" "$@"', *command]


def remove(group):
    for _ in range(100):
        try:
            os.rmdir(group)
            return
        except OSError:  # the kernel is still removing the killed process
            time.sleep(0.1)


def run(script, folder, group):
    """Run a program once. Returns (summary, whether the tracker survived and printed it)."""
    command = [OURS, "run", "-q", "--no-discovery", "--lines", os.environ.get("RATE", "auto"), "--summary-json", "-",
               "--", "/usr/bin/python3", str(script)]
    env = {**os.environ, "RESOURCE_TRACKER_DIR": str(folder / "state")}
    try:
        result = subprocess.run(command_in_group(command, group), capture_output=True, text=True, check=False, env=env,
                                cwd=folder)
    finally:
        if group:
            remove(group)
    if result.stdout:
        return json.loads(result.stdout), True
    shown = subprocess.run([OURS, "show", "--json", "@"], capture_output=True, text=True, check=True, env=env)
    return json.loads(shown.stdout), False


def main(runs="20", *names):
    group = memory_group()
    print("| program | right | tracker killed | seconds a run | else named |\n|---|---|---|---|---|")
    for name in names or PROGRAMS:
        text = WORK + PROGRAMS[name]
        keeps = next(i for i, line in enumerate(text.splitlines(), 1) if line.endswith("# KEEPS"))
        named, seconds, killed = collections.Counter(), [], 0
        with tempfile.TemporaryDirectory() as folder:
            script = pathlib.Path(folder, "job.py")
            script.write_text(text)
            for _ in range(int(runs)):
                summary, lived = run(script, pathlib.Path(folder), group)
                killed += not lived
                seconds.append(summary["run"]["duration_s"])
                growth = summary["lines"]["growth"]
                named[growth[0]["line"] if growth else None] += 1
                if os.environ.get("VERBOSE") and (not growth or growth[0]["line"] != keeps):
                    print(json.dumps(summary["lines"]), file=sys.stderr)
        others = ", ".join(f"line {line}: {n}" for line, n in named.items() if line != keeps)
        print(f"| {name} | {named[keeps]} of {runs} | {killed} | {sum(seconds) / max(len(seconds), 1):.1f} | {others} |", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
