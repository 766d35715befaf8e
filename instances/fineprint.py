"""The fine print of the theorem that layers can be learned: each condition, measured. [CL24]

The theorem asks for layers that are not degenerate, in terms of d, k and m that grow. At one size
its constants say nothing, so the lights are ours: where a random layer stands comfortably, where it
never does, and between. A red light says that the theorem does not speak of the layer; it does not
say that the layer is hard to learn.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from instances.layer import AttentionLayer

Array = NDArray[np.float64]
Light = Literal["green", "yellow", "red"]
_FRACTIONS = 8  # lattices tried: multiples of the largest entry over 1 .. this


@dataclass(frozen=True, kw_only=True)
class Condition:
    """One condition on the Theta_i or the W_i: its worst value over heads, and its light."""

    name: str
    of: Literal["theta", "w"]
    value: float
    asks: str  # what the theorem asks for, asymptotically
    light: Light


def fine_print(layer: AttentionLayer) -> tuple[Condition, ...]:
    """Measure every condition on a layer.

    >>> layer = AttentionLayer(theta=np.eye(4)[None], w=np.eye(4)[None])
    >>> {c.name: c.light for c in fine_print(layer) if c.of == "theta"}["trace"]
    'yellow'
    """
    return (*_conditions("theta", layer.theta), *_conditions("w", layer.w), _sum(layer.w))


def _conditions(of: Literal["theta", "w"], heads: Array) -> tuple[Condition, ...]:
    d = heads.shape[1]
    name = "Theta" if of == "theta" else "W"
    norms = np.linalg.norm(heads, axis=(1, 2))
    every = heads[norms > 0]  # a head of zeros adds nothing, and has no shape
    sizes = norms[norms > 0]
    found = [
        Condition(
            name="coherence",
            of=of,
            value=coherence(heads),
            asks=f"cosines of two {name}_i small, the smaller the more heads",
            light=_below(coherence(heads), 0.3, 0.9),
        )
    ]
    if not len(every):
        return tuple(found)
    rank = float(np.min((sizes / np.linalg.norm(every, 2, axis=(1, 2))) ** 2))
    trace = float(np.max(np.abs(np.trace(every, axis1=1, axis2=2)) / sizes))
    column = float(np.max((every**2).sum(axis=1) / sizes[:, None] ** 2))
    lattice = min(off_lattice(head) for head in every)
    ratio = float(sizes.max() / sizes.min())
    rows: list[tuple[str, float, str, Light]] = [
        (
            "stable rank",
            rank,
            f"|{name}|_F^2 / |{name}|_op^2 grows with d, k and m",
            _below(-rank, -2.0, -1.1),
        ),
        (
            "trace",
            trace,
            f"|Tr {name}| of the order of |{name}|_F, not sqrt(d) times it",
            _below(trace, 1.5, 3.0),
        ),
        (
            "column",
            column,
            "no column holds a constant share of the squared norm",
            _below(column, 0.4 + 1 / d, 0.75),
        ),
        (
            "off lattice",
            lattice,
            "entries spread out, not on multiples of one number (0.29 is spread evenly)",
            _below(-lattice, -0.1, -0.02),
        ),
        ("norm ratio", ratio, "norms of one order", _below(ratio, 3.0, 30.0)),
    ]
    found += [
        Condition(name=what, of=of, value=value, asks=asks, light=light)
        for what, value, asks, light in rows
    ]
    return tuple(found)


def _sum(w: Array) -> Condition:
    whole = float(np.sqrt((w**2).sum()))
    value = float(np.linalg.norm(w.sum(axis=0))) / whole if whole else 0.0
    return Condition(
        name="sum",
        of="w",
        value=value,
        asks="|sum W_i|_F not small against sqrt(sum |W_i|_F^2): the first stage reads it",
        light=_below(-value, -0.4, -0.05),
    )


def coherence(matrices: Array) -> float:
    """The largest |cosine| of two of the matrices (m, d, d), 0 for m = 1; zeros are left out.

    >>> coherence(np.stack([np.eye(2), -np.eye(2)])) > 0.999
    True
    """
    flat = matrices.reshape(len(matrices), -1)
    norms = np.linalg.norm(flat, axis=1)
    norms[norms == 0] = 1.0
    cosines = np.abs(flat @ flat.T) / np.outer(norms, norms)
    np.fill_diagonal(cosines, 0.0)
    return float(cosines.max())


def off_lattice(matrix: Array) -> float:
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


def _below(value: float, green: float, yellow: float) -> Light:
    """Set the light: green up to one limit, yellow up to the next, red beyond."""
    if value <= green:
        return "green"
    return "yellow" if value <= yellow else "red"
