"""What the provable learner said of itself over the runs on a spec."""

from collections.abc import Iterable
from statistics import median
from typing import Any

from hardness.report.parts.records import Cell, Diagnosis, Table
from hardness.runs.run import Run

HEADER = ("signal", "runs that measured it", "flagged", "median", "limit", "advice")


def diagnoses(rows: Iterable[Run]) -> tuple[Diagnosis, ...]:
    """Count, of every spec, the signals that the staged learner's runs gave."""
    groups: dict[tuple[str, str], list[Run]] = {}
    for row in rows:
        if row.learner.partition(":")[0] == "staged" and _signals(row):
            groups.setdefault((row.spec, row.learner), []).append(row)
    return tuple(_diagnosis(spec, learner, kept) for (spec, learner), kept in groups.items())


def _diagnosis(spec: str, learner: str, rows: list[Run]) -> Diagnosis:
    found: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        for signal in _signals(row):
            found.setdefault(str(signal["name"]), []).append(signal)
    table: list[tuple[Cell, ...]] = []
    advice: dict[str, None] = {}
    for name, every in found.items():
        flagged = [signal for signal in every if signal.get("flagged") is True]
        values = [s["value"] for s in every if isinstance(s.get("value"), int | float)]
        limits = [s["threshold"] for s in every if isinstance(s.get("threshold"), int | float)]
        said = str(flagged[0].get("advice", "")) if flagged else ""
        table.append(
            (
                *(name, len(every), len(flagged), float(median(values)) if values else None),
                *(float(median(limits)) if limits else None, said),
            )
        )
        advice |= {str(signal.get("advice", "")): None for signal in flagged}
    return Diagnosis(
        spec=spec,
        learner=learner,
        runs=len(rows),
        passed=sum(row.solved for row in rows),
        signals=Table(header=HEADER, rows=tuple(table)),
        advice=tuple(filter(None, advice)),
    )


def _signals(row: Run) -> list[dict[str, Any]]:
    """The signals in a run's details, which a store may have from anybody."""
    found = row.details.get("diagnosis")
    kept = found if isinstance(found, list) else []
    return [signal for signal in kept if isinstance(signal, dict) and "name" in signal]
