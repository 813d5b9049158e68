"""Data of a recording: programs and processes as data frames (the rows of `resource-tracker export --what
programs` and `--what processes`), and the documents of `show --json`, `recommend --json` and `compare
--json`."""

import json
import os
from typing import Any, Dict, List, Optional, Tuple, Union

from .tiny_data_frame import TinyDataFrame

#: Types of columns for other libraries; of all others: float64, as it may be unknown
_KINDS = {"program": "u", "command": "u", "pid": "l", "processes": "l", "ended": "b"}
PROGRAMS = ("timestamp", "elapsed_s", "interval_s", "program", "cpu_s", "memory_mib", "processes")
PROCESSES = ("program", "pid", "start_s", "end_s", "ended", "cpu_s", "peak_rss_mib", "command")


def _frame(names: Tuple[str, ...], rows: List[Tuple[Any, ...]]) -> TinyDataFrame:
    return TinyDataFrame({name: [row[at] for row in rows] for at, name in enumerate(names)})._of_kinds(
        {name: _KINDS.get(name, "g") for name in names})


def _open(path: Union[str, "os.PathLike[str]"]) -> Any:
    """Read a recording; an error message names the file."""
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
    """What each program used in each row of the recording `path`: times in s, memory in MiB, and the number
    of its processes at the end of the row. The programs of a row add up to the job; "the rest" belongs to no
    program.

    Raises:
        OSError: the file cannot be read
        RuntimeError: it is not a recording
    """
    return programs_of(_open(path))


def processes(path: Union[str, "os.PathLike[str]"]) -> TinyDataFrame:
    """The processes of the recording `path`: start and end in s since the start of the run (`end_s` is None
    for a process that was alive at the last sample), CPU time in s, peak RSS in MiB.

    Raises:
        OSError: the file cannot be read
        RuntimeError: it is not a recording
    """
    return processes_of(_open(path))


def summary(path: Union[str, "os.PathLike[str]"]) -> Dict[str, Any]:
    """What happened in a run: the document of `resource-tracker show --json` about the recording `path`, with
    totals, statistics, limits, GPUs, phases, and where the time went. `advice` and `change`, which depend on
    earlier runs, are left out: see recommend() and compare().

    Raises:
        OSError: the file cannot be read
        RuntimeError: it is not a recording
    """
    document: Dict[str, Any] = json.loads(_open(path).summary())
    return {key: value for key, value in document.items() if key not in ("advice", "change")}


def recommend(path: Union[str, "os.PathLike[str]"], **options: Any) -> Dict[str, Any]:
    """What the next run should request, and the servers on which it costs least: the document of
    `resource-tracker recommend --json` about the recording `path`.

    Args:
        options: members of struct trk_recommend_options of the C library, such as risk="safe",
            limit=3, no_servers=True; without `history`, `history_url` and `earlier`, the earlier
            runs of the job in this user's history are used
    """
    from ._advice import recommend as ask

    return ask(os.fspath(path), {"of_user": True, **options})


def compare(path: Union[str, "os.PathLike[str]"],
            earlier: Optional[Union[str, "os.PathLike[str]"]] = None, fail_on: Optional[str] = None
            ) -> Dict[str, Any]:
    """What changed in a run: the document of `resource-tracker compare --json` about the recording `path`.

    Args:
        earlier: the recording to compare with; None: the earlier runs of the job in this user's history
        fail_on: rules such as "duration>+5%,peak_mem>+10%"

    Raises:
        RuntimeError: it is the first run of its job, or not a recording
        ValueError: an unknown rule
    """
    from ._engine import answer_of, library

    options = {"with": None if earlier is None else os.fspath(earlier), "fail_on": fail_on, "of_user": True}
    document: Dict[str, Any] = answer_of(library().compare(os.fspath(path), options))
    return document
