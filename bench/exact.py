"""Chapters: totals of CPU and peaks of memory against the truth, ours and the peers' in one execution."""
import csv
import json
import os
import subprocess
import sys
import tempfile
import time

from common import (BURN, ENV, HERE, PYTHON, RT, compiled, has_sibling, met, say, sibling, work)

INTERVALS = ("0.1", "1", "5")
WATCHERS = {"procfs": "Python, procfs", "peer_psutil": "Python, psutil", "psutil": "psutil loop"}
QUICK_S = 10.4  # a run starts with ticks every 200 ms
MAKEFILE = """
SOURCE := {root}/src
FILES := $(wildcard $(SOURCE)/base/*.c $(SOURCE)/probe/*.c $(SOURCE)/probe/linux/*.c $(SOURCE)/sample/*.c)
all: $(patsubst $(SOURCE)/%.c,out/%.o,$(FILES))
out/%.o: $(SOURCE)/%.c
	@mkdir -p $(@D)
	@cc -std=gnu11 -D_GNU_SOURCE -O2 -I$(SOURCE) -I{root}/include -c -o $@ $<
"""
DAEMON = """
import os
r, w = os.pipe() # its end tells that the daemon ended
os.set_inheritable(w, True)
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.execv(BURN, [BURN, "1.5"])
    os._exit(0)
os.close(w)
os.wait()
os.read(r, 1)
"""
THREADS = """
import subprocess
from concurrent.futures import ThreadPoolExecutor
list(ThreadPoolExecutor(2).map(lambda i: subprocess.run([BURN, "0.5"]), range(8)))
"""
UNWAITED = """
import os, signal
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
for i in range(20):
    p = os.fork()
    if p == 0:
        os.execv(BURN, [BURN, "0.1"])
    try:
        os.waitpid(p, 0)
    except ChildProcessError:
        pass
"""
# Peaks: a spike of 600 MiB for 300 ms; 1 GiB that eight forked workers share.
SPIKE = r"""
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>
int main(void)
{
    size_t n = 600u << 20;
    usleep(700000);
    char *p = mmap(0, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memset(p, 1, n);
    usleep(300000);
    munmap(p, n);
    usleep(700000);
}
"""
WORKERS = r"""
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>
#include <sys/wait.h>
int main(void)
{
    size_t n = 1u << 30;
    char *p = mmap(0, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memset(p, 1, n);
    for (int i = 0; i < 8; i++)
        if (fork() == 0) {
            for (size_t at = 0; at < n; at += 4096)
                (void) *(volatile char *) (p + at);
            sleep(3);
            _exit(0);
        }
    while (wait(0) > 0)
        ;
}
"""


def watchers(pid, folder):
    """The peers, attached and looking."""
    found = {}
    for name, label in WATCHERS.items():
        found[label] = subprocess.Popen(
            [PYTHON, os.path.join(HERE, "peers.py"), "watch", name, str(pid)], env=ENV,
            stdout=subprocess.PIPE, text=True)
    for process in found.values():
        process.stdout.readline()
    if has_sibling():
        path = os.path.join(folder, "sibling.csv")
        found["sibling"] = subprocess.Popen(
            sibling("-i", 1, "-f", "csv", "-o", path, "-p", pid), env=ENV,
            stderr=subprocess.DEVNULL, cwd=folder)
        while not os.path.exists(path) or open(path, encoding="utf-8").read().count("\n") < 2:
            time.sleep(0.05)
    return found


def collect(found, folder):
    """CPU s and peak MiB of each peer. The sibling counts from when it was attached."""
    result = {}
    for label, process in found.items():
        process.terminate()
        if label == "sibling":
            process.wait()
            with open(os.path.join(folder, "sibling.csv"), encoding="utf-8", newline="") as file:
                rows = [r for r in csv.DictReader(file) if r["process_utime"]]
            result[label] = (sum(float(r["process_utime"]) + float(r["process_stime"]) for r in rows),
                             max((float(r["process_memory_mib"] or 0) for r in rows), default=0))
        else:
            cpu, memory = process.communicate()[0].split()[-2:]
            result[label] = (float(cpu), float(memory))
    return result


def execute(command, interval, peers, late=False):
    """Truth, our summary, and figures of the peers, of one execution. A late job starts after the quick
    ticks."""
    folder = tempfile.mkdtemp(dir=work)
    os.mkfifo(os.path.join(folder, "go"))
    summary, clock = os.path.join(folder, "summary.json"), os.path.join(folder, "time")
    timed = ["/usr/bin/time", "-o", clock, "-f", "%U %S %M"] if peers else []
    start = time.monotonic()
    run = subprocess.Popen([RT, "run", "-q", "--no-discovery", "--no-recording", "-i", interval,
                            "--summary-json", summary, "--", *timed, sys.executable,
                            os.path.join(HERE, "truth.py"), folder, "1.3" if peers else "0",
                            *command], env=ENV, cwd=folder)
    while not os.path.exists(os.path.join(folder, "pid")):
        time.sleep(0.02)
    with open(os.path.join(folder, "pid"), encoding="ascii") as file:
        pid = int(file.read())
    found = watchers(pid, folder) if peers else {}
    if late:
        time.sleep(max(0.0, start + QUICK_S - time.monotonic()))
    with open(os.path.join(folder, "go"), "w", encoding="ascii") as file:
        file.write("go\n")
    while not os.path.exists(os.path.join(folder, "truth")) and run.poll() is None:
        time.sleep(0.05)
    time.sleep(1.1 if peers else 0)
    figures = collect(found, folder)
    assert run.wait() == 0, command
    with open(os.path.join(folder, "truth"), encoding="ascii") as file:
        truth, before = map(float, file.read().split())
    if peers:
        with open(clock, encoding="ascii") as file:
            user, system, most = map(float, file.read().split()[-3:])
        figures["GNU time"] = (user + system, most / 1024)
    with open(summary, encoding="utf-8") as file:
        return truth, before, json.load(file), figures


def percent(value, truth):
    return f"{100 * (value / truth - 1):+.1f} %"


def names():
    return [*WATCHERS.values(), *(["sibling"] if has_sibling() else []), "GNU time"]


def accuracy(label, command, extra=0.0):
    """extra: CPU s that the kernel drops, known from how the job is made."""
    ours, worst = {}, 0.0
    for interval in INTERVALS:
        truth, before, summary, peers = execute(command, interval, interval == "1",
                                                late=interval == "5")
        truth += extra
        value = summary["totals"]["cpu_s"]["value"]
        ours[interval] = percent(value, truth)
        worst = max(worst, abs(value / truth - 1))
        if peers:
            shown, figures = truth, {
                name: percent(cpu, truth - before if name == "sibling" else truth)
                for name, (cpu, _) in peers.items()}
    say(f"| {label} | {shown:.2f} | " + " | ".join(ours[i] for i in INTERVALS)
        + f" | {met(worst <= 0.01)} | " + " | ".join(figures.get(n, "-") for n in names()) + " |")


def totals():
    burn = compiled("burn", BURN)
    makefile = os.path.join(work, "Makefile")
    with open(makefile, "w", encoding="utf-8") as file:
        file.write(MAKEFILE.format(root=os.path.dirname(HERE)))

    def script(text):
        return [sys.executable, "-c", f"BURN = {burn!r}\n{text}"]

    say("## CPU totals")
    say()
    say("Difference to `getrusage` of the process that ran the job, within the same execution; for what"
        " the kernel drops or hands to another parent, to what the job was made to use. Ours at three"
        " intervals (at 5 s the job starts after the quick ticks of a run's first ten seconds); the"
        " target is 1 % at all three. The peers look at 1 Hz at the same execution as ours at 1 s, were"
        " attached and had looked before the job's work began, and had another look after its end, so"
        " this is their best case. The sibling counts from when it was attached. GNU time wraps the"
        " job; pidstat has no total of a tree.")
    say()
    say("| job | truth s | ours 0.1 s | 1 s | 5 s | target | " + " | ".join(names()) + " |")
    say("|---" * (6 + len(names())) + "|")
    accuracy("2000 x /bin/true",
             ["sh", "-c", "i=0; while [ $i -lt 2000 ]; do /bin/true; i=$((i+1)); done"])
    accuracy("400 x 50 ms, 4 at a time", ["sh", "-c", f"seq 400 | xargs -P4 -I{{}} {burn} 0.05"])
    accuracy("24 x 1.5 s, 2 at a time", ["sh", "-c", f"seq 24 | xargs -P2 -I{{}} {burn} 1.5"])
    accuracy("make -j2 of this project's core", ["make", "-s", "-B", "-j2", "-f", makefile])
    accuracy("double-forked, 1.5 s", script(DAEMON), 1.5)
    accuracy("children of threads, 8 x 0.5 s", script(THREADS))
    accuracy("SIGCHLD ignored, 20 x 0.1 s", script(UNWAITED), 2.0)
    say()


def peak(label, command, truth):
    _, _, summary, peers = execute(command, "1", True, late=True)
    value = summary["totals"]["peak_memory_mib"]["value"]
    say(f"| {label} | {truth} | {value:.0f} ({percent(value, truth)}) | "
        f"{met(abs(value / truth - 1) <= 0.02)} | " + " | ".join(
            f"{peers[n][1]:.0f} ({percent(peers[n][1], truth)})" for n in names()) + " |")


def peaks():
    say("## Peaks of memory")
    say()
    say("MiB at the interval of 1 s, after a run's quick ticks; truth is what the job was made to hold"
        " (the interpreter that waits for it adds about 10). The target is 2 %. GNU time's figure is the"
        " largest process.")
    say()
    say("| job | truth | ours | target | " + " | ".join(names()) + " |")
    say("|---" * (4 + len(names())) + "|")
    peak("600 MiB for 300 ms", [compiled("spike", SPIKE)], 600)
    peak("1 GiB shared by 8 forked workers", [compiled("workers", WORKERS)], 1024)
    say()
