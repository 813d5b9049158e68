"""Chapters that compare CPU totals and memory peaks of this tracker and its peers with the truth. All figures of a row
are from the same execution of a job."""
import csv
import json
import os
import signal
import subprocess
import sys
import tempfile
import time

from common import (BURN, ENV, HERE, PYTHON, RT, compiled, has_sibling, met, say, sibling, work)

INTERVALS = ("0.1", "1", "5")
WATCHERS = {"procfs": "Python, procfs", "peer_psutil": "Python, psutil", "psutil": "psutil loop"}
PSRECORD = os.path.join(os.path.dirname(PYTHON), "psrecord")
QUICK_S = 10.4  # length of the start of a run, in which ticks are 200 ms apart
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
# Shells start processes and end at once, which makes the processes orphans. Two orphans live at a time.
ORPHANS = """
import os, subprocess
for pair in range(10):
    r, w = os.pipe() # its end tells that both ended
    for i in range(2):
        subprocess.run(["sh", "-c", '"$0" 0.5 &', BURN], pass_fds=[w])
    os.close(w)
    os.read(r, 1)
    os.close(r)
"""
# Runs a command and writes the use that wait4() returns: CLOCKED FOLDER GROUP CMD…; GROUP: a control group to enter,
# or -. The program is small, so that it uses almost no CPU time after it has taken the figure.
CLOCKED = r"""
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <sys/resource.h>
#include <sys/wait.h>
int main(int argc, char **argv)
{
    struct rusage u;
    int status, go;
    char text[512];
    FILE *f;
    if (strcmp(argv[2], "-") != 0) {
        snprintf(text, sizeof(text), "%s/cgroup.procs", argv[2]);
        f = fopen(text, "w");
        fprintf(f, "0");
        fclose(f);
    }
    pid_t pid = fork();
    if (pid == 0) {
        execvp(argv[3], argv + 3);
        _exit(127);
    }
    if (wait4(pid, &status, 0, &u) != pid || status != 0)
        return 1;
    snprintf(text, sizeof(text), "%s/clocked", argv[1]);
    f = fopen(text, "w");
    fprintf(f, "%ld.%06ld %ld.%06ld\n", u.ru_utime.tv_sec, u.ru_utime.tv_usec, u.ru_stime.tv_sec,
            u.ru_stime.tv_usec);
    return fclose(f) != 0;
}
"""
FAULTS = r"""
#include <sys/mman.h>
int main(void)
{
    size_t n = 64u << 20;
    char *p = mmap(0, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    madvise(p, n, MADV_NOHUGEPAGE);
    for (int i = 0; i < 60; i++) {
        for (size_t at = 0; at < n; at += 4096)
            p[at] = 1;
        madvise(p, n, MADV_DONTNEED);
    }
}
"""
LOOPBACK = """
import socket, threading
listener = socket.create_server(("127.0.0.1", 0))
sender = socket.create_connection(listener.getsockname())
receiver, _ = listener.accept()
def read():
    while receiver.recv(1 << 20):
        pass
thread = threading.Thread(target=read)
thread.start()
data = bytes(1 << 20)
for i in range(4000):
    sender.sendall(data)
sender.close()
thread.join()
"""
# Jobs with memory peaks: a spike of 600 MiB for 300 ms; 1 GiB that eight forked workers share; 512 MiB of which a
# child writes half; 512 MiB of shared memory that eight processes map.
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


COPIES = r"""
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>
#include <sys/wait.h>
int main(void)
{
    size_t n = 512u << 20;
    char *p = mmap(0, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    madvise(p, n, MADV_NOHUGEPAGE);
    memset(p, 1, n);
    sleep(2);
    if (fork() == 0) {
        memset(p, 2, n / 2);
        sleep(3);
        _exit(0);
    }
    wait(0);
}
"""
SEGMENT = r"""
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>
#include <sys/wait.h>
int main(void)
{
    size_t n = 512u << 20;
    char *p = mmap(0, n, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    memset(p, 1, n);
    for (int i = 0; i < 7; i++)
        if (fork() == 0) {
            for (size_t at = 0; at < n; at += 4096)
                p[at] = 2;
            sleep(3);
            _exit(0);
        }
    while (wait(0) > 0)
        ;
}
"""


def watchers(pid, folder):
    """Start the peers, attached to the process `pid`. Returns {label: process} once all of them are sampling."""
    found = {}
    for name, label in WATCHERS.items():
        found[label] = subprocess.Popen(
            [PYTHON, os.path.join(HERE, "peers.py"), "watch", name, str(pid)], env=ENV,
            stdout=subprocess.PIPE, text=True)
    for process in found.values():
        process.stdout.readline()
    if os.access(PSRECORD, os.X_OK):
        path = os.path.join(folder, "psrecord.txt")
        found["psrecord"] = subprocess.Popen(
            [PSRECORD, str(pid), "--interval", "1", "--include-children", "--log", path], env=ENV,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while not os.path.exists(path) and found["psrecord"].poll() is None:
            time.sleep(0.05)
        time.sleep(0.2)
    if has_sibling():
        path = os.path.join(folder, "sibling.csv")
        found["sibling"] = subprocess.Popen(
            sibling("-i", 1, "-f", "csv", "-o", path, "-p", pid), env=ENV,
            stderr=subprocess.DEVNULL, cwd=folder)
        while not os.path.exists(path) or open(path, encoding="utf-8").read().count("\n") < 2:
            time.sleep(0.05)
    return found


def collect(found, folder):
    """Stop the peers. Returns {label: (CPU time in s, peak memory in MiB)}. The figures of the sibling and of psrecord
    start when they were attached."""
    result = {}
    for label, process in found.items():
        process.send_signal(signal.SIGINT if label == "psrecord" else signal.SIGTERM)
        if label == "psrecord":
            process.wait()
            with open(os.path.join(folder, "psrecord.txt"), encoding="utf-8") as file:
                rows = [list(map(float, line.split())) for line in file if line.strip() and line[0] != "#"]
            # psrecord logs CPU time as a percentage of the time since its last row.
            result[label] = (sum((row[0] - last[0]) * row[1] / 100 for last, row in zip(rows, rows[1:])),
                             max((row[2] for row in rows), default=0))
        elif label == "sibling":
            process.wait()
            with open(os.path.join(folder, "sibling.csv"), encoding="utf-8", newline="") as file:
                rows = [r for r in csv.DictReader(file) if r["process_utime"]]
            result[label] = (sum(float(r["process_utime"]) + float(r["process_stime"]) for r in rows),
                             max((float(r["process_memory_mib"] or 0) for r in rows), default=0))
        else:
            cpu, memory = process.communicate()[0].split()[-2:]
            result[label] = (float(cpu), float(memory))
    return result


def machine_steal_s():
    """Steal time of all CPUs since boot, in s."""
    with open("/proc/stat", encoding="ascii") as file:
        return int(file.readline().split()[8]) / os.sysconf("SC_CLK_TCK")


class Group:
    """A separate control group for a job, for its CPU counter. Needs cgroup version 1 and root; else `path` is
    None."""

    def __init__(self):
        self.path = f"/sys/fs/cgroup/cpuacct/bench-{os.getpid()}"
        try:
            os.mkdir(self.path)
        except OSError:
            self.path = None

    def used_s(self):
        with open(os.path.join(self.path, "cpuacct.usage"), encoding="ascii") as file:
            return int(file.read()) / 1e9

    def remove(self):
        if self.path:
            os.rmdir(self.path)


def execute(command, interval, peers, late=False):
    """Run a job once. Returns the truth, the summary of this tracker and the figures of the peers. With `late`, the
    job starts after the quick ticks at the start of the run."""
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
    return [*WATCHERS.values(), *(["psrecord"] if os.access(PSRECORD, os.X_OK) else []),
            *(["sibling"] if has_sibling() else []), "GNU time"]


def accuracy(label, command, extra=0.0):
    """Write one row. extra: CPU time in s that the kernel does not count, known from the construction of the job."""
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
                name: percent(cpu, truth - before if name in ("psrecord", "sibling") else truth)
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
    say("Difference from the true CPU time of the same execution. The truth is `getrusage` of the process "
        "that ran the job; for processes that the kernel drops or gives to another parent, it is what the job "
        "was made to use.")
    say()
    say("- *Ours* has three intervals. At 5 s the job starts after the quick ticks of a run's first ten "
        "seconds. The target is 1 % at all three.")
    say("- The peers sample at 1 Hz the execution that ours tracks at 1 s. They were attached and had sampled "
        "before the job's work began, and sampled once more after its end. This is their best case.")
    say("- The sibling and psrecord count from when they were attached. psrecord logs percentages, which are "
        "added up over time.")
    say("- GNU time wraps the job. pidstat has no total of a tree.")
    say()
    say("| job | truth s | ours 0.1 s | 1 s | 5 s | target | " + " | ".join(names()) + " |")
    say("|---" * (6 + len(names())) + "|")
    accuracy("2000 x /bin/true",
             ["sh", "-c", "i=0; while [ $i -lt 2000 ]; do /bin/true; i=$((i+1)); done"])
    accuracy("a storm: 4 shells start 1000 x /bin/true each",
             ["sh", "-c", "for j in 1 2 3 4; do (i=0; while [ $i -lt 1000 ]; do /bin/true; i=$((i+1)); done) & done;"
              " wait"])
    accuracy("400 x 50 ms, 4 at a time", ["sh", "-c", f"seq 400 | xargs -P4 -I{{}} {burn} 0.05"])
    accuracy("24 x 1.5 s, 2 at a time", ["sh", "-c", f"seq 24 | xargs -P2 -I{{}} {burn} 1.5"])
    accuracy("make -j2 of this project's core", ["make", "-s", "-B", "-j2", "-f", makefile])
    accuracy("double-forked, 1.5 s", script(DAEMON), 1.5)
    accuracy("orphans, 20 x 0.5 s, 2 at a time", script(ORPHANS), 10.0)
    accuracy("children of threads, 8 x 0.5 s", script(THREADS))
    accuracy("SIGCHLD ignored, 20 x 0.1 s", script(UNWAITED), 2.0)
    say()
    kernel_table()


def clocked(command, interval):
    """Run a job once, with several clocks. Returns (user s and system s of wait4(), s of GNU time, s of the control
    group or None, steal s, totals of this tracker)."""
    folder, group = tempfile.mkdtemp(dir=work), Group()
    summary, clock = os.path.join(folder, "summary.json"), os.path.join(folder, "time")
    wait = ["sh", "-c", f'sleep {QUICK_S}; exec "$@"', "sh"] if interval == "5" else []
    steal = machine_steal_s()
    try:
        subprocess.run([RT, "run", "-q", "--no-discovery", "--no-recording", "-i", interval,
                        "--summary-json", summary, "--", *wait, "/usr/bin/time", "-o", clock, "-f",
                        "%U %S", compiled("clocked", CLOCKED), folder, group.path or "-", *command],
                       env=ENV, cwd=folder, check=True)
        steal = machine_steal_s() - steal
        group_s = group.used_s() if group.path else None
    finally:
        group.remove()
    with open(os.path.join(folder, "clocked"), encoding="ascii") as file:
        user, system = map(float, file.read().split())
    with open(clock, encoding="ascii") as file:
        timed = sum(map(float, file.read().split()))
    with open(summary, encoding="utf-8") as file:
        return user, system, timed, group_s, steal, json.load(file)["totals"]


def kernel_work(label, command):
    """Write one row about a job that makes the kernel work, at all intervals, with the figures of the other clocks."""
    ours, steals, worst = [], [], 0.0
    for interval in INTERVALS:
        user, system, timed, group_s, steal, totals_of = clocked(command, interval)
        truth, cpu = user + system, totals_of["cpu_s"]
        steals.append(f"{steal:.2f}")
        ours.append(percent(cpu["value"], truth) + (
            "" if cpu["quality"] == "exact" else f" ({cpu['quality']})"))
        worst = max(worst, abs(cpu["value"] / truth - 1))
        if interval == "1":
            shown = [f"{user:.2f} + {system:.2f}", percent(timed, truth),
                     percent(group_s, truth) if group_s else "-",
                     f"{totals_of['cpu_user_s']['value']:.2f} + {totals_of['cpu_system_s']['value']:.2f}"]
    say(f"| {label} | {shown[0]} | " + " | ".join(ours) + f" | {met(worst <= 0.01)} | {shown[3]} | "
        + f"{shown[1]} | {shown[2]} | " + " / ".join(steals) + " |")


def kernel_table():
    data = os.path.join(work, "data")
    say("Work of the kernel. Here the perf clock that the job inherits is wrong by 20 % and more, in both directions.")
    say()
    say("- *Truth* is user + system time from `wait4` inside the run. *Ours at 1 s* is the same sum of the "
        "same execution.")
    say("- *GNU time* wraps the job inside the run. *Group* is the CPU counter of the job's own control group.")
    say("- *Steal* is the time that the hypervisor took from all CPUs during each of the three runs.")
    say("- A figure is `exact` unless `at_least` follows it. With `at_least`, other programs started "
        "processes at the same time, so that children that no process waits for could not be excluded.")
    say()
    say("| job | truth s | ours 0.1 s | 1 s | 5 s | target | ours at 1 s | GNU time | group | steal s |")
    say("|---" * 10 + "|")
    kernel_work("`dd` writes 800 MB, then fsync, 3 x",
                ["sh", "-c", f"for i in 1 2 3; do dd if=/dev/zero of={data} bs=1M count=800 conv=fsync"
                 " status=none; done"])
    kernel_work("`dd` writes 10000 x 64 KiB, each to the disk",
                ["dd", "if=/dev/zero", f"of={data}.sync", "bs=64k", "count=10000", "oflag=dsync",
                 "status=none"])
    again = "i=0; while [ $i -lt {} ]; do i=$((i+1));"
    kernel_work("`dd` reads 800 MB from the cache, 40 x",
                ["sh", "-c", again.format(40) + f" dd if={data} of=/dev/null bs=64k status=none; done"])
    kernel_work("`dd` reads 800 MB from the disk, 10 x",
                ["sh", "-c", again.format(10) + f" dd if={data} of=/dev/null bs=1M iflag=direct status=none; done"])
    os.remove(data)
    kernel_work("4 GB through two pipes",
                ["sh", "-c", "dd if=/dev/zero bs=64k count=64000 status=none | cat | cat >/dev/null"])
    kernel_work("4000 forks", ["sh", "-c", "i=0; while [ $i -lt 4000 ]; do (:); i=$((i+1)); done"])
    kernel_work("1 million page faults", [compiled("faults", FAULTS)])
    kernel_work("4 GB over the loopback network", [sys.executable, "-c", LOOPBACK])
    say()


def peak(label, command, truth):
    _, _, summary, peers = execute(command, "1", True, late=True)
    total = summary["totals"]["peak_memory_mib"]
    value = total["value"]
    say(f"| {label} | {truth} | {value:.0f} ({percent(value, truth)}, {total['quality']}) | "
        f"{met(abs(value / truth - 1) <= 0.02)} | " + " | ".join(
            f"{peers[n][1]:.0f} ({percent(peers[n][1], truth)})" for n in names()) + " |")


def peaks():
    say("## Peaks of memory")
    say()
    say("MiB, sampled at 1 Hz after a run's quick ticks. The truth is what the job was made to hold (the interpreter that"
        " waits for it adds about 10 MiB). The target is 2 %. GNU time's figure is the largest process. `estimated`:"
        " memory in tmpfs and shared mappings is counted for the machine, and may include memory of other programs.")
    say()
    say("| job | truth | ours | target | " + " | ".join(names()) + " |")
    say("|---" * (4 + len(names())) + "|")
    peak("600 MiB for 300 ms", [compiled("spike", SPIKE)], 600)
    peak("1 GiB shared by 8 forked workers", [compiled("workers", WORKERS)], 1024)
    peak("512 MiB, of which a forked child writes half", [compiled("copies", COPIES)], 768)
    peak("512 MiB of shared memory, mapped by 8", [compiled("segment", SEGMENT)], 512)
    say()
