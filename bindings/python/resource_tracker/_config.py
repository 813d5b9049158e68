"""The settings of this package in the configuration file: [python] schema = "0.5", and the directory of
recordings."""

from __future__ import annotations

import os
import re
import stat
from typing import Optional, Tuple

from ._log import tell
from ._platform import user_folder
from ._trust import Untrusted, open_found

MAX_BYTES = 256 * 1024

_TABLE = re.compile(r"\s*\[\s*([\w.-]+)\s*\]\s*(?:#.*)?")
_ENTRY = re.compile(r"""\s*([\w-]+)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s#]+))\s*(?:#.*)?""")


def _path() -> Tuple[str, bool]:
    """The path of the file, and whether it was named. The program reads the same file."""
    named = os.environ.get("RESOURCE_TRACKER_CONFIG")
    if named:
        return named, True
    home = user_folder("XDG_CONFIG_HOME") or os.path.join(os.path.expanduser("~"), ".config")
    return os.path.join(home, "resource-tracker", "config.toml"), False


def _text_of(path: str, was_named: bool) -> str:
    """The text of the file. Raises Untrusted if the file was not named and another user may have written it."""
    descriptor = (os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)) if was_named
                  else open_found(path))
    with open(descriptor, encoding="utf-8", errors="replace") as file:
        return file.read(MAX_BYTES) if stat.S_ISREG(os.fstat(descriptor).st_mode) else ""


def read(key: str, table: Optional[str] = None) -> Tuple[Optional[str], str]:
    """Return the last value of the key in the file, or None, and "FILE:LINE". If `table` is given, only that
    table is searched; else all tables except [tags], as the program does."""
    path, was_named = _path()
    try:
        text = _text_of(path, was_named)
    except Untrusted as error:
        tell(f"{error.filename}: {error.strerror}: the configuration is ignored")
        return None, path
    except (OSError, AttributeError, ValueError):
        return None, path
    inside, found, place = "", None, path
    for number, line in enumerate(text.splitlines(), 1):
        head, entry = _TABLE.fullmatch(line), _ENTRY.fullmatch(line)
        if head:
            inside = head.group(1)
        elif entry and entry.group(1) == key and (inside == table if table else inside != "tags"):
            found = next(group for group in entry.groups()[1:] if group is not None)
            place = f"{path}:{number}"
    return found, place
