"""A run as one flat row, with the columns of the view `runs`."""

import math
from functools import lru_cache
from typing import Any

from hardness.runs.run import Run, finite
from hardness.sweep.store import names
from hardness.sweep.store.seal import compact
from hardness.sweep.store.timeless import timeless

_KINDS = {
    "key spec family parameters learner learner_name learner_parameters seed": "text",
    "budget_examples budget_queries": "int",
    "budget_seconds budget_cpu_seconds": "float",
    "budget_memory_bytes": "int",
    "outcome": "text",
    "passed reproducible": "bool",
    "bound": "text",
    "risk risk_low risk_high risk_confidence": "float",
    "risk_examples": "int",
    "risk_unclipped": "float",
    "examples queries": "int",
    "secret_recovered": "bool",
    "details": "text",
    "family_revision learner_revision": "int",
    "seconds": "float",
    "peak_bytes attempts": "int",
    "machine versions": "text",
}
# What a column holds, in order; a seed may have any number of digits.
COLUMNS = {name: kind for names, kind in _KINDS.items() for name in names.split()}
# Columns that differ from one execution of a run to the next.
PASSING = ("seconds", "peak_bytes", "attempts", "machine", "versions")


_derived = lru_cache(1024)(names.derived)  # runs come in the order of their specs


def flat(row: Run) -> dict[str, Any]:
    """Lay a run out: texts, numbers, bools and None; JSON where a column holds more."""
    return {**_columns(row), "details": compact(finite(row.details))}


def comparable(row: Run) -> dict[str, Any]:
    """Lay out what of a run is the same wherever and whenever it is executed."""
    found = {name: value for name, value in _columns(row).items() if name not in PASSING}
    return {**found, "details": compact(timeless(finite(row.details)))}


def _columns(row: Run) -> dict[str, Any]:
    """Lay out all but the details."""
    risk, budget = row.risk, row.budget
    family, parameters = _derived("spec", row.spec)
    name, learner_parameters = _derived("learner", row.learner)
    return {
        "key": row.key,
        "spec": row.spec,
        "family": family,
        "parameters": parameters,
        "learner": row.learner,
        "learner_name": name,
        "learner_parameters": learner_parameters,
        "seed": row.seed,
        "budget_examples": budget.examples,
        "budget_queries": budget.queries,
        "budget_seconds": budget.seconds,
        "budget_cpu_seconds": budget.cpu_seconds,
        "budget_memory_bytes": budget.memory_bytes,
        "outcome": row.outcome.value,
        "passed": row.passed,
        "reproducible": row.reproducible,
        "bound": row.bound,
        "risk": risk and risk.value,
        "risk_low": risk and risk.low,
        "risk_high": risk.high if risk and math.isfinite(risk.high) else None,
        "risk_confidence": risk and risk.confidence,
        "risk_examples": risk and risk.examples,
        "risk_unclipped": risk and risk.unclipped,
        "examples": row.usage.examples,
        "queries": row.usage.queries,
        "secret_recovered": row.secret_recovered,
        "details": None,  # takes its place in the order
        "family_revision": row.revisions.get("family"),
        "learner_revision": row.revisions.get("learner"),
        "seconds": row.usage.seconds,
        "peak_bytes": row.usage.peak_bytes,
        "attempts": row.attempts,
        "machine": row.machine,
        "versions": compact(row.versions),
    }
