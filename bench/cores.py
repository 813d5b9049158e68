"""Compares the predicted and the measured run time of jobs on fewer cores:
bench/cores.py PROGRAM [alone|rivals] > tables.

alone: each job runs on two CPUs and then on one (taskset), TURNS times alternately. The table has the medians. The
prediction is advice.cpu in the summary of the run on two CPUs. The run on one CPU is tracked as well, so that both have
the same overhead. The CPUs must be idle otherwise; the share that other processes took is printed with the table.

rivals: each job runs on two CPUs together with spinning processes that are pinned to them. The program predicts its run
time without them, on one CPU and on two. The truth is the run time without competitors on one CPU and on two.
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
# Competitors per CPU: milliseconds of CPU time that each uses in every 20 ms.
RIVALS = {"none": [], "a quarter": [5], "half": [10], "whole": [20], "three": [20, 20, 20]}
RIVAL = """
import sys, time
busy = int(sys.argv[1]) / 1e3
while True:
    end = time.perf_counter() + busy
    while time.perf_counter() < end: pass
    if busy < 0.02: time.sleep(0.02 - busy)
"""
CONTENDED = {
    "two spinners": "sha256sum big big big & sha256sum big big big; wait",
    "make -j2": "make -s -j2 -f parts",
    "one spinner": "sha256sum big big big big",
    "mixed": "sha256sum big big; sleep 0.5; sha256sum big big & sha256sum big big; wait",
}
TURNS = 3
PROGRAM = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else "build/resource-tracker")
SHARES = []  # per run on two CPUs: share of the runnable time of its threads that they waited for a CPU
OTHERS = []  # per run: share of the two CPUs that other processes took
TICK = os.sysconf("SC_CLK_TCK")


def taken():
    """CPU seconds used on the two CPUs since boot by all processes, interrupts and the hypervisor."""
    with open("/proc/stat", encoding="ascii") as file:
        fields = [line.split() for line in file if line.startswith(("cpu0 ", "cpu1 "))]
    return sum(int(field[i]) for field in fields for i in (1, 2, 3, 6, 7, 8)) / TICK


def reaped():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def run(command, cpus):
    """Track a job on some CPUs. Returns (duration in s, CPU advice of the summary)."""
    before, all_before, start = reaped(), taken(), time.perf_counter()
    subprocess.run([PROGRAM, "run", "-q", "--no-discovery", "--no-history", "--recording", "runs",
                    "--summary-json", "summary", "--", "taskset", "-c", cpus, "sh", "-c", command],
                   stdout=subprocess.DEVNULL, check=True)
    wall = time.perf_counter() - start
    OTHERS.append((taken() - all_before - (reaped() - before)) / (2 * wall))
    with open("summary", encoding="utf-8") as file:
        summary = json.load(file)
    return summary["run"]["duration_s"], summary["advice"]["cpu"]


def at(advice, cores):
    return next(p["run_time_s"] for p in advice["points"] if p["cores"] == cores)


def start_rivals(duties):
    return [subprocess.Popen(["taskset", "-c", str(cpu), sys.executable, "-c", RIVAL, str(duty)])
            for cpu in (0, 1) for duty in duties]


def beside(command, duties):
    """Run a job while competitors run on both CPUs. Returns the result of run()."""
    rivals = start_rivals(duties)
    try:
        return run(command, "0,1")
    finally:
        for rival in rivals:
            rival.kill()
            rival.wait()


def with_rivals():
    errors, naive = [], []
    print("| job | rivals | took, s | queue | advice | on 1 predicted | alone on 1 | on 2 predicted | alone on 2 |"
          "\n|---|---|---|---|---|---|---|---|---|")
    for name, command in CONTENDED.items():
        truth = {n: statistics.median(run(command, cpus)[0] for _ in range(TURNS))
                 for n, cpus in ((1, "0"), (2, "0,1"))}
        for rivals, duties in RIVALS.items():
            took, advice = beside(command, duties)
            errors += [at(advice, n) / truth[n] - 1 for n in truth]
            naive.append(took / truth[2] - 1)
            share = advice["queue_share"]
            print(f"| {name} | {rivals} | {took:.2f} | {100 * share:.0f} % | {advice['cores']:g} | "
                  f"{at(advice, 1):.2f} | {truth[1]:.2f} | {at(advice, 2):.2f} | {truth[2]:.2f} |", flush=True)
    print(f"\nmean |error| {100 * statistics.mean(map(abs, errors)):.1f} %, "
          f"worst {100 * max(errors, key=abs):+.1f} %; the run as it was instead of the prediction: "
          f"mean {100 * statistics.mean(map(abs, naive)):.0f} %, worst {100 * max(naive, key=abs):+.0f} %")


def take(command):
    took, advice = run(command, "0,1")
    SHARES.append(advice["queue_share"])
    return took, at(advice, 1)


def alone():
    errors = []
    print("| job | on 2 CPUs, s | on 1 predicted | measured | error | queue |\n|---|---|---|---|---|---|")
    for name, command in JOBS.items():
        turns = [(*take(command), run(command, "0")[0]) for _ in range(TURNS)]
        wide, predicted, narrow = map(statistics.median, zip(*turns))
        errors.append(abs(predicted / narrow - 1))
        print(f"| {name} | {wide:.2f} | {predicted:.2f} | {narrow:.2f} | "
              f"{100 * (predicted / narrow - 1):+.1f} % | {100 * SHARES[-1]:.0f} % |", flush=True)
    print(f"\nothers took {100 * statistics.mean(OTHERS):.1f} % of the CPUs, "
          f"{100 * max(OTHERS):.1f} % at most in a run; on two CPUs its threads waited "
          f"{100 * statistics.median(SHARES):.0f} % of the time that they could run, "
          f"{100 * max(SHARES):.0f} % at most in a run")
    print(f"mean |error| {100 * statistics.mean(errors):.1f} %, worst {100 * max(errors):.1f} %")


def main():
    what = sys.argv[2] if len(sys.argv) > 2 else ""
    os.chdir(tempfile.mkdtemp())
    subprocess.run("seq 1 16000000 > big; shuf -i 1-6000000 > text; split -n 12 big part.; "
                   "printf 'all: $(addsuffix .sum,$(wildcard part.*))\n%%.sum:; @gzip -6 -c $* > /dev/null\n' "
                   "> parts", shell=True, check=True)
    if what in ("", "alone"):
        alone()
    if what in ("", "rivals"):
        with_rivals()


main()
