"""The process tree on macOS, from the system's libproc: no compiler and no privilege is needed.

proc_pid_rusage() shows a process's own CPU time, that of the children it has waited for, its footprint
(the column Memory of Activity Monitor) with its peak, and its bytes from and to storage; a zombie's too.
Times are ticks of hw.tbfrequency (24 MHz on Apple silicon, 1 GHz on Intel). mach_timebase_info() is not
used, because under Rosetta it describes another clock.

The offsets are those of <sys/resource.h>: tests/python/test_layouts.py compiles assertions about them.
"""

from __future__ import annotations

import ctypes
import errno
from typing import Any, Dict, List, Optional, Set

from ._tree_ledger import Reading

SYSTEM_LIBRARY = "/usr/lib/libSystem.B.dylib"
RUSAGE_INFO_V4 = 4
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


class Tree:
    """A process, and its descendants if they count."""

    source = "proc_pid_rusage"
    inherits = True
    memory_source = "sum of ri_phys_footprint"
    memory_quality = "at_least"

    def __init__(self, pid: int, children: bool = True, library: Any = SYSTEM_LIBRARY):
        """Raises OSError where libproc is missing, the process has gone, or may not be read."""
        self._lib = ctypes.CDLL(library, use_errno=True) if isinstance(library, str) else library
        self.pid, self._children = pid, children
        self._hz = self._tick_hz()
        self._last: Dict[int, Reading] = {}
        self.denied: Set[int] = set()  # live members that may not be read
        self._start = self._usage(pid).ri_proc_start_abstime

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
        """None for a process that has gone, or that was never readable."""
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

    def read(self) -> Optional[Dict[int, Reading]]:
        """The living members by pid; None once the first process has gone."""
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
        self._last = now
        return dict(now)
