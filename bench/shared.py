"""Chapter on memory that processes share: rows and totals of jobs whose workers are forks, compared with full readings of
all processes while these are stopped. Each job runs alone, beside a neighbour that takes and frees 2 GiB, and beside
a build.

Of the environment: BENCH_JOBS and BENCH_BESIDE are parts of names, of jobs and of neighbours; BENCH_TIMES is how often each
job runs; with BENCH_SHOW, also good rows with a large error are printed."""
import json
import os
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time

from common import ENV, HERE, PYTHON, RT, family, say, work
from exact import MAKEFILE

STOP_S = 0.9      # longer than a row takes, also on a busy machine
MARGIN_S = 0.15   # a row near the edge of a stop was perhaps not read during it
EXACT_SHARE = 0.02
MIB = 2**20
FORKS = """
import mmap, os, sys, time
from multiprocessing import Process, Pool, shared_memory
def fill(mib, value=1):
    data = bytearray(mib << 20)
    for i in range(0, len(data), 4096):
        data[i] = value
    return data
def start(n, work, *args):
    all = [Process(target=work, args=(k, *args)) for k in range(n)]
    for p in all:
        p.start()
    return all
def wait(all):
    for p in all:
        p.join()
"""
JOBS = {
    "400 MiB, 6 forks of 60": """
data = fill(400)
def work(k):
    own = fill(60); time.sleep(9)
wait(start(6, work))
""",
    "2,000 MiB, 6 forks of 300": """
data = fill(2000)
def work(k):
    own = fill(300); time.sleep(18)
wait(start(6, work))
""",
    "a pool of 8, 120 MB each": """
def work(i):
    x = b"x" * 120_000_000
    s = sum(range(3_000_000)); time.sleep(4); return s
with Pool(8) as p:
    p.map(work, range(8), chunksize=1)
""",
    "bursts of 100 MiB": """
data = fill(300)
def work(k):
    for i in range(8):
        own = fill(100); time.sleep(0.5 + k / 10); del own; time.sleep(0.3)
wait(start(4, work))
""",
    "copies of halves": """
data = fill(600)
def work(k):
    for i in range(0, len(data) // 2, 1 << 20):
        for j in range(i, i + (1 << 20), 4096):
            data[j] = 2
        time.sleep(0.03)
    time.sleep(3)
wait(start(3, work))
""",
    "forks that come later": """
data = fill(300)
def work(k):
    own = fill(40); time.sleep(8)
all = []
for k in range(8):
    all += start(1, work); time.sleep(0.9)
wait(all)
""",
    "forks that leave, and a parent that frees": """
data = fill(500)
def work(k):
    own = fill(60); time.sleep(3 + k)
all = start(6, work)
time.sleep(5)
data = fill(100)
wait(all)
""",
    "a memfd of 400 MiB": """
fd = os.memfd_create("x"); os.ftruncate(fd, 400 << 20)
def work(k):
    m = mmap.mmap(fd, 400 << 20)
    for i in range(0, (k + 1) * (100 << 20), 4096):
        m[i] = 1
        if i % (50 << 20) == 0:
            time.sleep(0.4)
    time.sleep(5)
wait(start(4, work))
""",
    "shared memory of 300 MiB": """
s = shared_memory.SharedMemory(create=True, size=300 << 20)
def work(k):
    own = fill(30)
    for i in range(0, 300 << 20, 4096):
        s.buf[i] = 1
    time.sleep(7)
wait(start(4, work)); s.close(); s.unlink()
""",
    "huge pages": """
def huge(mib):
    m = mmap.mmap(-1, mib << 20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    m.madvise(mmap.MADV_HUGEPAGE)
    for i in range(0, mib << 20, 4096):
        m[i] = 1
    return m
data = huge(400)
def work(k):
    for i in range(4):
        own = huge(80 + 20 * i); time.sleep(2); own.close()
wait(start(4, work))
""",
    "a loader: 8 workers, 500 MiB of objects": """
import queue, multiprocessing
data = [("%0900d" % i) for i in range(500_000)]
batches = multiprocessing.Queue(16)
def work(k):
    for n in range(10):
        total = sum(len(data[i]) for i in range(k, len(data), 16))
        s = shared_memory.SharedMemory(create=True, size=8 << 20)
        for i in range(0, 8 << 20, 4096):
            s.buf[i] = 1
        batches.put(s.name); s.close(); time.sleep(0.6)
all = start(8, work)
for n in range(80):
    s = shared_memory.SharedMemory(batches.get()); time.sleep(0.05); s.close(); s.unlink()
wait(all)
""",
}
GUNICORN = """
data = bytearray(300 << 20)
for i in range(0, len(data), 4096):
    data[i] = 1
import threading, time, os
kept = []
def grow():
    for i in range(8):
        kept.append(bytearray(b"x" * (5 << 20))); time.sleep(1)
def app(environ, respond):
    respond("200 OK", []); return [b""]
os.register_at_fork(after_in_child=lambda: threading.Thread(target=grow, daemon=True).start())
"""
JOBLIB = """
import numpy, time
from joblib import Parallel, delayed
big = numpy.ones(40_000_000)
def work(a, k):
    own = numpy.full(5_000_000, k, float); time.sleep(3); return float(a[:1000].sum() + own[0])
Parallel(n_jobs=4)(delayed(work)(big, k) for k in range(8))
"""
TORCH = """
import torch, time
from torch.utils.data import DataLoader, Dataset
class Data(Dataset):
    def __init__(self): self.rows = torch.ones(400, 250_000)
    def __len__(self): return 400
    def __getitem__(self, i): time.sleep(0.1); return self.rows[i] * 2
for batch in DataLoader(Data(), batch_size=8, num_workers=8): pass
"""
# A neighbour takes 2 GiB for 1.5 s and frees them for as long.
NEIGHBOUR = """
import time
while True:
    data = b"x" * (2 << 30); time.sleep(1.5); del data; time.sleep(1.5)
"""
BUILD = "while :; do make -s -B -j2 -f {}; done"


def jobs():
    found = {label: [sys.executable, "-c", FORKS + text] for label, text in JOBS.items()}
    app = os.path.join(work, "rows_app.py")
    with open(app, "w", encoding="ascii") as file:
        file.write(GUNICORN)
    extra = {
        "gunicorn, preloaded, 4 workers": ("gunicorn", [
            "timeout", "-s", "INT", "12", PYTHON, "-m", "gunicorn", "--preload", "-w", "4", "-b", "127.0.0.1:0",
            "--chdir", work, "rows_app:app"]),
        "joblib, 4 workers": ("joblib, numpy", [PYTHON, "-c", JOBLIB]),
        "PyTorch DataLoader, 8 workers": ("torch", [PYTHON, "-c", TORCH]),
    }
    for label, (module, command) in extra.items():
        if subprocess.run([PYTHON, "-c", f"import {module}"], capture_output=True, check=False).returncode == 0:
            found[label] = command
        else:
            say(f"({label}: not installed here)")
    return found


def status_of(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            return file.read().rsplit(")", 1)[1].split()[0]
    except OSError:
        return "X"


def pss_mib(pid):
    try:
        with open(f"/proc/{pid}/smaps_rollup", encoding="ascii") as file:
            return next(int(line.split()[1]) for line in file if line.startswith("Pss:")) / 1024
    except (OSError, StopIteration):
        return 0.0


def send(pids, number):
    for pid in pids:
        try:
            os.kill(pid, number)
        except OSError:
            pass


def stop(root):
    """Stop a process and its descendants. Returns their pids."""
    for _ in range(100):
        members = family(root)
        send(members, signal.SIGSTOP)
        # One that forked before it stopped has a child that is not listed yet.
        if all(status_of(p) in "TXZ" for p in members) and family(root) == members:
            return members
        time.sleep(0.005)
    send(members, signal.SIGCONT)
    return []


class Truth(threading.Thread):
    """Stops the job now and then, and reads all of its processes: (from, to, MiB), on the clock of the rows."""

    def __init__(self, tracker):
        """tracker: its pid."""
        super().__init__(daemon=True)
        self.tracker, self.stops, self.ended = tracker, [], threading.Event()

    def run(self):
        while not self.ended.wait(random.uniform(0.2, 1.2)):
            root = family(self.tracker)[1:2]
            if not root:
                continue
            members = stop(root[0])
            try:
                since = time.time()
                truth = sum(map(pss_mib, members))
                self.ended.wait(max(0.0, STOP_S - (time.time() - since)))
                self.stops.append((since, time.time(), truth))
            finally:
                send(members, signal.SIGCONT)


def track(command):
    """Run a job. Returns (stops, rows, summary)."""
    folder = tempfile.mkdtemp(dir=work)
    rows, summary = os.path.join(folder, "rows"), os.path.join(folder, "summary")
    with subprocess.Popen([RT, "run", "-q", "--no-discovery", "--recording", "none", "-i", "0.5", "-o", rows, "-f",
                           "jsonl", "--summary-json", summary, "--", *command], env=ENV, cwd=folder,
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as tracker:
        truth = Truth(tracker.pid)
        truth.start()
        tracker.wait()
        truth.ended.set()
        truth.join()
    with open(rows, encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    with open(summary, encoding="utf-8") as file:
        return truth.stops, rows, json.load(file)


def judge(value, least, most, truth):
    return abs(value / truth - 1) <= EXACT_SHARE or (least - 1 <= truth and (most is None or truth <= most + 1))


def checked(stops, rows):
    """(is good, error, width, has its value inside its bounds) of the rows that were read while the job was stopped."""
    found = []
    for since, until, truth in stops:
        for row in rows:
            value = row["process_memory_mib"]
            if value is None or not truth or not since + MARGIN_S / 10 < row["timestamp"] < until - MARGIN_S:
                continue
            least, most = value - row["process_memory_estimated_mib"], row["process_memory_at_most_mib"]
            found.append((judge(value, least, most, truth), value / truth - 1, ((most or value) - least) / truth,
                          least <= value <= (most or value), truth, value, least, most, row["timestamp"], since))
    return found


def measure(label, command, beside):
    stops, rows, summary = track(command)
    found, totals = checked(stops, rows), summary["totals"]
    truth = max((s[2] for s in stops), default=0)
    peak, least, most = (totals[f"peak_memory{key}_mib"] for key in ("", "_at_least", "_at_most"))
    request = ((summary.get("advice") or {}).get("memory") or {}).get("request_mib")
    good = [f for f in found if f[0]]
    for one in found:
        if not one[0] or not one[3] or (abs(one[1]) > 0.05 and "BENCH_SHOW" in os.environ):
            print("  row: truth {:.1f}, value {:.1f}, bounds {:.1f} to {}, at {} of {}".format(*one[4:]), file=sys.stderr)
    # The true peak may be between two stops.
    is_good = bool(truth) and judge(peak["value"] or 0, 0, most["value"], truth)
    say(f"| {label} | {beside} | {truth:.0f} | {peak['value'] or 0:.0f} | {least['value'] or 0:.0f} to "
        f"{'?' if most['value'] is None else format(most['value'], '.0f')} | {peak['quality']} | {request} | "
        f"{len(good)} of {len(found)} | {100 * max((abs(f[1]) for f in found), default=0):.1f} % | "
        f"{100 * statistics.median([f[2] for f in found] or [0]):.1f} % | "
        f"{'yes' if is_good and len(good) == len(found) and request and request >= truth else '**no**'} |")


def shared():
    say("## Memory that processes share")
    say()
    say("MiB. The job is stopped at random times, and all of its processes are read. *Truth* is the largest sum. A row that"
        " was read during a stop is good if it is within 2 % of the sum or its bounds contain it. *Width*: of the"
        " bounds of these rows, median.")
    say()
    say("| job | beside | truth | peak | bounds | quality | request | rows good | worst row | width | good |")
    say("|---" * 11 + "|")
    makefile = os.path.join(work, "Makefile.rows")
    with open(makefile, "w", encoding="utf-8") as file:
        file.write(MAKEFILE.format(root=os.path.dirname(HERE)))
    neighbours = {"nothing": None, "2 GiB every 3 s": [sys.executable, "-c", NEIGHBOUR],
                  "a build": ["nice", "sh", "-c", BUILD.format(makefile)]}
    chosen = os.environ.get("BENCH_JOBS", "")
    for beside, noise in neighbours.items():
        if beside not in os.environ.get("BENCH_BESIDE", beside):
            continue
        neighbour = noise and subprocess.Popen(noise, cwd=work, stdout=subprocess.DEVNULL,
                                               stderr=subprocess.DEVNULL, start_new_session=True)
        try:
            for label, command in jobs().items():
                if chosen in label:
                    for _ in range(int(os.environ.get("BENCH_TIMES", "1"))):
                        measure(label, command, beside)
        finally:
            if neighbour:
                os.killpg(neighbour.pid, signal.SIGKILL)
                neighbour.wait()
    say()
