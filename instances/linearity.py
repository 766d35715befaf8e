"""How far softmax attention is from linear attention, on standard normal tokens.

Where its logits are small, softmax is 1/k (1 + logit - mean logit): linear attention, which least
squares learns. Each head is compared with the best sum of a multiple of the mean token and one of
linear attention with its own Theta_i, both through its own W_i.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from instances.heads import Heads
from instances.layer import mix_tokens, pair_products, softmax_rows
from instances.streams import generator

EXAMPLES = 256
_MOST_TOKENS = 64  # of an example, as families have
_NUMBERS = 1 << 21  # of all tokens: fewer examples of large ones
_LEAST = 16


@dataclass(frozen=True, kw_only=True)
class Linearity:
    """The share of E|F|^2 that the best linear attention leaves: 0 is linear attention.

    error: one standard error of `share`, over the examples. heads: the share of each head alone,
    None where it puts nothing out.
    """

    share: float
    error: float
    heads: tuple[float | None, ...]
    k: int
    examples: int


def linearity(heads: Heads, k: int = 2, examples: int = EXAMPLES) -> Linearity | None:
    """Measure a layer on standard normal tokens of seed 0; None for linear attention itself.

    The layer's share is that of the sum of what is left of its heads. On 64 tokens where k is more,
    and on fewer examples where they are large.

    >>> from instances import parse
    >>> near, far = (parse(f"dial:tau={tau},m=2,k=2,d=8").instance(0) for tau in (0.1, 10))
    >>> [round(linearity(Heads.of(one.layer())).share, 3) for one in (near, far)]
    [0.0, 0.15]
    """
    if heads.kind != "softmax":
        return None
    k = min(k, _MOST_TOKENS)
    examples = max(_LEAST, min(examples, _NUMBERS // (k * heads.d)))
    x = generator(0, "linearity").standard_normal((examples, k, heads.d))
    x = x.astype(heads.theta.left.dtype)
    whole, left = np.zeros(x.shape), np.zeros(x.shape)
    shares: list[float | None] = []
    for head in range(heads.m):
        out, rest = _apart(heads, head, x)
        power = float((out**2).sum())
        shares.append(float((rest**2).sum()) / power if power else None)
        whole += out
        left += rest
    powers, losses = ((part**2).sum(axis=(1, 2)) for part in (whole, left))
    scale = float(powers.mean())
    share = float(losses.mean()) / scale if scale else 0.0
    spread = float(((losses - share * powers) / (scale or 1.0)).std(ddof=1))
    return Linearity(
        share=share,
        error=spread / float(np.sqrt(examples)),
        heads=tuple(shares),
        k=k,
        examples=examples,
    )


def _apart(heads: Heads, head: int, x: NDArray[Any]) -> tuple[NDArray[Any], ...]:
    """What a head puts out, and what is left of it by the best linear attention: (n, k, d) each."""
    n, k, d = x.shape
    logits = pair_products(heads.theta.times(x.reshape(-1, d), head).reshape(x.shape), x)
    even = np.full_like(logits, 1 / k)
    weights = (softmax_rows(logits), even, (logits - logits.mean(axis=-1, keepdims=True)) / k)
    out, mean, linear = (
        np.asarray(heads.w.times(mix_tokens(one, x).reshape(-1, d), head), np.float64).ravel()
        for one in weights
    )
    basis = np.stack([one / (np.abs(one).max() or 1.0) for one in (mean, linear)], axis=1)
    best = np.linalg.lstsq(basis.T @ basis, basis.T @ out, rcond=None)[0]
    return out.reshape(n, k, d), (out - basis @ best).reshape(n, k, d)
