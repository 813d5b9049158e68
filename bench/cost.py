"""Chapters on the cost of a sample: of the sampler itself, and of the whole program."""
import csv
import io
import json
import os
import statistics
import subprocess
import sys
import time

from common import (ENV, HERE, PAGER, PYTHON, RT, TICK, TREE, compiled, cpu_ns, family, has_sibling, met,
                    rss_mib, say, sibling, work)

ROUNDS = 6
PEERS = os.path.join(HERE, "peers.py")
BIG = "b = bytearray(b'x') * (1 << 30)\nimport time\ntime.sleep(999)"


def number(command):
    """The last word of the output of a command, as a number."""
    return float(subprocess.run([str(word) for word in command], check=True, capture_output=True,
                                text=True).stdout.split()[-1])


def peer(name, pid):
    return number([PYTHON, PEERS, name, pid, ROUNDS])


def tick(mode, pid, pause):
    """Median CPU time of a tick in ms, measured like a call of a peer that does the same work."""
    return number([TICK, mode, pid, ROUNDS if pause else 300, pause]) / 1e6


def share_of_a_core(pid, folder):
    """Track a process with the whole program for some seconds. Returns (CPU share of a core in %, peak RSS in MiB)."""
    subprocess.run([RT, "attach", "-q", "--no-discovery", "--recording", folder, "-i", "1s",
                    "--duration", f"{ROUNDS + 3}s", str(pid)], check=False, stderr=subprocess.DEVNULL)
    shown = json.loads(subprocess.run([RT, "show", "--json", "--recording", folder], check=True,
                                      capture_output=True, text=True).stdout)
    text = subprocess.run([RT, "export", "--recording", folder], check=True,
                          capture_output=True, text=True).stdout
    rows = [float(row["tracker_cpu_s"]) * 1e3
            for row in csv.DictReader(io.StringIO(text)) if row["tracker_cpu_s"]][2:]
    return statistics.median(rows) / 10, shown["tracker"]["peak_rss_mib"]


def verdict(ratio, target):
    return "-" if target is None else f">= {target} {met(ratio >= target)}"


def cost(label, command, target):
    job = subprocess.Popen(command)
    time.sleep(1)
    # Measure one method after the other, so that none profits from kernel data that another has brought into caches.
    bare = tick("bare", job.pid, 1000)
    ours = tick("tree", job.pid, 1000)
    procfs, rival, loop = (peer(name, job.pid) for name in ("procfs", "peer_psutil", "psutil"))
    again = tick("tree", job.pid, 1000)  # measured again, in case the load of the machine has changed
    hot = tick("tree", job.pid, 0)
    share, rss = share_of_a_core(job.pid, os.path.join(work, label.replace(" ", "-")))
    job.kill()
    job.wait()
    ours = (ours + again) / 2
    say(f"| {label} | {ours:.3f} | {bare:.3f} | {procfs:.2f} | {rival:.2f} | {loop:.2f} | "
        f"{procfs / ours:.1f} | {rival / ours:.1f} | {loop / ours:.1f} | "
        f"{verdict(procfs / ours, target)} | {hot:.3f} | {share:.3f} % | {rss:.1f} |")


def system_cost():
    bare, ours = tick("bare", 0, 1000), tick("sample", 0, 1000)
    procfs, rival = peer("system_procfs", 0), peer("system_psutil", 0)
    again = tick("sample", 0, 1000)
    hot = tick("sample", 0, 0)
    ours = (ours + again) / 2
    say(f"| system | {ours:.3f} | {bare:.3f} | {procfs:.2f} | {rival:.2f} | - | {procfs / ours:.1f} | "
        f"{rival / ours:.1f} | - | {verdict(procfs / ours, 10)} | {hot:.3f} | - | - |")


def samples():
    tree = compiled("tree", TREE)
    say("## CPU time per sample at 1 Hz (ms, medians)")
    say()
    say("Each row was measured separately, one method after the other, 1 s apart, by the CPU clock of a "
        "thread around one call.")
    say()
    say("- *Ours*: a full tick of the sampler (the mean of one turn before the peers and one after them).")
    say("- *procfs* and *peer psutil*: `get_process_stats` of the Python package (last row: `get_system_stats`).")
    say("- *psutil loop*: CPU, RSS and I/O of the tree.")
    say("- *Bare*: only the system calls for the same figures: the clock of each process and all files of "
        "those that were active, or the system's files. It does not look for new processes.")
    say("- *Target*: how many times procfs must take what ours takes.")
    say("- *Hot*: a tick without a pause before it.")
    say("- *Share of a core*: of the whole program, with wake-ups, tree, system, and the writing of rows.")
    say()
    say("| tree | ours | bare | procfs | peer psutil | psutil loop | procfs/ours | peer psutil/ours |"
        " psutil/ours | target | hot | share of a core | peak RSS MiB |")
    say("|---|---|---|---|---|---|---|---|---|---|---|---|---|")
    for label, command, target in [
            ("1 process", [tree, "0", "0"], None), ("10", [tree, "8", "1"], 10),
            ("100", [tree, "89", "10"], 20), ("1000", [tree, "899", "100"], 60),
            ("1 GiB steady", ["/usr/bin/python3", "-c", BIG], 100)]:
        cost(label, command, target)
    system_cost()
    say()


def full_read():
    say("## One active process, read in full")
    say()
    burner = subprocess.Popen([compiled("pager", PAGER)])
    time.sleep(0.5)
    turns = [dict(line.split() for line in subprocess.run(
        [TICK, "floor", str(burner.pid), "500"], check=True, capture_output=True,
        text=True).stdout.splitlines()) for _ in range(5)]
    burner.kill()
    burner.wait()
    full = sorted(turns, key=lambda t: int(t["full_ns"]) / int(t["bare_ns"]))[2]
    us = {name: int(ns) / 1e3 for name, ns in full.items()}
    ratio = us["full_ns"] / us["bare_ns"]
    say(f"Ours takes {us['full_ns']:.1f} us and the bare system calls for the same figures {us['bare_ns']:.1f} us, a"
        f" ratio of {ratio:.2f} (target <= 1.3: {met(ratio <= 1.3)}). Both were measured after a pause of 5 ms, as before"
        " a sample, and are the median of five turns of 500 reads. Directly after the other one, with the kernel's data"
        " in the cache, they take"
        f" {us['full_second_ns']:.1f} and {us['bare_second_ns']:.1f} us.")
    say()


# ---- the whole programs at the same time ----

def commands(pid, members):
    state = os.path.join(work, f"tools-{pid}")
    run = {"ours": [RT, "attach", "-q", "--no-discovery", "-i", "1s", "--recording", state, str(pid)]}
    if has_sibling():
        run["sibling"] = sibling("-i", 1, "-f", "csv", "-o", "/dev/null", "-p", pid)
    if os.path.exists("/usr/bin/pidstat"):
        run["pidstat"] = ["pidstat", "-urdh", "-p", ",".join(map(str, members)), "1"]
    run["Python, procfs"] = ["env", "PEER_WITHOUT_PSUTIL=1", PYTHON, PEERS, "tool", str(pid)]
    run["Python, psutil"] = [PYTHON, PEERS, "tool", str(pid)]
    run["psutil loop"] = [PYTHON, PEERS, "psutil", str(pid), "100000"]
    return run


def look(started):
    """(monotonic time in s, {program: (CPU time in ns, RSS in MiB), including its child processes})"""
    seen = {}
    for name, process in started.items():
        members = family(process.pid)
        seen[name] = (sum(map(cpu_ns, members)), sum(map(rss_mib, members)))
    return time.monotonic(), seen


def side_by_side(command, seconds):
    """Run all programs on one job at the same time. Returns {program: (CPU in ms per second in the first half, in the
    second half, RSS in MiB at the begin, at the end)}. The first 6 s are not measured."""
    job = subprocess.Popen(command)
    time.sleep(1)
    started = {}
    for name, program in commands(job.pid, family(job.pid)).items():
        started[name] = subprocess.Popen(program, env=ENV, stdout=subprocess.DEVNULL,
                                         stderr=subprocess.DEVNULL, start_new_session=True)
        time.sleep(0.17)  # so that they do not wake up at the same time
    looks = []
    for pause in (6, seconds / 2, seconds / 2):
        time.sleep(pause)
        looks.append(look(started))
    for process in started.values():
        for member in reversed(family(process.pid)):
            os.kill(member, 9)
        process.wait()
    job.kill()
    job.wait()
    result = {}
    for name in started:
        halves = [(looks[i + 1][1][name][0] - looks[i][1][name][0]) / 1e6
                  / (looks[i + 1][0] - looks[i][0]) for i in (0, 1)]
        result[name] = (*halves, looks[0][1][name][1], looks[2][1][name][1])
    return result


def tools():
    tree = compiled("tree", TREE)
    rows = [(n, side_by_side([tree, str(i), str(a)], s)) for n, i, a, s in [
        (1, 0, 0, 40), (10, 8, 1, 20), (100, 89, 10, 20), (1000, 899, 100, 20)]]
    names = list(rows[0][1])
    say("## The programs as a whole, at 1 Hz")
    say()
    say("CPU time in ms per second of the whole program with its helpers. All were attached to the same tree in the"
        " same seconds (after their first six): `resource-tracker attach` with its recording, the"
        " sibling writing CSV, `pidstat -urdh` of the tree's PIDs, the Python package's"
        " `ResourceTracker` on procfs and on psutil, and the psutil loop. The number in brackets is the multiple of"
        " ours. The last row is the additional cost of one more process, in us per second.")
    say()
    say("| processes | " + " | ".join(names) + " |")
    say("|---" * (len(names) + 1) + "|")
    for n, row in rows:
        mean = {name: (a + b) / 2 for name, (a, b, _, _) in row.items()}
        say(f"| {n} | " + " | ".join(
            f"{mean[name]:.2f}" + ("" if name == "ours" else f" ({mean[name] / mean['ours']:.1f})")
            for name in names) + " |")
    small, large = (rows[i][1] for i in (1, 3))
    say("| one more process, us | " + " | ".join(
        f"{(sum(large[n][:2]) - sum(small[n][:2])) / 2 / 990 * 1e3:.2f}" for n in names) + " |")
    say()
    say("Change over a run of 46 s with one process: CPU time in ms per second in the first and the second half, and"
        " RSS in MiB after 6 s and at the end. The last row is RSS in MiB at the end with 1000 processes.")
    say()
    say("| figure | " + " | ".join(names) + " |")
    say("|---" * (len(names) + 1) + "|")
    one = rows[0][1]
    say("| CPU, halves | " + " | ".join(f"{one[n][0]:.2f}, {one[n][1]:.2f}" for n in names) + " |")
    say("| RSS, early and late | " + " | ".join(f"{one[n][2]:.1f}, {one[n][3]:.1f}" for n in names)
        + " |")
    say("| RSS, 1000 processes | " + " | ".join(f"{large[n][3]:.1f}" for n in names) + " |")
    say()
