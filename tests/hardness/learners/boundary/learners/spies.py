"""A learner that looks for the secret wherever it can read; it says where it found any of it.

look.json beside a copy of this file has needles, what to look for, each byte exclusive-or 0x55, so
that it is no place to find them; parent, the process to look into; planted, the secret's folder.
"""

import json
import os
import sys
from contextlib import suppress
from pathlib import Path

from hardness.learners.learner import Hypothesis


class Spy:
    name = "spy"
    revision = 1
    access = "either"
    about = "looks around"

    def supports(self, family):
        return None

    def learn(self, oracle, rng):
        descriptors = sorted(held())
        examples = oracle.draw(100)
        found = search(json.loads(Path(__file__).with_name("look.json").read_text()))
        assert len(examples) == 100
        return Hypothesis(predict=oracle.family.known, details=found | {"descriptors": descriptors})


def search(look):
    """Read everything, and say where a needle was and what could be opened."""
    needles = [bytes(b ^ 0x55 for b in bytes.fromhex(n)) for n in look["needles"]]
    found, opened = set(), set()

    def examine(where, content):
        opened.add(where)
        if any(needle in content for needle in needles):
            found.add(where)

    processes = [os.getppid(), look["parent"]]
    for what, pid in [("own", os.getpid()), *((f"above {n}", p) for n, p in enumerate(processes))]:
        for name in ("cmdline", "environ"):
            with suppress(OSError):
                examine(f"{what} {name}", Path(f"/proc/{pid}/{name}").read_bytes())
        with suppress(OSError):
            for number in os.listdir(f"/proc/{pid}/fd"):
                path = f"/proc/{pid}/fd/{number}"
                if os.path.isfile(path):
                    examine(f"{what} descriptor", Path(path).read_bytes())
        if what != "own":
            with suppress(OSError):
                for content in memory(pid):
                    examine(f"{what} memory", content)
    for where, path in ways(Path(look["planted"]), processes):
        with suppress(OSError):
            examine(where, path.read_bytes())
    for folder in (Path("/dev/shm"), Path.cwd(), Path(look["planted"]).parent):
        for path in walk(folder):
            with suppress(OSError):
                if path.name != "look.json" and path.is_file():
                    examine(f"a file in {folder.name}", path.read_bytes())
    return {"found": sorted(found), "opened": sorted(opened), "arguments": sys.argv[1:]}


def memory(pid):
    """Read what of a process's memory can be written to."""
    with open(f"/proc/{pid}/maps") as lines, open(f"/proc/{pid}/mem", "rb", 0) as bytes_of:
        for line in lines:
            places, rights = line.split()[:2]
            start, end = (int(n, 16) for n in places.split("-"))
            if rights.startswith("rw") and end - start < 1 << 28:
                with suppress(OSError):
                    bytes_of.seek(start)
                    yield bytes_of.read(end - start)


def ways(planted, processes):
    """List paths that may lead to the planted secret."""
    secret = planted / "secret.json"
    yield "by its path", secret
    for pid in (os.getpid(), *processes):
        for name in ("root", "cwd"):
            yield f"through a process's {name}", Path(f"/proc/{pid}/{name}{secret}")
    with suppress(OSError):
        os.link(secret, "linked")
        yield "by a hard link", Path("linked")
    with suppress(OSError):
        os.symlink(secret, "pointed")
        yield "by a symbolic link", Path("pointed")
    yield "in all memory", Path("/dev/mem")
    yield "in the kernel's memory", Path("/proc/kcore")


def walk(folder):
    for above, _, names in os.walk(folder):
        yield from (Path(above) / name for name in names)


def held():
    """Name what this process holds open."""
    for number in os.listdir("/proc/self/fd"):
        with suppress(OSError):  # what listed them is closed
            yield os.readlink(f"/proc/self/fd/{number}").partition("[")[0].rstrip(":")
