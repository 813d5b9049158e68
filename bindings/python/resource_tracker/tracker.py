"""ResourceTracker, which tracks a job while the program continues. ProcessTracker and SystemTracker, which write
CSV, are re-exported here."""

from __future__ import annotations

import os
import sys
import time
from typing import TYPE_CHECKING, Any, Callable, Dict, List, Optional, Sequence, Tuple, Type, Union

from . import _advice as advice
from . import _engine
from . import _figures as figures
from . import _lines as line_table
from . import _snapshots as snapshots
from ._csv_trackers import PidTracker, ProcessTracker, SystemTracker, positive_interval
from ._figures import HUMAN_PREFIXES, PREFIXES, default_specs
from ._platform import process_exists
from ._snapshots import SNAPSHOT_VERSION, SnapshotError
from .column_maps import (BYTE_MAPPING, HUMAN_NAMES_MAPPING, REPORT_CSV_MAPPING,
                          SERVER_ALLOCATION_CHECKS, get_schema)
from .helpers import exit_code_of, round_memory
from .tiny_data_frame import StatSpec, TinyDataFrame

if TYPE_CHECKING:
    from .report import Report

__all__ = ["ProcessTracker", "PidTracker", "SystemTracker", "ResourceTracker"]

# Scripts import these names from this module.
_NAMES = (BYTE_MAPPING, HUMAN_NAMES_MAPPING, REPORT_CSV_MAPPING, SERVER_ALLOCATION_CHECKS,
          HUMAN_PREFIXES, PREFIXES, default_specs, SNAPSHOT_VERSION, SnapshotError)


class ResourceTracker:
    """Track a process with all its descendants, and the machine, while the calling program continues.

    A separate small program takes the samples. It is not a child of this process and inherits none of its
    descriptors. It ends when this process ends, also after a crash or SIGKILL.

    Args:
        pid: process to track; default: the calling process
        children: include the descendants
        interval: seconds between samples, 0.01 to 3600
        method: "fork", "spawn" or "forkserver", accepted for compatibility; has no effect
        autostart: start sampling in the constructor. The first start() (or `with`) then starts again from zero
        track_processes: sample the process tree
        track_system: sample the machine
        discover_server: describe the machine in server_info
        discover_cloud: describe its cloud in cloud_info
        sentinel_token: accepted for compatibility, like the variable SENTINEL_API_TOKEN. Nothing is sent; with
            a token, one line reports that
        upload_interval: accepted for compatibility; has no effect
        streaming_metadata: accepted for compatibility; has no effect
        schema: names and units of the columns: "0.4" (memory in KiB) or "0.5" (memory in MiB, units in the
            names); default: see set_schema()
        job: name of the job, by which its earlier runs are found; default: derived from the command line
        lines: sample which source lines use CPU time and memory: True, False, or the number of samples per
            second; default: TRACKER_LINES or the configuration, else True (see lines())
        on_alert: function that is called with a dict when a rule of docs/alerts.md fires or is resolved. Keys:
            rule, severity, state ("firing", "resolved"), text, fix, value, limit, pid, job, run. It runs in a
            thread of this process; an exception in it is logged as a warning

    Raises:
        TypeError, ValueError: an argument has the wrong type or is out of range
        ProcessLookupError: the process `pid` does not exist

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
        schema: Optional[str] = None,
        job: Optional[str] = None,
        lines: Union[None, bool, float, str] = None,
        on_alert: Optional[Callable[[Dict[str, Any]], Any]] = None,
    ):
        if pid is not None and (isinstance(pid, bool) or not isinstance(pid, int)):
            raise TypeError(f"pid must be a number, got {type(pid).__name__}")
        if pid is not None and pid <= 0:
            raise ValueError(f"pid must be above 0, got {pid}")
        if method not in (None, "fork", "spawn", "forkserver"):
            raise ValueError(f"cannot find context for {method!r}")
        if on_alert is not None and not callable(on_alert):
            raise TypeError(f"on_alert must be a function, got {type(on_alert).__name__}")
        if not track_processes and not track_system:
            raise ValueError("nothing to track: track_processes and track_system are both False")
        self.pid: int = os.getpid() if pid is None else pid
        self.children = children
        self.interval: float = positive_interval(interval)
        self.method = method
        self.autostart = autostart
        self.trackers: List[str] = []
        if track_processes:
            self.trackers.append("process_tracker")
        if track_system:
            self.trackers.append("system_tracker")
        self.discover_server = discover_server
        self.discover_cloud = discover_cloud
        self._schema = get_schema(schema)
        self.schema: str = self._schema.name
        self.start_time: Optional[float] = None
        self.stop_time: Optional[float] = None
        self.exit_code: Optional[int] = None
        self.run_status: Optional[str] = None
        self.job = job
        self._tracker: Any = None
        self._finalizer: Any = None
        self._owner = os.getpid()
        self._implicit = False
        self._frozen: Optional[Dict[str, TinyDataFrame]] = None
        self._loaded = False  # whether it was restored from a snapshot, perhaps of another machine
        self._cache: Tuple[int, Dict[str, TinyDataFrame]] = (-1, {})
        self._server_info: Optional[Dict[str, Any]] = None
        self._cloud_info: Optional[Dict[str, Any]] = None
        self._phases: List[Dict[str, Any]] = []
        self._more: Dict[str, Any] = {}  # further arguments of _engine.start_tracker
        self._lines = line_table.option(lines)
        self._on_alert = on_alert
        self._requested_cpus: Optional[float] = None  # CPU request of the run, if an integration knows it
        self._kept: Dict[str, Any] = {}  # totals, top_processes and scope of a removed recording or a snapshot
        _tell_of_token(sentinel_token)
        if autostart:
            self._begin()
            self._implicit = True

    # ---- life ----

    def _begin(self) -> None:
        import weakref

        if self.pid != self._owner and not process_exists(self.pid):
            raise ProcessLookupError(3, f"No such process: {self.pid}")
        self.start_time = time.time()
        more = dict(self._more)
        if "process_tracker" in self.trackers and self._lines:
            more["more"] = [*more.get("more", ()), *self._lines]
        try:
            sampling = _engine.start_tracker(
                pid=self.pid if "process_tracker" in self.trackers else 0,
                interval=float(self.interval),
                children=bool(self.children),
                processes="process_tracker" in self.trackers,
                system="system_tracker" in self.trackers,
                job=self.job,
                **more,
            )
        except ProcessLookupError:
            if self.pid != self._owner:
                raise
            raise FileNotFoundError(2, "/proc does not show this process: is it mounted, and that of this "
                                       "container?") from None
        self._tracker = sampling.tracker
        self._finalizer = weakref.finalize(self, sampling.release)
        if "multiprocessing.util" in sys.modules:
            # A forked worker of multiprocessing ends with os._exit(), which runs multiprocessing's finalizers only.
            from multiprocessing.util import Finalize

            Finalize(self, self._finalizer, exitpriority=0)
        self._cache = (-1, {})
        if self._on_alert is not None:
            from ._alerts import start_calls

            start_calls(sampling, self._on_alert)

    def start(self) -> None:
        """Start sampling.

        Raises:
            RuntimeError: the tracker is running, or was stopped
            ProcessLookupError: the process does not exist
            FileNotFoundError: /proc does not show the calling process
        """
        if self.stop_time is not None or self._frozen is not None:
            raise RuntimeError("Resource tracker already stopped. Create a new instance instead "
                               "of trying to restart it.")
        if self._tracker is not None:
            if not self._implicit:
                raise RuntimeError("Resource tracker already running, cannot start again.")
            # Discard what was recorded since the constructor started sampling.
            self._finalizer()
            self._tracker = None
        self._implicit = False
        self._begin()

    def stop(self, exit_code: int = 0, run_status: Any = "finished") -> None:
        """Take a last sample and stop. No effect if the tracker has stopped, and in a forked child.

        Args:
            exit_code: exit code of the job, in any form that sys.exit() accepts; snapshots and the report show it
            run_status: "finished" or "failed", which the report shows. Any other text is stored in snapshots
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
            code = self._known_code()
            self._tracker.stop(*[] if code is None else [code])
        except OSError as error:
            from ._log import logger

            logger.warning("The sampler did not end in time: %s", error)
        if self._tracker.error:
            from ._log import logger

            logger.warning("Resource tracker subprocess failed!\n%s", self._tracker.error)

    def _known_code(self) -> Optional[int]:
        """The exit code of the job, 0 to 255, or None if it is not known. For another process, the 0 that is the
        default of stop() does not count as known."""
        code = self.exit_code
        if self._loaded or self.stop_time is None:
            return code
        if code == 0 and self.pid != self._owner and not self._more:
            return None
        if not isinstance(code, int):  # like sys.exit(): None is 0, any other object is 1
            return 0 if code is None else 1
        return code if 0 <= code <= 255 else 128 + (-code & 127) if code < 0 else 255

    def cleanup(self) -> None:
        """Stop, and remove the recording. Samples and totals stay in memory. Errors are ignored."""
        try:
            self.stop()
            if self._tracker is not None and self._is_ours():
                frames = self._frames()
                self._kept = {"totals": self.totals(), "top_processes": self._top_processes(),
                              "scope": self._scope_name()}
                self._finalizer()
                self._frozen = frames
                self._tracker = None
        except Exception:
            pass

    def __enter__(self) -> "ResourceTracker":
        self.start()
        return self

    def __exit__(self, exc_type: Optional[Type[BaseException]], exc_val: Optional[BaseException],
                 exc_tb: Any) -> None:
        code = exit_code_of(exc_val)
        self.stop(code, "failed" if code else "finished")

    def _is_ours(self) -> bool:
        """Whether this process created the tracker. False in a forked child."""
        return self._owner == os.getpid()

    @property
    def running(self) -> bool:
        """Whether the tracker is taking samples. False in a forked child."""
        if self._tracker is None or self.stop_time is not None or not self._is_ours():
            return False
        return self._tracker.running()

    # ---- phases ----

    def phase(self, name: str) -> "_Phase":
        """Name a part of the job: `with tracker.phase("train"): …`. See phases()."""
        return _Phase(self, name)

    def mark(self, name: str) -> None:
        """Name the current moment in the recording; the report shows it. No effect if the tracker is not running."""
        if not self.running:
            return
        try:
            self._tracker.mark(name)
        except OSError:
            pass

    def phases(self) -> TinyDataFrame:
        """The phases so far, one row per phase.

        Returns:
            a frame: phase (name), start (s since 1970), duration (s), and mean and maximum of cpu_usage (cores) and
            memory (unit of the schema) of the process tree. A phase without a sample has the figures of the next
            sample
        """
        return figures.phases(self)

    # ---- samples ----

    def _frames(self) -> Dict[str, TinyDataFrame]:
        if self._frozen is not None:
            return self._frozen
        if self._tracker is None:
            return figures.empty_frames(self)
        samples = self._tracker.samples() if self._is_ours() else -1
        if samples >= 0 and samples == self._cache[0]:
            return self._cache[1]
        frames = figures.read_frames(self)
        if samples >= 0:
            self._cache = (samples, frames)
        return frames

    def _tracks(self, level: str) -> bool:
        return f"{level}_tracker" in self.trackers

    @property
    def process_metrics(self) -> TinyDataFrame:
        """The samples of the process tree so far, one row per interval: timestamp (s since 1970), pid, children, utime
        and stime (CPU time in s), cpu_usage (cores), memory, bytes read from and written to storage, GPU use. Names
        and units are those of the schema. None means not known."""
        return self._copy("process")

    @property
    def system_metrics(self) -> TinyDataFrame:
        """The samples of the machine so far, one row per interval: timestamp (s since 1970), processes, utime and stime
        (CPU time in s), cpu_usage (cores), memory, disk and network bytes, disk space, GPU use. Names and units are
        those of the schema. None means not known."""
        return self._copy("system")

    def _copy(self, level: str) -> TinyDataFrame:
        return self._frames()[level][:]

    @property
    def n_samples(self) -> int:
        """Number of samples (rows) so far. If process and machine are tracked, the rows that both tables have."""
        frames = self._frames()
        counts = [len(frames[level]) for level, _ in self._schema.levels if self._tracks(level)]
        return min(counts, default=0)

    def wait_for_samples(self, n: int = 1, timeout: float = 5) -> None:
        """Wait until there are at least n samples.

        Args:
            n: number of samples
            timeout: longest time to wait, seconds

        Raises:
            RuntimeError: the timeout passed, or the tracker stopped, before there were n samples
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
            # The first sample covers a short time and is merged into the second one.
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
        """The samples of the machine and of the process tree in one frame.

        Args:
            bytes: convert sizes from KiB, MiB and GB to bytes
            human_names: use names such as "Process CPU usage"
            system_prefix: prefix of the machine's columns; default: "system_", or "System " with human_names
            process_prefix: prefix of the process tree's columns; default: "process_", or "Process " with
                human_names
            offset: number of rows to leave out at the beginning
        """
        return figures.combined(self, bytes, human_names, system_prefix, process_prefix, offset)

    # ---- statistics ----

    def stats(self, specs: Optional[List[StatSpec]] = None) -> Dict[str, Dict[str, Any]]:
        """Statistics of the samples: {column: {aggregate: value}}, such as stats()["process_cpu_usage"]["max"].

        Args:
            specs: statistics to compute; default: mean and max of the process tree's CPU (cores), memory and GPU use,
                max of the used disk space, sums of the network bytes, and the duration in s

        Raises:
            RuntimeError: there is no sample yet
        """
        return figures.statistics(self, specs)

    def totals(self) -> Dict[str, Dict[str, Any]]:
        """Totals of the whole job, as in `resource-tracker show --json`. They are also valid for a job that is shorter
        than one interval.

        Returns:
            {name: {"value", "quality", "source", "reason"}}. The name ends with the unit: cpu_s, peak_memory_mib,
            disk_read_bytes, gpu_energy_j; totals without a unit are counts. `value` is None if it is not known.
            `quality` is "exact", "at_least", "at_most", "estimated" or "unknown". `source` names what was read.
            `reason` explains why the value is not exact. {} before the start, and for a snapshot without totals
        """
        recording = self._recording()
        if recording is None:
            told = getattr(self._tracker, "totals", None) if self._is_ours() else None
            return told() if told else dict(self._kept.get("totals", {}))
        return {key: recording.total(key) for key in (
            "cpu_s", "cpu_user_s", "cpu_system_s", "peak_memory_mib", "peak_processes",
            "disk_read_bytes", "disk_write_bytes", "major_faults", "context_switches", "gpu_energy_j",
            "peak_memory_at_least_mib", "peak_memory_at_most_mib", "peak_group_memory_mib",
            "peak_shared_files_mib", "peak_swap_mib", "forks_refused", "peak_commit_mib",
            "peak_huge_pages_mib", "peak_needed_mib", "peak_file_pages_mib")}

    def lines(self, by: str = "line", since: Optional[float] = None,
              until: Optional[float] = None) -> TinyDataFrame:
        """Which source lines used CPU time and memory, as `resource-tracker lines` reports it.

        Args:
            by: what a row is: "line", "function", "file", "thread", "process" or "phase"
            since: begin of the part of the run to report, seconds since the start; default: the start
            until: end of that part, seconds since the start; default: the end

        Returns:
            a frame, the most CPU time first. The first columns identify the row: file, line and function for lines
            and functions, file for files, process, pid and tid for threads, process and pid for processes, phase,
            start_s, end_s, file, line and function for phases. Then cpu_s, cpu_share, cpu_with_callees_s, wall_s,
            growth_mib (certain), growth_between_mib (probable), released_mib, samples, below (the line of a library
            below it). No rows if no stacks were sampled: see the argument `lines` of the constructor

        Raises:
            ValueError: `by` is not one of these
        """
        line_table.check(by)
        recording = self._recording()
        nan = float("nan")
        return line_table.table(None if recording is None else recording.lines(
            by, nan if since is None else float(since), nan if until is None else float(until)), by)

    @property
    def programs(self) -> TinyDataFrame:
        """What each program of the job used in each sample, as in `resource-tracker export --what programs`. Columns:
        timestamp, elapsed_s, interval_s, program, cpu_s, memory_mib, processes. No rows without a recording."""
        from .recording import programs_of

        return programs_of(self._recording())

    @property
    def processes(self) -> TinyDataFrame:
        """The processes of the job, as in `resource-tracker export --what processes`. Columns: program, pid, start_s
        and end_s (s since the start of the run), ended, cpu_s, peak_rss_mib, command. No rows without a
        recording."""
        from .recording import processes_of

        return processes_of(self._recording())

    def _recording(self) -> Any:
        """The recording so far; None for a loaded snapshot, in a forked child, and after the recording was removed."""
        if self._tracker is None or not self._is_ours() or not self._tracker.recording:
            return None
        from . import _core

        try:
            return _core.Recording(self._tracker.recording)
        except FileNotFoundError:
            return None

    def _top_processes(self) -> List[Dict[str, Any]]:
        """The processes that used the most, without their arguments, because these may contain secrets."""
        import json

        recording = self._recording()
        if recording is None:
            return list(self._kept.get("top_processes", ()))
        top = json.loads(recording.summary())["top_processes"]
        return [{key: value for key, value in process.items() if key != "command"}
                for process in top]

    def _job_name(self) -> Optional[str]:
        """Name of the job: the argument `job`, else the name in the recording."""
        import json

        recording = None if self.job else self._recording()
        return json.loads(recording.summary())["run"]["job"] if recording else self.job

    def _scope_name(self) -> Optional[str]:
        """The scope in the recording. It distinguishes jobs that have the same name."""
        import json

        recording = self._recording()
        if recording is None:
            return self._kept.get("scope")
        return json.loads(recording.summary())["run"]["scope"] or ""

    def recommend_resources(self, historical_stats: Sequence[Dict[str, Any]] = (),
                            method: str = "default") -> Dict[str, int]:
        """What to request for the next run. The report and `resource-tracker recommend` give the same answer.

        Args:
            historical_stats: stats() of earlier runs to take into account; default: the user's history
            method: "default", or "original" for the rule of the original package: the mean of the cores in use,
                rounded; 120 % of the largest memory, rounded up; the largest number of GPUs in use, rounded; 120 %
                of their largest memory. "default" falls back to this rule if the C library gives no answer. The
                CPUs of a run that failed or waited for CPUs are then not lowered

        Returns:
            {"cpu": cores, "memory": MiB, "gpu": GPUs, "vram": MiB of each GPU ("original": of all)}, all int

        Raises:
            RuntimeError: there is no sample yet
            ValueError: an unknown method
        """
        if method not in ("default", "original"):
            raise ValueError(f"method must be \"default\" or \"original\", not {method!r}")
        self.stats()  # raises RuntimeError without samples
        if method == "default":
            answer = advice.ask(self, advice.earlier_of(historical_stats), no_servers=True)
            if answer:
                return advice.request_of(answer)
        stats = figures.statistics_in_05([self.stats(), *historical_stats])

        def figure(column: str, name: str) -> float:
            return stats.get(column, {}).get(name) or 0

        gpu = figure("process_gpu_usage", "max")
        vram = figure("process_gpu_vram_mib", "max")
        return {
            "cpu": (figures.cpus_for_the_next_run(self, figure("process_cpu_usage", "mean"))
                    if method == "default" else max(1, round(figure("process_cpu_usage", "mean")))),
            "memory": round_memory(figure("process_memory_mib", "max") * 1.2),
            "gpu": max(1, round(gpu)) if figure("process_gpu_usage", "mean") > 0 else 0,
            "vram": round_memory(vram * 1.2) if vram > 0 else 0,
        }

    def recommend_server(self, **kwargs: Any) -> Dict[str, Any]:
        """The server on which the next run costs least, from the catalogue in this package. No request is sent. It is
        the first server of the report. Its architecture is that of this machine, and its vendor and region are
        those of this machine if they are known.

        Args:
            **kwargs: historical_stats, as for recommend_resources(); cpu, memory (MiB), gpu and vram (MiB), which
                replace the needs of the run; and filters on servers (vendor_id, region_id, country_id,
                architecture, …), as for keeper.get_recommended_cloud_servers()

        Returns:
            a dict that describes the server, as of keeper.get_recommended_cloud_servers()

        Raises:
            LookupError: no server fits, there are too few samples, or the C library cannot be loaded
            RuntimeError: there is no sample yet
            TypeError: an unknown filter
            ValueError: a need is not a number, or the value of a filter is not valid
        """
        from .keeper import needs_of_filters

        self.stats()
        earlier = advice.earlier_of(kwargs.pop("historical_stats", ()))
        needs = {key: kwargs.pop(key) for key in list(kwargs) if key in advice.NEEDS}
        kwargs.pop("n", None)
        answer = advice.ask(self, earlier, {**advice.needs_of(needs), **needs_of_filters(kwargs)},
                            short_runs=True)
        if not answer:
            why = "there are too few samples" if _engine._core else "the C library is not in this package"
            raise LookupError(f"no server can be named: {why}")
        if not answer["servers"]:
            raise LookupError(answer["no_server_reason"])
        server: Dict[str, Any] = answer["servers"][0]
        return server

    # ---- where it ran ----

    @property
    def server_info(self) -> Optional[Dict[str, Any]]:
        """The machine: the keys of get_server_info(), and allocation ("shared" if other work used the machine at the
        same time, else "dedicated"; None before the first sample; "unknown" if only the process or only the machine
        is tracked). None if discover_server is False. The source is the recording, which contains the sampled GPUs;
        without one, get_server_info() is called."""
        info = self._server_info
        if info is None and self.discover_server and not self._loaded:
            info = self._machine()
            if self.stop_time is not None:
                self._server_info = info
        return None if info is None else {**info, "allocation": figures.allocation(self)}

    def _machine(self) -> Dict[str, Any]:
        import json

        from .server_info import get_server_info, info_of

        recording = self._recording()
        server = json.loads(recording.summary()).get("server") if recording else None
        return info_of(server) if server else get_server_info()

    @property
    def cloud_info(self) -> Optional[Dict[str, Any]]:
        """The cloud of the machine, as returned by get_cloud_info(). None if discover_cloud is False."""
        if self._cloud_info is None and self.discover_cloud and not self._loaded:
            from .cloud_info import get_cloud_info

            self._cloud_info = get_cloud_info()
        return self._cloud_info

    @property
    def sentinel_result(self) -> Optional[Dict[str, Any]]:
        """Always None, because nothing is sent. In the original package it is the answer of its web service."""
        return None

    # ---- report ----

    def report(self, integration: str = "standalone",
               historical_stats: Sequence[Dict[str, Any]] = (),
               status_failed: bool = False, integration_version: Optional[str] = None) -> "Report":
        """The report as an HTML page: a str with the methods save(path) and browse().

        Args:
            integration: "standalone", "Metaflow" or "R"
            historical_stats: stats() of earlier runs, as for recommend_resources()
            status_failed: whether the job has failed
            integration_version: version of the framework

        Raises:
            RuntimeError: there is no sample yet
        """
        from .report import make_report

        return make_report(self, integration, list(historical_stats), status_failed,
                           integration_version)

    # ---- snapshots ----

    def snapshot(self) -> Dict[str, Any]:
        """Samples, totals, phases, machine and settings as a dict of plain values. from_snapshot() reads it."""
        return snapshots.snapshot_of(self)

    @classmethod
    def from_snapshot(cls, snapshot: Dict[str, Any]) -> "ResourceTracker":
        """Restore a stopped tracker from a snapshot of this or another version of the package.

        Raises:
            SnapshotError: `snapshot` is not a snapshot
        """
        return snapshots.restore(cls, snapshot)

    def dumps(self) -> str:
        """The snapshot as JSON text. loads() reads it."""
        import json

        return json.dumps(self.snapshot())

    @classmethod
    def loads(cls, s: str) -> "ResourceTracker":
        """Restore a stopped tracker from the JSON text of dumps().

        Raises:
            ValueError: the text is not a snapshot
        """
        import json

        try:
            snapshot = json.loads(s)
        except RecursionError:
            raise SnapshotError("not a snapshot of a resource tracker: nested too deep") from None
        return cls.from_snapshot(snapshot)

    def dump(self, file: str) -> None:
        """Write the snapshot to a file: plain JSON if the name ends in ".json", else JSON compressed with gzip."""
        snapshots.write(file, self.dumps())

    @classmethod
    def load(cls, file: str) -> "ResourceTracker":
        """Restore a stopped tracker from a file that dump() wrote, compressed or plain.

        Raises:
            OSError: the file cannot be read
            ValueError: it does not contain a snapshot
        """
        try:
            return cls.loads(snapshots.read(file))
        except ValueError as error:
            raise ValueError(f"{file}: {error}") from error

    # ---- show ----

    def __repr__(self) -> str:
        state = "running" if self.running else "stopped" if self.stop_time else "not started"
        return f"<ResourceTracker of pid {self.pid}, {state}, {self.n_samples} samples>"

    def _repr_html_(self) -> str:
        from .report import summary_html

        return summary_html(self)


_told_of_token = False


def _tell_of_token(token: Optional[str]) -> None:
    """Report once per process that nothing is sent, if a token suggests that the user expects it."""
    global _told_of_token
    if _told_of_token or not (token or os.environ.get("SENTINEL_API_TOKEN")):
        return
    _told_of_token = True
    from ._log import tell

    tell(("sentinel_token is given" if token else "SENTINEL_API_TOKEN is set")
         + ", but nothing is sent: this version has no streaming")


class _Phase:
    """Context manager of ResourceTracker.phase()."""

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
