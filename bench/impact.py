"""Chapter on the slowdown of a job by tracking."""
import mmap
import os
import statistics
import subprocess
import time

from common import ENV, HERE, PYTHON, RT, compiled, say, work

# A process with 1 GiB in small pages, and a loop that faults pages in, or maps and unmaps them. It counts its turns in
# a shared page.
JOB = r"""
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <fcntl.h>
#include <sys/mman.h>
int main(int argc, char **argv)
{
    volatile uint64_t *turns = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED,
                                    open(argv[2], O_RDWR), 0);
    size_t ballast = 1u << 30, piece = 1u << 20;
    int map = !strcmp(argv[1], "mmap");
    char *big = mmap(0, ballast, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), *p;
    madvise(big, ballast, MADV_NOHUGEPAGE);
    memset(big, 1, ballast);
    for (;; ++*turns) {
        if (map) {
            p = mmap(0, 16384, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
            *p = 1;
            munmap(p, 16384);
        } else {
            for (size_t at = 0; at < piece; at += 4096)
                big[at] = 1;
            madvise(big, piece, MADV_DONTNEED);
        }
    }
}
"""
ROUNDS = 3
# Samples per second -> window in s. The lowest rate needs a longer window, which then contains several ticks.
RATES = {1: 2.5, 10: 1.0, 100: 1.0}


def turns_a_second(page, window):
    before, start = page[0], time.monotonic()
    time.sleep(window)
    return (page[0] - before) / (time.monotonic() - start)


def tracked(watcher, page, window):
    """Turns per second while the watcher runs, measured 0.8 s after its start."""
    process = subprocess.Popen(watcher, env=ENV, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    time.sleep(0.8)
    rate = turns_a_second(page, window)
    process.kill()
    process.wait()
    return rate


def slow_down(program, kind):
    path = os.path.join(work, "turns")
    with open(path, "wb") as file:
        file.write(bytes(4096))
    job = subprocess.Popen([program, kind, path])
    with open(path, "r+b") as file:
        page = memoryview(mmap.mmap(file.fileno(), 4096)).cast("Q")
    while page[0] == 0:
        time.sleep(0.05)
    for hz, window in RATES.items():
        ours, pss = [], []
        for turn in range(ROUNDS):
            state = os.path.join(work, f"slow-{kind}-{hz}-{turn}")
            before = turns_a_second(page, window)
            mine = tracked([RT, "attach", "-q", "--no-discovery", "-i", f"{1 / hz}", "--recording",
                            state, str(job.pid)], page, window)
            between = turns_a_second(page, window)
            theirs = tracked([PYTHON, os.path.join(HERE, "peers.py"), "pss", str(job.pid), str(hz)],
                             page, window)
            after = turns_a_second(page, window)
            ours.append(2 * mine / (before + between))
            pss.append(2 * theirs / (between + after))
        a, b = statistics.median(ours), statistics.median(pss)
        say(f"| {kind} | {hz} Hz | {a:.3f} | {b:.3f} | {a / b:.2f} |")
    job.kill()
    job.wait()


def impact():
    program = compiled("impact", JOB)
    say("## What tracking costs the job")
    say()
    say("Speed of a tracked job, divided by its speed just before and after without tracking (medians of"
        f" {ROUNDS} turns). The job holds 1 GiB in 4 KiB pages. One job causes page faults all the time, the other maps"
        " and unmaps memory. The peer reads PSS at each tick, as other tools that report PSS do.")
    say()
    say("| job | ticks | ours | PSS at every tick | ours/peer |")
    say("|---|---|---|---|---|")
    for kind in ("page faults", "mmap"):
        slow_down(program, kind)
    say()
