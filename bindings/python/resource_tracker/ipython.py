"""%load_ext resource_tracker: %%track_resources for a cell, %track_resources on for every cell."""

from __future__ import annotations

import shlex
import time
from typing import Any, Dict, List, Optional

from .helpers import exit_code_of
from .tiny_data_frame import TinyDataFrame

_hooks: Dict[int, "CellTable"] = {}


def _options(line: str) -> Dict[str, Any]:
    """Parse --interval SECONDS, --label TEXT and --lines in the line of a magic."""
    options: Dict[str, Any] = {}
    words = shlex.split(line)
    while words:
        word = words.pop(0)
        name, has, value = word.partition("=")
        if word == "--lines":
            options["lines"] = True
            continue
        if name not in ("--interval", "--label", "-i", "-l"):
            raise ValueError(f"%%track_resources does not know {word!r}: --interval SECONDS, "
                             "--label TEXT, --lines")
        if not has:
            if not words:
                raise ValueError(f"{name} needs a value")
            value = words.pop(0)
        if name in ("--interval", "-i"):
            options["interval"] = float(value)
        else:
            options["label"] = value
    return options


def _memory_mib() -> float:
    import os

    from .tracker_procfs import get_process_stats

    return get_process_stats(os.getpid(), schema="0.5")["memory_mib"]  # type: ignore


def _row(label: str, tracker: Any, seconds: float, before_mib: float) -> Dict[str, Any]:
    totals = tracker.totals()
    after_mib = _memory_mib()
    memory = [value for value in tracker.process_metrics["memory_mib"] if value is not None]
    cpu = totals.get("cpu_s", {}).get("value")
    return {
        "cell": label,
        "seconds": round(seconds, 4),
        "cpu_s": None if cpu is None else round(cpu, 3),
        "peak_mib": round(max(memory + [before_mib, after_mib]), 1),
        "retained_mib": round(after_mib - before_mib, 1),
    }


def _new_tracker(options: Dict[str, Any]) -> Any:
    from .tracker import ResourceTracker

    tracker = ResourceTracker(autostart=False, interval=options.get("interval", 0.1),
                              discover_cloud=False, lines=options.get("lines"))
    tracker.start()
    return tracker


def _stop(tracker: Any, result: Any) -> None:
    """Stop with the exit code of a cell, which is that of its exception."""
    code = exit_code_of(getattr(result, "error_before_exec", None) or getattr(result, "error_in_exec", None))
    tracker.stop(code, "failed" if code else "finished")


def track_cell(shell: Any, line: str, cell: str) -> Any:
    """%%track_resources [--interval SECONDS] [--label TEXT] [--lines]"""
    options = _options(line)
    tracker = _new_tracker(options)
    before_mib = _memory_mib()
    start = time.monotonic()
    result: Any = None
    try:
        result = shell.run_cell(cell)
    finally:
        seconds = time.monotonic() - start
        _stop(tracker, result)
    shell.user_ns["_resources"] = tracker
    _show(TinyDataFrame([_row(options.get("label", "cell"), tracker, seconds,
                             before_mib)]))
    if options.get("lines"):
        _show(_hottest(tracker))
    result.raise_error()
    return None


def _hottest(tracker: Any) -> TinyDataFrame:
    """The ten lines that used the most CPU time."""
    found = tracker.lines()
    names = ("file", "line", "function", "cpu_s", "cpu_share", "wall_s", "growth_mib")
    return TinyDataFrame([{name: found[i][name] for name in names}
                          for i in range(min(10, len(found)))])


def _show(frame: TinyDataFrame) -> None:
    from IPython.display import display

    display(frame)


class CellTable:
    """One row for each cell that runs."""

    def __init__(self, shell: Any, options: Dict[str, Any]):
        self._shell, self._options = shell, options
        self._tracker: Any = None
        self._start = self._before_mib = 0.0
        self.rows: List[Dict[str, Any]] = []
        shell.events.register("pre_run_cell", self._before)
        shell.events.register("post_run_cell", self._after)

    def close(self) -> None:
        self._shell.events.unregister("pre_run_cell", self._before)
        self._shell.events.unregister("post_run_cell", self._after)

    def _before(self, info: Any = None) -> None:
        self._tracker = _new_tracker(self._options)
        self._before_mib = _memory_mib()
        self._start = time.monotonic()

    def _after(self, result: Any = None) -> None:
        tracker, self._tracker = self._tracker, None
        if tracker is None:
            return
        seconds = time.monotonic() - self._start
        _stop(tracker, result)
        count = getattr(result, "execution_count", None)
        self.rows.append(_row(f"[{count}]" if count else "cell", tracker, seconds,
                              self._before_mib))
        tracker.cleanup()
        _show(TinyDataFrame(self.rows[-1:]))


def track_line(shell: Any, line: str) -> Optional[TinyDataFrame]:
    """%track_resources on|off|table [--interval SECONDS]"""
    word, _, rest = line.strip().partition(" ")
    found = _hooks.get(id(shell))
    if word == "on":
        if found is None:
            _hooks[id(shell)] = CellTable(shell, _options(rest))
        return None
    if word == "off":
        if found is not None:
            found.close()
            del _hooks[id(shell)]
        return None
    if word in ("", "table"):
        return TinyDataFrame(found.rows if found else [])
    raise ValueError(f"%track_resources takes on, off or table, not {word!r}")


def load_ipython_extension(shell: Any) -> None:
    """Called by %load_ext."""
    shell.register_magic_function(lambda line, cell: track_cell(shell, line, cell), "cell",
                                  "track_resources")
    shell.register_magic_function(lambda line: track_line(shell, line), "line", "track_resources")


def unload_ipython_extension(shell: Any) -> None:
    """Called by %unload_ext."""
    track_line(shell, "off")
