"""What a layer is like: the sizes that the theorem about learning it is stated in. [CL24]

The theorem asks for layers that are not degenerate, in terms of d, k and m that grow. Its constants
say nothing at one size, so each condition is a number beside what the theorem asks for.
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
_LAYER_BYTES = 1 << 28  # above, a layer is not shown head by head
_ENTRIES = 1 << 18  # of a head that are compared with lattices
_LARGEST = 1e140  # entries whose Gram matrices are finite in float64
_LATTICES = 8  # that are tried: multiples of the largest entry over 1 .. this


@dataclass(frozen=True, kw_only=True, repr=False)
class Inspection(Result):
    """What a layer, or a family and the layer of an instance, is like; facts as JSON.

    As a table: a row a head, if the layer is known.
    """

    facts: dict[str, Any]

    def to_dict(self) -> dict[str, Any]:
        """Give all of it; the names are a contract."""
        return self.facts

    def to_frame(self) -> "DataFrame":
        """Make a pandas DataFrame: a row a head, or one row of all facts."""
        return super().to_frame() if self.facts["layer"] else frame([flat(self.facts)])

    def _rows(self) -> list[TableRow]:
        if layer := self.facts["layer"]:
            return [{"head": i, **head} for i, head in enumerate(layer["heads"])]
        names = ("tokens", "kind", "evidence", "why_hard")
        return [{"fact": n, "value": self.facts[n]} for n in names if n in self.facts]


@dataclass(frozen=True, kw_only=True, eq=False)
class HeadSizes:
    """Sizes of m matrices: arrays (m,), the cosines of two (m, m); 0 for a matrix of zeros.

    norms: Frobenius. stable_ranks: squares of Frobenius over spectral norms. traces: |trace| over
    the norm. columns: the largest share of the squared norm that a column has. total: the norm of
    the sum of the matrices over the root of the sum of squared norms.
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
        """The largest |cosine| of two matrices, 0 for one."""
        return float(np.abs(np.triu(self.cosines, 1)).max())


def head_sizes(matrices: Array) -> HeadSizes:
    """Measure m matrices, (m, d, d); raises UsageError if their squares leave float64.

    >>> sizes = head_sizes(np.stack([np.eye(2), np.ones((2, 2))]))
    >>> sizes.norms.tolist(), sizes.stable_ranks.round(9).tolist()
    ([1.4142135623730951, 2.0], [2.0, 1.0])
    """
    largest = float(np.abs(matrices).max())
    if largest and not 1 / _LARGEST <= largest <= _LARGEST:
        raise UsageError(
            f"the largest entry of the heads must be between {1 / _LARGEST:g} and {_LARGEST:g}, "
            f"got {largest:.1g}: scale them"
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
    """How far entries that are not 0 lie from a lattice: rms of the distance over the step.

    The least over lattices of the multiples of the largest entry over 1 .. 8; entries that are
    spread evenly have 1/sqrt(12) = 0.29 on each, and few entries less by chance. Of a large matrix
    evenly spaced rows are compared.

    >>> off_lattice(np.array([[3.0, 1.5], [0.0, 4.5]]))
    0.0
    """
    d = matrix.shape[1]
    rows = np.linspace(0, len(matrix) - 1, min(len(matrix), max(1, _ENTRIES // d))).astype(int)
    entries = matrix[rows][matrix[rows] != 0]
    if not len(entries):
        return 0.0
    steps = entries / np.abs(entries).max() * np.arange(1, _LATTICES + 1)[:, None]
    least = float(np.sqrt(np.mean((steps - np.rint(steps)) ** 2, axis=1)).min())
    return 0.0 if least < 1e-12 else least


def _fine_print(
    layer: AttentionLayer, theta: HeadSizes, w: HeadSizes, k: int | None
) -> list[dict[str, Any]]:
    """State every condition of the theorem, on k tokens if it is known how many.

    Each has the name, what it is of (size, theta or w), the worst value, and what the theorem asks
    for, asymptotically.
    """
    most = max(math.log2(layer.d), 1.0)
    asks = f"m at most of the order of log d: log2 {layer.d} = {most:.3g}"
    rows: list[tuple[str, str, float, str]] = [("size", "heads", layer.m, asks)]
    if k is not None:
        rows.append(("size", "tokens", k, f"k much smaller than d = {layer.d}"))
    rows += [("theta", *row) for row in _conditions("Theta", theta, layer.d)]
    rows += [("w", *row) for row in _conditions("W", w, layer.d)]
    asks = "|sum W_i|_F not small against sqrt(sum |W_i|_F^2): the first stage reads it"
    rows.append(("w", "sum", w.total, asks))
    return [{"name": n, "of": of, "value": float(value), "asks": a} for of, n, value, a in rows]


def _conditions(name: str, sizes: HeadSizes, d: int) -> Iterator[tuple[str, float, str]]:
    """State the conditions on the Theta_i or the W_i; heads of zeros have a coherence alone."""
    cosines = {
        "Theta": "cosines of two Theta_i below 1/poly(m, k, log d)",
        "W": "cosines of two W_i small, the smaller the more heads",
    }
    yield "coherence", sizes.coherence, cosines[name]
    there = sizes.norms > 0
    if not there.any():
        return
    norms = sizes.norms[there]
    asks = f"|{name}|_F^2 / |{name}|_op^2 at least poly(m, k, log d)"
    yield "stable rank", sizes.stable_ranks[there].min(), asks
    asks = f"|Tr {name}| of the order of |{name}|_F, not sqrt(d) = {math.sqrt(d):.3g} times it"
    yield "trace", sizes.traces.max(), asks
    asks = "no column holds a constant share of the squared norm"
    yield "column", sizes.columns.max(), asks
    asks = "entries far from any lattice: not on multiples of one number (0.29 is spread evenly)"
    yield "off lattice", sizes.off_lattice[there].min(), asks
    yield "norm ratio", norms.max() / norms.min(), "norms of one order, at most polylog d"
    if name == "Theta":
        asks = (
            "logits of order one: smaller, the heads are linear and indistinguishable; larger, "
            "attention saturates"
        )
        yield "size", norms[np.abs(np.log(norms)).argmax()], asks


def inspect_layer(layer: AttentionLayer, source: str, k: int | None = None) -> Inspection:
    """Describe a layer of a user, on k tokens if that is known: see `_layer_facts`."""
    facts = {"source": source, "d": layer.d, "heads": layer.m, "kind": layer.kind}
    if layer.constant:
        facts["biases"] = f"in coordinate {layer.d} of the tokens, which is always 1"
    return Inspection(facts=facts | _layer_facts(layer, k))


def _layer_facts(layer: AttentionLayer, k: int | None = None) -> dict[str, Any]:
    """Measure a layer: its heads, how alike they are, and of softmax attention the fine print."""
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
        "fine_print": _fine_print(layer, theta, w, k) if layer.kind == "softmax" else None,
    }


def inspect(family: Family, instance: Instance | None) -> Inspection:
    """Describe a family and, where the secret is known, the layer of an instance.

    For a family of hidden sets, the description is the same for all members. The fine print has the
    conditions of the theorem about learning, measured on the layer. [CL24]
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
        "why_hard": family.hardness.why,
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
        facts |= _modular_facts(forms, instance)
    elif isinstance(family, Coded):
        facts["A"] = float(family.known_constant)
    layer = instance.layer() if instance and "not_shown" not in facts else None
    if layer is None:
        return Inspection(facts=facts | {"layer": None})
    return Inspection(facts=facts | _layer_facts(layer, family.k))


def _modular_facts(family: Modular, instance: Instance | None) -> dict[str, Any]:
    """Describe what an LWE-style family says in public, and the steps and flags of an instance."""
    (low, high), exact = family.reach, is_power_of_two(family.q)
    facts: dict[str, Any] = {
        "A": 0.0,
        "bits": f"{family.n} numbers of {family.length}",
        "range": f"{low}..{high}: of t = <a, s> mod q, over all secrets",
        # of a from uniform, in statistical distance, at most
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
