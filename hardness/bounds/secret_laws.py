"""The witness that bounds the distribution (law) of the secret of an LWE-style family.

Let ell(t, c) = Pr[c | t]/Pr[c] - 1 for a code c, t = <a, s> mod q. A query moves from the reference
(codes drawn without a secret) to member s by E_0[o ell(<a, s>, c) phi], o = 1[z_0 = -1]. For
uniform a, and for the members that are counted, these functions are orthogonal with squared norm
chi^2/2. If the density of a is at most `most`, their Gram matrix has no eigenvalue above most
chi^2/2. Bessel's inequality then bounds the effect of one query on all members together. This
module finds the weights that bound the law of the secret. docs/mathematics.md has the proofs.
"""

import math
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardness.bounds.checker import written
from hardness.bounds.checker.residues import residues_of
from instances.lwe import Modular, modulus

_MOST_CUT = 12_000  # the largest cut
_MOST_BITS = 1 << 30  # of the integers that the checker sums below the cut
_MOST_WORK = 1 << 35  # these bits times the number of different weights
_MOST_WEIGHT = 4000  # the largest weight of an entry
_BASE_BITS = 32  # precision of the base
_NEARLY_UNIFORM = 0.01  # if log-probabilities of vectors differ by less, no weights are needed


def weights(family: Modular, success: Fraction) -> dict[str, Any]:
    """Find the witness by which the checker bounds the law of a secret.

    The weight of a value that is p times as likely as the likeliest one is log(p) / log(base),
    rounded down. Base and cut are chosen so that a learner must handle the most members.

    >>> from instances import parse
    >>> family = parse("lwe:n=40,q=5,secret=gaussian,spread=1/4,error=none")
    >>> witness = weights(family, Fraction(2, 3))
    >>> witness["weights"], witness["cut"]
    ([0, 1, 4, 4, 1], 1)
    """
    law, m = family.secrets.law, modulus(family)
    folded = sorted(residues_of(law or {0: 1}, m).items())
    counts = [count for _, count in folded]
    unweighted = {"base": "1", "cut": 0, "weights": []}
    shares = np.array([float(Fraction(count, sum(counts))) for count in counts])
    depths = np.array([math.log(max(counts)) - math.log(count) for count in counts])
    entries = family.h or family.n
    if law is None or entries * depths.max() < _NEARLY_UNIFORM:
        return unweighted
    nonunits = shares * [math.gcd(v, m) > 1 for v, _ in folded]
    wanted = float(success) * (1 - float(nonunits.sum()) ** entries)
    bits = entries * sum(counts).bit_length()
    best, chosen, last = -math.inf, 0.0, 0
    for step in _candidate_steps(depths, shares, entries):
        weighed = (depths / step + 1e-9).astype(int)
        work = bits * len(set(weighed))
        limits = (_MOST_CUT, _MOST_BITS // bits, _MOST_WORK // work, entries * max(weighed))
        reach = min(limits)
        left = wanted - _probability_below(shares, weighed, entries, reach)
        left += _probability_below(nonunits, weighed, entries, reach)
        value = np.log(np.maximum(left, 1e-300)) + np.arange(len(left)) * step
        value[left <= 0] = -math.inf
        if value.max() > best:
            best, chosen, last = value.max(), step, int(value.argmax())
    if best == -math.inf:
        return unweighted
    # The base is rounded up by at least one part, so that weights in float64 are not too large.
    parts = 1 << (_BASE_BITS + math.ceil(chosen / math.log(2)))
    base = Fraction(math.floor(math.exp(-chosen) * parts) + 2, parts)
    weighed = np.floor(depths / -math.log(base) * (1 - 1e-13)).astype(int)
    return {"base": written(base), "cut": last, "weights": weighed.tolist()}


def _candidate_steps(
    depths: NDArray[np.float64], shares: NDArray[np.float64], entries: int
) -> list[float]:
    """Return negative logarithms of bases for which rounding of weights loses little.

    depths: log of the largest probability over each probability; shares: the probabilities.
    """
    finest = max(
        2 * entries * float(shares @ depths) / _MOST_CUT, float(depths.max()) / _MOST_WEIGHT
    )
    least = float(depths[depths > 0].min(initial=math.inf))
    exact = [least / k for k in range(1, 9) if k * finest <= least < math.inf]
    coarse = [float(step) for step in np.geomspace(finest, float(depths.max()), 16)]
    grid = np.geomspace(finest, float(depths.max()), max(50, min(4000, 200_000 // len(depths))))
    cuts = []
    for step in grid:
        weighed = (depths / step + 1e-9).astype(int)
        mean = float(shares @ weighed)
        spread = math.sqrt(max(0.0, entries * (float(shares @ weighed**2) - mean**2)))
        cuts.append(step * (entries * mean - spread / 2))
    return exact + coarse + [float(step) for step in grid[np.argsort(cuts)[-12:]]]


def _probability_below(
    shares: NDArray[np.float64], weights: NDArray[np.intp], entries: int, reach: int
) -> NDArray[np.float64]:
    """Return Pr[total weight of `entries` independent entries < c] for c = 0 .. reach."""
    mean = entries * float(shares @ weights)
    wide = math.sqrt(entries * float(shares @ weights**2))
    size = 1 << math.ceil(math.log2(max(reach, mean + 12 * wide) + weights.max() + 2))
    single = np.bincount(weights, weights=shares, minlength=size)
    law = np.fft.irfft(np.fft.rfft(single) ** entries, size)
    return np.concatenate([[0.0], np.cumsum(law)])[: reach + 1].clip(0)
