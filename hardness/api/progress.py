"""Progress of a command: a bar on a terminal, lines in a log, and nothing from Python."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from threading import Event, Thread

import click

from hardness.oracles import clock
from instances.text import printable

_IS_SHOWN: ContextVar[bool] = ContextVar("_IS_SHOWN", default=False)
_LOG_SECONDS = 30.0  # between lines of a log
_BAR_DELAY = 1.0  # seconds after which a terminal shows a bar
_TICK = 1.0  # seconds between updates while nothing is reported


@contextmanager
def showing(enabled: bool, as_json: bool = False) -> Iterator[None]:
    """Show progress on stderr in the block, or do not."""
    token = _IS_SHOWN.set(enabled)
    try:
        yield
    finally:
        _IS_SHOWN.reset(token)


def is_shown() -> bool:
    """Whether progress is shown."""
    return _IS_SHOWN.get()


def note(line: str) -> None:
    """Write a line to stderr if progress is shown."""
    if _IS_SHOWN.get():
        erase = "\r\033[K" if sys.stderr.isatty() else ""  # a bar that may be on the line
        click.echo(f"{erase}hardness: {line}", err=True)


@contextmanager
def counted(total: int, label: str) -> Iterator[Callable[[int], None]]:
    """Yield a function to call with the number of items done since its last call.

    Progress is shown with the remaining time if the block takes over a second.
    """
    if not _IS_SHOWN.get():
        yield lambda done: None
        return
    from tqdm import tqdm

    terminal = sys.stderr.isatty()
    with tqdm(
        total=total,
        desc=label,
        file=sys.stderr,
        delay=_BAR_DELAY,
        leave=False,
        disable=not terminal,
    ) as bar:
        start = last = clock.now()
        count = 0

        def more(done: int) -> None:
            nonlocal count
            count += done
            bar.update(done)
            if not terminal:
                look()

        def look() -> None:
            nonlocal last
            now = clock.now()
            if terminal and now - start > _BAR_DELAY:
                bar.refresh()
            elif not terminal and count < total and now - last >= _LOG_SECONDS:
                last = now
                click.echo(_progress_line(label, count, total, now - start), err=True)

        with _ticking(look, _TICK):
            yield more


def _progress_line(label: str, count: int, total: int, spent: float) -> str:
    from hardness.report.text import duration

    line = f"{label}: {count} of {total}, {duration(spent)} so far"
    if not count:
        return line
    return f"{line}, about {duration(spent * (total - count) / count)} left"


@contextmanager
def waited(label: str) -> Iterator[None]:
    """Show the seconds of the block if it takes over one."""
    if not _IS_SHOWN.get():
        yield
        return
    from hardness.report.text import duration

    start, terminal, wide = clock.now(), sys.stderr.isatty(), 0

    def look() -> None:
        nonlocal wide
        line = printable(f"{label}, {duration(clock.now() - start)}")
        if terminal:
            click.echo("\r" + line.ljust(wide), nl=False, err=True)
            wide = len(line)
        else:
            click.echo(line, err=True)

    try:
        with _ticking(look, _TICK if terminal else _LOG_SECONDS):
            yield
    finally:
        if wide:
            click.echo(f"\r{' ' * wide}\r", nl=False, err=True)


@contextmanager
def _ticking(look: Callable[[], None], seconds: float) -> Iterator[None]:
    """Call a function at intervals of some seconds from a thread, until the block ends."""
    ended = Event()

    def call() -> None:
        while not ended.wait(seconds):
            look()

    ticker = Thread(target=copy_context().run, args=(call,), daemon=True)
    ticker.start()
    try:
        yield
    finally:
        ended.set()
        ticker.join()
