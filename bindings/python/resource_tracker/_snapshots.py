"""Snapshots of a ResourceTracker, as a dict and as a file."""

from __future__ import annotations

import os
import stat
import time
from typing import Any, BinaryIO, Callable, Dict, List, TypeVar

from ._platform import samples_with_psutil
from ._tracked import Tracked
from .column_maps import (DEFAULT_SCHEMA, Layout, Schema, chosen_schema, convert, detect_schema,
                          get_schema)
from .tiny_data_frame import TinyDataFrame

SNAPSHOT_VERSION = 1
FILE_MAX = 512 << 20  # bytes of JSON
NUMBER_MAX = 2.0 ** 63
DEPTH_MAX = 16
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
            "resource_tracker": {"version": __version__, "implementation": "psutil" if samples_with_psutil() else "procfs"},
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
        _check_plain(snapshot)
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
            setattr(tracker, "_" + attribute, None if info is None else _checked(attribute, dict(info)))
        tracker._phases = [dict(phase) for phase in snapshot.get("phases") or ()]
        totals = dict(snapshot.get("totals") or {})
        for name, total in totals.items():
            _number_of(total["value"], name)
            if not all(isinstance(total.get(key), str) for key in ("quality", "source")):
                raise ValueError(f"totals: {name} has no quality and source")
        tracker._kept = {"scope": metadata.get("scope"),
                         "totals": totals,
                         "top_processes": list(snapshot.get("top_processes") or ())}
    except (KeyError, TypeError, ValueError, AttributeError, AssertionError,
            IndexError, ArithmeticError) as error:
        raise SnapshotError("not a snapshot of a resource tracker: "
                            f"{type(error).__name__}: {error}") from error
    return tracker


def _check_plain(value: Any, depth: int = 0) -> None:
    """Raise ValueError for what JSON cannot hold, or what no figure can be."""
    if depth > DEPTH_MAX:
        raise ValueError("nested too deep")
    if isinstance(value, dict):
        for key, inner in value.items():
            _check_plain(inner, depth + 1)
            if not isinstance(key, str):
                raise ValueError("a key is no text")
    elif isinstance(value, (list, tuple)):
        for inner in value:
            _check_plain(inner, depth + 1)
    elif isinstance(value, str):
        value.encode("utf-8")  # half of a surrogate pair
    elif isinstance(value, (int, float)) and abs(value) > NUMBER_MAX:
        raise ValueError("a number is too large")


def _number_of(cell: Any, name: str) -> Any:
    """A number; None for what is not known: an empty text, NaN."""
    if cell is None or cell == "" or cell != cell:
        return None
    if not isinstance(cell, (int, float)):
        raise ValueError(f"{name}: not a number")
    return cell


def _checked(attribute: str, info: Dict[str, Any]) -> Dict[str, Any]:
    """The facts of a machine; raise ValueError if the amounts among them are no numbers."""
    for name in ("vcpus", "memory_mb", "gpu_count", "gpu_memory_mb"):
        if name in info:
            info[name] = _number_of(info[name], f"{attribute}: {name}")
    return info


def _load_frame(schema: Schema, target: Schema, level: str, rows: List[Dict[str, Any]]
                ) -> TinyDataFrame:
    layout = Layout(target.name, ((level, ""),))
    if not rows:
        return TinyDataFrame({c.name: [] for c in target.columns(level)})._lay_out(layout)
    frame = TinyDataFrame([{name: _number_of(cell, name) for name, cell in row.items()}
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
        ValueError: it is not a regular file, too large, or its compressed data is damaged
    """
    # READ_FLAGS contains O_NONBLOCK: opening a FIFO without a writer would block otherwise.
    with open(os.open(file, READ_FLAGS), "rb") as source:
        status = os.fstat(source.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise ValueError("not a regular file")
        compressed = source.read(2) == b"\x1f\x8b"
        source.seek(0)
        if status.st_size > FILE_MAX:
            raise ValueError("too large")
        if not compressed:
            return (_start(source.read(1)) + source.read()).decode("utf-8")
        import gzip
        import zlib

        try:
            _count(source)
            source.seek(0)
            return gzip.decompress(source.read()).decode("utf-8")
        except (OSError, EOFError, zlib.error) as error:
            raise ValueError(f"damaged: {error}") from error


def _start(first: bytes) -> bytes:
    """Refuse what is no JSON text before it is read, as a hole of a sparse file."""
    if first == b"\0":
        raise ValueError("not a text")
    return first


def _count(source: BinaryIO) -> None:
    """Refuse what would unpack to too much, before memory is taken for it."""
    import gzip

    unpacked = 0
    with gzip.GzipFile(fileobj=source) as pieces:
        piece = pieces.read(1 << 16)
        _start(piece[:1])
        while piece:
            unpacked += len(piece)
            if unpacked > FILE_MAX:
                raise ValueError("too large")
            piece = pieces.read(1 << 16)
