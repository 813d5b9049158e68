"""The counters of this moment, from /proc.

Totals count from the start of the processes, or from boot. They never step back, because what a
process used stays counted after its end.
"""

from __future__ import annotations

import os
from time import time
from typing import Any, Dict, List, Optional, Set, Tuple, Union

from . import _engine
from .column_maps import DEFAULT_SCHEMA, aliases, get_schema

#: Counters are kept from one call to the next, which makes the next one cheap.
_KEPT = 16
_kept: Dict[Tuple[int, int, bool], Any] = {}
_machine: Dict[int, Any] = {}
_gpu: Optional[bool] = None


class Stats(Dict[str, Any]):
    """A dict that also answers to the names of other schemas."""

    aliases: Dict[str, Tuple[str, float]] = {}

    def __missing__(self, name: str) -> Any:
        other, factor = self.aliases[name]
        value = self[other]
        return value if value is None or factor == 1 else value * factor


def _stats_class(level: str, schema: str) -> type:
    return type("Stats", (Stats,), {"aliases": aliases(get_schema(schema), [(level, "")])})


_classes: Dict[Tuple[str, str], type] = {}


def stats_of(level: str, schema: str, values: Dict[str, Any]) -> Dict[str, Any]:
    """Values under the names of a schema, that answer to those of the others."""
    made = _classes.get((level, schema))
    if made is None:
        made = _classes[level, schema] = _stats_class(level, schema)
    return made(values)


def _zero() -> Optional[int]:
    """GPU figures: 0 where there is no GPU, unknown where one is not measured."""
    global _gpu
    if _gpu is None:
        _gpu = _engine.has_gpu()
    return None if _gpu else 0


def _counters(pid: int, children: bool) -> Any:
    key = (os.getpid(), pid, children)
    found = _kept.get(key)
    if found is None:
        if len(_kept) >= _KEPT:
            _kept.clear()
        found = _kept[key] = _engine.new_counters(pid, children)
    return found


def read_process(pid: int, children: bool) -> Optional[Tuple[Any, ...]]:
    """The counters of a process, or None when it has gone. Of a pid that was given out again, the
    new process's."""
    children = bool(children)
    key = (os.getpid(), pid, children)
    for _ in range(2):
        try:
            now = _counters(pid, children).process()
        except ProcessLookupError:
            return None
        if not now[6]:
            return now
        _kept.pop(key, None)
    return None


def get_process_stats(
    pid: int, children: bool = True, schema: str = DEFAULT_SCHEMA
) -> Dict[str, Union[int, float, None, Set[int]]]:
    """What a process has used so far, with its living children and those it has waited for.

    Args:
        pid: the process
        children: whether its descendants count
        schema: names and units; see column_maps.SCHEMAS

    Returns:
        timestamp, pid, children (None if they do not count), utime, stime (seconds), memory (KiB;
        memory_mib in the schema 0.5), read_bytes, write_bytes (disk_… in 0.5), gpu_usage,
        gpu_vram, gpu_utilized, gpu_utilized_indexes. A process that has gone has 0 everywhere.
    """
    timestamp = time()
    return process_stats(read_process(pid, children), timestamp, pid, children, schema)


def process_stats(now: Optional[Tuple[Any, ...]], timestamp: float, pid: int, children: bool,
                  schema: str) -> Dict[str, Any]:
    """What read_process() has given, under the names of a schema."""
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
        names[0]: int(memory * 1024) if is_04 else memory,
        names[1]: None if read is None else int(read),
        names[2]: None if written is None else int(written),
        "gpu_usage": gpu,
        names[3]: gpu,
        "gpu_utilized": gpu,
        "gpu_utilized_indexes": set(),
    })


def get_system_stats(schema: str = DEFAULT_SCHEMA) -> Dict[str, Union[int, float, Dict[str, Any]]]:
    """What the machine has used since boot.

    Returns:
        timestamp, processes, utime, stime (seconds), memory_free, memory_used, memory_buffers,
        memory_cached, memory_active, memory_inactive (KiB; memory_…_mib in the schema 0.5),
        disk_stats {disk: {read_bytes, write_bytes}}, disk_spaces {mount point: {total, used, free}}
        (bytes), net_recv_bytes, net_sent_bytes, gpu_usage, gpu_vram, gpu_utilized.
    """
    timestamp = time()
    counters = _machine.get(os.getpid())
    if counters is None:
        _machine.clear()
        counters = _machine[os.getpid()] = _engine.new_counters()
    (processes, user, system, free, used, buffers, cached, active, inactive, received, sent, disks,
     mounts) = counters.machine()
    is_04 = schema == "0.4"
    if not is_04:
        get_schema(schema)
    stats: Dict[str, Any] = {
        "timestamp": timestamp,
        "processes": None if processes is None else int(processes),
        "utime": user,
        "stime": system,
    }
    for name, mib in (("memory_free", free), ("memory_used", used), ("memory_buffers", buffers),
                      ("memory_cached", cached), ("memory_active", active),
                      ("memory_inactive", inactive)):
        if is_04:
            stats[name] = None if mib is None else int(mib * 1024)
        else:
            stats[name + "_mib"] = mib
    gpu = _zero()
    stats["disk_stats"] = {name: {"read_bytes": int(read), "write_bytes": int(written)}
                           for name, (read, written) in disks.items()}
    stats["disk_spaces"] = {point: {"total": int(total), "used": int(taken), "free": int(left)}
                            for point, total, taken, left in mounts}
    stats["net_recv_bytes"] = None if received is None else int(received)
    stats["net_sent_bytes"] = None if sent is None else int(sent)
    stats["gpu_usage"] = gpu
    stats["gpu_vram" if is_04 else "gpu_vram_mib"] = gpu
    stats["gpu_utilized"] = gpu
    return stats_of("system", schema, stats)


# ---- single figures ----

def get_process_children(pid: int) -> Set[int]:
    """Pids of all descendants."""
    from ._pure import descendants

    return set(descendants(pid))


def get_process_rss(pid: int) -> int:
    """Resident memory, KiB; 0 when the process has gone."""
    try:
        with open(f"/proc/{pid}/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") // 1024
    except (OSError, ValueError, IndexError):
        return 0


def get_process_pss_rollup(pid: int) -> int:
    """Proportional memory, KiB; resident memory where that may not be read."""
    from ._pure import memory_bytes

    return memory_bytes(pid) // 1024


def get_process_proc_times(pid: int, children: bool = True) -> Dict[str, int]:
    """CPU time in clock ticks: utime and stime, with those of children that were waited for."""
    from ._pure import read_stat

    try:
        fields = list(map(int, read_stat(pid)[11:15]))
    except (OSError, ValueError, IndexError):
        return {"utime": 0, "stime": 0}
    if not children:
        fields[2:] = [0, 0]
    return {"utime": fields[0] + fields[2], "stime": fields[1] + fields[3]}


def get_process_proc_io(pid: int) -> Dict[str, int]:
    """Bytes read from and written to storage; 0 where that may not be read."""
    from ._pure import io_bytes

    read, written = io_bytes(pid) or (0, 0)
    return {"read_bytes": read, "write_bytes": written}


def get_sector_sizes() -> Dict[str, int]:
    """Size of the sectors of each disk as the hardware has them. Sectors of /proc/diskstats have
    512 bytes whatever this says."""
    sizes: Dict[str, int] = {}
    names: List[str] = os.listdir("/sys/block") if os.path.isdir("/sys/block") else []
    for name in names:
        try:
            with open(f"/sys/block/{name}/queue/hw_sector_size", encoding="ascii") as file:
                sizes[name] = int(file.read())
        except (OSError, ValueError):
            sizes[name] = 512
    return sizes
