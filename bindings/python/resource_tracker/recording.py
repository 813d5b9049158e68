"""Functions that read a recording: its programs and processes as data frames (the rows of `resource-tracker
export --what programs` and `--what processes`), and the JSON documents of `show`, `recommend` and `compare`."""

import json
import os
from typing import Any, Dict, List, Optional, Tuple, Union

from .tiny_data_frame import TinyDataFrame

#: Arrow types of columns; all other columns are float64 ("g"), because their values may be unknown
_KINDS = {"program": "u", "command": "u", "pid": "l", "processes": "l", "ended": "b"}
PROGRAMS = ("timestamp", "elapsed_s", "interval_s", "program", "cpu_s", "memory_mib", "processes")
PROCESSES = ("program", "pid", "start_s", "end_s", "ended", "cpu_s", "peak_rss_mib", "command")


def _frame(names: Tuple[str, ...], rows: List[Tuple[Any, ...]]) -> TinyDataFrame:
    return TinyDataFrame({name: [row[at] for row in rows] for at, name in enumerate(names)})._of_kinds(
        {name: _KINDS.get(name, "g") for name in names})


def _open(path: Union[str, "os.PathLike[str]"]) -> Any:
    """Open a recording. Exceptions contain the path."""
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
    """What each program used in each row of the recording `path`.

    Returns:
        a frame with one row per sample and program: timestamp (s since 1970), elapsed_s, interval_s, program,
        cpu_s, memory_mib, processes (number at the end of the interval). The programs of a sample add up to the
        job; the program "the rest" is the part that is not assigned to a program

    Raises:
        OSError: the file cannot be read
        RuntimeError: it is not a recording
    """
    return programs_of(_open(path))


def processes(path: Union[str, "os.PathLike[str]"]) -> TinyDataFrame:
    """The processes of the recording `path`.

    Returns:
        a frame with one row per process: program, pid, start_s and end_s (s since the start of the run; end_s is
        None if the process was alive in the last sample), ended, cpu_s, peak_rss_mib, command

    Raises:
        OSError: the file cannot be read
        RuntimeError: it is not a recording
    """
    return processes_of(_open(path))


def summary(path: Union[str, "os.PathLike[str]"]) -> Dict[str, Any]:
    """The document of `resource-tracker show --json` about the recording `path`: totals, statistics, limits, GPUs,
    phases, and how the time was spent. Its parts `advice` and `change`, which need earlier runs, are left out: see
    recommend() and compare().

    Raises:
        OSError: the file cannot be read
        RuntimeError: it is not a recording
    """
    document: Dict[str, Any] = json.loads(_open(path).summary())
    return {key: value for key, value in document.items() if key not in ("advice", "change")}


def recommend(path: Union[str, "os.PathLike[str]"], **options: Any) -> Dict[str, Any]:
    """The document of `resource-tracker recommend --json` about the recording `path`: what the next run should
    request, and the servers on which it costs least.

    Args:
        options: members of struct trk_recommend_options of the C library, such as risk="safe",
            limit=3, no_servers=True. Without `history`, `history_url` and `earlier` the earlier runs
            of the job are those in the user's history
    """
    from ._advice import recommend as ask

    return ask(os.fspath(path), {"of_user": True, **options})


def compare(path: Union[str, "os.PathLike[str]"],
            earlier: Optional[Union[str, "os.PathLike[str]"]] = None, fail_on: Optional[str] = None
            ) -> Dict[str, Any]:
    """The document of `resource-tracker compare --json` about the recording `path`: what changed compared with
    another run or with earlier runs.

    Args:
        earlier: recording to compare with; default: the earlier runs of the job in the user's history
        fail_on: rules such as "duration>+5%,peak_mem>+10%"

    Raises:
        RuntimeError: it is the first run of its job, or not a recording
        ValueError: an unknown rule
    """
    from ._engine import answer_of, library

    options = {"with": None if earlier is None else os.fspath(earlier), "fail_on": fail_on, "of_user": True}
    document: Dict[str, Any] = answer_of(library().compare(os.fspath(path), options))
    return document
