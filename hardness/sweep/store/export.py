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
from typing import Any, Literal

from hardness.sweep.store.flat import COLUMNS, PASSING, comparable, flat
from hardness.sweep.store.reader import Reader
from instances.disk import beside, refuse_existing
from instances.errors import UsageError
from instances.extras import require_extra

Format = Literal["csv", "json", "parquet"]
Table = Iterator[dict[str, Any]]
_GROUP = 10_000  # rows of a row group
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


@dataclass(frozen=True, kw_only=True)
class Exported:
    """How many runs were written, and how many left out for the machine's part in their end."""

    runs: int
    left_out: int


def export(
    store: Reader, out: Path, form: Format, only_comparable: bool = False, force: bool = False
) -> Exported:
    """Write the runs of a store in canonical order; raises AlreadyExists.

    only_comparable: without what differs from one execution to the next, and without runs that
    are not reproducible, which are counted.
    """
    require = {"csv": _csv, "json": _json, "parquet": _parquet}
    if form not in require:
        raise UsageError(f"format '{form}' given: one of {', '.join(require)}")
    refuse_existing(out, force)
    counts = {"runs": 0, "left out": 0}

    def rows() -> Table:
        for row in store.runs():
            kept = row.reproducible or not only_comparable
            counts["runs" if kept else "left out"] += 1
            if kept:
                yield comparable(row) if only_comparable else flat(row)

    columns = [c for c in COLUMNS if not (only_comparable and c in PASSING)]
    write: Callable[[Path, Table, list[str]], None] = require[form]
    with beside(out) as draft:
        write(draft, rows(), columns)
    return Exported(runs=counts["runs"], left_out=counts["left out"])


def cell(value: Any) -> Any:
    """Write a value for CSV: a text that a spreadsheet takes for a formula begins with '.

    Names of learners are names of files, so anybody's. JSON and Parquet hold them as they are.

    >>> cell("=1+1.py:Mine"), cell(-1.5), cell(None), cell(True)
    ("'=1+1.py:Mine", -1.5, '', 'true')
    """
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value


def _csv(path: Path, rows: Table, columns: list[str]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        for row in rows:
            writer.writerow([cell(row[c]) for c in columns])


def _json(path: Path, rows: Table, columns: list[str]) -> None:
    """Write an array, a run a line; what is JSON in the store is JSON here."""
    with path.open("w", encoding="utf-8") as file:
        before = "[\n"
        for row in rows:
            opened = {c: json.loads(row[c]) if c in _OPENED else row[c] for c in columns}
            file.write(before + json.dumps(opened, allow_nan=False))
            before = ",\n"
        file.write("\n]\n" if before != "[\n" else "[]\n")


_OPENED = ("parameters", "learner_parameters", "details", "versions")


def _parquet(path: Path, rows: Table, columns: list[str]) -> None:
    arrow = require_extra("pyarrow", "a Parquet file")
    parquet = require_extra("pyarrow.parquet", "a Parquet file")
    kinds = {"text": arrow.string(), "int": arrow.int64(), "float": arrow.float64()}
    kinds["bool"] = arrow.bool_()
    schema = arrow.schema([(c, kinds[COLUMNS[c]]) for c in columns])
    with parquet.ParquetWriter(path, schema, compression="zstd") as writer:
        while group := list(islice(rows, _GROUP)):
            table = {c: [_typed(c, row[c]) for row in group] for c in columns}
            writer.write_table(arrow.table(table, schema=schema))


def _typed(column: str, value: Any) -> Any:
    if column == "seed":  # of any size
        return str(value)
    if COLUMNS[column] == "int" and isinstance(value, int) and value >= 2**63:
        raise UsageError(f"{column}={value} does not fit Parquet's 64 bits: use --format csv")
    return float(value) if COLUMNS[column] == "float" and value is not None else value
