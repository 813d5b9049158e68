"""Facts about this machine: operating system, /proc, psutil, the user's folders, partitions."""

from __future__ import annotations

import os
import sys
from typing import Optional

ON_WINDOWS = sys.platform == "win32"

#: Name of this machine's architecture. The package's folders of machine code have such names.
MACHINE = os.uname().machine if hasattr(os, "uname") else "AMD64"

#: Variables that name a user's folders -> those that name the corresponding folders on Windows.
_WINDOWS_FOLDERS = {"XDG_CONFIG_HOME": "APPDATA", "XDG_STATE_HOME": "LOCALAPPDATA", "HOME": "USERPROFILE"}


def user_folder(name: str) -> str:
    """The folder that XDG_CONFIG_HOME, XDG_STATE_HOME or HOME (`name`) names. On Windows an unset variable falls
    back to APPDATA, LOCALAPPDATA or USERPROFILE. "" if it is not known."""
    value = os.environ.get(name)
    if not value and ON_WINDOWS:
        value = os.environ.get(_WINDOWS_FOLDERS[name])
    return value or ""


def system_program(name: str) -> Optional[str]:
    """The name or path by which to start a program of the system. Windows would search the working directory first,
    so the result there is a path in System32, or None if the program does not exist."""
    if not ON_WINDOWS:
        return name
    path = os.path.join(os.environ.get("SystemRoot", r"C:\Windows"), "System32", name + ".exe")
    return path if os.path.exists(path) else None


def system() -> str:
    """"linux" if /proc is readable, else "macos", "windows" or "other"."""
    if is_procfs_available():
        return "linux"
    return {"darwin": "macos", "win32": "windows"}.get(sys.platform, "other")


def samples_with_psutil() -> bool:
    """Whether psutil reads the figures: on systems on which the C library does not track, and in tests on Linux, which
    set RESOURCE_TRACKER_ENGINE=psutil."""
    return system() != "linux" or os.environ.get("RESOURCE_TRACKER_ENGINE") == "psutil"


def process_exists(pid: int) -> bool:
    """Whether a process with this pid exists."""
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
    """Whether a name in /proc/diskstats is a partition. /sys/class/block decides; for a device that is not listed
    there, the form of its name."""
    if os.path.isdir("/sys/class/block"):
        known = os.path.join("/sys/class/block", disk_name.replace("/", "!"))
        if os.path.exists(known):
            return os.path.exists(os.path.join(known, "partition"))
    import re

    shape = re.fullmatch(r"((?:sd|vd|xvd|hd)[a-z]+|(?:nvme\d+n|mmcblk|md|loop|nbd|rbd)\d+)p?(\d+)",
                         disk_name)
    return shape is not None and os.path.exists(f"/sys/block/{shape.group(1)}")
