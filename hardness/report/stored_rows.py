"""The runs of a store as a table in a file: CSV, JSON or Parquet, written as it is read.

Of two stores with equal results, `comparable` tables are equal byte for byte, whatever the order
and the number of writings; Parquet's own bytes are those of one version of pyarrow.
"""

import csv
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Literal

from hardness.report.export import cell, write
from hardness.runs.columns import COLUMNS, JSON, PASSING, Record, comparable
from hardness.runs.least import Threshold
from hardness.sweep.store import Reader
from instances.disk import atomic_write, damage, refuse_existing
from instances.errors import UsageError
from instances.lazy import require_extra
from instances.result import Answer

Format = Literal["csv", "json", "parquet"]
_GROUP = 10_000  # rows of a row group


@dataclass(frozen=True, kw_only=True)
class Exported:
    """How many rows were written, and how many left out for the machine's part in their end."""

    rows: int
    left_out: int


def export(
    store: Reader, out: Path, form: Format, only_comparable: bool = False, force: bool = False
) -> Exported:
    """Write the runs of a store in canonical order; raises AlreadyExists.

    only_comparable: without what differs from one execution to the next, and without runs that
    are not reproducible, which are counted.
    """
    if form not in _WRITERS:
        raise UsageError(f"format '{form}' given: one of {', '.join(_WRITERS)}")
    refuse_existing(out, force)
    runs = left_out = 0

    def rows() -> Iterator[Record]:
        nonlocal runs, left_out
        for record in store.records():
            if only_comparable and not record["reproducible"]:
                left_out += 1
                continue
            runs += 1
            yield comparable(record) if only_comparable else record

    columns = [c for c in COLUMNS if not (only_comparable and c in PASSING)]
    with atomic_write(out) as draft:
        _WRITERS[form](draft, rows(), columns)
    return Exported(rows=runs, left_out=left_out)


def export_thresholds(
    store: Reader, out: Path, form: Format, only_comparable: bool = False, force: bool = False
) -> Exported:
    """Write the thresholds of a store and their pilots, as `export` does its runs."""
    order = "ORDER BY natural_key(spec), natural_key(learner), unit, key"
    with damage(store.path):
        every = [Threshold.read(row.threshold) for row in store.rows("thresholds", order)]
    some = [one for one in every if not (only_comparable and one.end == "no-answer")]
    rows = [
        {
            **{name: getattr(one.asked, name) for name in ("spec", "learner", "unit")},
            **{name: getattr(one.asked, name) for name in ("seed", "pilot", "start", "total")},
            **{name: getattr(one, name) for name in ("low", "high", "end", "relapses")},
            **{"audited": len(one.audit), "runs": len(one.tried)},
            **({} if only_comparable else {"seconds": one.seconds, "machine": one.machine}),
        }
        for one in some
    ]
    write(out, form, Answer(data={"thresholds": rows}, told="", rows=rows), force)
    return Exported(rows=len(rows), left_out=len(every) - len(some))


def _csv(path: Path, rows: Iterator[Record], columns: list[str]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows([cell(row[c]) for c in columns] for row in rows)


def _json(path: Path, rows: Iterator[Record], columns: list[str]) -> None:
    """Write an array, a run a line; what is JSON in the store is JSON here."""
    with path.open("w", encoding="utf-8") as file:
        before = "[\n"
        for row in rows:
            values = {c: json.loads(row[c]) if c in JSON else row[c] for c in columns}
            file.write(before + json.dumps(values, allow_nan=False))
            before = ",\n"
        file.write("\n]\n" if before != "[\n" else "[]\n")


def _parquet(path: Path, rows: Iterator[Record], columns: list[str]) -> None:
    """Write groups of rows; seeds, which may be of any size, as text."""
    arrow = require_extra("pyarrow", "a Parquet file")
    parquet = require_extra("pyarrow.parquet", "a Parquet file")
    types = {"text": arrow.string(), "int": arrow.int64(), "float": arrow.float64()}
    types |= {"bool": arrow.bool_(), "seed": arrow.string()}
    schema = arrow.schema([(c, types.get(c) or types[COLUMNS[c]]) for c in columns])
    with parquet.ParquetWriter(path, schema, compression="zstd") as writer:
        while group := list(islice(rows, _GROUP)):
            table = {c: [str(row[c]) if c == "seed" else row[c] for row in group] for c in columns}
            try:
                writer.write_table(arrow.table(table, schema=schema))
            except OverflowError as error:
                raise UsageError(
                    "a number does not fit Parquet's 64 bits: use --format csv"
                ) from error


_WRITERS: dict[str, Callable[[Path, Iterator[Record], list[str]], None]] = {
    "csv": _csv,
    "json": _json,
    "parquet": _parquet,
}
