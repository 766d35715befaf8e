"""Data of figures, kept beside the runs that they follow from: what was solved where, and bounds.

Nothing in them is measured anew, and no time is among them: equal runs give equal data.
"""

from collections.abc import Iterable
from itertools import groupby
from statistics import median
from typing import Any

from hardness.compare.climb import passed
from hardness.compare.store.rows import CertificateRow, FigureRow, RunRow

PHASE = "phase"
_SHOWN = ("value", "kind", "parameters", "assumptions", "source")  # of a claim


def phase(runs: Iterable[RunRow], certificates: Iterable[CertificateRow]) -> FigureRow:
    """Say how many runs of every spec, learner and budget solved it, beside what is certified.

    runs: those of a spec, learner and budget one after another, as a store gives them. What was cut
    by its budget of seconds or memory did not solve it within that; `timed` counts such runs, for
    another machine may do otherwise. What the machine ended says nothing, and is counted apart. An
    interval is that of Clopper and Pearson, at 95 %. [CP34]
    """
    cells = [
        _cell(spec, learner, dict(budget), list(rows))
        for (spec, learner, budget), rows in groupby(runs, _cell_of)
    ]
    certified = [
        {
            "spec": row.spec,
            "terms": row.terms,
            "claims": {
                claim["quantity"]: {name: claim[name] for name in _SHOWN}
                for claim in row.certificate["claims"]
            },
        }
        for row in certificates
    ]
    return FigureRow(name=PHASE, data={"cells": cells, "certified": certified})


def _cell_of(row: RunRow) -> tuple[str, str, tuple[tuple[str, Any], ...]]:
    given = tuple((k, v) for k, v in vars(row.budget).items() if v is not None)
    return row.run.spec, row.run.learner, given


def _cell(spec: str, learner: str, budget: dict[str, Any], rows: list[RunRow]) -> dict[str, Any]:
    from scipy.stats import binomtest

    kept = [row.run for row in rows if row.bound != "machine"]
    solved = [run for run in kept if passed(run)]
    interval = None
    if kept:
        found = binomtest(len(solved), len(kept)).proportion_ci(0.95, "exact")
        interval = [float(found.low), float(found.high)]
    return {
        "spec": spec,
        "learner": learner,
        "budget": budget,
        "runs": len(kept),
        "solved": len(solved),
        "interval": interval,
        "timed": sum(row.bound in ("seconds", "memory") for row in rows),
        "not_run": len(rows) - len(kept),
        "median_examples": median(r.usage.examples for r in solved) if solved else None,
        "median_queries": median(r.usage.queries for r in solved) if solved else None,
    }
