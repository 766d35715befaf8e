"""Reading a store: while it is written, where it may not be written, and never changing it."""

import sqlite3
from array import array
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Self

from hardness.runs.rows import (
    CertificateRow,
    FigureRow,
    PartRow,
    SweepRow,
    WholeRow,
)
from hardness.runs.run import Run
from hardness.sweep.store import codec
from hardness.sweep.store.connect import connect, reading, version_of
from hardness.sweep.store.natural import natural
from hardness.sweep.store.query import answer
from hardness.sweep.store.records import Records
from instances.errors import UsageError

_WAIT_SECONDS = 10.0


def read(path: Path) -> "Reader":
    """Open a store to read it; raises DamagedFile, or ToolkitError for one of a newer version."""
    return Reader(path)


class Reader:
    """A store that is open to be read; also one of an older version, which may be slower."""

    def __init__(self, path: Path) -> None:
        """Open it."""
        self.path = path
        self._connection = connect(path, "ro", _WAIT_SECONDS)
        try:
            self.version = version_of(self._connection, path)
            with reading(path):
                self._connection.execute("PRAGMA query_only = ON")
                self._connection.execute("PRAGMA cache_size = -65536")
        except BaseException:
            self._connection.close()
            raise
        self._records = Records(self._connection)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the file."""
        self._connection.close()

    def sweeps(self) -> list[SweepRow]:
        """Return the sweeps, the latest last."""
        with reading(self.path):
            return [codec.to_sweep(r) for r in self._records.every("sweep", "updated")]

    def counts(self) -> dict[str, dict[str, int]]:
        """Count runs by learner and outcome, both in natural order."""
        sql = (
            "SELECT learner.text, ending.outcome, sum(number) FROM (SELECT learner AS l, "
            "ending AS e, count(*) AS number FROM run GROUP BY learner, ending) "
            "JOIN learner ON learner.id = l JOIN ending ON ending.id = e GROUP BY 1, 2"
        )
        found: dict[str, dict[str, int]] = {}
        with reading(self.path):
            rows = self._connection.execute(sql).fetchall()
            for name, outcome, number in sorted(rows, key=lambda r: (natural(r[0]), r[1])):
                found.setdefault(name, {})[outcome] = number
        return found

    def summary(self) -> dict[str, Any]:
        """Count what the store holds: runs, those not reproducible, certificates and so on."""
        counted = {"runs": "run", "certificates": "certificate", "wholes": "whole"} | {
            "parts": "part",
            "figures": "figure",
            "sweeps": "sweep",
            "specs": "spec",
        }
        passing = (
            "SELECT coalesce(sum(number), 0) FROM (SELECT ending AS e, count(*) AS number FROM run "
            "GROUP BY learner, ending) JOIN ending ON ending.id = e WHERE NOT reproducible"
        )
        with reading(self.path):
            one = {
                name: self._connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
                for name, table in counted.items()
            }
            (not_reproducible,) = self._connection.execute(passing).fetchone()
        return {
            "version": self.version,
            "bytes": self.path.stat().st_size,
            **one,
            "not_reproducible": not_reproducible,
            "outcomes": self.counts(),
        }

    def runs(self) -> Iterator[Run]:
        """Yield all runs, in an order that depends on them alone, as of one moment.

        By spec, learner and budget in natural order, then seed (those of 2^63 and more as texts,
        last), then key. Their numbers are in memory, 8 bytes each; the runs are not.
        """
        with reading(self.path), self._moment():
            for name in ("spec", "learner", "budget"):
                self._rank(name)
            sql = (
                "SELECT id FROM run ORDER BY rank_spec(spec), rank_learner(learner), "
                "rank_budget(budget), seed, key"
            )
            numbers = array("q", (number for (number,) in self._connection.execute(sql)))
            for record in self._records.numbered("run", numbers):
                yield codec.to_run(record)

    def certificates(self) -> Iterator[CertificateRow]:
        """Yield the certificates by spec in natural order, then key."""
        yield from self._by_spec("certificate", codec.to_certificate)

    def wholes(self) -> Iterator[WholeRow]:
        """Yield the jobs put together, by spec in natural order, then key, one at a time."""
        yield from self._by_spec("whole", self._whole)

    def whole(self, key: str) -> WholeRow:
        """Return a job put together by its key, or by how the key begins; raises UsageError."""
        sql = "SELECT id, lower(hex(key)) AS k FROM whole WHERE substr(k, 1, ?) = ? ORDER BY k"
        with reading(self.path):
            found = self._connection.execute(sql, (len(key), key.lower())).fetchall()
            if len(found) == 1:
                return self._whole(next(self._records.where("whole", "id", found[0][0])))
        said = f"{len(found)} begin so" if found else "none begins so"
        raise UsageError(
            f"key '{key[:40]}' given: of the jobs put together in {self.path} {said}: "
            f"`hardness store query {self.path} 'SELECT key, kind, spec FROM wholes'` lists them"
        )

    def parts(self) -> Iterator[PartRow]:
        """Yield the parts of jobs that are not put together yet."""
        with reading(self.path), self._moment():
            yield from map(codec.to_part, self._records.every("part"))

    def figures(self) -> list[FigureRow]:
        """Return the data of figures by name."""
        return [figure for figure, _ in self.dated_figures()]

    def dated_figures(self) -> list[tuple[FigureRow, float]]:
        """Return the data of figures with the times of writing, seconds since 1970."""
        with reading(self.path):
            found = [(codec.to_figure(r), r["written"]) for r in self._records.every("figure")]
        return sorted(found, key=lambda pair: natural(pair[0].name))

    def query(self, sql: str, most: int = 100_000) -> tuple[list[str], list[tuple[Any, ...]]]:
        """Answer one SELECT: names and rows; raises UsageError for what it is not, or too much."""
        return answer(self._connection, self.path, sql, most)

    def _whole(self, record: codec.Record) -> WholeRow:
        found = self._records.where("array", "whole", record["key"].hex())
        return codec.to_whole(record, {r["name"]: bytes(r["content"]) for r in found})

    def _by_spec(self, table: str, make: Any) -> Iterator[Any]:
        with reading(self.path), self._moment():
            self._rank("spec")
            sql = f"SELECT id FROM {table} ORDER BY rank_spec(spec), key"
            numbers = [number for (number,) in self._connection.execute(sql)]
            for record in self._records.numbered(table, numbers):
                yield make(record)

    def _rank(self, name: str) -> None:
        """Let SQL sort by the natural order of a name."""
        rows = self._connection.execute(f"SELECT id, text FROM {name}").fetchall()
        ordered = sorted(rows, key=lambda row: natural(row[1]))
        rank = {number: place for place, (number, _) in enumerate(ordered)}
        self._connection.create_function(f"rank_{name}", 1, rank.__getitem__, deterministic=True)

    @contextmanager
    def _moment(self) -> Iterator[None]:
        """See the store as it is now until the end of this, whatever is written meanwhile."""
        if self._connection.in_transaction:  # of another iteration that is not at its end
            yield
            return
        self._connection.execute("BEGIN")
        try:
            yield
        finally:
            with suppress(sqlite3.ProgrammingError):  # closed before the end of the iteration
                self._connection.execute("ROLLBACK")
