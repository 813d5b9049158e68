"""Computes frames, statistics and phases from the samples of a ResourceTracker."""

from __future__ import annotations

import math
import os
import time
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

from . import _engine
from .column_maps import (SCHEMAS, SERVER_ALLOCATION_CHECKS, Answers, Layout, Schema, aliases,
                          aliases_of, kind_of, scaled)
from ._tracked import Tracked
from .helpers import aggregate_stats, mean
from .tiny_data_frame import StatSpec, TinyDataFrame

PREFIXES = {"system": "system_", "process": "process_"}
HUMAN_PREFIXES = {"system": "System ", "process": "Process "}


# ---- frames ----


def _empty(tracker: Tracked, level: str) -> TinyDataFrame:
    return TinyDataFrame({column.name: [] for column in tracker._schema.columns(level)})._lay_out(
        Layout(tracker.schema, ((level, ""),)))


def empty_frames(tracker: Tracked) -> Dict[str, TinyDataFrame]:
    """Frames without a row, by level."""
    return {level: _empty(tracker, level) for level, _ in tracker._schema.levels}


def read_frames(tracker: Tracked) -> Dict[str, TinyDataFrame]:
    """The samples so far, by level."""
    sources = ["interval_s"]
    for level, columns in tracker._schema.levels:
        if tracker._tracks(level):
            sources += [c.source for c in columns if c.source not in sources]
    try:
        table = _engine.read_columns(tracker._tracker, sources)
    except (OSError, RuntimeError) as error:
        from ._log import logger

        logger.warning("Failed to read process metrics: %s", error)
        return empty_frames(tracker)
    table = _engine.settle(table, tracker.interval)
    return {level: (_frame(tracker, level, table) if tracker._tracks(level)
                    else _empty(tracker, level))
            for level, _ in tracker._schema.levels}


def _frame(tracker: Tracked, level: str, table: _engine.Columns) -> TinyDataFrame:
    from .tracker_procfs import _zero

    none = _zero()
    data = {}
    for column in tracker._schema.columns(level):
        values = table[column.source]
        if column.source == "system_disk_space_used_gb":
            values = _space_used(table)
        if "_gpu_" in column.source and none == 0:
            values = [0 if value is None else value for value in values]
        data[column.name] = [_shown(value, column.factor, column.decimals) for value in values]
    return TinyDataFrame(data)._lay_out(Layout(tracker.schema, ((level, ""),)))


def _space_used(table: _engine.Columns) -> List[Any]:
    """Used space as in the original package, total less free: space reserved for root counts as used."""
    return [used if None in (total, free) else total - free
            for total, used, free in zip(*(table[f"system_disk_space_{kind}_gb"]
                                           for kind in ("total", "used", "free")))]


def _shown(value: Any, factor: float, decimals: int) -> Any:
    if value is None:
        return None
    value *= factor
    return round(value, decimals) if decimals else int(value)


def combined(tracker: Tracked, bytes: bool, human_names: bool, system_prefix: Optional[str],
             process_prefix: Optional[str], offset: Optional[int]) -> TinyDataFrame:
    """See ResourceTracker.get_combined_metrics()."""
    frames = tracker._frames()
    defaults = HUMAN_PREFIXES if human_names else PREFIXES
    prefixes = {
        "system": defaults["system"] if system_prefix is None else system_prefix,
        "process": defaults["process"] if process_prefix is None else process_prefix,
    }
    tracked = [level for level, _ in tracker._schema.levels if tracker._tracks(level)]
    if not min((len(frames[level]) for level in tracked), default=0):
        return TinyDataFrame(data=[])
    rows = slice(max(0, offset or 0), min(len(frames[level]) for level in tracked))
    if rows.start >= rows.stop:
        return TinyDataFrame(data=[])
    data: Dict[str, List[Any]] = {}
    kinds: Dict[str, str] = {}
    for level in tracked:
        for column in tracker._schema.columns(level):
            is_time = column.name == "timestamp"
            if is_time and "timestamp" in map(str.lower, data):
                continue
            name = column.human if human_names else column.name
            values = frames[level][column.name][rows]
            if bytes and column.to_bytes:
                values = [None if v is None else v * column.to_bytes for v in values]
            name = name if is_time else prefixes[level] + name
            data[name], kinds[name] = values, kind_of(column)
    if human_names:
        return TinyDataFrame(data)._lay_out(None)._of_kinds(kinds)
    return TinyDataFrame(data)._lay_out(Layout(tracker.schema, tuple(prefixes.items()), bytes))


# ---- CPU that was waited for ----

#: Above this share of the time on a CPU or in the queue for one, what a run used says too little.
QUEUE_SHARE = 0.1


def queue_of(tracker: Tracked) -> Tuple[float, float]:
    """Return the share of its time in which the tree waited for a CPU, and the mean number of cores for which
    it waited. Zeros if this is not known, as for a snapshot."""
    if tracker._tracker is None or not tracker._tracks("process") or not tracker._is_ours():
        return 0.0, 0.0
    names = ["process_cpu_queue", "process_utime", "process_stime", "interval_s"]
    try:
        table = _engine.read_columns(tracker._tracker, names)
    except (OSError, RuntimeError):
        return 0.0, 0.0
    queued, user, system, span = (sum(v for v in table[name] if v is not None) for name in names)
    wanted = queued + user + system
    return (queued / wanted if wanted > 0 else 0.0), (queued / span if span > 0 else 0.0)


def cpus_for_the_next_run(tracker: Tracked, mean: float) -> int:
    """The rule of the original package, used if the program gives no advice: the mean of the cores in use,
    rounded. It does not lower the request or limit of a run that waited for CPUs or failed. Without a request
    or limit, such a run gets the cores that it wanted, up to those of the machine."""
    from ._pure import limit_cpus

    cores = max(1, round(mean))
    share, queued = queue_of(tracker)
    if share < QUEUE_SHARE and tracker.run_status != "failed":
        return cores
    stated = tracker._requested_cpus or (limit_cpus() if tracker._tracker is not None else None)
    if stated:
        return max(cores, math.ceil(stated))
    return max(cores, min(math.ceil(mean + queued), os.cpu_count() or 1))


# ---- statistics ----


def _duration(interval: float) -> Callable[[List[float]], float]:
    def duration(values: List[float]) -> float:
        return max(values) - min(values) + interval

    return duration


def default_specs(schema: Schema, interval: float) -> List[StatSpec]:
    """The statistics of stats(): mean and maximum of CPU, memory and GPUs of the process tree, disk space,
    network traffic, and duration."""
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


def statistics(tracker: Tracked, specs: Optional[List[StatSpec]]) -> Dict[str, Dict[str, Any]]:
    """See ResourceTracker.stats()."""
    metrics = tracker.get_combined_metrics()
    if not len(metrics):
        raise RuntimeError("No metrics collected (yet)")
    if specs is None:
        specs = [spec for spec in default_specs(tracker._schema, tracker.interval)
                 if spec.column in metrics]
    return Answers(metrics.stats(specs), metrics._aliases)


def statistics_in(schema: str, stats: Dict[str, Dict[str, Any]]) -> Dict[str, Dict[str, Any]]:
    """Statistics under the names and in the units of a schema, whichever schema they have. If all names occur
    in both schemas, the schema is unknown and they are not changed."""
    levels = tuple((level, prefix) for level, prefix in PREFIXES.items())
    to = Layout(schema, levels)
    for other in SCHEMAS.values():
        own, table = set(), {}
        for level, prefix in levels:
            there = {column.source: column for column in SCHEMAS[schema].columns(level)}
            for column in other.columns(level):
                here = there[column.source]
                table[prefix + column.name] = (prefix + here.name, here.factor / column.factor)
                if here.name != column.name:
                    own.add(prefix + column.name)
        if own & set(stats.keys()):
            stats = {table.get(name, (name, 1))[0]: scaled(values, table.get(name, (name, 1))[1])
                     for name, values in stats.items()}
            break
    return Answers(stats, aliases_of(to))


def statistics_in_05(runs: Sequence[Dict[str, Any]]) -> Dict[str, Dict[str, Any]]:
    """Statistics of several runs of either schema, under the names and units of 0.5."""
    return aggregate_stats([statistics_in("0.5", run) for run in runs])


def allocation(tracker: Tracked) -> Optional[str]:
    """Whether other processes worked on the machine: "shared", "dedicated", or None before any sample."""
    frames = tracker._frames()
    process, system = frames["process"], frames["system"]
    if not (tracker._tracks("process") and tracker._tracks("system")):
        return "unknown"
    if not len(process) or not len(system):
        return None
    try:
        for check in SERVER_ALLOCATION_CHECKS:
            # In the units of 0.5, whatever the frames have.
            ours = _known_mean(_in_05(process, tracker._schema, "process",
                                      str(check["process_column"])))
            whole = _known_mean(_in_05(system, tracker._schema, "system",
                                       str(check["system_column"])))
            if ours is None or whole is None:
                continue
            if whole > ours * check["percent"] or whole > ours + check["absolute"]:
                return "shared"
    except (TypeError, KeyError):
        return "unknown"
    return "dedicated"


def _known_mean(values: List[Any]) -> Optional[float]:
    known = [value for value in values if value is not None]
    return mean(known) if known else None


def _in_05(frame: TinyDataFrame, schema: Schema, level: str, name: str) -> List[Any]:
    if schema.name == "0.5":
        return frame[name]
    table = aliases(schema, [(level, "")])
    other, factor = table.get(name, (name, 1))
    return [None if value is None else value * factor for value in frame[other]]


# ---- phases ----


def phases(tracker: Tracked) -> TinyDataFrame:
    """See ResourceTracker.phases()."""
    rows = []
    names = {column.source: column.name for column in tracker._schema.process}
    memory = names["process_memory_mib"]
    frame = tracker.process_metrics if "process_tracker" in tracker.trackers else None
    for phase in tracker._phases:
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
    table = TinyDataFrame(rows)
    return table._of_kinds({**dict.fromkeys(table.columns, "g"), "phase": "u"})


def _rows_within(timestamps: List[float], start: float, end: float) -> List[int]:
    """Rows whose intervals are within the time span; at least the one that ends next."""
    inside = [i for i, t in enumerate(timestamps) if start < t <= end]
    if inside:
        return inside
    after = [i for i, t in enumerate(timestamps) if t > end]
    return after[:1] or [len(timestamps) - 1]
