"""Facts about a family or layer, and the conditions of the theorem on learning layers. [CL24]

The theorem needs layers that are not degenerate, asymptotically in d, k and m. Its constants say
nothing about one size, so each condition is a measured number next to the words of the theorem.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from instances.coded import Coded
from instances.errors import UsageError
from instances.family import Family, Instance
from instances.layer import AttentionLayer
from instances.limits import readable_bytes
from instances.lwe import Modular
from instances.numbers import write
from instances.residues import is_power_of_two
from instances.result import Result, TableRow, flat, frame
from instances.sets import Symmetric

if TYPE_CHECKING:
    from pandas import DataFrame

Array = NDArray[np.float64]
_LAYER_BYTES = 1 << 28  # larger layers are not described head by head
_COMPARED_ENTRIES = 1 << 18  # entries of a head that are compared with lattices
_LARGEST_ENTRY = 1e140  # up to which Gram matrices are finite in float64
_LATTICES = 8  # steps that are tried: the largest entry divided by 1 .. 8


@dataclass(frozen=True, kw_only=True, repr=False)
class Inspection(Result):
    """Facts about a layer, or about a family and the layer of an instance, as JSON.

    The table has a row per head, if the layer is known.
    """

    facts: dict[str, Any]

    def to_dict(self) -> dict[str, Any]:
        """Return the facts; their names never change."""
        return self.facts

    def to_frame(self) -> "DataFrame":
        """Make a pandas DataFrame: a row per head, or one row of all facts without a layer."""
        return super().to_frame() if self.facts["layer"] else frame([flat(self.facts)])

    def _rows(self) -> list[TableRow]:
        if layer := self.facts["layer"]:
            return [{"head": i, **head} for i, head in enumerate(layer["heads"])]
        names = ("tokens", "kind", "evidence", "why_hard")
        return [{"fact": n, "value": self.facts[n]} for n in names if n in self.facts]


@dataclass(frozen=True, kw_only=True, eq=False)
class HeadSizes:
    """Measures of m matrices: arrays (m,), and cosines (m, m); 0 for a matrix of zeros.

    norms: Frobenius. stable_ranks: (Frobenius norm / spectral norm)^2. traces: |trace| / norm.
    columns: the largest share of the squared norm in one column. off_lattice: see `off_lattice`.
    cosines: of two matrices. total: the norm of the sum of the matrices, divided by the root of the
    sum of squared norms.
    """

    norms: Array
    stable_ranks: Array
    traces: Array
    columns: Array
    off_lattice: Array
    cosines: Array
    total: float

    @property
    def coherence(self) -> float:
        """The largest |cosine| of two matrices; 0 for a single matrix."""
        return float(np.abs(np.triu(self.cosines, 1)).max())


def head_sizes(matrices: Array) -> HeadSizes:
    """Measure m matrices (m, d, d); raises UsageError if their squares overflow or underflow.

    >>> sizes = head_sizes(np.stack([np.eye(2), np.ones((2, 2))]))
    >>> sizes.norms.tolist(), sizes.stable_ranks.round(9).tolist()
    ([1.4142135623730951, 2.0], [2.0, 1.0])
    """
    largest = float(np.abs(matrices).max())
    if largest and not 1 / _LARGEST_ENTRY <= largest <= _LARGEST_ENTRY:
        raise UsageError(
            f"the largest entry of the heads must be between {1 / _LARGEST_ENTRY:g} and "
            f"{_LARGEST_ENTRY:g}, got {largest:.1g}: scale them"
        )
    rows = matrices.reshape(len(matrices), -1)
    products = rows @ rows.T
    norms = np.sqrt(np.diag(products))
    scale = np.where(norms > 0, norms, 1.0)
    energy = float(norms @ norms)
    return HeadSizes(
        norms=norms,
        stable_ranks=(norms / np.maximum(np.linalg.norm(matrices, 2, (1, 2)), 1e-300)) ** 2,
        traces=np.abs(np.trace(matrices, axis1=1, axis2=2)) / scale,
        columns=(matrices**2).sum(axis=1).max(axis=1) / scale**2,
        off_lattice=np.array([off_lattice(matrix) for matrix in matrices]),
        cosines=products / np.outer(scale, scale),
        total=math.sqrt(max(float(products.sum()), 0.0) / energy) if energy else 0.0,
    )


def off_lattice(matrix: Array) -> float:
    """Measure how far the nonzero entries are from a lattice: rms distance divided by the step.

    It is the minimum over 8 lattices, whose steps are the largest entry divided by 1 .. 8. Evenly
    spread entries have 1/sqrt(12) = 0.29 on each lattice; few entries may have less by chance. Of a
    large matrix, evenly spaced rows are compared.

    >>> off_lattice(np.array([[3.0, 1.5], [0.0, 4.5]]))
    0.0
    """
    d = matrix.shape[1]
    count = min(len(matrix), max(1, _COMPARED_ENTRIES // d))
    rows = np.linspace(0, len(matrix) - 1, count).astype(int)
    entries = matrix[rows][matrix[rows] != 0]
    if not len(entries):
        return 0.0
    steps = entries / np.abs(entries).max() * np.arange(1, _LATTICES + 1)[:, None]
    nearest = float(np.sqrt(np.mean((steps - np.rint(steps)) ** 2, axis=1)).min())
    return 0.0 if nearest < 1e-12 else nearest


def _theorem_conditions(
    layer: AttentionLayer, theta: HeadSizes, w: HeadSizes, k: int | None
) -> list[dict[str, Any]]:
    """State every condition of the theorem; k: the number of tokens, None if it is unknown.

    Each has its name, what it is about (size, theta or w), the worst value over heads, and what the
    theorem asks for, asymptotically.
    """
    log_d = max(math.log2(layer.d), 1.0)
    asks = f"m at most of the order of log d: log2 {layer.d} = {log_d:.3g}"
    rows: list[tuple[str, str, float, str]] = [("size", "heads", layer.m, asks)]
    if k is not None:
        rows.append(("size", "tokens", k, f"k much smaller than d = {layer.d}"))
    rows += [("theta", *row) for row in _conditions("Theta", theta, layer.d)]
    rows += [("w", *row) for row in _conditions("W", w, layer.d)]
    asks = "|sum W_i|_F not small against sqrt(sum |W_i|_F^2): the first stage reads it"
    rows.append(("w", "sum", w.total, asks))
    return [{"name": n, "of": of, "value": float(value), "asks": a} for of, n, value, a in rows]


def _conditions(name: str, sizes: HeadSizes, d: int) -> Iterator[tuple[str, float, str]]:
    """State the conditions on the Theta_i or the W_i; only coherence if all heads are zero."""
    cosines = {
        "Theta": "cosines of two Theta_i below 1/poly(m, k, log d)",
        "W": "cosines of two W_i small, the smaller the more heads",
    }
    yield "coherence", sizes.coherence, cosines[name]
    nonzero = sizes.norms > 0
    if not nonzero.any():
        return
    norms = sizes.norms[nonzero]
    asks = f"|{name}|_F^2 / |{name}|_op^2 at least poly(m, k, log d)"
    yield "stable rank", sizes.stable_ranks[nonzero].min(), asks
    asks = f"|Tr {name}| of the order of |{name}|_F, not sqrt(d) = {math.sqrt(d):.3g} times it"
    yield "trace", sizes.traces.max(), asks
    asks = "no column holds a constant share of the squared norm"
    yield "column", sizes.columns.max(), asks
    asks = "entries far from any lattice: not on multiples of one number (0.29 is spread evenly)"
    yield "off lattice", sizes.off_lattice[nonzero].min(), asks
    yield "norm ratio", norms.max() / norms.min(), "norms of one order, at most polylog d"
    if name == "Theta":
        asks = (
            "logits of order one: smaller, the heads are linear and indistinguishable; larger, "
            "attention saturates"
        )
        yield "size", norms[np.abs(np.log(norms)).argmax()], asks


def inspect_layer(layer: AttentionLayer, source: str, k: int | None = None) -> Inspection:
    """Describe a user's layer; k: the number of tokens, None if it is unknown."""
    facts = {"source": source, "d": layer.d, "heads": layer.m, "kind": layer.kind}
    if layer.constant:
        facts["biases"] = f"in coordinate {layer.d} of the tokens, which is always 1"
    return Inspection(facts=facts | _layer_facts(layer, k))


def _layer_facts(layer: AttentionLayer, k: int | None = None) -> dict[str, Any]:
    """Measure the heads of a layer, and the conditions of the theorem for softmax attention."""
    theta, w = head_sizes(layer.theta), head_sizes(layer.w)
    by_head = {
        "theta_norm": theta.norms,
        "w_norm": w.norms,
        "stable_rank": theta.stable_ranks,
        "w_stable_rank": w.stable_ranks,
        "trace_ratio": theta.traces,
    }
    rows = zip(*(values.tolist() for values in by_head.values()), strict=True)
    return {
        "layer": {
            "heads": [dict(zip(by_head, row, strict=True)) for row in rows],
            "coherence": theta.coherence,
            "w_coherence": w.coherence,
            "cosines": theta.cosines.tolist(),
            "w_cosines": w.cosines.tolist(),
        },
        "fine_print": _theorem_conditions(layer, theta, w, k) if layer.kind == "softmax" else None,
    }


def inspect(family: Family, instance: Instance | None) -> Inspection:
    """Describe a family and, if an instance with its secret is given, the instance's layer.

    For a family of hidden sets, the description is the same for all members. The entry `fine_print`
    has the conditions of the theorem about learning, measured on the layer. [CL24]
    """
    facts: dict[str, Any] = {
        "spec": family.spec,
        "family": family.name,
        "members": "a continuum" if family.size is None else write(family.size),
        "tokens": family.token_text,
        "k": family.k,
        "d": family.d,
        "heads": family.layer_heads,
        "evidence": family.hardness.evidence,
        "why_hard": family.hardness.summary,
        "labels": family.label_text,
    }
    if isinstance(family, Symmetric):
        family.require_float64()
        table = family.response()
        facts |= {
            "A": float(family.known_constant),
            "sum_abs_a": family.sum_abs_a,
            "response_error": float(np.abs(table - [float(v) for v in family.values]).max()),
        }
    elif forms := family.linear_forms:
        facts |= _lwe_facts(forms, instance)
    elif isinstance(family, Coded):
        facts["A"] = float(family.known_constant)
    layer = instance.layer() if instance and "not_shown" not in facts else None
    if layer is None:
        return Inspection(facts=facts | {"layer": None})
    return Inspection(facts=facts | _layer_facts(layer, family.k))


def _lwe_facts(family: Modular, instance: Instance | None) -> dict[str, Any]:
    """Describe an LWE-style family and, for an instance, the steps and flags of its secret."""
    (low, high), exact = family.reach, is_power_of_two(family.q)
    facts: dict[str, Any] = {
        "A": 0.0,
        "bits": f"{family.n} numbers of {family.length}",
        "range": f"{low}..{high}: of t = <a, s> mod q, over all secrets",
        # an upper bound on the statistical distance of a from uniform
        "distance": (not exact) * family.n * family.q / (4 << family.length),
        "information": family.information,
    }
    size = 16 * family.layer_heads * family.d**2
    if size > _LAYER_BYTES:
        facts["not_shown"] = f"a layer of {readable_bytes(size)}: its heads are not shown"
    if instance is not None:
        secret = instance.hidden.secret
        facts["steps"] = len(family.steps(secret)[1])
        facts["flags"] = "; ".join(family.secrets.flags(secret)) or "none"
    return facts
