"""A Windows job object around the calling process: the system sums up what this process and all processes
that it starts from then on use, including processes that have ended.

A process cannot leave its job object again, so the job object is created only if
RESOURCE_TRACKER_JOB_OBJECT=1 is set. The offsets are those of <winnt.h>: tests/python/test_layouts.py
compiles assertions about them.
"""

from __future__ import annotations

import ctypes
from typing import Any, NamedTuple

BASIC_AND_IO_ACCOUNTING, EXTENDED_LIMIT = 8, 9  # JOBOBJECTINFOCLASS
TICK_S = 1e-7  # FILETIME counts 100 ns


class BasicAndIoAccounting(ctypes.Structure):
    """JOBOBJECT_BASIC_AND_IO_ACCOUNTING_INFORMATION."""

    _fields_ = [("TotalUserTime", ctypes.c_int64), ("TotalKernelTime", ctypes.c_int64),
                ("ThisPeriodTotalUserTime", ctypes.c_int64),
                ("ThisPeriodTotalKernelTime", ctypes.c_int64),
                ("TotalPageFaultCount", ctypes.c_uint32), ("TotalProcesses", ctypes.c_uint32),
                ("ActiveProcesses", ctypes.c_uint32), ("TotalTerminatedProcesses", ctypes.c_uint32),
                ("IoInfo", ctypes.c_uint64 * 6)]


class ExtendedLimit(ctypes.Structure):
    """JOBOBJECT_EXTENDED_LIMIT_INFORMATION on Windows of 64 bits."""

    _fields_ = [("BasicLimitInformation", ctypes.c_uint64 * 8), ("IoInfo", ctypes.c_uint64 * 6),
                ("ProcessMemoryLimit", ctypes.c_uint64), ("JobMemoryLimit", ctypes.c_uint64),
                ("PeakProcessMemoryUsed", ctypes.c_uint64), ("PeakJobMemoryUsed", ctypes.c_uint64)]


class JobTotals(NamedTuple):
    user_s: float
    system_s: float
    processes: int  # that ever were in the job
    active: int
    peak_commit: int  # bytes; 0 where the system does not keep it


def _kernel32() -> Any:
    lib = ctypes.WinDLL("kernel32", use_last_error=True)  # type: ignore[attr-defined]
    lib.CreateJobObjectW.restype = lib.GetCurrentProcess.restype = ctypes.c_void_p
    lib.CreateJobObjectW.argtypes = [ctypes.c_void_p, ctypes.c_wchar_p]
    lib.AssignProcessToJobObject.argtypes = [ctypes.c_void_p, ctypes.c_void_p]
    lib.QueryInformationJobObject.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p,
                                              ctypes.c_uint32, ctypes.c_void_p]
    return lib


class JobObject:
    """The job object of the calling process. Once created, it exists until the process ends."""

    def __init__(self, lib: Any = None):
        """Raises OSError if the system refuses it, as under a host job that forbids nesting."""
        self._lib = lib or _kernel32()
        self._job = self._lib.CreateJobObjectW(None, None)
        if not self._job:
            raise self._error("CreateJobObject")
        if not self._lib.AssignProcessToJobObject(self._job, self._lib.GetCurrentProcess()):
            raise self._error("AssignProcessToJobObject")

    @staticmethod
    def _error(what: str) -> OSError:
        code = ctypes.get_last_error() if hasattr(ctypes, "get_last_error") else 0  # type: ignore
        return OSError(code, f"{what} failed with error {code}")

    def _query(self, kind: int, into: ctypes.Structure) -> None:
        if not self._lib.QueryInformationJobObject(self._job, kind, ctypes.byref(into),
                                                   ctypes.sizeof(into), None):
            raise self._error("QueryInformationJobObject")

    def totals(self) -> JobTotals:
        """Raises OSError if the system does not report the totals."""
        basic, limit = BasicAndIoAccounting(), ExtendedLimit()
        self._query(BASIC_AND_IO_ACCOUNTING, basic)
        self._query(EXTENDED_LIMIT, limit)
        return JobTotals(basic.TotalUserTime * TICK_S, basic.TotalKernelTime * TICK_S,
                         basic.TotalProcesses, basic.ActiveProcesses, limit.PeakJobMemoryUsed)
