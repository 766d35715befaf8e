"""Damaged stores: the check that finds what is wrong."""

from pathlib import Path
from typing import Any

from hardness.runs.columns import Record as Columns
from hardness.runs.columns import exact
from hardness.runs.rows import CertificateRow
from hardness.runs.run import Run
from hardness.sweep.store import TABLES, Reader, read
from instances.errors import DamagedFile, UsageError
from instances.export import flat
from instances.result import Record, TableRow

_SHOWN = 20  # rows in JSON


class Checkup(Record, frozen=True, kw_only=True):
    """What is wrong with a store: what SQLite says, and by table the rows that cannot be read."""

    store: str
    pages: tuple[str, ...]
    rows: dict[str, tuple[str, ...]]

    @property
    def damage(self) -> str:
        """Say it in one line; nothing where all is well.

        >>> rows = {"runs": ("0a", "1b"), "certificates": ("2c",)}
        >>> print(Checkup(store="a.db", pages=(), rows=rows).damage)
        2 rows of runs (0a, 1b) and 1 row of certificates (2c) are not as they were written
        """
        bad = [
            f"{len(names)} row{'s' * (len(names) > 1)} of {table} "
            f"({', '.join(names[:3])}{', ...' * (len(names) > 3)})"
            for table, names in self.rows.items()
        ]
        said = [f"{' and '.join(bad)} are not as they were written"] if bad else []
        return "; ".join([*said, *self.pages[:1]])

    def to_dict(self) -> dict[str, Any]:
        """Give the pages and the rows that cannot be read, of these the first few."""
        return {
            "damaged": bool(self.damage),
            "records": {table: len(names) for table, names in self.rows.items()},
            "rows": {table: list(names[:_SHOWN]) for table, names in self.rows.items()},
            "pages": list(self.pages),
        }

    def _rows(self) -> list[TableRow]:
        return [flat(self.to_dict())]

    def require(self) -> None:
        """Raise DamagedFile for a store that is damaged."""
        if self.damage:
            raise DamagedFile(f"{self.store} is damaged")


def check(path: Path) -> Checkup:
    """Check the pages of a store, its tables, and that every row is one that may be.

    Raises DamagedFile for what cannot be opened as a store. A number that was changed for another
    is not seen where both may be.
    """
    rows: dict[str, list[str]] = {}
    with read(path) as store:
        complaints = store.complaints()
        for table, (_, unique) in TABLES.items():
            try:
                for record in store.select(table):
                    if not _reads(store, table, record):
                        name = " ".join(str(record[unique])[:40].split())
                        rows.setdefault(table, []).append(name)
            except DamagedFile:  # SQLite says so of its pages too
                complaints = complaints or [f"{table} cannot be read to its end"]
    return Checkup(
        store=str(path),
        pages=tuple(complaints),
        rows={name: tuple(bad) for name, bad in rows.items()},
    )


def _reads(store: Reader, table: str, record: Columns) -> bool:
    """Return whether a row reads as what it should be, and its parts agree."""
    try:
        row = store.typed(table, record)
        if table == "runs":
            return row.record() == exact(record) and _agrees(row)
        if table == "thresholds":
            from hardness.runs.least import Threshold
            from hardness.sweep.jobs import threshold_row

            return bool(threshold_row(row.key, Threshold.read(row.threshold)) == row)
        return table != "certificates" or _whole(row)
    except (
        *(LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError),
        DamagedFile,
    ):
        return False


def _agrees(run: Run) -> bool:
    """Return whether a run can have been, and stands under the key of its job.

    The secret that it claims is not made again, which is most of the time.
    """
    from hardness.sweep.jobs import key_of

    if run.attempts < 1 or key_of(run) not in (None, run.key):
        return False
    if run.secret_recovered is not None and "claimed_secret" in run.details:
        details = {name: part for name, part in run.details.items() if name != "claimed_secret"}
        run = run.updated(secret_recovered=None, details=details)
    try:
        return run.inconsistency is None
    except UsageError:  # a family of a user that is not here
        return True


def _whole(row: CertificateRow) -> bool:
    """Return whether a certificate has its digest and its spec, and terms."""
    from hardness.lower import BoundParameters, Certificate

    terms, found = BoundParameters.from_json(row.terms), Certificate.read(row.certificate)
    return (
        terms.to_dict() == row.terms
        and found.spec == row.spec
        and found.to_dict() == row.certificate
    )
