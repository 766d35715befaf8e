"""Damaged stores: the check that finds what is wrong."""

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hardness.runs.columns import Record, exact, record_of
from hardness.runs.rows import SweepRow
from hardness.sweep.store import TABLES, Reader, read
from instances.errors import DamagedFile


@dataclass(frozen=True, kw_only=True)
class Damage:
    """What is wrong with a store: what SQLite says, and by table the rows that cannot be read."""

    pages: tuple[str, ...]
    rows: dict[str, tuple[str, ...]]

    def __str__(self) -> str:
        """Say it in one line.

        >>> print(Damage(pages=(), rows={"runs": ("0a", "1b"), "figures": ("phase",)}))
        2 rows of runs (0a, 1b) and 1 row of figures (phase) are not as they were written
        """
        bad = [
            f"{len(names)} row{'s' * (len(names) > 1)} of {table} "
            f"({', '.join(names[:3])}{', ...' * (len(names) > 3)})"
            for table, names in self.rows.items()
        ]
        said = [f"{' and '.join(bad)} are not as they were written"] if bad else []
        return "; ".join([*said, *self.pages[:1]])


def check(path: Path) -> Damage | None:
    """Check the pages of a store, its tables, and that every row reads as what it should be.

    Raises DamagedFile for what cannot be opened as a store. A number that was changed for another
    is not seen, unless another column of the row follows from it.
    """
    rows: dict[str, list[str]] = {}
    with read(path) as store:
        complaints = store.complaints()
        for table in TABLES:
            try:
                for record in store.select(table):
                    if _row(store, table, record) is None:
                        name = " ".join(str(record[part])[:40] for part in TABLES[table].unique)
                        rows.setdefault(table, []).append(name)
            except DamagedFile:  # SQLite says so of its pages too
                complaints = complaints or [f"{table} cannot be read to its end"]
    if not complaints and not rows:
        return None
    return Damage(pages=tuple(complaints), rows={name: tuple(bad) for name, bad in rows.items()})


def _row(store: Reader, table: str, record: Record) -> Any:
    """Make a row of a record; None for what is not one, or is a run whose columns do not agree."""
    try:
        row = store.typed(table, record)
        if (
            isinstance(row, SweepRow)
            and row.sha256 != hashlib.sha256(row.text.encode()).hexdigest()
        ):
            return None
    except (LookupError, TypeError, ValueError, AttributeError, RecursionError, DamagedFile):
        return None
    return None if table == "runs" and record_of(row) != exact(record) else row
