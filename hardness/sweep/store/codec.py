"""Rows of a store <-> the columns of its tables.

What is written is a tuple of the columns after `id` and `digest`, with the texts of names where
the table holds their numbers.
"""

import math
from collections.abc import Callable
from functools import cache, lru_cache
from typing import Any

from hardness.oracles import Budget
from hardness.runs.rows import (
    CertificateRow,
    FigureRow,
    PartRow,
    SweepRow,
    WholeRow,
)
from hardness.runs.run import Run
from hardness.sweep.store.schema import COLUMNS, NAMES
from hardness.sweep.store.seal import compact
from instances.strict import RESULTS, loads

Record = dict[str, Any]  # columns by name, names as texts


@cache
def columns(table: str) -> tuple[str, ...]:
    """Return the columns whose values a record is made of, in order.

    >>> columns("part")
    ('whole', 'number', 'content')
    """
    return tuple(c for c in COLUMNS[table] if c not in ("id", "digest"))


def references(table: str) -> tuple[str, ...]:
    """Return the columns that refer to names, which are called as the names' tables are.

    >>> references("whole")
    ('spec',)
    """
    return tuple(c for c in columns(table) if c in NAMES and table not in NAMES)


def of_run(row: Run) -> tuple[Any, ...]:
    """Write a run."""
    run = row
    data, risk = run.to_json(), run.risk
    budget = {k: v for k, v in vars(row.budget).items() if v is not None}
    context = {"machine": run.machine, "revisions": run.revisions, "versions": run.versions}
    high = None if risk is None or math.isinf(risk.high) else risk.high
    return (
        bytes.fromhex(row.key),
        run.spec,
        run.learner,
        compact(budget),
        compact(context),
        compact([run.outcome.value, row.bound]),
        run.seed if run.seed < 2**63 else str(run.seed),
        row.attempts,
        int(run.passed),
        None if run.secret_recovered is None else int(run.secret_recovered),
        *((risk.value, risk.low, high, risk.confidence) if risk else (None,) * 4),
        risk and risk.unclipped,
        risk and risk.examples,
        run.usage.examples,
        run.usage.queries,
        run.usage.peak_bytes,
        run.usage.seconds,
        compact(data["details"]),
    )


def to_run(record: Record) -> Run:
    """Read a run; raises LookupError, TypeError or ValueError for what is none."""
    outcome, _ = _named(record["ending"])
    recovered = record["secret_recovered"]
    return Run.from_json(
        {
            "spec": record["spec"],
            "learner": record["learner"],
            "seed": int(record["seed"]),
            "outcome": outcome,
            "risk": record["risk"],
            "risk_interval": None
            if record["risk"] is None
            else [record["risk_low"], record["risk_high"]],
            "risk_confidence": record["risk_confidence"],
            "risk_examples": record["risk_examples"],
            "risk_unclipped": record["risk_unclipped"],
            "usage": {n: record[n] for n in ("examples", "queries", "seconds", "peak_bytes")},
            "secret_recovered": None if recovered is None else bool(recovered),
            "details": loads(record["details"], RESULTS),
            **_named(record["context"]),
        },
        _budget(record["budget"]),
        key=record["key"].hex(),
        attempts=record["attempts"],
    )


@lru_cache(1024)
def _named(text: str) -> Any:
    """Read a text that many runs refer to: whoever is given it takes copies."""
    return loads(text, RESULTS)


@lru_cache(1024)
def _budget(text: str) -> Budget:
    return Budget(**loads(text, RESULTS))


def of_certificate(row: CertificateRow) -> tuple[Any, ...]:
    """Write a certificate."""
    return bytes.fromhex(row.key), row.spec, compact(row.terms), compact(row.certificate)


def to_certificate(record: Record) -> CertificateRow:
    """Read a certificate."""
    return CertificateRow(
        key=record["key"].hex(),
        spec=record["spec"],
        terms=loads(record["terms"], RESULTS),
        certificate=loads(record["certificate"], RESULTS),
    )


def of_part(row: PartRow) -> tuple[Any, ...]:
    """Write a part."""
    return bytes.fromhex(row.whole), row.index, row.content


def to_part(record: Record) -> PartRow:
    """Read a part."""
    return PartRow(
        whole=record["whole"].hex(), index=record["number"], content=bytes(record["content"])
    )


def of_whole(row: WholeRow) -> tuple[Any, ...]:
    """Write a job put together, without its arrays but with their names."""
    names = compact(sorted(row.arrays))
    return bytes.fromhex(row.key), row.kind, row.spec, compact(row.content), names


def to_whole(record: Record, arrays: dict[str, bytes]) -> WholeRow:
    """Read a job put together; raises ValueError where arrays are missing."""
    if sorted(arrays) != loads(record["arrays"], RESULTS):
        raise ValueError(f"of the arrays {record['arrays']} there are {sorted(arrays)}")
    return WholeRow(
        key=record["key"].hex(),
        kind=record["kind"],
        spec=record["spec"],
        content=loads(record["content"], RESULTS),
        arrays=arrays,
    )


def of_figure(row: FigureRow, written: float) -> tuple[Any, ...]:
    """Write the data of a figure, with the time of writing in seconds since 1970."""
    return row.name, compact(row.data), written


def to_figure(record: Record) -> FigureRow:
    """Read the data of a figure."""
    return FigureRow(name=record["name"], data=loads(record["data"], RESULTS))


_COUNTS = ("planned", "done", "failed", "base_seeds")


def of_sweep(row: SweepRow) -> tuple[Any, ...]:
    """Write a sweep."""
    return tuple(
        compact(getattr(row, c)) if c in _COUNTS else getattr(row, c) for c in columns("sweep")
    )


def to_sweep(record: Record) -> SweepRow:
    """Read a sweep."""
    return SweepRow(
        **{c: loads(record[c], RESULTS) if c in _COUNTS else record[c] for c in columns("sweep")}
    )


READERS: dict[str, Callable[[Record], Any]] = {
    "run": to_run,
    "certificate": to_certificate,
    "part": to_part,
    "figure": to_figure,
    "sweep": to_sweep,
}
