"""Data of figures, kept beside the runs that they follow from: what was solved where, and bounds.

Nothing in them is measured anew, and no time is among them: equal runs give equal data.
"""

import json
from collections.abc import Iterable, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from hardness.lower import Certificate
from hardness.runs.columns import compact
from hardness.runs.rows import CertificateRow, FigureRow
from hardness.runs.run import Run
from hardness.runs.tally import tally
from hardness.sweep.store import merge, read, reopen
from instances.text import exact

PHASE = "phase"
_HOW = ("oracle", "tau", "sha256")  # of details: what else a run depends on


def phase(runs: Iterable[Run], certificates: Iterable[CertificateRow]) -> FigureRow:
    """Say how many runs of every spec, learner and budget solved it, beside what is certified.

    runs: those of a spec, learner and budget one after another, as a store gives them; answers to
    queries, revisions and files of a learner that differ make cells of their own. What was cut by
    its budget of seconds or memory did not solve it within that; `timed` counts such runs, for
    another machine may do otherwise. What the machine ended is `not_run`; the interval is that of
    a `Tally`.
    """
    cells = [
        _cell(spec, learner, dict(budget), how, list(kept))
        for (spec, learner, budget), some in groupby(
            runs, key=lambda run: (run.spec, run.learner, _budget(run))
        )
        for how, kept in groupby(sorted(some, key=_how), key=_how)
    ]
    certified = [
        {
            "spec": row.spec,
            "terms": row.terms,
            "claims": _claims(row.certificate),
        }
        for row in certificates
    ]
    return FigureRow(name=PHASE, data={"cells": cells, "certified": certified})


def _claims(certificate: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """List claims by quantity; none of what is no certificate."""
    try:
        found = Certificate.read(certificate).claims
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError):
        return {}
    return {
        one.quantity: {
            "value": exact(one.value),
            "kind": one.kind,
            "parameters": one.parameters,
            "source": one.source,
        }
        for one in found
    }


def _budget(run: Run) -> tuple[tuple[str, Any], ...]:
    return tuple((k, v) for k, v in vars(run.budget).items() if v is not None)


def _how(run: Run) -> str:
    """Write down what else a run depends on."""
    said = {name: run.details[name] for name in _HOW if name in run.details}
    return compact({**said, "revisions": run.revisions})


def _cell(spec: str, learner: str, budget: dict[str, Any], how: str, runs: list[Run]) -> Any:
    counted = tally(runs)
    return {
        "spec": spec,
        "learner": learner,
        "budget": budget,
        **json.loads(how),
        "runs": counted.runs - counted.lost,
        "solved": counted.solved,
        "interval": [counted.low, counted.high],
        "timed": sum(run.bound in ("seconds", "memory") for run in runs),
        "not_run": counted.lost,
        "median_examples": counted.examples,
        "median_queries": counted.queries,
        "median_values": counted.values,
    }


def merge_stores(first: Path, others: Sequence[Path], out: Path) -> None:
    """Write all that stores hold to a new one, the figure `phase` made anew; raises as `merge`."""
    merge(first, others, out)
    with reopen(out) as writer:
        with read(out) as found:
            figure = phase(found.runs(), found.certificates())
        writer.write([figure])
