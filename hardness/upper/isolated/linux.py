"""The few calls of Linux that Python does not have; elsewhere they do nothing and say so.

Imported by the guard before anything else: only the standard library, and little of it.
"""

import ctypes
import os
import sys

DUMPABLE, SUBREAPER, DEATH_SIGNAL, NO_NEW_PRIVILEGES, DROP_BOUND = 4, 36, 1, 38, 24
_NEW_MOUNTS, _NEW_IPC, _NEW_USERS = 1 << 17, 1 << 27, 1 << 28
_RECURSIVE, _PRIVATE, _NO_DEVICES = 1 << 14, 1 << 18, 2 | 4
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


def own_shared_memory(size: int) -> bool:
    """Give this process and all that it starts a /dev/shm of their own; it ends with them.

    size: bytes that it may hold. System V memory becomes their own too. False where the system
    does not let this process do it: they then share what everybody has.
    """
    if sys.platform != "linux":
        return False
    user, group = os.getuid(), os.getgid()
    if libc().unshare(_NEW_MOUNTS | _NEW_IPC) != 0:
        if libc().unshare(_NEW_USERS | _NEW_MOUNTS | _NEW_IPC) != 0:
            return False
        for name, map in (("setgroups", "deny"), ("uid_map", user), ("gid_map", group)):
            with open(f"/proc/self/{name}", "w") as file:
                file.write(map if isinstance(map, str) else f"{map} {map} 1")
    place, options = b"/dev/shm", f"size={size},mode=1777".encode()
    return (
        libc().mount(b"none", b"/", None, ctypes.c_ulong(_RECURSIVE | _PRIVATE), None) == 0
        and libc().mount(b"shm", place, b"tmpfs", ctypes.c_ulong(_NO_DEVICES), options) == 0
    )


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
