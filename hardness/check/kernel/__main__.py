"""Checks lower bounds, with nothing but Python: `python -I -S kernel CERTIFICATE.json`.

The folder that this file stands in is the kernel, and so is a zip file of it. It imports nothing of
the project that makes certificates. A referee of one certificate reads core.py, and the files whose
rules its steps name.
"""

import os
import sys
import threading
from importlib import import_module
from types import ModuleType

PACKAGE = __package__ or "kernel"
if not __package__:  # a folder or a zip file that is run: Python put its path first
    sys.modules[PACKAGE] = ModuleType(PACKAGE)
    sys.modules[PACKAGE].__path__ = [sys.path[0]]
core = import_module(f"{PACKAGE}.core")
import_module(f"{PACKAGE}.rules")

SECONDS, MEMORY, BYTES = 600, 1 << 31, 1 << 26


def main(paths: list[str]) -> int:
    """Check files within limits of time and memory: 0 accepted, 3 refused, 1 not checked."""

    def late() -> None:
        print(f"not checked: over {SECONDS} seconds", file=sys.stderr, flush=True)
        os._exit(1)

    try:
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    except (ImportError, ValueError, OSError):
        pass  # not on this system
    clock = threading.Timer(SECONDS, late)
    clock.daemon = True
    clock.start()
    worst = 0 if paths else 2
    for path in paths:
        try:
            with open(path, encoding="utf-8") as file:
                text = file.read(BYTES + 1)
            core.need(len(text) <= BYTES, f"it is longer than {BYTES} characters")
            print("\n  ".join([f"accepted: {path}", *core.check(core.load(text))]))
        except core.Refused as reason:
            print(f"REFUSED: {path}: {reason}", file=sys.stderr)
            worst = 3
        except (OSError, UnicodeDecodeError, MemoryError, RecursionError) as error:
            print(f"not checked: {path}: {type(error).__name__} {error}"[:300], file=sys.stderr)
            worst = worst or 1
    return worst


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
