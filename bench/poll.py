"""Polls the peer at 1 Hz until the process ends; prints the CPU seconds that it saw last."""
import os
import sys
import time

from resource_tracker.tracker_procfs import get_process_stats

pid, best = int(sys.argv[1]), 0.0
while os.path.exists(f"/proc/{pid}/stat"):
    try:
        stats = get_process_stats(pid, children=True)
        best = max(best, stats["utime"] + stats["stime"])
    except (OSError, KeyError):
        break
    time.sleep(1)
print(best)
