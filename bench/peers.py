"""CPU time per call of one peer at 1 Hz, alone: prints the median in ms. Arguments: NAME PID COUNT."""
import statistics
import sys
import time

name, pid, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
if name == "psutil":
    import psutil

    def call():
        root = psutil.Process(pid)
        for process in [root, *root.children(recursive=True)]:
            process.cpu_times()
            process.memory_info()
            process.io_counters()
else:
    from resource_tracker import tracker_procfs, tracker_psutil
    call = {
        "procfs": lambda: tracker_procfs.get_process_stats(pid, children=True),
        "peer_psutil": lambda: tracker_psutil.get_process_stats(pid, children=True),
        "system_procfs": tracker_procfs.get_system_stats,
        "system_psutil": tracker_psutil.get_system_stats,
    }[name]
took = []
for turn in range(count + 1):
    time.sleep(1)
    before = time.thread_time()
    call()
    took.append((time.thread_time() - before) * 1e3)
print(statistics.median(took[1:]))
