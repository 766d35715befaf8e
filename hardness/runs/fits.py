"""How costs and certified numbers of a comparison grow over its sizes.

A size counts where every seed passed. The runs that passed at a size where others did not are a
choice of the cheap ones, and a line through them would be too flat. Laws: hardness/runs/growth.py.
"""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from statistics import linear_regression
from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec import to_builtins

from hardness.claims import vacuous
from hardness.runs.cells import COSTS, Cost
from hardness.runs.growth import CONFIDENCE, LEAST_SIZES, Growth, growth
from hardness.runs.ranges import Value
from hardness.runs.run import Run
from instances.capabilities import CHARACTERS
from instances.parameters import plain
from instances.spec import parse_stored
from instances.streams import BitStream, key
from instances.text import exact

if TYPE_CHECKING:
    from hardness.runs.comparison import Comparison

QUANTITIES = ("sq-dimension", "stat-queries", "csq-queries", "information-floor")
_BESIDE = {"queries": ("stat-queries", "csq-queries"), "examples": ("information-floor",)}


@dataclass(frozen=True, kw_only=True)
class CostFit:
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

    def to_dict(self) -> dict[str, Any]:
        """Write the fit as JSON, with its verdict and what that rests on."""
        grown = self.growth
        said = grown and asdict(grown) | {"verdict": grown.verdict, "reason": grown.reason}
        left_out = [{"value": value, "reason": why} for value, why in self.left_out]
        return vars(self) | {"left_out": left_out, "growth": said}


@dataclass(frozen=True, kw_only=True)
class Step:
    """From one size to the next: the exact factor p/q, and the slope of its logarithm in log x."""

    start: Value
    end: Value
    factor: str
    slope: float


@dataclass(frozen=True, kw_only=True)
class CertifiedGrowth:
    """A certified quantity over the sizes at which it says something.

    exponent, rate: least squares of its logarithm on log x and on x, as a learner's cost is fitted;
    None below two sizes. They describe numbers that are certified, and are no bound themselves.
    """

    quantity: str
    values: tuple[Value, ...]
    vacuous: tuple[Value, ...]
    steps: tuple[Step, ...]
    exponent: float | None
    rate: float | None
    theory: str


@dataclass(frozen=True, kw_only=True)
class Scaling:
    """Fitted growth of every learner's costs, beside that of the certified numbers."""

    parameter: str
    fits: tuple[CostFit, ...]
    certified: tuple[CertifiedGrowth, ...]

    def to_dict(self) -> dict[str, Any]:
        """Write it as JSON: values as in the comparison, factors as exact rationals."""
        fits = [fit.to_dict() for fit in self.fits]
        said = {"confidence": CONFIDENCE, "fits": fits, "certified": self.certified}
        found: dict[str, Any] = to_builtins(said, enc_hook=plain)  # of a Fraction
        return found


def scaling(comparison: "Comparison") -> Scaling:
    """Fit every cost of every learner of a comparison over the sizes where every seed passed.

    A function of the runs and certificates alone: the bootstrap draws from a stream of its own.

    >>> from hardness.runs import compare
    >>> found = scaling(compare("parity:m=2", "d=6..30..6", ("elimination",), seeds=2))
    >>> [(fit.cost, len(fit.values)) for fit in found.fits]
    [('examples', 5), ('seconds', 5)]
    """
    fits = []
    for learner in comparison.learner_names:
        every = {value: comparison.of(learner, value) for value in comparison.values}
        for cost in COSTS:
            if any(getattr(run.usage, cost) for runs in every.values() for run in runs):
                fits.append(_fit(comparison, learner, cost, every))
    return Scaling(
        parameter=comparison.parameter,
        fits=tuple(fits),
        certified=tuple(_certified(comparison, one) for one in quantities(comparison)),
    )


def _fit(
    comparison: "Comparison", learner: str, cost: Cost, every: dict[Value, list[Run]]
) -> CostFit:
    numbers_of_runs = [len(runs) for runs in every.values() if runs]
    seeds = max(numbers_of_runs, key=numbers_of_runs.count)  # of a store's slice they may differ
    reasons = {value: _out(runs, value, cost, seeds) for value, runs in every.items()}
    values = tuple(value for value, reason in reasons.items() if not reason)
    costs = np.array([[getattr(run.usage, cost) for run in every[v]] for v in values], np.float64)
    grown = no_fit = None
    if len(values) < LEAST_SIZES:
        no_fit = f"{len(values)} sizes count, {LEAST_SIZES} are needed, each with every seed passed"
    elif costs.min() == costs.max():
        no_fit = f"the same {costs.min():g} at every size: the learner or its budget fixes it"
    else:
        first = min(run.seed for run in comparison.runs)
        axes = (comparison.specs[0], comparison.parameter, learner, cost)
        sizes = np.array([float(value) for value in values])
        grown = growth(sizes, costs, BitStream(key(first, "scaling", *axes)))
    beside = next((q for q in _BESIDE.get(cost, ()) if q in quantities(comparison)), None)
    certified = {} if beside is None else numbers(comparison, beside)
    told = [v for v in values if beside and not vacuous(beside, certified[v])]
    return CostFit(
        learner=learner,
        cost=cost,
        values=values,
        left_out=tuple((value, reason) for value, reason in reasons.items() if reason),
        growth=grown,
        no_fit=no_fit,
        beside=beside,
        certified_exponent=slope(told, [certified[v] for v in told], exponential=False),
    )


def _out(runs: list[Run], value: Value, cost: Cost, seeds: int) -> str | None:
    """Say why a size does not count, if it does not; seeds: runs at the other sizes."""
    if not runs:
        return "no run"
    passed = sum(run.solved for run in runs)
    if passed < len(runs):
        return f"{passed} of {len(runs)} seeds passed"
    if value <= 0:
        return "a power law needs a value above 0"
    if any(getattr(run.usage, cost) <= 0 for run in runs):
        return f"it took no {cost}"
    if len(runs) != seeds:
        return f"{len(runs)} seeds, and {seeds} at other sizes"
    return None


# Certified numbers.


def quantities(comparison: "Comparison") -> list[str]:
    """Name what every certificate of a comparison claims, among what grows with the size."""
    every = [{claim.quantity for claim in c.claims} for c in comparison.certificates]
    return [q for q in QUANTITIES if every and all(q in names for names in every)]


def numbers(comparison: "Comparison", quantity: str) -> dict[Value, int]:
    """Collect a certified quantity at every size that has one."""
    pairs = zip(comparison.values, comparison.certificates, strict=True)
    return {value: certificate.integer(quantity) for value, certificate in pairs}


def slope(values: Sequence[Value], certified: Sequence[int], exponential: bool) -> float | None:
    """Fit log(certified) = a + b log x, or a + b x, by least squares; None below two sizes.

    >>> slope([2, 4, 8], [12, 48, 192], exponential=False)
    2.0
    """
    if len(values) < 2:
        return None
    places = [float(v) if exponential else math.log(v) for v in values]
    logs = [math.log(n) for n in certified]  # integers of any size
    return round(linear_regression(places, logs).slope, 12)


def _certified(comparison: "Comparison", quantity: str) -> CertifiedGrowth:
    every = numbers(comparison, quantity)
    kept = {v: n for v, n in every.items() if n > 0 and v > 0 and not vacuous(quantity, n)}
    values, found = tuple(kept), tuple(kept.values())
    return CertifiedGrowth(
        quantity=quantity,
        values=values,
        vacuous=tuple(v for v in every if v not in kept),
        steps=tuple(
            Step(
                start=a,
                end=b,
                factor=exact(Fraction(n, m)),
                slope=(math.log(n) - math.log(m)) / (math.log(b) - math.log(a)),
            )
            for a, b, m, n in zip(values, values[1:], found, found[1:], strict=False)
        ),
        exponent=slope(values, found, exponential=False),
        rate=slope(values, found, exponential=True),
        theory=_theory(comparison, quantity),
    )


_OF_SIZE = {
    "d": "N = C(d-1, m) is a polynomial of degree m = {m} in d; a step from d to d+1 multiplies it "
    "by d / (d-m)",
    "m": "N = C(d-1, m): a step from m to m+1 multiplies it by (d-1-m) / (m+1), here with d = {d}",
    "noise": "N does not depend on the noise",
}


def _theory(comparison: "Comparison", quantity: str) -> str:
    """Say what is known of hidden parities in closed form; nothing of other families."""
    family = CHARACTERS.of(parse_stored(comparison.specs[0]))
    if family is None or comparison.parameter not in _OF_SIZE:
        return ""
    said = _OF_SIZE[comparison.parameter].format(d=family.d, m=family.m)
    if quantity == "stat-queries":
        said += (
            "; the bound is (success N - K) / r, rounded up, r the whole part of "
            "(1 - 2 noise)^2 / (4 tau^2)"
        )
    elif quantity == "information-floor":
        said += "; the floor is log2(success N / K), rounded up"
    return said
