"""What a layer is like: the sizes that the theorems about learning it are stated in."""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from instances.family import Family, Instance
from instances.fineprint import coherence, fine_print
from instances.layer import AttentionLayer
from instances.limits import readable_bytes
from instances.modular import Modular
from instances.text import decimal

_LAYER_BYTES = 1 << 28  # above, a layer is not shown head by head


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
        "members": "a continuum" if family.size is None else decimal(family.size),
        "tokens": family.token_text,
        "k": family.k,
        "d": family.d,
        "heads": family.layer_heads,
        "evidence": family.hardness.evidence,
        "why_hard": family.hardness.why,
        "labels": family.label_text,
    }
    if scheme := family.scheme:
        scheme.require_float64()
        table = scheme.response()
        facts |= {
            "A": float(scheme.known_constant),
            "sum_abs_a": scheme.sum_abs_a,
            "response_error": float(np.abs(table - [float(v) for v in scheme.values]).max()),
        }
    elif forms := family.linear_forms:
        facts |= modular_facts(forms, instance)
    elif coded := family.coded:
        facts["A"] = float(coded.known_constant)
    if coded := family.coded:
        found = coded.layer_error
        facts |= {
            "layer_error": found.error,
            "half_gap": float(found.half_gap),
            "rounded_layer": str(found),
        }
    layer = instance.layer() if instance and "not_shown" not in facts else None
    facts["layer"] = asdict(layer_facts(layer)) if layer else None
    told = layer is not None and layer.kind == "softmax"  # the theorem is of softmax attention
    facts["fine_print"] = [asdict(c) for c in fine_print(layer)] if layer and told else None
    return facts


def modular_facts(family: Modular, instance: Instance | None) -> dict[str, Any]:
    """Describe what an LWE-style family says in public, and the steps and flags of an instance.

    >>> from instances import parse
    >>> instance = parse("lwr:n=8,q=16,p=2,secret=binary,h=4").instance(0)
    >>> modular_facts(instance.family, instance)["steps"]
    7
    """
    low, high = family.reach
    facts: dict[str, Any] = {
        "A": 0.0,
        "bits": f"{family.n} numbers of {family.length}",
        "range": f"{low}..{high}: of t = <a, s> mod q, over all secrets",
        "distance": float(family.distance),
        "information": family.information,
    }
    size = 16 * family.layer_heads * family.d**2
    if size > _LAYER_BYTES:
        facts["not_shown"] = f"a layer of {readable_bytes(size)}: its heads are not shown"
    if instance is not None:
        secret = instance.hidden.secret
        facts["steps"] = len(family.steps(secret).a)
        facts["flags"] = "; ".join(family.secrets.flags(secret)) or "none"
    return facts
