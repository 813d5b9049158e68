"""Runs one peer in the way its users do: NAME PID COUNT, `watch NAME PID`, `tool PID`, or `pss PID HZ`.

The first form prints the median CPU time of a call at 1 Hz, in ms. `watch` prints "ready", polls at 1 Hz until it is
terminated, and prints the CPU seconds and the largest memory (MiB) that it saw. `tool` runs the tracker of the original
package at 1 Hz, `pss` reads the PSS; both run until they are terminated.
"""
import os
import signal
import statistics
import sys
import time

# Simulate a system without psutil. The processes of the original package import this file as well.
if os.environ.get("PEER_WITHOUT_PSUTIL"):
    sys.modules["psutil"] = None


def psutil_loop(pid):
    import psutil

    def call():
        """(CPU time in s, memory in MiB) of the process tree."""
        cpu = memory = 0
        root = psutil.Process(pid)
        for process in [root, *root.children(recursive=True)]:
            try:
                cpu += sum(process.cpu_times()[:4])
                memory += process.memory_info().rss
                process.io_counters()
            except psutil.NoSuchProcess:
                continue
        return cpu, memory / 2**20
    return call


def original(name, pid):
    from resource_tracker import tracker_procfs, tracker_psutil
    function, arguments = {
        "procfs": (tracker_procfs.get_process_stats, (pid, True)),
        "peer_psutil": (tracker_psutil.get_process_stats, (pid, True)),
        "system_procfs": (tracker_procfs.get_system_stats, ()),
        "system_psutil": (tracker_psutil.get_system_stats, ()),
    }[name]

    def call():
        stats = function(*arguments)
        memory = stats.get("memory_mib", stats.get("memory", 0) / 1024)
        return stats["utime"] + stats["stime"], memory
    return call


def caller(name, pid):
    return psutil_loop(pid) if name == "psutil" else original(name, pid)


def watch(call):
    best = [0.0, 0.0]
    ended = []
    signal.signal(signal.SIGTERM, lambda *_: ended.append(True))
    while not ended:
        try:
            best = [max(pair) for pair in zip(best, call())]
        except Exception:  # the process has ended; each library raises another exception
            pass
        print("ready", flush=True)
        time.sleep(1)
    print(*best)


def cost(call, count):
    took = []
    for _ in range(count + 1):
        time.sleep(1)
        before = time.thread_time()
        call()
        took.append((time.thread_time() - before) * 1e3)
    print(statistics.median(took[1:]))


def tool(pid):
    from resource_tracker import ResourceTracker
    tracker = ResourceTracker(pid=pid, interval=1, discover_server=False,
                              discover_cloud=False)
    tracker.start()
    while True:
        signal.pause()


def pss(pid, hertz):
    pause, due = 1 / hertz, time.monotonic()
    while True:
        with open(f"/proc/{pid}/smaps_rollup", "rb") as file:
            file.read()
        due = max(due + pause, time.monotonic() - pause)
        time.sleep(max(0.0, due - time.monotonic()))


if __name__ == "__main__":
    if sys.argv[1] == "watch":
        watch(caller(sys.argv[2], int(sys.argv[3])))
    elif sys.argv[1] == "tool":
        tool(int(sys.argv[2]))
    elif sys.argv[1] == "pss":
        pss(int(sys.argv[2]), float(sys.argv[3]))
    else:
        cost(caller(sys.argv[1], int(sys.argv[2])), int(sys.argv[3]))
