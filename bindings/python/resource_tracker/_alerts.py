"""Alerts: the list of this user's alerts, and function calls while a tracker runs."""

from __future__ import annotations

import json
import os
from typing import Any, Callable, Dict, List, Optional

from . import _engine
from ._log import tell

OnAlert = Callable[[Dict[str, Any]], Any]


def _usual_dir() -> str:
    """The state directory of the program."""
    from . import _config
    from ._platform import user_folder
    from ._trust import check_folder

    named = (os.environ.get("TRACKER_RECORDING") or _config.read("recording")[0]
             or os.environ.get("RESOURCE_TRACKER_DIR"))
    if named:
        return named
    state, home = user_folder("XDG_STATE_HOME"), user_folder("HOME")
    path = (os.path.join(state, "resource-tracker") if os.path.isabs(state)
            else os.path.join(home, ".local/state/resource-tracker") if os.path.isabs(home)
            else f"/tmp/resource-tracker-{os.geteuid()}")
    try:
        check_folder(path)
    except FileNotFoundError:
        pass
    except OSError as error:
        raise RuntimeError(f"{path}: {error.strerror}") from None
    return path


def alerts(ended: bool = False, dir: Optional[str] = None) -> List[Dict[str, Any]]:  # noqa: A002
    """Return the open alerts, the newest last, as `resource-tracker alerts list --json` prints them: id,
    rule, severity ("info", "warning", "critical"), state ("firing", "resolved"), job, run, text, fix, value,
    limit, opened (seconds since 1970), …

    Args:
        ended: also return alerts that ended in the last 30 days
        dir: state directory (default: that of the program, from RESOURCE_TRACKER_DIR or the configuration)

    Raises:
        RuntimeError: the alerts cannot be read; the text says why
    """
    core = _engine._core
    if core is None:
        raise RuntimeError("alerts need the C library of this package, which cannot be loaded here")
    found = json.loads(core.alerts(dir or _usual_dir()))["alerts"]
    return [alert for alert in found if ended or alert["state"] == "firing"]


def _follow(tracker: Any, on_alert: OnAlert) -> None:
    while True:
        try:
            text = tracker.alert(1.0)
            if text is None and not tracker.running():
                return
        except RuntimeError:  # closed
            return
        if text is None:
            continue
        try:
            on_alert(json.loads(text))
        except Exception as error:
            tell(f"on_alert: {type(error).__name__}: {error}")


def start_calls(sampling: _engine.Sampling, on_alert: OnAlert) -> None:
    """Call on_alert with each alert until the tracker ends, in a daemon thread."""
    from threading import Thread

    if not sampling.has_alerts:
        tell("on_alert is not called: rules are checked only if the program of this package takes the samples")
        return
    Thread(target=_follow, args=(sampling.tracker, on_alert), name="resource-tracker alerts",
           daemon=True).start()
