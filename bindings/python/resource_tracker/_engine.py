"""Selects the source of all figures: the C library, or plain Python code if the library cannot be loaded.
It also finds the program, and starts and reads trackers."""

from __future__ import annotations

import os
from typing import Any, Dict, Iterator, List, Optional, Sequence, Tuple

from . import _lines
from ._platform import MACHINE, ON_WINDOWS, samples_with_psutil, system

try:
    from . import _core
except ImportError:
    _core = None  # type: ignore[assignment]

MIN_INTERVAL_S, MAX_INTERVAL_S = 0.01, 3600

#: Path of the program for this machine in the package. RESOURCE_TRACKER_BIN overrides it.
PROGRAM_IN_PACKAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "native",
                                  MACHINE, "resource-tracker-program" + ".exe" * ON_WINDOWS)

Columns = Dict[str, List[Any]]


def program() -> str:
    """Path of the resource-tracker program, or "" if there is none."""
    named = os.environ.get("RESOURCE_TRACKER_BIN")
    if named:
        return named
    if os.access(PROGRAM_IN_PACKAGE, os.X_OK):
        return PROGRAM_IN_PACKAGE
    if ON_WINDOWS:  # which() would search the working directory first there
        return ""
    from shutil import which

    return which("resource-tracker-program") or ""


def new_counters(pid: Optional[int] = None, children: bool = True) -> Any:
    """Counters of a process, or of the machine if `pid` is None."""
    if _core is not None and not samples_with_psutil():
        return _core.Counters() if pid is None else _core.Counters(pid=pid, children=children)
    Counters = _in_python().Counters
    return Counters() if pid is None else Counters(pid, children)


def _in_python() -> Any:
    """The module that implements Counters and Tracker of the library in Python, for this system."""
    if samples_with_psutil():
        from . import _elsewhere

        return _elsewhere
    from . import _pure

    return _pure


def library() -> Any:
    """The C library.

    Raises:
        OSError: it cannot be loaded on this machine
    """
    if _core is None:
        from errno import ENOSYS

        raise OSError(ENOSYS, "the C library of resource-tracker is not in this package")
    return _core


def answer_of(found: Tuple[str, str]) -> Any:
    """Parse an answer of the library, which is a pair (JSON text, remark). A remark that is not empty, for example
    about an unreachable database, is logged as a warning."""
    import json

    text, remark = found
    if remark:
        from ._log import logger

        logger.warning(remark)
    return json.loads(text)


class Sampling:
    """A running tracker.

    Args:
        folder: folder of its recording if Python created it; "" if the library did
        has_alerts: whether the tracker judges the rules of alerts
    """

    def __init__(self, tracker: Any, folder: str = "", has_alerts: bool = True):
        self.tracker, self.folder, self.has_alerts = tracker, folder, has_alerts
        self._owner = os.getpid()

    def release(self) -> None:
        """Stop the tracker and remove its recording. Has no effect in a forked child."""
        self.tracker.close()
        if self.folder and self._owner == os.getpid():
            _remove(self.folder)


PREFIX = "resource-tracker-"  # of the names of temporary folders
#: File in a temporary folder that holds the folder's name (src/base/file.h). Only folders with it are swept.
MARK = ".temporary"


def new_folder(place: Optional[str]) -> str:
    """Create a temporary folder in `place` (default: the usual one), which the package may sweep if it is left.

    Raises:
        OSError: it cannot be created
    """
    from tempfile import mkdtemp

    folder = mkdtemp(prefix=PREFIX, dir=place)
    try:
        with open(os.path.join(folder, MARK), "x", encoding="ascii") as file:
            file.write(os.path.basename(folder))
    except OSError:
        _remove(folder)
        raise
    return folder


def _remove(folder: str) -> None:
    from shutil import rmtree

    rmtree(folder, ignore_errors=True)


def _folders() -> Iterator[str]:
    """Create temporary folders for a recording, one at a time, in places other than the usual one. Places where
    no folder can be created are skipped."""
    for place in (os.environ.get("TMPDIR"), "/dev/shm", "/var/tmp", os.path.expanduser("~/.cache")):
        try:
            if place:
                yield new_folder(place)
        except OSError:
            continue


def _start_elsewhere(**options: Any) -> Optional[Sampling]:
    assert _core is not None
    for folder in _folders():
        try:
            return Sampling(_core.Tracker(dir=folder, **options), folder)
        except OSError:
            _remove(folder)
    return None


_swept = False
LEFT_OVER_S = 24 * 3600


def _temporary() -> str:
    """The folder in which the library creates the temporary folders of recordings."""
    return "/tmp"


def _is_left_over(path: str, oldest: float) -> bool:
    """Whether the package made this folder for a recording, as its mark shows, and nothing in it was written since
    `oldest`. The user's own folders of recordings, such as /tmp/resource-tracker-UID, have no mark."""
    from ._trust import open_found

    try:
        with open(open_found(os.path.join(path, MARK)), encoding="ascii", errors="replace") as file:
            if file.read(256) != os.path.basename(path):
                return False
        return bool(os.listdir(os.path.join(path, "runs"))) and all(
            os.lstat(os.path.join(folder, name)).st_mtime < oldest
            for folder, _, names in os.walk(path) for name in [*names, "."])
    except OSError:
        return False


def _sweep() -> None:
    """Remove recordings that were last written at least a day ago, which interpreters that were killed have
    left. A recording in use is written at each sample. Runs once in a process."""
    global _swept
    if _swept:
        return
    _swept = True
    from time import time

    oldest = time() - LEFT_OVER_S
    try:
        for entry in os.scandir(_temporary()):
            if (entry.name.startswith(PREFIX) and len(entry.name) - len(PREFIX) in (6, 8)  # mkdtemp of C and of Python
                    and entry.is_dir(follow_symlinks=False) and _is_left_over(entry.path, oldest)):
                _remove(entry.path)
    except OSError:
        pass


def start_tracker(more: Sequence[bytes] = (), dir: Optional[str] = None,  # noqa: A002
                  **options: Any) -> Sampling:
    """Start sampling. The first of these that works takes the samples:

    1. a thread of the library, if lines are requested and only this process may read its own memory
    2. the program, as a process of its own
    3. a thread of the library
    4. a Python thread, without the library, if no recording can be written, or on systems other than Linux

    Args:
        more: further options of `resource-tracker attach` for the program
        dir: folder of the recording, which is kept; default: a temporary one
        options: further arguments of _core.Tracker

    Raises:
        ProcessLookupError: there is no such process
    """
    if _core is not None and not samples_with_psutil():
        _sweep()
        rate = _lines.asked_rate(more) if options.get("pid") == os.getpid() else 0
        if rate and _lines.needs_thread(more):
            try:
                return Sampling(_core.Tracker(in_thread=True, dir=dir, lines_hz=rate, **options), has_alerts=False)
            except OSError:
                pass  # use the program, which samples no lines then
        try:
            return Sampling(_core.Tracker(program=program() or None, dir=dir, options=list(more),
                                          **options))
        except ProcessLookupError:
            raise
        except OSError as error:
            from ._log import logger

            if not dir and not os.access(_temporary(), os.W_OK | os.X_OK):
                found = _start_elsewhere(program=program() or None, **options)
                if found:
                    return found
            logger.warning("Sampling in a thread of this process, because the separate program cannot "
                           "be started: %s", error)
        try:
            return Sampling(_core.Tracker(in_thread=True, dir=dir, lines_hz=rate, **options), has_alerts=False)
        except ProcessLookupError:
            raise
        except OSError as error:
            logger.warning("Sampling in Python: %s", error)
    return Sampling(_in_python().Tracker(**options), has_alerts=False)


# ---- columns ----

#: Columns that count what happened within an interval; merging rows adds them up. All other columns are values
#: at the end of the interval.
AMOUNTS = frozenset(("process_utime", "process_stime", "process_disk_read_bytes",
                     "process_disk_write_bytes", "system_utime", "system_stime",
                     "system_disk_read_bytes", "system_disk_write_bytes",
                     "system_net_recv_bytes", "system_net_sent_bytes", "interval_s"))

_index: Dict[str, int] = {}


def column_index(name: str) -> int:
    assert _core is not None
    if not _index:
        for i, column in enumerate(_core.columns()):
            _index[column[0]] = i
    return _index[name]


def read_columns(tracker: Any, names: List[str]) -> Columns:
    """The named columns of all rows so far, in the units of docs/columns.md."""
    if hasattr(tracker, "columns"):
        found = tracker.columns()
        rows = len(next(iter(found.values()), []))
        return {name: found.get(name, [None] * rows) for name in names}
    assert _core is not None
    recording = _core.Recording(tracker.recording)
    return {name: recording.column(column_index(name)) for name in names}


def _merge(table: Columns, into: int, row: int, newer: bool) -> None:
    """Add the row `row` to the row `into`. If it is the newer of the two, its values at the end replace those of
    `into`."""
    for name, values in table.items():
        a, b = values[into], values[row]
        if name in AMOUNTS:
            values[into] = b if a is None else a if b is None else a + b
        elif newer and b is not None:
            values[into] = b
    for level in ("process", "system"):
        usage = table.get(f"{level}_cpu_usage")
        if usage is not None:
            user, system = table[f"{level}_utime"][into], table[f"{level}_stime"][into]
            over_s = table["interval_s"][into]
            usage[into] = None
            if user is not None and system is not None and over_s:
                usage[into] = (user + system) / over_s


def settle(table: Columns, interval_s: float) -> Columns:
    """Merge short rows at both ends into their neighbours, so that each row covers about one interval.

    The first sample is taken at the start and the last one at the stop. A row of a few milliseconds would show
    a meaningless rate. Merging keeps its amounts."""
    spans = table["interval_s"]
    if not spans:
        return table
    drop = set()
    short = interval_s / 2
    last = len(spans) - 1
    memory = table.get("process_memory_mib")
    # After the end of the process the last row has no memory, but it still counts CPU time and bytes.
    gone = memory is not None and memory[last] is None
    if last > 0 and ((spans[last] or 0) < short or gone):
        _merge(table, last - 1, last, newer=True)
        drop.add(last)
        last -= 1
    if last > 0 and (spans[0] or 0) < short:
        _merge(table, 1, 0, newer=False)
        drop.add(0)
    _fill_rates(table)
    if not drop:
        return table
    return {name: [v for i, v in enumerate(values) if i not in drop]
            for name, values in table.items()}


def _fill_rates(table: Columns) -> None:
    """Compute the CPU usage of rows that lack it, from the CPU time and the time that they cover: a first row
    after a late first sample, and an only row."""
    for level in ("process", "system"):
        usage = table.get(f"{level}_cpu_usage", [])
        if None not in usage:
            continue
        amounts = zip(table[f"{level}_utime"], table[f"{level}_stime"], table["interval_s"])
        for i, (user, system, over_s) in enumerate(amounts):
            if usage[i] is None and user is not None and system is not None and over_s:
                usage[i] = (user + system) / over_s


# ---- the machine's GPUs ----

def has_gpu() -> bool:
    """Whether the machine may have a GPU. If not, GPU use is 0 instead of unknown. On systems other than Linux
    always True, because there are no device files that would show the absence of a GPU."""
    import glob

    return system() != "linux" or bool(glob.glob("/dev/nvidia[0-9]*") or glob.glob("/proc/driver/nvidia/gpus/*")
                or os.path.exists("/dev/kfd") or os.path.exists("/dev/dxg"))


def ask_program(*arguments: str, timeout: float = 30) -> Any:
    """Run the program and parse the JSON that it prints. None if there is no program, if it fails, or if it takes
    longer than `timeout` seconds."""
    import json
    import subprocess

    try:
        done = subprocess.run([program(), *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, timeout=timeout, check=True, encoding="utf-8",
                              errors="replace")
        return json.loads(done.stdout)
    except (OSError, ValueError, subprocess.SubprocessError):
        return None
