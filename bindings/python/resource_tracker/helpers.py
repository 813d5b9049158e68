"""Small functions that several modules use."""

from __future__ import annotations

import os
from typing import Any, Callable, Dict, Iterable, List, Optional, Tuple, Union

from ._platform import ON_WINDOWS, is_partition, is_procfs_available, is_psutil_available

_NAMES = (is_partition,)  # that scripts import from here

QUOTE_MINIMAL, QUOTE_ALL, QUOTE_NONNUMERIC, QUOTE_NONE = 0, 1, 2, 3  # as in csv


def mean(values: List[Any]) -> float:
    """The mean of a list of numbers."""
    return sum(values) / len(values)


def get_tracker_implementation() -> Tuple[Callable[..., Any], Callable[..., Any]]:
    """Return get_process_stats and get_system_stats of the implementation that works here. On Linux this is
    always /proc, so that the figures do not depend on which packages are installed."""
    if is_procfs_available():
        from .tracker_procfs import get_process_stats, get_system_stats
    elif is_psutil_available():
        from .tracker_psutil import get_process_stats, get_system_stats
    else:
        raise ImportError("No tracker implementation available - install psutil or use a Linux "
                          "system with procfs.")
    return get_process_stats, get_system_stats


def get_zfs_pools_space() -> Dict[str, Dict[str, int]]:
    """{"zfs:POOL": {"total", "used", "free"}} in bytes; empty if there is no ZFS."""
    import subprocess

    pools: Dict[str, Dict[str, int]] = {}
    if ON_WINDOWS:
        return pools
    try:
        out = subprocess.run(["zpool", "list", "-Hp", "-o", "name,size,allocated,free"],
                             stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             stderr=subprocess.DEVNULL, timeout=0.25, check=True,
                             encoding="utf-8", errors="replace").stdout
        for line in out.splitlines():
            name, total, used, free = line.split("\t")
            pools[f"zfs:{name}"] = {"total": int(total), "used": int(used), "free": int(free)}
    except (OSError, ValueError, subprocess.SubprocessError):
        pass
    return pools


def render_csv_row(row: Iterable[Union[str, float, int, None]],
                   quoting: int = QUOTE_NONNUMERIC) -> bytes:
    r"""One line of CSV: texts are quoted, numbers are not, None is an empty text.

    Examples:
        >>> render_csv_row(["a", 1, 2.5, None])
        b'"a",1,2.5,""\n'
    """
    from csv import writer
    from io import StringIO

    out = StringIO(newline="")
    writer(out, quoting=quoting, lineterminator="\n").writerow(row)  # type: ignore[arg-type]
    return out.getvalue().encode("utf-8")


def cleanup_files(files: List[str]) -> None:
    """Remove files. A file that cannot be removed is left."""
    for path in files:
        try:
            os.unlink(path)
        except (OSError, TypeError):
            pass


def cleanup_processes(processes: List[Any]) -> None:
    """End multiprocessing processes: terminate, wait a second, kill."""
    for process in processes:
        try:
            if process.is_alive():
                process.terminate()
                process.join(timeout=1)
                if process.is_alive():
                    process.kill()
                    process.join(timeout=1)
            process.close()
        except Exception:
            pass


def aggregate_stats(stats: List[Dict[str, Dict[str, Any]]]) -> Dict[str, Dict[str, Any]]:
    """Combine the statistics of several runs into one dict: means and durations are averaged, and of maxima
    and sums the largest is used.

    Examples:
        >>> aggregate_stats([{"a": {"mean": 1, "max": 5}}, {"a": {"mean": 3, "max": 4}}])
        {'a': {'mean': 2.0, 'max': 5}}
    """
    values: Dict[str, Dict[str, List[Any]]] = {}
    for run in stats:
        for column, aggregates in run.items():
            for name, value in aggregates.items():
                found = values.setdefault(column, {}).setdefault(name, [])
                if value is not None:
                    found.append(value)
    return {column: {name: _aggregate(name, found) for name, found in aggregates.items()}
            for column, aggregates in values.items()}


def _aggregate(name: str, values: List[Any]) -> Any:
    if name in ("mean", "duration"):
        return mean(values) if values else None
    if name in ("max", "sum"):
        return max(values) if values else None
    raise ValueError(f"Unsupported aggregation type: {name}")


def exit_code_of(error: Optional[BaseException]) -> int:
    """Exit code of a process that ends with this exception: the code of SystemExit, 130 for KeyboardInterrupt
    as shells report it, 1 for any other exception, and 0 without an exception.

    Examples:
        >>> [exit_code_of(error) for error in (SystemExit(3), SystemExit("a message"), KeyError(), None)]
        [3, 1, 1, 0]
    """
    if error is None:
        return 0
    if isinstance(error, SystemExit):
        code = error.code
        return 0 if code is None else code & 0xFF if isinstance(code, int) else 1
    return 130 if isinstance(error, KeyboardInterrupt) else 1


def round_memory(mib: Optional[Union[int, float]] = None, mb: Optional[Union[int, float]] = None) -> int:
    """A memory request that is easy to read, in MiB: 128, 256, 512, 1024, 2048, then whole GiB.

    Examples:
        >>> [round_memory(mib) for mib in (68, 1250, 5120, 5121)]
        [128, 2048, 5120, 6144]
    """
    size = mib if mib is not None else mb
    if size is None:
        raise TypeError("round_memory() needs an amount of memory")
    for step in (128, 256, 512, 1024, 2048):
        if size <= step:
            return step
    return int(-(-size // 1024) * 1024)
