"""How far a verb is: tqdm's bar on a terminal, a line now and then in a log, none from Python."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from threading import Event, Thread

import click

from hardness.oracles import clock
from instances.text import printable

_SHOWN: ContextVar[bool] = ContextVar("_SHOWN", default=False)
_EVERY = 30.0  # seconds between lines of a log
_AFTER = 1.0  # seconds after which a terminal shows a bar
_TICK = 1.0  # seconds between looks at the clock while nothing is reported


@contextmanager
def shown(there: bool, as_json: bool = False) -> Iterator[None]:
    """Show progress on stderr, or none."""
    token = _SHOWN.set(there)
    try:
        yield
    finally:
        _SHOWN.reset(token)


def is_shown() -> bool:
    """Whether progress is shown."""
    return _SHOWN.get()


def note(line: str) -> None:
    """Say a line on stderr, where progress is shown."""
    if _SHOWN.get():
        over = "\r\033[K" if sys.stderr.isatty() else ""  # a bar that is there
        click.echo(f"{over}hardness: {line}", err=True)


@contextmanager
def counted(total: int, label: str) -> Iterator[Callable[[int], None]]:
    """Give what counts as done: it is shown where it takes over a second, with the time left."""
    if not _SHOWN.get():
        yield lambda done: None
        return
    from tqdm import tqdm

    terminal = sys.stderr.isatty()
    with tqdm(
        total=total, desc=label, file=sys.stderr, delay=_AFTER, leave=False, disable=not terminal
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
            if terminal and now - start > _AFTER:
                bar.refresh()
            elif not terminal and count < total and now - last >= _EVERY:
                last = now
                click.echo(_progress_line(label, count, total, now - start), err=True)

        with _ticking(look, _TICK):
            yield more


def _progress_line(label: str, count: int, total: int, spent: float) -> str:
    from hardness.report.text import duration

    said = f"{label}: {count} of {total}, {duration(spent)} so far"
    if not count:
        return said
    return f"{said}, about {duration(spent * (total - count) / count)} left"


@contextmanager
def waited(label: str) -> Iterator[None]:
    """Count the seconds of one thing, where it takes over one."""
    if not _SHOWN.get():
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
        with _ticking(look, _TICK if terminal else _EVERY):
            yield
    finally:
        if wide:
            click.echo(f"\r{' ' * wide}\r", nl=False, err=True)


@contextmanager
def _ticking(look: Callable[[], None], every: float) -> Iterator[None]:
    """Call something now and then, from a thread."""
    ended = Event()

    def count() -> None:
        while not ended.wait(every):
            look()

    counter = Thread(target=copy_context().run, args=(count,), daemon=True)
    counter.start()
    try:
        yield
    finally:
        ended.set()
        counter.join()
