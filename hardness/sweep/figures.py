"""Data of figures, kept beside the runs that they follow from: what was solved where, and bounds.

Nothing in them is measured anew, and no time is among them: equal runs give equal data.
"""

from collections.abc import Iterable, Sequence
from itertools import groupby
from pathlib import Path
from statistics import median
from typing import Any

from hardness.runs.columns import compact
from hardness.runs.rows import CertificateRow, FigureRow
from hardness.runs.run import Run
from hardness.sweep.store import merge, read, reopen

PHASE = "phase"
_HOW = ("oracle", "tau", "sha256", "package")  # of details: what else a run depends on
_SHOWN = ("value", "kind", "parameters", "assumptions", "source")  # of a claim


def phase(runs: Iterable[Run], certificates: Iterable[CertificateRow]) -> FigureRow:
    """Say how many runs of every spec, learner and budget solved it, beside what is certified.

    runs: those of a spec, learner and budget one after another, as a store gives them; answers to
    queries, revisions and files of a learner that differ make cells of their own. What was cut by
    its budget of seconds or memory did not solve it within that; `timed` counts such runs, for
    another machine may do otherwise. What the machine ended (`not_run`) says nothing. [low, high]
    is of Clopper and Pearson, at 95 %, for the chance that a run solves it within its budget: low
    as if none of those had, high as if all had. [CP34]
    """
    cells = [
        _cell(spec, learner, dict(budget), how, kept)
        for (spec, learner, budget), rows in groupby(runs, _cell_of)
        for how, kept in _split(rows)
    ]
    certified = [
        {
            "spec": row.spec,
            "terms": row.terms,
            "claims": {
                claim["quantity"]: {name: claim[name] for name in _SHOWN}
                for claim in row.certificate.get("claims", ())
            },
        }
        for row in certificates
    ]
    return FigureRow(name=PHASE, data={"cells": cells, "certified": certified})


def _cell_of(row: Run) -> tuple[str, str, tuple[tuple[str, Any], ...]]:
    given = tuple((k, v) for k, v in vars(row.budget).items() if v is not None)
    return row.spec, row.learner, given


def _split(rows: Iterable[Run]) -> list[tuple[dict[str, Any], list[Run]]]:
    """Part the runs of a cell by what else their keys hold, in the order of that."""
    found: dict[str, tuple[dict[str, Any], list[Run]]] = {}
    for row in rows:
        said = {name: row.details[name] for name in _HOW if name in row.details}
        how = {**said, "revisions": row.revisions}
        found.setdefault(compact(how), (how, []))[1].append(row)
    return [found[text] for text in sorted(found)]


def _cell(
    spec: str, learner: str, budget: dict[str, Any], how: dict[str, Any], rows: list[Run]
) -> dict[str, Any]:
    from scipy.stats import binomtest

    kept = [row for row in rows if row.bound != "machine"]
    solved = [run for run in kept if run.solved]
    lost = len(rows) - len(kept)
    low = binomtest(len(solved), len(rows)).proportion_ci(0.95, "exact").low
    high = binomtest(len(solved) + lost, len(rows)).proportion_ci(0.95, "exact").high
    return {
        "spec": spec,
        "learner": learner,
        "budget": budget,
        **how,
        "runs": len(kept),
        "solved": len(solved),
        "interval": [float(low), float(high)],
        "timed": sum(row.bound in ("seconds", "memory") for row in rows),
        "not_run": lost,
        "median_examples": median(r.usage.examples for r in solved) if solved else None,
        "median_queries": median(r.usage.queries for r in solved) if solved else None,
    }


def merge_stores(first: Path, others: Sequence[Path], out: Path) -> None:
    """Write all that stores hold to a new one, the figure `phase` made anew; raises as `merge`."""
    merge(first, others, out)
    with reopen(out) as writer:
        with read(out) as found:
            figure = phase(found.runs(), found.certificates())
        writer.write([figure])
