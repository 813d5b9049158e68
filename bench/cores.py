"""Run time on fewer cores, predicted from one profile and measured: bench/cores.py > table.

Each program runs on two CPUs under `taskset` while its busy cores are sampled from /proc; then on
one; so three times, in turns, and the medians count. Prediction: sum of seconds * max(1, busy), as
trk__busy_run_time(h, 1). The CPUs must be otherwise idle: what others took of them is told with the table.
"""
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time

PROGRAMS = {
    "xz -T2": "xz -T2 -3 -k -c big > /dev/null",
    "gzip": "gzip -6 -c big > /dev/null",
    "sort": "sort --parallel=2 -S 200M text > /dev/null",
    "two gzip": "gzip -6 -c big > /dev/null & gzip -6 -c big > /dev/null; wait",
    "pipeline": "gzip -3 -c big | gzip -d | sha256sum > /dev/null",
    "sha256sum": "sha256sum big big big > /dev/null",
    "sed and sort": "sed s/7/8/g text | sort --parallel=2 -S 200M > /dev/null",
    "bzip2": "bzip2 -1 -c text > /dev/null",
    "python": f"{sys.executable} -c 'x = sum(i * i for i in range(12000000))'",
    "python phases": f"{sys.executable} -c 'import time; [sum(range(4000000)) or time.sleep(.3) "
                     "for _ in range(8)]'",
    "phases": "gzip -3 -c big > /dev/null; sleep 1; sha256sum big & sha256sum big; wait; sleep 1",
}
TURNS = 3
OTHERS = []  # share of the two CPUs that others took, a run each
TICK = os.sysconf("SC_CLK_TCK")


def busy(group):
    """CPU seconds of the session's processes, exited children included."""
    total = 0
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:
                field = file.read().rsplit(")", 1)[1].split()
        except OSError:
            continue
        if int(field[3]) == group:
            total += sum(map(int, field[11:15]))
    return total / TICK


def taken():
    """CPU seconds that anybody has had of the two CPUs so far, interrupts and the hypervisor included."""
    with open("/proc/stat", encoding="ascii") as file:
        fields = [line.split() for line in file if line.startswith(("cpu0 ", "cpu1 "))]
    return sum(int(field[i]) for field in fields for i in (1, 2, 3, 6, 7, 8)) / TICK


def reaped():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def run(command, cpus, sampled):
    before, all_before = reaped(), taken()
    start = time.perf_counter()
    job = subprocess.Popen(["taskset", "-c", cpus, "sh", "-c", command], start_new_session=True,
                           stdout=subprocess.DEVNULL)
    profile, last, used = [], start, 0.0
    while sampled:
        try:
            job.wait(timeout=0.25)
            break
        except subprocess.TimeoutExpired:
            now, total = time.perf_counter(), busy(job.pid)
            profile.append((now - last, max(0.0, total - used) / (now - last)))
            last, used = now, max(used, total)
    job.wait()
    took = time.perf_counter() - start
    OTHERS.append((taken() - all_before - (reaped() - before)) / (2 * took))
    rest = took - (last - start)
    if sampled and rest > 0:  # what is left of the work, in what is left of the time
        profile.append((rest, max(0.0, reaped() - before - used) / rest))
    return took, profile


def main():
    os.chdir(tempfile.mkdtemp())
    subprocess.run("seq 1 16000000 > big; shuf -i 1-6000000 > text", shell=True, check=True)
    errors = []
    print("| program | on 2 CPUs, s | on 1 predicted | measured | error |\n|---|---|---|---|---|")
    for name, command in PROGRAMS.items():
        turns = []
        for _ in range(TURNS):
            took, profile = run(command, "0,1", True)
            turns.append((took, sum(dt * max(1.0, cores) for dt, cores in profile),
                          run(command, "0", False)[0]))
        wide, predicted, narrow = map(statistics.median, zip(*turns))
        errors.append(abs(predicted / narrow - 1))
        print(f"| {name} | {wide:.2f} | {predicted:.2f} | {narrow:.2f} | "
              f"{100 * (predicted / narrow - 1):+.1f} % |", flush=True)
    print(f"\nothers took {100 * statistics.mean(OTHERS):.1f} % of the CPUs, "
          f"{100 * max(OTHERS):.1f} % at most in a run")
    print(f"mean |error| {100 * statistics.mean(errors):.1f} %, worst {100 * max(errors):.1f} %")
    return 0


sys.exit(main())
