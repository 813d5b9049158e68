"""An example of the documentation of version 0.4: the tracker starts by itself and continues in the background."""
import json
import time

from resource_tracker import ResourceTracker
from resource_tracker.dummy_workloads import cpu_single

tracker = ResourceTracker(interval=0.2, discover_cloud=False)
cpu_single(duration=1)
tracker.wait_for_samples(n=4, timeout=30)
time.sleep(0.3)
tracker.stop()

metrics = tracker.get_combined_metrics()
stats = tracker.stats()
print(json.dumps({
    "running": tracker.running,
    "process": tracker.process_metrics.columns,
    "system": tracker.system_metrics.columns,
    "combined": metrics.columns,
    "human": tracker.get_combined_metrics(bytes=True, human_names=True).columns,
    "prefixed": tracker.get_combined_metrics(system_prefix="s_", process_prefix="p_").columns,
    "row": {name: type(value).__name__ for name, value in sorted(metrics[0].items())},
    "stats": {name: sorted(values) for name, values in sorted(stats.items())},
    "resources": {k: type(v).__name__ for k, v in tracker.recommend_resources().items()},
    "server": sorted(tracker.server_info),
    "busy": max(metrics["process_cpu_usage"]) > 0.02,
    "memory": 4 * 1024 < max(metrics["process_memory"]) < 200 * 1024,
    "used": max(metrics["system_memory_used"]) > 100 * 1024,
}))
