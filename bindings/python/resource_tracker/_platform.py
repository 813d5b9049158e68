"""Properties of this machine: /proc, psutil, partitions."""

from __future__ import annotations

import os
import sys
from typing import Optional

ON_WINDOWS = sys.platform == "win32"

#: The name of this machine in the names of folders with machine code.
MACHINE = os.uname().machine if hasattr(os, "uname") else "AMD64"

#: Where the program looks for the folders of a user, and where Windows has them.
_WINDOWS_FOLDERS = {"XDG_CONFIG_HOME": "APPDATA", "XDG_STATE_HOME": "LOCALAPPDATA", "HOME": "USERPROFILE"}


def user_folder(name: str) -> str:
    """The value of XDG_CONFIG_HOME, XDG_STATE_HOME or HOME; on Windows, the usual folders of that system are
    the defaults. "" if not known."""
    value = os.environ.get(name)
    if not value and ON_WINDOWS:
        value = os.environ.get(_WINDOWS_FOLDERS[name])
    return value or ""


def system_program(name: str) -> Optional[str]:
    """The name or path with which to start a program of the system. Windows would search for a name in the
    working directory first, so there the path in the system's folder is returned, or None."""
    if not ON_WINDOWS:
        return name
    path = os.path.join(os.environ.get("SystemRoot", r"C:\Windows"), "System32", name + ".exe")
    return path if os.path.exists(path) else None


def system() -> str:
    """"linux" if /proc lists processes, else "macos", "windows", or "other"."""
    if is_procfs_available():
        return "linux"
    return {"darwin": "macos", "win32": "windows"}.get(sys.platform, "other")


def process_exists(pid: int) -> bool:
    """Whether there is a process with this pid."""
    if is_procfs_available():
        return os.path.exists(f"/proc/{pid}")
    import psutil

    return bool(psutil.pid_exists(pid))


def is_psutil_available() -> bool:
    """Whether psutil can be imported."""
    try:
        import psutil  # noqa: F401
    except ImportError:
        return False
    return True


def is_procfs_available() -> bool:
    """Whether /proc is a readable directory."""
    return not ON_WINDOWS and os.path.isdir("/proc") and os.access("/proc", os.R_OK)


def is_partition(disk_name: str) -> bool:
    """Whether a name of /proc/diskstats is part of another device, as reported by the kernel; for a device
    that does not exist, judged by the form of its name."""
    if os.path.isdir("/sys/class/block"):
        known = os.path.join("/sys/class/block", disk_name.replace("/", "!"))
        if os.path.exists(known):
            return os.path.exists(os.path.join(known, "partition"))
    import re

    shape = re.fullmatch(r"((?:sd|vd|xvd|hd)[a-z]+|(?:nvme\d+n|mmcblk|md|loop|nbd|rbd)\d+)p?(\d+)",
                         disk_name)
    return shape is not None and os.path.exists(f"/sys/block/{shape.group(1)}")
