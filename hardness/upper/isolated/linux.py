"""The few calls of Linux that Python does not have; elsewhere they do nothing and say so.

Imported by the guard before anything else: only the standard library, and little of it.
"""

import ctypes
import os
import sys

DUMPABLE, SUBREAPER, DEATH_SIGNAL, NO_NEW_PRIVILEGES, DROP_BOUND = 4, 36, 1, 38, 24
_LAST_CAPABILITY = 63
_CAPSET = {"x86_64": 126, "aarch64": 91}


def prctl(option: int, value: int) -> bool:
    """Set a property of this process; False where the system has none such."""
    if sys.platform != "linux":
        return False
    return libc().prctl(option, *(ctypes.c_ulong(v) for v in (value, 0, 0, 0))) == 0


def libc() -> ctypes.CDLL:
    """Return the C library that this process has loaded."""
    return ctypes.CDLL(None, use_errno=True)


def drop_capabilities() -> None:
    """Give up what root may do beyond others, in this process and all that it starts."""
    number = _CAPSET.get(os.uname().machine) if sys.platform == "linux" else None
    prctl(NO_NEW_PRIVILEGES, 1)
    if number is None:
        return
    for capability in range(_LAST_CAPABILITY + 1):
        prctl(DROP_BOUND, capability)
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)
    nothing = (ctypes.c_uint32 * 6)()
    libc().syscall(ctypes.c_long(number), ctypes.byref(header), ctypes.byref(nothing))
