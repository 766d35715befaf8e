"""What learners reach for that is the user's: network, terminal, processes, files, hidden memory.

where.json beside this file names attacks, each with what it is after. What each got is reported, an
error by its class: where the learner is contained that is an error.
"""

import ctypes
import fcntl
import json
import mmap
import os
import resource
import signal
import socket
import struct
import subprocess
import sys
import termios
import time
from contextlib import suppress
from pathlib import Path

import numpy as np

from hardness.upper.learner import Hypothesis

LIBC = ctypes.CDLL(None, use_errno=True)
COLUMN = {"x86_64": 0, "aarch64": 1}[os.uname().machine]  # of the numbers of system calls


class Attacks:
    def learn(self, oracle, rng):
        oracle.draw(10)
        named = json.loads(Path(__file__).with_name("where.json").read_text())
        got = {
            name: self.tried(ATTACKS.get(name) or globals()[name], where)
            for name, where in named.items()
        }
        return Hypothesis(predict=oracle.family.known, details=got)

    def tried(self, attack, where):
        try:
            return attack(where)
        except OSError as error:
            return type(error).__name__


def call(numbers, *arguments):
    """A system call by its numbers on the two machines; raises OSError."""
    given = [ctypes.c_long(a) if isinstance(a, int) else a for a in arguments]
    return checked(LIBC.syscall(ctypes.c_long(numbers[COLUMN]), *given))


def checked(result):
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


def allowed(calls, refused=OSError):
    """The names of calls that are not refused."""
    got = []
    for name, function in calls.items():
        try:
            function()
            got.append(name)
        except refused:
            pass
        except OSError as error:
            got.append(f"{name}: {error}")
    return got


def endless():
    while True:
        time.sleep(60)


# Of the host: sockets, terminals, processes, files.


def tcp(port):
    with socket.create_connection(("127.0.0.1", port), timeout=2):
        return "connected"


def unix(path):
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(path)
        return "connected"


def terminal(path):
    """The user's terminal: to be read, written to, and typed into."""
    got = []
    for name in ("/dev/tty", path):
        for flags in (os.O_RDONLY, os.O_WRONLY):
            with suppress(OSError):
                number = os.open(name, flags | os.O_NONBLOCK | os.O_NOCTTY)
                got.append(f"opened {name}")
                fcntl.ioctl(number, termios.TIOCSTI, b"x")
                got.append(f"typed into {name}")
    return got


def limits(pid):
    """Limits of the process that knows the secret, and of all that it sees in a namespace."""
    seen = [int(name) for name in os.listdir("/proc") if name.isdigit()] if os.getpid() < 10 else []
    others = {pid, *seen} - {os.getpid()}
    return allowed(
        {n: lambda n=n: resource.prlimit(n, resource.RLIMIT_CORE, (0, 0)) for n in others}
    )


def arguments(_):
    """Those of all processes but its own two."""
    got = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            text = path.read_bytes()
            if b"isolated/init.py" not in text:
                got.append(text[:40].decode())
    return got


def reads(paths):
    """The beginnings of files, the names in folders."""

    def read(path):
        try:
            return path.read_text()[:9] if path.is_file() else sorted(os.listdir(path))
        except OSError as error:
            return type(error).__name__

    return {path: read(Path(path)) for path in paths}


# Memory that nobody counts, and what the kernel keeps for processes.


def in_flight(_):
    """Memory in nameless files, whose descriptors are on their way through a socket."""
    here, there = socket.socketpair()
    file = nameless(_)
    socket.send_fds(here, [b"x"], [file])
    return there.fileno()


def nameless(_):
    file = os.memfd_create("hidden")
    os.write(file, bytes(1 << 22))
    return file


def shared(_):
    """Shared pages without a file, given back to nobody: they count for no process."""
    pages = mmap.mmap(-1, 1 << 24)
    pages.write(bytes(1 << 24))
    pages.madvise(mmap.MADV_DONTNEED)
    return "kept"


def attributes(_):
    Path("file").touch()
    for n in range(1000):
        os.setxattr("file", f"user.a{n}", bytes(60_000))
    return "set"


def pipes(_):
    """Pages that a pipe alone holds."""
    room = ctypes.create_string_buffer(4096)
    part = (ctypes.c_void_p * 2)(ctypes.addressof(room), 4096)
    return call((278, 75), os.pipe()[1], part, ctypes.c_size_t(1), 0)


def locks(_):
    """Of every other byte of a file: the kernel keeps each; of a process, and of a descriptor."""
    got = []
    with open("locked", "w") as file:
        for kind in (fcntl.F_SETLK, fcntl.F_SETLKW, 37, 38):
            lock = struct.pack("hhqqi4x", fcntl.F_WRLCK, os.SEEK_SET, len(got), 1, 0)
            got += allowed({kind: lambda n=kind, lock=lock: fcntl.fcntl(file, n, lock)})
    return got


def tables(pages):
    """Pages that are read and never written: each takes an entry, and none is resident."""
    LIBC.mmap.restype = ctypes.c_void_p
    start = LIBC.mmap(None, ctypes.c_size_t(pages << 21), 1, 0x4022, -1, ctypes.c_long(0))
    if start == ctypes.c_void_p(-1).value:
        raise OSError(ctypes.get_errno(), "mmap")
    for page in range(pages):
        ctypes.string_at(start + (page << 21), 1)
    return "read"


def namespaces(_):
    return allowed(
        {
            **{hex(n): lambda n=n: checked(LIBC.unshare(n)) for n in (1 << 28, 1 << 17, 1 << 30)},
            "mount": lambda: checked(LIBC.mount(b"none", b"/tmp", b"tmpfs", 0, None)),
        }
    )


def settings(_):
    """Settings of the kernel, which belong to root: also to a root without capabilities."""
    paths = [os.path.join(folder, n) for folder, _, names in os.walk("/proc/sys") for n in names]
    return allowed({path: lambda p=path: os.close(os.open(p, os.O_WRONLY)) for path in paths})


def modes(_):
    """The mode and the times of a file that is not its own."""
    before = os.stat(__file__)
    os.chmod(__file__, 0o777)
    os.utime(__file__, (1, 1))
    after = os.stat(__file__)
    return [before.st_mode, before.st_mtime] != [after.st_mode, after.st_mtime]


def leases(_):
    """What fcntl has beyond the process: leases on files, watches of folders, signals to others."""
    with open("leased", "w") as file:
        folder = os.open(".", os.O_RDONLY)
        reading, writing = os.pipe()
        owner = struct.pack("i", os.getpid())
        got = allowed(
            {
                "lease": lambda: fcntl.fcntl(file, 1024, fcntl.F_WRLCK),
                "watch": lambda: fcntl.fcntl(folder, 1026, 1),
                "owner": lambda: fcntl.fcntl(reading, fcntl.F_SETOWN, os.getpid()),
                "signal": lambda: fcntl.fcntl(reading, 10, signal.SIGIO),
                "owner by ioctl": lambda: fcntl.ioctl(reading, 0x8901, owner),
                "pipe": lambda: fcntl.fcntl(writing, 1031, 1 << 17),
            },
            PermissionError,
        )
        fcntl.flock(file, fcntl.LOCK_EX)  # of the whole file: it works
    return got


# What ends the run, or never ends.


def nested(_):
    """Children that live a tenth of a second, one after the other, with work for a processor."""
    for _ in range(60):  # far more than they may
        child = os.fork()
        if child == 0:
            until = time.process_time() + 0.1
            while time.process_time() < until:
                pass
            os._exit(0)
        with suppress(ChildProcessError):
            os.waitpid(child, 0)
    return "did not count"


def shared_folder(_):
    """Files in /dev/shm, as much as there is room for."""
    for n in range(1000):
        with open(f"/dev/shm/taken-{n}", "wb") as file:
            file.write(bytes(1 << 24))
    endless()


def empty(_):
    """Files without content: the kernel's memory is taken all the same."""
    for n in range(400_000):
        os.close(os.open(f"empty-{n}", os.O_CREAT | os.O_WRONLY))
    endless()


def many_tables(_):
    """Tables of pages, within the addresses that a process may have, by some processes."""
    for _ in range(5):
        if os.fork() == 0:
            tables(30_000)
            break
    endless()


def odd_name(_):
    """A name that is no text and looks like the end of another, and more processes than it may."""
    LIBC.prctl(15, b"\xff) Z 1 \n(", 0, 0, 0)
    for _ in range(70):
        if os.fork() == 0:
            break
    endless()


def status(_):
    """Writes an end of its own where the first process reports how the learner ended."""
    for name in os.listdir("/proc/1/fd"):
        path = f"/proc/1/fd/{name}"
        if "pipe" in os.readlink(path) and int(name) > 2:
            os.write(os.open(path, os.O_WRONLY), b"9" * 60_000)
    endless()


def deep(_):
    """Folders in folders, deeper than a path is long."""
    for _ in range(3_000):
        os.mkdir("d")
        os.chdir("d")
    return "made"


# What learners need, and should go on having.


def works(_):
    """Threads, processes, pools, files of their own."""
    import multiprocessing
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(2) as threads:
        total = sum(threads.map(abs, range(10)))
    with multiprocessing.get_context("fork").Pool(2) as pool:
        total += sum(pool.map(abs, range(10)))
    Path("checkpoint.npy").write_bytes(b"x" * 1000)
    np.save("array.npy", np.ones(10))
    total += float(np.load("array.npy").sum())
    said = subprocess.run([sys.executable, "-c", "print(5)"], capture_output=True, check=True)
    return total + int(said.stdout)


AVAILABLE = ctypes.c_uint32(0x7FFF0000)  # whether an action is known: nothing is changed
FILES = (ctypes.c_uint64 * 3)(1, 0, 0)
ATTACKS = {
    "abstract": lambda name: unix("\0" + name),
    "names": lambda where: where[1] in Path(where[0]).read_text(),
    # To the process that knows the secret: a signal, on which processors it may run.
    "signals": lambda pid: os.kill(pid, 0),
    "priorities": lambda pid: os.sched_setaffinity(pid, {0}),
    "segments": lambda _: checked(LIBC.shmget(0, ctypes.c_size_t(1 << 24), 0o1600)),
    # The keyring of the session, which is the parent's: its description, a key in it.
    "reads_keyring": lambda _: call((250, 219), 0, -3, 0),
    "adds_key": lambda _: call((248, 217), b"user", b"mine", b"x", ctypes.c_size_t(1), -3),
    # Rule sets of Landlock, each of kernel memory alone; filters of system calls, which every
    # thread keeps; queues of asynchronous input and output, of which there are few for all.
    "rule_sets": lambda _: call((444, 444), ctypes.byref(FILES), 8, 0),
    "filters": lambda _: call((317, 277), 2, 0, ctypes.byref(AVAILABLE)),
    "queues": lambda _: call((206, 0), 8, ctypes.byref(ctypes.c_ulong(0))),
    "watches": lambda _: checked(LIBC.inotify_init1(0)),
    # socket() by the numbers of the x32 calls, which a filter may forget; io_uring, by which files
    # and sockets are opened without calls of their names.
    "other_numbers": lambda _: call((0x40000000 | 41, 198), 1, 1, 0),
    "rings": lambda _: call((425, 425), 4, ctypes.create_string_buffer(120)),
    # Children that the system collects: no parent is told what they used.
    "uncollected": lambda _: nested(signal.signal(signal.SIGCHLD, signal.SIG_IGN)),
    "rests": lambda _: endless(),
    "beside": lambda _: [path.name for path in Path(__file__).parent.glob("*.py")],
}
