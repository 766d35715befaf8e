"""Check lower bounds with bare Python: `python -I -S checker [--explain] CERTIFICATE`.

The folder of this file is the checker, and so is a zip file of the folder. It imports nothing from
the project that makes certificates. Exit codes: 0 accepted, 3 refused, 1 not checked, 2 usage.
"""

import inspect
import os
import sys
import threading
from contextlib import suppress
from importlib import import_module
from types import ModuleType

PACKAGE = __package__ or "checker"
if not __package__:  # a folder or a zip file that is run: Python put its path first
    sys.modules[PACKAGE] = ModuleType(PACKAGE)
    sys.modules[PACKAGE].__path__ = [sys.path[0]]
reading = import_module(f"{PACKAGE}.reading")
certificate = import_module(f"{PACKAGE}.certificate")

SECONDS, MEMORY, BYTES = 600, 1 << 31, 1 << 26
TRUSTED = {
    "hidden-set": "that the members of the spec are these hidden sets",
    "residues": "that the secrets, errors and labels of the spec have these laws",
    "direction": "that the labels of the spec have these low Hermite coefficients at most",
    "functions": "that the tables are those of the functions that are named",
}


def accepted(path: str, data: dict, explain: bool) -> list[str]:
    """Check a certificate and return the lines to print; raises Refused."""
    proved, shown, lines = certificate.check(data), reading.short, [f"accepted: {path}"]
    for claim in proved.claims:
        at = ", ".join(f"{n} {shown(v, n == 'upper')}" for n, v in claim.parameters.items())
        up = claim.quantity.endswith(("-success", "-at-most")) or "advantage" in claim.quantity
        lines.append(f"{claim.quantity} = {shown(claim.value, up)}" + f" ({at})" * bool(at))
        numbers = ", ".join(f"{n} = {shown(v)}" for n, v in claim.numbers.items())
        lines.append(f"  = {claim.closed_form}" + f"; {numbers}" * bool(numbers))
    lines += [f"no claim about {name}: {why}" for name, why in proved.unproved.items()]
    trusted = TRUSTED[data["problem"]["kind"]]
    lines.append(f"To be trusted, since it is not checked here: {trusted}.")
    for theorem in proved.theorems if explain else []:
        lines += ["", f"{theorem.__module__.rpartition('.')[2]}.{theorem.__name__}"]
        lines += (inspect.getdoc(theorem) or "").splitlines()
    return lines


def main(arguments: list[str]) -> int:
    """Check files within limits of time and memory; return the exit code."""
    explain = "--explain" in arguments
    paths = [path for path in arguments if path != "--explain"]

    def late() -> None:
        print(f"not checked: over {SECONDS} seconds", file=sys.stderr, flush=True)
        os._exit(1)

    with suppress(ImportError, ValueError, OSError):  # not on this system
        resource = import_module("resource")
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    clock = threading.Timer(SECONDS, late)
    clock.daemon = True
    clock.start()
    if not paths:
        print("usage: python -I -S checker [--explain] CERTIFICATE..", file=sys.stderr)
    worst = 0 if paths else 2
    for path in paths:
        try:
            with open(path, encoding="utf-8") as file:
                text = file.read(BYTES + 1)
            reading.need(len(text) <= BYTES, f"it is longer than {BYTES} characters")
            print("\n  ".join(accepted(path, reading.load(text), explain)))
        except reading.Refused as reason:
            print(f"REFUSED: {path}: {reason}", file=sys.stderr)
            worst = 3
        except (OSError, UnicodeDecodeError, MemoryError, RecursionError) as error:
            print(f"not checked: {path}: {type(error).__name__} {error}"[:300], file=sys.stderr)
            worst = worst or 1
    return worst


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
