"""Brute force: all secrets in turn, each rejected once a few samples contradict it.

It works for all labels of linear forms with at most 2^44 secrets, and misses the true secret with
probability 2^-20. The best vector is claimed if the samples confirm it.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from hardness.attacks.core import SecretSearch, costs, nonzero_values
from hardness.numerics.sparse_search import (
    CheapestVector,
    ModularSearch,
    ParitySearch,
    SparseSearch,
    count_heads,
)
from instances.family import Secret
from instances.limits import require_memory
from instances.lwe import Modular
from instances.samples import Samples
from instances.tokens import pack

MOST_SECRETS = 1 << 44  # about half a day
_STEP = 1 << 22  # vectors in one call of a compiled search: about 0.03 seconds


@dataclass(frozen=True, kw_only=True)
class BruteForce(SecretSearch):
    """Tries every secret (see hardness/numerics/sparse_search.py), of light weight first."""

    name: ClassVar[str] = "bruteforce"
    about: ClassVar[str] = "all secrets of a small or sparse family, some 1e8 candidates a second"

    def unsupported_reason(self, forms: Modular) -> str | None:
        """Return None for at most 2^44 secrets, else the reason."""
        if forms.size > MOST_SECRETS:
            return f"it has 2^{math.log2(forms.size):.1f} secrets, brute force takes at most 2^44"
        return None

    def candidates(self, gathered: Samples, details: dict[str, Any]) -> Iterator[Secret | None]:
        """Search weight by weight, and for each the heads of vectors in steps."""
        forms, search = gathered.family, enumeration(gathered)
        details |= {"candidates": forms.secrets.size, "tried": 0}
        for weight in weights(forms):
            heads = count_heads(forms.n, weight, search.values)
            step = max(1, _STEP * weight // (forms.n * search.values))
            for first in range(0, heads, step):
                tried, cheapest = search.run(weight, first, min(step, heads - first))
                details["tried"] += tried
                yield _entries(forms, cheapest) if cheapest else None


def weights(family: Modular) -> Sequence[int]:
    """List the possible weights of a secret."""
    return (family.h,) if family.h else range(1, family.n + 1)


def enumeration(gathered: Samples) -> SparseSearch:
    """Prepare the search through all vectors that could be the secret of samples."""
    family, cost = gathered.family, costs(gathered)
    if family.q == 2:  # errors have equal costs; they are counted after 64, 128, ... samples
        ends = np.minimum(np.arange(64, len(gathered) + 64, 64), len(gathered))
        packed, codes = pack(1 - 2 * gathered.a.T), pack(1 - 2 * gathered.b)
        limits = cost.limits[ends - 1] // cost.tables.max()
        return ParitySearch(columns=packed, codes=codes, limits=limits)
    values = np.array(nonzero_values(family), np.int64)
    require_memory(24 * len(values) * gathered.a.size, f"the multiples of samples of {family.spec}")
    columns = values[:, None, None] * gathered.a.T % family.q
    return ModularSearch(columns, **vars(cost))


def _entries(family: Modular, cheapest: CheapestVector) -> Secret:
    values, entries = nonzero_values(family), [0] * family.n
    for place, number in cheapest.entries:
        entries[place] = values[number]
    return tuple(entries)
