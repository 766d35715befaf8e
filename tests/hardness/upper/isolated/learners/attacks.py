"""Learners that reach for what is the user's: network, terminal, processes, files, hidden memory.

Each reports what it got in `got`, an error by its class; where it is contained that is an error.
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


class Base:
    """where.json beside it says what it is after."""

    access = "either"

    def __init__(self):
        said = Path(__file__).with_name("where.json")
        self.where = json.loads(said.read_text()) if said.exists() else None

    def learn(self, oracle, rng):
        oracle.draw(10)
        try:
            got = self.attack()
        except OSError as error:
            got = type(error).__name__
        return Hypothesis(predict=oracle.family.known, details={"got": got})


def call(number, *arguments):
    """A system call by its number; raises OSError."""
    result = LIBC.syscall(ctypes.c_long(number), *arguments)
    if result < 0:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error))
    return result


class Tcp(Base):
    def attack(self):
        with socket.create_connection(("127.0.0.1", self.where), timeout=2):
            return "connected"


class Unix(Base):
    def attack(self):
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(self.where)
            return "connected"


class Abstract(Base):
    def attack(self):
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect("\0" + self.where)
            return "connected"


class Terminal(Base):
    """The user's terminal: to be read, written to, and typed into."""

    def attack(self):
        got = []
        for path in ("/dev/tty", self.where):
            for flags in (os.O_RDONLY, os.O_WRONLY):
                try:
                    number = os.open(path, flags | os.O_NONBLOCK | os.O_NOCTTY)
                    got.append(f"opened {path}")
                    fcntl.ioctl(number, termios.TIOCSTI, b"x")
                    got.append(f"typed into {path}")
                except OSError:
                    pass
        return got


class Limits(Base):
    """Limits of the process that knows the secret, and of all that it sees."""

    def attack(self):
        got = []
        seen = [int(name) for name in os.listdir("/proc") if name.isdigit()] if NAMESPACE else []
        for pid in {self.where, *seen} - {os.getpid()}:
            try:
                resource.prlimit(pid, resource.RLIMIT_CORE, (0, 0))
                got.append(pid)
            except OSError:
                pass
        return got


NAMESPACE = os.getpid() < 10


class Signals(Base):
    def attack(self):
        os.kill(self.where, 0)
        return "may"


class Reads(Base):
    def attack(self):
        return Path(self.where).read_text()[:20]


class Names(Base):
    def attack(self):
        path, name = self.where
        return name in Path(path).read_text()


class Arguments(Base):
    """Those of all processes but its own two."""

    def attack(self):
        got = []
        for path in Path("/proc").glob("[0-9]*/cmdline"):
            try:
                text = path.read_bytes()
            except OSError:
                continue
            if b"isolated/init.py" not in text:
                got.append(text[:40].decode())
        return got


class Nested(Base):
    """Children that live half a second, one after the other, each with work for a processor."""

    def attack(self):
        while True:
            child = os.fork()
            if child == 0:
                until = time.process_time() + 0.5
                while time.process_time() < until:
                    pass
                os._exit(0)
            with suppress(ChildProcessError):
                os.waitpid(child, 0)


class Uncollected(Nested):
    """The same, and the system collects them: no parent is told what they used."""

    def attack(self):
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        super().attack()


class InFlight(Base):
    """Memory in nameless files, whose descriptors are on their way through a socket."""

    def attack(self):
        here, there = socket.socketpair()
        for _ in range(200):
            file = os.memfd_create("hidden")
            os.write(file, bytes(1 << 22))
            socket.send_fds(here, [b"x"], [file])
            os.close(file)
        time.sleep(1000)
        return there.fileno()


class Nameless(Base):
    def attack(self):
        kept = [os.memfd_create("hidden") for _ in range(200)]
        for file in kept:
            os.write(file, bytes(1 << 22))
        time.sleep(1000)
        return len(kept)


class Shared(Base):
    """Shared pages without a file, given back to nobody: they count for no process."""

    def attack(self):
        kept = []
        for _ in range(60):
            kept.append(mmap.mmap(-1, 1 << 24))
            kept[-1].write(bytes(1 << 24))
            kept[-1].madvise(mmap.MADV_DONTNEED)
        time.sleep(1000)
        return len(kept)


class Segments(Base):
    """System V segments."""

    def attack(self):
        LIBC.shmget.restype = ctypes.c_int
        if LIBC.shmget(0, ctypes.c_size_t(1 << 24), 0o1600) < 0:
            raise OSError(ctypes.get_errno(), "shmget")
        return "a segment"


class SharedFolder(Base):
    """Files in /dev/shm, as much as there is room for."""

    def attack(self):
        for n in range(1000):
            with open(f"/dev/shm/taken-{n}", "wb") as file:
                file.write(bytes(1 << 24))
        time.sleep(1000)
        return "all"


class Empty(Base):
    """Files without content: the kernel's memory is taken all the same."""

    def attack(self):
        for n in range(400_000):
            os.close(os.open(f"empty-{n}", os.O_CREAT | os.O_WRONLY))
        time.sleep(1000)


class Attributes(Base):
    def attack(self):
        Path("file").touch()
        for n in range(1000):
            os.setxattr("file", f"user.a{n}", bytes(60_000))
        return "set"


class Keyring(Base):
    """The session's keys: a description of the parent's keyring, and a key of its own in it."""

    def attack(self):
        numbers = {"x86_64": (250, 248), "aarch64": (219, 217)}[os.uname().machine]
        got = []
        try:
            call(numbers[0], 0, ctypes.c_int(-3), 0)
            got.append("the session keyring")
        except OSError:
            pass
        content = b"secret"
        call(numbers[1], b"user", b"hardness", content, ctypes.c_size_t(6), ctypes.c_int(-3))
        return [*got, "a key"]


class Namespaces(Base):
    def attack(self):
        got = []
        for flags in (0x10000000, 0x20000, 0x40000000):
            if LIBC.unshare(flags) == 0:
                got.append(hex(flags))
        if LIBC.mount(b"none", b"/tmp", b"tmpfs", 0, None) == 0:
            got.append("mounted")
        return got


class Settings(Base):
    """Settings of the kernel, which belong to root: also to a root without capabilities."""

    def attack(self):
        got = []
        for folder, _, names in os.walk("/proc/sys"):
            for name in names:
                try:
                    os.close(os.open(os.path.join(folder, name), os.O_WRONLY))
                    got.append(name)
                except OSError:
                    pass
        return got


class Modes(Base):
    """The mode and the times of a file that is not its own."""

    def attack(self):
        before = os.stat(__file__)
        os.chmod(__file__, 0o777)
        os.utime(__file__, (1, 1))
        after = os.stat(__file__)
        return [before.st_mode, before.st_mtime] != [after.st_mode, after.st_mtime]


class PageTables(Base):
    """Pages that are read and never written: each takes an entry, and none is resident."""

    def attack(self):
        LIBC.mmap.restype = ctypes.c_void_p
        span = ctypes.c_size_t(200_000 << 21)
        start = LIBC.mmap(None, span, 1, 0x4022, -1, ctypes.c_long(0))
        if start == ctypes.c_void_p(-1).value:
            raise OSError(ctypes.get_errno(), "mmap")
        for page in range(200_000):
            ctypes.string_at(start + (page << 21), 1)
        time.sleep(1000)


class ManyTables(Base):
    """The same, within the addresses that a process may have, by some processes."""

    def attack(self):
        LIBC.mmap.restype = ctypes.c_void_p
        for _ in range(5):
            if os.fork() == 0:
                start = LIBC.mmap(
                    None, ctypes.c_size_t(30_000 << 21), 1, 0x4022, -1, ctypes.c_long(0)
                )
                for page in range(30_000):
                    ctypes.string_at(start + (page << 21), 1)
                break
        while True:
            time.sleep(60)


class Pipes(Base):
    """Pages that a pipe alone holds."""

    def attack(self):
        writing = os.pipe()[1]
        room = ctypes.create_string_buffer(4096)
        part = (ctypes.c_void_p * 2)(ctypes.addressof(room), 4096)
        numbers = {"x86_64": 278, "aarch64": 75}
        return call(numbers[os.uname().machine], writing, part, ctypes.c_size_t(1), 0)


def by_number(x86_64, aarch64):
    return {"x86_64": x86_64, "aarch64": aarch64}[os.uname().machine]


class RuleSets(Base):
    """Rule sets of Landlock, each of kernel memory alone."""

    def attack(self):
        handled = (ctypes.c_uint64 * 3)(1, 0, 0)
        return call(444, ctypes.byref(handled), ctypes.c_long(8), ctypes.c_long(0))


class Filters(Base):
    """Filters of system calls, each of up to 4096 instructions that every thread keeps."""

    def attack(self):
        available = ctypes.c_uint32(0x7FFF0000)  # whether an action is known: nothing is changed
        number = by_number(317, 277)
        return call(number, ctypes.c_long(2), ctypes.c_long(0), ctypes.byref(available))


class Queues(Base):
    """Of asynchronous input and output: the machine has some thousand entries for all."""

    def attack(self):
        return call(by_number(206, 0), ctypes.c_long(8), ctypes.byref(ctypes.c_ulong(0)))


class Locks(Base):
    """Of every other byte of a file: the kernel keeps each."""

    def attack(self):
        with open("locked", "w") as file:
            for n in range(100):
                fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, 2 * n)
        return "locked"


class Leases(Base):
    """What fcntl has beyond the process: leases on files, watches of folders, signals to others."""

    def attack(self):
        got = []
        with open("leased", "w") as file:
            folder = os.open(".", os.O_RDONLY)
            reading, writing = os.pipe()
            for name, where, number, value in (
                ("lease", file.fileno(), 1024, fcntl.F_WRLCK),
                ("watch", folder, 1026, 1),
                ("owner", reading, fcntl.F_SETOWN, os.getpid()),
                ("signal", reading, 10, signal.SIGIO),
                ("owner by ioctl", reading, None, os.getpid()),
                ("pipe", writing, 1031, 1 << 17),
            ):
                try:
                    if number is None:
                        fcntl.ioctl(where, 0x8901, struct.pack("i", value))
                    else:
                        fcntl.fcntl(where, number, value)
                    got.append(name)
                except PermissionError:
                    pass
                except OSError as error:
                    got.append(f"{name}: {error.errno}")
            fcntl.flock(file, fcntl.LOCK_EX)  # of the whole file: it works
        return got


class Deep(Base):
    """Folders in folders, deeper than a path is long."""

    def attack(self):
        for _ in range(10_000):
            os.mkdir("d")
            os.chdir("d")
        return "made"


class Rests(Base):
    def attack(self):
        while True:
            time.sleep(60)


class OddName(Base):
    """A name that is no text and looks like the end of another, and more processes than it may."""

    def attack(self):
        LIBC.prctl(15, b"\xff) Z 1 \n(", 0, 0, 0)
        for _ in range(70):
            if os.fork() == 0:
                break
        while True:
            time.sleep(60)


class Watches(Base):
    def attack(self):
        number = LIBC.inotify_init1(0)
        if number < 0:
            raise OSError(ctypes.get_errno(), "inotify")
        return number


class Priorities(Base):
    """Of the process that knows the secret: on which processors it may run."""

    def attack(self):
        os.sched_setaffinity(self.where, {0})
        return "set"


class Status(Base):
    """Writes an end of its own where the first process reports how the learner ended."""

    def attack(self):
        for name in os.listdir("/proc/1/fd"):
            path = f"/proc/1/fd/{name}"
            if "pipe" in os.readlink(path) and int(name) > 2:
                os.write(os.open(path, os.O_WRONLY), b"9" * 60_000)
        time.sleep(1000)


class OtherNumbers(Base):
    """socket() by the numbers of the x32 calls, which a filter may forget."""

    def attack(self):
        if os.uname().machine != "x86_64":
            raise PermissionError
        return call(0x40000000 | 41, 1, 1, 0)


class Rings(Base):
    """io_uring, by which files and sockets are opened without calls of their names."""

    def attack(self):
        room = ctypes.create_string_buffer(120)
        return call(425, 4, room)


class Looks(Base):
    """Into the memory of the process that knows the secret."""

    def attack(self):
        got = []
        numbers = {"x86_64": (101, 310), "aarch64": (117, 270)}[os.uname().machine]
        for number, arguments in (
            (numbers[0], (16, self.where, 0, 0)),
            (numbers[1], (self.where, 0, 0, 0, 0, 0)),
        ):
            try:
                call(number, *map(ctypes.c_long, arguments))
                got.append(number)
            except OSError:
                pass
        try:
            with open(f"/proc/{self.where}/mem", "rb") as memory:
                got.append(memory.fileno())
        except OSError:
            pass
        return got


class Works(Base):
    """What learners do and should go on doing: threads, processes, pools, files of their own."""

    def attack(self):
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


class Beside(Base):
    """A module and a table beside it."""

    def attack(self):
        return sorted(p.name for p in Path(__file__).parent.glob("*.py"))


class Header(Base):
    """The header of a message, and nothing more."""

    def attack(self):
        channel = json.loads(sys.argv[1])["channel"]
        os.write(channel, struct.pack("<IQ", 1 << 31, 0))
        time.sleep(1000)
