"""What a process gives up for good, with all that it starts: files, system calls, capabilities.

Landlock, of Linux from 5.13 on, closes files outside of given folders and other processes' memory;
from 6.7 on TCP too, from 6.12 on signals to processes outside. [landlock(7)]

The filter of system calls leaves open what ends with the processes that use it and is seen by what
watches them. Closed is what reaches beyond them (sockets, keyrings, other processes, new
namespaces, leases and signals of files) and memory that no limit counts: nameless files, System V
segments, shared pages without a file, extended attributes, pages that only a pipe holds, watches,
locks of parts of files, rule sets, filters and queues that a process makes for itself. What changes
owners, modes and times of files does nothing, and says that it did: copying a file goes on, and no
file outside is changed. [seccomp(2)]

Imported before anything else by a learner's first process: the standard library alone.
"""

import ctypes
import os
import struct
from collections.abc import Iterator

_CREATE, _ADD, _RESTRICT = 444, 445, 446
_EXECUTE, _WRITE, _READ, _LIST = 1, 2, 4, 8
_CHANGES = sum(1 << bit for bit in range(4, 13))  # remove and make whatever
_REFER, _TRUNCATE = 1 << 13, 1 << 14
_READS = _EXECUTE | _READ | _LIST
_TCP, _SCOPES = 3, 3  # bind and connect; abstract unix sockets and signals
_NO_NEW_PRIVILEGES, _DROP_BOUND, _SECCOMP, _FILTER = 38, 24, 22, 2
_LAST_CAPABILITY, _CAPSET = 63, {"x86_64": 126, "aarch64": 91}

# Numbers on x86_64 and on aarch64; from 424 on they are the same everywhere.
_CLOSED = {
    **{"add_key": (248, 217), "request_key": (249, 218), "keyctl": (250, 219)},
    **{"socket": (41, 198), "socketpair": (53, 199), "memfd_create": (319, 279)},
    **{"shmget": (29, 194), "semget": (64, 190), "msgget": (68, 186), "mq_open": (240, 180)},
    **{"setxattr": (188, 5), "lsetxattr": (189, 6), "fsetxattr": (190, 7)},
    **{"ptrace": (101, 117), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271)},
    **{"unshare": (272, 97), "setns": (308, 268), "mount": (165, 40), "umount2": (166, 39)},
    **{"pivot_root": (155, 41), "chroot": (161, 51), "bpf": (321, 280), "kcmp": (312, 272)},
    **{"perf_event_open": (298, 241), "userfaultfd": (323, 282), "personality": (135, 92)},
    **{"io_uring_setup": (425, 425), "io_uring_enter": (426, 426), "io_uring_register": (427, 427)},
    **{"open_tree": (428, 428), "move_mount": (429, 429), "fsopen": (430, 430)},
    **{"fsconfig": (431, 431), "fsmount": (432, 432), "fspick": (433, 433)},
    **{"pidfd_getfd": (438, 438), "mount_setattr": (442, 442), "memfd_secret": (447, 447)},
    **{"setxattrat": (463, 463), "removexattr": (197, 14), "lremovexattr": (198, 15)},
    **{"fremovexattr": (199, 16), "vmsplice": (278, 75), "file_setattr": (469, 469)},
    **{"inotify_init": (253, 26), "inotify_init1": (294, 26), "fanotify_init": (300, 262)},
    **{"setpriority": (141, 140), "ioprio_set": (251, 30), "open_tree_attr": (467, 467)},
    **{"landlock_create_ruleset": (444, 444), "landlock_add_rule": (445, 445)},
    **{"landlock_restrict_self": (446, 446), "seccomp": (317, 277), "io_setup": (206, 0)},
}
_WITHOUT_EFFECT = {
    **{"chmod": (90, 52), "fchmod": (91, 52), "fchmodat": (268, 53), "fchmodat2": (452, 452)},
    **{"chown": (92, 55), "fchown": (93, 55), "lchown": (94, 54), "fchownat": (260, 54)},
    **{"utime": (132, 88), "utimes": (235, 88), "futimesat": (261, 88), "utimensat": (280, 88)},
}
_OF_ITSELF = {  # the process that the first argument names must be 0, which is the caller
    **{"prlimit64": (302, 261), "sched_setparam": (142, 118), "sched_setscheduler": (144, 119)},
    **{"sched_setaffinity": (203, 122), "sched_setattr": (314, 274)},
}
_VALUES = {  # refused where an argument, counted from 0, is one of these
    "fcntl": (
        (72, 25),
        1,
        (
            *(6, 7, 37, 38),  # locks of parts of files, of which there may be any number
            *(8, 10, 15),  # signals to others: SETOWN, SETSIG, SETOWN_EX
            *(1024, 1026, 1031),  # leases, watches, larger pipes
        ),
    ),
    "ioctl": ((16, 29), 1, (0x8901, 0x8902)),  # FIOSETOWN, SIOCSPGRP
    "prctl": ((157, 167), 0, (22,)),  # SET_SECCOMP: further filters
}
_MMAP, _CLONE, _CLONE3 = (9, 222), (56, 220), (435, 435)
_MACHINES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}
_OTHER_CALLS = 0x40000000  # of x86_64: the same calls under other numbers
_NAMESPACES = 0x7E020000  # the bits of clone that make new ones
_SHARED_WITHOUT_FILE = 0x21  # MAP_SHARED | MAP_ANONYMOUS

# Instructions of BPF, and where a call's number, machine and arguments stand.
_LOAD, _EQUAL, _AT_LEAST, _ANY, _MASK, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x54, 0x06
_NUMBER, _MACHINE, _ARGUMENTS = 0, 4, 16
_ALLOW, _KILL, _REFUSE, _MISSING = 0x7FFF0000, 0x80000000, 0x00050001, 0x00050026
_NOTHING = 0x00050000  # an error of 0: the call returns as if it had been done

_Step = tuple[int, int, int, int]


class _Rules(ctypes.Structure):
    _fields_ = (("files", ctypes.c_uint64), ("net", ctypes.c_uint64), ("scoped", ctypes.c_uint64))


class _Beneath(ctypes.Structure):
    _pack_ = 1
    _layout_ = "ms"
    _fields_ = (("allowed", ctypes.c_uint64), ("parent", ctypes.c_int32))


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("steps", ctypes.c_char_p))


def close(writable: list[str], readable: list[str]) -> bool:
    """Close what can be closed without a namespace; False where something could not be."""
    _drop_capabilities()
    steps = program() or b""
    made = _Program(length=len(steps) // 8, steps=steps)
    return _restrict(writable, readable) and not _prctl(_SECCOMP, _FILTER, ctypes.byref(made))


def version() -> int:
    """Return the version of Landlock that the system has; 0 where it has none."""
    if not hasattr(os, "O_PATH"):  # not Linux
        return 0
    return max(0, _call(_CREATE, None, 0, 1))


def _restrict(writable: list[str], readable: list[str]) -> bool:
    # It holds for the thread that asks and for all that this one starts.
    there = version()
    if not there:
        return False
    handled = _READS | _WRITE | _CHANGES
    handled |= (_REFER if there >= 2 else 0) | (_TRUNCATE if there >= 3 else 0)
    rules = _Rules(
        files=handled, net=_TCP if there >= 4 else 0, scoped=_SCOPES if there >= 6 else 0
    )
    size = 24 if there >= 6 else 16 if there >= 4 else 8
    made = _call(_CREATE, ctypes.byref(rules), size, 0)
    if made < 0:
        return False
    try:
        for allowed, paths in ((_READS, readable), (handled, writable)):
            for path in paths:
                _allow(made, path, allowed)
        _prctl(_NO_NEW_PRIVILEGES, 1)
        return _call(_RESTRICT, made, 0) == 0
    finally:
        os.close(made)


def _allow(rules: int, path: str, allowed: int) -> None:
    try:
        place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return  # it is gone, or not for us
    try:
        if not os.path.isdir(path):
            allowed &= _EXECUTE | _WRITE | _READ | _TRUNCATE
        rule = _Beneath(allowed=allowed, parent=place)
        _call(_ADD, rules, 1, ctypes.byref(rule), 0)
    finally:
        os.close(place)


def _call(number: int, *arguments: object) -> int:
    given = [ctypes.c_long(a) if isinstance(a, int) else a for a in arguments]
    return int(ctypes.CDLL(None, use_errno=True).syscall(ctypes.c_long(number), *given))


def _drop_capabilities() -> None:
    number = _CAPSET.get(os.uname().machine)
    _prctl(_NO_NEW_PRIVILEGES, 1)
    if number is None:
        return
    for capability in range(_LAST_CAPABILITY + 1):
        _prctl(_DROP_BOUND, capability)
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)
    nothing = (ctypes.c_uint32 * 6)()
    _call(number, ctypes.byref(header), ctypes.byref(nothing))


def _prctl(option: int, *arguments: object) -> int:
    given = [ctypes.c_ulong(a) if isinstance(a, int) else a for a in (*arguments, 0, 0, 0)[:4]]
    return int(ctypes.CDLL(None).prctl(option, *given))


def program() -> bytes | None:
    """Return the filter for this machine; None for a machine whose numbers do not stand here.

    >>> made = program()
    >>> made is None or len(made) % 8 == 0
    True
    """
    found = _MACHINES.get(os.uname().machine) if hasattr(os, "uname") else None
    if found is None:
        return None
    return b"".join(struct.pack("<HBBI", code, yes, no, k) for code, k, yes, no in _steps(*found))


def _steps(column: int, machine: int) -> Iterator[_Step]:
    yield _LOAD, _MACHINE, 0, 0
    yield _EQUAL, machine, 1, 0
    yield _RETURN, _KILL, 0, 0  # 32-bit calls have other numbers
    yield _LOAD, _NUMBER, 0, 0
    yield _AT_LEAST, _OTHER_CALLS, 0, 1
    yield _RETURN, _REFUSE, 0, 0
    for numbers in _CLOSED.values():
        yield from _case(numbers[column], [(_RETURN, _REFUSE, 0, 0)])
    for numbers in _WITHOUT_EFFECT.values():
        yield from _case(numbers[column], [(_RETURN, _NOTHING, 0, 0)])
    for numbers in _OF_ITSELF.values():
        yield from _case(numbers[column], _argument(0, [(_EQUAL, 0, 1, 0)]))
    for numbers, place, values in _VALUES.values():
        yield from _case(numbers[column], _one_of(place, values))
    # The C library then starts threads by clone, whose flags can be looked at.
    yield from _case(_CLONE3[column], [(_RETURN, _MISSING, 0, 0)])
    yield from _case(_CLONE[column], _argument(0, [(_ANY, _NAMESPACES, 0, 1)]))
    yield from _case(
        _MMAP[column],
        _argument(3, [(_MASK, _SHARED_WITHOUT_FILE, 0, 0), (_EQUAL, _SHARED_WITHOUT_FILE, 0, 1)]),
    )
    yield _RETURN, _ALLOW, 0, 0


def _case(number: int, steps: list[_Step]) -> list[_Step]:
    return [(_EQUAL, number, 0, len(steps)), *steps]


def _argument(place: int, test: list[_Step]) -> list[_Step]:
    """Refuse a call where the test of the low half of an argument goes on, not where it jumps."""
    load = (_LOAD, _ARGUMENTS + 8 * place, 0, 0)
    return [load, *test, (_RETURN, _REFUSE, 0, 0), (_RETURN, _ALLOW, 0, 0)]


def _one_of(place: int, values: tuple[int, ...]) -> list[_Step]:
    """Refuse a call where the low half of an argument is one of some values."""
    load = (_LOAD, _ARGUMENTS + 8 * place, 0, 0)
    tests = [(_EQUAL, value, len(values) - i, 0) for i, value in enumerate(values)]
    return [load, *tests, (_RETURN, _ALLOW, 0, 0), (_RETURN, _REFUSE, 0, 0)]
