"""The schemas of columns as data: the names, units and decimals of the columns of a frame.

A schema is a list of columns for the process tree and one for the machine. Each column states the engine's
column that it shows (docs/columns.md), the factor from the engine's unit to its own unit, and the number of
decimals that are kept. To add a schema, add an entry to SCHEMAS.
"""

import os
from typing import Any, Dict, Iterable, List, NamedTuple, Optional, Tuple

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

#: Names the schema of everything that does not name one, unless set_schema() does.
SCHEMA_VARIABLE = "RESOURCE_TRACKER_SCHEMA"

_set: Optional[str] = None
_configured: Optional[Tuple[Optional[str], str]] = None  # in a file, and which; None: not looked for


def _unknown(name: object, where: str = "") -> ValueError:
    return ValueError(f"{where}unknown schema {name!r}, there are: {', '.join(sorted(SCHEMAS))}")


def set_schema(name: Optional[str]) -> None:
    """Choose the names and units of columns for everything that this process creates from now on.

    Args:
        name: "0.4" (memory in KiB), "0.5" (memory in MiB, units in the names), or None for the schema in
            RESOURCE_TRACKER_SCHEMA or the configuration file, and "0.4" if neither names one

    Raises:
        ValueError: there is no such schema
    """
    global _set
    if name is not None and (not isinstance(name, str) or name not in SCHEMAS):
        raise _unknown(name)
    _set = name


def chosen_schema() -> Optional[str]:
    """The schema that set_schema(), RESOURCE_TRACKER_SCHEMA or the configuration file names; None if none of
    them names one."""
    if _set is not None:
        return _set
    name = os.environ.get(SCHEMA_VARIABLE)
    if name:
        if name not in SCHEMAS:
            raise _unknown(name, f"{SCHEMA_VARIABLE}: ")
        return name
    global _configured
    if _configured is None:
        from ._config import read

        _configured = read("schema", "python")
    found, file = _configured
    if found is not None and found not in SCHEMAS:
        raise _unknown(found, f"{file}: ")
    return found


def default_schema() -> str:
    """Name of the schema that trackers and frames have if none is given: "0.4" or "0.5"."""
    return chosen_schema() or DEFAULT_SCHEMA


def get_schema(name: Optional[str] = None) -> Schema:
    """The columns of a schema; None means the default schema."""
    if name is None:
        name = default_schema()
    try:
        return SCHEMAS[name]
    except (KeyError, TypeError):
        raise _unknown(name) from None


def detect_schema(process_columns: Iterable[str], system_columns: Iterable[str]) -> Schema:
    """The schema to which the columns of a snapshot belong."""
    columns = set(process_columns) | set(system_columns)
    return SCHEMAS["0.5" if columns & {"memory_mib", "memory_used_mib"} else "0.4"]


def aliases(schema: Schema, prefixes: Iterable[Tuple[str, str]]) -> Dict[str, Tuple[str, float]]:
    """Map names of the other schemas to (name in this schema, factor), so that a script for another version
    finds its columns. `prefixes` are pairs of a level and the prefix of its names. A name that exists in this
    schema keeps its meaning."""
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


class Layout(NamedTuple):
    """Describes the columns of a frame: their schema, and the prefix of their names for each level. In a
    frame of bytes, the sizes of all schemas have the same unit."""

    schema: str
    levels: Tuple[Tuple[str, str], ...]
    in_bytes: bool = False


_known_aliases: Dict[Layout, Dict[str, Tuple[str, float]]] = {}


def aliases_of(layout: Layout) -> Dict[str, Tuple[str, float]]:
    """As aliases(), computed once; and in the other direction, for a frame whose columns were picked under
    the names of another schema."""
    found = _known_aliases.get(layout)
    if found is None:
        found = aliases(SCHEMAS[layout.schema], layout.levels)
        found.update({here: (other, 1 / factor) for other, (here, factor) in found.items()})
        if layout.in_bytes:
            found = {name: (other, 1.0) for name, (other, _) in found.items()}
        _known_aliases[layout] = found
    return found


_known_kinds: Dict[Layout, Dict[str, str]] = {}


def kind_of(column: Column) -> str:
    """The type of a column for other libraries: float64, as any figure may be unknown, except for columns
    that are always known."""
    return "l" if column.name == "pid" else "g"


def kinds_of(layout: Layout) -> Dict[str, str]:
    """kind_of() by the names of all schemas, because columns may have been picked under the names of another
    schema."""
    found = _known_kinds.get(layout)
    if found is None:
        found = {prefix + column.name: kind_of(column) for level, prefix in layout.levels
                 for schema in SCHEMAS.values() for column in schema.columns(level)}
        found["timestamp"] = "g"
        _known_kinds[layout] = found
    return found


def layout_of(columns: Iterable[str]) -> Optional[Layout]:
    """The layout of a table that a tracker has written, detected from its columns; None if no tracker has
    written it."""
    names = set(columns)
    if "timestamp" not in names:
        return None
    levels = [(level, f"{level}_") for level in ("process", "system") if f"{level}_cpu_usage" in names]
    if not levels and "cpu_usage" in names and names & {"pid", "processes"}:
        levels = [("process" if "pid" in names else "system", "")]
    if not levels:
        return None
    new = {prefix + column.name for level, prefix in levels
           for column in SCHEMAS["0.5"].columns(level)}
    old = {prefix + column.name for level, prefix in levels
           for column in SCHEMAS["0.4"].columns(level)}
    return Layout("0.5" if names & (new - old) else "0.4", tuple(levels))


def convert(data: Dict[str, List[Any]], layout: Optional[Layout], name: str
            ) -> Dict[str, List[Any]]:
    """Columns under the names and in the units of another schema."""
    target = get_schema(name)
    if layout is None:
        return data
    table: Dict[str, Tuple[str, float, int]] = {}
    for level, prefix in layout.levels:
        there = {column.source: column for column in target.columns(level)}
        for schema in SCHEMAS.values():
            for column in schema.columns(level):
                other = there[column.source]
                # A name of both schemas has the unit of the frame's.
                if column.name == other.name and schema.name != layout.schema:
                    continue
                factor = 1 if layout.in_bytes else other.factor / column.factor
                table[prefix + column.name] = (prefix + other.name, factor, other.decimals)
    result = {}
    for key, values in data.items():
        new, factor, decimals = table.get(key, (key, 1, 0))
        if factor != 1:
            values = [None if value is None else round(value * factor, decimals)
                      if decimals else int(round(value * factor)) for value in values]
        result[new] = values
    return result


class Answers(Dict[str, Any]):
    """A dict that also returns values by the names of the other schemas, converted. Its keys, which iteration
    and JSON show, are the names of its own schema."""

    __slots__ = ("aliases",)

    def __init__(self, values: Any = (), aliases: Optional[Dict[str, Tuple[str, float]]] = None):
        super().__init__(values)
        self.aliases: Dict[str, Tuple[str, float]] = {} if aliases is None else aliases

    def __missing__(self, name: str) -> Any:
        other, factor = self.aliases[name]
        if not dict.__contains__(self, other):
            raise KeyError(name)
        return scaled(self[other], factor)

    def __contains__(self, name: object) -> bool:
        if dict.__contains__(self, name):
            return True
        other = self.aliases.get(name)  # type: ignore[call-overload]
        return other is not None and dict.__contains__(self, other[0])

    def get(self, name: Any, default: Any = None) -> Any:
        return self[name] if name in self else default

    def copy(self) -> "Answers":
        return Answers(self, self.aliases)

    __copy__ = copy


def scaled(value: Any, factor: float) -> Any:
    """A value converted to another unit: a number, or the numbers of a dict."""
    if value is None or factor == 1:
        return value
    if isinstance(value, dict):
        return {key: scaled(number, factor) for key, number in value.items()}
    return value * factor


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
