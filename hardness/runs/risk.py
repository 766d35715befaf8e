"""The relative risk of a hypothesis on fresh examples, with an interval valid at any sample size.

The risk is E||F - F^||^2 divided by that of the baseline, which knows the family alone. The
baseline of a family that adds heads to a hidden part knows these heads. F = E[Y|X], so
label noise is not counted. Predictions are first projected on a convex set that contains F(x),
which never raises the risk and bounds the loss. The interval is the empirical Bernstein bound
[MP09]. The scale and the bound of the loss depend on the labels: codes, real labels of softmax
layers, or cubic ones of linear layers. Predictions that are not a function of the tokens have no
such risk, and are refused. (docs/mathematics.md, sections 31 and 34)
"""

import math
import sys
from collections.abc import Callable, Iterator
from functools import lru_cache, partial
from itertools import pairwise
from typing import Annotated, Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from hardness.learners.learner import Failed, Outcome, Predict
from instances.coded import Coded
from instances.cubic import coefficients, evaluate, power, reach
from instances.dense import Dense
from instances.errors import ToolkitError, UsageError
from instances.family import Examples, Instance
from instances.limits import require_memory
from instances.streams import BitStream, generator, key
from instances.tokens import gaussian

SOLVED_BELOW, CONFIDENCE = 0.05, 0.95
# Most calls in a repetition: a function that differs in a fraction q of its calls passes with
# probability (1 - q)^64.
CALLS = 64
_REPEATED_PART = 8  # one example in so many is predicted a second time
_TOLERANCE = 1e-3  # relative, of repeated predictions: above rounding, too small for the risk
_EVALUATE, _FEW, _PILOT = 16384, 2048, 1024  # numbers of examples: usual, least, of the pilot
# Examples and confidence of the two looks of `settled`; both together err with at most 5 %.
LOOKS = ((_EVALUATE // 4, 0.99), (None, 0.96))
_BATCH_NUMBERS, _MOST_NUMBERS, _WORK = 1 << 21, 1 << 26, 1 << 23
_SOLVED_PART, _RANGE_PART = 0.04, 0.03  # of the scale: most that the range adds to a risk of 0
_TAIL_PART = 0.004  # of the scale: most that the cut of long tokens adds
_ROUNDING = 1e-9  # relative difference that another machine's floating point may cause
_EQUAL_LABELS = 1e-22  # of the squared labels: what rounding leaves of labels that are all equal
_TILT = 6  # degrees of freedom that the tilt adds: the degree of the squared labels

Array = NDArray[np.float64]


_Finite = Annotated[float, msgspec.Meta(ge=0, le=sys.float_info.max)]


class Risk(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A relative risk: 0 is the true function, 1 the baseline that knows the family alone.

    low, high: the interval; high is infinite if the scale of the labels may be 0. examples: the
    informative ones, since the others have no loss. unclipped: the risk of the predictions before
    the projection, None beyond float64. Raises ValueError for a value outside of its interval.
    """

    value: _Finite
    low: _Finite
    high: Annotated[float, msgspec.Meta(ge=0)]
    confidence: Annotated[float, msgspec.Meta(gt=0, lt=1)]
    examples: Annotated[int, msgspec.Meta(gt=0, le=2**63 - 1)]
    unclipped: _Finite | None

    def __post_init__(self) -> None:
        if not self.low * (1 - _ROUNDING) <= self.value <= self.high * (1 + _ROUNDING):
            raise ValueError(f"a risk of {self.value} in [{self.low}, {self.high}]")


def measure(
    instance: Instance,
    predict: Predict,
    examples: int | None = None,
    confidence: float = CONFIDENCE,
) -> Risk | None:
    """Measure a prediction function on fresh examples; None if it gives invalid values.

    predict: (n, k, d) tokens -> (n, k, d) labels. The examples are drawn from a stream that no
    learner sees. One in eight is predicted a second time, in up to 64 batches. Raises Failed if a
    prediction then differs.

    >>> from instances import parse
    >>> instance = parse("parity:d=8,m=3").instance(0)
    >>> measure(instance, instance.layer()).value < 1e-20
    True
    >>> instance = parse("nice:m=2,k=2,d=8").instance(0)
    >>> measure(instance, instance.family.known).value
    1.0
    """
    repeated, family = Repeated(predict), instance.family
    if isinstance(family, Coded):
        risk = _of_codes(instance, family, repeated, examples, confidence)
    elif isinstance(family, Dense) and family.kind == "linear":
        risk = _of_cubic(instance, family, repeated, examples, confidence)
    elif isinstance(family, Dense):
        risk = _of_numbers(instance, family, repeated, examples, confidence)
    else:
        lacking = f"{family.lacks('coded')} {family.lacks('real_labels')}"
        raise UsageError(f"no relative risk is defined: {lacking}")
    if risk is not None and not repeated.same(instance):
        reason = "predictions of the same tokens differ from one call to another"
        raise Failed(Outcome.INVALID, {"reason": reason})
    return risk


Judge = Callable[[Instance, Predict], Risk | None]


def settled(instance: Instance, predict: Predict) -> Risk | None:
    """Measure a risk only as precisely as needed to compare it with 0.05.

    A quarter of the usual examples decides at 99 % if the risk is far from 0.05. Otherwise all
    examples are used at 96 %. The interval is wrong with probability at most 5 %.

    >>> from instances import parse
    >>> instance = parse("parity:d=8,m=3").instance(0)
    >>> settled(instance, instance.family.known).confidence
    0.99
    """
    for examples, confidence in LOOKS:
        risk = measure(instance, predict, examples, confidence)
        if risk is None or not risk.low <= SOLVED_BELOW < risk.high:
            break
    return risk


def _between(low: float, value: float, high: float) -> float:
    """Clip a mean to its interval; rounding or a token beyond the cut may place it outside."""
    return min(max(low, value), high)


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def valid_predictions(predict: Predict, x: NDArray[Any]) -> NDArray[Any] | None:
    """Predict labels (n, k, d); None if they are not finite real numbers of this shape."""
    with np.errstate(all="ignore"):  # an overflow is not finite, and is refused here
        labels = np.asarray(predict(x))
    good = labels.shape == x.shape and labels.dtype.kind in "fiu" and np.isfinite(labels).all()
    return labels if good else None


def _predicted(
    instance: Instance, predict: Predict, examples: int, mean: Callable[[Any], Array]
) -> Iterator[tuple[Any, Array, NDArray[Any] | None]]:
    """Yield examples, F of them, and predictions, batch by batch.

    mean: computes F of examples. Predictions are None if they are invalid.
    """
    family = instance.family
    batch = max(16, _BATCH_NUMBERS // (family.k * family.d))
    for start in range(0, examples, batch):
        drawn = instance.examples(start, min(batch, examples - start), axis="evaluate")
        target = mean(drawn)
        yield drawn, target, valid_predictions(predict, np.array(drawn.x))  # it may change its copy


# Labels that are codes. The family determines the scale and the range of the loss.


def _of_codes(
    instance: Instance,
    family: Coded,
    predict: Predict,
    examples: int | None,
    confidence: float,
) -> Risk | None:
    """Measure the risk on informative examples, whose label lies on a segment with known ends."""
    examples = examples or _usual_examples(family, confidence)
    scale, bound = family.trivial_risk, family.risk_bound
    losses, raw = [], 0.0
    mean = partial(family.mean_on, instance.hidden.secret)
    for drawn, target, labels in _predicted(instance, predict, examples, mean):
        if labels is None:
            return None
        rows = family.open(drawn.words)
        # Target and clipped prediction are 0 in all columns except the first.
        clipped = family.clip(drawn.x[rows, :, 0], labels[rows, :, 0].astype(np.float64))
        losses.append(((target[rows, :, 0] - clipped) ** 2).sum(axis=1))
        with np.errstate(over="ignore"):
            errors = np.subtract(target, labels, out=target)  # a new array of this size is slow
            raw += float(np.square(errors, out=errors).sum())
    loss = np.concatenate(losses) / scale
    low, high = bernstein(loss, bound, confidence)
    return _risk(loss, low, min(bound, high), confidence, raw / len(loss) / scale)


def _risk(loss: Array, low: float, high: float, confidence: float, unclipped: float) -> Risk:
    """Make the risk from relative losses and their interval."""
    return Risk(
        value=_between(low, float(loss.mean()), high),
        low=low,
        high=high,
        confidence=confidence,
        examples=len(loss),
        unclipped=_finite(unclipped),
    )


def _usual_examples(family: Coded, confidence: float) -> int:
    """Choose the number of examples: enough to show that a run solved, and fewer for large d.

    About half of them are informative.
    """
    range_term = 14 * family.risk_bound * math.log(4 / (1 - confidence)) / 3
    few = max(_FEW, math.ceil(range_term / _SOLVED_PART))
    return max(few, min(_EVALUATE, _WORK // family.d))


# Labels of softmax layers. A projection bounds the loss, and a cut bounds the gaussian tails. Loss
# and scale are both estimated, each with half of the allowed failure probability.


def _of_numbers(
    instance: Instance,
    family: Dense,
    predict: Predict,
    examples: int | None,
    confidence: float,
) -> Risk | None:
    """Measure E||F - F^||^2 / E||F - known||^2, both sampled, on tokens drawn by the family."""
    secret = instance.hidden.secret
    size = family.reach(secret)
    pilot = instance.examples(0, _PILOT, axis="evaluate-pilot")
    means = family.mean(secret, pilot.x) - family.beside(secret, pilot.x)
    scale = float(((means - family.known(pilot.x)) ** 2).sum()) / _PILOT
    if scale <= _EQUAL_LABELS * float((means**2).sum()) / _PILOT:
        raise ToolkitError(
            f"{family}: on {_PILOT} examples the labels are zero, or all equal up to rounding, so "
            "no relative risk is measured"
        )
    longest, tail = cut_of_tokens(family, size, scale)
    # If the known part is a constant other than zero, a prediction may be at that distance.
    constant = float((family.known(pilot.x[:1]) ** 2).sum(axis=2).max())
    part = 1 if constant else 4
    longest = max(longest, constant / size**2 if size else 0.0)
    bound = 4 * family.k * size**2 * longest  # of the loss on one example
    log_term = math.log(8 / (1 - confidence))
    wanted = math.ceil(7 * bound * log_term / (3 * _RANGE_PART * scale)) if scale else _FEW
    numbers = family.k * family.d
    examples = examples or min(max(_EVALUATE, wanted), max(_FEW, _MOST_NUMBERS // numbers))
    losses, norms, kept, raw = [], [], [], 0.0

    def mean(drawn: Examples) -> Array:
        return family.mean(secret, drawn.x) if family.noise else drawn.y

    for drawn, target, labels in _predicted(instance, predict, examples, mean):
        if labels is None:
            return None
        squares = _longest(drawn.x[:, :, family.reached[0]])
        # On short tokens the known part may be longer than F. It is not shortened: its risk is 1.
        known = np.sqrt((family.known(drawn.x) ** 2).sum(axis=2))
        farthest = np.maximum(size * np.sqrt(squares)[:, None], known)
        beside = family.beside(secret, drawn.x)
        hidden, predicted = target - beside, labels - beside
        losses.append(((hidden - shorten(predicted, farthest)) ** 2).sum(axis=(1, 2)))
        norms.append(((hidden - family.known(drawn.x)) ** 2).sum(axis=(1, 2)))
        kept.append(squares <= longest)
        with np.errstate(over="ignore"):
            raw += float(((target - labels) ** 2).sum())
    loss, norm, inside = (np.concatenate(parts) for parts in (losses, norms, kept))
    half = (1 + confidence) / 2
    low, high = bernstein(loss * inside, bound, half)
    small, large = bernstein(norm * inside, bound / part, half)
    total = float(norm.sum())
    if not total:
        raise ToolkitError(f"{family}: the labels are zero, so no relative risk is defined")
    low = low / (large + tail / part)
    high = (high + tail) / small if small > 0 else math.inf
    return Risk(
        value=_between(low, float(loss.sum()) / total, high),
        low=low,
        high=high,
        confidence=confidence,
        examples=examples,
        unclipped=_finite(raw / total),
    )


def cut_of_tokens(family: Dense, reach: float, scale: float) -> tuple[float, float]:
    """Choose the largest squared token length T of the interval, and bound the loss beyond T.

    If tokens are bounded, T is their largest squared length. Otherwise each of k tokens has
    |x_j| <= c + |z|, with z normal in r dimensions and c = 1 if there is a constant, else 0. For
    T = (c + b)^2 the loss of longer tokens is at most
    4 k reach^2 E max_j |x_j|^2 1[|x_j|^2 > T] <= 4 k^2 reach^2 (c + r^1/2)^2 Pr[chi2(r+2) > b^2].
    """
    law = family.reached[1]
    if law.longest is not None:
        return law.longest, 0.0
    from scipy.stats import chi2

    offset, rank = float(law.constant), law.free
    factor = 4 * family.k**2 * reach**2 * (offset + math.sqrt(rank)) ** 2
    part = min(0.5, _TAIL_PART * scale / factor) if factor else 0.5
    square = float(chi2.isf(part, rank + 2))
    return (offset + math.sqrt(square)) ** 2, factor * float(chi2.sf(square, rank + 2))


# Labels of linear attention. The scale is known exactly, and tails are sampled. A loss is at most
# 4 r^2 |X|^6. So under the distribution reweighted by |X|^6, loss / |X|^6 is a bounded variable.
# There |X|^2 has six more degrees of freedom.


def _of_cubic(
    instance: Instance,
    family: Dense,
    predict: Predict,
    examples: int | None,
    confidence: float,
) -> Risk | None:
    """Measure E||F - F^||^2 / E||F||^2 by importance sampling with reweighted tokens."""
    require_memory(64 * family.d**4, f"the cubic map of {family}")
    layer = instance.layer()
    cubic = coefficients(layer.theta, layer.w)
    scale, size = power(cubic, family.k, family.tokens), reach(cubic)
    if not scale:
        raise ToolkitError(f"{family}: the labels are zero, so no relative risk is defined")
    numbers = family.k * family.d
    mean_power = _sixth_moment(numbers, family.tokens)
    bound = 4 * size**2 * mean_power / scale  # of the weighted loss, relative
    wanted = math.ceil(bound * math.log(4 / (1 - confidence)) / _RANGE_PART)
    examples = examples or min(max(_EVALUATE, wanted), max(_FEW, _MOST_NUMBERS // numbers))
    many_heads = family.m * family.k > family.d**2 / 2  # the cubic map is cheaper than the heads
    batch, losses, raw = max(16, _BATCH_NUMBERS // 2 // numbers), [], 0.0
    for start in range(0, examples, batch):
        x, weight = _tilted(instance, family, start, min(batch, examples - start))
        target = evaluate(cubic, x) if many_heads else layer(x)
        labels = valid_predictions(predict, x.copy())  # it may change its copy
        if labels is None:
            return None
        longest = size * lengths(x)
        clipped = shorten(labels.astype(np.float64), longest)
        losses.append(((target - clipped) ** 2).sum(axis=(1, 2)) * weight / scale)
        with np.errstate(over="ignore"):
            raw += float((((target - labels) ** 2).sum(axis=(1, 2)) * weight).sum())
    loss = np.concatenate(losses)
    half = (1 + confidence) / 2
    (low, high), (least, most) = bernstein(loss, bound, half), chernoff(loss, bound, half)
    return _risk(loss, max(low, least), min(high, most), confidence, raw / len(loss) / scale)


def _sixth_moment(numbers: int, tokens: str) -> float:
    """Return E|X|^6 for `numbers` = k d independent signs or standard normal variables."""
    if tokens == "boolean":
        return float(numbers**3)
    return float(numbers * (numbers + 2) * (numbers + 4))


def _tilted(instance: Instance, family: Dense, start: int, count: int) -> tuple[Array, Array]:
    """Draw tokens (count, k, d) reweighted by |X|^6, with the weight E|X|^6 / |X|^6 of each."""
    seed, numbers = instance.hidden.seed, family.k * family.d
    x = family.inputs(seed, "evaluate", start, count).astype(np.float64)
    if family.tokens == "gaussian":
        stream = BitStream(key(seed, "tilt", "evaluate"))
        extra = (gaussian(stream, start, count, 1, _TILT) ** 2).sum(axis=(1, 2))
        x *= np.sqrt(1 + extra / (x**2).sum(axis=(1, 2)))[:, None, None]
    return x, _sixth_moment(numbers, family.tokens) / (x**2).sum(axis=(1, 2)) ** 3


def _longest(x: NDArray[Any]) -> Array:
    """Return |x|^2 of the longest token: (n, k, d) -> (n,)."""
    return np.asarray((x.astype(np.float64) ** 2).sum(axis=2).max(axis=1))


def lengths(x: Array) -> Array:
    """Return |x_a| |X^T X|_F for each row x_a: (n, k, d) -> (n, k)."""
    rows = np.sqrt((x**2).sum(axis=2))
    pairs = x @ x.transpose(0, 2, 1)
    return np.asarray(rows * np.sqrt((pairs**2).sum(axis=(1, 2)))[:, None])


# Bounds and projections.


def bernstein(values: Array, bound: float, confidence: float) -> tuple[float, float]:
    """Return an interval for the mean of independent values in [0, bound]. [MP09]

    >>> low, high = bernstein(np.ones(1000), 1.0, 0.95)
    >>> 0.98 < low < 1 < high < 1.02
    True
    """
    n = len(values)
    mean, variance = float(values.mean()), float(values.var(ddof=1))
    log_term = math.log(4 / (1 - confidence))
    radius = math.sqrt(2 * variance * log_term / n) + 7 * bound * log_term / (3 * (n - 1))
    return max(0.0, mean - radius), mean + radius


def chernoff(values: Array, bound: float, confidence: float) -> tuple[float, float]:
    """Return an interval for the mean of independent values in [0, bound], by relative entropy.

    In units of the bound, its ends p satisfy n kl(observed, p) = log(2 / failure). [Hoe63]

    >>> low, high = chernoff(np.zeros(1000), 1.0, 0.95)
    >>> low, round(high, 6) == round(1 - 0.025 ** (1 / 1000), 6)
    (0.0, True)
    """
    from scipy.optimize import brentq
    from scipy.special import rel_entr

    observed = min(1.0, float(values.mean()) / bound)
    goal = math.log(2 / (1 - confidence)) / len(values)

    def excess(p: float) -> float:
        return float(rel_entr(observed, p) + rel_entr(1 - observed, 1 - p)) - goal

    low = brentq(excess, 1e-300, observed) if observed > 1e-290 and excess(1e-300) > 0 else 0.0
    high = brentq(excess, observed, 1.0 - 1e-16) if excess(1.0 - 1e-16) > 0 else 1.0
    return float(low) * bound, float(high) * bound


@lru_cache(4096)
def interval(passes: int, runs: int, confidence: float = CONFIDENCE) -> tuple[float, float]:
    """Return the Clopper–Pearson interval for a probability from passes out of runs. [CP34]

    >>> [round(end, 3) for end in interval(3, 3)]
    [0.292, 1.0]
    """
    from scipy.special import betaincinv  # scipy.stats takes seconds to import

    tail = (1 - confidence) / 2
    low = betaincinv(passes, runs - passes + 1, tail) if passes else 0.0
    high = betaincinv(passes + 1, runs - passes, 1 - tail) if passes < runs else 1.0
    return float(low), float(high)


def shorten(rows: Array, longest: Array) -> Array:
    """Project rows (n, k, d) on balls around 0 with the radii `longest`, (n, k) or (n, 1)."""
    with np.errstate(over="ignore"):
        length = np.sqrt((rows**2).sum(axis=2))
    limit = np.broadcast_to(longest, length.shape)
    long = length > limit
    if not long.any():
        return rows
    out = rows.copy()
    # Dividing by the largest entry first avoids an overflow of the squares.
    largest = np.abs(rows[long]).max(axis=1, keepdims=True)
    direction = rows[long] / largest
    direction /= np.sqrt((direction**2).sum(axis=1, keepdims=True))
    out[long] = direction * limit[long][:, None]
    return out


# A hypothesis must be a function of tokens, with equal predictions in other batches. If it drew
# random numbers in each call, the losses of a call would depend on each other, and the interval,
# which is for independent examples, would not be valid.


class Repeated:
    """A prediction function that records a part of its calls, and can check that they repeat.

    >>> from instances import parse
    >>> instance = parse("parity:d=8,m=3").instance(0)
    >>> fixed, counted = Repeated(instance.layer()), Repeated(lambda x: np.full(x.shape, len(x)))
    >>> x = instance.examples(0, 100).x
    >>> _ = fixed(x), counted(x)
    >>> fixed.same(instance), counted.same(instance)
    (True, False)
    """

    def __init__(self, predict: Predict) -> None:
        """Wrap a prediction function: (n, k, d) -> (n, k, d)."""
        self._predict = predict
        self._tokens: list[NDArray[Any]] = []
        self._labels: list[NDArray[Any]] = []

    def __call__(self, x: NDArray[Any]) -> NDArray[Any]:
        """Predict, and record every eighth example with its prediction."""
        tokens = x[::_REPEATED_PART].copy()  # the function may change x
        labels = np.asarray(self._predict(x))
        if labels.shape == x.shape:  # the caller refuses other shapes
            self._tokens.append(tokens)
            self._labels.append(labels[::_REPEATED_PART].copy())
        return labels

    def same(self, instance: Instance) -> bool:
        """Predict again: are all predictions equal up to a thousandth of the size of labels?"""
        labels = instance.family.mean(instance.hidden.secret, np.concatenate(self._tokens))
        return self.again(labels, instance.hidden.seed)

    def again(self, labels: Array, seed: int) -> bool:
        """Predict again in another order and in up to 64 batches of growing size; are all equal?

        labels: their mean norm sets the tolerance. Only for valid predictions.
        """
        x, y = np.concatenate(self._tokens), np.concatenate(self._labels).astype(np.float64)
        size = _TOLERANCE * float(np.sqrt((labels**2).sum(axis=(1, 2)).mean()))
        order = generator(seed, "repeated").permutation(len(x))
        cuts = np.unique([1, *(np.arange(1, CALLS) ** 2 * len(x) // CALLS**2)])
        x, y, again = x[order], y[order], np.empty(y.shape)
        for start, end in pairwise([0, *cuts.tolist(), len(x)]):
            if start < end:
                predicted = valid_predictions(self._predict, x[start:end])
                if predicted is None:
                    return False
                again[start:end] = predicted
        with np.errstate(over="ignore"):  # a difference beyond float64 is infinite
            return bool((np.abs(again - y) <= size + _TOLERANCE * np.abs(y)).all())
