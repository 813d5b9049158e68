"""Trackers: of a job (ResourceTracker), and of a process or the machine as CSV (ProcessTracker,
SystemTracker)."""

from __future__ import annotations

import os
import sys
import time
from typing import (TYPE_CHECKING, Any, Callable, Dict, Iterator, List, Optional, Sequence, Tuple,
                    Type)

from . import _engine
from .column_maps import (BYTE_MAPPING, DEFAULT_SCHEMA, HUMAN_NAMES_MAPPING, REPORT_CSV_MAPPING,
                          SCHEMAS, SERVER_ALLOCATION_CHECKS, Schema, aliases, detect_schema,
                          get_schema)
from .helpers import aggregate_stats, mean, render_csv_row, round_memory
from .tiny_data_frame import StatSpec, TinyDataFrame
from .tracker_procfs import Stats, stats_of

if TYPE_CHECKING:
    from .report import Report

__all__ = ["ProcessTracker", "PidTracker", "SystemTracker", "ResourceTracker"]

# Names that scripts import from here.
_NAMES = (BYTE_MAPPING, HUMAN_NAMES_MAPPING, REPORT_CSV_MAPPING, SERVER_ALLOCATION_CHECKS)

SNAPSHOT_VERSION = 1

# ---- CSV trackers ----


def _positive(interval: Any) -> float:
    """An interval in seconds, checked."""
    if isinstance(interval, bool) or not isinstance(interval, (int, float)):
        raise TypeError(f"interval must be a number of seconds, got {type(interval).__name__}")
    if not _engine.MIN_INTERVAL_S <= interval <= _engine.MAX_INTERVAL_S:
        raise ValueError(f"interval must be from {_engine.MIN_INTERVAL_S} to "
                         f"{_engine.MAX_INTERVAL_S} seconds, got {interval!r}")
    return interval


class _CsvTracker:
    """The loop of both: the first cycle is the baseline, each further one gives a row."""

    def __init__(self, start_time: Optional[float], interval: float, schema: str):
        self.interval: float = _positive(interval)
        self.schema: str = get_schema(schema).name
        self.status = "running"
        self.cycle: int = 0
        self.start_time: float = time.time() if start_time is None else start_time
        # The schedule is kept on the monotonic clock: a step of the wall clock is not felt.
        self._origin_s = time.monotonic() - (time.time() - self.start_time)
        self.stats: Dict[str, Any] = self._read()
        self._read_s = time.monotonic()

    def __call__(self) -> None:
        """Does nothing."""

    def _read(self) -> Dict[str, Any]:
        raise NotImplementedError

    def diff_stats(self) -> Dict[str, Any]:
        """One row: what happened since the last call, and the state now."""
        raise NotImplementedError

    def _next(self) -> Tuple[Dict[str, Any], Dict[str, Any], float]:
        """(the last reading, a new one, seconds between them)"""
        last, self.stats = self.stats, self._read()
        now_s = time.monotonic()
        over_s, self._read_s = now_s - self._read_s, now_s
        return last, self.stats, over_s

    def start_tracking(self, output_file: Optional[str] = None, print_header: bool = True) -> None:
        """Write rows until the process has ended (of the machine: for ever), to a file or to
        stdout."""
        file = open(output_file, "wb") if output_file else sys.stdout.buffer
        try:
            self._track(file, print_header)
        finally:
            if output_file:
                file.close()

    def _track(self, file: Any, print_header: bool) -> None:
        while self.status == "running":
            self.cycle += 1
            row = self.diff_stats()
            if self.status != "running":
                break
            if self.cycle == 1:
                if print_header:
                    file.write(render_csv_row(list(row)))
            else:
                file.write(render_csv_row(list(row.values())))
            file.flush()
            self._sleep()

    def _sleep(self) -> None:
        """To the next deadline that is still ahead: what was missed is skipped."""
        passed = time.monotonic() - self._origin_s
        due = self._origin_s + max(1, int(passed / self.interval) + 1) * self.interval
        time.sleep(max(0.0, due - time.monotonic()))


def _delta(last: Dict[str, Any], now: Dict[str, Any], name: str) -> Any:
    if last[name] is None or now[name] is None:
        return None
    return max(0, now[name] - last[name])


def _round(value: Any, digits: int) -> Any:
    return None if value is None else round(value, digits)


def _cpu(last: Dict[str, Any], now: Dict[str, Any], over_s: float) -> Dict[str, Any]:
    user, system = _delta(last, now, "utime"), _delta(last, now, "stime")
    usage = None if user is None or system is None or over_s <= 0 else (user + system) / over_s
    return {"utime": _round(user, 6), "stime": _round(system, 6), "cpu_usage": _round(usage, 4)}


class ProcessTracker(_CsvTracker):
    """Track one process, with its children, as CSV.

    The constructor tracks at once and returns when the process has ended, unless autostart is
    False. For tracking beside other work there is ResourceTracker.

    Args:
        pid: the process; default: this one
        start_time: when the first cycle begins, seconds since 1970; default: now
        interval: seconds between rows
        children: whether descendants count
        autostart: write rows at once
        output_file: where to; default: stdout
        schema: names and units of the columns, see column_maps.SCHEMAS
    """

    def __init__(
        self,
        pid: Optional[int] = None,
        start_time: Optional[float] = None,
        interval: float = 1,
        children: bool = True,
        autostart: bool = True,
        output_file: Optional[str] = None,
        *,
        schema: str = DEFAULT_SCHEMA,
    ):
        from .helpers import get_tracker_implementation

        self.get_process_stats: Callable[..., Any] = get_tracker_implementation()[0]
        self.pid: int = os.getpid() if pid is None else pid
        self.children = children
        super().__init__(start_time, interval, schema)
        if autostart:
            self.start_tracking(output_file)

    def _read(self) -> Dict[str, Any]:
        return self.get_process_stats(self.pid, self.children, self.schema)

    def diff_stats(self) -> Dict[str, Any]:
        """What the process used since the last call, and its memory now."""
        last, now, over_s = self._next()
        row: Dict[str, Any] = {"timestamp": round(now["timestamp"], 3), "pid": self.pid,
                               "children": now["children"]}
        row.update(_cpu(last, now, over_s))
        for column in SCHEMAS[self.schema].process[6:]:
            if column.source.endswith("_bytes"):
                row[column.name] = _delta(last, now, column.name)
            else:
                row[column.name] = _round(now[column.name], column.decimals)
        memory = SCHEMAS[self.schema].process[6].name
        if not now[memory]:
            self.status = "exited"
        return stats_of("process", self.schema, row)


def PidTracker(*args: Any, **kwargs: Any) -> ProcessTracker:
    """Deprecated name of ProcessTracker."""
    import warnings

    warnings.warn("PidTracker is deprecated and will be removed in a future release. Please use "
                  "ProcessTracker instead.", DeprecationWarning, stacklevel=2)
    return ProcessTracker(*args, **kwargs)


class SystemTracker(_CsvTracker):
    """Track the whole machine as CSV. Ends never by itself; see ProcessTracker for the rest."""

    def __init__(
        self,
        start_time: Optional[float] = None,
        interval: float = 1,
        autostart: bool = True,
        output_file: Optional[str] = None,
        *,
        schema: str = DEFAULT_SCHEMA,
    ):
        from .helpers import get_tracker_implementation

        self.get_system_stats: Callable[..., Any] = get_tracker_implementation()[1]
        super().__init__(start_time, interval, schema)
        if autostart:
            self.start_tracking(output_file)

    def _read(self) -> Dict[str, Any]:
        return self.get_system_stats(self.schema)

    def diff_stats(self) -> Dict[str, Any]:
        """What the machine used since the last call, and its memory and space now."""
        last, now, over_s = self._next()
        row: Dict[str, Any] = {"timestamp": round(now["timestamp"], 3),
                               "processes": now["processes"]}
        row.update(_cpu(last, now, over_s))
        for column in SCHEMAS[self.schema].system[5:]:
            row[column.name] = self._cell(column, last, now)
        return stats_of("system", self.schema, row)

    @staticmethod
    def _cell(column: Any, last: Dict[str, Any], now: Dict[str, Any]) -> Any:
        if column.name.startswith("disk_space_"):
            kind = column.name.split("_")[2]
            return round(sum(space[kind] for space in now["disk_spaces"].values())
                         / column.to_bytes, 2)
        if column.name in ("disk_read_bytes", "disk_write_bytes"):
            kind = column.name[len("disk_"):]
            return sum(max(0, disk[kind] - last["disk_stats"][name][kind])
                       for name, disk in now["disk_stats"].items() if name in last["disk_stats"])
        if column.name.startswith("net_"):
            return _delta(last, now, column.name)
        return _round(now[column.name], column.decimals)


class SnapshotError(ValueError, KeyError):
    """What should be a snapshot is none: a value that is wrong, or a key that is missing."""

    def __str__(self) -> str:
        return Exception.__str__(self)


# ---- the job's tracker ----

PREFIXES = {"system": "system_", "process": "process_"}
HUMAN_PREFIXES = {"system": "System ", "process": "Process "}


def _duration(interval: float) -> Callable[[List[float]], float]:
    def duration(values: List[float]) -> float:
        return max(values) - min(values) + interval

    return duration


def default_specs(schema: Schema, interval: float) -> List[StatSpec]:
    """The statistics of stats(): of the process tree's CPU, memory and GPUs the mean and the
    maximum, disk space, network traffic, duration."""
    names = {column.source: column.name for column in schema.process}
    specs = []
    for source in ("process_cpu_usage", "process_memory_mib", "process_gpu_usage",
                   "process_gpu_vram_mib", "process_gpu_utilized"):
        for agg in (mean, max):
            specs.append(StatSpec("process_" + names[source], agg, None, 2))
    specs.append(StatSpec("system_disk_space_used_gb", max, None, 2))
    specs.append(StatSpec("system_net_recv_bytes", sum))
    specs.append(StatSpec("system_net_sent_bytes", sum))
    specs.append(StatSpec("timestamp", _duration(interval), "duration"))
    return specs


class ResourceTracker:
    """Track a process with all that it starts, and the machine, while the program goes on.

    A small program of its own takes the samples. It is no child of this process, has none of its
    descriptors, and ends with it in whatever way that ends.

    Args:
        pid: the process; default: this one
        children: whether its descendants count
        interval: seconds between samples, 0.01 to 3600
        method: accepted for the scripts that give it; no way of multiprocessing is used
        autostart: start at once. The first start() (or `with`) after that begins anew.
        track_processes: sample the process tree
        track_system: sample the machine
        discover_server: tell what the machine is, in server_info
        discover_cloud: tell where it is, in cloud_info
        sentinel_token: accepted; nothing is sent
        upload_interval: accepted
        streaming_metadata: accepted
        schema: names and units of the columns: "0.4" (memory in KiB) or "0.5" (units in the names)
        job: name of the run

    Examples:
        >>> with ResourceTracker(interval=0.1) as tracker:
        ...     tracker.wait_for_samples(n=2)
        >>> tracker.n_samples >= 2
        True
    """

    def __init__(
        self,
        pid: Optional[int] = None,
        children: bool = True,
        interval: float = 1,
        method: Optional[str] = None,
        autostart: bool = True,
        track_processes: bool = True,
        track_system: bool = True,
        discover_server: bool = True,
        discover_cloud: bool = True,
        sentinel_token: Optional[str] = None,
        upload_interval: int = 60,
        streaming_metadata: Optional[Dict[str, Any]] = None,
        *,
        schema: str = DEFAULT_SCHEMA,
        job: Optional[str] = None,
    ):
        if pid is not None and (isinstance(pid, bool) or not isinstance(pid, int)):
            raise TypeError(f"pid must be a number, got {type(pid).__name__}")
        if pid is not None and pid <= 0:
            raise ValueError(f"pid must be above 0, got {pid}")
        if method not in (None, "fork", "spawn", "forkserver"):
            raise ValueError(f"cannot find context for {method!r}")
        if not track_processes and not track_system:
            raise ValueError("nothing to track: track_processes and track_system are both False")
        self.pid: int = os.getpid() if pid is None else pid
        self.children = children
        self.interval: float = _positive(interval)
        self.method = method
        self.autostart = autostart
        self.trackers: List[str] = []
        if track_processes:
            self.trackers.append("process_tracker")
        if track_system:
            self.trackers.append("system_tracker")
        self.discover_server = discover_server
        self.discover_cloud = discover_cloud
        self.schema: str = get_schema(schema).name
        self.start_time: Optional[float] = None
        self.stop_time: Optional[float] = None
        self.exit_code: Optional[int] = None
        self.run_status: Optional[str] = None
        self.job = job
        self._schema = get_schema(schema)
        self._tracker: Any = None
        self._finalizer: Any = None
        self._owner = os.getpid()
        self._implicit = False
        self._frozen: Optional[Dict[str, TinyDataFrame]] = None
        self._loaded = False  # from a snapshot, perhaps of another machine
        self._cache: Tuple[int, Dict[str, TinyDataFrame]] = (-1, {})
        self._server_info: Optional[Dict[str, Any]] = None
        self._cloud_info: Optional[Dict[str, Any]] = None
        self._phases: List[Dict[str, Any]] = []
        self._more: Dict[str, Any] = {}  # for _engine.start_tracker
        if sentinel_token:
            from ._log import logger

            logger.warning("sentinel_token is ignored: nothing is sent by this version")
        if autostart:
            self._begin()
            self._implicit = True

    # ---- life ----

    def _begin(self) -> None:
        import weakref

        if self.pid != self._owner and not os.path.exists(f"/proc/{self.pid}"):
            raise ProcessLookupError(3, f"No such process: {self.pid}")
        self.start_time = time.time()
        sampling = _engine.start_tracker(
            pid=self.pid if "process_tracker" in self.trackers else 0,
            interval=float(self.interval),
            children=bool(self.children),
            processes="process_tracker" in self.trackers,
            system="system_tracker" in self.trackers,
            job=self.job,
            **self._more,
        )
        self._tracker = sampling.tracker
        self._finalizer = weakref.finalize(self, sampling.release)
        self._cache = (-1, {})

    def start(self) -> None:
        """Start sampling.

        Raises:
            RuntimeError: it runs already, or has been stopped
            ProcessLookupError: there is no such process
        """
        if self.stop_time is not None or self._frozen is not None:
            raise RuntimeError("Resource tracker already stopped. Create a new instance instead "
                               "of trying to restart it.")
        if self._tracker is not None:
            if not self._implicit:
                raise RuntimeError("Resource tracker already running, cannot start again.")
            # Started by the constructor: what counts is from now on.
            self._finalizer()
            self._tracker = None
        self._implicit = False
        self._begin()

    def stop(self, exit_code: int = 0, run_status: Any = "finished") -> None:
        """Stop after a last sample. Harmless when it has stopped already, and in a forked child.

        Args:
            exit_code: of the job, remembered
            run_status: "finished", "failed", or what else is to be remembered
        """
        if self._tracker is None or self.stop_time is not None or not self._is_ours():
            return
        self.stop_time = time.time()
        self.exit_code = exit_code
        self.run_status = str(getattr(run_status, "value", run_status))
        for phase in self._phases:
            if phase["end"] is None:
                phase["end"] = self.stop_time
        try:
            # Who has given options of the program says how the job, and not only tracking, ended.
            self._tracker.stop(*[exit_code] if self._more else [])
        except OSError as error:
            from ._log import logger

            logger.warning("The sampler did not end in time: %s", error)
        if self._tracker.error:
            from ._log import logger

            logger.warning("Resource tracker subprocess failed!\n%s", self._tracker.error)

    def cleanup(self) -> None:
        """Stop, and remove what was recorded. What was read before stays."""
        try:
            self.stop()
            if self._tracker is not None and self._is_ours():
                frames = self._frames()
                self._finalizer()
                self._frozen = frames
                self._tracker = None
        except Exception:
            pass

    def __enter__(self) -> "ResourceTracker":
        self.start()
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], value: Any, trace: Any) -> None:
        if kind is None:
            self.stop()
        else:
            self.stop(exit_code=1, run_status="failed")

    def _is_ours(self) -> bool:
        """False in the child of a fork: there the tracker is the parent's."""
        return self._owner == os.getpid()

    @property
    def running(self) -> bool:
        """Whether samples are taken."""
        if self._tracker is None or self.stop_time is not None or not self._is_ours():
            return False
        return self._tracker.running()

    # ---- phases ----

    def phase(self, name: str) -> "_Phase":
        """A part of the job: `with tracker.phase("train"): …`; see phases()."""
        return _Phase(self, name)

    def mark(self, name: str) -> None:
        """Name this moment in the recording."""
        if not self.running:
            return
        try:
            self._tracker.mark(name)
        except OSError:
            pass

    def phases(self) -> TinyDataFrame:
        """One row a phase: name, start, duration (s), mean and peak of CPU and memory of the
        process tree. A phase between two samples has the figures of the row that covers it."""
        rows = []
        names = {column.source: column.name for column in self._schema.process}
        memory = names["process_memory_mib"]
        frame = self.process_metrics if "process_tracker" in self.trackers else None
        for phase in self._phases:
            end = phase["end"] or time.time()
            row = {"phase": phase["name"], "start": round(phase["start"], 3),
                   "duration": round(end - phase["start"], 3)}
            if frame is not None and len(frame):
                inside = _rows_within(frame["timestamp"], phase["start"], end)
                for column in ("cpu_usage", memory):
                    known = [frame[column][i] for i in inside if frame[column][i] is not None]
                    row[f"{column}_mean"] = round(mean(known), 4) if known else None
                    row[f"{column}_max"] = max(known) if known else None
            rows.append(row)
        return TinyDataFrame(rows)

    # ---- samples ----

    def _frames(self) -> Dict[str, TinyDataFrame]:
        if self._frozen is not None:
            return self._frozen
        if self._tracker is None:
            return {level: self._empty(level) for level, _ in self._schema.levels}
        samples = self._tracker.samples() if self._is_ours() else -1
        if samples >= 0 and samples == self._cache[0]:
            return self._cache[1]
        frames = self._read_frames()
        if samples >= 0:
            self._cache = (samples, frames)
        return frames

    def _empty(self, level: str) -> TinyDataFrame:
        return TinyDataFrame({column.name: [] for column in self._schema.columns(level)})

    def _tracks(self, level: str) -> bool:
        return f"{level}_tracker" in self.trackers

    def _read_frames(self) -> Dict[str, TinyDataFrame]:
        sources = ["interval_s"]
        for level, columns in self._schema.levels:
            if self._tracks(level):
                sources += [c.source for c in columns if c.source not in sources]
        try:
            table = _engine.read_columns(self._tracker, sources)
        except (OSError, RuntimeError) as error:
            from ._log import logger

            logger.warning("Failed to read process metrics: %s", error)
            return {level: self._empty(level) for level, _ in self._schema.levels}
        table = _engine.settle(table, self.interval)
        return {level: self._frame(level, table) if self._tracks(level) else self._empty(level)
                for level, _ in self._schema.levels}

    def _frame(self, level: str, table: _engine.Columns) -> TinyDataFrame:
        from .tracker_procfs import _zero

        none = _zero()
        data = {}
        for column in self._schema.columns(level):
            values = table[column.source]
            if "_gpu_" in column.source and none == 0:
                values = [0 if value is None else value for value in values]
            data[column.name] = [_shown(value, column.factor, column.decimals) for value in values]
        frame = TinyDataFrame(data)
        frame._aliases = aliases(self._schema, [(level, "")])
        return frame

    @property
    def process_metrics(self) -> TinyDataFrame:
        """The samples of the process tree so far."""
        return self._copy("process")

    @property
    def system_metrics(self) -> TinyDataFrame:
        """The samples of the machine so far."""
        return self._copy("system")

    def _copy(self, level: str) -> TinyDataFrame:
        return self._frames()[level][:]

    @property
    def n_samples(self) -> int:
        """How many samples there are."""
        frames = self._frames()
        counts = [len(frames[level]) for level, _ in self._schema.levels if self._tracks(level)]
        return min(counts, default=0)

    def wait_for_samples(self, n: int = 1, timeout: float = 5) -> None:
        """Wait until there are n samples.

        Raises:
            RuntimeError: the time is over, or the tracker has stopped with fewer
        """
        end = time.monotonic() + timeout
        wanted = n
        while True:
            running = self.running
            have = self.n_samples
            if have >= n:
                return
            if not running:
                raise RuntimeError(
                    f"Resource tracker has been already stopped with {have} sample(s), cannot wait "
                    f"to collect the requested {n} sample(s).")
            left = end - time.monotonic()
            if left <= 0:
                raise RuntimeError(
                    f"Timed out waiting for resource tracker to collect {n} samples")
            # The first sample is short and joins the second one.
            wanted = max(wanted, self._tracker.samples() + 1)
            self._tracker.wait(wanted, left)

    def get_combined_metrics(
        self,
        bytes: bool = False,
        human_names: bool = False,
        system_prefix: Optional[str] = None,
        process_prefix: Optional[str] = None,
        offset: Optional[int] = None,
    ) -> TinyDataFrame:
        """The samples of the machine and of the process tree, side by side.

        Args:
            bytes: sizes in bytes instead of KiB, MiB, GB
            human_names: names for people, such as "Process CPU usage"
            system_prefix: before the machine's columns; default "system_" or "System "
            process_prefix: before the process tree's; default "process_" or "Process "
            offset: rows to leave out at the beginning
        """
        frames = self._frames()
        defaults = HUMAN_PREFIXES if human_names else PREFIXES
        prefixes = {
            "system": defaults["system"] if system_prefix is None else system_prefix,
            "process": defaults["process"] if process_prefix is None else process_prefix,
        }
        tracked = [level for level, _ in self._schema.levels if self._tracks(level)]
        if not min((len(frames[level]) for level in tracked), default=0):
            return TinyDataFrame(data=[])
        rows = slice(max(0, offset or 0), min(len(frames[level]) for level in tracked))
        if rows.start >= rows.stop:
            return TinyDataFrame(data=[])
        data: Dict[str, List[Any]] = {}
        for level in tracked:
            for column in self._schema.columns(level):
                is_time = column.name == "timestamp"
                if is_time and "timestamp" in map(str.lower, data):
                    continue
                name = column.human if human_names else column.name
                values = frames[level][column.name][rows]
                if bytes and column.to_bytes:
                    values = [None if v is None else v * column.to_bytes for v in values]
                data[name if is_time else prefixes[level] + name] = values
        frame = TinyDataFrame(data)
        if not human_names and not bytes:
            frame._aliases = aliases(self._schema, list(prefixes.items()))
        return frame

    # ---- statistics ----

    def stats(self, specs: Optional[List[StatSpec]] = None) -> Dict[str, Dict[str, Any]]:
        """Statistics of the samples: {column: {aggregate: value}}.

        Args:
            specs: what to compute; default: default_specs()

        Raises:
            RuntimeError: there is no sample yet
        """
        metrics = self.get_combined_metrics()
        if not len(metrics):
            raise RuntimeError("No metrics collected (yet)")
        if specs is None:
            specs = [spec for spec in default_specs(self._schema, self.interval)
                     if spec.column in metrics]
        result = _StatsOfColumns(metrics.stats(specs))
        result.aliases = metrics._aliases
        return result

    def totals(self) -> Dict[str, Dict[str, Any]]:
        """Figures of the whole job: CPU seconds, peak memory, bytes, faults; each with its quality
        ("exact", "at_least", …), its source, and why it is not exact. Also right for a job that is
        shorter than an interval. Empty for a snapshot."""
        if self._tracker is None or not self._is_ours() or not self._tracker.recording:
            return {}
        from . import _core

        recording = _core.Recording(self._tracker.recording)
        return {key: recording.total(key) for key in (
            "cpu_s", "cpu_user_s", "cpu_system_s", "peak_memory_mib", "peak_processes",
            "disk_read_bytes", "disk_write_bytes", "major_faults", "context_switches")}

    def _stats_05(self, historical: Sequence[Dict[str, Any]]) -> Dict[str, Dict[str, Any]]:
        """Statistics with those of earlier runs of either schema, under the names and units of
        0.5."""
        table = aliases(SCHEMAS["0.4"], list((level, PREFIXES[level]) for level in PREFIXES))
        back = {old: (new, factor) for new, (old, factor) in table.items()}

        def convert(stats: Dict[str, Dict[str, Any]]) -> Dict[str, Dict[str, Any]]:
            result = {}
            for column, values in stats.items():
                name, factor = back.get(column, (column, 1))
                result[name] = {key: value if value is None or factor == 1 else value * factor
                                for key, value in values.items()}
            return result

        return aggregate_stats([convert(run) for run in [self.stats(), *historical]])

    def recommend_resources(self, historical_stats: Sequence[Dict[str, Any]] = ()
                            ) -> Dict[str, int]:
        """What to request for the next run: {"cpu", "memory" (MiB), "gpu", "vram" (MiB)}.

        cpu is the mean of the cores in use, rounded; memory the largest amount with a fifth on top,
        rounded up; the same for GPUs and their memory.

        Args:
            historical_stats: stats() of earlier runs, which count as well
        """
        stats = self._stats_05(list(historical_stats))

        def figure(column: str, name: str) -> float:
            return stats.get(column, {}).get(name) or 0

        gpu = figure("process_gpu_usage", "max")
        vram = figure("process_gpu_vram_mib", "max")
        return {
            "cpu": max(1, round(figure("process_cpu_usage", "mean"))),
            "memory": round_memory(figure("process_memory_mib", "max") * 1.2),
            "gpu": max(1, round(gpu)) if figure("process_gpu_usage", "mean") > 0 else 0,
            "vram": round_memory(vram * 1.2) if vram > 0 else 0,
        }

    def recommend_server(self, **kwargs: Any) -> Dict[str, Any]:
        """The cheapest server for the next run, from the catalogue in this package, offline.

        Args:
            **kwargs: historical_stats as for recommend_resources, and limits on the servers:
                vendor_id, region_id, country_id, architecture, …; see
                keeper.get_recommended_cloud_servers

        Raises:
            LookupError: no server of the catalogue fits
            TypeError: a limit that is not known
        """
        from .keeper import get_recommended_cloud_servers

        needs = self.recommend_resources(kwargs.pop("historical_stats", ()))
        needs.update({key: kwargs.pop(key) for key in list(kwargs) if key in needs})
        kwargs.pop("n", None)
        servers = get_recommended_cloud_servers(**needs, **kwargs, n=1)
        if not servers:
            raise LookupError(f"no server of the catalogue fits {needs}"
                              + (f" within {kwargs}" if kwargs else ""))
        return servers[0]

    # ---- where it ran ----

    @property
    def server_info(self) -> Optional[Dict[str, Any]]:
        """What the machine is, and whether it was shared ("allocation"); None without
        discover_server."""
        if self._server_info is None and self.discover_server and not self._loaded:
            from .server_info import get_server_info

            self._server_info = get_server_info()
        if self._server_info is None:
            return None
        return {**self._server_info, "allocation": self._allocation()}

    def _allocation(self) -> Optional[str]:
        """Whether others worked on the machine: "shared", "dedicated", None before any sample."""
        frames = self._frames()
        process, system = frames["process"], frames["system"]
        if not (self._tracks("process") and self._tracks("system")):
            return "unknown"
        if not len(process) or not len(system):
            return None
        try:
            for check in SERVER_ALLOCATION_CHECKS:
                # In the units of 0.5, whatever the frames have.
                ours = _known_mean(_in_05(process, self._schema, "process",
                                          str(check["process_column"])))
                whole = _known_mean(_in_05(system, self._schema, "system",
                                           str(check["system_column"])))
                if ours is None or whole is None:
                    continue
                if whole > ours * check["percent"] or whole > ours + check["absolute"]:
                    return "shared"
        except (TypeError, KeyError):
            return "unknown"
        return "dedicated"

    @property
    def cloud_info(self) -> Optional[Dict[str, Any]]:
        """Where the machine is: vendor, instance_type, region; None without discover_cloud."""
        if self._cloud_info is None and self.discover_cloud and not self._loaded:
            from .cloud_info import get_cloud_info

            self._cloud_info = get_cloud_info()
        return self._cloud_info

    @property
    def sentinel_result(self) -> Optional[Dict[str, Any]]:
        """None: nothing is sent."""
        return None

    # ---- report ----

    def report(self, integration: str = "standalone",
               historical_stats: Sequence[Dict[str, Any]] = (),
               status_failed: bool = False, integration_version: Optional[str] = None) -> "Report":
        """The report as a page: a str with save(path) and browse().

        Args:
            integration: "standalone", "Metaflow" or "R"
            historical_stats: as for recommend_resources
            status_failed: whether the job has failed
            integration_version: of the framework

        Raises:
            RuntimeError: there is no sample yet
        """
        from .report import make_report

        return make_report(self, integration, list(historical_stats), status_failed,
                           integration_version)

    # ---- snapshots ----

    def snapshot(self) -> Dict[str, Any]:
        """All of it as a dict of plain values, for from_snapshot()."""
        from ._version import __version__

        end = self.stop_time or time.time()
        start = self.start_time if self.start_time is not None else end
        return {
            "metadata": {
                "version": SNAPSHOT_VERSION,
                "resource_tracker": {"version": __version__, "implementation": "procfs"},
                "schema": self.schema,
                "pid": self.pid,
                "children": self.children,
                "interval": self.interval,
                "method": self.method,
                "autostart": self.autostart,
                "track_processes": self._tracks("process"),
                "track_system": self._tracks("system"),
                "discover_server": self.discover_server,
                "discover_cloud": self.discover_cloud,
                "start_time": start,
                "stop_time": end,
                "duration": round(end - start + self.interval, 2),
            },
            "server_info": self.server_info,
            "cloud_info": self.cloud_info,
            "process_metrics": self.process_metrics.to_dict(),
            "system_metrics": self.system_metrics.to_dict(),
            "phases": [dict(phase) for phase in self._phases],
        }

    @classmethod
    def from_snapshot(cls, snapshot: Dict[str, Any]) -> "ResourceTracker":
        """A stopped tracker from a snapshot of this or another version.

        Raises:
            SnapshotError: it is no snapshot
        """
        try:
            metadata = snapshot["metadata"]
            rows = {level: snapshot[f"{level}_metrics"] for level in ("process", "system")}
            tracks = {level: metadata[f"track_{long}"]
                      for level, long in (("process", "processes"), ("system", "system"))}
            columns = {level: list(rows[level][0]) if rows[level] else [] for level in rows}
            schema = detect_schema(columns["process"], columns["system"])
            if not any(columns.values()):
                schema = get_schema(metadata.get("schema", DEFAULT_SCHEMA))
            tracker = cls(
                pid=metadata["pid"], children=metadata["children"], interval=metadata["interval"],
                method=metadata["method"], autostart=False, track_processes=tracks["process"],
                track_system=tracks["system"], discover_server=metadata["discover_server"],
                discover_cloud=metadata["discover_cloud"], schema=schema.name)
            tracker.autostart = metadata["autostart"]
            tracker.start_time = float(metadata["start_time"])
            tracker.stop_time = float(metadata["stop_time"])
            tracker._loaded = True
            tracker._frozen = {level: _load_frame(schema, level, rows[level]) for level in rows}
            for attribute in ("server_info", "cloud_info"):
                info = snapshot.get(attribute)
                setattr(tracker, "_" + attribute, None if info is None else dict(info))
            tracker._phases = [dict(phase) for phase in snapshot.get("phases") or ()]
        except (KeyError, TypeError, ValueError, AttributeError, AssertionError,
                IndexError) as error:
            raise SnapshotError("not a snapshot of a resource tracker: "
                                f"{type(error).__name__}: {error}") from error
        return tracker

    def dumps(self) -> str:
        """The snapshot as JSON text."""
        import json

        return json.dumps(self.snapshot())

    @classmethod
    def loads(cls, s: str) -> "ResourceTracker":
        """A stopped tracker from the JSON text of dumps().

        Raises:
            ValueError: it is no snapshot
        """
        import json

        return cls.from_snapshot(json.loads(s))

    def dump(self, file: str) -> None:
        """The snapshot as a file: compressed JSON, plain if the name ends in ".json"."""
        text = self.dumps().encode("utf-8")
        if not str(file).endswith(".json"):
            import gzip

            text = gzip.compress(text)
        with open(file, "wb") as out:
            out.write(text)

    @classmethod
    def load(cls, file: str) -> "ResourceTracker":
        """A stopped tracker from a file of dump(), compressed or plain.

        Raises:
            OSError: the file cannot be read
            ValueError: it holds no snapshot
        """
        with open(file, "rb") as source:
            data = source.read()
        if data[:2] == b"\x1f\x8b":
            import gzip
            import zlib

            try:
                data = gzip.decompress(data)
            except (OSError, EOFError, zlib.error) as error:
                raise ValueError(f"{file}: damaged: {error}") from error
        try:
            return cls.loads(data.decode("utf-8"))
        except ValueError as error:
            raise ValueError(f"{file}: {error}") from error

    # ---- show ----

    def __repr__(self) -> str:
        state = "running" if self.running else "stopped" if self.stop_time else "not started"
        return f"<ResourceTracker of pid {self.pid}, {state}, {self.n_samples} samples>"

    def _repr_html_(self) -> str:
        from .report import summary_html

        return summary_html(self)


class _StatsOfColumns(Stats):
    """{column: {aggregate: value}} that also answers to the names of other schemas."""

    def __missing__(self, name: str) -> Any:
        other, factor = self.aliases[name]
        return {key: value if value is None or factor == 1 else value * factor
                for key, value in self[other].items()}


class _Phase:
    """`with tracker.phase(name)`."""

    def __init__(self, tracker: ResourceTracker, name: str):
        self._tracker = tracker
        self._entry: Dict[str, Any] = {"name": str(name), "start": None, "end": None}

    def __enter__(self) -> "_Phase":
        self._entry["start"] = time.time()
        self._tracker._phases.append(self._entry)
        self._tracker.mark(self._entry["name"])
        return self

    def __exit__(self, *exception: Any) -> None:
        self._entry["end"] = time.time()
        self._tracker.mark(f"end of {self._entry['name']}")


def _rows_within(timestamps: List[float], start: float, end: float) -> List[int]:
    """Rows whose intervals lie in the span, at least the one that ends next."""
    inside = [i for i, t in enumerate(timestamps) if start < t <= end]
    if inside:
        return inside
    after = [i for i, t in enumerate(timestamps) if t > end]
    return after[:1] or [len(timestamps) - 1]


def _shown(value: Any, factor: float, decimals: int) -> Any:
    if value is None:
        return None
    value *= factor
    return round(value, decimals) if decimals else int(value)


def _known_mean(values: List[Any]) -> Optional[float]:
    known = [value for value in values if value is not None]
    return mean(known) if known else None


def _in_05(frame: TinyDataFrame, schema: Schema, level: str, name: str) -> List[Any]:
    if schema.name == "0.5":
        return frame[name]
    table = aliases(schema, [(level, "")])
    other, factor = table.get(name, (name, 1))
    return [None if value is None else value * factor for value in frame[other]]


def _load_frame(schema: Schema, level: str, rows: List[Dict[str, Any]]) -> TinyDataFrame:
    frame = TinyDataFrame([{name: None if cell == "" else cell for name, cell in row.items()}
                           for row in rows])
    if rows:
        missing = [c.name for c in schema.columns(level) if c.name not in frame]
        if "timestamp" in missing:
            raise KeyError(f"{level}_metrics has no column {missing[0]}")
        for name in missing:
            frame[name] = [None] * len(frame)
    else:
        frame = TinyDataFrame({c.name: [] for c in schema.columns(level)})
    frame._aliases = aliases(schema, [(level, "")])
    return frame

