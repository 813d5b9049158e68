"""Files that the package reads without being named, and which another user may have put there:
docs/security.md.

The rule is that of the program (src/base/trust.h): a file is used only if it belongs to the user or to root,
and no other user may write to it or to a directory above it.
"""

from __future__ import annotations

import errno
import os
import stat
from typing import List, Tuple

from ._platform import ON_WINDOWS

LINKS_MAX = 40  # as the kernel has it
UNMAPPED = 65534  # the default of /proc/sys/kernel/overflowuid

_FOLDER = (getattr(os, "O_PATH", 0) | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0)
           | getattr(os, "O_CLOEXEC", 0))
_FILE = (os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
         | getattr(os, "O_NOCTTY", 0) | getattr(os, "O_CLOEXEC", 0))


class Untrusted(PermissionError):
    """Another user may have written the file, or it is not a regular file."""

    def __init__(self, path: str, why: str):
        super().__init__(errno.EPERM, why, path)


def open_found(path: str) -> int:
    """Open a regular file that nobody has named, for reading, and return its descriptor.

    Raises:
        Untrusted: another user may have written it, or it is not a regular file
        OSError: it does not exist, or cannot be read
    """
    if ON_WINDOWS:
        _check_on_windows(path, is_folder=False)
        return os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0))
    folder, name, is_shared = _walk(path)
    try:
        # Before it is opened: opening a device can do something.
        _check_file(os.stat(name, dir_fd=folder, follow_symlinks=False), path, is_shared)
        descriptor = os.open(name, _FILE, dir_fd=folder)
        try:
            _check_file(os.fstat(descriptor), path, is_shared)
        except OSError:
            os.close(descriptor)
            raise
        return descriptor
    finally:
        os.close(folder)


def check_folder(path: str) -> None:
    """Raise Untrusted if another user may write to a directory, or created it."""
    if ON_WINDOWS:
        return _check_on_windows(path, is_folder=True)
    folder, name, _ = _walk(path)
    try:
        found = os.stat(name, dir_fd=folder, follow_symlinks=False)
        if not stat.S_ISDIR(found.st_mode):
            raise Untrusted(path, "not a directory")
        if not _is_own(found) or _may_others_write(found):
            _refuse(found, path)
    finally:
        os.close(folder)


def _check_on_windows(path: str, is_folder: bool) -> None:
    from ._trust_windows import objection

    why = objection(path, is_folder)
    if why:
        raise Untrusted(path, why)


def _is_own(found: os.stat_result) -> bool:
    return found.st_uid in (os.geteuid(), 0)


def _refuse(found: os.stat_result, path: str) -> None:
    why = ("other users may write to it" if _is_own(found)
           else f"it belongs to another user (uid {found.st_uid})")
    raise Untrusted(path, why)


def _check_file(found: os.stat_result, path: str, is_shared: bool) -> None:
    if not stat.S_ISREG(found.st_mode):
        raise Untrusted(path, "not a regular file")
    if not _is_own(found) or _may_others_write(found):
        _refuse(found, path)
    if is_shared and found.st_nlink > 1:
        raise Untrusted(path, "another user may have created its second hard link")


def _walk(path: str) -> Tuple[int, str, bool]:
    """Return a descriptor of the directory that contains the last name of a path, this name, and whether
    other users may write to that directory. Every directory from / on is checked."""
    names: List[str] = [name for name in os.path.join(os.getcwd(), path).split("/") if name]
    last = names.pop() if names else "."
    names.reverse()
    folder = os.open("/", _FOLDER)
    links = 0
    try:
        is_shared, is_unmapped = _check_way(folder)
        while names:
            name = names.pop()
            try:
                below = os.open(name, _FOLDER, dir_fd=folder)
            except OSError as error:
                if error.errno not in (errno.ENOTDIR, errno.ELOOP):
                    raise
                target = _target_of(name, folder)
                links += 1
                if links > LINKS_MAX:
                    raise
                names += [part for part in reversed(target.split("/")) if part]
                if not target.startswith("/"):
                    continue
                below = os.open("/", _FOLDER)
            os.close(folder)
            folder = below
            is_shared, is_unmapped = _check_way(folder)
        if is_unmapped:  # that may be anybody: not where a file itself lies
            raise Untrusted(path, "its directory belongs to an unknown user")
    except BaseException:
        os.close(folder)
        raise
    return folder, last, is_shared


def _target_of(name: str, folder: int) -> str:
    found = os.stat(name, dir_fd=folder, follow_symlinks=False)
    if not _is_own(found):  # whatever it is, it can be another thing soon
        _refuse(found, os.path.join(_path_of(folder), name))
    if not stat.S_ISLNK(found.st_mode):
        raise NotADirectoryError(errno.ENOTDIR, "not a directory", name)
    return os.readlink(name, dir_fd=folder)


def _path_of(folder: int) -> str:
    return os.readlink(f"/proc/self/fd/{folder}")


def _check_way(folder: int) -> Tuple[bool, bool]:
    """Return whether other users may write to a directory, which then has the sticky bit, and whether its
    owner is not mapped."""
    found = os.fstat(folder)
    others = _may_others_write(found)
    is_shared = others and bool(found.st_mode & stat.S_ISVTX)
    is_unmapped = not _is_own(found) and found.st_uid == UNMAPPED and _is_in_user_namespace()
    if not (_is_own(found) or is_unmapped) or (others and not is_shared):
        _refuse(found, _path_of(folder))
    return is_shared, is_unmapped


def _may_others_write(found: os.stat_result) -> bool:
    if found.st_mode & stat.S_IWOTH:
        return True
    return bool(found.st_mode & stat.S_IWGRP) and not _is_private_group(found.st_gid)


def _is_private_group(gid: int) -> bool:
    """Whether a group has no member other than the user: the group of root, or one with the name of the user."""
    if gid == 0:
        return True
    users = _rows_of("/etc/passwd", 4)
    named = [row[0] for row in users if row[2] == str(os.geteuid())]
    if not named or any(row[3] == str(gid) and row[2] != str(os.geteuid()) for row in users):
        return False
    groups = [row for row in _rows_of("/etc/group", 4) if row[2] == str(gid)]
    return bool(groups) and all(row[0] == named[0] and row[3] in ("", named[0]) for row in groups)


def _rows_of(path: str, fields: int) -> List[List[str]]:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            rows = [line.rstrip("\n").split(":") for line in file]
    except OSError:
        return []
    return [row for row in rows if len(row) >= fields]


def _is_in_user_namespace() -> bool:
    """Whether some ids, such as that of root, may not be mapped here."""
    try:
        with open("/proc/self/uid_map", encoding="ascii") as file:
            return file.readline().split() != ["0", "0", "4294967295"]
    except OSError:
        return False
