"""Alerts of this user, as `resource-tracker alerts list --json` prints them."""

import json
from typing import Any, Dict, List, Optional

from ._engine import run_program


def alerts(ended: bool = False, dir: Optional[str] = None) -> List[Dict[str, Any]]:  # noqa: A002
    """Open alerts, the newest last: id, rule, severity ("info", "warning", "critical"), state
    ("firing", "resolved"), job, run, text, fix, opened and ended (seconds since 1970), and more.
    What is not known is None.

    Args:
        ended: alerts that ended in the last 30 days as well
        dir: state directory (RESOURCE_TRACKER_DIR, else that of the user)

    Raises:
        FileNotFoundError: this package has no program for this machine
        RuntimeError: the alerts cannot be read; the text says why
    """
    code, out, err = run_program("alerts", "list", "--json", *(["--recording", dir] if dir else []))
    if code != 0:
        raise RuntimeError(err.strip() or f"resource-tracker alerts: exit code {code}")
    found = json.loads(out)["alerts"]
    return [alert for alert in found if ended or alert["state"] == "firing"]
