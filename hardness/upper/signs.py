"""What labels of two values show of a hidden set. (docs/named-mathematics.md, section 13)"""

import math
from itertools import product

import numpy as np

from instances.family import Secret
from instances.reduced import Reduced
from instances.symmetric import Symmetric
from instances.tokens import mask


def evidence(seen: Reduced, family: Symmetric, secret: Secret) -> float:
    """Compute the bits by which labels favour a hidden set over coins of the same mean.

    >>> from instances import parse
    >>> from instances.reduced import reduce
    >>> instance = parse("parity:d=20,m=3").instance(0)
    >>> seen = reduce(instance.examples(0, 400))
    >>> evidence(seen, instance.family, instance.hidden.secret) == len(seen)
    True
    """
    high, m = max(family.values), family.m
    profile = np.array([1 if value == high else -1 for value in family.values])
    fade = float(1 - 2 * family.noise)
    mean = fade * sum(value * math.comb(m, h) for h, value in enumerate(profile.tolist())) / 2**m
    inside = np.bitwise_count(seen.words & mask(secret, family.d)).sum(axis=1, dtype=np.intp)
    expected, total = profile[inside], 0.0
    for value, sign in product((-1, 1), repeat=2):
        count = int(((expected == value) & (seen.codes == (1 - sign) // 2)).sum())
        if count and (edge := fade * value * sign) == -1:
            return -math.inf
        if count:
            total += count * (math.log1p(edge) - math.log1p(mean * sign)) / math.log(2)
    return total
