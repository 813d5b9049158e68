"""Programs and processes of a recording as data frames: the rows of `resource-tracker export --what programs`
and `--what processes`."""

import os
from typing import Any, List, Tuple, Union

from .tiny_data_frame import TinyDataFrame

PROGRAMS = ("timestamp", "elapsed_s", "interval_s", "program", "cpu_s", "memory_mib", "processes")
PROCESSES = ("program", "pid", "start_s", "end_s", "ended", "cpu_s", "peak_rss_mib", "command")


def _frame(names: Tuple[str, ...], rows: List[Tuple[Any, ...]]) -> TinyDataFrame:
    return TinyDataFrame({name: [row[at] for row in rows] for at, name in enumerate(names)})


def _open(path: Union[str, "os.PathLike[str]"]) -> Any:
    """Read a recording; an error names the file."""
    from . import _core

    name = os.fspath(path)
    try:
        return _core.Recording(name)
    except OSError as error:
        error.filename = name
        raise
    except RuntimeError as error:
        raise RuntimeError(f"{name}: {error}") from None


def programs_of(recording: Any) -> TinyDataFrame:
    return _frame(PROGRAMS, recording.programs() if recording else [])


def processes_of(recording: Any) -> TinyDataFrame:
    return _frame(PROCESSES, recording.processes() if recording else [])


def programs(path: Union[str, "os.PathLike[str]"]) -> TinyDataFrame:
    """What each program used in each row of the recording `path`: times in s, memory in MiB, and its
    processes at the end of the row. Programs of a row add up to the job; "the rest" belongs to none.

    Raises:
        OSError: the file cannot be read
        RuntimeError: it is no recording
    """
    return programs_of(_open(path))


def processes(path: Union[str, "os.PathLike[str]"]) -> TinyDataFrame:
    """The processes of the recording `path`: start and end in s since the start of the run (`end_s` is None
    for one that was alive at the last look), CPU time in s, peak RSS in MiB.

    Raises:
        OSError: the file cannot be read
        RuntimeError: it is no recording
    """
    return processes_of(_open(path))
