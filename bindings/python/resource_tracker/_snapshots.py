"""Snapshots of a ResourceTracker: as a dict, and as a file."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Dict, List, Type

from .column_maps import DEFAULT_SCHEMA, Schema, aliases, detect_schema, get_schema
from .tiny_data_frame import TinyDataFrame
from .tracker import SNAPSHOT_VERSION, SnapshotError

if TYPE_CHECKING:
    from .tracker import ResourceTracker


def snapshot_of(tracker: ResourceTracker) -> Dict[str, Any]:
    """All of it as a dict of plain values."""
    from ._version import __version__

    end = tracker.stop_time or time.time()
    start = tracker.start_time if tracker.start_time is not None else end
    return {
        "metadata": {
            "version": SNAPSHOT_VERSION,
            "resource_tracker": {"version": __version__, "implementation": "procfs"},
            "schema": tracker.schema,
            "pid": tracker.pid,
            "children": tracker.children,
            "interval": tracker.interval,
            "method": tracker.method,
            "autostart": tracker.autostart,
            "track_processes": tracker._tracks("process"),
            "track_system": tracker._tracks("system"),
            "discover_server": tracker.discover_server,
            "discover_cloud": tracker.discover_cloud,
            "start_time": start,
            "stop_time": end,
            "duration": round(end - start + tracker.interval, 2),
        },
        "server_info": tracker.server_info,
        "cloud_info": tracker.cloud_info,
        "process_metrics": tracker.process_metrics.to_dict(),
        "system_metrics": tracker.system_metrics.to_dict(),
        "phases": [dict(phase) for phase in tracker._phases],
    }


def restore(cls: Type[ResourceTracker], snapshot: Dict[str, Any]) -> ResourceTracker:
    """A stopped tracker from a snapshot of this or another version."""
    try:
        metadata = snapshot["metadata"]
        rows = {level: snapshot[f"{level}_metrics"] for level in ("process", "system")}
        tracks = {level: metadata[f"track_{long}"]
                  for level, long in (("process", "processes"), ("system", "system"))}
        columns = {level: list(rows[level][0]) if rows[level] else [] for level in rows}
        schema = detect_schema(columns["process"], columns["system"])
        if not any(columns.values()):
            schema = get_schema(metadata.get("schema", DEFAULT_SCHEMA))
        tracker = cls(
            pid=metadata["pid"], children=metadata["children"], interval=metadata["interval"],
            method=metadata["method"], autostart=False, track_processes=tracks["process"],
            track_system=tracks["system"], discover_server=metadata["discover_server"],
            discover_cloud=metadata["discover_cloud"], schema=schema.name)
        tracker.autostart = metadata["autostart"]
        tracker.start_time = float(metadata["start_time"])
        tracker.stop_time = float(metadata["stop_time"])
        tracker._loaded = True
        tracker._frozen = {level: _load_frame(schema, level, rows[level]) for level in rows}
        for attribute in ("server_info", "cloud_info"):
            info = snapshot.get(attribute)
            setattr(tracker, "_" + attribute, None if info is None else dict(info))
        tracker._phases = [dict(phase) for phase in snapshot.get("phases") or ()]
    except (KeyError, TypeError, ValueError, AttributeError, AssertionError,
            IndexError) as error:
        raise SnapshotError("not a snapshot of a resource tracker: "
                            f"{type(error).__name__}: {error}") from error
    return tracker


def _load_frame(schema: Schema, level: str, rows: List[Dict[str, Any]]) -> TinyDataFrame:
    frame = TinyDataFrame([{name: None if cell == "" else cell for name, cell in row.items()}
                           for row in rows])
    if rows:
        missing = [c.name for c in schema.columns(level) if c.name not in frame]
        if "timestamp" in missing:
            raise KeyError(f"{level}_metrics has no column {missing[0]}")
        for name in missing:
            frame[name] = [None] * len(frame)
    else:
        frame = TinyDataFrame({c.name: [] for c in schema.columns(level)})
    frame._aliases = aliases(schema, [(level, "")])
    return frame


def write(file: str, text: str) -> None:
    """JSON text as a file: compressed, plain if the name ends in ".json"."""
    data = text.encode("utf-8")
    if not str(file).endswith(".json"):
        import gzip

        data = gzip.compress(data)
    with open(file, "wb") as out:
        out.write(data)


def read(file: str) -> str:
    """The JSON text of a file, compressed or plain."""
    with open(file, "rb") as source:
        data = source.read()
    if data[:2] == b"\x1f\x8b":
        import gzip
        import zlib

        try:
            data = gzip.decompress(data)
        except (OSError, EOFError, zlib.error) as error:
            raise ValueError(f"damaged: {error}") from error
    return data.decode("utf-8")
