"""The risk of a hypothesis on fresh examples, with a confidence interval that holds at any size.

E||F - F^||^2 over that of the baseline, which knows the family alone, and what stands beside
the hidden part where a family adds to it; F = E[Y|X], so label noise does not count against a
learner. Predictions are first projected on a convex set that F(x)
lies in, which never raises the risk and bounds the loss; the interval is the empirical Bernstein
bound [MP09]. How the scale is known, and how far a loss may go, is a matter of the labels' kind:
codes, real labels, cubic ones. Predictions that are not a function of the tokens have no such risk,
and are refused. (docs/mathematics.md, sections 31 and 34)
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
CALLS = 64  # of a repetition, at most: who differs in a share q of its calls passes by (1 - q)^64
_PART = 8  # one token pair in so many is asked for again
_SAME = 1e-3  # of labels' size and of predictions': more than rounding moves, no risk's worth
_EVALUATE, _FEW, _PILOT = 16384, 2048, 1024  # examples
LOOKS = ((_EVALUATE // 4, 0.99), (None, 0.96))  # of which any may err, with 5 % together
_BATCH_NUMBERS, _MOST_NUMBERS, _WORK = 1 << 21, 1 << 26, 1 << 23
_SOLVED_PART, _RANGE_PART = 0.04, 0.03  # of the scale: what the range may add to a risk of 0
_TAIL_PART = 0.004  # of the scale: what the cut of long tokens may add
_CLOSE = 1e-9  # what another machine's floating point may differ by
_EQUAL = 1e-22  # of the squared labels: what rounding alone leaves of labels that are all equal
_TILT = 6  # degrees of freedom of the tilt: the degree of the squared labels

Array = NDArray[np.float64]


_Finite = Annotated[float, msgspec.Meta(ge=0, le=sys.float_info.max)]


class Risk(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A relative risk: 1 is having learned nothing, 0 having learned all.

    Raises ValueError for a value outside of its interval.
    """

    value: _Finite
    low: _Finite
    high: Annotated[float, msgspec.Meta(ge=0)]  # infinite where labels' scale may be 0
    confidence: Annotated[float, msgspec.Meta(gt=0, lt=1)]
    # with an unknown label part; the others carry no loss
    examples: Annotated[int, msgspec.Meta(gt=0, le=2**63 - 1)]
    unclipped: _Finite | None  # of predictions as given, on all tokens; None beyond float64

    def __post_init__(self) -> None:
        if not self.low * (1 - _CLOSE) <= self.value <= self.high * (1 + _CLOSE):
            raise ValueError(f"a risk of {self.value} in [{self.low}, {self.high}]")


def measure(
    instance: Instance,
    predict: Predict,
    examples: int | None = None,
    confidence: float = CONFIDENCE,
) -> Risk | None:
    """Measure a prediction function on fresh examples; None if it gives invalid values.

    predict: (n, k, d) tokens -> (n, k, d) labels. The examples come from a stream of their own, so
    they differ from all that a learner saw. One in eight is asked for again, in up to 64 batches;
    raises Failed(RANDOMISED) where a prediction is then another one.

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
        found = _of_codes(instance, family, repeated, examples, confidence)
    elif isinstance(family, Dense) and family.kind == "linear":
        found = _of_cubic(instance, family, repeated, examples, confidence)
    elif isinstance(family, Dense):
        found = _of_numbers(instance, family, repeated, examples, confidence)
    else:
        lacking = f"{family.lacks('coded')} {family.lacks('real_labels')}"
        raise UsageError(f"no relative risk is defined: {lacking}")
    if found is not None and not repeated.same(instance):
        said = "predictions of the same tokens differ from one call to another"
        raise Failed(Outcome.INVALID, {"reason": said})
    return found


Judge = Callable[[Instance, Predict], Risk | None]


def settled(instance: Instance, predict: Predict) -> Risk | None:
    """Measure until it is known on which side of 0.05 a risk lies: wrong with 5 % at most.

    A quarter of the usual examples tells with 99 % where the risk is far off; else all do with 96.

    >>> from instances import parse
    >>> instance = parse("parity:d=8,m=3").instance(0)
    >>> settled(instance, instance.family.known).confidence
    0.99
    """
    for examples, confidence in LOOKS:
        found = measure(instance, predict, examples, confidence)
        if found is None or not found.low <= SOLVED_BELOW < found.high:
            break
    return found


def _between(low: float, value: float, high: float) -> float:
    """Put a mean into its interval, from which rounding may take it, or a token beyond the cut."""
    return min(max(low, value), high)


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def valid_predictions(predict: Predict, x: NDArray[Any]) -> NDArray[Any] | None:
    """Predict labels (n, k, d); None where they are not finite numbers of that shape."""
    with np.errstate(all="ignore"):  # what overflows is not finite, and is refused here
        given = np.asarray(predict(x))
    good = given.shape == x.shape and given.dtype.kind in "fiu" and np.isfinite(given).all()
    return given if good else None


def _predicted(
    instance: Instance, predict: Predict, examples: int, mean: Callable[[Any], Array]
) -> Iterator[tuple[Any, Array, NDArray[Any] | None]]:
    """Draw examples, F and predictions batch by batch; None for predictions that are invalid.

    mean: F of examples.
    """
    family = instance.family
    batch = max(16, _BATCH_NUMBERS // (family.k * family.d))
    for start in range(0, examples, batch):
        drawn = instance.examples(start, min(batch, examples - start), axis="evaluate")
        target = mean(drawn)
        given = valid_predictions(predict, np.array(drawn.x))  # which may write into what it gets
        yield drawn, target, given


# Labels that are codes: the family fixes the scale and the range of the loss.


def _of_codes(
    instance: Instance,
    family: Coded,
    predict: Predict,
    examples: int | None,
    confidence: float,
) -> Risk | None:
    """Measure the risk where the unknown label part is open, on a segment of known ends."""
    examples = examples or _usual(family, confidence)
    scale, bound = family.trivial_risk, family.risk_bound
    losses, raw = [], 0.0
    mean = partial(family.mean_on, instance.hidden.secret)
    for drawn, target, given in _predicted(instance, predict, examples, mean):
        if given is None:
            return None
        rows = family.open(drawn.words)
        # Both are 0 in all columns but the first.
        clipped = family.clip(drawn.x[rows, :, 0], given[rows, :, 0].astype(np.float64))
        losses.append(((target[rows, :, 0] - clipped) ** 2).sum(axis=1))
        with np.errstate(over="ignore"):
            apart = np.subtract(target, given, out=target)  # a new array of this size is slow
            raw += float(np.square(apart, out=apart).sum())
    loss = np.concatenate(losses) / scale
    low, high = bernstein(loss, bound, confidence)
    return _risk(loss, low, min(bound, high), confidence, raw / len(loss) / scale)


def _risk(loss: Array, low: float, high: float, confidence: float, unclipped: float) -> Risk:
    """Record the mean of relative losses with its interval."""
    return Risk(
        value=_between(low, float(loss.mean()), high),
        low=low,
        high=high,
        confidence=confidence,
        examples=len(loss),
        unclipped=_finite(unclipped),
    )


def _usual(family: Coded, confidence: float) -> int:
    """Choose the number of examples: fewer where tokens are long, enough to tell what is solved.

    Half of them are open, or so.
    """
    range_term = 14 * family.risk_bound * math.log(4 / (1 - confidence)) / 3
    few = max(_FEW, math.ceil(range_term / _SOLVED_PART))
    return max(few, min(_EVALUATE, _WORK // family.d))


# Labels of softmax layers: a projection bounds the loss, a cut the gaussian tails. Loss and scale
# are both estimated, each with half of the allowed failure.


def _of_numbers(
    instance: Instance,
    family: Dense,
    predict: Predict,
    examples: int | None,
    confidence: float,
) -> Risk | None:
    """Measure E||F - F^||^2 / E||F - known||^2, both sampled, on tokens of the family's law."""
    secret = instance.hidden.secret
    size = family.reach(secret)
    pilot = instance.examples(0, _PILOT, axis="evaluate-pilot")
    means = family.mean(secret, pilot.x) - family.beside(secret, pilot.x)
    apart = means - family.known(pilot.x)
    scale = float((apart**2).sum()) / _PILOT
    if scale <= _EQUAL * float((means**2).sum()) / _PILOT:
        raise ToolkitError(
            f"{family}: on {_PILOT} examples the labels are zero, or all equal up to rounding, so "
            "no relative risk is measured"
        )
    longest, tail = cut(family, size, scale)
    # Of what is known and not zero, as far away as a prediction may be.
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

    for drawn, target, given in _predicted(instance, predict, examples, mean):
        if given is None:
            return None
        squares = _longest(drawn.x[:, :, family.reached[0]])
        # What is known may lie beyond F on short tokens: it stays, as its risk is 1.
        known = np.sqrt((family.known(drawn.x) ** 2).sum(axis=2))
        farthest = np.maximum(size * np.sqrt(squares)[:, None], known)
        beside = family.beside(secret, drawn.x)
        hidden, said = target - beside, given - beside
        losses.append(((hidden - shorten(said, farthest)) ** 2).sum(axis=(1, 2)))
        norms.append(((hidden - family.known(drawn.x)) ** 2).sum(axis=(1, 2)))
        kept.append(squares <= longest)
        with np.errstate(over="ignore"):
            raw += float(((target - given) ** 2).sum())
    loss, norm, inside = (np.concatenate(parts) for parts in (losses, norms, kept))
    each = (1 + confidence) / 2
    low, high = bernstein(loss * inside, bound, each)
    small, large = bernstein(norm * inside, bound / part, each)
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


def cut(family: Dense, reach: float, scale: float) -> tuple[float, float]:
    """Choose the longest squared token that the interval is computed with, and the rest's loss.

    Where tokens are bounded, their largest length. Else k of them have |x_j| <= c + |z|, c = 1 with
    a constant, z normal in r dimensions; one is longer than T = (c + b)^2 with a loss of at most
    4 k reach^2 E max_j |x_j|^2 1[|x_j|^2 > T] <= 4 k^2 reach^2 (c + r^1/2)^2 Pr[chi2(r+2) > b^2].
    """
    law = family.reached[1]
    if law.longest is not None:
        return law.longest, 0.0
    from scipy.stats import chi2

    offset, rank = float(law.constant), law.free
    whole = 4 * family.k**2 * reach**2 * (offset + math.sqrt(rank)) ** 2
    part = min(0.5, _TAIL_PART * scale / whole) if whole else 0.5
    square = float(chi2.isf(part, rank + 2))
    return (offset + math.sqrt(square)) ** 2, whole * float(chi2.sf(square, rank + 2))


# Linear attention: its scale is known exactly, and its tails are sampled. A loss is at most
# 4 r^2 |X|^6, so the mean of loss / |X|^6 under the law tilted by |X|^6 is that of a bounded
# variable; under it |X|^2 has six degrees of freedom more.


def _of_cubic(
    instance: Instance,
    family: Dense,
    predict: Predict,
    examples: int | None,
    confidence: float,
) -> Risk | None:
    """Measure E||F - F^||^2 / E||F||^2 on tokens of the tilted law, weighted back."""
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
    many = family.m * family.k > family.d**2 / 2  # then the map is cheaper than its heads
    batch, losses, raw = max(16, _BATCH_NUMBERS // 2 // numbers), [], 0.0
    for start in range(0, examples, batch):
        x, weight = _tilted(instance, family, start, min(batch, examples - start))
        target = evaluate(cubic, x) if many else layer(x)
        given = valid_predictions(predict, x.copy())  # which may write into what it gets
        if given is None:
            return None
        longest = size * lengths(x)
        clipped = shorten(given.astype(np.float64), longest)
        losses.append(((target - clipped) ** 2).sum(axis=(1, 2)) * weight / scale)
        with np.errstate(over="ignore"):
            raw += float((((target - given) ** 2).sum(axis=(1, 2)) * weight).sum())
    loss = np.concatenate(losses)
    each = (1 + confidence) / 2
    (low, high), (least, most) = bernstein(loss, bound, each), chernoff(loss, bound, each)
    return _risk(loss, max(low, least), min(high, most), confidence, raw / len(loss) / scale)


def _sixth_moment(numbers: int, tokens: str) -> float:
    """E|X|^6 of k d signs or standard normal numbers."""
    if tokens == "boolean":
        return float(numbers**3)
    return float(numbers * (numbers + 2) * (numbers + 4))


def _tilted(instance: Instance, family: Dense, start: int, count: int) -> tuple[Array, Array]:
    """Draw tokens (count, k, d) of the law tilted by |X|^6, and E|X|^6 / |X|^6 of each."""
    seed, numbers = instance.hidden.seed, family.k * family.d
    x = family.inputs(seed, "evaluate", start, count).astype(np.float64)
    if family.tokens == "gaussian":
        stream = BitStream(key(seed, "tilt", "evaluate"))
        more = (gaussian(stream, start, count, 1, _TILT) ** 2).sum(axis=(1, 2))
        x *= np.sqrt(1 + more / (x**2).sum(axis=(1, 2)))[:, None, None]
    return x, _sixth_moment(numbers, family.tokens) / (x**2).sum(axis=(1, 2)) ** 3


def _longest(x: NDArray[Any]) -> Array:
    """|x|^2 of the longest token: (n, k, d) -> (n,)."""
    return np.asarray((x.astype(np.float64) ** 2).sum(axis=2).max(axis=1))


def lengths(x: Array) -> Array:
    """|x_a| |X^T X|_F of every row: (n, k, d) -> (n, k)."""
    rows = np.sqrt((x**2).sum(axis=2))
    pairs = x @ x.transpose(0, 2, 1)
    return np.asarray(rows * np.sqrt((pairs**2).sum(axis=(1, 2)))[:, None])


# Bounds and projections.


def bernstein(values: Array, bound: float, confidence: float) -> tuple[float, float]:
    """Bound the mean of independent values in [0, bound] from both sides. [MP09]

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
    """Bound the mean of independent values in [0, bound] from both sides, by relative entropy.

    The means p at which n kl(observed, p) = log(2 / failure), in units of the bound. [Hoe63]

    >>> low, high = chernoff(np.zeros(1000), 1.0, 0.95)
    >>> low, round(high, 6) == round(1 - 0.025 ** (1 / 1000), 6)
    (0.0, True)
    """
    from scipy.optimize import brentq
    from scipy.special import rel_entr

    seen = min(1.0, float(values.mean()) / bound)
    goal = math.log(2 / (1 - confidence)) / len(values)

    def excess(p: float) -> float:
        return float(rel_entr(seen, p) + rel_entr(1 - seen, 1 - p)) - goal

    low = brentq(excess, 1e-300, seen) if seen > 1e-290 and excess(1e-300) > 0 else 0.0
    high = brentq(excess, seen, 1.0 - 1e-16) if excess(1.0 - 1e-16) > 0 else 1.0
    return float(low) * bound, float(high) * bound


@lru_cache(4096)
def interval(passes: int, runs: int, confidence: float = CONFIDENCE) -> tuple[float, float]:
    """Bound the chance of passing, at 95 % where nothing else is said (Clopper, Pearson). [CP34]

    >>> [round(end, 3) for end in interval(3, 3)]
    [0.292, 1.0]
    """
    from scipy.special import betaincinv  # scipy.stats takes seconds to import

    tail = (1 - confidence) / 2
    low = betaincinv(passes, runs - passes + 1, tail) if passes else 0.0
    high = betaincinv(passes + 1, runs - passes, 1 - tail) if passes < runs else 1.0
    return float(low), float(high)


def shorten(rows: Array, longest: Array) -> Array:
    """Project rows (n, k, d) on balls around 0 of radius (n, k), or (n, 1)."""
    with np.errstate(over="ignore"):
        length = np.sqrt((rows**2).sum(axis=2))
    limit = np.broadcast_to(longest, length.shape)
    long = length > limit
    if not long.any():
        return rows
    out = rows.copy()
    # A row beyond float64 is divided by its largest entry first.
    largest = np.abs(rows[long]).max(axis=1, keepdims=True)
    direction = rows[long] / largest
    direction /= np.sqrt((direction**2).sum(axis=1, keepdims=True))
    out[long] = direction * limit[long][:, None]
    return out


# A hypothesis is a function of tokens: asked again, in other batches, it has to answer the same.
# One that tosses a coin a call makes all predictions of a call depend on it, and an interval over
# examples says nothing of coins.


class Repeated:
    """A prediction function that keeps a part of what it was asked, and asks for it again.

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
        self._asked: list[NDArray[Any]] = []
        self._said: list[NDArray[Any]] = []

    def __call__(self, x: NDArray[Any]) -> NDArray[Any]:
        """Predict, and keep every eighth token pair with its prediction."""
        kept = x[::_PART].copy()  # before it is written into
        said = np.asarray(self._predict(x))
        if said.shape == x.shape:  # others are refused as they are
            self._asked.append(kept)
            self._said.append(said[::_PART].copy())
        return said

    def same(self, instance: Instance) -> bool:
        """Ask again: are all answers the same, to within a thousandth of the labels' size?"""
        labels = instance.family.mean(instance.hidden.secret, np.concatenate(self._asked))
        return self.again(labels, instance.hidden.seed)

    def again(self, labels: Array, seed: int) -> bool:
        """Ask again, in batches of 1 to 64 or so and in another order, for labels of a size.

        For valid predictions alone.
        """
        x, y = np.concatenate(self._asked), np.concatenate(self._said).astype(np.float64)
        size = _SAME * float(np.sqrt((labels**2).sum(axis=(1, 2)).mean()))
        order = generator(seed, "repeated").permutation(len(x))
        cuts = np.unique([1, *(np.arange(1, CALLS) ** 2 * len(x) // CALLS**2)])
        x, y, again = x[order], y[order], np.empty(y.shape)
        for start, end in pairwise([0, *cuts.tolist(), len(x)]):
            if start < end:
                predicted = valid_predictions(self._predict, x[start:end])
                if predicted is None:
                    return False
                again[start:end] = predicted
        with np.errstate(over="ignore"):  # beyond float64 they are infinitely far apart
            return bool((np.abs(again - y) <= size + _SAME * np.abs(y)).all())
