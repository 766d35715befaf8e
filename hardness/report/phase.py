"""The phase diagram: where each learner solves, over two parameters, beside what is certified.

Its numbers; `phase_figure` draws them.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from hardness.claims import vacuous
from hardness.lower import Certificate
from hardness.runs import Comparison
from hardness.runs.certified import Certifier, query_bound, terms_of
from hardness.runs.names import brief_spec, short
from hardness.runs.run import MACHINE, Run
from hardness.runs.table import Plane, planes, table, told_apart
from hardness.upper import LEARNERS, Outcome
from instances.parameters import plain, whole

Data = dict[str, Any]
SHARE = Fraction(2, 3)  # of the runs that must pass: the success probability of the bounds
QUERIES = 10**6  # the budget of queries where none is known, neither of the runs nor certified
PANELS = 6  # learners of a figure
_UNABLE = (Outcome.UNSUPPORTED, *MACHINE)


def of_phase(plane: Plane, certifier: Certifier) -> Data:
    """Collect the phase diagram of a plane of runs, of at most `PANELS` of its learners.

    A cell is solved where at least `SHARE` of its runs passed in time, partly where some did;
    those that the machine ended, or that could not run, count as not passed. certified: the queries
    that a statistical-query learner must be allowed at a spec, exact, with `log10` of them; None
    where no bound is claimed. query_budget: that of the runs, or `assumed` where none is known.
    """
    terms = terms_of(dict(plane.fixed).get("tau"))
    specs = tuple(plane.specs.values())
    terms = certifier.terms(specs, terms)
    names = plane.learners
    kept = names[PANELS * (plane.number - 1) : PANELS * plane.number]
    queries = plane.rows[0].budget.queries
    grid = [[plane.specs.get((x, y)) for x in plane.xs] for y in plane.ys]
    found = {spec: certifier.one(spec, terms) for spec in specs}
    known = {spec: one for spec, one in found.items() if isinstance(one, Certificate)}
    quantity = query_bound(list(known.values()))
    rows = {
        key: list(group)
        for key, group in table(plane.rows).groupby(["learner", "spec"], sort=False)["run"]
    }
    return {
        "spec": label(plane),
        "x": plane.x,
        "y": plane.y,
        "xs": [plain(x) for x in plane.xs],
        "ys": [plain(y) for y in plane.ys],
        "share": str(SHARE),
        "part": plane.number,
        "parts": -(-len(names) // PANELS),
        "query_budget": queries or assumed(_numbers(known.values(), quantity)),
        "budget_given": queries is not None,
        "tau": str(terms.tau),
        "risk": str(terms.risk),
        "success": str(terms.success),
        "quantity": quantity,
        "certified": [[_certified(known, spec, quantity) for spec in line] for line in grid],
        "uncertified": _uncertified(found.values(), quantity),
        "learners": [
            {
                "learner": short(name),
                "asks": asks(name),
                "cells": [
                    [_cell(rows.get((name, spec or ""), []), spec) for spec in line]
                    for line in grid
                ],
            }
            for name in kept
        ],
    }


def diagrams(every: Sequence[Plane]) -> tuple[Plane, ...]:
    """List the diagrams of planes: one for each few learners, told apart by their choices."""
    found = []
    for plane in every:
        parts = -(-len(plane.learners) // PANELS)
        for part in range(1, parts + 1):
            own = (("part", str(part)),) if parts > 1 else ()
            found.append(replace(plane, fixed=(*plane.fixed, *own), number=part))
    return told_apart(found)


def asks(learner: str) -> bool:
    """Return whether a learner is known to ask statistical queries alone: those here say so.

    >>> asks("queries"), asks("elimination"), asks("mine.py:Net")
    (True, False, False)
    """
    name = learner.partition(":")[0]
    return name in LEARNERS and LEARNERS[name].access == "queries"


def plane_of(comparison: Comparison) -> Plane:
    """Take the runs of a comparison as a plane."""
    return max(planes(table(comparison.runs)), key=lambda plane: len(plane.rows))


def label(plane: Plane) -> str:
    """Write what is fixed in the specs of a plane, without defaults, as "parity:noise=0.1"."""
    return brief_spec(next(iter(plane.specs.values())), plane.x, plane.y)


def assumed(certified: Sequence[int]) -> int:
    """Assume a budget of queries that shows the bounds: the largest power of ten below one of them.

    >>> assumed([4, 160]), assumed([0, 1]), assumed([])
    (100, 1000000, 1000000)
    """
    largest = max(certified, default=0)
    return 10 ** (len(str(largest - 1)) - 1) if largest > 1 else QUERIES


def _numbers(known: Iterable[Certificate], quantity: str) -> list[int]:
    """The numbers that say something."""
    found = [one.integer(quantity) for one in known] if quantity else []
    return [number for number in found if not vacuous(quantity, number)]


def _uncertified(found: Iterable[Certificate | str], quantity: str) -> str:
    """Say why nothing is hatched, or a part of the cells cannot be."""
    whys = dict.fromkeys(one for one in found if isinstance(one, str))
    mixed = [] if quantity or whys else ["no bound on queries of one kind is there for all cells"]
    return next(iter([*whys, *mixed]), "")


def _certified(known: dict[str, Certificate], spec: str | None, quantity: str) -> Data | None:
    if spec not in known or not quantity:
        return None
    value = known[spec].value(quantity)
    number = whole(value)
    return {"queries": value, "log10": math.log10(number) if number > 0 else None}


def _cell(rows: list[Run], spec: str | None) -> Data | None:
    """Count the runs of a learner on a spec; None where there are none."""
    if not rows or spec is None:
        return None
    kept = [row for row in rows if row.bound != "machine" and row.outcome not in _UNABLE]
    number = sum(row.solved for row in kept)
    state = "not solved"
    if not kept:
        state = "could not run"
    elif number >= SHARE * len(rows):
        state = "solved"
    elif number:
        state = "partly"
    return {
        "spec": spec,
        "passed": number,
        "runs": len(rows),
        "ended_by_machine": len(rows) - len(kept),
        "state": state,
    }


def certified_queries(data: Data, i: int, j: int) -> str | None:
    """Return the certified number at row i and column j; None where there is none, or vacuous."""
    found = data["certified"][i][j]
    if found is None or vacuous(data["quantity"], found["queries"]):
        return None
    return str(found["queries"])


def infeasible(data: Data, i: int, j: int, budget: int | None = None) -> bool:
    """Return whether the certified number at row i and column j is above a budget of queries."""
    found = certified_queries(data, i, j)
    return found is not None and int(found) > (budget or data["query_budget"])
