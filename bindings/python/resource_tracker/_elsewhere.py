"""Counters and a tracker for systems without /proc: macOS, Windows, and others that psutil supports.

psutil reads the figures of the machine. The process tree is read from libproc on macOS, from a job object on
Windows if one is requested, and else by psutil. The results have the same shapes as those of _core and _pure;
what cannot be read is None. It has not been run on a real Mac or Windows machine yet: docs/platforms.md.
"""

from __future__ import annotations

import os
import time
from typing import Any, Callable, Dict, List, Optional, Tuple

from . import _platform, _pure
from ._tree_ledger import Ledger, Reading

MIB = 1024 * 1024
#: Less than this of job totals says nothing about whether they work.
DEAD_TOTALS_S = 0.05
#: Between two readings while orphans live, and between two looks whether the tracker shall end.
ORPHANS_S = 0.05


def _new_tree(pid: int, children: bool) -> Any:
    if _platform.system() == "macos":
        from . import _libproc

        try:
            return _libproc.Tree(pid, children, events=_events())
        except (AttributeError, ImportError) as error:  # no ctypes, or a function is missing
            from ._log import logger

            logger.warning("libproc cannot be used, psutil reads the tree: %s", error)
    from . import _psutil_tree

    return _psutil_tree.Tree(pid, children)


def _events() -> Any:
    from . import _libproc

    try:
        return _libproc.Events()
    except (AttributeError, OSError):  # each sample finds what lives then
        return None


_own_job: List[Any] = []  # the job object of this process, or None where it was refused


def _job_of(pid: int, children: bool) -> Any:
    """The job object of this process, once created; None if it was not requested or cannot be created."""
    if (_platform.system() != "windows" or pid != os.getpid() or not children
            or os.environ.get("RESOURCE_TRACKER_JOB_OBJECT") != "1"):
        return None
    if not _own_job:
        from ._job_object import JobObject
        from ._log import logger

        try:
            _own_job.append(JobObject())
        except (OSError, AttributeError) as error:
            logger.warning("There is no job object, psutil reads the tree: %s", error)
            _own_job.append(None)
    return _own_job[0]


class Counters:
    """As _core.Counters."""

    queue_s: Optional[float] = None  # nobody tells it

    def __init__(self, pid: int = 0, children: bool = True):
        self._tree = _new_tree(pid, children) if pid else None
        self._job = _job_of(pid, children) if pid else None
        self._job_before: Optional[Tuple[float, float]] = None
        self.ledger = Ledger()
        self.job_peak_commit: Optional[int] = None
        self.job_is_dead = False
        self.peak = 0  # bytes: the largest sum, or the largest single process of its life
        self.peak_processes = 0
        self.denied = 0  # members that could not be read, the most at once

    @property
    def tree(self) -> Any:
        """The reader of the tree."""
        return self._tree

    def process(self) -> Tuple[Any, ...]:
        """Return user s, system s, MiB, bytes read, bytes written, number of processes, and 1 if the process
        has ended."""
        assert self._tree is not None
        now = self._tree.read()
        if now is not None:
            self.ledger.update(now)
            self.denied = max(self.denied, len(self._tree.denied))
        living = [reading for reading in (now or {}).values() if not reading.ended]
        memory = self._memory(living)
        self.peak_processes = max(self.peak_processes, len(living))
        user, system = self._times()
        first = (now or {}).get(self.pid)
        return (user, system, None if memory is None else memory / MIB, self.ledger.read,
                self.ledger.written, len(living), int(first is None or first.ended))

    @property
    def listens(self) -> bool:
        """Whether the tree can report events between two samples."""
        return bool(getattr(self._tree, "listens", False))

    def follow(self, until: float, clock: Callable[[], float]) -> None:
        """Until a given time, record forks, and count what orphans use."""
        look = clock() + ORPHANS_S
        while self._tree is not None and self.listens and clock() < until:
            orphans = self._tree.listen(max(0.0, min(until - clock(), ORPHANS_S)))
            if orphans and clock() >= look:
                now = self._tree.read(between=True)
                if now is not None:
                    self.ledger.update(now)
                look = clock() + ORPHANS_S

    @property
    def pid(self) -> int:
        """The first process of the tree."""
        return int(self._tree.pid) if self._tree else 0

    def _memory(self, living: List[Reading]) -> Optional[int]:
        known = [reading.memory for reading in living if reading.memory is not None]
        self.peak = max([self.peak, sum(known), *(reading.peak or 0 for reading in living)])
        return sum(known) if known or not living else None

    def _times(self) -> Tuple[float, float]:
        """The times of the job object where it counts them, else those of the ledger."""
        user, system = self.ledger.times
        if self._job is None or self.job_is_dead:
            return user, system
        try:
            totals = self._job.totals()
        except OSError:
            self.job_is_dead = True
            return user, system
        job, ledger = totals.user_s + totals.system_s, user + system
        if ledger - job > max(DEAD_TOTALS_S, ledger * 0.03) and job < ledger / 2:
            self.job_is_dead = True  # as under Wine: the members have used time, the job none
            return user, system
        self.job_peak_commit = totals.peak_commit or None
        return (totals.user_s, totals.system_s) if job >= ledger else (user, system)

    @property
    def has_job(self) -> bool:
        """Whether a job object counts the CPU time."""
        return self._job is not None and not self.job_is_dead

    def machine(self, in_kib: bool) -> Tuple[Any, ...]:
        """As _core.Counters.machine; None for figures that the system does not provide."""
        import psutil

        cpu, memory = psutil.cpu_times(), psutil.virtual_memory()
        kinds = [_size(getattr(memory, kind, None), in_kib)
                 for kind in ("free", "buffers", "cached", "active", "inactive")]
        kinds.insert(1, _size(memory.total - memory.available, in_kib))
        received, sent = _net(psutil)
        return (len(psutil.pids()), cpu.user + getattr(cpu, "nice", 0.0),
                cpu.system + getattr(cpu, "irq", 0.0) + getattr(cpu, "softirq", 0.0), *kinds,
                _disks(psutil), _spaces(psutil), received, sent)


def _size(size: Optional[int], in_kib: bool) -> Optional[float]:
    if size is None:
        return None
    return size // 1024 if in_kib else size / MIB


def _net(psutil: Any) -> Tuple[Optional[int], Optional[int]]:
    try:
        all_of_them = psutil.net_io_counters(pernic=True) or {}
    except (OSError, RuntimeError, psutil.Error):
        return None, None
    outside = [io for name, io in all_of_them.items()
               if not name.lower().startswith(("lo", "loopback"))]
    if not outside:
        return None, None
    return sum(io.bytes_recv for io in outside), sum(io.bytes_sent for io in outside)


def _disks(psutil: Any) -> Optional[Dict[str, Dict[str, int]]]:
    """None if there are no counters, as on Windows with diskperf turned off."""
    try:
        found = psutil.disk_io_counters(perdisk=True)
    except (OSError, RuntimeError, psutil.Error):
        return None
    return {name: {"read_bytes": io.read_bytes, "write_bytes": io.write_bytes}
            for name, io in found.items() if not _platform.is_partition(name)} if found else None


def _spaces(psutil: Any) -> Dict[str, Dict[str, int]]:
    """Space by mount point. The volumes of one APFS container share its space, which is counted once, for the
    volume with the user's data."""
    spaces: Dict[str, Dict[str, int]] = {}
    containers: Dict[str, str] = {}
    for part in psutil.disk_partitions(all=False):
        try:
            usage = psutil.disk_usage(part.mountpoint)
        except OSError:
            continue
        if not usage.total:
            continue
        if part.fstype == "apfs":
            container = _container(part.device)
            if container in containers:
                if part.mountpoint != "/System/Volumes/Data":
                    continue
                spaces.pop(containers[container], None)
            containers[container] = part.mountpoint
        spaces[part.mountpoint] = {"total": usage.total, "used": usage.total - usage.free,
                                   "free": usage.free}
    return spaces


def _container(device: str) -> str:
    """/dev/disk3s1s1 -> /dev/disk3"""
    import re

    found = re.match(r".*/disk\d+", device)
    return found.group() if found else device


class Tracker(_pure.Tracker):
    """As _core.Tracker; a thread of this process takes the samples."""

    def _counters_of(self, pid: int = 0, children: bool = True) -> Counters:
        return Counters(pid, children)

    def _pause(self, seconds: float) -> bool:
        until = time.monotonic() + seconds
        while self._process and self._process.listens and not self._end.is_set():
            now = time.monotonic()
            if now >= until:
                break
            self._process.follow(min(until, now + ORPHANS_S), time.monotonic)
        return self._end.wait(max(0.0, until - time.monotonic()))

    def totals(self) -> Dict[str, Dict[str, Any]]:
        """As ResourceTracker.totals(): the figures that are available, each with its quality."""
        counters = self._process
        if counters is None or not self._rows:
            return {}
        cpu = _cpu_label(counters)
        user, system = (self._last[0][i] - self._first[0][i] for i in (0, 1))
        totals = {"cpu_s": {"value": max(0.0, user + system), **cpu},
                  "cpu_user_s": {"value": max(0.0, user), **cpu},
                  "cpu_system_s": {"value": max(0.0, system), **cpu},
                  "peak_memory_mib": _label(counters.peak / MIB if counters.peak else None,
                                            counters.tree.memory_quality, counters.tree.memory_source,
                                            _memory_reason(counters)),
                  "peak_processes": _label(counters.peak_processes, "at_least", "samples",
                                           "processes that lived between two samples are not seen")}
        if counters.job_peak_commit:
            totals["peak_commit_mib"] = _label(
                counters.job_peak_commit / MIB, "estimated", "job object",
                "committed memory of the whole tree; not run on a real machine yet")
        for i, name in ((3, "disk_read_bytes"), (4, "disk_write_bytes")):
            now, before = self._last[0][i], self._first[0][i]
            totals[name] = (
                _label(None, "unknown", "", "the system does not report the disk bytes of a process")
                if now is None else
                _label(max(0, now - (before or 0)), "at_least", counters.tree.source,
                       "processes that lived between two samples are not seen"))
        return totals


def _label(value: Any, quality: str, source: str, reason: str) -> Dict[str, Any]:
    return {"value": value, "quality": "unknown" if value is None else quality, "source": source,
            "reason": reason}


def _memory_reason(counters: Counters) -> str:
    reason = "sampled: peaks between two samples are missing"
    if counters.denied:
        reason += f"; {counters.denied} process(es) may not be read"
    return reason


def _cpu_label(counters: Counters) -> Dict[str, Any]:
    """Quality, source and reason of the CPU time."""
    denied = f"; {counters.denied} process(es) may not be read" if counters.denied else ""
    if counters.has_job:
        return {"quality": "estimated", "source": "job object", "reason":
                "complete; the system charges times at clock interrupts" + denied}
    if counters.tree.inherits:
        lost = (f"; the last piece of {counters.ledger.vanished} process(es) without a parent is missing"
                if counters.ledger.vanished else "")
        return {"quality": "at_least", "source": counters.tree.source, "reason":
                "orphans and unwaited children between two samples are missing" + lost + denied}
    why = "; the job object has no totals here" if counters.job_is_dead else ""
    return {"quality": "at_least", "source": counters.tree.source, "reason":
            "sampled: each process counts as it was last read; short processes are missing" + why + denied}
