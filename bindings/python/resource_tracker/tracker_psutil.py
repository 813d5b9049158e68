"""The counters of this moment under the names of the module that used psutil.

On Linux they are those of tracker_procfs: what is measured does not depend on which packages are
installed. Elsewhere psutil gives them.
"""

from __future__ import annotations

from time import time
from typing import Any, Dict, Set, Union

from .column_maps import DEFAULT_SCHEMA
from .helpers import is_partition, is_procfs_available


def get_process_stats(
    pid: int, children: bool = True, schema: str = DEFAULT_SCHEMA
) -> Dict[str, Union[int, float, None, Set[int]]]:
    """As tracker_procfs.get_process_stats; a process that does not exist is an error:
    psutil.NoSuchProcess where psutil is installed, else ProcessLookupError."""
    if not is_procfs_available():
        return _process_by_psutil(pid, children, schema)
    from . import tracker_procfs

    timestamp = time()
    now = tracker_procfs.read_process(pid, children)
    if now is None:
        try:
            from psutil import NoSuchProcess
        except ImportError:
            raise ProcessLookupError(3, f"No such process: {pid}") from None
        raise NoSuchProcess(pid)
    return tracker_procfs.process_stats(now, timestamp, pid, children, schema)


def get_system_stats(schema: str = DEFAULT_SCHEMA) -> Dict[str, Union[int, float, Dict[str, Any]]]:
    """As tracker_procfs.get_system_stats."""
    if not is_procfs_available():
        return _system_by_psutil(schema)
    from . import tracker_procfs

    return tracker_procfs.get_system_stats(schema)


def _memory(stats: Dict[str, Any], name: str, size: float, schema: str) -> None:
    if schema == "0.4":
        stats[name] = int(size / 1024)
    else:
        stats[name + "_mib"] = size / 1024 / 1024


def _process_by_psutil(pid: int, children: bool, schema: str) -> Dict[str, Any]:
    import psutil

    root = psutil.Process(pid)
    timestamp = time()
    family = [root] + (root.children(recursive=True) if children else [])
    stats: Dict[str, Any] = {"timestamp": timestamp, "pid": pid,
                             "children": len(family) - 1 if children else None,
                             "utime": 0.0, "stime": 0.0}
    memory = read = written = 0
    for process in family:
        try:
            times = process.cpu_times()
            stats["utime"] += times.user + (times.children_user if children else 0)
            stats["stime"] += times.system + (times.children_system if children else 0)
            memory += process.memory_info().rss
            io = process.io_counters() if hasattr(process, "io_counters") else None
            read += io.read_bytes if io else 0
            written += io.write_bytes if io else 0
        except psutil.Error:
            if process is root:
                raise
    _memory(stats, "memory", memory, schema)
    prefix = "" if schema == "0.4" else "disk_"
    stats.update({prefix + "read_bytes": read, prefix + "write_bytes": written, "gpu_usage": None,
                  "gpu_vram" if schema == "0.4" else "gpu_vram_mib": None, "gpu_utilized": None,
                  "gpu_utilized_indexes": set()})
    return stats


def _system_by_psutil(schema: str) -> Dict[str, Any]:
    import psutil

    cpu, memory = psutil.cpu_times(), psutil.virtual_memory()
    stats: Dict[str, Any] = {"timestamp": time(), "processes": len(psutil.pids()),
                             "utime": cpu.user + getattr(cpu, "nice", 0), "stime": cpu.system}
    for kind in ("free", "used", "buffers", "cached", "active", "inactive"):
        _memory(stats, f"memory_{kind}", getattr(memory, kind, 0), schema)
    stats["disk_stats"] = {
        name: {"read_bytes": io.read_bytes, "write_bytes": io.write_bytes}
        for name, io in (psutil.disk_io_counters(perdisk=True) or {}).items()
        if not is_partition(name)}
    stats["disk_spaces"] = {}
    for part in psutil.disk_partitions():
        try:
            usage = psutil.disk_usage(part.mountpoint)
        except OSError:
            continue
        stats["disk_spaces"][part.mountpoint] = {"total": usage.total, "used": usage.used,
                                                 "free": usage.free}
    net = {name: io for name, io in psutil.net_io_counters(pernic=True).items()
           if not name.startswith("lo")}
    stats.update({"net_recv_bytes": sum(io.bytes_recv for io in net.values()),
                  "net_sent_bytes": sum(io.bytes_sent for io in net.values()), "gpu_usage": None,
                  "gpu_vram" if schema == "0.4" else "gpu_vram_mib": None, "gpu_utilized": None})
    return stats
