"""How far a verb is: a bar on a terminal, a line now and then in a log, nothing from Python."""

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from functools import partial
from shutil import get_terminal_size
from threading import Event, Lock, Thread
from typing import Any

import click

from hardness.oracles import clock
from instances.text import printable

_SHOWN: ContextVar[bool] = ContextVar("_SHOWN", default=False)
_LINES: ContextVar[bool] = ContextVar("_LINES", default=False)  # whether JSON is on stdout
_EVERY, _LOGGED = 30.0, 200  # seconds between lines of a log, and columns of one
_EMPTY = 10.0  # seconds after which a terminal shows a bar of which nothing is done
_TICK = 1.0  # seconds between looks at the clock while nothing is reported


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
        over = "\r\033[K" if sys.stderr.isatty() else ""  # a bar that is there
        click.echo(f"{over}hardness: {line}", err=True)


@contextmanager
def counted(total: int, label: str) -> Iterator[Callable[[int], None]]:
    """Give what counts as done: it is shown where it takes over a second, with the time left.

    Before the first is done, a log says how long it has taken, and a terminal shows an empty bar.
    """
    if not _SHOWN.get():
        yield lambda done: None
        return
    start, count, bar = clock.now(), 0, None
    made = click.progressbar(length=total, label=label, file=sys.stderr)
    lock = Lock()
    with _line() as show:

        def look(done: int, least: float) -> None:
            nonlocal count, bar
            with lock:
                count += done
                if not sys.stderr.isatty():
                    if count < total:
                        show(lambda width: _told(label, count, total, clock.now() - start))
                elif bar is not None:
                    bar.update(done)
                elif clock.now() - start > least:
                    bar = made.__enter__()
                    bar.update(count)

        try:
            with _ticking(lambda: look(0, _EMPTY)):
                yield lambda done: look(done, 1)
        finally:
            if bar is not None:
                made.__exit__(None, None, None)


def _told(label: str, count: int, total: int, spent: float) -> str:
    from hardness.report.text import duration

    if not count:
        return f"{label}: 0 of {total}, {duration(spent)} so far"
    left = duration(spent * (total - count) / count)
    return f"{label}: {count} of {total}, {duration(spent)} so far, about {left} left"


@contextmanager
def watched() -> Iterator[Callable[[Any], None]]:
    """Give what reports how far a sweep is: a line, and JSON on stdout where that is wanted."""
    from hardness.report.sweep import progress_line

    last = clock.now()
    with _line() as show:

        def report(at: Any) -> None:
            nonlocal last
            if _LINES.get() and clock.now() - last >= 1:
                last = clock.now()
                click.echo(json.dumps(at.to_dict()))
            show(lambda width: progress_line(at, width))

        yield report


@contextmanager
def waited(label: str) -> Iterator[None]:
    """Count the seconds of one thing, where it takes over one."""
    if not _SHOWN.get():
        yield
        return
    from hardness.report.text import duration

    start = clock.now()
    with _line() as show:
        said = partial(show, lambda width: f"{label}, {duration(clock.now() - start)}")
        with _ticking(said):
            yield


@contextmanager
def _ticking(look: Callable[[], None]) -> Iterator[None]:
    """Call something every second, from a thread."""
    ended = Event()

    def count() -> None:
        while not ended.wait(_TICK):
            look()

    counter = Thread(target=copy_context().run, args=(count,), daemon=True)
    counter.start()
    try:
        yield
    finally:
        ended.set()
        counter.join()


@contextmanager
def _line() -> Iterator[Callable[[Callable[[int], str]], None]]:
    """Give what shows a line, made for a width, on stderr.

    On a terminal it is written over the last one, once a second at most; in a log another comes
    every 30 seconds.
    """
    terminal = sys.stderr.isatty()
    said, shown = clock.now(), 0

    def show(made: Callable[[int], str]) -> None:
        nonlocal said, shown
        now = clock.now()
        if not _SHOWN.get() or now - said < (1 if terminal else _EVERY):
            return
        said = now
        if not terminal:
            click.echo(printable(made(_LOGGED)), err=True)
            return
        line = printable(made(get_terminal_size().columns - 1))
        click.echo("\r" + line.ljust(shown), nl=False, err=True)
        shown = len(line)

    try:
        yield show
    finally:
        if shown:
            click.echo(f"\r{' ' * shown}\r", nl=False, err=True)
