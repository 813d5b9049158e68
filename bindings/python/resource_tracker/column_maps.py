"""The schemas of columns, as data: which names, units and decimals a frame has.

A schema is a list of columns for the process tree and one for the machine. Each column names the
engine's column that it shows (docs/columns.md), the factor from the engine's unit to its own, and
the decimals that are kept. A further schema is a further entry of SCHEMAS.
"""

from typing import Any, Dict, Iterable, List, NamedTuple, Tuple

MIB = 1024 * 1024
GIB = 1024 * 1024 * 1024

WHOLE = 0  #: decimals of what is kept as an integer


class Column(NamedTuple):
    """One column of a schema."""

    name: str  #: in a frame of its own level, without the prefix of the level
    source: str  #: the engine's column
    factor: float = 1
    decimals: int = 0
    #: Factor from the column's unit to bytes; 0: not a size that is converted
    to_bytes: int = 0
    human: str = ""


class Schema(NamedTuple):
    """All columns of one version of the package."""

    name: str
    process: List[Column]
    system: List[Column]

    @property
    def byte_mapping(self) -> Dict[str, int]:
        return {c.name: c.to_bytes for c in self.process + self.system if c.to_bytes}

    @property
    def human_names(self) -> Dict[str, str]:
        return {c.name: c.human for c in self.system + self.process}

    def columns(self, level: str) -> List[Column]:
        return self.process if level == "process" else self.system

    @property
    def levels(self) -> Tuple[Tuple[str, List[Column]], Tuple[str, List[Column]]]:
        return (("system", self.system), ("process", self.process))


def _gpu(level: str, vram: str) -> List[Column]:
    return [
        Column("gpu_usage", f"{level}_gpu_usage", 1, 4, 0, "GPU usage"),
        Column(vram, f"{level}_gpu_vram_mib", 1, 4, MIB, "VRAM used"),
        Column("gpu_utilized", f"{level}_gpu_utilized", 1, WHOLE, 0, "GPUs in use"),
    ]


def _process(memory: Column, read: str, write: str, vram: str) -> List[Column]:
    return [
        Column("timestamp", "timestamp", 1, 3, 0, "Timestamp"),
        Column("pid", "process_pid", 1, WHOLE, 0, "PID"),
        Column("children", "process_children", 1, WHOLE, 0, "children"),
        Column("utime", "process_utime", 1, 6, 0, "CPU time (user)"),
        Column("stime", "process_stime", 1, 6, 0, "CPU time (system)"),
        Column("cpu_usage", "process_cpu_usage", 1, 4, 0, "CPU usage"),
        memory,
        Column(read, "process_disk_read_bytes", 1, WHOLE, 0, "disk read"),
        Column(write, "process_disk_write_bytes", 1, WHOLE, 0, "disk write"),
    ] + _gpu("process", vram)


_MEMORY = (
    ("free", "free memory"),
    ("used", "used memory"),
    ("buffers", "memory buffers"),
    ("cached", "memory page/file cached"),
    ("active", "active memory"),
    ("inactive", "inactive memory"),
)


def _system(suffix: str, factor: float, decimals: int, unit: int, gb: int, vram: str):
    return [
        Column("timestamp", "timestamp", 1, 3, 0, "Timestamp"),
        Column("processes", "system_processes", 1, WHOLE, 0, "processes"),
        Column("utime", "system_utime", 1, 6, 0, "CPU time (user)"),
        Column("stime", "system_stime", 1, 6, 0, "CPU time (system)"),
        Column("cpu_usage", "system_cpu_usage", 1, 4, 0, "CPU usage"),
    ] + [
        Column(f"memory_{kind}{suffix}", f"system_memory_{kind}_mib", factor, decimals, unit, human)
        for kind, human in _MEMORY
    ] + [
        Column("disk_read_bytes", "system_disk_read_bytes", 1, WHOLE, 0, "disk read"),
        Column("disk_write_bytes", "system_disk_write_bytes", 1, WHOLE, 0, "disk write"),
    ] + [
        Column(f"disk_space_{kind}_gb", f"system_disk_space_{kind}_gb", 1e9 / gb, 2, gb,
               f"disk space {kind}")
        for kind in ("total", "used", "free")
    ] + [
        Column("net_recv_bytes", "system_net_recv_bytes", 1, WHOLE, 0, "inbound network traffic"),
        Column("net_sent_bytes", "system_net_sent_bytes", 1, WHOLE, 0, "outbound network traffic"),
    ] + _gpu("system", vram)


SCHEMAS: Dict[str, Schema] = {
    # Memory in whole KiB, disk space in GiB.
    "0.4": Schema(
        "0.4",
        _process(Column("memory", "process_memory_mib", 1024, WHOLE, 1024, "memory usage"),
                 "read_bytes", "write_bytes", "gpu_vram"),
        _system("", 1024, WHOLE, 1024, GIB, "gpu_vram")),
    # Units in the names: MiB with fractions, GB of 10^9 bytes.
    "0.5": Schema(
        "0.5",
        _process(Column("memory_mib", "process_memory_mib", 1, 4, MIB, "memory usage"),
                 "disk_read_bytes", "disk_write_bytes", "gpu_vram_mib"),
        _system("_mib", 1, 4, MIB, 10**9, "gpu_vram_mib")),
}

DEFAULT_SCHEMA = "0.4"


def get_schema(name: str) -> Schema:
    try:
        return SCHEMAS[name]
    except (KeyError, TypeError):
        raise ValueError(
            f"unknown schema {name!r}, there are: {', '.join(sorted(SCHEMAS))}") from None


def detect_schema(process_columns: Iterable[str], system_columns: Iterable[str]) -> Schema:
    """The schema that a snapshot's columns are of."""
    columns = set(process_columns) | set(system_columns)
    return SCHEMAS["0.5" if columns & {"memory_mib", "memory_used_mib"} else "0.4"]


def aliases(schema: Schema, prefixes: Iterable[Tuple[str, str]]) -> Dict[str, Tuple[str, float]]:
    """Names of the other schemas -> (name here, factor), so that a script written for another
    version finds its columns. `prefixes` are pairs of a level and what stands before its names.
    A name that exists here keeps its meaning."""
    result: Dict[str, Tuple[str, float]] = {}
    for level, prefix in prefixes:
        ours = {c.source: c for c in schema.columns(level)}
        for other in SCHEMAS.values():
            for column in other.columns(level):
                here = ours[column.source]
                if column.name != here.name:
                    result[prefix + column.name] = (prefix + here.name,
                                                    column.factor / here.factor)
    return result


#: The tables of the original, for both sets of names (disk space as in the default schema).
BYTE_MAPPING: Dict[str, int] = {**SCHEMAS["0.5"].byte_mapping, **SCHEMAS["0.4"].byte_mapping}
HUMAN_NAMES_MAPPING: Dict[str, str] = {**SCHEMAS["0.5"].human_names, **SCHEMAS["0.4"].human_names}


def _report_columns(*names: str) -> List[str]:
    return ["Timestamp", *names]


REPORT_CSV_MAPPING: Dict[str, List[str]] = {
    "cpu": _report_columns("Process CPU usage", "System CPU usage"),
    "mem": _report_columns("Process memory usage", "System used memory"),
    "disk": _report_columns("Process disk read", "System disk read", "Process disk write",
                            "System disk write"),
    "disk_space": _report_columns("System disk space used"),
    "net": _report_columns("System inbound network traffic", "System outbound network traffic"),
    "gpu_usage": _report_columns("Process GPU usage", "System GPU usage"),
    "gpu_utilized": _report_columns("Process GPUs in use", "System GPUs in use"),
    "gpu_vram": _report_columns("Process VRAM used", "System VRAM used"),
}
REPORT_CSV_MAPPING["gpu_vram_mib"] = REPORT_CSV_MAPPING["gpu_vram"]

#: When the machine uses this much more than the process tree, somebody else is at work there. Both
#: sides are the engine's columns, in its units.
SERVER_ALLOCATION_CHECKS: List[Dict[str, Any]] = [
    {"process_column": "cpu_usage", "system_column": "cpu_usage", "percent": 1.25,
     "absolute": 0.25},
    {"process_column": "memory_mib", "system_column": "memory_used_mib", "percent": 1.5,
     "absolute": 512},
    {"process_column": "gpu_usage", "system_column": "gpu_usage", "percent": 1.25,
     "absolute": 0.2},
    {"process_column": "gpu_vram_mib", "system_column": "gpu_vram_mib", "percent": 1.25,
     "absolute": 512},
]
