"""The process tree, read by psutil: for every system without its own reader.

If the system does not report the time of reaped children (Windows, macOS), a process counts as it was last
read, so that short processes are missing. A process that started and ended between two readings is not seen.
"""

from __future__ import annotations

from typing import Any, Dict, List, Optional, Set

from . import _platform
from ._tree_ledger import Reading


class Tree:
    """As _libproc.Tree."""

    source = "psutil"

    def __init__(self, pid: int, children: bool = True):
        """Raises ProcessLookupError if the process has ended, PermissionError if it may not be read."""
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
        self._seen: Dict[int, Any] = {}
        self._last: Dict[int, Reading] = {}
        self.denied: Set[int] = set()
        system = _platform.system()
        # Elsewhere psutil has the figures and leaves them at 0.
        self.inherits = children and system not in ("macos", "windows")
        # Windows counts files, pipes and the network alike: that is no traffic of a disk.
        self._has_io = system != "windows" and hasattr(self._first, "io_counters")
        self._is_private = system == "windows"

    @property
    def memory_source(self) -> str:
        """What the memory figure measures."""
        return ("sum of private working sets" if self._is_private else
                "sum of resident memory: shared pages count in each process")

    @property
    def memory_quality(self) -> str:
        """The quality of the peak of memory."""
        return "at_least" if self._is_private else "estimated"

    def _memory_of(self, process: Any) -> int:
        """On Windows the private working set, as in Task Manager, or the private bytes if reading it is
        refused. If the system does not report the private part (Wine), the whole working set from then on."""
        if self._is_private:
            try:
                return int(process.memory_full_info().uss)
            except (self._psutil.AccessDenied, AttributeError):
                return int(process.memory_info().private)
            except OSError:
                self._is_private = False
        return int(process.memory_info().rss)

    def _reading(self, process: Any, parent: int) -> Optional[Reading]:
        psutil = self._psutil
        last = self._last.get(process.pid)
        try:
            if process.status() == psutil.STATUS_ZOMBIE:
                raise psutil.ZombieProcess(process.pid)
            times = process.cpu_times()
            start = process.create_time()
        except psutil.ZombieProcess:  # it has ended and waits for its parent
            return last and last._replace(parent=parent, memory=0, ended=True)
        except psutil.NoSuchProcess:
            return None
        except psutil.AccessDenied:
            self.denied.add(process.pid)
            return last and last._replace(parent=parent)
        memory = read = written = None
        try:
            memory = self._memory_of(process)
            if self._has_io:
                io = process.io_counters()
                read, written = io.read_bytes, io.write_bytes
        except psutil.AccessDenied:
            if memory is None:
                self.denied.add(process.pid)
        except psutil.Error:  # it ended in between
            pass
        below = (times.children_user, times.children_system) if self.inherits else (0.0, 0.0)
        return Reading(parent, start, times.user, times.system, below[0], below[1], memory, None, read,
                       written)

    def _descendants(self) -> List[Any]:
        """The descendants of the first process and of members that outlived their parents."""
        found: Dict[int, Any] = {}
        for process in [self._first, *self._seen.values()]:
            if process.pid in found:
                continue
            try:
                below = process.children(recursive=True)
            except self._psutil.Error:
                below = []
            for child in below:
                found.setdefault(child.pid, child)
            if process is not self._first and process.is_running():
                found.setdefault(process.pid, process)
        found.pop(self._first.pid, None)
        return list(found.values())

    def _parent_of(self, process: Any, members: Set[int]) -> int:
        try:
            parent: int = process.ppid()
        except self._psutil.Error:  # of a zombie some systems do not tell it
            parent = self._last[process.pid].parent if process.pid in self._last else 0
        return parent if parent in members else 0

    def read(self) -> Optional[Dict[int, Reading]]:
        """The live members by pid; None once the first process has ended."""
        self.denied = set()
        if not self._first.is_running():
            return None
        family = [self._first, *(self._descendants() if self._children else [])]
        members = {process.pid for process in family}
        now: Dict[int, Reading] = {}
        for process in family:
            parent = 0 if process is self._first else self._parent_of(process, members)
            reading = self._reading(process, parent)
            if reading is not None:
                now[process.pid] = reading
        if self._first.pid not in now:
            return None
        self._seen = {process.pid: process for process in family[1:] if process.pid in now}
        self._last = now
        return dict(now)
