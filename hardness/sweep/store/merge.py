"""Stores put together to a new one."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path

from hardness.runs.rows import FigureRow, Row, SweepRow
from hardness.sweep.store.conflict import Conflict
from hardness.sweep.store.draft import new_store
from hardness.sweep.store.reader import Reader, read
from hardness.sweep.store.writer import Writer

_BATCH = 2000


def merge(first: Path, others: Sequence[Path], out: Path) -> None:
    """Write all that stores hold to a new one; raises Conflict where two results contradict.

    Of a key, a reproducible run stands against one that is not, and one that ended by itself
    against a fault. Parts of a job that any store holds put together are left out. Of a sweep and
    of a figure the latest stands. With no others it is a copy, of this version.
    """
    figures: dict[str, tuple[FigureRow, float]] = {}
    sweeps: dict[str, SweepRow] = {}
    with new_store(out) as writer:
        for path in (first, *others):
            with read(path) as store:
                try:
                    _copy(store, writer)
                except Conflict as conflict:
                    raise Conflict(f"{path} contradicts those before it: {conflict}") from None
                for figure, written in store.dated_figures():
                    if figure.name not in figures or figures[figure.name][1] <= written:
                        figures[figure.name] = figure, written
                for sweep in store.sweeps():
                    if sweep.sha256 not in sweeps or sweeps[sweep.sha256].updated <= sweep.updated:
                        sweeps[sweep.sha256] = sweep
        latest(writer, figures.values(), sweeps.values())


def latest(
    writer: Writer, figures: Iterable[tuple[FigureRow, float]], sweeps: Iterable[SweepRow]
) -> None:
    """Write figures with their times, and sweeps."""
    with writer.tables.transaction():
        for figure, written in figures:
            writer.write_figure(figure, written)
    for sweep in sweeps:
        writer.write([], sweep)


def _copy(store: Reader, writer: Writer) -> None:
    every: tuple[tuple[Iterator[Row], int], ...] = (
        (store.runs(), _BATCH),
        (store.certificates(), _BATCH),
        (store.wholes(), 1),
        (store.parts(), 1),
    )
    for rows, size in every:
        for batch in batches(rows, size):
            writer.write(batch)


def batches(rows: Iterator[Row], size: int) -> Iterator[list[Row]]:
    """Cut rows into lists.

    >>> [len(b) for b in batches(iter([1, 2, 3]), 2)]
    [2, 1]
    """
    while batch := list(islice(rows, size)):
        yield batch
