"""Reads the process tree with psutil, on systems without a reader of their own.

psutil shows living processes only, and Windows and macOS do not add the CPU time of a child to its parent. Therefore
each process counts as it was last read: what it used after its last reading is missing, and a process that no reading
found is missing altogether. The totals never decrease.
"""

from __future__ import annotations

from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Tuple

from . import _platform


class Reading(NamedTuple):
    """What a process has used since its start. None: not known."""

    user_s: float
    system_s: float
    memory: Optional[int] = None  # bytes
    read: Optional[int] = None  # bytes read from storage
    written: Optional[int] = None  # bytes written to storage


#: A process: its pid and its start time, which distinguishes it from a later process with the same pid.
Key = Tuple[int, float]


def _add(total: Optional[int], amount: Optional[int]) -> Optional[int]:
    return total if amount is None else (total or 0) + amount


def _sum(a: Reading, b: Reading) -> Reading:
    return Reading(a.user_s + b.user_s, a.system_s + b.system_s, None, _add(a.read, b.read), _add(a.written, b.written))


class Tree:
    """A process and, if `children` is True, its descendants."""

    source = "psutil"

    def __init__(self, pid: int, children: bool = True):
        """Raises ProcessLookupError if the process does not exist, PermissionError if it may not be read."""
        import psutil

        self._psutil = psutil
        self.pid, self._children = pid, children
        try:
            self._first = psutil.Process(pid)
            self._first.cpu_times()
        except (psutil.NoSuchProcess, ValueError, OverflowError):
            raise ProcessLookupError(3, f"No such process: {pid}") from None
        except psutil.AccessDenied:
            raise PermissionError(1, f"pid {pid} may not be read") from None
        self._members: Dict[Key, Any] = {}  # as of the last reading
        self._last: Dict[Key, Reading] = {}  # of the members and of those that may not be read any more
        self._ended = Reading(0.0, 0.0)  # sum of the last readings of members that have ended
        self.denied = 0  # living members that may not be read, as of the last reading
        # The counters of Windows include files, pipes and the network, so they are not disk traffic.
        self._has_io = _platform.system() != "windows" and hasattr(self._first, "io_counters")
        self._is_private = _platform.system() == "windows"

    @property
    def memory_source(self) -> str:
        """What the memory figure measures, for the `source` of totals."""
        return ("sum of private working sets" if self._is_private else
                "sum of resident memory: shared pages count in each process")

    def _memory_of(self, process: Any) -> int:
        """Memory of a process in bytes. On Windows that is the private working set, as in Task Manager, or the
        private bytes if access is denied. If the system does not report the private working set (Wine), the
        resident set size is used from then on, as on other systems."""
        if self._is_private:
            try:
                return int(process.memory_full_info().uss)
            except (self._psutil.AccessDenied, AttributeError):
                return int(process.memory_info().private)
            except OSError:
                self._is_private = False
        return int(process.memory_info().rss)

    def _reading(self, process: Any) -> Optional[Reading]:
        """None if the process has ended, or may not be read."""
        psutil = self._psutil
        try:
            if process.status() == psutil.STATUS_ZOMBIE:
                return None
            times = process.cpu_times()
        except psutil.NoSuchProcess:
            return None
        except psutil.AccessDenied:
            self.denied += 1
            return None
        memory = read = written = None
        try:
            memory = self._memory_of(process)
            if self._has_io:
                io = process.io_counters()
                read, written = io.read_bytes, io.write_bytes
        except psutil.AccessDenied:
            if memory is None:
                self.denied += 1
        except psutil.Error:  # it ended after its times were read
            pass
        return Reading(times.user, times.system, memory, read, written)

    def _key(self, process: Any) -> Optional[Key]:
        try:
            return process.pid, process.create_time()
        except self._psutil.Error:
            return None

    def _family(self) -> Iterator[Tuple[Key, Any]]:
        """The first process, the members of the last reading that still live, which includes orphans, and the
        descendants of all of these."""
        below: Dict[int, List[Any]] = {}
        for process in self._psutil.process_iter() if self._children else ():
            try:
                below.setdefault(process.ppid(), []).append(process)
            except self._psutil.Error:  # it has ended, or its parent is not reported
                continue
        queue = [self._first, *(process for process in self._members.values() if process.is_running())]
        found = set()
        while queue:
            process = queue.pop(0)
            key = self._key(process)
            if key is None or key in found:
                continue
            found.add(key)
            yield key, process
            # A child is not older than its parent: else its parent has ended, and another process has the pid.
            queue += [child for child in below.get(process.pid, ()) if (self._key(child) or key)[1] >= key[1]]

    def read(self) -> Optional[List[Reading]]:
        """Read all living members. None once the first process has ended."""
        self.denied = 0
        if not self._first.is_running():
            return None
        family = dict(self._family())
        now = {key: reading for key, reading in ((key, self._reading(process)) for key, process in family.items())
               if reading}
        for key in self._last.keys() - family.keys():
            self._ended = _sum(self._ended, self._last.pop(key))
        self._last.update(now)
        self._members = {key: process for key, process in family.items() if key in self._last}
        first = self._key(self._first)
        return list(now.values()) if first in now else None

    def totals(self) -> Reading:
        """What all members have used, as they were last read. `memory` is not set."""
        total = self._ended
        for last in self._last.values():
            total = _sum(total, last)
        return total
