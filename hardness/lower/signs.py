"""Correlations of the hidden signs that examples show, sampled."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardness.lower.correlation import SampledGram, require_confidence
from instances.errors import ToolkitError, UsageError
from instances.family import Family, HiddenSigns, Secret

Tokens = Callable[[int, int], NDArray[Any]]  # start, count -> tokens (count, k, d)
_NUMBERS = 1 << 23  # signs at once: 32 MiB
_CHUNK = 1 << 13


def sampled_signs(
    family: Family,
    signs: HiddenSigns,
    members: tuple[Secret, ...],
    draw: Tokens,
    samples: int,
    confidence: float,
    progress: Callable[[int], None],
) -> SampledGram:
    """Estimate E[sum_r s_r t_r] / E[sum_r s_r^2] of the signs s, t of all pairs of members.

    An entry is within the radius of its expectation, all at once, with the confidence. By
    Hoeffding's inequality, given which signs are shown: products of an example with r of them are
    within -r and r. Raises ToolkitError where members show them on different examples, UsageError
    where none is shown.
    """
    require_confidence(confidence)
    size = len(members)
    sums, used, shown, squares = np.zeros((size, size)), 0, 0, 0
    chunk = max(64, min(_CHUNK, _NUMBERS // size))
    for start in range(0, samples, chunk):
        count = min(chunk, samples - start)
        x = draw(start, count)
        first = signs(members[0], x)
        each = (first != 0).sum(axis=1)
        found = np.empty((size, first.size), np.float32)  # sums of so few signs are exact
        for row, secret in zip(found, members, strict=True):
            row[:] = signs(secret, x).ravel()
        if not (np.abs(found) == (first != 0).ravel()).all():
            raise ToolkitError(
                f"{family.spec[:200]}: `hidden_signs` must be -1 or +1, and 0 on the same examples "
                "for every member"
            )
        sums += found @ found.T
        used += int((each > 0).sum())
        shown += int(each.sum())
        squares += int((each**2).sum())
        progress(count)
    if not used:
        raise UsageError(f"none of {samples} examples shows a hidden sign: raise --samples")
    entries = size * (size + 1) / 2
    return SampledGram(
        members=members,
        gram=sums / shown,
        radius=math.sqrt(2 * math.log(2 * entries / (1 - confidence)) * squares) / shown,
        confidence=confidence,
        samples=samples,
        used=used,
    )
