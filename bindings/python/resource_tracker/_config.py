"""The part of the configuration file that is for this package: [python] schema = "0.5"."""

from __future__ import annotations

import os
import re
import stat
from typing import Optional, Tuple

from ._log import tell
from ._trust import Untrusted, open_found

MAX_BYTES = 256 * 1024

_TABLE = re.compile(r"\s*\[\s*([\w.-]+)\s*\]\s*(?:#.*)?")
_SCHEMA = re.compile(r"""\s*schema\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s#]+))\s*(?:#.*)?""")


def _path() -> Tuple[str, bool]:
    """Which file, and whether it was named: the program reads the same one."""
    named = os.environ.get("RESOURCE_TRACKER_CONFIG")
    if named:
        return named, True
    home = os.environ.get("XDG_CONFIG_HOME") or os.path.join(os.path.expanduser("~"), ".config")
    return os.path.join(home, "resource-tracker", "config.toml"), False


def _text_of(path: str, was_named: bool) -> str:
    """The file's text. Raises Untrusted for a file that was found and that another user may have written."""
    descriptor = (os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)) if was_named
                  else open_found(path))
    with open(descriptor, encoding="utf-8", errors="replace") as file:
        return file.read(MAX_BYTES) if stat.S_ISREG(os.fstat(descriptor).st_mode) else ""


def read_schema() -> Tuple[Optional[str], str]:
    """(the schema that the file names, or None; "FILE:LINE")"""
    path, was_named = _path()
    try:
        text = _text_of(path, was_named)
    except Untrusted as error:
        tell(f"{error.filename}: {error.strerror}: the configuration is ignored")
        return None, path
    except (OSError, AttributeError, ValueError):
        return None, path
    table = ""
    for number, line in enumerate(text.splitlines(), 1):
        head = _TABLE.fullmatch(line)
        if head:
            table = head.group(1)
        entry = _SCHEMA.fullmatch(line) if table == "python" else None
        if entry:
            value = next(group for group in entry.groups() if group is not None)
            return value, f"{path}:{number}"
    return None, path
