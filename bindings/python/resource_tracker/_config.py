"""Reads single keys of the configuration file: `schema` in the table [python], and `recording`, the folder of
recordings. All other settings are read by the program."""

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
    """(path of the configuration file, whether RESOURCE_TRACKER_CONFIG names it). The program reads the same file."""
    named = os.environ.get("RESOURCE_TRACKER_CONFIG")
    if named:
        return named, True
    home = user_folder("XDG_CONFIG_HOME") or os.path.join(os.path.expanduser("~"), ".config")
    return os.path.join(home, "resource-tracker", "config.toml"), False


def _text_of(path: str, was_named: bool) -> str:
    """The first MAX_BYTES of the file; "" if it is not a regular file.

    Raises:
        Untrusted: no variable names the file, and another user may have written it
    """
    descriptor = (os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)) if was_named
                  else open_found(path))
    with open(descriptor, encoding="utf-8", errors="replace") as file:
        return file.read(MAX_BYTES) if stat.S_ISREG(os.fstat(descriptor).st_mode) else ""


def read(key: str, table: Optional[str] = None) -> Tuple[Optional[str], str]:
    """Look up a key in the configuration file.

    Args:
        key: name of the key
        table: search this table only; default: all tables except [tags], as the program does

    Returns:
        (value at the last place where the key is set, or None; "FILE:LINE" of that place)
    """
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
