"""The conditions of the theorem about layers that are not degenerate, measured. [CL24]

The theorem asks for layers that are not degenerate, in terms of d, k and m that grow. Its constants
say nothing at one size, so each condition is a number beside what the theorem asks for.
"""

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from instances.heads import Matrices
from instances.layer import AttentionLayer

Of = Literal["size", "theta", "w"]
_FRACTIONS = 8  # lattices tried: multiples of the largest entry over 1 .. this


@dataclass(frozen=True, kw_only=True)
class Condition:
    """One condition on the sizes, the Theta_i or the W_i, and its worst value.

    by_head: of each head, None if the head is zero; empty for a condition on all heads at once.
    """

    name: str
    of: Of
    value: float
    asks: str  # what the theorem asks for, asymptotically
    by_head: tuple[float | None, ...] = ()


def fine_print(layer: AttentionLayer, k: int | None = None) -> tuple[Condition, ...]:
    """Measure every condition on a layer, on k tokens where it is known how many.

    >>> layer = AttentionLayer(theta=np.eye(4)[None], w=np.eye(4)[None])
    >>> {c.name: c.value for c in fine_print(layer) if c.of == "theta"}["trace"]
    2.0
    """
    most = max(math.log2(layer.d), 1.0)
    asks = f"m at most of the order of log d: log2 {layer.d} = {most:.3g}"
    conditions = [Condition(name="heads", of="size", value=layer.m, asks=asks)]
    if k is not None:
        asks = f"k much smaller than d = {layer.d}"
        conditions.append(Condition(name="tokens", of="size", value=k, asks=asks))
    theta, w = (Matrices(values=part) for part in (layer.theta, layer.w))
    conditions += [*_conditions("theta", theta), *_conditions("w", w)]
    products = w.products
    whole = float(np.sqrt(np.trace(products)))
    value = math.sqrt(max(float(products.sum()), 0.0)) / whole if whole else 0.0
    asks = "|sum W_i|_F not small against sqrt(sum |W_i|_F^2): the first stage reads it"
    return (*conditions, Condition(name="sum", of="w", value=value, asks=asks))


def _conditions(of: Literal["theta", "w"], stack: Matrices) -> list[Condition]:
    d, name, norms = stack.values.shape[1], "Theta" if of == "theta" else "W", stack.norms
    there = norms > 0  # a head of zeros adds nothing, and has no shape

    def condition(what: str, values: NDArray[np.float64], asks: str, worst: Any) -> Condition:
        each = tuple(float(v) if seen else None for v, seen in zip(values, there, strict=True))
        value = float(worst(values[there])) if there.any() else 0.0
        return Condition(name=what, of=of, value=value, asks=asks, by_head=each)

    below = (
        f"cosines of two {name}_i below 1/poly(m, k, log d)"
        if of == "theta"
        else f"cosines of two {name}_i small, the smaller the more heads"
    )
    cosines = np.abs(stack.cosines)
    np.fill_diagonal(cosines, 0.0)
    conditions = [condition("coherence", cosines.max(axis=1), below, np.max)]
    if not there.any():
        return conditions
    lattices = [off_lattice(stack.entries(i)) if there[i] else 0.0 for i in range(len(norms))]
    ratio = f"|{name}|_F^2 / |{name}|_op^2 at least poly(m, k, log d)"
    traces = f"|Tr {name}| of the order of |{name}|_F, not sqrt(d) = {math.sqrt(d):.3g} times it"
    spread = "no column holds a constant share of the squared norm"
    far = "entries far from any lattice: not on multiples of one number (0.29 is spread evenly)"
    alike = "norms of one order, at most polylog d"
    conditions += [
        condition("stable rank", stack.stable_ranks, ratio, np.min),
        condition("trace", stack.traces, traces, np.max),
        condition("column", stack.columns, spread, np.max),
        condition("off lattice", np.array(lattices), far, np.min),
        condition("norm ratio", norms / norms[there].min(), alike, np.max),
    ]
    if of == "theta":
        asks = (
            "logits of order one: smaller, the heads are linear and not told apart; larger, "
            "attention saturates"
        )
        conditions.append(
            condition("size", norms, asks, lambda sizes: max(sizes, key=lambda v: abs(math.log(v))))
        )
    return conditions


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


def structure(layer: AttentionLayer) -> Structure:
    """Measure how a layer is built.

    >>> from instances import parse
    >>> found = structure(parse("parity:d=12,m=4").instance(0).layer())
    >>> found.parity_like, round(found.step_rank, 6), found.aside
    (True, 1.0, 4)
    """
    theta, w = (Matrices(values=part) for part in (layer.theta, layer.w))
    used = np.flatnonzero(w.norms > 1e-12 * w.norms.max(initial=0.0))
    if len(used) < 2:
        return Structure()
    products = w.products[np.ix_(used, used)]
    one_w = float(np.linalg.eigvalsh(products)[-1] / np.trace(products))
    steps: list[tuple[Any, int | None]] = [(_step(theta, used), None)]
    if len(used) >= 4:
        steps += [(_step(theta, used[used != i]), int(i)) for i in used]
    best, aside = max(steps, key=lambda step: (round(step[0][0], 9), step[1] is None))
    share, energy, coefficients = best
    if not energy:
        return Structure(one_w=one_w)
    rank = energy / float(np.linalg.norm(np.tensordot(coefficients, theta.values, 1), 2)) ** 2
    return Structure(one_w=one_w, one_step=share, step_rank=rank, aside=aside)


def _step(theta: Matrices, used: NDArray[np.intp]) -> tuple[float, float, NDArray[np.float64]]:
    """Find the line that matrices less their mean lie on best.

    Gives their share on it, the squared norm of the step and the step as their combination; a
    squared norm of 0 where they are all equal.
    """
    centre = np.eye(len(used)) - 1 / len(used)
    own = theta.products[np.ix_(used, used)]
    steps = centre @ own @ centre
    coefficients = np.zeros(len(theta.values))
    whole = float(np.trace(steps))
    if whole <= 1e-12 * float(np.trace(own)):
        return 0.0, 0.0, coefficients
    values, vectors = np.linalg.eigh(steps)
    coefficients[used] = centre @ vectors[:, -1]
    return float(values[-1]) / whole, float(values[-1]), coefficients
