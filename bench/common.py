"""Functions and data that the chapters of the benchmarks share: the compared programs, jobs, and the written page."""
import atexit
import os
import shutil
import subprocess
import sys
import tempfile
import time

RT, TICK = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
PYTHON = os.path.abspath(sys.argv[3])  # Python with the original package and psutil
SIBLING = os.path.abspath(sys.argv[4])
HERE = os.path.dirname(os.path.abspath(__file__))
PAGE = os.environ.get("BENCH_PAGE", "docs/performance.md")
ENV = {"PATH": os.environ["PATH"], "HOME": os.environ.get("HOME", "/"), "LC_ALL": "C.UTF-8"}

TREE = r"""
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#include <sys/prctl.h>
#include <signal.h>
int main(int argc, char **argv)
{
    int idle = atoi(argv[1]), active = atoi(argv[2]);
    for (int i = 0; i < idle + active; i++)
        if (fork() == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            while (i >= active)
                pause();
            for (;;) {
                struct timespec nap = {0, 200000000};
                for (volatile int k = 0; k < 20000; k++)
                    ;
                nanosleep(&nap, NULL);
            }
        }
    for (;;)
        pause();
}
"""
# Uses as many seconds of CPU time as its last argument.
BURN = r"""
#include <stdlib.h>
#include <time.h>
int main(int argc, char **argv)
{
    struct timespec t;
    do {
        for (volatile int i = 0; i < 20000; i++)
            ;
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    } while (t.tv_sec + t.tv_nsec * 1e-9 < atof(argv[argc - 1]));
}
"""
# Uses a CPU all the time, and takes one page fault per millisecond.
PAGER = r"""
#include <sys/mman.h>
#include <time.h>
int main(void)
{
    volatile char *page = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (;;) {
        struct timespec a, b;
        madvise((void *) page, 4096, MADV_DONTNEED);
        *page = 1;
        clock_gettime(CLOCK_MONOTONIC, &a);
        do
            clock_gettime(CLOCK_MONOTONIC, &b);
        while ((b.tv_sec - a.tv_sec) * 1000000000L + b.tv_nsec - a.tv_nsec < 1000000);
    }
}
"""
work = tempfile.mkdtemp(prefix="bench-")
atexit.register(shutil.rmtree, work, ignore_errors=True)
CHAPTERS = sys.argv[5:]  # chapters to measure; empty: all
out = []
noted = {}


def say(line=""):
    out.append(line)
    print(line, flush=True)
    if not CHAPTERS:  # single chapters are written when they are complete: see splice()
        with open(PAGE, "w", encoding="utf-8") as file:
            file.write("\n".join(out) + "\n")


def sections(text):
    """Split a page into {heading: text}. Text before the first heading has the key ""."""
    found, heading = {"": []}, ""
    for line in text.splitlines():
        if line.startswith("## "):
            heading = line
            found[heading] = []
        found[heading].append(line)
    return {key: "\n".join(lines).strip("\n") for key, lines in found.items()}


def splice():
    """Replace the sections of the page that are in `out`. Other sections stay as they are."""
    with open(PAGE, encoding="utf-8") as file:
        page = sections(file.read())
    page.update({heading: text for heading, text in sections("\n".join(out)).items() if text})
    out.clear()
    with open(PAGE, "w", encoding="utf-8") as file:
        file.write("\n\n".join(text for text in page.values() if text) + "\n")


def compiled(name, text, *flags):
    path = os.path.join(work, name)
    subprocess.run(["cc", "-O1", *flags, "-x", "c", "-o", path, "-"], input=text, text=True,
                   check=True)
    return path


def offline():
    """Prefix that runs a command without a network, so that it cannot reach metadata services; None if this machine
    does not permit it."""
    if "offline" not in noted:
        tries = [["unshare", "-n"], ["unshare", "-rn"]]
        noted["offline"] = next((t for t in tries if subprocess.run(
            [*t, "true"], capture_output=True, check=False).returncode == 0), None)
    return noted["offline"]


def has_sibling():
    return os.access(SIBLING, os.X_OK) and offline() is not None


def sibling(*arguments):
    return [*offline(), SIBLING, *map(str, arguments)]


def about_sibling():
    if has_sibling():
        version = subprocess.run([SIBLING, "--version"], capture_output=True, text=True,
                                 check=True).stdout.split()[-1]
        return f"`resource-tracker` {version} from the cargo registry, without a network"
    return ("left out, because " + ("it could not be installed from the cargo registry"
                                    if not os.access(SIBLING, os.X_OK)
                                    else "no network namespace can be made here to keep it offline"))


def cpu_ns(pid):
    """CPU clock of a process in ns; 0 if it has ended."""
    try:
        return time.clock_gettime_ns(((~pid) << 3) | 2)
    except OSError:
        return 0


def family(pid):
    """Pids of a process and its descendants."""
    parents = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/stat", encoding="ascii", errors="replace") as file:
                parents.setdefault(int(file.read().rsplit(")", 1)[1].split()[1]), []).append(
                    int(name))
        except OSError:
            continue
    found = [pid]
    for member in found:
        found.extend(parents.get(member, []))
    return found


def rss_mib(pid):
    try:
        with open(f"/proc/{pid}/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE") / 2**20
    except OSError:
        return 0.0


def met(is_met):
    return "met" if is_met else "MISSED"
