"""Lines of the program: the setting for the sampler, and the table of what each line used."""

from __future__ import annotations

import json
import os
import re
import sys
from typing import Any, Dict, List, Optional, Sequence, Tuple, Union

from ._platform import system
from .tiny_data_frame import TinyDataFrame

#: What a row is about, by the argument `by`; then its figures.
_NAMES = {"line": ("file", "line", "function"), "function": ("file", "line", "function"), "file": ("file",),
          "thread": ("process", "pid", "tid"), "process": ("process", "pid"),
          "phase": ("phase", "start_s", "end_s", "file", "line", "function")}
_FIGURES = ("cpu_s", "cpu_share", "cpu_with_callees_s", "wall_s", "growth_mib", "growth_between_mib",
            "released_mib", "samples", "below")

_TEXTS = ("file", "function", "process", "phase", "below")
_WHOLE = ("pid", "tid", "samples")  # known of every row; the line is not, of machine code

Setting = Union[None, bool, float, str]

_MOST_HZ = 1000
_CAP_SYS_PTRACE, _PR_GET_DUMPABLE = 19, 3  # linux/capability.h, linux/prctl.h
_OLD_CELL = re.compile(r"<ipython-input-(\d+)-")


def option(lines: Setting) -> List[bytes]:
    """The option for the sampling program. For None there is no option, so that the user's settings apply."""
    if lines is None:
        return []
    if isinstance(lines, bool):
        word = "auto" if lines else "off"
    elif isinstance(lines, (int, float)):
        if not 0.1 <= lines <= _MOST_HZ:
            raise ValueError(f"lines must be from 0.1 to {_MOST_HZ} samples a second, got {lines}")
        word = f"{lines:g}"
    elif lines in ("auto", "off"):
        word = lines
    else:
        raise ValueError(f"lines must be True, False, a number of samples a second, \"auto\" or "
                         f"\"off\", got {lines!r}")
    return [os.fsencode(f"--lines={word}")]


def _is_readable() -> bool:
    """Whether another process of this user may read the memory of this one (see ptrace(2))."""
    from ctypes import CDLL

    if system() != "linux":
        return True
    try:
        with open("/proc/self/status", encoding="ascii", errors="replace") as status:
            held = int(re.findall(r"^CapEff:\s*(\w+)", status.read(), re.MULTILINE)[0], 16)
        if held >> _CAP_SYS_PTRACE & 1:
            return True
        if CDLL(None).prctl(_PR_GET_DUMPABLE, 0, 0, 0, 0) != 1:
            return False
    except (OSError, IndexError, ValueError, AttributeError):
        return True
    try:
        with open("/proc/sys/kernel/yama/ptrace_scope", encoding="ascii") as scope:
            return int(scope.read()) == 0
    except (OSError, ValueError):
        return True  # no Yama


def asked_rate(more: Sequence[bytes]) -> float:
    """Samples per second that the options or TRACKER_LINES request; negative: the default rate; 0: none."""
    words = [os.fsdecode(word)[8:] for word in more if word.startswith(b"--lines=")]
    asked = words[-1] if words else os.environ.get("TRACKER_LINES", "")
    if asked in ("auto", "on", "true", "yes"):
        return -1
    try:
        rate = float(asked or 0)
    except ValueError:
        return 0
    return rate if 0.1 <= rate <= _MOST_HZ else 0


def needs_thread(more: Sequence[bytes]) -> bool:
    """Whether lines are requested and only a thread of this process can sample them. Alerts and further
    options, which a thread does not support, take precedence."""
    return bool(asked_rate(more) and all(word.startswith(b"--lines=") for word in more)
                and not os.environ.get("TRACKER_ALERT") and not os.environ.get("TRACKER_ON_ALERT")
                and not _is_readable())


def _cells() -> Dict[str, Any]:
    """The numbers of a notebook's cells, by the file name of their code."""
    module = sys.modules.get("IPython")
    shell = module.get_ipython() if module is not None else None
    return dict(getattr(getattr(shell, "compile", None), "_filename_map", None) or {})


def _file_name(file: Optional[str], cells: Dict[str, Any]) -> Optional[str]:
    if file is None:
        return None
    old = _OLD_CELL.match(file)
    number = old.group(1) if old else cells.get(file)
    return file if number is None else f"In [{number}]"


def _row(row: Dict[str, Any], names: Tuple[str, ...], all_cpu_s: float,
         cells: Dict[str, Any]) -> Dict[str, Any]:
    named: Dict[str, Any] = {name: row.get(name) for name in names}
    if "file" in named:
        named["file"] = _file_name(named["file"], cells)
    below = row.get("below")
    return {
        **named,
        "cpu_s": row["cpu_s"],
        "cpu_share": row["cpu_s"] / all_cpu_s if all_cpu_s else None,
        "cpu_with_callees_s": row["with_callees"]["cpu_s"],
        "wall_s": row["wall_s"],
        "growth_mib": row["growth_mib"],
        "growth_between_mib": row["growth_between_mib"],
        "released_mib": row["released_mib"],
        "samples": row["samples"],
        "below": below and f"{os.path.basename(below['file'] or '')}:{below['line']}",
    }


def check(by: str) -> None:
    """Raise a ValueError if there is no such table."""
    if by not in _NAMES:
        raise ValueError(f"by must be {', '.join(list(_NAMES)[:-1])} or {list(_NAMES)[-1]}, got {by!r}")


def table(document: Optional[str], by: str = "line") -> TinyDataFrame:
    """A row for each line (…), the most CPU time first; only the columns if no stacks were sampled."""
    found: Dict[str, Any] = {"rows": []} if document is None else json.loads(document)
    cells = _cells()
    rows = [_row(row, _NAMES[by], found["all"]["cpu_s"], cells) for row in found["rows"]]
    names = (*_NAMES[by], *_FIGURES)
    return TinyDataFrame(rows or {name: [] for name in names})._of_kinds(
        {name: "u" if name in _TEXTS else "l" if name in _WHOLE else "g" for name in names})
