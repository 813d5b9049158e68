#!/usr/bin/python3
"""Measures the cost of stack sampling for a job, compared with py-spy, austin, pyinstrument and scalene. Prints a
table for docs/lines.md.

    python3 -m venv VENV && VENV/bin/pip install py-spy austin-dist==3.7.0 pyinstrument scalene
    bench/lines.py VENV [ROUNDS]

The job spins for 12 s and reports its turns per second of its own CPU time. Its speed with a tool is relative to its
speed without a tool directly before. The own cost is the CPU time of all processes except the job. pyinstrument and
scalene run inside the job, so their cost only shows in its speed. All tools take turns in each round; the table has
the medians of the rounds. Tools that VENV lacks or that fail are listed. austin 4 needs glibc 2.38.
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
    """Run the job with a tool. Returns (turns per CPU second, CPU seconds of the tool per second)."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                   env={"JOB_RESULT": str(result), "PATH": "/usr/bin:/bin",
                        "RESOURCE_TRACKER_DIR": str(result.parent / "state")})
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    speed, cpu = json.loads(result.read_text())
    all_cpu = sum(getattr(after, f) - getattr(before, f) for f in ("ru_utime", "ru_stime"))
    return speed, max(all_cpu - cpu, 0) / 12


def commands(venv, folder):
    """{name in the table: words of the command before JOB}"""
    ours = str(pathlib.Path(__file__).resolve().parent.parent / "build/resource-tracker")
    python, out = str(venv / "bin/python"), str(folder / "out")
    run = [ours, "run", "-q", "--no-discovery"]
    spy = [str(venv / "bin/py-spy"), "record", "-f", "raw", "-o", out]
    austin = [str(venv / "bin/austin"), "-o", out]
    return {
        "resource-tracker run --lines off": [*run, "--lines", "off", "--", python],
        "run (100 Hz in the first 10 s, then 20)": [*run, "--", python],
        "run --lines 100": [*run, "--lines", "100", "--", python],
        "run --lines 1000": [*run, "--lines", "1000", "--", python],
        "py-spy record, 20 Hz": [*spy, "-r", "20", "--", python],
        "py-spy record, 100 Hz": [*spy, "-r", "100", "--", python],
        "py-spy record --nonblocking, 100 Hz": [*spy, "--nonblocking", "-r", "100", "--", python],
        "austin, 100 Hz": [*austin, "-i", "10ms", python],
        "austin, 1000 Hz": [*austin, "-i", "1ms", python],
        "pyinstrument, 100 Hz": [python, "-m", "pyinstrument", "-i", "0.01", "-o", out],
        "pyinstrument, 1000 Hz": [python, "-m", "pyinstrument", "-i", "0.001", "-o", out],
        "scalene, 100 Hz": [python, "-m", "scalene", "run", "--cpu-only", "-o", out],
    }


def main(venv, rounds=3):
    venv, folder = pathlib.Path(venv).absolute(), pathlib.Path(tempfile.mkdtemp())
    job = folder / "job.py"
    job.write_text(JOB)
    found = {name: [] for name in commands(venv, folder)}
    for _ in range(int(rounds)):
        for name, command in commands(venv, folder).items():
            alone, idle = measure([str(venv / "bin/python"), str(job)], folder / "result")
            try:
                speed, cost = measure([*command, str(job)], folder / "result")
            except (OSError, subprocess.CalledProcessError) as error:
                print(f"{name}: {error}", file=sys.stderr)
                continue
            found[name].append((speed / alone, cost - idle))
    print("| command | the job's speed | own CPU, share of a core |\n|---|---|---|")
    for name, values in found.items():
        if not values:
            continue
        speed = statistics.median(s for s, _ in values)
        cost = statistics.median(c for _, c in values)
        print(f"| {name} | {speed:.3f} | {max(cost, 0) * 100:.2f} % |")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(*sys.argv[1:])
