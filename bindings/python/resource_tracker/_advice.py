"""What the next run should request, and on which server it costs least.

The program answers, from the recording of a tracker or from a snapshot. So a tracker, a loaded snapshot,
the report and Metaflow give the same answer for a run, which is that of `resource-tracker recommend`.
"""

from __future__ import annotations

import json
import os
from typing import Any, Dict, List, Optional, Sequence, Tuple

from . import _engine
from ._tracked import Tracked

#: Figures of an earlier run as the program takes them -> column and aggregate of statistics.
EARLIER = (
    ("cpu_mean", "process_cpu_usage", "mean"),
    ("cpu_max", "process_cpu_usage", "max"),
    ("memory_mean_mib", "process_memory_mib", "mean"),
    ("peak_memory_mib", "process_memory_mib", "max"),
    ("gpu_mean", "process_gpu_usage", "mean"),
    ("gpu_max", "process_gpu_usage", "max"),
    ("vram_max_mib", "process_gpu_vram_mib", "max"),
    ("duration_s", "timestamp", "duration"),
)


def earlier_run(stats: Dict[str, Dict[str, Any]]) -> Dict[str, Any]:
    """Statistics of an earlier run, of either schema, under the names of EARLIER."""
    from ._figures import statistics_in_05

    in_05 = statistics_in_05([stats])
    return {name: in_05.get(column, {}).get(figure) for name, column, figure in EARLIER}


def recording_of(tracker: Tracked, folder: str) -> Optional[str]:
    """The tracker's recording. Of a snapshot one that is made in the folder."""
    recording = getattr(tracker._tracker, "recording", "") if tracker._tracker else ""
    if recording and tracker._is_ours():
        return str(recording)
    path = os.path.join(folder, "job")
    with open(path, "w", encoding="utf-8") as file:
        file.write(tracker.dumps())
    if _engine.run_program("import", "--from", "snapshot", "--recording", folder, path)[0] != 0:
        return None
    names = os.listdir(os.path.join(folder, "runs"))
    return os.path.join(folder, "runs", names[0]) if len(names) == 1 else None


def runs_options(tracker: Tracked, recording: str, folder: str, earlier: Optional[str]
                 ) -> List[str]:
    """Options that say which earlier runs count, for the report and `recommend`: those of the JSON,
    else those of the same job in this user's history. A snapshot that does not know its job stands
    alone."""
    if earlier is not None:
        path = os.path.join(folder, "earlier.json")
        with open(path, "w", encoding="utf-8") as file:
            file.write(earlier)
        return ["--earlier", path]
    if recording.startswith(folder) and not tracker._job_name():
        return ["--recording", folder]
    return []


def _run(tracker: Tracked, recording: str, folder: str, earlier: Optional[str],
         options: Sequence[str]) -> Tuple[int, str, str]:
    """`recommend --json`, with the same runs behind it as the report."""
    more = runs_options(tracker, recording, folder, earlier)
    return _engine.run_program("internal", "recommend", "--json", *more, *options, recording)


def ask(tracker: Tracked, earlier: Optional[str], options: Sequence[str] = ()
        ) -> Optional[Dict[str, Any]]:
    """The document of `recommend --json` about a tracker's run; None where there is no program, or
    where it has too little to tell from.

    Args:
        earlier: JSON of earlier runs, the oldest first; None: those of this user's history
        options: further ones of `recommend`

    Raises:
        ValueError: the program does not take an option
    """
    import subprocess
    from tempfile import TemporaryDirectory

    failed = ["--failed"] if tracker.run_status == "failed" else []
    try:
        with TemporaryDirectory(prefix="resource-tracker-") as folder:
            recording = recording_of(tracker, folder)
            if not recording:
                return None
            code, out, text = _run(tracker, recording, folder, earlier, [*options, *failed])
            if code not in (0, 2) and earlier is None:  # a history that cannot be read
                code, out, text = _run(tracker, recording, folder, "[]", options)
    except (OSError, subprocess.SubprocessError):
        return None
    if code == 2:
        raise ValueError(text.strip().splitlines()[0] if text.strip() else "wrong option")
    try:
        return json.loads(out) if code == 0 else None
    except ValueError:
        return None


def earlier_of(historical: Sequence[Dict[str, Any]]) -> Optional[str]:
    """Statistics of earlier runs as JSON for ask(); None for none."""
    if not historical:
        return None
    return json.dumps([earlier_run(stats) for stats in historical])


def _up(value: Optional[float], least: int) -> int:
    """A whole amount, as in the lines to paste of the report."""
    return max(least, -int(-(value or 0) // 1))


def request_of(answer: Dict[str, Any]) -> Dict[str, int]:
    """{"cpu", "memory" (MiB), "gpu", "vram" (MiB)} of an answer."""
    advice = answer["advice"]
    return {
        "cpu": _up(advice["cpu"]["cores"], 1),
        "memory": _up(advice["memory"]["request_mib"], 0),
        "gpu": _up(advice["gpus"], 0),
        "vram": _up(advice["vram_mib"], 0),
    }


#: Names of needs -> option of `recommend`, with the unit of the number.
NEEDS = {"cpu": ("--cpu", ""), "memory": ("--mem", "MiB"), "gpu": ("--gpu", ""),
         "vram": ("--vram", "MiB")}


def need_options(needs: Dict[str, Any]) -> List[str]:
    """Options for needs that are stated; 0 and None state nothing.

    Raises:
        ValueError: a need that is no number
    """
    options: List[str] = []
    for name, value in needs.items():
        if value:
            option, unit = NEEDS[name]
            try:
                options += [option, f"{int(value)}{unit}"]
            except (TypeError, ValueError):
                raise ValueError(f"{name} must be a number, got {value!r}") from None
    return options
