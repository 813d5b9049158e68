"""The process tree on macOS, from the system's libproc: no compiler and no privilege is needed.

proc_pid_rusage() shows a process's own CPU time, that of the children it has waited for, its footprint
(the column Memory of Activity Monitor) with its peak, and its bytes from and to storage; a zombie's too.
Times are ticks of hw.tbfrequency (24 MHz on Apple silicon, 1 GHz on Intel). mach_timebase_info() is not
used, because under Rosetta it describes another clock.

launchd adopts orphans, so that no member receives their time. A kernel queue says when a member forks or
ends: its children are noted at once, and orphans are looked at more often.

The offsets are those of <sys/resource.h>: tests/python/test_layouts.py compiles assertions about them.
"""

from __future__ import annotations

import ctypes
import errno
import select
from typing import Any, Dict, List, Optional, Set, Tuple

from ._tree_ledger import Reading

SYSTEM_LIBRARY = "/usr/lib/libSystem.B.dylib"
RUSAGE_INFO_V4 = 4
EVENTS_MAX = 400  # and readings of members, between two samples: about 10 ms of CPU time
_NAMES_V4 = (
    "ri_user_time ri_system_time ri_pkg_idle_wkups ri_interrupt_wkups ri_pageins ri_wired_size "
    "ri_resident_size ri_phys_footprint ri_proc_start_abstime ri_proc_exit_abstime ri_child_user_time "
    "ri_child_system_time ri_child_pkg_idle_wkups ri_child_interrupt_wkups ri_child_pageins "
    "ri_child_elapsed_abstime ri_diskio_bytesread ri_diskio_byteswritten ri_cpu_time_qos_default "
    "ri_cpu_time_qos_maintenance ri_cpu_time_qos_background ri_cpu_time_qos_utility "
    "ri_cpu_time_qos_legacy ri_cpu_time_qos_user_initiated ri_cpu_time_qos_user_interactive "
    "ri_billed_system_time ri_serviced_system_time ri_logical_writes ri_lifetime_max_phys_footprint "
    "ri_instructions ri_cycles ri_billed_energy ri_serviced_energy ri_interval_max_phys_footprint "
    "ri_runnable_time").split()


class RusageInfoV4(ctypes.Structure):
    """struct rusage_info_v4."""

    _fields_ = [("ri_uuid", ctypes.c_uint8 * 16), *((name, ctypes.c_uint64) for name in _NAMES_V4)]


def seconds(ticks: int, hz: int) -> float:
    """Ticks of the kernel's clock in seconds."""
    return ticks / hz


class Events:
    """A kernel queue that reports which of the watched processes fork or end."""

    def __init__(self) -> None:
        """Raises AttributeError if this Python has no kernel queues."""
        self._lib: Any = select  # the module has these names on macOS alone
        self._queue = self._lib.kqueue()

    def watch(self, pid: int) -> None:
        """Watch a process from now on; the queue drops a process that has ended."""
        lib = self._lib
        try:
            self._queue.control([lib.kevent(pid, lib.KQ_FILTER_PROC, lib.KQ_EV_ADD | lib.KQ_EV_CLEAR,
                                            lib.KQ_NOTE_FORK | lib.KQ_NOTE_EXIT)], 0)
        except OSError:
            pass  # it has ended, or is another user's

    def wait(self, seconds: float) -> List[Tuple[int, bool, bool]]:
        """Wait at most this long for events, and return (pid, whether it has forked, whether it has ended)
        for each."""
        return [(event.ident, bool(event.fflags & self._lib.KQ_NOTE_FORK),
                 bool(event.fflags & self._lib.KQ_NOTE_EXIT))
                for event in self._queue.control(None, 32, seconds)]


class Tree:
    """A process, and its descendants if they count."""

    source = "proc_pid_rusage"
    inherits = True
    memory_source = "sum of ri_phys_footprint"
    memory_quality = "at_least"

    def __init__(self, pid: int, children: bool = True, library: Any = SYSTEM_LIBRARY, events: Any = None):
        """Raises OSError if libproc is missing, or if the process has ended or may not be read."""
        self._lib = ctypes.CDLL(library, use_errno=True) if isinstance(library, str) else library
        self.pid, self._children = pid, children
        self._hz = self._tick_hz()
        self._last: Dict[int, Reading] = {}
        self.denied: Set[int] = set()  # live members that may not be read
        self._start = self._usage(pid).ri_proc_start_abstime
        self._events: Any = events if children else None
        self._ended: Set[int] = set()  # since the last read()
        self._left = EVENTS_MAX

    def _tick_hz(self) -> int:
        value = ctypes.c_uint64(0)
        size = ctypes.c_size_t(ctypes.sizeof(value))
        if self._lib.sysctlbyname(b"hw.tbfrequency", ctypes.byref(value), ctypes.byref(size),
                                  None, ctypes.c_size_t(0)) != 0 or not value.value:
            raise OSError(ctypes.get_errno() or errno.ENOENT, "hw.tbfrequency cannot be read")
        # Of 32 or of 64 bits; the machines are little-endian.
        return int(value.value)

    def _usage(self, pid: int) -> Any:
        usage = RusageInfoV4()
        if self._lib.proc_pid_rusage(ctypes.c_int(pid), RUSAGE_INFO_V4, ctypes.byref(usage)) != 0:
            raise OSError(ctypes.get_errno(), f"proc_pid_rusage of pid {pid}")
        return usage

    def _child_pids(self, pid: int) -> List[int]:
        room = 64
        while True:
            pids = (ctypes.c_int * room)()
            found = self._lib.proc_listchildpids(ctypes.c_int(pid), pids, ctypes.sizeof(pids))
            if found < room:
                return list(pids[:max(0, found)])
            room *= 4

    def _reading(self, pid: int, parent: int) -> Optional[Reading]:
        """None for a process that has ended, or that could never be read."""
        try:
            usage = self._usage(pid)
        except OSError as error:
            if error.errno not in (errno.EPERM, errno.EACCES):
                return None
            self.denied.add(pid)
            last = self._last.get(pid)
            return last._replace(parent=parent) if last else None

        def time(name: str) -> float:
            return seconds(getattr(usage, name), self._hz)

        ended = bool(usage.ri_proc_exit_abstime)
        return Reading(parent, usage.ri_proc_start_abstime, time("ri_user_time"), time("ri_system_time"),
                       time("ri_child_user_time") if self._children else 0.0,
                       time("ri_child_system_time") if self._children else 0.0,
                       0 if ended else usage.ri_phys_footprint, usage.ri_lifetime_max_phys_footprint,
                       usage.ri_diskio_bytesread, usage.ri_diskio_byteswritten, ended)

    def read(self, between: bool = False) -> Optional[Dict[int, Reading]]:
        """The live members by pid; None once the first process has ended. `between`: this reading is taken
        between two samples and counts against the events that listen() may handle until the next sample."""
        self.denied = set()
        first = self._reading(self.pid, 0)
        if first is None or first.start != self._start:
            return None
        now = {self.pid: first}
        queue = [self.pid] if self._children else []
        # A member whose parent has ended belongs to launchd, and still to the tree.
        known = [pid for pid in self._last if pid != self.pid] if self._children else []
        while queue or known:
            if queue:
                parent = queue.pop(0)
                found = [(pid, parent) for pid in self._child_pids(parent)]
            else:
                pid = known.pop(0)
                if pid in now:
                    continue
                before = self._last[pid].parent
                found = [(pid, before if before in now else 0)]
            for pid, parent in found:
                if pid in now:
                    continue
                reading = self._reading(pid, parent)
                if reading is None or (parent == 0 and reading.start != self._last[pid].start):
                    continue
                now[pid] = reading
                queue.append(pid)
        for pid in now.keys() - self._last.keys():
            self._watch(pid)
        self._last, self._ended = now, set()
        self._left = self._left - len(now) if between else EVENTS_MAX
        return dict(now)

    def _watch(self, pid: int) -> None:
        if self._events:
            self._events.watch(pid)

    @property
    def listens(self) -> bool:
        """Whether listen() can be called: not again before the next sample after many events."""
        return self._events is not None and self._left > 0

    def listen(self, seconds: float) -> bool:
        """Wait at most this long for events, and record new children. Returns whether an orphan is alive."""
        assert self._events is not None
        for parent, forked, ended in self._events.wait(seconds):
            self._left -= 1
            queue = [parent] if forked else []
            while queue:
                parent = queue.pop()
                for pid in self._child_pids(parent):
                    reading = None if pid in self._last else self._reading(pid, parent)
                    if reading:
                        self._last[pid] = reading
                        self._watch(pid)
                        queue.append(pid)
            if ended:
                self._ended.add(parent)
        return any(reading.parent not in self._last or reading.parent in self._ended
                   for pid, reading in self._last.items() if pid != self.pid and pid not in self._ended)
