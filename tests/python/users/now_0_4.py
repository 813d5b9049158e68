"""Single readings and frames, with the names of version 0.4."""
import json
import os

from resource_tracker import get_server_info
from resource_tracker.helpers import aggregate_stats
from resource_tracker.tiny_data_frame import StatSpec, TinyDataFrame
from resource_tracker.tracker_procfs import get_process_stats, get_system_stats

process = get_process_stats(os.getpid())
system = get_system_stats()
frame = TinyDataFrame(data={"a": [1, 2, 3], "b": [1.5, 2.5, 4.0], "c": ["x", "y", "z"]})
renamed = TinyDataFrame(data=frame.to_dict()).rename({"a": "A"})
stats = frame.stats([StatSpec(column="b", agg=max), StatSpec("b", sum, "total", 1)])
print(json.dumps({
    "process": {name: type(process[name]).__name__ for name in process},
    "system": {name: type(system[name]).__name__ for name in system},
    "memory": 4 * 1024 < process["memory"] < 200 * 1024,
    "used": system["memory_used"] > 100 * 1024,
    "disk": sorted({key for disk in system["disk_stats"].values() for key in disk}),
    "space": sorted({key for space in system["disk_spaces"].values() for key in space}),
    "server": sorted(get_server_info()),
    "frame": [len(frame), frame.columns, frame[0], frame["a"], frame[["a", "b"]].columns,
              frame[1:].to_dict(), frame.head(1).to_dict(), frame.tail(1).to_dict()],
    "repr": repr(frame), "text": str(frame), "csv": frame.to_csv(), "renamed": renamed.columns,
    "stats": {name: dict(values) for name, values in stats.items()},
    "merged": aggregate_stats([{"x": {"mean": 1, "max": 2}}, {"x": {"mean": 3, "max": 1}}]),
}))
