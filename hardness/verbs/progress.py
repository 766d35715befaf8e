"""How far a verb is: a bar on a terminal, a line now and then in a log, nothing from Python."""

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from shutil import get_terminal_size
from threading import Event, Thread
from typing import Any

import click

from hardness.oracles import clock
from instances.text import printable

_SHOWN: ContextVar[bool] = ContextVar("_SHOWN", default=False)
_LINES: ContextVar[bool] = ContextVar("_LINES", default=False)  # whether JSON is on stdout
_EVERY = 30.0  # seconds between lines of a log


@contextmanager
def shown(there: bool, as_json: bool = False) -> Iterator[None]:
    """Show progress on stderr, or none. as_json: what is watched goes to stdout, too."""
    tokens = _SHOWN.set(there), _LINES.set(as_json)
    try:
        yield
    finally:
        _SHOWN.reset(tokens[0])
        _LINES.reset(tokens[1])


def seen() -> bool:
    """Whether progress is shown."""
    return _SHOWN.get()


def note(line: str) -> None:
    """Say a line on stderr, where progress is shown."""
    if _SHOWN.get():
        click.echo(f"hardness: {line}", err=True)


@contextmanager
def counted(total: int, label: str) -> Iterator[Callable[[int], None]]:
    """Give what counts as done: it is shown where it takes over a second, with the time left."""
    if not _SHOWN.get():
        yield lambda done: None
        return
    if not sys.stderr.isatty():
        yield _lines(total, label)
        return
    start, left, bar = clock.now(), 0, None
    made = click.progressbar(length=total, label=label, file=sys.stderr)

    def update(done: int) -> None:
        nonlocal left, bar
        left += done
        if bar is None and clock.now() - start > 1:
            bar = made.__enter__()
        if bar is not None:
            bar.update(left)
            left = 0

    try:
        yield update
    finally:
        if bar is not None:
            made.__exit__(None, None, None)


def _lines(total: int, label: str) -> Callable[[int], None]:
    from hardness.report.progress import duration

    start = said = clock.now()
    count = 0

    def update(done: int) -> None:
        nonlocal said, count
        count += done
        now = clock.now()
        if done and now - said >= _EVERY and count < total:
            said = now
            so_far, rest = now - start, (now - start) * (total - count) / count
            click.echo(
                f"{label}: {count} of {total}, {duration(so_far)} so far, about "
                f"{duration(rest)} left",
                err=True,
            )

    return update


@contextmanager
def watched() -> Iterator[Callable[[Any], None]]:
    """Give what reports how far a sweep is: a line that changes, a line now and then, or JSON."""
    from hardness.report.progress import progress_line

    terminal = _SHOWN.get() and sys.stderr.isatty()
    last = said = clock.now()
    width = 0

    def report(at: Any) -> None:
        nonlocal last, said, width
        now = clock.now()
        if now - last < 1:
            return
        last = now
        if _LINES.get():
            click.echo(json.dumps(at.to_dict()))
        if terminal:
            line = printable(progress_line(at, get_terminal_size().columns - 1))
            click.echo("\r" + line.ljust(width), nl=False, err=True)
            width = len(line)
        elif _SHOWN.get() and now - said >= _EVERY:
            said = now
            click.echo(printable(progress_line(at)), err=True)

    try:
        yield report
    finally:
        if terminal and width:
            click.echo(f"\r{' ' * width}\r", nl=False, err=True)


@contextmanager
def waited(label: str) -> Iterator[None]:
    """Count the seconds of one thing, on a terminal, where it takes over one."""
    if not _SHOWN.get() or not sys.stderr.isatty():
        yield
        return
    start, ended = clock.now(), Event()

    def count() -> None:
        shown = False
        while not ended.wait(1):
            shown = True
            click.echo(f"\r{label}, {clock.now() - start:.0f} s", nl=False, err=True)
        if shown:
            click.echo(f"\r{' ' * (len(label) + 12)}\r", nl=False, err=True)

    counter = Thread(target=count, daemon=True)
    counter.start()
    try:
        yield
    finally:
        ended.set()
        counter.join()
