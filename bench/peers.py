"""One peer, as its users call it. Arguments: NAME PID COUNT, or `watch NAME PID`, or `tool METHOD PID`.

The first prints the median of the CPU time of a call at 1 Hz in ms; the second says "ready", polls at
1 Hz until it is ended, and prints the CPU seconds and the most memory (MiB) that it saw; the third is the
original package's tracker at 1 Hz until it is ended.
"""
import signal
import statistics
import sys
import time

if sys.argv[1] == "pss":  # PSS at every tick: PID HZ
    pid, pause = sys.argv[2], 1 / float(sys.argv[3])
    due = time.monotonic()
    while True:
        with open(f"/proc/{pid}/smaps_rollup", "rb") as file:
            file.read()
        due = max(due + pause, time.monotonic() - pause)
        time.sleep(max(0.0, due - time.monotonic()))
if sys.argv[1] == "tool":
    from resource_tracker import ResourceTracker
    ResourceTracker(pid=int(sys.argv[3]), interval=1, method=sys.argv[2], discover_server=False,
                    discover_cloud=False, autostart=True)
    while True:
        signal.pause()

watch = sys.argv[1] == "watch"
name, pid = sys.argv[1 + watch], int(sys.argv[2 + watch])
if name == "psutil":
    import psutil

    def call():
        """CPU s and memory MiB of the tree."""
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
else:
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


def watch_until_ended():
    best = [0.0, 0.0]
    ended = []
    signal.signal(signal.SIGTERM, lambda *_: ended.append(True))
    while not ended:
        try:
            best = [max(pair) for pair in zip(best, call())]
        except Exception:  # the process has gone, in the words of any of the libraries
            pass
        print("ready", flush=True)
        time.sleep(1)
    print(*best)


def cost(count):
    took = []
    for _ in range(count + 1):
        time.sleep(1)
        before = time.thread_time()
        call()
        took.append((time.thread_time() - before) * 1e3)
    print(statistics.median(took[1:]))


if watch:
    watch_until_ended()
else:
    cost(int(sys.argv[3]))
