"""How costs and certified numbers grow over sizes: two laws, a x^b and a e^(c x), and which holds.

A size counts where every seed passed. The runs that passed at a size where others did not are a
choice of the cheap ones, and a line through them would be too flat.

Laws are fitted by least squares on the means, size by size, of the logarithms of costs. What is
estimated is the slope of the line that is nearest to the expected logarithms at the sizes run,
whether or not the law holds. Its error has two sources that are never taken for one another: how
far the means lie off the law, of which there is one a size, and how seeds scatter within a size. An
interval is the widest that a residual bootstrap, the first and the second source give, so it also
says something of costs without chance in them. docs/growth.md has the method,
docs/scaling-tables.md its coverage.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from hardness.claims import vacuous
from hardness.lower.record import text
from hardness.runs.ranges import Value
from hardness.runs.run import Run, judge
from hardness.upper import Outcome
from instances.errors import UsageError
from instances.parameters import plain
from instances.spec import parse_stored
from instances.streams import BitStream, key
from instances.threshold import rational

if TYPE_CHECKING:
    from hardness.runs.comparison import Comparison

Floats = NDArray[np.float64]
Cost = Literal["queries", "examples", "seconds"]
Verdict = Literal["power law", "exponential", "cannot tell"]
COSTS: tuple[Cost, ...] = ("queries", "examples", "seconds")
QUANTITIES = ("sq-dimension", "stat-queries", "csq-queries", "information-floor")
CONFIDENCE = 0.95
_BESIDE = {"queries": ("stat-queries", "csq-queries"), "examples": ("information-floor",)}
_LEAST_SIZES = 4  # three parameters of the test, and one degree of freedom to judge them by
_RESAMPLES = 999
_AT_ONCE = 1 << 20  # resampled logarithms in memory
_ROUNDING = 1e-9  # of logarithms: nearer than this to a law is on it
_COLLINEAR = 1e-6  # sizes so close together that log x is linear in x
_DEGREE = 10  # of the bent power laws that an exponential is held against
_BENT_BY = (1, 2, 3, 4, 6, 8)
_SHIFTS = 24  # a power of x, a factor of 2 apart


@dataclass(frozen=True, kw_only=True)
class Law:
    """A fitted law: log cost = log_constant + rate u, where u is log x or x.

    low, high: the 95 % interval of the rate. bootstrap: the part of it that the residual bootstrap
    alone gives. misfit: root mean square of how far the means of log costs lie off the law.
    """

    rate: float
    low: float
    high: float
    bootstrap: tuple[float, float]
    log_constant: float
    misfit: float


@dataclass(frozen=True, kw_only=True)
class Growth:
    """Both laws on the same costs, and the p-values at which each is refused for the other.

    bent_refused: the largest p-value among power laws with a constant, (c + x^p)^b, c >= 0, of
    degree p b <= 10. What a learner does once bends a power law as an exponential is bent, so the
    verdict "exponential" needs them refused too; None where the others rule it out already.
    """

    power: Law
    exponential: Law
    power_refused: float
    exponential_refused: float
    bent_refused: float | None

    @property
    def verdict(self) -> Verdict:
        """The law that is not refused where the other one is."""
        if _refuted(self.exponential_refused) and not _refuted(self.power_refused):
            return "power law"
        return "exponential" if _refuted(self.bent_refused) else "cannot tell"

    @property
    def reason(self) -> str:
        """What the verdict rests on."""
        power, exponential = self.power_refused, self.exponential_refused
        which = {
            (False, True): "the exponential law is refused, the power law is not",
            (True, True): "both laws are refused",
            (False, False): "neither law is refused",
            (True, False): "power laws are refused, the exponential law is not",
        }[_refuted(power), _refuted(exponential)]
        bent = ""
        if self.bent_refused is not None:
            bent = f", power law with a constant {self.bent_refused:.2g}"
            if not _refuted(self.bent_refused):
                which = "the power law is refused, but not with a constant added"
        return f"{which} (p-values: power law {power:.2g}{bent}, exponential {exponential:.2g})"


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

    def to_json(self) -> dict[str, Any]:
        """Write the fit as JSON, with its verdict and what that rests on."""
        grown = self.growth
        said = grown and asdict(grown) | {"verdict": grown.verdict, "reason": grown.reason}
        left_out = [{"value": _value(v), "reason": why} for v, why in self.left_out]
        values = [_value(v) for v in self.values]
        return asdict(self) | {"values": values, "left_out": left_out, "growth": said}


@dataclass(frozen=True, kw_only=True)
class Step:
    """From one size to the next: the exact factor, and the slope of its logarithm in log x."""

    start: Value
    end: Value
    factor: Fraction
    slope: float

    def to_json(self) -> dict[str, Any]:
        """Write the step as JSON, the factor as an exact rational."""
        ends = {"start": _value(self.start), "end": _value(self.end)}
        return ends | {"factor": text(rational(self.factor)), "slope": self.slope}


@dataclass(frozen=True, kw_only=True)
class Certified:
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

    def to_json(self) -> dict[str, Any]:
        """Write the growth of a quantity as JSON."""
        return vars(self) | {
            "values": [_value(v) for v in self.values],
            "vacuous": [_value(v) for v in self.vacuous],
            "steps": [step.to_json() for step in self.steps],
        }


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
            "fits": [fit.to_json() for fit in self.fits],
            "certified": [one.to_json() for one in self.certified],
        }


def _value(value: Value) -> int | str:
    return value if isinstance(value, int) else plain(value)


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


def _fit(comparison: "Comparison", learner: str, cost: Cost, every: dict[Value, list[Run]]) -> Fit:
    numbers_of_runs = [len(runs) for runs in every.values() if runs]
    seeds = max(numbers_of_runs, key=numbers_of_runs.count)  # of a store's slice they may differ
    reasons = {value: _out(runs, value, cost, seeds) for value, runs in every.items()}
    values = tuple(value for value, reason in reasons.items() if not reason)
    costs = np.array([[getattr(run.usage, cost) for run in every[v]] for v in values], np.float64)
    grown = no_fit = None
    if len(values) < _LEAST_SIZES:
        no_fit = (
            f"{len(values)} sizes count, {_LEAST_SIZES} are needed, each with every seed passed"
        )
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
    return Fit(
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
    from scipy.stats import linregress

    if len(values) < 2:
        return None
    places = [float(v) for v in values]
    logs = [math.log(n) for n in certified]  # integers of any size
    line = linregress(places if exponential else [math.log(x) for x in places], logs)
    return round(float(line.slope), 12)


def _certified(comparison: "Comparison", quantity: str) -> Certified:
    every = numbers(comparison, quantity)
    kept = {v: n for v, n in every.items() if n > 0 and v > 0 and not vacuous(quantity, n)}
    values, found = tuple(kept), tuple(kept.values())
    return Certified(
        quantity=quantity,
        values=values,
        vacuous=tuple(v for v in every if v not in kept),
        steps=tuple(
            Step(
                start=a,
                end=b,
                factor=Fraction(n, m),
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
    family = parse_stored(comparison.specs[0]).characters
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


# Laws.


def growth(sizes: Floats, costs: Floats, stream: BitStream) -> Growth:
    """Fit both laws and test each against the other, at K distinct sizes and S seeds.

    sizes: (K,), above 0, K >= 4; costs: (K, S), above 0; stream: of the bootstrap.

    Each law is tested within the model that has both regressors, by Student's t: the J test of
    [DM81], which is exact here for normal errors. Raises UsageError for other arrays.

    >>> from instances.streams import key
    >>> x = np.arange(4.0, 10)
    >>> found = growth(x, (5 * x**3)[:, None], BitStream(key(0, "example")))
    >>> round(found.power.rate, 6), found.verdict
    (3.0, 'power law')
    """
    if sizes.ndim != 1 or costs.ndim != 2 or len(sizes) != len(costs) or not costs.shape[1]:
        raise UsageError(
            f"sizes {sizes.shape} and costs {costs.shape} given: (K,) and (K, S) are needed, S >= 1"
        )
    if len(np.unique(sizes)) < max(_LEAST_SIZES, len(sizes)):
        raise UsageError(f"{len(sizes)} sizes given: at least {_LEAST_SIZES} different are needed")
    if not all(np.isfinite(v).all() and (v > 0).all() for v in (sizes, costs)):
        raise UsageError("sizes or costs given that are not finite and above 0: leave them out")
    logs = np.log(costs)
    power, exponential = (_law(u, logs, stream) for u in (np.log(sizes), sizes))
    against_power = _refused(np.log(sizes), sizes, logs)
    against_exponential = _refused(sizes, np.log(sizes), logs)
    possible = _refuted(against_power) and not _refuted(against_exponential)
    return Growth(
        power=power,
        exponential=exponential,
        power_refused=against_power,
        exponential_refused=against_exponential,
        bent_refused=max(_bent(sizes, logs)) if possible else None,
    )


def _refuted(p_value: float | None) -> bool:
    return p_value is not None and p_value <= 1 - CONFIDENCE


def _law(u: Floats, logs: Floats, stream: BitStream) -> Law:
    from scipy.stats import linregress, t

    means, freedom, centred = logs.mean(axis=1), len(u) - 2, u - u.mean()
    line = linregress(u, means)
    rate = float(line.slope)
    # Its own errors are of 1 - r^2, which is rounding where the law is exact.
    residual = means - means.mean() - rate * centred
    weights = centred / (centred @ centred)
    error = float(np.sqrt(residual @ residual / freedom * (weights @ weights)))
    scattered = logs - (means - residual)[:, None]
    low, high = _bootstrap(centred / np.abs(centred).max(), scattered, stream)
    resampled = (rate - high * error, rate - low * error)
    reach = max(
        each * float(t.ppf((1 + CONFIDENCE) / 2, free))
        for each, free in _errors(weights, logs, residual, freedom)
    )
    return Law(
        rate=rate,
        low=min(rate - reach, resampled[0]),
        high=max(rate + reach, resampled[1]),
        bootstrap=resampled,
        log_constant=float(line.intercept),
        misfit=float(np.sqrt(residual @ residual / len(u))),
    )


def _errors(
    weights: Floats, logs: Floats, residual: Floats, freedom: int
) -> Iterator[tuple[float, float]]:
    """Standard errors of weights @ means with their degrees of freedom: of misfit, and of seeds.

    That of seeds is Welch's, with the degrees of freedom of [Sat46]: sizes may scatter unequally.
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
    """Quantiles of (slope - truth) / its standard error, from resampled residuals of all seeds.

    residuals: (K, S), about the law. Each is divided by sqrt(1 - leverage) of its size first.
    """
    sizes, seeds = residuals.shape
    norm = centred @ centred
    leverage = 1 / sizes + centred**2 / norm
    pool = (residuals / np.sqrt(np.maximum(1 - leverage, _ROUNDING))[:, None]).ravel()
    pool -= pool.mean()
    means, block = np.empty((_RESAMPLES, sizes)), max(1, _AT_ONCE // len(pool))
    for start in range(0, _RESAMPLES, block):
        count = min(block, _RESAMPLES - start)
        words = stream.words(start * len(pool), count * len(pool)) % np.uint64(len(pool))
        drawn = pool[words.astype(np.intp)].reshape(count, sizes, seeds)
        means[start : start + count] = drawn.mean(axis=2)
    slopes = means @ centred / norm
    rest = means - means.mean(axis=1, keepdims=True) - slopes[:, None] * centred
    error = np.sqrt((rest**2).sum(axis=1) / (sizes - 2) / norm)
    # Every residual drawn equal, or none of any size, says nothing: the ratio is 0 there.
    found = np.divide(slopes, error, out=np.zeros(_RESAMPLES), where=error > _ROUNDING)
    tail = (1 - CONFIDENCE) / 2
    low, high = np.quantile(found, [tail, 1 - tail])
    return float(low), float(high)


def _refused(law: Floats, other: Floats, logs: Floats) -> float:
    """The p-value of a law: does the other's regressor add to it more than chance and misfit do."""
    from scipy.special import stdtr

    means, (own, more) = logs.mean(axis=1), map(_unit, (law, other))
    extra = more - (more @ own) * own
    if np.sqrt(extra @ extra) < _COLLINEAR:
        return 1.0
    extra = _unit(extra)
    centred = means - means.mean()
    residual = centred - (centred @ own) * own - (centred @ extra) * extra
    return max(
        float(2 * stdtr(freedom, -abs(extra @ centred) / error))
        for error, freedom in _errors(extra, logs, residual, len(means) - 3)
    )


def _bent(sizes: Floats, logs: Floats) -> Iterator[float]:
    """P-values of (c + x^p)^b with p b <= 10, c on a grid up to where it is an exponential."""
    means = logs.mean(axis=1)
    least = sizes / sizes.min()
    yield _refused(np.log(sizes), sizes, logs)
    for power in _BENT_BY:
        for shift in 2.0 ** np.arange(-2, _SHIFTS - 2):
            u = np.log(shift + least**power)
            centred = u - u.mean()
            degree = power * float(centred @ means) / float(centred @ centred)
            if 0 <= degree <= _DEGREE:
                yield _refused(u, sizes, logs)


def _unit(values: Floats) -> Floats:
    centred = values - values.mean()
    return np.asarray(centred / np.sqrt(centred @ centred), np.float64)
