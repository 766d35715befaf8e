"""Growth of costs and certified numbers with size: power laws with intervals, exact steps.

Only sizes at which every seed solved are used. If some seeds failed at a size, the others are the
cheap ones, and a line through them would be too flat.

The exponent is estimated by least squares on the mean logarithm of the cost at each size. It is the
slope of the line nearest to the expected logarithms at these sizes, whether or not a power law
holds. Its error has two sources: the distances of the means from the law, and the scatter of seeds
within a size. The interval is the widest of three: by a residual bootstrap, by the first source and
by the second. So it is also meaningful for costs without randomness. docs/growth.md has the method.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from statistics import linear_regression
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hardness.bounds import Certificate
from hardness.bounds.quantities import vacuous
from hardness.runs.names import Value
from hardness.runs.record import json_of
from hardness.runs.run import COSTS, Cost, Run
from instances.numbers import write
from instances.sets import Symmetric
from instances.spec import parse_stored
from instances.streams import BitStream, key

if TYPE_CHECKING:
    from hardness.runs.least import Least

Floats = NDArray[np.float64]
CONFIDENCE = 0.95
LEAST_SIZES = 5  # two parameters of the law, and three degrees of freedom for its error
QUANTITIES = ("sq-dimension", "stat-queries", "csq-queries", "information-floor")
_CERTIFIED_IN = {"queries": ("stat-queries", "csq-queries"), "examples": ("information-floor",)}
_RESAMPLES = 999
_BLOCK_NUMBERS = 1 << 20  # resampled logarithms in memory
_ROUNDING = 1e-9  # of logarithms: a smaller distance from a law is rounding


@dataclass(frozen=True, kw_only=True)
class PowerLaw:
    """A fitted law: log cost = log_constant + exponent log size.

    low, high: the 95 % interval of the exponent. bootstrap: the interval by the residual bootstrap
    alone. misfit: the root mean square distance of the mean log costs from the law.
    """

    exponent: float
    low: float
    high: float
    bootstrap: tuple[float, float]
    log_constant: float
    misfit: float


@dataclass(frozen=True, kw_only=True)
class CostFit:
    """The fit of one cost of one learner over the sizes that count.

    left_out: the other sizes, each with the reason. law: None if there is no fit, for the reason
    no_fit. beside: the certified quantity in the same unit. certified_exponent: the least-squares
    exponent of that quantity over those of these sizes at which it is not vacuous.
    """

    learner: str
    cost: Cost
    values: tuple[Value, ...]
    left_out: tuple[tuple[Value, str], ...]
    law: PowerLaw | None
    no_fit: str | None
    beside: str | None
    certified_exponent: float | None


@dataclass(frozen=True, kw_only=True)
class Step:
    """The growth of a certified number from one size to the next.

    factor: the exact quotient p/q of the numbers. slope: its logarithm divided by that of the
    quotient of the sizes.
    """

    start: Value
    end: Value
    factor: str
    slope: float


@dataclass(frozen=True, kw_only=True)
class CertifiedGrowth:
    """A certified quantity over the sizes at which it is not vacuous.

    vacuous: the other sizes. exponent: the least-squares slope of its logarithm in log x, None for
    fewer than two sizes. The exponent describes certified numbers, but is not itself a bound.
    theory: what is known of the quantity in closed form, empty if nothing is.
    """

    quantity: str
    values: tuple[Value, ...]
    vacuous: tuple[Value, ...]
    steps: tuple[Step, ...]
    exponent: float | None
    theory: str


@dataclass(frozen=True, kw_only=True)
class Scaling:
    """The fitted growth of the costs of all learners, and of the certified numbers."""

    parameter: str
    fits: tuple[CostFit, ...]
    certified: tuple[CertifiedGrowth, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON, with factors as exact fractions."""
        fits = json_of(self.fits)
        for fit in fits:
            fit["left_out"] = [{"value": v, "reason": reason} for v, reason in fit["left_out"]]
        return {"confidence": CONFIDENCE, "fits": fits, "certified": json_of(self.certified)}


def scaling(
    parameter: str,
    runs: Mapping[str, Mapping[str, Sequence[Run]]],
    sizes: Mapping[str, Value],
    certificates: Sequence[Certificate],
) -> Scaling:
    """Fit each cost of each learner over the sizes at which every seed solved.

    runs: by learner and spec. sizes: of the specs, in their order. certificates: one for each spec,
    or none. The seed of the bootstrap depends on the runs only, so equal runs have equal fits.

    >>> from hardness.runs import compare
    >>> growth = compare("parity:m=2", "d=6..30..6", ("elimination",), seeds=2).scaling
    >>> [(fit.cost, len(fit.values)) for fit in growth.fits]
    [('examples', 5), ('seconds', 5)]
    """
    claimed = [{claim.quantity for claim in one.claims} for one in certificates]
    quantities = [q for q in QUANTITIES if claimed and all(q in names for names in claimed)]
    certified = {
        quantity: {
            value: one.integer(quantity)
            for value, one in zip(sizes.values(), certificates, strict=True)
        }
        for quantity in quantities
    }
    seeds = (run.seed for by_spec in runs.values() for group in by_spec.values() for run in group)
    first = min(seeds, default=0)
    fits = []
    for learner, by_spec in runs.items():
        trials = {value: by_spec.get(spec, ()) for spec, value in sizes.items()}
        for cost in COSTS:
            if not any(run.used(cost) for group in trials.values() for run in group):
                continue
            axes = (next(iter(sizes)), parameter, learner, cost)
            stream = BitStream(key(first, "scaling", *axes))
            fits.append(_fit(learner, cost, trials, certified, stream))
    return _grown(next(iter(sizes)), parameter, fits, certified)


def scaling_of_least(thresholds: "Least") -> Scaling:
    """Fit the thresholds of each learner over the sizes at which every instance has one.

    The fitted value of a threshold is the geometric middle of (low, high]. The exponent's interval
    allows for half of its width.
    """
    floors = {v or 0: n for v, n in zip(thresholds.values, thresholds.floors, strict=True)}
    numbers = {value: n for value, n in floors.items() if isinstance(n, int)}
    certified = (
        {thresholds.quantity: numbers}
        if thresholds.quantity and len(numbers) == len(floors)
        else {}
    )
    fits = []
    for learner in thresholds.learner_names:
        cells = {cell.value or 0: cell for cell in thresholds.cells if cell.learner == learner}
        reasons = {
            value: f"{never} of {thresholds.seeds} instances have no threshold"
            if (never := sum(not one.high for one in cell.thresholds))
            else None
            if value > 0
            else "a power law needs a value above 0"
            for value, cell in cells.items()
        }
        brackets = {
            value: np.log([(max(one.low, 0.5), one.high or 0) for one in cells[value].thresholds])
            for value, reason in reasons.items()
            if not reason
        }
        middles = {value: np.exp(ends.mean(axis=1)) for value, ends in brackets.items()}
        off = {value: float(np.diff(ends).mean() / 2) for value, ends in brackets.items()}
        stream = BitStream(
            key(
                thresholds.seed,
                "scaling",
                thresholds.specs[0],
                thresholds.parameter,
                learner,
                thresholds.unit,
            )
        )
        needed = "each with the threshold of every instance"
        fits.append(
            _law_of(learner, thresholds.unit, middles, reasons, certified, stream, needed, off)
        )
    return _grown(thresholds.specs[0], thresholds.parameter, fits, certified)


def _grown(
    spec: str,
    parameter: str,
    fits: Sequence[CostFit],
    certified: Mapping[str, Mapping[Value, int]],
) -> Scaling:
    """Combine fits with the growth of certified numbers; spec: of any of the sizes."""
    return Scaling(
        parameter=parameter,
        fits=tuple(fits),
        certified=tuple(
            _certified(quantity, numbers, _theory(spec, parameter, quantity))
            for quantity, numbers in certified.items()
        ),
    )


# Costs.


def _fit(
    learner: str,
    cost: Cost,
    trials: Mapping[Value, Sequence[Run]],
    certified: Mapping[str, Mapping[Value, int]],
    stream: BitStream,
) -> CostFit:
    counts = [len(runs) for runs in trials.values() if runs]
    seeds = max(counts, key=counts.count)  # in runs of a sweep the numbers of seeds may differ
    reasons = {v: _reason_left_out(runs, v, cost, seeds) for v, runs in trials.items()}
    costs = {v: [run.used(cost) for run in runs] for v, runs in trials.items()}
    return _law_of(learner, cost, costs, reasons, certified, stream, "each with every seed solved")


def _law_of(
    learner: str,
    cost: Cost,
    costs_of: Mapping[Value, Sequence[float]],
    reasons: Mapping[Value, str | None],
    certified: Mapping[str, Mapping[Value, int]],
    stream: BitStream,
    needed: str,
    off: Mapping[Value, float] | None = None,
) -> CostFit:
    """Fit one cost at the sizes that count.

    costs_of: the cost, or threshold, of each seed, by size. reasons: why a size does not count, or
    None. needed: the condition on a size that counts, in words. off: a bound on the error of each
    mean logarithm, by size.
    """
    values = tuple(value for value, reason in reasons.items() if not reason)
    costs = np.array([costs_of[v] for v in values], np.float64)
    law = no_fit = None
    if len(values) < LEAST_SIZES:
        no_fit = f"{len(values)} sizes count, {LEAST_SIZES} are needed, {needed}"
    elif costs.min() == costs.max():
        no_fit = f"the same {costs.min():g} at every size: the learner or its budget fixes it"
    else:
        means_off = np.array([off[value] for value in values]) if off else 0.0
        law = power_law(np.array([float(value) for value in values]), costs, stream, means_off)
    beside = next((q for q in _CERTIFIED_IN.get(cost, ()) if q in certified), None)
    numbers = certified[beside] if beside else {}
    nontrivial = {v: numbers[v] for v in values if beside and not vacuous(beside, numbers[v])}
    return CostFit(
        learner=learner,
        cost=cost,
        values=values,
        left_out=tuple((value, reason) for value, reason in reasons.items() if reason),
        law=law,
        no_fit=no_fit,
        beside=beside,
        certified_exponent=slope(nontrivial),
    )


def _reason_left_out(runs: Sequence[Run], value: Value, cost: Cost, seeds: int) -> str | None:
    """Return why a size does not count, None if it does; seeds: number of runs at other sizes."""
    if not runs:
        return "no run"
    passed = sum(run.solved for run in runs)
    if passed < len(runs):
        return f"{passed} of {len(runs)} seeds solved"
    if value <= 0:
        return "a power law needs a value above 0"
    if any(run.used(cost) <= 0 for run in runs):
        return f"it took no {cost}"
    if len(runs) != seeds:
        return f"{len(runs)} seeds, and {seeds} at other sizes"
    return None


def power_law(
    sizes: Floats, costs: Floats, stream: BitStream, off: Floats | float = 0.0
) -> PowerLaw:
    """Fit the law a x^b to costs at K distinct sizes and S seeds.

    sizes: (K,), above 0, K >= 5. costs: (K, S), above 0. stream: for the bootstrap. off: (K,), a
    bound on the error of the mean logarithm at each size, as for middles of brackets.

    >>> x = np.arange(4.0, 10)
    >>> law = power_law(x, (5 * x**3)[:, None], BitStream(key(0, "example")))
    >>> round(law.exponent, 6), round(math.exp(law.log_constant), 6)
    (3.0, 5.0)
    """
    from scipy.special import stdtrit

    u, logs = np.log(sizes), np.log(costs)
    means, centred = logs.mean(axis=1), u - u.mean()
    weights = centred / (centred @ centred)
    rate = float(weights @ means)
    residual = means - means.mean() - rate * centred
    errors = _errors(weights, logs, residual, len(u) - 2)
    reach = max(error * float(stdtrit(freedom, (1 + CONFIDENCE) / 2)) for error, freedom in errors)
    reach = max(reach, float(np.sum(np.abs(weights) * off)))
    low, high = _bootstrap(
        centred / np.abs(centred).max(), logs - (means - residual)[:, None], stream
    )
    error = float(np.sqrt(residual @ residual / (len(u) - 2) * (weights @ weights)))
    resampled = (rate - high * error, rate - low * error)
    return PowerLaw(
        exponent=rate,
        low=min(rate - reach, resampled[0]),
        high=max(rate + reach, resampled[1]),
        bootstrap=resampled,
        log_constant=float(means.mean() - rate * u.mean()),
        misfit=float(np.sqrt(residual @ residual / len(u))),
    )


def _errors(
    weights: Floats, logs: Floats, residual: Floats, freedom: int
) -> Iterator[tuple[float, float]]:
    """Yield standard errors of weights @ means with their degrees of freedom: misfit, then seeds.

    The error by seeds is Welch's, with the degrees of freedom of [Sat46], since the scatter may
    depend on the size. There is none for a single seed.
    """
    least = _ROUNDING * float(np.sqrt(weights @ weights))
    misfit = np.sqrt(residual @ residual / freedom * (weights @ weights))
    yield max(float(misfit), least), freedom
    seeds = logs.shape[1]
    if seeds > 1:
        parts = weights**2 * logs.var(axis=1, ddof=1) / seeds
        if np.sqrt(parts.sum()) > least:
            shares = parts / parts.sum()
            yield float(np.sqrt(parts.sum())), float((seeds - 1) / (shares @ shares))


def _bootstrap(centred: Floats, residuals: Floats, stream: BitStream) -> tuple[float, float]:
    """Return the 2.5 % and 97.5 % quantiles of (slope - truth) / standard error by a bootstrap.

    It resamples the residuals (K, S) of all seeds from the law, each divided by sqrt(1 - leverage)
    of its size.
    """
    sizes, seeds = residuals.shape
    norm = centred @ centred
    leverage = 1 / sizes + centred**2 / norm
    pool = (residuals / np.sqrt(np.maximum(1 - leverage, _ROUNDING))[:, None]).ravel()
    pool -= pool.mean()
    means, block = np.empty((_RESAMPLES, sizes)), max(1, _BLOCK_NUMBERS // len(pool))
    for start in range(0, _RESAMPLES, block):
        count = min(block, _RESAMPLES - start)
        words = stream.words(start * len(pool), count * len(pool)) % np.uint64(len(pool))
        drawn = pool[words.astype(np.intp)].reshape(count, sizes, seeds)
        means[start : start + count] = drawn.mean(axis=2)
    slopes = means @ centred / norm
    rest = means - means.mean(axis=1, keepdims=True) - slopes[:, None] * centred
    error = np.sqrt((rest**2).sum(axis=1) / (sizes - 2) / norm)
    # If all resampled residuals are equal or zero, the error is 0, and the ratio is set to 0.
    ratios = np.divide(slopes, error, out=np.zeros(_RESAMPLES), where=error > _ROUNDING)
    tail = (1 - CONFIDENCE) / 2
    low, high = np.quantile(ratios, [tail, 1 - tail])
    return float(low), float(high)


# Certified numbers.


def slope(certified: Mapping[Value, int]) -> float | None:
    """Return b of the least-squares fit log(certified) = a + b log(size); None below two sizes.

    >>> slope({2: 12, 4: 48, 8: 192})
    2.0
    """
    if len(certified) < 2:
        return None
    logs = [math.log(n) for n in certified.values()]  # integers of any size
    return round(linear_regression([math.log(v) for v in certified], logs).slope, 12)


def _certified(quantity: str, numbers: Mapping[Value, int], theory: str) -> CertifiedGrowth:
    kept = {v: n for v, n in numbers.items() if n > 0 and v > 0 and not vacuous(quantity, n)}
    pairs = list(kept.items())
    return CertifiedGrowth(
        quantity=quantity,
        values=tuple(kept),
        vacuous=tuple(v for v in numbers if v not in kept),
        steps=tuple(
            Step(
                start=a,
                end=b,
                factor=write(Fraction(n, m), ratio=True),
                slope=(math.log(n) - math.log(m)) / (math.log(b) - math.log(a)),
            )
            for (a, m), (b, n) in pairwise(pairs)
        ),
        exponent=slope(kept),
        theory=theory,
    )


_THEORY = {  # how the number N of members grows with a parameter of a parity family
    "d": "N = C(d-1, m) is a polynomial of degree m = {m} in d; a step from d to d+1 multiplies it "
    "by d / (d-m)",
    "m": "N = C(d-1, m): a step from m to m+1 multiplies it by (d-1-m) / (m+1), here with d = {d}",
    "noise": "N does not depend on the noise",
}


def _theory(spec: str, parameter: str, quantity: str) -> str:
    """Describe the growth for hidden parities in closed form; empty for other families."""
    family = parse_stored(spec)
    if not (isinstance(family, Symmetric) and family.characters) or parameter not in _THEORY:
        return ""
    text = _THEORY[parameter].format(d=family.d, m=family.m)
    if quantity == "stat-queries":
        text += (
            "; the bound is (success N - K) / r, rounded up, r the whole part of "
            "(1 - 2 noise)^2 / (4 tau^2)"
        )
    elif quantity == "information-floor":
        text += "; the floor is log2(success N / K), rounded up"
    return text
