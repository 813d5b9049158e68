"""What the next run should request, and on which server it costs least.

The C library computes this, from the recording of a tracker or from a snapshot. A tracker, a loaded snapshot,
the report and Metaflow therefore give the same advice for a run as `resource-tracker recommend`.
"""

from __future__ import annotations

import json
import os
from typing import Any, Dict, Optional, Sequence

from . import _engine
from ._tracked import Tracked

#: Figures of an earlier run as the library takes them -> column and aggregate of statistics.
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
    """The recording of the tracker. For a snapshot, a recording is made in the folder."""
    recording = getattr(tracker._tracker, "recording", "") if tracker._tracker else ""
    if recording and tracker._is_ours():
        return str(recording)
    path = os.path.join(folder, "job")
    with open(path, "w", encoding="utf-8") as file:
        file.write(tracker.dumps())
    _engine.library().import_file(path, "snapshot", folder)
    names = os.listdir(os.path.join(folder, "runs"))
    return os.path.join(folder, "runs", names[0]) if len(names) == 1 else None


def runs_options(tracker: Tracked, recording: str, folder: str, earlier: Optional[str]
                 ) -> Dict[str, Any]:
    """Options that state which earlier runs count, for the report and recommend(): those in the JSON, or else
    those of the same job in this user's history. For a snapshot without the name of its job, no earlier runs
    count."""
    if earlier is not None:
        return {"earlier": earlier}
    if recording.startswith(folder) and not tracker._job_name():
        return {"history": folder}
    return {"of_user": True}


def ask(tracker: Tracked, earlier: Optional[str], needs: Optional[Dict[str, Any]] = None,
        **options: Any) -> Optional[Dict[str, Any]]:
    """The document of `recommend --json` about a tracker's run; None if the library cannot be loaded, or if
    the run has too few samples.

    Args:
        earlier: JSON of earlier runs, the oldest first; None: those of this user's history
        needs: of servers, members of struct trk_server_needs
        options: members of struct trk_recommend_options

    Raises:
        ValueError: the library rejects an option
    """
    from tempfile import TemporaryDirectory

    options["failed"] = tracker.run_status == "failed"
    try:
        with TemporaryDirectory(prefix="resource-tracker-") as folder:
            recording = recording_of(tracker, folder)
            if not recording:
                return None
            runs = runs_options(tracker, recording, folder, earlier)
            try:
                return recommend(recording, {**options, **runs}, needs)
            except (OSError, RuntimeError):  # such as a history that cannot be read
                return recommend(recording, {**options, "earlier": earlier or "[]"}, needs)
    except (OSError, RuntimeError):
        return None


def recommend(recording: str, options: Dict[str, Any], needs: Optional[Dict[str, Any]] = None
              ) -> Dict[str, Any]:
    """The document of `recommend --json` about a recording."""
    return _engine.answer_of(_engine.library().recommend(recording, options, needs or {}))


def earlier_of(historical: Sequence[Dict[str, Any]]) -> Optional[str]:
    """Statistics of earlier runs as JSON for ask(); None for none."""
    if not historical:
        return None
    return json.dumps([earlier_run(stats) for stats in historical])


def _up(value: Optional[float], least: int) -> int:
    """Round up to a whole amount, as in the lines to paste of the report."""
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


#: Names of needs -> member of struct trk_server_needs.
NEEDS = {"cpu": "vcpus", "memory": "memory_mib", "gpu": "gpus", "vram": "vram_mib"}


def needs_of(stated: Dict[str, Any]) -> Dict[str, float]:
    """The needs that are stated; 0 and None state nothing.

    Raises:
        ValueError: a need is not a number
    """
    needs: Dict[str, float] = {}
    for name, value in stated.items():
        if value:
            try:
                needs[NEEDS[name]] = int(value)
            except (TypeError, ValueError):
                raise ValueError(f"{name} must be a number, got {value!r}") from None
    return needs
