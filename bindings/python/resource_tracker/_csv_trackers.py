"""Trackers that write one CSV row per interval while they run: ProcessTracker for a process and its
descendants, SystemTracker for the machine."""

from __future__ import annotations

import os
import sys
import time
from typing import Any, Callable, Dict, Optional, Tuple

from . import _engine
from ._platform import process_exists
from .column_maps import SCHEMAS, get_schema
from .helpers import render_csv_row
from .tracker_procfs import process_stats, stats_of


def positive_interval(interval: Any) -> float:
    """Return the interval (seconds) if it is valid.

    Raises:
        TypeError: it is not a number
        ValueError: it is not from 0.01 to 3600 seconds
    """
    if isinstance(interval, bool) or not isinstance(interval, (int, float)):
        raise TypeError(f"interval must be a number of seconds, got {type(interval).__name__}")
    if not _engine.MIN_INTERVAL_S <= interval <= _engine.MAX_INTERVAL_S:
        raise ValueError(f"interval must be from {_engine.MIN_INTERVAL_S} to "
                         f"{_engine.MAX_INTERVAL_S} seconds, got {interval!r}")
    return interval


class _CsvTracker:
    """The loop of both trackers. The first cycle takes the baseline and writes the header; each further cycle
    writes one row."""

    def __init__(self, start_time: Optional[float], interval: float, schema: Optional[str]):
        self.interval: float = positive_interval(interval)
        self.schema: str = get_schema(schema).name
        self.status = "running"
        self.cycle: int = 0
        self.start_time: float = time.time() if start_time is None else start_time
        # The schedule uses the monotonic clock, so a step of the wall clock does not change it.
        self._origin_s = time.monotonic() - (time.time() - self.start_time)
        self.stats: Dict[str, Any] = self._read()
        self._read_s = time.monotonic()

    def __call__(self) -> None:
        """Do nothing. The trackers of the original package are callable."""

    def _read(self) -> Dict[str, Any]:
        raise NotImplementedError

    def diff_stats(self) -> Dict[str, Any]:
        """One row as a dict: the use since the last call, and the current memory and disk space."""
        raise NotImplementedError

    def _next(self) -> Tuple[Dict[str, Any], Dict[str, Any], float]:
        """(the last reading, a new reading, seconds between them)"""
        last, self.stats = self.stats, self._read()
        now_s = time.monotonic()
        over_s, self._read_s = now_s - self._read_s, now_s
        return last, self.stats, over_s

    def start_tracking(self, output_file: Optional[str] = None, print_header: bool = True) -> None:
        """Write rows until the process has ended. A SystemTracker does not stop by itself.

        Args:
            output_file: path of the CSV file, which is overwritten; default: stdout
            print_header: write the column names as the first row
        """
        from ._trust import open_output

        file = open_output(output_file, "wb") if output_file else sys.stdout.buffer
        try:
            self._track(file, print_header)
        finally:
            if output_file:
                file.close()

    def _track(self, file: Any, print_header: bool) -> None:
        while self.status == "running":
            self.cycle += 1
            row = self.diff_stats()
            if self.status != "running":
                break
            if self.cycle == 1:
                if print_header:
                    file.write(render_csv_row(list(row)))
            else:
                file.write(render_csv_row(list(row.values())))
            file.flush()
            self._sleep()

    def _sleep(self) -> None:
        """Sleep until the next deadline. Deadlines that have passed are skipped."""
        passed = time.monotonic() - self._origin_s
        due = self._origin_s + max(1, int(passed / self.interval) + 1) * self.interval
        time.sleep(max(0.0, due - time.monotonic()))


def _delta(last: Dict[str, Any], now: Dict[str, Any], name: str) -> Any:
    if last[name] is None or now[name] is None:
        return None
    return max(0, now[name] - last[name])


def _round(value: Any, digits: int) -> Any:
    return None if value is None else round(value, digits)


def _cpu(last: Dict[str, Any], now: Dict[str, Any], over_s: float) -> Dict[str, Any]:
    user, system = _delta(last, now, "utime"), _delta(last, now, "stime")
    usage = None if user is None or system is None or over_s <= 0 else (user + system) / over_s
    return {"utime": _round(user, 6), "stime": _round(system, 6), "cpu_usage": _round(usage, 4)}


class ProcessTracker(_CsvTracker):
    """Track one process and its descendants, and write one CSV row per interval.

    Unless autostart is False, the constructor itself writes the rows and returns when the process has ended.
    Use ResourceTracker to track while the calling program continues.

    Args:
        pid: process to track; default: the calling process
        start_time: when the first cycle begins, seconds since 1970; default: now
        interval: seconds between rows, 0.01 to 3600
        children: include the descendants
        autostart: start writing rows in the constructor
        output_file: path of the CSV file, which is overwritten; default: stdout
        schema: names and units of the columns, "0.4" or "0.5"; default: see set_schema()
    """

    def __init__(
        self,
        pid: Optional[int] = None,
        start_time: Optional[float] = None,
        interval: float = 1,
        children: bool = True,
        autostart: bool = True,
        output_file: Optional[str] = None,
        *,
        schema: Optional[str] = None,
    ):
        from .helpers import get_tracker_implementation

        self.get_process_stats: Callable[..., Any] = get_tracker_implementation()[0]
        self.pid: int = os.getpid() if pid is None else pid
        self.children = children
        super().__init__(start_time, interval, schema)
        if autostart:
            self.start_tracking(output_file)

    def _read(self) -> Dict[str, Any]:
        """All figures are 0 once the process has ended. With psutil that case is an exception, which is replaced
        by zeros here."""
        try:
            return self.get_process_stats(self.pid, self.children, self.schema)
        except Exception:
            if self.cycle == 0 or process_exists(self.pid):
                raise
            return process_stats(None, time.time(), self.pid, self.children, self.schema)

    def diff_stats(self) -> Dict[str, Any]:
        """One row: the use of the process tree since the last call, and its current memory."""
        last, now, over_s = self._next()
        row: Dict[str, Any] = {"timestamp": round(now["timestamp"], 3), "pid": self.pid,
                               "children": now["children"]}
        row.update(_cpu(last, now, over_s))
        for column in SCHEMAS[self.schema].process[6:]:
            if column.source.endswith("_bytes"):
                row[column.name] = _delta(last, now, column.name)
            else:
                row[column.name] = _round(now[column.name], column.decimals)
        memory = SCHEMAS[self.schema].process[6].name
        if now[memory] == 0:  # None would mean that the memory cannot be read
            self.status = "exited"
        return stats_of("process", self.schema, row)


class PidTracker(ProcessTracker):
    """Deprecated name of ProcessTracker."""

    def __init__(self, *args: Any, **kwargs: Any):
        import warnings

        warnings.warn("PidTracker is deprecated and will be removed in a future release. Please use "
                      "ProcessTracker instead.", DeprecationWarning, stacklevel=2)
        super().__init__(*args, **kwargs)


class SystemTracker(_CsvTracker):
    """Track the whole machine, and write one CSV row per interval. It does not stop by itself. The arguments are
    those of ProcessTracker."""

    def __init__(
        self,
        start_time: Optional[float] = None,
        interval: float = 1,
        autostart: bool = True,
        output_file: Optional[str] = None,
        *,
        schema: Optional[str] = None,
    ):
        from .helpers import get_tracker_implementation

        self.get_system_stats: Callable[..., Any] = get_tracker_implementation()[1]
        super().__init__(start_time, interval, schema)
        if autostart:
            self.start_tracking(output_file)

    def _read(self) -> Dict[str, Any]:
        return self.get_system_stats(self.schema)

    def diff_stats(self) -> Dict[str, Any]:
        """One row: the use of the machine since the last call, and its current memory and disk space."""
        last, now, over_s = self._next()
        row: Dict[str, Any] = {"timestamp": round(now["timestamp"], 3),
                               "processes": now["processes"]}
        row.update(_cpu(last, now, over_s))
        for column in SCHEMAS[self.schema].system[5:]:
            row[column.name] = self._cell(column, last, now)
        return stats_of("system", self.schema, row)

    @staticmethod
    def _cell(column: Any, last: Dict[str, Any], now: Dict[str, Any]) -> Any:
        if column.name.startswith("disk_space_"):
            kind = column.name.split("_")[2]
            return round(sum(space[kind] for space in now["disk_spaces"].values())
                         / column.to_bytes, 2)
        if column.name in ("disk_read_bytes", "disk_write_bytes"):
            kind = column.name[len("disk_"):]
            if now["disk_stats"] is None or last["disk_stats"] is None:
                return None
            return sum(max(0, disk[kind] - last["disk_stats"][name][kind])
                       for name, disk in now["disk_stats"].items() if name in last["disk_stats"])
        if column.name.startswith("net_"):
            return _delta(last, now, column.name)
        return _round(now[column.name], column.decimals)


# Users import the classes from resource_tracker.tracker; tracebacks and pickles name that module.
for _public in (ProcessTracker, PidTracker, SystemTracker):
    _public.__module__ = "resource_tracker.tracker"
