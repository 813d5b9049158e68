#!/usr/bin/python3
"""What sampling of stacks costs a job, beside py-spy in the same run: a table for docs/lines.md.

    bench/lines.py PYTHON PY_SPY [ROUNDS]

The job spins for a few seconds and says how many turns it did per second of its own CPU time. Its speed
with a tool is relative to that of the job alone, right before it; own cost is the CPU time of everything
but the job. Medians of the rounds, in which all tools take turns.
"""

import json
import pathlib
import resource
import statistics
import subprocess
import sys
import tempfile

JOB = """
import json, os, time
def turn(n):
    x = 0
    for i in range(n):
        x += i * i
    return x
end, turns = time.monotonic() + 12, 0
while time.monotonic() < end:
    turn(20000)
    turns += 1
cpu = time.process_time()
json.dump([turns / cpu, cpu], open(os.environ["JOB_RESULT"], "w"))
"""


def measure(command, result):
    """Turns per CPU second, and CPU seconds of the tool per second."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                   env={"JOB_RESULT": str(result), "PATH": "/usr/bin:/bin",
                        "RESOURCE_TRACKER_DIR": str(result.parent / "state")})
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    speed, cpu = json.loads(result.read_text())
    all_cpu = sum(getattr(after, f) - getattr(before, f) for f in ("ru_utime", "ru_stime"))
    return speed, max(all_cpu - cpu, 0) / 12


def main(python, py_spy, rounds=5):
    ours = str(pathlib.Path(__file__).resolve().parent.parent / "build/resource-tracker")
    folder = pathlib.Path(tempfile.mkdtemp())
    job = folder / "job.py"
    job.write_text(JOB)
    run = [ours, "run", "-q", "--no-discovery"]
    spy = [py_spy, "record", "-f", "raw", "-o", str(folder / "spy")]
    tools = {
        "resource-tracker run": [*run, "--"],
        "run --lines auto": [*run, "--lines", "auto", "--"],
        "run --lines 100": [*run, "--lines", "100", "--"],
        "run --lines 1000": [*run, "--lines", "1000", "--"],
        "py-spy record, 20 Hz": [*spy, "-r", "20", "--"],
        "py-spy record, 100 Hz": [*spy, "-r", "100", "--"],
        "py-spy record --nonblocking, 100 Hz": [*spy, "--nonblocking", "-r", "100", "--"],
    }
    found = {name: [] for name in tools}
    for _ in range(int(rounds)):
        for name, tool in tools.items():
            alone, idle = measure([python, str(job)], folder / "result")
            speed, cost = measure([*tool, python, str(job)], folder / "result")
            found[name].append((speed / alone, cost - idle))
    print("| command | the job's speed | own CPU, share of a core |\n|---|---|---|")
    for name, values in found.items():
        speed = statistics.median(s for s, _ in values)
        cost = statistics.median(c for _, c in values)
        print(f"| {name} | {speed:.3f} | {max(cost, 0) * 100:.2f} % |")


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
