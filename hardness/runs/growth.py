"""Two laws of growth fitted to costs, a x^b and a e^(c x), and which of them holds.

Laws are fitted by least squares on the means, size by size, of the logarithms of costs. What is
estimated is the slope of the line that is nearest to the expected logarithms at the sizes run,
whether or not the law holds. Its error has two sources that are never taken for one another: how
far the means lie off the law, of which there is one a size, and how seeds scatter within a size. An
interval is the widest that a residual bootstrap, the first and the second source give, so it also
says something of costs without chance in them. docs/growth.md has the method,
docs/scaling-tables.md its coverage.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from instances.streams import BitStream

Floats = NDArray[np.float64]
Verdict = Literal["power law", "exponential", "cannot tell"]
CONFIDENCE = 0.95
LEAST_SIZES = 4  # three parameters of the test, and one degree of freedom to judge them by
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


def growth(sizes: Floats, costs: Floats, stream: BitStream) -> Growth:
    """Fit both laws and test each against the other, at K distinct sizes and S seeds.

    sizes: (K,), above 0, K >= 4; costs: (K, S), above 0; stream: of the bootstrap.

    Each law is tested within the model that has both regressors, by Student's t: the J test of
    [DM81], which is exact here for normal errors.

    >>> from instances.streams import key
    >>> x = np.arange(4.0, 10)
    >>> found = growth(x, (5 * x**3)[:, None], BitStream(key(0, "example")))
    >>> round(found.power.rate, 6), found.verdict
    (3.0, 'power law')
    """
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
    from scipy.special import stdtrit

    means, centred = logs.mean(axis=1), u - u.mean()
    weights = centred / (centred @ centred)
    rate = float(weights @ means)
    residual = means - means.mean() - rate * centred
    errors = _errors(weights, logs, residual, len(u) - 2)
    reach = max(error * float(stdtrit(freedom, (1 + CONFIDENCE) / 2)) for error, freedom in errors)
    low, high = _bootstrap(
        centred / np.abs(centred).max(), logs - (means - residual)[:, None], stream
    )
    error = float(np.sqrt(residual @ residual / (len(u) - 2) * (weights @ weights)))
    resampled = (rate - high * error, rate - low * error)
    return Law(
        rate=rate,
        low=min(rate - reach, resampled[0]),
        high=max(rate + reach, resampled[1]),
        bootstrap=resampled,
        log_constant=float(means.mean() - rate * u.mean()),
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
