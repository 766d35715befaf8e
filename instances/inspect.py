"""What a layer is like: the sizes that the theorems about learning it are stated in."""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from instances.family import Family, Instance
from instances.fineprint import coherence, fine_print
from instances.layer import AttentionLayer
from instances.symmetric import Symmetric


@dataclass(frozen=True, kw_only=True)
class HeadFacts:
    """Sizes of one head: Frobenius norms, stable rank, trace over norm."""

    theta_norm: float
    w_norm: float
    stable_rank: float  # ||Theta||_F^2 / ||Theta||_op^2
    trace_ratio: float  # |Tr Theta| / ||Theta||_F


@dataclass(frozen=True, kw_only=True)
class LayerFacts:
    """Sizes of a layer, head by head, and how alike its heads are. [CL24]"""

    heads: tuple[HeadFacts, ...]
    coherence: float  # largest |cosine| of two Theta_i, 0 for m = 1
    w_coherence: float


def layer_facts(layer: AttentionLayer) -> LayerFacts:
    """Measure a layer.

    >>> layer_facts(AttentionLayer(theta=np.eye(4)[None], w=np.eye(4)[None])).heads[0].stable_rank
    4.0
    """
    heads = []
    for theta, w in zip(layer.theta, layer.w, strict=True):
        norm = float(np.linalg.norm(theta))
        top = float(np.linalg.norm(theta, 2))
        heads.append(
            HeadFacts(
                theta_norm=norm,
                w_norm=float(np.linalg.norm(w)),
                stable_rank=(norm / top) ** 2 if top else 0.0,
                trace_ratio=abs(float(np.trace(theta))) / norm if norm else 0.0,
            )
        )
    return LayerFacts(
        heads=tuple(heads), coherence=coherence(layer.theta), w_coherence=coherence(layer.w)
    )


def inspect(family: Family, instance: Instance | None) -> dict[str, Any]:
    """Describe a family and, where the secret is known, the layer of an instance.

    Of a family of hidden sets nothing that is said depends on which member it is. The fine print is
    what the theorem about learning asks of a layer, measured. [CL24]
    """
    facts: dict[str, Any] = {
        "spec": family.spec,
        "family": family.name,
        "members": "a continuum" if family.size is None else str(family.size),
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
    layer = instance.layer() if instance else None
    facts["layer"] = asdict(layer_facts(layer)) if layer else None
    facts["fine_print"] = [asdict(c) for c in fine_print(layer)] if layer else None
    return facts
