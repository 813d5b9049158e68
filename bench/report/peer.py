"""Writes the report of the original package for the same samples: peer.py CSV OUT, in the environment of the
benchmarks.

CSV is the output of `export --columns 0.5`. Prints the seconds and the peak memory in MiB. The package's search for
servers would send requests to a service, so it is left out, in favour of that package."""

import csv
import resource
import sys
import time

from resource_tracker import ResourceTracker

source, out = sys.argv[1:]
process, system = [], []
with open(source, encoding="utf-8") as file:
    for row in csv.DictReader(file):
        stamp = float(row.pop("timestamp"))
        numbers = {name: float(value or 0) for name, value in row.items()}
        process.append({"timestamp": stamp} | {
            name[8:]: value for name, value in numbers.items() if name.startswith("process_")})
        system.append({"timestamp": stamp} | {
            name[7:]: value for name, value in numbers.items() if name.startswith("system_")})
snapshot = {
    "metadata": {
        "version": 1, "resource_tracker": {"version": "0.5.0", "implementation": "procfs"},
        "pid": 1, "children": True, "interval": 1, "method": None, "autostart": True,
        "track_processes": True, "track_system": True, "discover_server": True,
        "discover_cloud": False, "start_time": process[0]["timestamp"],
        "stop_time": process[-1]["timestamp"], "duration": float(len(process)),
    },
    "server_info": {"os": "Linux", "vcpus": 16, "memory_mib": 32768, "gpu_count": 0,
                    "gpu_names": [], "gpu_name": "", "gpu_memory_mib": 0,
                    "allocation": "dedicated"},
    "cloud_info": None,
    "process_metrics": process,
    "system_metrics": system,
}
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
ResourceTracker.recommend_server = lambda self, **kwargs: {"min_price_ondemand": 0.1}
start = time.monotonic()
ResourceTracker.from_snapshot(snapshot).report().save(out)
seconds = time.monotonic() - start
print(seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, before / 1024)
