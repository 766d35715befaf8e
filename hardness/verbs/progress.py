"""How far a verb is: a bar on a terminal, a line now and then in a log, nothing from Python."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Event, Thread

import click

from hardness.oracles import clock

_SHOWN: ContextVar[bool] = ContextVar("_SHOWN", default=False)
_EVERY = 30.0  # seconds between lines of a log


@contextmanager
def shown(there: bool) -> Iterator[None]:
    """Show progress on stderr, or none."""
    token = _SHOWN.set(there)
    try:
        yield
    finally:
        _SHOWN.reset(token)


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
