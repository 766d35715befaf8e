"""Several heads on real tokens of any length: their number is found, d^2 values and a few more.

Tokens that are all v give v sum_i W_i. Fix v and take x_2 = -t v with t so large that every weight
on x_1 is 0 or 1: 1 where x_1 Theta_i v^T > 0. While x_1 turns through a half circle each of these
signs changes once, and row 1, less x_2 sum_i W_i and divided by t, jumps by v W_i or -v W_i.
It is constant between the jumps, and where the v W_i are linearly independent it differs across any
jumps, so bisection finds all: their number is the number of heads with Theta_i != 0. Signs follow
from the value at the start, the sum of the v W_i that go down.

At v + e e_j, e small, the jumps move a little, so the same points between them show the same heads:
that gives every W_i. Then d^2 values show all logits at once (logits.py), and with the Theta_i
known every W_i is read again, free of rounding over e. [BSHK26]

Heads with the same Theta_i are one, with the sum of their W_i. For two tokens a head (Theta, W) is
(-Theta, -W) and the constant head (0, 2 W): what is found has no constant head where that can be.
"""

import math
from dataclasses import dataclass
from functools import partial
from typing import ClassVar, Literal

import numpy as np

from hardness.oracles import ValueOracle
from hardness.upper.learner import Failed, Hypothesis, Outcome
from hardness.upper.membership.asking import averaged, length, no_layer
from hardness.upper.membership.logits import (
    FITS,
    UNEXPLAINED,
    Array,
    Reader,
    Value,
    orthonormal,
    pairs,
    total,
)
from instances.capabilities import QUESTIONS
from instances.family import Family
from instances.layer import AttentionLayer

_LONG = 2.0**120  # of v: weights are 0 or 1 wherever signs are not rounding
_HALVINGS = 22  # jumps within 1e-6 of each other are not told apart
_SAME, _INDEPENDENT, _WHOLE = 1e-9, 1e-6, 1e-3  # relative
_MOVES = (1e-3, 3e-5, 1e-6)  # e in terms of the smallest gap between jumps, one try each
_BASES = 20  # of which the one with the best conditioned v W_i is asked
_PROBES = 8  # values by which the size of labels is known


@dataclass(frozen=True, kw_only=True)
class MultiHead:
    """Reads all heads; nobody tells it how many there are. Noise is rounding beside long tokens."""

    name: ClassVar[str] = "multihead"
    revision: ClassVar[int] = 1
    access: ClassVar[Literal["values"]] = "values"
    about: ClassVar[str] = "several attention heads by labels of real tokens, their number found"

    def supports(self, family: Family) -> str | None:
        """Return None for softmax layers of at most d heads on real tokens, or the reason."""
        if reason := no_layer(family):
            return reason
        if QUESTIONS.need(family).tokens != "real":
            return "it asks tokens of any real numbers, and this family takes -1 and +1 alone"
        if family.layer_heads > family.d:
            return f"its layers have {family.layer_heads} heads: at most d = {family.d} are told"
        return None

    def learn(self, oracle: ValueOracle, rng: np.random.Generator) -> Hypothesis:
        """Find the heads; where they cannot be told apart, Failed says why."""
        family = oracle.family
        long = length(family)
        read = heads(partial(averaged, oracle), family.k, family.d, rng, long)
        layer = AttentionLayer(theta=read.theta, w=read.w)
        details = {"heads_found": layer.m, "misfit": read.misfit, "token_length": long}
        return Hypothesis(predict=layer, layer=layer, details=details)


@dataclass(frozen=True, kw_only=True, eq=False)
class Heads:
    """What was found: theta, w (m, d, d); misfit: the largest difference of a weight read."""

    theta: Array
    w: Array
    misfit: float


def heads(value: Value, k: int, d: int, rng: np.random.Generator, long: float = 1.0) -> Heads:
    """Read all heads on real tokens; long: their length, so that noise is small beside labels.

    A head with Theta = 0 is the last. Raises Failed, outcome DEGENERATE, where no v and no circle
    of three tells the heads apart.

    >>> from instances.layer import AttentionLayer
    >>> theta, w = np.random.default_rng(1).normal(size=(2, 2, 4, 4))
    >>> found = heads(AttentionLayer(theta=theta, w=w), 3, 4, np.random.default_rng(0))
    >>> len(found.w), found.misfit < 1e-9
    (2, True)
    """
    together = total(value, k, long * np.eye(d))
    probes = value(long * rng.standard_normal((_PROBES, k, d))) / long
    size = max(float(np.abs(together).max()), float(np.abs(probes).max()))
    if not size > 0:
        return Heads(theta=np.zeros((1, d, d)), w=together[None], misfit=0.0)
    for move in _MOVES:
        circle = _Circle(value, k, together, rng, long)
        try:
            jumps = circle.jumps(size)
            return _read(circle, circle.outputs(jumps, move), jumps.constant, long, rng)
        except Failed as failed:
            last = failed
    raise last


@dataclass(frozen=True, kw_only=True, eq=False)
class _Jumps:
    """Where weights change on the half circle, in order: angles (m,).

    signs: (m,) +1 where the weight goes up. constant: whether there is a head with Theta = 0 too.
    """

    angles: Array
    signs: Array
    constant: bool


class _Circle:
    """Row 1 at x_1 = cos(phi) a + sin(phi) b and x_2 = -t v: sum_i p_i v W_i."""

    def __init__(
        self, value: Value, k: int, together: Array, rng: np.random.Generator, long: float
    ) -> None:
        self.value, self.k, self.together = value, k, together
        d = len(together)
        self.a, self.b, self.v = rng.standard_normal((3, d)) / math.sqrt(d)
        self.t = _LONG * long

    def tokens(self, angles: Array) -> Array:
        """x_1: (n,) -> (n, d)."""
        return np.cos(angles)[:, None] * self.a + np.sin(angles)[:, None] * self.b

    def at(self, angles: Array, v: Array) -> Array:
        """Ask at angles (n,) and v (d,): (n, d)."""
        x2 = np.broadcast_to(-self.t * v, (len(angles), len(v)))
        y = self.value(pairs(self.tokens(angles), x2, self.k))[:, 0]
        return np.asarray(y / self.t + v @ self.together)

    def jumps(self, size: float) -> _Jumps:
        """Bisect the half circle; raises Failed where the v W_i are not linearly independent."""
        lows, highs = np.array([0.0]), np.array([math.pi])
        left, right = self.at(lows, self.v), self.at(highs, self.v)
        start = left[0]
        for _ in range(_HALVINGS):
            middles = (lows + highs) / 2
            between = self.at(middles, self.v)
            lows, highs = np.append(lows, middles), np.append(middles, highs)
            left, right = np.append(left, between, axis=0), np.append(between, right, axis=0)
            apart = np.abs(right - left).max(axis=1) > _SAME * size
            lows, highs, left, right = lows[apart], highs[apart], left[apart], right[apart]
            _require(len(lows) <= len(self.v), "there are more heads than dimensions")
        order = np.argsort(lows)
        steps = (right - left)[order]
        signs, constant = _signs(steps, start, self.v @ self.together, self.k, size)
        return _Jumps(angles=((lows + highs) / 2)[order], signs=signs, constant=constant)

    def outputs(self, jumps: _Jumps, move: float) -> Array:
        """Read every W_i at points between the jumps, at v and at v moved along each coordinate."""
        d, m = len(self.v), len(jumps.angles)
        read = np.zeros((m, d, d))
        if m:
            step = move * float(np.diff(jumps.angles, append=jumps.angles[0] + math.pi).min())
            step *= float(np.linalg.norm(self.v))
            points = _between(jumps.angles)
            rows = [
                np.diff(self.at(points, v), axis=0) * jumps.signs[:, None]
                for v in np.concatenate([self.v[None], self.v + step * np.eye(d)])
            ]
            read = np.stack([row - rows[0] for row in rows[1:]], axis=1) / step
        if jumps.constant:
            read = np.append(read, [self.together - read.sum(axis=0)], axis=0)
        return read

    def sharpened(self, theta: Array, basis: Array) -> Array:
        """Read every W_i (m, d, d) at points between the jumps that Theta_i (m, d, d) has."""
        rows = []
        for v in basis:
            along = np.stack([self.a, self.b]) @ (theta @ v).T  # (2, m)
            turning = np.abs(along).max(axis=0) > 0
            points = _between(np.sort(np.arctan2(-along[0], along[1])[turning] % math.pi))
            weights = self.tokens(points) @ (theta @ v).T
            weights = np.where(turning, weights > 0, 1 / self.k)
            rows.append(np.linalg.lstsq(weights, self.at(points, v), rcond=None)[0])
        return np.asarray(np.einsum("jm,jid->imd", basis, np.stack(rows)))


def _between(angles: Array) -> Array:
    """Points between angles (m,) in order: (m + 1,), the last the first one plus pi."""
    if not len(angles):
        return np.zeros(1)
    turned = np.append(angles, angles[0] + math.pi)
    middles = (turned[1:] + turned[:-1]) / 2
    return np.append(middles[-1] - math.pi, middles)


def _signs(steps: Array, start: Array, whole: Array, k: int, size: float) -> tuple[Array, bool]:
    """Tell which weights go up, +1, and which down, and whether there is a head with Theta = 0.

    steps: (m, d), v W_i or -v W_i. start: (d,), the sum of the v W_i that go down and 1/k of that
    of the constant head. whole: v sum_i W_i. Less whole/k, start is a combination of steps with
    coefficients -1/k for those that go up and 1/k - 1 for the others.
    """
    if not len(steps):
        return np.zeros(0), True
    sizes = np.linalg.svd(steps, compute_uv=False)
    _require(
        sizes[-1] > _INDEPENDENT * sizes[0], "the v W_i are linearly dependent, for a random v"
    )

    def combined(target: Array, wanted: tuple[float, float]) -> Array | None:
        numbers = target @ np.linalg.pinv(steps)
        fits = np.abs(target - numbers @ steps).max() <= _WHOLE * sizes[-1]
        near = np.abs(numbers[:, None] - wanted).min(axis=1).max() <= _WHOLE
        return numbers if fits and near else None

    if k == 2:  # both are -1/2 then, and either sign is right with a constant head
        numbers = combined(whole, (1.0, -1.0))
        return (np.ones(len(steps)), True) if numbers is None else (np.sign(numbers), False)
    numbers = combined(start - whole / k, (-1 / k, 1 / k - 1))
    if numbers is None:
        raise Failed(Outcome.DEGENERATE, {"failed": "jumps of some heads fall together"})
    signs = np.where(numbers < -1 / 2, -1.0, 1.0)
    return signs, bool(np.abs(whole - signs @ steps).max() > _SAME * size)


def _read(
    circle: _Circle, w: Array, constant: bool, long: float, rng: np.random.Generator
) -> Heads:
    """Read all Theta_i in the orthonormal basis, of some, with the best conditioned v W_i.

    The weights read are 0 or 1 on the circle, so the W_i are then read again, exactly, and with
    them the Theta_i from the same answers.
    """
    d = w.shape[1]
    bases = [orthonormal(rng, d) for _ in range(_BASES)]
    best = max(bases, key=lambda basis: _condition(basis, w))
    reader = Reader(circle.value, circle.k, w, long)
    for v in best:
        reader.column(np.eye(d), v)

    def theta_by(w: Array) -> Array:
        with np.errstate(invalid="ignore"):  # infinite logits, of a w that does not fit
            theta = np.moveaxis(reader.again(w), (2, 1, 0), (0, 1, 2)) @ best  # (m, u, v) @ (v, d)
        theta[len(w) - constant :] = 0.0
        return np.asarray(theta)

    theta = theta_by(w)
    sharper = circle.sharpened(theta, best)
    again = theta_by(sharper)
    read = Heads(theta=again, w=sharper, misfit=reader.misfit(again, sharper))
    _require(read.misfit <= FITS, UNEXPLAINED.format(len(w)))
    return read


def _condition(basis: Array, w: Array) -> float:
    """The worst over v of a basis of the smallest singular value of the v W_i over the largest."""
    sizes = np.linalg.svd(np.moveaxis(basis @ w, 0, 1), compute_uv=False)
    return float((sizes[:, -1] / sizes[:, 0].clip(min=1e-300)).min())


def _require(holds: bool, why: str) -> None:
    if not holds:
        raise Failed(Outcome.DEGENERATE, {"failed": why})
