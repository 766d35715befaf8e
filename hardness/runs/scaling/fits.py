"""Fitted growth of what learners used: which sizes count, what is fitted, what stands beside it.

A size counts where every seed passed. The runs that passed at a size where others did not are a
choice of the cheap ones, and a line through them would be too flat.
"""

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from hardness.claims import vacuous
from hardness.lower.record import text
from hardness.runs.ranges import Value
from hardness.runs.run import Run, judge
from hardness.runs.scaling.certified import Certified, certified, numbers, quantities, slope
from hardness.runs.scaling.laws import CONFIDENCE, LEAST_SIZES, Growth, growth
from hardness.upper import Outcome
from instances.parameters import plain
from instances.streams import BitStream, key
from instances.threshold import rational

if TYPE_CHECKING:
    from hardness.runs.comparison import Comparison

Cost = Literal["queries", "examples", "seconds"]
COSTS: tuple[Cost, ...] = ("queries", "examples", "seconds")
_BESIDE = {"queries": ("stat-queries", "csq-queries"), "examples": ("information-floor",)}


@dataclass(frozen=True, kw_only=True)
class Fit:
    """One cost of one learner over the sizes that count; growth is None where there is no fit.

    left_out: the other sizes, each with why. beside: the certified quantity in the same unit, and
    certified_exponent: its least-squares exponent over those of these sizes where it says
    something.
    """

    learner: str
    cost: Cost
    values: tuple[Value, ...]
    left_out: tuple[tuple[Value, str], ...]
    growth: Growth | None
    no_fit: str | None
    beside: str | None
    certified_exponent: float | None


@dataclass(frozen=True, kw_only=True)
class Scaling:
    """Fitted growth of every learner's costs, beside that of the certified numbers."""

    parameter: str
    fits: tuple[Fit, ...]
    certified: tuple[Certified, ...]

    def to_json(self) -> dict[str, Any]:
        """Write it as JSON: values as in the comparison, factors as exact rationals."""
        return {
            "confidence": CONFIDENCE,
            "fits": [_fit_json(fit) for fit in self.fits],
            "certified": [_certified_json(one) for one in self.certified],
        }


def scaling(comparison: "Comparison") -> Scaling:
    """Fit every cost of every learner of a comparison over the sizes where every seed passed.

    A function of the runs and certificates alone: the bootstrap draws from a stream of its own.

    >>> from hardness.runs import compare
    >>> found = scaling(compare("parity:m=2", "d=6..30..6", ("elimination",), seeds=2))
    >>> [(fit.cost, len(fit.values)) for fit in found.fits]
    [('examples', 5), ('seconds', 5)]
    """
    return Scaling(
        parameter=comparison.parameter,
        fits=tuple(
            _fit(comparison, learner, cost)
            for learner in comparison.learner_names
            for cost in COSTS
            if any(
                getattr(run.usage, cost)
                for value in comparison.values
                for run in comparison.of(learner, value)
            )
        ),
        certified=certified(comparison),
    )


def _fit(comparison: "Comparison", learner: str, cost: Cost) -> Fit:
    kept: dict[Value, list[float]] = {}
    left_out: list[tuple[Value, str]] = []
    every = {value: comparison.of(learner, value) for value in comparison.values}
    numbers_of_runs = [len(runs) for runs in every.values() if runs]
    seeds = max(numbers_of_runs, key=numbers_of_runs.count)  # of a store's slice they may differ
    for value, runs in every.items():
        reason = _out(runs, value, cost, seeds)
        if reason:
            left_out.append((value, reason))
        else:
            kept[value] = [float(getattr(run.usage, cost)) for run in runs]
    values = tuple(kept)
    no_fit = _no_fit(kept)
    beside, exponent = _beside(comparison, cost, values)
    return Fit(
        learner=learner,
        cost=cost,
        values=values,
        left_out=tuple(left_out),
        growth=None if no_fit else _grown(comparison, learner, cost, kept),
        no_fit=no_fit,
        beside=beside,
        certified_exponent=exponent,
    )


def _out(runs: list[Run], value: Value, cost: Cost, seeds: int) -> str | None:
    """Say why a size does not count, if it does not; seeds: runs at the other sizes."""
    if not runs:
        return "no run"
    passed = sum(judge(run.risk, known=True) is Outcome.SOLVED for run in runs)
    if passed < len(runs):
        return f"{passed} of {len(runs)} seeds passed"
    if value <= 0:
        return "a power law needs a value above 0"
    if any(getattr(run.usage, cost) <= 0 for run in runs):
        return f"it took no {cost}"
    if len(runs) != seeds:
        return f"{len(runs)} seeds, and {seeds} at other sizes"
    return None


def _no_fit(kept: dict[Value, list[float]]) -> str | None:
    """Say why there is nothing to fit, if there is not."""
    costs = {cost for found in kept.values() for cost in found}
    if len(kept) < LEAST_SIZES:
        return f"{len(kept)} sizes count, {LEAST_SIZES} are needed, each with every seed passed"
    if len(costs) == 1:
        return f"the same {costs.pop():g} at every size: the learner or its budget fixes it"
    return None


def _grown(
    comparison: "Comparison", learner: str, cost: Cost, kept: dict[Value, list[float]]
) -> Growth:
    first = min(run.seed for run in comparison.runs)
    axes = (comparison.specs[0], comparison.parameter, learner, cost)
    sizes = np.array([float(value) for value in kept])
    costs = np.array(list(kept.values()))
    return growth(sizes, costs, BitStream(key(first, "scaling", *axes)))


def _beside(
    comparison: "Comparison", cost: Cost, values: tuple[Value, ...]
) -> tuple[str | None, float | None]:
    """Name the certified quantity in a cost's unit, with its exponent over these sizes."""
    names = [q for q in _BESIDE.get(cost, ()) if q in quantities(comparison)]
    if not names:
        return None, None
    every = numbers(comparison, names[0])
    kept = [value for value in values if not vacuous(names[0], every[value])]
    return names[0], slope(kept, [every[value] for value in kept], exponential=False)


def _fit_json(fit: Fit) -> dict[str, Any]:
    return {
        "learner": fit.learner,
        "cost": fit.cost,
        "values": [_value(v) for v in fit.values],
        "left_out": [{"value": _value(v), "reason": why} for v, why in fit.left_out],
        "no_fit": fit.no_fit,
        "growth": fit.growth
        and {
            **asdict(fit.growth),
            "verdict": fit.growth.verdict,
            "reason": fit.growth.reason,
        },
        "beside": fit.beside,
        "certified_exponent": fit.certified_exponent,
    }


def _certified_json(one: Certified) -> dict[str, Any]:
    return {
        **asdict(one),
        "values": [_value(v) for v in one.values],
        "vacuous": [_value(v) for v in one.vacuous],
        "steps": [
            {
                "start": _value(step.start),
                "end": _value(step.end),
                "factor": text(rational(step.factor)),
                "slope": step.slope,
            }
            for step in one.steps
        ],
    }


def _value(value: Value) -> int | str:
    return value if isinstance(value, int) else plain(value)
