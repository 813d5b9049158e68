"""Current counters under the names of the original module that used psutil.

They are those of tracker_procfs: on Linux the figures do not depend on which packages are installed, and on
other systems both modules read the same sources (_elsewhere.py).
"""

from __future__ import annotations

from time import time
from typing import Any, Dict, Optional, Set, Union

from .column_maps import default_schema


def get_process_stats(
    pid: int, children: bool = True, schema: Optional[str] = None
) -> Dict[str, Union[int, float, None, Set[int]]]:
    """As tracker_procfs.get_process_stats; a process that does not exist is an error: psutil.NoSuchProcess if
    psutil is installed, else ProcessLookupError."""
    from . import tracker_procfs

    schema = schema or default_schema()
    timestamp = time()
    now = tracker_procfs.read_process(pid, children)
    if now is None:
        try:
            from psutil import NoSuchProcess
        except ImportError:
            raise ProcessLookupError(3, f"No such process: {pid}") from None
        raise NoSuchProcess(pid)
    return tracker_procfs.process_stats(now, timestamp, pid, children, schema)


def get_system_stats(schema: Optional[str] = None) -> Dict[str, Union[int, float, Dict[str, Any]]]:
    """As tracker_procfs.get_system_stats."""
    from . import tracker_procfs

    return tracker_procfs.get_system_stats(schema)
