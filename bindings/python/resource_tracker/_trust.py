"""Checks files that the package finds in default places, because another user may have written them
(docs/security.md).

The rule is that of the program (src/base/trust.h): a file is used only if it belongs to the user or to root, and
if no other user may write to it or to a directory on its path.
"""

from __future__ import annotations

import errno
import os
import stat
from typing import Any, List, NamedTuple, Tuple

from ._platform import ON_WINDOWS

LINKS_MAX = 40  # symbolic links in one path; the limit of the kernel
UNMAPPED = 65534  # the default of /proc/sys/kernel/overflowuid

_FOLDER = (getattr(os, "O_PATH", 0) | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0)
           | getattr(os, "O_CLOEXEC", 0))
_FILE = (os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
         | getattr(os, "O_NOCTTY", 0) | getattr(os, "O_CLOEXEC", 0))


class Untrusted(PermissionError):
    """Another user may have written a file, or the path is not a file of the expected type."""

    def __init__(self, path: str, why: str):
        super().__init__(errno.EPERM, why, path)


def open_found(path: str) -> int:
    """Open a regular file in a default place for reading. Returns its descriptor.

    Raises:
        Untrusted: another user may have written it, or it is not a regular file
        OSError: it does not exist or cannot be read
    """
    if ON_WINDOWS:
        _check_on_windows(path, is_folder=False)
        return os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0))
    folder, name, is_shared = _walk(path)
    try:
        # Check the type before opening: opening a device may have side effects.
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
    """Check a directory.

    Raises:
        Untrusted: it belongs to another user, other users may write to it, or it is not a directory
        OSError: it does not exist or cannot be read
    """
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


class _Folder(NamedTuple):
    """An open directory."""

    descriptor: int
    uid: int  # of its owner
    is_own: bool  # it belongs to the user, to root, or to an ID that is not mapped
    others_write: bool
    is_shared: bool  # other users may write to it, and it has the sticky bit
    is_unmapped: bool  # its owner has no uid in this user namespace


def _folder_of(descriptor: int) -> _Folder:
    found = os.fstat(descriptor)
    others = _may_others_write(found)
    is_unmapped = not _is_own(found) and found.st_uid == UNMAPPED and _is_in_user_namespace()
    return _Folder(descriptor, found.st_uid, _is_own(found) or is_unmapped, others,
                   others and bool(found.st_mode & stat.S_ISVTX), is_unmapped)


def _walk(path: str) -> Tuple[int, str, bool]:
    """Open the directory that contains the last name of a path, and check every directory from / down to it.

    Returns:
        (descriptor of that directory, the last name, whether other users may write to the directory)
    """
    names: List[str] = [name for name in os.path.join(os.getcwd(), path).split("/") if name]
    last = names.pop() if names else "."
    folder = _go("/", names, is_named=False)
    if folder.is_unmapped:  # the owner may be any user; accepted for directories further up only
        os.close(folder.descriptor)
        raise Untrusted(path, "its directory belongs to an unknown user")
    return folder.descriptor, last, folder.is_shared


def _go(start: str, names: List[str], is_named: bool) -> _Folder:
    """Open the directories with these names, one in another.

    Args:
        is_named: the user named the path, so that its directories may belong to any user
    """
    names = names[::-1]
    links = 0
    descriptor = os.open(start, _FOLDER)
    try:
        folder = _enter(descriptor, is_named)
        while names:
            name = names.pop()
            try:
                below = os.open(name, _FOLDER, dir_fd=descriptor)
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
            os.close(descriptor)
            descriptor = below
            folder = _enter(descriptor, is_named)
    except BaseException:
        os.close(descriptor)
        raise
    return folder


def _enter(descriptor: int, is_named: bool) -> _Folder:
    folder = _folder_of(descriptor)
    if not is_named and (not folder.is_own or (folder.others_write and not folder.is_shared)):
        _refuse(os.fstat(descriptor), _path_of(descriptor))
    return folder


def _target_of(name: str, folder: _Folder) -> str:
    """The target of a link that only the user or root can have put into the directory."""
    found = os.stat(name, dir_fd=folder.descriptor, follow_symlinks=False)
    if not stat.S_ISLNK(found.st_mode) and _is_own(found):
        raise NotADirectoryError(errno.ENOTDIR, "not a directory", name)
    is_unmapped = folder.is_unmapped and found.st_uid == UNMAPPED
    if not folder.is_own or not (_is_own(found) or is_unmapped) or (folder.others_write and (
            not folder.is_shared or is_unmapped or found.st_nlink > 1)):
        _refuse(found, os.path.join(_path_of(folder.descriptor), name))
    return os.readlink(name, dir_fd=folder.descriptor)


def _path_of(folder: int) -> str:
    return os.readlink(f"/proc/self/fd/{folder}")


# ---- files that the user names for writing ----

def open_output(path: Any, mode: str, **options: Any) -> Any:
    """open() for a file that the user names for writing. Links, hard links and files that another user may have put
    into a shared directory are refused, as by the program (docs/security.md).

    Raises:
        Untrusted: another user may have put it there
        OSError: as by open()
    """
    if ON_WINDOWS or isinstance(path, int):
        return open(path, mode, **options)
    return open(path, mode, opener=_open_named, **options)


def _is_descriptor(path: str) -> bool:
    """Whether it is the name of a descriptor, such as /proc/1234/fd/1 or /dev/fd/1. /dev/stdout links to one."""
    names = path.split("/")
    return names[-1].isdigit() and (names[:-1] == ["", "dev", "fd"] or (
        len(names) == 5 and names[:2] == ["", "proc"] and names[3] == "fd"))


def _open_named(path: Any, flags: int) -> int:
    path = os.fsdecode(path)
    for _ in range(LINKS_MAX + 1):
        if _is_descriptor(path):
            top, number = os.path.split(path)
            # At its position: what was written there before stays.
            return os.dup(int(number)) if top in ("/dev/fd", "/proc/self/fd") else os.open(path, flags & ~os.O_CREAT)
        top, name = os.path.split(path)
        if not name:
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
        folder = _go("/" if path.startswith("/") else ".", [part for part in top.split("/") if part], is_named=True)
        try:
            if not _is_link(name, folder.descriptor):
                return _open_checked(name, folder, flags & ~os.O_TRUNC | os.O_NOFOLLOW, path)
            path = os.path.join(top, _target_of(name, folder))
        finally:
            os.close(folder.descriptor)
    raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), path)


def _is_link(name: str, folder: int) -> bool:
    try:
        return stat.S_ISLNK(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode)
    except FileNotFoundError:
        return False


def _open_checked(name: str, folder: _Folder, flags: int, path: str) -> int:
    """Open a file that exists, or create it. It is truncated after it was checked, as others may exchange it."""
    is_private = folder.is_own and not folder.others_write
    try:
        return os.open(name, flags | os.O_CREAT | os.O_EXCL, 0o666, dir_fd=folder.descriptor)
    except FileExistsError:
        found = os.stat(name, dir_fd=folder.descriptor, follow_symlinks=False)
        if stat.S_ISDIR(found.st_mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path) from None
        _check_output(found, folder, path)
    wait = 0 if is_private or stat.S_ISFIFO(found.st_mode) else os.O_NONBLOCK
    descriptor = os.open(name, flags & ~os.O_CREAT | wait, dir_fd=folder.descriptor)
    try:
        if not is_private:
            found = os.stat(name, dir_fd=folder.descriptor, follow_symlinks=False)
            if not os.path.samestat(found, os.fstat(descriptor)):
                raise Untrusted(path, "another user has exchanged it")
            _check_output(found, folder, path)
            os.set_blocking(descriptor, True)
        if stat.S_ISREG(found.st_mode):
            os.ftruncate(descriptor, 0)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def _check_output(found: os.stat_result, folder: _Folder, path: str) -> None:
    if stat.S_ISCHR(found.st_mode) or stat.S_ISBLK(found.st_mode) or (folder.is_own and not folder.others_write):
        return
    if not _is_own(found) and (folder.others_write or found.st_uid != folder.uid):
        _refuse(found, path)
    if found.st_nlink > 1:
        raise Untrusted(path, "another user may have created its second hard link")


# ---- owners and groups ----

def _may_others_write(found: os.stat_result) -> bool:
    if found.st_mode & stat.S_IWOTH:
        return True
    return bool(found.st_mode & stat.S_IWGRP) and not _is_private_group(found.st_gid)


def _is_private_group(gid: int) -> bool:
    """Whether no other user is in the group: the group of root, or one that has the name of the user and no other
    member."""
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
    """Whether this user namespace does not map all uids, so that files may have an unmapped owner."""
    try:
        with open("/proc/self/uid_map", encoding="ascii") as file:
            return file.readline().split() != ["0", "0", "4294967295"]
    except OSError:
        return False
