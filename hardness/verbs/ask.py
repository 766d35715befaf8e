"""What a verb asks for: how an argument is read, from Python and from the command line alike."""

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from instances.arguments import exact, integral, located, real, refused
from instances.errors import UsageError

Read = Callable[[str, Any], Any]
_FLAGS: ContextVar[bool] = ContextVar("_FLAGS", default=False)  # whether numbers are texts


@dataclass(frozen=True)
class Ask:
    """One argument of a verb, as the metadata of its annotation.

    help: what it means, before a colon the same in all verbs. read: its name and what was given ->
    its value; raises UsageError. metavar, choices: of the help. complete: what it may begin with
    -> texts. default: in words, where the value says too little. many: several may be given. group:
    the section of the help. flag: another name on the command line. writes: a file that the verb
    makes. variable: of the environment, in which it stands while the verb runs, which does not take
    it.
    """

    help: str
    read: Read
    metavar: str = "TEXT"
    choices: tuple[str, ...] = ()
    complete: Callable[[], Iterable[str]] | None = None
    default: str | None = None
    many: bool = False
    group: str = ""
    flag: str | None = None
    hidden: bool = False
    switch: bool = False
    writes: bool = False
    variable: str = ""

    def __call__(self, help: str = "", **changes: Any) -> "Ask":
        """Make the same with more in its help, after a colon, or with other words."""
        return replace(self, help=f"{self.help}: {help}" if help else self.help, **changes)

    def value(self, name: str, given: Any) -> Any:
        """Read what was given, each of several; raises UsageError."""
        if not self.many:
            return self.read(name, given)
        if isinstance(given, str) or not isinstance(given, Iterable):
            given = (given,)
        return tuple(self.read(name, one) for one in given)


def called(name: str) -> str:
    """Name an option as the command line does, which Python's callers know too.

    >>> called("budget_seconds")
    '--budget-seconds'
    """
    return f"--{name.replace('_', '-')}"


@contextmanager
def flags() -> Iterator[None]:
    """Read numbers from texts, as a command line has them."""
    token = _FLAGS.set(True)
    try:
        yield
    finally:
        _FLAGS.reset(token)


def whole(help: str, least: int = 1, **more: Any) -> Ask:
    """Ask for an integer of at least `least`: as 200 or 2e4.

    >>> with flags():
    ...     whole("Seeds.").value("seeds", "2e4")
    20000
    """

    def read(name: str, given: Any) -> int:
        return integral(name, _typed(name, given) if _FLAGS.get() else given, least)

    return Ask(help, read, "INTEGER", **more)


def power(help: str, **more: Any) -> Ask:
    """Ask for an integer of at least 1 that may be large: as 200, 2e4 or 2^128.

    >>> power("Queries.").value("queries", "2^10")
    1024
    """

    def read(name: str, given: Any) -> int:
        base, hat, exponent = str(given).strip().partition("^")
        if hat and base.isdecimal() and exponent.isdecimal() and len(base) + len(exponent) < 8:
            return integral(name, int(base) ** int(exponent), 1)
        return integral(name, _typed(name, given), 1)

    return Ask(help, read, "INTEGER", **more)


def _typed(name: str, given: Any) -> Any:
    """Read an integer as it is typed; what is no text stays as it is."""
    if not isinstance(given, str):
        return given
    with suppress(UsageError):
        value = exact(name, given)
        if value.denominator == 1:
            return int(value)
    raise refused(name, given, "an integer such as 200 or 2e4")


def rational(help: str, **more: Any) -> Ask:
    """Ask for a number that is read exactly: 0.1, "1/10" and 1e-1 are the same."""
    return Ask(help, exact, "NUMBER", **more)


def number(help: str, above: float | None = None, below: float | None = None, **more: Any) -> Ask:
    """Ask for a number, perhaps one above and below others."""

    def read(name: str, given: Any) -> float:
        found = float(exact(name, given)) if isinstance(given, str) else real(name, given)
        for bound, side in ((above, "above"), (below, "below")):
            if bound is not None and not (found > bound if side == "above" else found < bound):
                raise refused(name, given, f"a number {side} {bound:g}")
        return found

    return Ask(help, read, "NUMBER", **more)


def choice(help: str, *names: str, cure: str = "", **more: Any) -> Ask:
    """Ask for one of some words; cure: what may have been meant, of what was given."""

    def read(name: str, given: Any) -> str:
        if given not in names:
            from difflib import get_close_matches

            near = get_close_matches(str(given)[:40], names, n=1)
            meant = f": did you mean {near[0]}?" if near else cure and f": try {cure.format(given)}"
            raise refused(name, given, f"one of {', '.join(names)}", meant)
        return str(given)

    return Ask(help, read, f"[{'|'.join(names)}]", choices=names, **more)


def text(help: str, **more: Any) -> Ask:
    """Ask for a text."""

    def read(name: str, given: Any) -> str:
        if not isinstance(given, str):
            raise refused(name, given, "a text")
        return given

    return Ask(help, read, **more)


def path(help: str, **more: Any) -> Ask:
    """Ask for a file or a folder."""
    return Ask(help, lambda name, given: Path(located(name, given)), "PATH", **more)


def flag(help: str, **more: Any) -> Ask:
    """Ask whether."""

    def read(name: str, given: Any) -> bool:
        if not isinstance(given, bool):
            raise refused(name, given, "True or False")
        return given

    return Ask(help, read, switch=True, **more)


def thing(help: str, complete: Callable[[], Iterable[str]] | None = None, **more: Any) -> Ask:
    """Ask for what the verb reads itself: a source, an object, arrays; on the command line text."""
    return Ask(help, lambda name, given: given, complete=complete, **more)


def size(help: str, **more: Any) -> Ask:
    """Ask for a number of bytes, 500MB or 4GiB."""

    def read(name: str, given: Any) -> int:
        from instances.limits import bytes_of

        return bytes_of(given, name) if isinstance(given, str) else integral(name, given, 1)

    return Ask(help, read, **more)


def cores(jobs: int | None) -> int:
    """The processes that `jobs` asks for: all cores where it is None."""
    return (os.cpu_count() or 1) if jobs is None else max(1, jobs)
