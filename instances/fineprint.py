"""The conditions of the theorem about layers that are not degenerate, measured. [CL24]

The theorem asks for layers that are not degenerate, in terms of d, k and m that grow. At one size
its constants say nothing, so the lights are ours: where a random layer stands comfortably, where it
never does, and between. A red light says that the theorem does not speak of the layer; it does not
say that the layer is hard to learn.
"""

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from instances.heads import Heads, Matrices

Light = Literal["green", "yellow", "red"]
Of = Literal["size", "theta", "w"]
# Norms of a Theta_i, the deviation of its logits on standard tokens: below the first attention is
# nearly linear, above the second nearly a hard choice. The outer ones are the limits of yellow.
_NORMS, _OUTER_NORMS = (0.3, 16.0), (0.05, 50.0)
_FRACTIONS = 8  # lattices tried: multiples of the largest entry over 1 .. this


@dataclass(frozen=True, kw_only=True)
class Condition:
    """One condition on the sizes, the Theta_i or the W_i: its worst value, and its light.

    by_head: of each head, None where the head is zero; empty for what is said of all heads at once.
    """

    name: str
    of: Of
    value: float
    asks: str  # what the theorem asks for, asymptotically
    light: Light
    by_head: tuple[float | None, ...] = ()


def fine_print(heads: Heads, k: int | None = None) -> tuple[Condition, ...]:
    """Measure every condition on a layer, on k tokens where it is known how many.

    >>> heads = Heads(theta=Matrices(left=np.eye(4)[None]), w=Matrices(left=np.eye(4)[None]))
    >>> {c.name: c.light for c in fine_print(heads) if c.of == "theta"}["trace"]
    'yellow'
    """
    most = max(math.log2(heads.d), 1.0)
    asks = f"m at most of the order of log d: log2 {heads.d} = {most:.3g}"
    found = [_condition("size", "heads", heads.m, (most, 4 * most), asks)]
    if k is not None:
        limits = heads.d / 2, heads.d
        found.append(_condition("size", "tokens", k, limits, "k much smaller than d"))
    found += [*_conditions("theta", heads.theta), *_conditions("w", heads.w)]
    products = heads.w.products
    whole = float(np.sqrt(np.trace(products)))
    value = math.sqrt(max(float(products.sum()), 0.0)) / whole if whole else 0.0
    asks = "|sum W_i|_F not small against sqrt(sum |W_i|_F^2): the first stage reads it"
    return (*found, _condition("w", "sum", value, (-0.4, -0.05), asks))


def first_failure(conditions: tuple[Condition, ...], light: Light = "red") -> Condition | None:
    """Return the first condition of a light, in the order in which stages of the learner need them.

    The first stage reads sum W_i, the hull and the span of the Theta_i follow from rows on which
    heads agree, the net needs Theta_i that differ, the projection W_i that do.

    >>> first_failure(()) is None
    True
    """
    order = {"size": 0, "theta": 2, "w": 3}
    failed = [c for c in conditions if c.light == light]
    return min(failed, key=lambda c: 1 if c.name == "sum" else order[c.of], default=None)


def _conditions(of: Literal["theta", "w"], stack: Matrices) -> list[Condition]:
    d, name, norms = stack.shape[1], "Theta" if of == "theta" else "W", stack.norms
    there = norms > 0  # a head of zeros adds nothing, and has no shape
    cosines = np.abs(stack.cosines)
    np.fill_diagonal(cosines, 0.0)
    worst = cosines.max(axis=1)
    below = (
        f"cosines of two {name}_i below 1/poly(m, k, log d)"
        if of == "theta"
        else f"cosines of two {name}_i small, the smaller the more heads"
    )
    each = _by_head(worst, there)
    found = [_condition(of, "coherence", float(worst.max()), (0.3, 0.9), below, each)]
    if not there.any():
        return found
    lattices = [off_lattice(stack.entries(i)) if there[i] else 0.0 for i in range(len(norms))]
    ratio = f"|{name}|_F^2 / |{name}|_op^2 at least poly(m, k, log d)"
    traces = f"|Tr {name}| of the order of |{name}|_F, not sqrt(d) times it"
    spread = "no column holds a constant share of the squared norm"
    far = "entries far from any lattice: not on multiples of one number (0.29 is spread evenly)"
    alike = "norms of one order, at most polylog d"
    for what, values, limits, asks in (
        ("stable rank", stack.stable_ranks, (-2.0, -1.1), ratio),
        ("trace", stack.traces, (1.5, 3.0), traces),
        ("column", stack.columns, (0.4 + 1 / d, 0.75), spread),
        ("off lattice", np.array(lattices), (-0.1, -0.02), far),
        ("norm ratio", norms / norms[there].min(), (3.0, 30.0), alike),
    ):
        value = float(values[there].max() if limits[0] > 0 else values[there].min())
        found.append(_condition(of, what, value, limits, asks, _by_head(values, there)))
    return [*found, _size(norms, there)] if of == "theta" else found


def _condition(
    of: Of,
    name: str,
    value: float,
    limits: tuple[float, float],
    asks: str,
    by_head: tuple[float | None, ...] = (),
) -> Condition:
    """Set the light: green up to one limit, yellow up to the next, red beyond.

    Negative limits are those of a value that has to be large.
    """
    size = value if limits[0] > 0 else -value
    light: Light = "green" if size <= limits[0] else "yellow" if size <= limits[1] else "red"
    return Condition(name=name, of=of, value=value, asks=asks, light=light, by_head=by_head)


def _size(norms: NDArray[np.float64], there: NDArray[np.bool_]) -> Condition:
    """The size of the logits, at the head that is furthest out."""
    lights: list[Light] = ["green", "yellow", "red"]
    outer = [
        sum(not low <= norm <= high for low, high in (_NORMS, _OUTER_NORMS))
        for norm in norms[there]
    ]
    middle = math.sqrt(_NORMS[0] * _NORMS[1])
    return Condition(
        name="size",
        of="theta",
        value=float(max(norms[there], key=lambda norm: abs(math.log(norm / middle)))),
        asks="logits of order one: smaller, the heads are linear and not told apart; larger, "
        "attention saturates",
        light=lights[max(outer)],
        by_head=_by_head(norms, there),
    )


def _by_head(values: NDArray[np.float64], there: NDArray[np.bool_]) -> tuple[float | None, ...]:
    return tuple(float(v) if seen else None for v, seen in zip(values, there, strict=True))


def off_lattice(matrix: NDArray[np.float64]) -> float:
    """How far entries that are not 0 lie from a lattice: rms of the distance over the step.

    The least over lattices of the multiples of the largest entry over 1 .. 8; entries that are
    spread evenly have 1/sqrt(12) = 0.29 on each, and few entries less by chance.

    >>> off_lattice(np.array([[3.0, 1.5], [0.0, 4.5]]))
    0.0
    """
    entries = matrix[matrix != 0]
    if not len(entries):
        return 0.0
    best = 1.0
    for parts in range(1, _FRACTIONS + 1):
        steps = entries * (parts / np.abs(entries).max())
        best = min(best, float(np.sqrt(np.mean((steps - np.rint(steps)) ** 2))))
    return 0.0 if best < 1e-12 else best


@dataclass(frozen=True, kw_only=True)
class Structure:
    """How near a layer is to those that hide a parity.

    The hard layers have W_i on one line and Theta_i that differ by multiples of one matrix of rank
    1: each head compares one hidden linear form with a threshold of its own, one head aside that
    adds a constant. one_w: share of the W_i on their best common line, 1 where they are parallel.
    one_step: share of the differences of the Theta_i on their best line. step_rank: stable rank of
    that line. aside: the head without which one_step is largest, of four or more. All None for one
    head, and where nothing differs.
    """

    one_w: float | None = None
    one_step: float | None = None
    step_rank: float | None = None
    aside: int | None = None

    @property
    def parity_like(self) -> bool:
        """Whether all three stand within a tenth of what a hidden parity has."""
        if self.one_w is None or self.one_step is None or self.step_rank is None:
            return False
        return self.one_w > 0.9 and self.one_step > 0.9 and self.step_rank < 1.1


def structure(heads: Heads) -> Structure:
    """Measure how a layer is built.

    >>> from instances import parse
    >>> found = structure(Heads.of(parse("parity:d=12,m=4").instance(0).layer()))
    >>> found.parity_like, round(found.step_rank, 6), found.aside
    (True, 1.0, 4)
    """
    used = np.flatnonzero(heads.w.norms > 1e-12 * heads.w.norms.max(initial=0.0))
    if len(used) < 2:
        return Structure()
    own = heads.w.products[np.ix_(used, used)]
    one_w = float(np.linalg.eigvalsh(own)[-1] / np.trace(own))
    found: list[tuple[Any, int | None]] = [(_step(heads.theta, used), None)]
    if len(used) >= 4:
        found += [(_step(heads.theta, used[used != i]), int(i)) for i in used]
    best, aside = max(found, key=lambda one: (round(one[0][0], 9), one[1] is None))
    share, energy, coefficients = best
    if not energy:
        return Structure(one_w=one_w)
    rank = energy / _top(heads.theta, coefficients) ** 2
    return Structure(one_w=one_w, one_step=share, step_rank=rank, aside=aside)


def _step(theta: Matrices, used: NDArray[np.intp]) -> tuple[float, float, NDArray[np.float64]]:
    """Find the line that matrices less their mean lie on best.

    Gives their share on it, the squared norm of the step and the step as their combination; a
    squared norm of 0 where they are all equal.
    """
    centre = np.eye(len(used)) - 1 / len(used)
    own = theta.products[np.ix_(used, used)]
    steps = centre @ own @ centre
    coefficients = np.zeros(theta.shape[0])
    whole = float(np.trace(steps))
    if whole <= 1e-12 * float(np.trace(own)):
        return 0.0, 0.0, coefficients
    values, vectors = np.linalg.eigh(steps)
    coefficients[used] = centre @ vectors[:, -1]
    return float(values[-1]) / whole, float(values[-1]), coefficients


def _top(stack: Matrices, coefficients: NDArray[np.float64]) -> float:
    """The largest singular value of a combination of the matrices, without forming it."""
    d = stack.shape[1]
    if d < 64 or stack.right is None:
        return float(np.linalg.norm(np.tensordot(coefficients, stack.dense(), axes=1), 2))
    from scipy.sparse.linalg import LinearOperator, svds

    parts = [part.transpose(1, 0, 2).reshape(d, -1) for part in (stack.left, stack.right)]
    weights = np.repeat(coefficients, stack.left.shape[2]).astype(stack.left.dtype)

    def times(x: NDArray[Any], forward: bool) -> NDArray[Any]:
        out, into = parts if forward else parts[::-1]
        return np.asarray(out @ (weights * (into.T @ np.ravel(x).astype(into.dtype))))

    operator = LinearOperator(
        (d, d),
        matvec=lambda x: times(x, True),
        rmatvec=lambda x: times(x, False),
        dtype=weights.dtype,
    )
    start = np.random.default_rng(0).standard_normal(d).astype(weights.dtype)
    return float(svds(operator, k=1, v0=start, return_singular_vectors=False)[0])
