"""Run time on fewer cores, as the program predicts it from one run, and measured: bench/cores.py PROGRAM > table.

Each job runs on two CPUs and then on one (taskset), TURNS times in turns; the medians count. The prediction
is advice.cpu of the summary of the run on two; that on one is tracked as well, so that both carry the same.
The CPUs must be otherwise idle: what others took of them is told with the table.
"""
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time

JOBS = {
    "xz -T2": "xz -T2 -3 -k -c big > /dev/null",
    "gzip": "gzip -6 -c big > /dev/null",
    "sort": "sort --parallel=2 -S 200M text > /dev/null",
    "two gzip": "gzip -6 -c big > /dev/null & gzip -6 -c big > /dev/null; wait",
    "pipeline": "gzip -3 -c big | gzip -d | sha256sum > /dev/null",
    "sha256sum": "sha256sum big big big > /dev/null",
    "sed and sort": "sed s/7/8/g text | sort --parallel=2 -S 200M > /dev/null",
    "bzip2": "bzip2 -1 -c text > /dev/null",
    "python": f"{sys.executable} -c 'x = sum(i * i for i in range(12000000))'",
    "python phases": f"{sys.executable} -c 'import time; [(sum(range(4000000)), time.sleep(.3)) "
                     "for _ in range(8)]'",
    "phases": "gzip -3 -c big > /dev/null; sleep 1; sha256sum big & sha256sum big; wait; sleep 1",
}
TURNS = 3
PROGRAM = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else "build/resource-tracker")
OTHERS = []  # share of the two CPUs that others took, a run each
TICK = os.sysconf("SC_CLK_TCK")


def taken():
    """CPU seconds that anybody has had of the two CPUs so far, interrupts and the hypervisor included."""
    with open("/proc/stat", encoding="ascii") as file:
        fields = [line.split() for line in file if line.startswith(("cpu0 ", "cpu1 "))]
    return sum(int(field[i]) for field in fields for i in (1, 2, 3, 6, 7, 8)) / TICK


def reaped():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def run(command, cpus):
    """Seconds, and those that are predicted for one core."""
    before, all_before, start = reaped(), taken(), time.perf_counter()
    subprocess.run([PROGRAM, "run", "-q", "--no-discovery", "--no-history", "--recording", "runs",
                    "--summary-json", "summary", "--", "taskset", "-c", cpus, "sh", "-c", command],
                   stdout=subprocess.DEVNULL, check=True)
    wall = time.perf_counter() - start
    OTHERS.append((taken() - all_before - (reaped() - before)) / (2 * wall))
    with open("summary", encoding="utf-8") as file:
        summary = json.load(file)
    points = {point["cores"]: point["run_time_s"] for point in summary["advice"]["cpu"]["points"]}
    return summary["run"]["duration_s"], points[1]


def main():
    os.chdir(tempfile.mkdtemp())
    subprocess.run("seq 1 16000000 > big; shuf -i 1-6000000 > text", shell=True, check=True)
    errors = []
    print("| job | on 2 CPUs, s | on 1 predicted | measured | error |\n|---|---|---|---|---|")
    for name, command in JOBS.items():
        turns = [(*run(command, "0,1"), run(command, "0")[0]) for _ in range(TURNS)]
        wide, predicted, narrow = map(statistics.median, zip(*turns))
        errors.append(abs(predicted / narrow - 1))
        print(f"| {name} | {wide:.2f} | {predicted:.2f} | {narrow:.2f} | "
              f"{100 * (predicted / narrow - 1):+.1f} % |", flush=True)
    print(f"\nothers took {100 * statistics.mean(OTHERS):.1f} % of the CPUs, "
          f"{100 * max(OTHERS):.1f} % at most in a run")
    print(f"mean |error| {100 * statistics.mean(errors):.1f} %, worst {100 * max(errors):.1f} %")


main()
