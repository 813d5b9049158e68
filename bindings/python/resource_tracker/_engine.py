"""Where figures come from: the C library, or plain Python if it cannot be loaded; and which program is
started."""

from __future__ import annotations

import os
from typing import Any, Dict, Iterator, List, Optional, Sequence, Tuple

from . import _lines
from ._platform import MACHINE, ON_WINDOWS, system

try:
    from . import _core
except ImportError:
    _core = None  # type: ignore[assignment]

MIN_INTERVAL_S, MAX_INTERVAL_S = 0.01, 3600

#: The program for this machine in the package; RESOURCE_TRACKER_BIN names another one.
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
    if ON_WINDOWS:  # where the working directory would be looked into first
        return ""
    from shutil import which

    return which("resource-tracker-program") or ""


def new_counters(pid: Optional[int] = None, children: bool = True) -> Any:
    """Counters of a process; without a pid, those of the machine."""
    # Elsewhere the library has no counters of the machine; those of a process are the same in Python there.
    if _core is not None and system() not in ("macos", "windows"):
        return _core.Counters() if pid is None else _core.Counters(pid=pid, children=children)
    Counters = _in_python().Counters
    return Counters() if pid is None else Counters(pid, children)


def _in_python() -> Any:
    """The Python module that replaces the library on this system."""
    if system() == "linux":
        from . import _pure

        return _pure
    from . import _elsewhere

    return _elsewhere


def library() -> Any:
    """Return the C library.

    Raises:
        OSError: there is none for this machine
    """
    if _core is None:
        from errno import ENOSYS

        raise OSError(ENOSYS, "the C library of resource-tracker is not in this package")
    return _core


def answer_of(found: Tuple[str, str]) -> Any:
    """Return the document in an answer of the library. Its remark, such as a database that cannot be reached,
    is logged."""
    import json

    text, remark = found
    if remark:
        from ._log import logger

        logger.warning(remark)
    return json.loads(text)


class Sampling:
    """A running tracker, and the folder of its recording if the library does not manage it."""

    def __init__(self, tracker: Any, folder: str = "", has_alerts: bool = True):
        self.tracker, self.folder, self.has_alerts = tracker, folder, has_alerts
        self._owner = os.getpid()

    def release(self) -> None:
        """Stop, and remove the recording. In a forked child, do neither."""
        self.tracker.close()
        if self.folder and self._owner == os.getpid():
            from shutil import rmtree

            rmtree(self.folder, ignore_errors=True)


def _folders() -> Iterator[str]:
    """New folders for a recording, to use if the usual folder cannot be written."""
    from tempfile import mkdtemp

    for place in (os.environ.get("TMPDIR"), "/dev/shm", "/var/tmp", os.path.expanduser("~/.cache")):
        try:
            if place:
                yield mkdtemp(prefix="resource-tracker-", dir=place)
        except OSError:
            continue


def _start_elsewhere(**options: Any) -> Optional[Sampling]:
    assert _core is not None
    for folder in _folders():
        try:
            return Sampling(_core.Tracker(dir=folder, **options), folder)
        except OSError:
            os.rmdir(folder)
    return None


_swept = False
LEFT_OVER_S = 24 * 3600


def _temporary() -> str:
    """The folder in which the library creates folders for recordings."""
    if not ON_WINDOWS:
        return "/tmp"
    from tempfile import gettempdir

    return gettempdir()


def _is_own(found: os.stat_result) -> bool:
    """Whether the folder belongs to this user. Windows has a folder for temporary files for each user."""
    return ON_WINDOWS or found.st_uid == os.getuid()


def _sweep() -> None:
    """Once per process: remove recordings of interpreters that were killed a day ago or longer. A recording
    in progress is younger, because it grows with each sample."""
    global _swept
    if _swept:
        return
    _swept = True
    from time import time

    oldest = time() - LEFT_OVER_S
    try:
        for entry in os.scandir(_temporary()):
            # resource-tracker-UID holds the recordings of a user without a home.
            if (not entry.name.startswith("resource-tracker-")
                    or (not ON_WINDOWS and entry.name == f"resource-tracker-{os.getuid()}")
                    or not entry.is_dir(follow_symlinks=False)):
                continue
            found = entry.stat(follow_symlinks=False)
            if not _is_own(found) or found.st_mtime >= oldest:
                continue
            runs = [run.stat(follow_symlinks=False).st_mtime for run in os.scandir(os.path.join(entry.path, "runs"))]
            if runs and max(runs) < oldest:
                from shutil import rmtree

                rmtree(entry.path, ignore_errors=True)
    except OSError:
        pass


def _wants_job_object() -> bool:
    """Whether a Windows job object around this process is to be used; only Python creates it."""
    return system() == "windows" and os.environ.get("RESOURCE_TRACKER_JOB_OBJECT") == "1"


def start_tracker(more: Sequence[bytes] = (), dir: Optional[str] = None,  # noqa: A002
                  **options: Any) -> Sampling:
    """Start sampling. A separate process takes the samples. If no program can be executed, or if lines are
    requested and only this process may read its memory, a thread of the library takes them. Without the
    library, or if nothing can be written, a Python thread takes them.

    Args:
        more: options of `resource-tracker attach` for the process
        dir: where the recording of a process or thread is written and kept

    Raises:
        ProcessLookupError: there is no such process
    """
    if _core is not None and not _wants_job_object():
        _sweep()
        rate = _lines.asked_rate(more) if options.get("pid") == os.getpid() else 0
        if rate and _lines.needs_thread(more):
            try:
                return Sampling(_core.Tracker(in_thread=True, dir=dir, lines_hz=rate, **options), has_alerts=False)
            except OSError:
                pass  # by a process, without lines
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
            logger.warning("Sampling in a thread of this process, because the separate program cannot be started: %s", error)
            if ON_WINDOWS:  # the library has no thread there
                return Sampling(_in_python().Tracker(**options), has_alerts=False)
        try:
            return Sampling(_core.Tracker(in_thread=True, dir=dir, lines_hz=rate, **options), has_alerts=False)
        except ProcessLookupError:
            raise
        except OSError as error:
            logger.warning("Sampling in Python: %s", error)
    return Sampling(_in_python().Tracker(**options), has_alerts=False)


# ---- columns ----

#: What happened within an interval: added up when rows are merged. The rest is of the moment.
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
    """The columns of all rows so far, in the engine's units."""
    if hasattr(tracker, "columns"):
        found = tracker.columns()
        rows = len(next(iter(found.values()), []))
        return {name: found.get(name, [None] * rows) for name in names}
    assert _core is not None
    recording = _core.Recording(tracker.recording)
    return {name: recording.column(column_index(name)) for name in names}


def _merge(table: Columns, into: int, row: int, newer: bool) -> None:
    """Add a row to another one. `newer`: this row is the later one, so its time is used."""
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
    """Make rows of about one interval each. The first sample comes at once and the last one at the stop. The
    counts of such a short row are added to the neighbouring row, so that no rate covers only a few
    milliseconds and no amount is lost."""
    spans = table["interval_s"]
    if not spans:
        return table
    drop = set()
    short = interval_s / 2
    last = len(spans) - 1
    memory = table.get("process_memory_mib")
    # Once the process has gone nothing is known of its memory; what it used until then is.
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
    """Give a rate to a first row that covers an interval, because the first sample came late, and to a row
    that is alone: the rate over the time that they cover."""
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
    """Whether there may be a GPU whose use could be measured. If there is none, its use is 0. Without /dev
    and /proc, nothing proves that there is none."""
    import glob

    return system() != "linux" or bool(glob.glob("/dev/nvidia[0-9]*") or glob.glob("/proc/driver/nvidia/gpus/*")
                or os.path.exists("/dev/kfd") or os.path.exists("/dev/dxg"))


def ask_program(*arguments: str, timeout: float = 30) -> Any:
    """The JSON that the program prints, or None if there is no program or it fails."""
    import json
    import subprocess

    try:
        done = subprocess.run([program(), *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, timeout=timeout, check=True, encoding="utf-8",
                              errors="replace")
        return json.loads(done.stdout)
    except (OSError, ValueError, subprocess.SubprocessError):
        return None
