"""What a layer is like: the sizes that the theorems about learning it are stated in."""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from instances.family import Family, Instance
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
    coherence: (
        float  # largest |<Theta_i, Theta_j>| / (||Theta_i|| ||Theta_j||), i != j; 0 for m = 1
    )
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
        heads=tuple(heads), coherence=_coherence(layer.theta), w_coherence=_coherence(layer.w)
    )


def inspect(family: Family, instance: Instance | None) -> dict[str, Any]:
    """Describe a family and, where the secret is known, the layer of an instance.

    Nothing that is said depends on which member it is.
    """
    facts: dict[str, Any] = {
        "spec": family.spec,
        "family": family.name,
        "members": str(family.size),
        "tokens": "boolean",
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
    facts["layer"] = asdict(layer_facts(instance.layer())) if instance else None
    return facts


def _coherence(matrices: np.ndarray[Any, Any]) -> float:
    flat = matrices.reshape(len(matrices), -1)
    norms = np.linalg.norm(flat, axis=1)
    norms[norms == 0] = 1.0
    cosines = np.abs(flat @ flat.T) / np.outer(norms, norms)
    np.fill_diagonal(cosines, 0.0)
    return float(cosines.max())
