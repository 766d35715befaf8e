"""What a layer is like: the sizes that the theorems about learning it are stated in."""

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from instances.coded import Coded
from instances.family import Family, Instance
from instances.fineprint import fine_print, structure
from instances.heads import Matrices
from instances.layer import AttentionLayer
from instances.limits import readable_bytes
from instances.lwe import Modular
from instances.numbers import write
from instances.residues import is_power_of_two
from instances.result import Result, TableRow
from instances.sets import Symmetric

if TYPE_CHECKING:
    from pandas import DataFrame

_LAYER_BYTES = 1 << 28  # above, a layer is not shown head by head


@dataclass(frozen=True, kw_only=True, repr=False)
class Inspection(Result):
    """What a layer, or a family and the layer of an instance, is like; facts as JSON.

    As a table: a row a head, where the layer is known.
    """

    facts: dict[str, Any]

    def to_dict(self) -> dict[str, Any]:
        """Give all of it; the names are a contract."""
        return self.facts

    def to_frame(self) -> "DataFrame":
        """Make a pandas DataFrame: a row a head, or one row of all facts."""
        from instances.export import flat, frame

        layer = self.facts["layer"]
        return frame(self._heads() if layer else [flat(self.facts)])

    def _heads(self) -> list[TableRow]:
        return [{"head": i, **head} for i, head in enumerate(self.facts["layer"]["heads"])]

    def _rows(self) -> list[TableRow]:
        if self.facts["layer"]:
            return self._heads()
        names = ("tokens", "kind", "evidence", "why_hard")
        return [{"fact": n, "value": self.facts[n]} for n in names if n in self.facts]


def inspect_layer(layer: AttentionLayer, source: str, k: int | None = None) -> Inspection:
    """Describe a layer of a user, on k tokens where that is known: see `_layer_facts`."""
    facts = {"source": source, "d": layer.d, "heads": layer.m, "kind": layer.kind}
    if layer.constant:
        facts["biases"] = f"in coordinate {layer.d} of the tokens, which is always 1"
    return Inspection(facts=facts | _layer_facts(layer, k))


def _layer_facts(layer: AttentionLayer, k: int | None = None) -> dict[str, Any]:
    """Measure a layer: its heads, how alike they are, the fine print, and what it is near to.

    k: the number of tokens, where it is known. The fine print is of softmax attention alone. [CL24]
    """
    theta, w = (Matrices(values=part) for part in (layer.theta, layer.w))
    conditions = fine_print(layer, k) if layer.kind == "softmax" else None
    near = structure(layer)
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
            "coherence": _largest(theta.cosines),
            "w_coherence": _largest(w.cosines),
            "cosines": theta.cosines.tolist(),
            "w_cosines": w.cosines.tolist(),
        },
        "structure": {**asdict(near), "parity_like": near.parity_like},
        "fine_print": None if conditions is None else [asdict(c) for c in conditions],
    }


def _largest(cosines: NDArray[np.float64]) -> float:
    """The largest |cosine| of two heads, 0 for one head."""
    return float((np.abs(cosines) * (1 - np.eye(len(cosines)))).max())


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
