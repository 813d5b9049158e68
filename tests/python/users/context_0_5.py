"""An example of the documentation of version 0.5: a context manager, snapshots, offsets."""
import json
import tempfile

from resource_tracker import ResourceTracker
from resource_tracker.dummy_workloads import cpu_single

with ResourceTracker(interval=0.2, discover_cloud=False) as tracker:
    cpu_single(duration=1)
    tracker.wait_for_samples(n=4, timeout=30)

metrics = tracker.get_combined_metrics()
snapshot = tracker.snapshot()
again = ResourceTracker.loads(tracker.dumps())
with tempfile.NamedTemporaryFile(suffix=".json.gz") as file:
    tracker.dump(file.name)
    loaded = ResourceTracker.load(file.name)
values = tracker.stats()
print(json.dumps({
    "running": tracker.running,
    "memory_mib": 4 < max(tracker.process_metrics["memory_mib"]) < 200,
    "used_mib": max(tracker.system_metrics["memory_used_mib"]) > 100,
    "process_memory_mib": sorted(values["process_memory_mib"]),
    "duration": values["timestamp"]["duration"] > 0.5,
    "offset": len(metrics) - len(tracker.get_combined_metrics(offset=1)),
    "snapshot": sorted(set(snapshot)),
    "metadata": sorted(snapshot["metadata"]),
    "server": snapshot["server_info"]["memory_mib"] > 100,
    "same": [again.stats() == values, loaded.n_samples == tracker.n_samples,
             again.get_combined_metrics().columns == metrics.columns],
    "cleanup": tracker.cleanup(),
}))
