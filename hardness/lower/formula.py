"""The real layer, and stored labels, against the label formula."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardness.lower.sums import Draw
from instances import tokens
from instances.capabilities import CODED, PROVED_AS, SCHEME
from instances.coded import Coded, as_coded
from instances.dense import Dense
from instances.family import Secret
from instances.files import Folder

_LAYERS = 4
_LAYER_BYTES = 1 << 28
_FLOPS = 5e9


@dataclass(frozen=True, kw_only=True)
class LayerCheck:
    """The real layer against the label formula, on some members and tokens."""

    members: int  # 0 where the layers are too large to be built
    tokens: int
    error: float  # largest absolute difference
    tolerance: float
    worst: Secret  # the member where it is

    @property
    def agrees(self) -> bool:
        """Whether the layer computes the formula to rounding."""
        return self.error <= self.tolerance

    def to_dict(self) -> dict[str, Any]:
        """Write the check."""
        return {
            "members": self.members,
            "tokens": self.tokens,
            "error": self.error,
            "tolerance": self.tolerance,
            "worst_member": list(self.worst),
            "agrees": self.agrees,
        }


@dataclass(frozen=True, kw_only=True)
class StoredCheck:
    """Stored labels against the formula of the instance's secret."""

    examples: int
    different: int  # labels that are not the noiseless ones
    open: int  # labels with an unknown part: the others cannot differ
    allowed: float  # how many may, at the confidence (Hoeffding), given the noise

    @property
    def agrees(self) -> bool:
        """Whether no more labels differ than the label noise explains."""
        return self.different <= self.allowed


def check_layer(
    family: Coded,
    members: tuple[Secret, ...],
    draw: Draw,
    samples: int,
) -> LayerCheck:
    """Evaluate layer and codes of the first few members on some tokens and compare the formula.

    No member is built of a family whose layers are large, but for hidden sets, which have few
    heads.
    """
    hides = SCHEME.of(family) or PROVED_AS.of(family)
    if hides is None and 16 * family.layer_heads * family.d**2 > _LAYER_BYTES:
        return LayerCheck(members=0, tokens=0, error=0.0, tolerance=0.0, worst=members[0])
    chosen = members[:_LAYERS]
    cost = len(chosen) * family.layer_heads * 8 * family.d**2
    words = draw(0, min(samples, max(32, min(1024, int(_FLOPS // cost)))))
    x = tokens.unpack(words, family.d)
    error, worst, tolerance = -1.0, chosen[0], 0.0
    for secret in chosen:
        layer = family.layer(secret)
        drawn = family.decode(x, family.codes(secret, words, np.zeros(len(words), np.bool_)))
        # Examples are drawn by codes, all else goes by the formula: they must be one function.
        difference = max(
            np.abs(family.outer(layer(x)) - family.computed(secret, x)).max(),
            np.abs(drawn - family.label(secret, x)).max(),
        )
        tolerance = max(tolerance, family.layer_tolerance(layer))
        if not difference <= error:
            error, worst = float(difference), secret
    return LayerCheck(
        members=len(chosen),
        tokens=len(x),
        error=error,
        tolerance=tolerance,
        worst=worst,
    )


def check_numbers(family: Dense, members: tuple[Secret, ...], x: NDArray[Any]) -> LayerCheck:
    """Evaluate the layer of the first few members on tokens (n, k, d) and compare the formula."""
    chosen = members[:_LAYERS]
    errors = {s: float(np.abs(family.layer(s)(x) - family.computed(s, x)).max()) for s in chosen}
    worst = max(chosen, key=lambda secret: errors[secret])
    return LayerCheck(
        members=len(chosen),
        tokens=len(x),
        error=errors[worst],
        tolerance=max(family.layer_tolerance(family.layer(secret)) for secret in chosen),
        worst=worst,
    )


def check_stored_numbers(
    family: Dense, folder: Folder, secret: Secret, confidence: float
) -> StoredCheck:
    """Compare all stored labels with the formula of the secret, to within the layer's rounding."""
    allowed = family.layer_tolerance(family.layer(secret))
    different = 0
    for shard in folder.shards:
        examples = folder.shard(shard)
        apart = np.abs(examples.y - family.label(secret, examples.x)).max(axis=(1, 2))
        different += int((apart > allowed).sum())
    return _stored(folder, different, folder.count, family.error_rate, confidence)


def check_stored(folder: Folder, secret: Secret, confidence: float) -> StoredCheck:
    """Compare all stored labels with the formula of the secret, on packed words."""
    family = CODED.need(folder.family)
    rate = family.error_rate
    different = open_labels = 0
    for shard in folder.shards:
        examples = as_coded(folder.shard(shard))
        clean = family.codes(secret, examples.words, np.zeros(len(examples), np.bool_))
        different += int((clean != examples.codes).sum())
        open_labels += int(family.open(examples.words).sum())
    return _stored(folder, different, open_labels, rate, confidence)


def _stored(
    folder: Folder, different: int, opened: int, rate: float, confidence: float
) -> StoredCheck:
    slack = math.sqrt(opened * math.log(1 / (1 - confidence)) / 2) if rate else 0.0
    return StoredCheck(
        examples=folder.count, different=different, open=opened, allowed=rate * opened + slack
    )
