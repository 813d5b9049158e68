"""The checks of _trust.py on Windows, the same as in the program (src/base/windows/trust.c): a file is used only
if it is not a link and belongs to the user, to SYSTEM or to the administrators."""

from __future__ import annotations

import ctypes
import os
import stat
from typing import Any

FILE_OBJECT, OWNER = 1, 1  # SE_OBJECT_TYPE, SECURITY_INFORMATION
LOCAL_SYSTEM, ADMINISTRATORS = 22, 26  # WELL_KNOWN_SID_TYPE
TOKEN_QUERY, TOKEN_USER = 8, 1
REPARSE_POINT = 0x400
HAS_NO_OWNERS = (1, 50)  # ERROR_INVALID_FUNCTION, ERROR_NOT_SUPPORTED: file systems without owners
_ROOM = 256  # bytes; enough for TOKEN_USER with the longest SID


def _libraries() -> Any:
    advapi, kernel = ctypes.WinDLL("advapi32"), ctypes.WinDLL("kernel32")  # type: ignore[attr-defined]
    pointer = ctypes.c_void_p
    advapi.GetNamedSecurityInfoW.argtypes = [ctypes.c_wchar_p, ctypes.c_int, ctypes.c_uint32, *[pointer] * 5]
    advapi.EqualSid.argtypes = [pointer, pointer]
    advapi.IsWellKnownSid.argtypes = [pointer, ctypes.c_int]
    advapi.OpenProcessToken.argtypes = [pointer, ctypes.c_uint32, pointer]
    advapi.GetTokenInformation.argtypes = [pointer, ctypes.c_int, pointer, ctypes.c_uint32, pointer]
    kernel.GetCurrentProcess.restype = pointer
    kernel.LocalFree.argtypes = kernel.CloseHandle.argtypes = [pointer]
    return advapi, kernel


def _is_self(advapi: Any, kernel: Any, owner: Any) -> bool:
    token, size = ctypes.c_void_p(), ctypes.c_uint32()
    user = (ctypes.c_void_p * (_ROOM // ctypes.sizeof(ctypes.c_void_p)))()  # starts with a pointer to the SID
    if not advapi.OpenProcessToken(kernel.GetCurrentProcess(), TOKEN_QUERY, ctypes.byref(token)):
        return False
    told = advapi.GetTokenInformation(token, TOKEN_USER, user, _ROOM, ctypes.byref(size))
    kernel.CloseHandle(token)
    return bool(told and advapi.EqualSid(owner, user[0]))


def is_own(path: str) -> bool:
    """Whether a file or folder belongs to the user, to SYSTEM or to the administrators. On a file system without
    owners (FAT) always True."""
    advapi, kernel = _libraries()
    owner, descriptor = ctypes.c_void_p(), ctypes.c_void_p()
    error = advapi.GetNamedSecurityInfoW(path, FILE_OBJECT, OWNER, ctypes.byref(owner), None, None, None,
                                         ctypes.byref(descriptor))
    if error or not owner:
        return error == 0 or error in HAS_NO_OWNERS
    try:
        return (_is_self(advapi, kernel, owner) or
                any(advapi.IsWellKnownSid(owner, kind) for kind in (LOCAL_SYSTEM, ADMINISTRATORS)))
    finally:
        kernel.LocalFree(descriptor)


def objection(path: str, is_folder: bool) -> str:
    """The reason why a file or folder in a default place is not used; "" if it is used.

    Raises:
        OSError: it does not exist
    """
    found = os.lstat(path)
    if stat.S_ISLNK(found.st_mode) or getattr(found, "st_file_attributes", 0) & REPARSE_POINT:
        return "a link"
    if not (stat.S_ISDIR if is_folder else stat.S_ISREG)(found.st_mode):
        return "not a directory" if is_folder else "not a regular file"
    return "" if is_own(path) else "it belongs to another user"
