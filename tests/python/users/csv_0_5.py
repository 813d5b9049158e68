"""The CSV trackers for a process that ends, and the exceptions that they raise."""
import json
import subprocess
import sys
import tempfile
import warnings

from resource_tracker import ProcessTracker, ResourceTracker
from resource_tracker.tiny_data_frame import TinyDataFrame
from resource_tracker.tracker import PidTracker, SystemTracker


def error(call):
    try:
        call()
    except Exception as problem:
        return f"{type(problem).__name__}: {problem}"
    return None


job = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(1.5)"])
with tempfile.NamedTemporaryFile(suffix=".csv") as file:
    follower = ProcessTracker(pid=job.pid, interval=0.2, output_file=file.name)
    frame = TinyDataFrame(csv_file_path=file.name)
job.wait()
idle = SystemTracker(interval=1, autostart=False)
first = idle.diff_stats()
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    PidTracker(autostart=False)
tracker = ResourceTracker(interval=1, autostart=False, discover_cloud=False)
tracker.start()
twice = error(tracker.start)
early = error(lambda: tracker.wait_for_samples(n=1000, timeout=0.3))
tracker.stop()
print(json.dumps({
    "follower": [follower.status, type(follower.cycle).__name__, len(frame) > 2],
    "system": list(first),
    "deprecated": [str(w.message) for w in caught if w.category is DeprecationWarning],
    "twice": twice, "early": early, "again": error(tracker.start),
    "column": error(lambda: frame["nothing"]), "key": error(lambda: frame[1.5]),
    "rename": error(lambda: frame.rename({"nothing": "x"})),
    "neither": error(lambda: TinyDataFrame()),
    "file": error(lambda: TinyDataFrame(csv_file_path="/nowhere/x.csv")),
}))
