"""Stores put together, with the figure of all their runs."""

from collections.abc import Sequence
from pathlib import Path

from hardness.compare.store.merge import merge
from hardness.compare.store.reader import read
from hardness.compare.store.writer import reopen
from hardness.compare.sweep.figures import phase


def merge_stores(first: Path, others: Sequence[Path], out: Path) -> None:
    """Write all that stores hold to a new one, the figure `phase` made anew; raises as `merge`."""
    merge(first, others, out)
    with reopen(out) as writer:
        with read(out) as found:
            figure = phase(found.runs(), found.certificates())
        writer.write([figure])
