"""Counters and a tracker for systems on which the C library does not track: macOS, Windows, and others that psutil
supports. psutil reads the process tree and the machine.

The results have the same shapes as those of _core and _pure; a figure that cannot be read is None. The module has not
run on a real Mac or Windows machine yet: see docs/platforms.md.
"""

from __future__ import annotations

from typing import Any, Dict, List, Optional, Tuple

from . import _platform, _pure
from ._psutil_tree import Reading, Tree

MIB = 1024 * 1024


class Counters:
    """Same interface as _core.Counters."""

    queue_s: Optional[float] = None  # these systems do not report the time in the CPU queue

    def __init__(self, pid: int = 0, children: bool = True):
        self._tree = Tree(pid, children) if pid else None
        self.peak = 0  # bytes: the largest sum of a sample
        self.peak_processes = 0
        self.denied = 0  # the largest number of members that one reading was denied access to

    @property
    def tree(self) -> Any:
        """The reader of the process tree."""
        return self._tree

    def process(self) -> Tuple[Any, ...]:
        """(user CPU s, system CPU s, memory in MiB, bytes read, bytes written, number of live processes, 1 if the
        first process has ended or 0)"""
        assert self._tree is not None
        living = self._tree.read()
        self.denied = max(self.denied, self._tree.denied)
        memory = self._memory(living or [])
        self.peak_processes = max(self.peak_processes, len(living or []))
        total = self._tree.totals()
        return (total.user_s, total.system_s, None if memory is None else memory / MIB, total.read, total.written,
                len(living or []), int(living is None))

    def _memory(self, living: List[Reading]) -> Optional[int]:
        known = [reading.memory for reading in living if reading.memory is not None]
        self.peak = max(self.peak, sum(known))
        return sum(known) if known or not living else None

    def machine(self, in_kib: bool) -> Tuple[Any, ...]:
        """Same result as _core.Counters.machine(); None for figures that the system does not report."""
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
    """{disk: {"read_bytes", "write_bytes"}}; None without counters, as on Windows with diskperf disabled."""
    try:
        found = psutil.disk_io_counters(perdisk=True)
    except (OSError, RuntimeError, psutil.Error):
        return None
    return {name: {"read_bytes": io.read_bytes, "write_bytes": io.write_bytes}
            for name, io in found.items() if not _platform.is_partition(name)} if found else None


def _spaces(psutil: Any) -> Dict[str, Dict[str, int]]:
    """{mount point: {"total", "used", "free"}} in bytes. The volumes of an APFS container share its space, so each
    container is listed once, at the volume with the user's data."""
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
    """Same interface as _core.Tracker; a thread of this process takes the samples."""

    _told = (0.0, 0.0)

    def _counters_of(self, pid: int = 0, children: bool = True) -> Counters:
        return Counters(pid, children)

    def raise_to(self, user_s: float, system_s: float) -> None:
        """The system has told the CPU time of the first process after its end: the totals are at least that."""
        self._told = user_s, system_s

    def totals(self) -> Dict[str, Dict[str, Any]]:
        """As ResourceTracker.totals(), with the figures that the system provides; {} before the first sample."""
        counters = self._process
        if counters is None or not self._rows:
            return {}
        denied = f"; {counters.denied} process(es) may not be read" if counters.denied else ""
        seen = "processes that lived between two samples are not seen"
        user, system = (max(0.0, self._last[0][i] - self._first[0][i], self._told[i]) for i in (0, 1))
        totals = {
            name: _estimated(value, counters.tree.source,
                             "sampled: each process counts as it was last read; short processes are missing" + denied)
            for name, value in (("cpu_s", user + system), ("cpu_user_s", user), ("cpu_system_s", system))}
        totals["peak_memory_mib"] = _estimated(counters.peak / MIB or None, counters.tree.memory_source,
                                               "sampled: peaks between two samples are missing" + denied)
        totals["peak_processes"] = _estimated(counters.peak_processes, "samples", seen)
        for i, name in ((3, "disk_read_bytes"), (4, "disk_write_bytes")):
            now, before = self._last[0][i], self._first[0][i]
            totals[name] = (
                {"value": None, "quality": "unknown", "source": "",
                 "reason": "the system does not report the disk bytes of a process"} if now is None else
                _estimated(max(0, now - (before or 0)), counters.tree.source, seen))
        return totals


def _estimated(value: Any, source: str, reason: str) -> Dict[str, Any]:
    """A total. What psutil samples is too low rather than too high, but by how much is not known."""
    return {"value": value, "quality": "unknown" if value is None else "estimated", "source": source,
            "reason": reason}
