"""How many heads a cubic map needs: a tensor fit by alternating least squares.

Outputs of linear attention depend on T[p,j,l,c], the part of sum_i Theta_i[p,j] W_i[l,c] that is
symmetric in j and l, alone. So the least number of heads is the least rank of a matrix
K[(p,j), (l,c)] whose symmetric part is T: as K ranges over an affine space, the singular values of
T itself do not count heads, and a fit of m heads has to be searched for. Each Theta_i is the
solution of a linear least-squares problem given the W_i, and the other way round.

That m heads fit is shown by the fit. That fewer do not is what local minima from several starts
say. Which heads they are cannot be told: every invertible mixture of them is the same K, and there
may be other K.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from instances.cubic import coefficients
from instances.errors import UsageError
from instances.streams import generator

Array = NDArray[np.float64]
_EXACT = 1e-10  # share of the squared coefficients below which nothing is left
_OVER_NOISE = 2.0  # times what noise is expected to leave
_ROUNDED = 1e-15  # of the sums that the residual is the difference of
_STALLED, _AT_LEAST = 1e-6, 40  # relative progress of a step, from a number of steps on
_SHORT, _LONG, _CONTINUED = 60, 2000, 4  # steps of every start, of the best, how many


@dataclass(frozen=True, kw_only=True)
class HeadCount:
    """What is left of T by fits of 0, 1, 2, .. heads, as a share of its squared norm.

    floor: the share that noise is expected to leave. elbow: the least number of heads that leaves
    no more than rounding or twice the floor, None where none that was tried does.
    """

    residuals: tuple[float, ...]
    floor: float
    elbow: int | None
    generic: int

    @property
    def drop(self) -> float | None:
        """How many times more a head less leaves than the elbow."""
        if not self.elbow:
            return None
        return self.residuals[self.elbow - 1] / max(self.residuals[self.elbow], _EXACT)

    def to_dict(self) -> dict[str, Any]:
        """Write as JSON."""
        return {
            "residuals": list(self.residuals),
            "floor": self.floor,
            "elbow": self.elbow,
            "drop": self.drop,
            "generic": self.generic,
        }


def generic_heads(d: int, boolean: bool = False) -> int:
    """Count the heads that a random T of dimension d is expected to need, from parameters alone.

    m heads have m (2 d^2 - m) parameters, a rank-m matrix's, against d^3 (d + 1) / 2 coefficients,
    d^2 (d (d - 1) / 2 + 1) that boolean tokens can tell. So the heads of a layer with more are not
    counted. No bound for every T: some sets of T may need more, as tensors over the reals do.

    >>> [generic_heads(d) for d in (2, 3, 4, 6, 8)]
    [2, 4, 7, 13, 22]
    """
    pairs = d * (d - 1) // 2 + 1 if boolean else d * (d + 1) // 2
    return next(m for m in range(1, d * d + 1) if m * (2 * d * d - m) >= d * d * pairs)


def heads(
    cubic: Array,
    most: int,
    *,
    boolean: bool = False,
    floor: float = 0.0,
    starts: int = 16,
    seed: int = 0,
) -> HeadCount:
    """Fit 1, 2, .. up to `most` heads to T, (d, d, d, d), and stop at the elbow. [CC70]

    boolean: compare what boolean tokens can tell, the trace of T[p,:,:,c] instead of its diagonal.
    floor: the share of |T|^2 that is noise. Raises UsageError for other shapes, no head or start.

    >>> T = coefficients(np.eye(3)[None], np.diag([1.0, 2.0, 3.0])[None])
    >>> heads(T, 3).elbow
    1
    """
    _require(cubic, most, starts)
    goal = max(_EXACT, _OVER_NOISE * floor)
    target = told(cubic, boolean)
    size = float((target**2).sum())
    residuals, elbow = [1.0], None
    if not size:
        generic = generic_heads(len(cubic), boolean)
        return HeadCount(residuals=(0.0,), floor=floor, elbow=0, generic=generic)
    target = target / math.sqrt(size)
    for m in range(1, most + 1):
        left = min(residuals[-1], _best(target, m, starts, seed, boolean, goal))
        residuals.append(left)
        if left <= goal:
            elbow = m
            break
    return HeadCount(
        residuals=tuple(residuals),
        floor=floor,
        elbow=elbow,
        generic=generic_heads(len(cubic), boolean),
    )


def _best(target: Array, m: int, starts: int, seed: int, boolean: bool, goal: float) -> float:
    """The least that m heads leave: a short descent from every start, a long one from the best."""
    d, found = len(target), []
    for start in range(starts):
        w = generator(seed, "heads", m, start).standard_normal((m, d, d))
        found.append(descend(target, w, _SHORT, boolean))
        if found[-1].left <= goal:
            return found[-1].left
    found.sort(key=lambda each: each.left)
    best = found[0].left
    for each in found[:_CONTINUED]:
        best = min(best, descend(target, each.w, _LONG, boolean).left)
        if best <= goal:
            break
    return best


def told(cubic: Array, boolean: bool) -> Array:
    """Keep what outputs on boolean tokens depend on: of every diagonal its mean."""
    if not boolean:
        return cubic
    d = len(cubic)
    out = cubic.copy()
    out[:, range(d), range(d)] = np.einsum("pjjc->pc", cubic)[:, None] / d
    return out


@dataclass(frozen=True, kw_only=True, eq=False)
class Fitted:
    """Heads of a fit, theta and w (m, d, d), and the squared norm that they leave of T."""

    theta: Array
    w: Array
    left: float


def descend(target: Array, w: Array, steps: int, boolean: bool = False) -> Fitted:
    """Solve for Theta and W in turns, from (m, d, d), until no step gets further.

    The norm is that of the coefficients, in which a half step is one linear system for all rows
    (columns) at once; it bounds the unexplained variance from both sides, and both vanish together.
    """
    turned = np.ascontiguousarray(target.transpose(3, 1, 2, 0))
    size, before = float((target**2).sum()), math.inf
    theta = w
    for step in range(steps):
        theta = _orthonormal(_half(target, _orthonormal(w), boolean)[0])
        across, explained = _half(turned, theta.transpose(0, 2, 1), boolean)
        w = across.transpose(0, 2, 1)
        left = size - explained
        if left <= _ROUNDED * size or (step >= _AT_LEAST and before - left < _STALLED * left):
            break
        before = left
    residual = told(coefficients(theta, w), boolean) - target
    return Fitted(theta=theta, w=w, left=float((residual**2).sum()))


def _half(target: Array, w: Array, boolean: bool) -> tuple[Array, float]:
    """Solve for Theta given orthonormal W: (m, d, d), and how much of |target|^2 it explains.

    Row p of the Theta_i solves H theta_p = g_p, the same H for all p.
    """
    m, d, _ = w.shape
    flat = w.reshape(m, d * d)
    crossed = np.einsum("alc,bjc->ajbl", w, w)  # W_b W_a^T, [j, l]
    system = 0.5 * (np.einsum("ab,jl->ajbl", flat @ flat.T, np.eye(d)) + crossed)
    if boolean:
        straight = np.einsum("ajc,blc->ajbl", w, w)
        system += straight / d
        places = np.arange(d)
        system[:, places, :, places] -= straight[:, places, :, places]
    products = target.reshape(d * d, d * d) @ flat.T
    right = products.reshape(d, d, m).transpose(0, 2, 1).reshape(d, m * d)
    square = system.reshape(m * d, m * d)
    solution = np.linalg.lstsq(square, right.T, rcond=1e-13)[0].T
    return solution.reshape(d, m, d).transpose(1, 0, 2), float((solution * right).sum())


def _orthonormal(mats: Array) -> Array:
    """An orthonormal basis of the span of matrices: heads are told up to it."""
    m, d, _ = mats.shape
    basis, _ = np.linalg.qr(mats.reshape(m, d * d).T)
    return np.ascontiguousarray(basis.T).reshape(m, d, d)


def _require(cubic: Array, most: int, starts: int) -> None:
    if cubic.ndim != 4 or len(set(cubic.shape)) != 1:
        raise UsageError(f"coefficients of shape {cubic.shape} given: (d, d, d, d) is needed")
    if not np.isfinite(cubic).all():
        raise UsageError("coefficients given that are not finite")
    gap = float(np.abs(cubic - cubic.transpose(0, 2, 1, 3)).max())
    if gap > 1e-9 * float(np.abs(cubic).max()):
        raise UsageError("coefficients given that are not symmetric in their middle places")
    if most < 1 or starts < 1:
        raise UsageError(f"most={most}, starts={starts} given: both must be at least 1")
