"""The rule of _trust.py on Windows, as in the program (src/base/windows/trust.c): a file is used only if it
is not a link and belongs to the user, to SYSTEM or to the administrators."""

from __future__ import annotations

import ctypes
import os
import stat
from typing import Any

FILE_OBJECT, OWNER = 1, 1  # SE_OBJECT_TYPE, SECURITY_INFORMATION
LOCAL_SYSTEM, ADMINISTRATORS = 22, 26  # WELL_KNOWN_SID_TYPE
TOKEN_QUERY, TOKEN_USER = 8, 1
REPARSE_POINT = 0x400
HAS_NO_OWNERS = (1, 50)  # ERROR_INVALID_FUNCTION, ERROR_NOT_SUPPORTED: the answer of such a file system
_ROOM = 256  # TOKEN_USER with the longest SID


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
    user = (ctypes.c_void_p * (_ROOM // ctypes.sizeof(ctypes.c_void_p)))()  # it begins with the address of the SID
    if not advapi.OpenProcessToken(kernel.GetCurrentProcess(), TOKEN_QUERY, ctypes.byref(token)):
        return False
    told = advapi.GetTokenInformation(token, TOKEN_USER, user, _ROOM, ctypes.byref(size))
    kernel.CloseHandle(token)
    return bool(told and advapi.EqualSid(owner, user[0]))


def is_own(path: str) -> bool:
    """Whether a file or folder belongs to the user or to the system. A file system without owners (FAT) is
    always accepted."""
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
    """Why a file or folder that nobody has named is not used; "" if it may be used. Raises OSError if it does
    not exist."""
    found = os.lstat(path)
    if stat.S_ISLNK(found.st_mode) or getattr(found, "st_file_attributes", 0) & REPARSE_POINT:
        return "a link"
    if not (stat.S_ISDIR if is_folder else stat.S_ISREG)(found.st_mode):
        return "not a directory" if is_folder else "not a regular file"
    return "" if is_own(path) else "it belongs to another user"
