"""Certificates of LWE-style families: orthogonal members, the law of the secret.

Let ell(t, c) = Pr[c | t]/Pr[c] - 1 for a code c, t = <a, s> mod q. A query moves from the reference
(codes drawn without a secret) to member s by E_0[o ell(<a, s>, c) phi], o = 1[z_0 = -1]. For a
uniform and the members counted these functions are orthogonal, of squared norm chi^2/2, and for a
of density at most `most` their Gram matrix has no eigenvalue above most chi^2/2. Bessel's
inequality bounds what one query sees of all members. What is looked for here are the weights by
which the law of a secret is bounded. docs/mathematics.md has the proofs.
"""

import math
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardness.bounds.checker import written
from hardness.bounds.checker.residues import residues_of
from instances.lwe import Modular, modulus

_FAR = 12_000  # how far a cut may be
_BITS = 1 << 30  # of the numbers that a cut sums
_WORK = 1 << 35  # the same times how many weights there are
_FINEST = 4000  # the most that an entry weighs
_FINE = 32  # bits of a base
_NONE = 0.01  # vectors that are as likely up to a hundredth are taken for alike


def weights(family: Modular, success: Fraction) -> dict[str, Any]:
    """Find the witness by which the checker bounds the law of a secret.

    An entry that is p times as likely as the likeliest weighs log(p) / log(base), rounded down. Of
    some bases and every cut those are taken that ask for the most members.

    >>> from instances import parse
    >>> found = weights(parse("lwe:n=40,q=5,secret=gaussian,spread=1/4,error=none"), Fraction(2, 3))
    >>> found["weights"], found["cut"]
    ([0, 1, 4, 4, 1], 1)
    """
    law, m = family.secrets.law, modulus(family)
    folded = sorted(residues_of(law or {0: 1}, m).items())
    counts = [count for _, count in folded]
    flat = {"base": "1", "cut": 0, "weights": []}
    shares = np.array([float(Fraction(count, sum(counts))) for count in counts])
    far = np.array([math.log(max(counts)) - math.log(count) for count in counts])
    many = family.h or family.n
    if law is None or many * far.max() < _NONE:
        return flat
    dull = shares * [math.gcd(v, m) > 1 for v, _ in folded]
    wanted = float(success) * (1 - float(dull.sum()) ** many)
    long = many * sum(counts).bit_length()
    best, chosen, last = -math.inf, 0.0, 0
    for step in _steps(far, shares, many):
        weighed = (far / step + 1e-9).astype(int)
        reach = min(_FAR, _BITS // long, _WORK // (long * len(set(weighed))), many * max(weighed))
        left = wanted - _below(shares, weighed, many, reach) + _below(dull, weighed, many, reach)
        value = np.log(np.maximum(left, 1e-300)) + np.arange(len(left)) * step
        value[left <= 0] = -math.inf
        if value.max() > best:
            best, chosen, last = value.max(), step, int(value.argmax())
    if best == -math.inf:
        return flat
    # Rounded up, by at least one part: so weights in floating point are none too large.
    parts = 1 << (_FINE + math.ceil(chosen / math.log(2)))
    base = Fraction(math.floor(math.exp(-chosen) * parts) + 2, parts)
    weighed = np.floor(far / -math.log(base) * (1 - 1e-13)).astype(int)
    return {"base": written(base), "cut": last, "weights": weighed.tolist()}


def _steps(far: NDArray[np.float64], shares: NDArray[np.float64], many: int) -> list[float]:
    """Logarithms of bases that lose little by rounding: the best of a grid, by means of weights."""
    finest = max(2 * many * float(shares @ far) / _FAR, float(far.max()) / _FINEST)
    least = float(far[far > 0].min(initial=math.inf))
    exact = [least / k for k in range(1, 9) if k * finest <= least < math.inf]
    coarse = [float(step) for step in np.geomspace(finest, float(far.max()), 16)]
    grid = np.geomspace(finest, float(far.max()), max(50, min(4000, 200_000 // len(far))))
    cuts = []
    for step in grid:
        weighed = (far / step + 1e-9).astype(int)
        mean = float(shares @ weighed)
        spread = math.sqrt(max(0.0, many * (float(shares @ weighed**2) - mean**2)))
        cuts.append(step * (many * mean - spread / 2))
    return exact + coarse + [float(step) for step in grid[np.argsort(cuts)[-12:]]]


def _below(
    shares: NDArray[np.float64], weights: NDArray[np.intp], many: int, reach: int
) -> NDArray[np.float64]:
    """The probability that `many` entries weigh less than c in all, for c = 0 .. reach."""
    mean = many * float(shares @ weights)
    wide = math.sqrt(many * float(shares @ weights**2))
    size = 1 << math.ceil(math.log2(max(reach, mean + 12 * wide) + weights.max() + 2))
    one = np.bincount(weights, weights=shares, minlength=size)
    law = np.fft.irfft(np.fft.rfft(one) ** many, size)
    return np.concatenate([[0.0], np.cumsum(law)])[: reach + 1].clip(0)
