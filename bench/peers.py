"""CPU time per call of the peers: one JSON object on stdout. Arguments: PID COUNT."""
import json
import statistics
import sys
import time

import psutil
from resource_tracker import tracker_procfs, tracker_psutil

pid, count = int(sys.argv[1]), int(sys.argv[2])


def psutil_loop():
    for process in [psutil.Process(pid), *psutil.Process(pid).children(recursive=True)]:
        process.cpu_times()
        process.memory_info()
        process.io_counters()


calls = {
    "procfs": lambda: tracker_procfs.get_process_stats(pid, children=True),
    "peer_psutil": lambda: tracker_psutil.get_process_stats(pid, children=True),
    "psutil": psutil_loop,
    "system_procfs": tracker_procfs.get_system_stats,
    "system_psutil": tracker_psutil.get_system_stats,
}
took = {name: [] for name in calls}
for turn in range(count):
    for name, call in calls.items():
        before = time.process_time()
        call()
        took[name].append((time.process_time() - before) * 1e3)
    time.sleep(1)
print(json.dumps({name: statistics.median(values[1:]) for name, values in took.items()}))
