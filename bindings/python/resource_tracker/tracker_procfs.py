"""Counters of a process tree and of the machine, read now: from /proc on Linux, and on other systems as
described in _elsewhere.py.

Totals count from the start of the processes, or from boot. They never decrease: what a process used is still
counted after its end.
"""

from __future__ import annotations

import os
from time import time
from typing import Any, Dict, Iterable, List, Optional, Set, Tuple, Union

from . import _engine
from ._platform import is_procfs_available
from .column_maps import Answers, aliases, default_schema, get_schema

#: Counters are kept from one call to the next, which makes the next one cheap.
_KEPT = 16
_kept: Dict[Tuple[int, bool], Any] = {}
_machine: List[Any] = []
_gpu: Optional[bool] = None


_Pairs = Union[Dict[str, Any], Iterable[Tuple[str, Any]]]


def _forget() -> None:
    _kept.clear()
    _machine.clear()


# A forked child reads counters of its own, and has no use for the parent's descriptors.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)


_aliases: Dict[Tuple[str, str], Dict[str, Tuple[str, float]]] = {}


def stats_of(level: str, schema: str, values: _Pairs) -> Dict[str, Any]:
    """A dict with the names of a schema, which also returns values by the names of the other one."""
    table = _aliases.get((level, schema))
    if table is None:
        table = _aliases[level, schema] = aliases(get_schema(schema), [(level, "")])
    return Answers(values, table)


def _zero() -> Optional[int]:
    """GPU figures: 0 if there is no GPU, unknown if there is one that is not measured."""
    global _gpu
    if _gpu is None:
        _gpu = _engine.has_gpu()
    return None if _gpu else 0


def _counters(pid: int, children: bool) -> Any:
    key = (pid, children)
    found = _kept.get(key)
    if found is None:
        if len(_kept) >= _KEPT:
            _kept.clear()
        found = _kept[key] = _engine.new_counters(pid, children)
    return found


def read_process(pid: int, children: bool) -> Optional[Tuple[Any, ...]]:
    """Counters of a process, or None if it does not exist. If its pid was reused by a new process, the
    counters are those of the new process."""
    children = bool(children)
    for _ in range(2):
        try:
            now = _counters(pid, children).process()
        except (ProcessLookupError, OverflowError):  # the latter: no pid is that large
            return None
        if not now[6]:
            return now
        _kept.pop((pid, children), None)
    return None


def get_process_stats(
    pid: int, children: bool = True, schema: Optional[str] = None
) -> Dict[str, Union[int, float, None, Set[int]]]:
    """What a process and its descendants have used so far: live descendants, and children that were waited
    for.

    Args:
        pid: the process
        children: whether its descendants count
        schema: names and units, "0.4" or "0.5"; default: see set_schema()

    Returns:
        a dict: timestamp (s since 1970), pid, children (number of live descendants; None if they do not count),
        utime and stime (CPU time in s), memory (PSS in KiB; memory_mib in the schema 0.5), read_bytes and
        write_bytes (of storage; disk_… in 0.5), gpu_usage (GPUs in use, 0.5: half of one), gpu_vram (MiB;
        gpu_vram_mib in 0.5), gpu_utilized (number of GPUs), gpu_utilized_indexes (set). An unknown value is
        None. All figures are 0 if the process does not exist.
    """
    timestamp = time()
    return process_stats(read_process(pid, children), timestamp, pid, children,
                         schema or default_schema())


def process_stats(now: Optional[Tuple[Any, ...]], timestamp: float, pid: int, children: bool,
                  schema: str) -> Dict[str, Any]:
    """The result of read_process() under the names of a schema."""
    gone = now is None
    user, system, memory, read, written, processes, _ = now or (0.0, 0.0, 0.0, 0, 0, 0, 1)
    is_04 = schema == "0.4"
    gpu = 0 if gone else _zero()
    names = ("memory", "read_bytes", "write_bytes", "gpu_vram") if is_04 else (
        "memory_mib", "disk_read_bytes", "disk_write_bytes", "gpu_vram_mib")
    if not is_04:
        get_schema(schema)
    return stats_of("process", schema, {
        "timestamp": timestamp,
        "pid": pid,
        "children": (max(0, processes - 1) if children else None),
        "utime": user,
        "stime": system,
        names[0]: None if memory is None else int(memory * 1024) if is_04 else memory,
        names[1]: None if read is None else int(read),
        names[2]: None if written is None else int(written),
        "gpu_usage": gpu,
        names[3]: gpu,
        "gpu_utilized": gpu,
        "gpu_utilized_indexes": set(),
    })


def get_system_stats(schema: Optional[str] = None) -> Dict[str, Union[int, float, Dict[str, Any]]]:
    """What the machine has used since boot.

    Returns:
        a dict: timestamp (s since 1970), processes (number), utime and stime (CPU time of all cores in s),
        memory_free, memory_used (total less available), memory_buffers, memory_cached, memory_active,
        memory_inactive (KiB; memory_…_mib in the schema 0.5), disk_stats {disk: {read_bytes, write_bytes}},
        disk_spaces {mount point: {total, used, free}} (bytes), net_recv_bytes, net_sent_bytes, gpu_usage (GPUs
        in use), gpu_vram (MiB), gpu_utilized (number of GPUs). An unknown value is None.
    """
    timestamp = time()
    schema = schema or default_schema()
    if not _machine:
        _machine.append(_engine.new_counters())
    gpu = _zero()
    now = _machine[0].machine(schema == "0.4")
    for space in now[10].values():  # what only root may fill counts as used, as in the original
        space["used"] = space["total"] - space["free"]
    return stats_of("system", schema, zip(
        _system_names.get(schema) or _name_system(schema), (timestamp, *now, gpu, gpu, gpu)))


_system_names: Dict[str, Tuple[str, ...]] = {}


def _name_system(schema: str) -> Tuple[str, ...]:
    get_schema(schema)
    unit = "" if schema == "0.4" else "_mib"
    kinds = ("free", "used", "buffers", "cached", "active", "inactive")
    names = _system_names[schema] = (
        "timestamp", "processes", "utime", "stime", *(f"memory_{kind}{unit}" for kind in kinds),
        "disk_stats", "disk_spaces", "net_recv_bytes", "net_sent_bytes", "gpu_usage",
        "gpu_vram" + unit, "gpu_utilized")
    return names


# ---- single figures ----

def _psutil_process(pid: int) -> Any:
    """A process on a system without /proc; None if it does not exist."""
    import psutil

    try:
        return psutil.Process(pid)
    except (psutil.NoSuchProcess, ValueError, OverflowError):
        return None


def _need_proc(what: str) -> None:
    if not is_procfs_available():
        from errno import ENOSYS

        raise OSError(ENOSYS, f"{what} is read from /proc, which this system does not have")


def get_process_children(pid: int) -> Set[int]:
    """Pids of all live descendants of a process."""
    if not is_procfs_available():
        process = _psutil_process(pid)
        return {child.pid for child in process.children(recursive=True)} if process else set()
    from ._pure import descendants

    return set(descendants(pid))


def get_process_rss(pid: int) -> int:
    """Resident set size of a process in KiB; 0 if it does not exist."""
    if not is_procfs_available():
        process = _psutil_process(pid)
        return process.memory_info().rss // 1024 if process else 0
    try:
        with open(f"/proc/{pid}/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") // 1024
    except (OSError, ValueError, IndexError):
        return 0


def get_process_pss_rollup(pid: int) -> int:
    """Proportional set size of a process in KiB; its resident set size if smaps_rollup is not readable.

    Raises:
        OSError: this system has no /proc
    """
    _need_proc("the proportional set size")
    from ._pure import memory_bytes

    return memory_bytes(pid) // 1024


def get_process_proc_times(pid: int, children: bool = True) -> Dict[str, int]:
    """CPU time in clock ticks: utime and stime, including children that were waited for.

    Raises:
        OSError: this system has no /proc
    """
    _need_proc("CPU time in ticks")
    from ._pure import read_stat

    try:
        fields = list(map(int, read_stat(pid)[11:15]))
    except (OSError, ValueError, IndexError):
        return {"utime": 0, "stime": 0}
    if not children:
        fields[2:] = [0, 0]
    return {"utime": fields[0] + fields[2], "stime": fields[1] + fields[3]}


def get_process_proc_io(pid: int) -> Dict[str, int]:
    """Bytes read from and written to storage; 0 if they may not be read.

    Raises:
        OSError: this system has no /proc
    """
    _need_proc("what a process moved to and from storage")
    from ._pure import io_bytes

    read, written = io_bytes(pid) or (0, 0)
    return {"read_bytes": read, "write_bytes": written}


def get_sector_sizes() -> Dict[str, int]:
    """Hardware sector size of each disk. The sectors of /proc/diskstats have 512 bytes in any case."""
    sizes: Dict[str, int] = {}
    names: List[str] = os.listdir("/sys/block") if os.path.isdir("/sys/block") else []
    for name in names:
        try:
            with open(f"/sys/block/{name}/queue/hw_sector_size", encoding="ascii") as file:
                sizes[name] = int(file.read())
        except (OSError, ValueError):
            sizes[name] = 512
    return sizes
