"""The risk on tokens that are given: exact on them, and no statement about any others."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from hardness.runs.risk.cubic import lengths
from hardness.runs.risk.numbers import row_reach
from hardness.runs.risk.record import Array, no_risk, shorten
from instances.coded import Coded, as_coded
from instances.cubic import coefficients, reach
from instances.family import Examples, Instance
from instances.limits import require_memory

_BATCH_NUMBERS = 1 << 21


@dataclass(frozen=True, kw_only=True)
class Losses:
    """Sums over given tokens: of |F - F^|^2 projected and as given, and of |F - known|^2."""

    clipped: float
    raw: float
    scale: float

    @property
    def risk(self) -> float:
        """The relative risk: 1 is knowing the family alone, 0 is having learned all."""
        return self.clipped / self.scale

    @property
    def unclipped(self) -> float | None:
        """The relative risk of predictions as given; None beyond float64."""
        found = self.raw / self.scale
        return found if math.isfinite(found) else None


def losses(instance: Instance, examples: Examples, given: Array) -> Losses:
    """Sum the losses of predictions (n, k, d) on the tokens of examples, whose labels are not read.

    >>> from instances import parse
    >>> instance = parse("parity:d=8,m=3").instance(0)
    >>> drawn = instance.examples(0, 50)
    >>> losses(instance, drawn, drawn.y).risk, losses(instance, drawn, 0 * drawn.y).risk
    (0.0, 1.0)
    """
    family, secret = instance.family, instance.hidden.secret
    projected = _projection(instance)
    batch = max(16, _BATCH_NUMBERS // (family.k * family.d))
    sums = np.zeros(3)
    for start in range(0, len(examples), batch):
        part = examples.cut(start, min(start + batch, len(examples)))
        x, said = part.x, given[start : start + batch]
        target = family.mean(secret, x)
        clipped = projected(part, said, target)
        with np.errstate(over="ignore"):
            found = (clipped, said, family.known(x))
            sums += [float(((target - v) ** 2).sum()) for v in found]
    return Losses(clipped=float(sums[0]), raw=float(sums[1]), scale=float(sums[2]))


def _projection(instance: Instance) -> Callable[[Examples, Array, Array], Array]:
    """Choose the projection of (examples, predictions, F) on a convex set that F lies in."""
    family = instance.family
    if coded := family.coded:
        return partial(_on_segment, coded)
    if family.cubic:
        require_memory(64 * family.d**4, f"the cubic map of {family.spec}")
        layer = instance.layer()
        size = reach(coefficients(layer.theta, layer.w))
        return lambda part, said, target: shorten(said, size * lengths(part.x.astype(np.float64)))
    if family.real_labels:
        size = row_reach(instance.layer())
        return lambda part, said, target: shorten(said, size * _longest(part.x))
    raise no_risk(family)


def _on_segment(family: Coded, part: Examples, said: Array, target: Array) -> Array:
    """Clip where the label is unknown; elsewhere everyone knows it, and there is no loss."""
    rows = family.open(as_coded(part).words)
    out = target.copy()
    out[rows] = family.clip(part.x[rows], said[rows])
    return out


def _longest(x: Array) -> Array:
    """The length of the longest token: (n, k, d) -> (n, 1)."""
    return np.asarray(np.sqrt((x.astype(np.float64) ** 2).sum(axis=2).max(axis=1))[:, None])
