"""Snapshots of a ResourceTracker, as a dict and as a file."""

from __future__ import annotations

import os
import stat
import time
from typing import Any, Callable, Dict, List, TypeVar

from ._platform import system
from ._tracked import Tracked
from .column_maps import (DEFAULT_SCHEMA, Layout, Schema, chosen_schema, convert, detect_schema,
                          get_schema)
from .tiny_data_frame import TinyDataFrame

SNAPSHOT_VERSION = 1
READ_FLAGS = os.O_RDONLY | sum(getattr(os, name, 0) for name in ("O_NONBLOCK", "O_CLOEXEC", "O_BINARY"))

AnyTracked = TypeVar("AnyTracked", bound=Tracked)


class SnapshotError(ValueError, KeyError):
    """The data is not a snapshot: a value is invalid (ValueError) or a key is missing (KeyError)."""

    def __str__(self) -> str:
        return Exception.__str__(self)


def snapshot_of(tracker: Tracked) -> Dict[str, Any]:
    """The tracker's samples, totals and settings as a dict of plain values."""
    from ._version import __version__

    end = tracker.stop_time or time.time()
    start = tracker.start_time if tracker.start_time is not None else end
    return {
        "metadata": {
            "version": SNAPSHOT_VERSION,
            "resource_tracker": {"version": __version__, "implementation": "procfs" if system() == "linux" else "psutil"},
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
            "job": tracker._job_name(),
            "scope": tracker._scope_name(),
            "exit_code": tracker._known_code(),
            "run_status": tracker.run_status,
        },
        "server_info": tracker.server_info,
        "cloud_info": tracker.cloud_info,
        "process_metrics": tracker.process_metrics.to_dict(),
        "system_metrics": tracker.system_metrics.to_dict(),
        "phases": [dict(phase) for phase in tracker._phases],
        "totals": tracker.totals(),
        "top_processes": tracker._top_processes(),
    }


def restore(make: Callable[..., AnyTracked], snapshot: Dict[str, Any]) -> AnyTracked:
    """Restore a stopped tracker from a snapshot of this or another version of the package.

    Args:
        make: constructor of the tracker

    Raises:
        SnapshotError: `snapshot` is not a snapshot
    """
    try:
        metadata = snapshot["metadata"]
        rows = {level: snapshot[f"{level}_metrics"] for level in ("process", "system")}
        tracks = {level: metadata[f"track_{long}"]
                  for level, long in (("process", "processes"), ("system", "system"))}
        columns = {level: list(rows[level][0]) if rows[level] else [] for level in rows}
        schema = detect_schema(columns["process"], columns["system"])
        if not any(columns.values()):
            schema = get_schema(metadata.get("schema", DEFAULT_SCHEMA))
        # If the user has chosen a schema, the frames are converted to it.
        target = get_schema(chosen_schema() or schema.name)
        tracker = make(
            pid=metadata["pid"], children=metadata["children"], interval=metadata["interval"],
            method=metadata["method"], autostart=False, track_processes=tracks["process"],
            track_system=tracks["system"], discover_server=metadata["discover_server"],
            discover_cloud=metadata["discover_cloud"], schema=target.name,
            job=metadata.get("job"))
        tracker.autostart = metadata["autostart"]
        tracker.start_time = float(metadata["start_time"])
        tracker.stop_time = float(metadata["stop_time"])
        tracker._loaded = True
        tracker.exit_code = metadata.get("exit_code")
        tracker.run_status = metadata.get("run_status")
        tracker._frozen = {level: _load_frame(schema, target, level, rows[level])
                           for level in rows}
        for attribute in ("server_info", "cloud_info"):
            info = snapshot.get(attribute)
            setattr(tracker, "_" + attribute, None if info is None else dict(info))
        tracker._phases = [dict(phase) for phase in snapshot.get("phases") or ()]
        tracker._kept = {"scope": metadata.get("scope"),
                         "totals": dict(snapshot.get("totals") or {}),
                         "top_processes": list(snapshot.get("top_processes") or ())}
    except (KeyError, TypeError, ValueError, AttributeError, AssertionError,
            IndexError) as error:
        raise SnapshotError("not a snapshot of a resource tracker: "
                            f"{type(error).__name__}: {error}") from error
    return tracker


def _load_frame(schema: Schema, target: Schema, level: str, rows: List[Dict[str, Any]]
                ) -> TinyDataFrame:
    layout = Layout(target.name, ((level, ""),))
    if not rows:
        return TinyDataFrame({c.name: [] for c in target.columns(level)})._lay_out(layout)
    frame = TinyDataFrame([{name: None if cell == "" else cell for name, cell in row.items()}
                           for row in rows])
    missing = [c.name for c in schema.columns(level) if c.name not in frame.columns]
    if "timestamp" in missing:
        raise KeyError(f"{level}_metrics has no column {missing[0]}")
    for name in missing:
        frame[name] = [None] * len(frame)
    data = convert(frame._data, Layout(schema.name, ((level, ""),)), target.name)
    return TinyDataFrame(data)._lay_out(layout)


def write(file: str, text: str) -> None:
    """Write JSON text to a file: plain if the name ends in ".json", else compressed with gzip."""
    data = text.encode("utf-8")
    if not str(file).endswith(".json"):
        import gzip

        data = gzip.compress(data)
    from ._trust import open_output

    with open_output(file, "wb") as out:
        out.write(data)


def read(file: str) -> str:
    """Read the JSON text of a file, compressed or plain.

    Raises:
        OSError: the file cannot be read
        ValueError: it is not a regular file, or its compressed data is damaged
    """
    # READ_FLAGS contains O_NONBLOCK: opening a FIFO without a writer would block otherwise.
    with open(os.open(file, READ_FLAGS), "rb") as source:
        if not stat.S_ISREG(os.fstat(source.fileno()).st_mode):
            raise ValueError("not a regular file")
        data = source.read()
    if data[:2] == b"\x1f\x8b":
        import gzip
        import zlib

        try:
            data = gzip.decompress(data)
        except (OSError, EOFError, zlib.error) as error:
            raise ValueError(f"damaged: {error}") from error
    return data.decode("utf-8")
