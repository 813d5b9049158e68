"""Checks files that the package finds in default places, because another user may have written them
(docs/security.md).

The rule is that of the program (src/base/trust.h): a file is used only if it belongs to the user or to root, and
if no other user may write to it or to a directory on its path, by mode or by access control list (src/base/acl.h).
"""

from __future__ import annotations

import errno
import os
import stat
import struct
from contextlib import suppress
from typing import Any, Iterator, List, NamedTuple, Optional, Tuple

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
        _check_file(_look(folder, name), path, is_shared)
        descriptor = os.open(name, _FILE, dir_fd=folder)
        try:
            _check_file(_look(descriptor), path, is_shared)
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
        found = _look(folder, name)
        if not stat.S_ISDIR(found.mode):
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


class _Entry(NamedTuple):
    """A file or directory, and the path of its descriptor, by which its attributes are read."""

    mode: int
    uid: int
    gid: int
    links: int
    file: Tuple[int, int]  # device and inode
    by: str


def _look(descriptor: int, name: Optional[str] = None) -> _Entry:
    """Look at an open file or directory, or at an entry of an open directory."""
    found = os.fstat(descriptor) if name is None else os.stat(name, dir_fd=descriptor, follow_symlinks=False)
    by = f"/proc/self/fd/{descriptor}" + ("" if name is None else "/" + name)
    return _Entry(found.st_mode, found.st_uid, found.st_gid, found.st_nlink, (found.st_dev, found.st_ino), by)


def _is_own(found: _Entry) -> bool:
    return found.uid in (os.geteuid(), 0)


def _refuse(found: _Entry, path: str) -> None:
    why = ("other users may write to it" if _is_own(found)
           else f"it belongs to another user (uid {found.uid})")
    raise Untrusted(path, why)


def _check_file(found: _Entry, path: str, is_shared: bool) -> None:
    if not stat.S_ISREG(found.mode):
        raise Untrusted(path, "not a regular file")
    if not _is_own(found) or _may_others_write(found):
        _refuse(found, path)
    if is_shared and found.links > 1:
        raise Untrusted(path, "another user may have created its second hard link")


class _Folder(NamedTuple):
    """An open directory."""

    descriptor: int
    uid: int  # of its owner
    is_own: bool  # it belongs to the user, to root, or to an ID that is not mapped
    others_write: bool
    is_shared: bool  # other users may write to it, and it has the sticky bit
    is_unmapped: bool  # its owner has no uid in this user namespace


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


def _go(start: str, names: List[str], is_named: bool, make: bool = False) -> _Folder:
    """Open the directories with these names, one in another.

    Args:
        is_named: the user named the path, so that its directories may belong to any user
        make: create those that are missing, for the user alone
    """
    names = names[::-1]
    links = 0
    descriptor = os.open(start, _FOLDER)
    try:
        folder = _enter(descriptor, is_named)
        while names:
            name = names.pop()
            try:
                below = _open_below(name, descriptor, make)
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


def _open_below(name: str, folder: int, make: bool) -> int:
    try:
        return os.open(name, _FOLDER, dir_fd=folder)
    except FileNotFoundError:
        if not make:
            raise
    with suppress(FileExistsError):
        os.mkdir(name, 0o700, dir_fd=folder)
    return os.open(name, _FOLDER, dir_fd=folder)


def _enter(descriptor: int, is_named: bool) -> _Folder:
    found = _look(descriptor)
    others = _may_others_write(found)
    is_shared = others and bool(found.mode & stat.S_ISVTX)
    is_unmapped = not _is_own(found) and found.uid == UNMAPPED and _is_in_user_namespace()
    is_own = _is_own(found) or is_unmapped
    if not is_named and (not is_own or (others and not is_shared)):
        _refuse(found, _path_of(descriptor))
    return _Folder(descriptor, found.uid, is_own, others, is_shared, is_unmapped)


def _target_of(name: str, folder: _Folder) -> str:
    """The target of a link that only the user or root can have put into the directory."""
    found = _look(folder.descriptor, name)
    if not stat.S_ISLNK(found.mode) and _is_own(found):
        raise NotADirectoryError(errno.ENOTDIR, "not a directory", name)
    is_unmapped = folder.is_unmapped and found.uid == UNMAPPED
    if not folder.is_own or not (_is_own(found) or is_unmapped) or (folder.others_write and (
            not folder.is_shared or is_unmapped or found.links > 1)):
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


def make_folder(path: str) -> None:
    """os.makedirs() of a directory that the user names, for the user alone. None is created behind a link of another
    user.

    Raises:
        Untrusted: another user may have put such a link on the path
        OSError: as by os.makedirs()
    """
    if ON_WINDOWS:
        os.makedirs(path, mode=0o700, exist_ok=True)
    else:
        names = [part for part in path.split("/") if part]
        os.close(_go("/" if path.startswith("/") else ".", names, is_named=True, make=True).descriptor)


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
        return stat.S_ISLNK(_look(folder, name).mode)
    except FileNotFoundError:
        return False


def _open_checked(name: str, folder: _Folder, flags: int, path: str) -> int:
    """Open a file that exists, or create it. It is truncated after it was checked, as others may exchange it."""
    is_private = folder.is_own and not folder.others_write
    try:
        return os.open(name, flags | os.O_CREAT | os.O_EXCL, 0o666, dir_fd=folder.descriptor)
    except FileExistsError:
        found = _look(folder.descriptor, name)
        if stat.S_ISDIR(found.mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path) from None
        _check_output(found, folder, path)
    wait = 0 if is_private or stat.S_ISFIFO(found.mode) else os.O_NONBLOCK
    descriptor = os.open(name, flags & ~os.O_CREAT | wait, dir_fd=folder.descriptor)
    try:
        if not is_private:
            found = _look(folder.descriptor, name)
            if found.file != _look(descriptor).file:
                raise Untrusted(path, "another user has exchanged it")
            _check_output(found, folder, path)
            os.set_blocking(descriptor, True)
        if stat.S_ISREG(found.mode):
            os.ftruncate(descriptor, 0)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def _check_output(found: _Entry, folder: _Folder, path: str) -> None:
    if stat.S_ISCHR(found.mode) or stat.S_ISBLK(found.mode) or (folder.is_own and not folder.others_write):
        return
    if not _is_own(found) and (folder.others_write or found.uid != folder.uid):
        _refuse(found, path)
    if found.links > 1:
        raise Untrusted(path, "another user may have created its second hard link")


# ---- owners and groups ----

def _may_others_write(found: _Entry) -> bool:
    if stat.S_ISLNK(found.mode):
        return False
    if found.mode & stat.S_IWOTH:
        return True
    by_group = bool(found.mode & stat.S_IWGRP)  # also the mask of a POSIX ACL
    try:
        for attribute, writers in (("posix_acl_access", _writers), ("nfs4_acl", _nfs4_writers),
                                   ("richacl", _unknown_writers)):
            acl = _attribute(found, "system." + attribute)
            if acl:
                return any(not _is_private_group(found.gid if gid is None else gid) if is_group
                           else gid not in (0, os.geteuid()) for is_group, gid in writers(acl))
    except (OSError, struct.error):  # the list cannot be read
        return by_group
    return by_group and not _is_private_group(found.gid)


def _attribute(found: _Entry, name: str) -> bytes:
    """An extended attribute; b"" where there is none."""
    try:
        return os.getxattr(found.by, name, follow_symlinks="/" not in found.by[len("/proc/self/fd/"):])
    except AttributeError:  # not Linux
        return b""
    except OSError as error:
        if error.errno in (errno.ENODATA, errno.EOPNOTSUPP, errno.ENOSYS):
            return b""
        raise


Writer = Tuple[bool, Optional[int]]  # whether it is a group; its id, None: the group of the file


def _writers(acl: bytes) -> Iterator[Writer]:
    """Users and groups other than the owner that a POSIX ACL lets write."""
    version, = struct.unpack_from("<I", acl)
    if version != 2:
        raise struct.error
    entries = list(struct.iter_unpack("<HHI", acl[4:]))
    mask = next((access for tag, access, _ in entries if tag == 16), 7)
    for tag, access, number in entries:
        if tag in (2, 4, 8) and access & mask & 2:
            yield tag != 2, None if tag == 4 else number


def _nfs4_writers(acl: bytes) -> Iterator[Writer]:
    """The same of an NFSv4 ACL. The names of users count as those of other users."""
    at = 4
    while at < len(acl):
        kind, flags, access, length = struct.unpack_from(">IIII", acl, at)
        name, = struct.unpack_from(f"{length}s", acl, at + 16)
        at += 16 + (length + 3) // 4 * 4
        if kind == 0 and not flags & 8 and access & 0xC0046 and name != b"OWNER@":
            yield name == b"GROUP@", None if name == b"GROUP@" else -1


def _unknown_writers(acl: bytes) -> Iterator[Writer]:
    raise struct.error


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
