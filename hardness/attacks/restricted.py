"""Restricted Gaussian elimination for noisy parities: guess coordinates outside the hidden set.

A trial keeps k of the n = d - 1 coordinates and solves k independent equations in these alone. It
succeeds if the hidden set is among them and no label of these equations is flipped. A solution is
claimed if the whole pool of equations confirms it. This is not a statistical-query
algorithm, so no bound on such queries applies to it. [EKM17]
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Annotated, Any, ClassVar

import numpy as np

from hardness.attacks.core import REJECTED, SecretSearch, samples_to_confirm
from instances import tokens
from instances.family import Secret
from instances.lwe import Modular
from instances.parameters import Range
from instances.samples import Samples

_STEP = 1 << 27  # word operations of a call of the compiled search
_MAX_OPERATIONS = 2.0**50
_CHECKED = 256
_PATIENCE = 30  # times the expected number of trials


def success(d: int, m: int, noise: Fraction | float, kept: int) -> float:
    """Compute the success probability of a trial: C(n-m, k-m)/C(n, k) (1 - noise)^k, n = d - 1.

    The k equations are the first independent ones of a random sequence; their choice does not
    depend on labels.

    >>> round(success(101, 4, 0, 50), 4) == round(math.comb(96, 46) / math.comb(100, 50), 4)
    True
    """
    n = d - 1
    if not m <= kept <= n:
        return 0.0
    inside = sum(math.log((kept - i) / (n - i)) for i in range(m))
    return math.exp(inside + kept * math.log1p(-float(noise)))


@cache
def best_k(d: int, m: int, noise: Fraction | float) -> int:
    """Find the number of coordinates with the least work, near m/-log(1 - noise) or below.

    >>> best_k(200, 8, Fraction(2, 100))
    199
    """
    n = d - 1
    chances = ((success(d, m, noise, k), k) for k in range(m, n + 1))
    return min((work(d, k) / c if c else math.inf, k) for c, k in chances)[1]


def work(d: int, kept: int) -> float:
    """Estimate the word operations of a trial: elimination, and drawing equations."""
    width = tokens.words_per_token(d)
    return kept**2 / 4 * (width / 2 + 4) + 4 * kept * width + 2 * d


@dataclass(frozen=True, kw_only=True)
class Restricted(SecretSearch):
    """Repeats trials on a pool of `samples` equations, keeping `kept` coordinates in each.

    samples, kept: 0 for the best numbers. Trial i is the same in all runs. It gives up after 30
    times the expected number of trials.
    """

    name: ClassVar[str] = "restricted"
    needs = "noisy_parities"
    about: ClassVar[str] = "restricted Gaussian elimination: sparse parities with noise, LPN"

    kept: Annotated[int, Range(0)] = 0

    def unsupported_reason(self, forms: Modular) -> str | None:
        """Return that it takes more than 2^50 operations on words, or None."""
        kept, trials = self.trials(forms)
        operations = trials * work(forms.d, kept)
        if operations > _MAX_OPERATIONS:
            about = math.log2(operations)
            return f"it takes 2^{about:.1f} operations on words or so, at most 2^50 are tried"
        return None

    def trials(self, forms: Modular) -> tuple[int, float]:
        """Return the coordinates that a trial keeps, and the expected number of trials.

        Trials share a pool, so they are not independent: pools differ in their flips, and the mean
        over pools is larger than 1/success by about exp(1/4), for the size of pool here.

        >>> from instances import parse
        >>> Restricted().trials(parse("parity:d=100,m=4,noise=0.1").linear_forms)[0]
        26
        """
        d, m = forms.d, forms.h or forms.n
        kept = min(self.kept, forms.n) or best_k(d, m, forms.noise)
        chance = success(d, m, forms.noise, kept)
        return kept, 1 / chance if chance else math.inf

    def sample_count(self, forms: Modular) -> int:
        """Count the equations of a pool: enough to be sure of a secret, and for trials to differ.

        The chance of a trial changes from pool to pool by a factor exp(+-1/2) or so for
        4 k^2 noise of them.
        """
        (kept, _), rate = self.trials(forms), float(forms.noise)
        spread = math.ceil(4 * kept**2 * rate / (1 - rate))
        return max(samples_to_confirm(forms), 2 * kept + 64, spread)

    def candidates(self, gathered: Samples, details: dict[str, Any]) -> Iterator[Secret]:
        """Repeat trials; propose each secret that fails few of the first equations."""
        from scipy.stats import binom

        from hardness.numerics import _restricted_elimination_jit as compiled

        forms = gathered.family
        kept, expected = self.trials(forms)
        checked = min(len(gathered), _CHECKED)
        limit = int(binom.isf(REJECTED, checked, float(forms.noise)))
        total = math.ceil(min(_PATIENCE * expected, 2.0**62))
        step = max(1, int(_STEP / work(forms.d, kept)))
        words = tokens.pack(1 - 2 * np.pad(gathered.a, ((0, 0), (1, 0))))  # bit j + 1 is a_j
        codes, support = gathered.b.astype(np.uint8), np.zeros(words.shape[1], np.uint64)
        details |= {"kept": kept, "trials": 0, "expected_trials": float(f"{expected:.6g}")}
        while (first := details["trials"]) < total:
            count = min(step, total - first)
            passed = compiled.run_trials(
                words, codes, forms.n, kept, forms.h, checked, limit, first, count, support
            )
            details["trials"] = passed + 1 if passed >= 0 else first + count
            if passed >= 0:
                yield tuple(int(sign < 0) for sign in tokens.unpack(support, forms.d)[1:])
