"""Restricted Gaussian elimination for noisy parities: guess where the hidden set is not.

A trial keeps k of the n = d - 1 coordinates, solves k independent equations in them alone, and is
right where the hidden set lies among them and none of the equations has its label flipped. It is no
statistical-query algorithm, and stands beside every bound for noisy parities. [EKM17]
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any, ClassVar

import numpy as np

from hardness.attacks.core import (
    REJECTED,
    Equations,
    SecretSearch,
    equations,
    gather,
    samples_to_confirm,
)
from hardness.oracles import ExampleOracle
from instances import tokens
from instances.family import Secret
from instances.limits import require_memory
from instances.lwe import Modular

_STEP = 1 << 27  # word operations of a call of the compiled search
_MOST = 2.0**50
_CHECKED = 256
_PATIENCE = 30  # times the expected number of trials


@dataclass(frozen=True, kw_only=True)
class Trials:
    """What restricted elimination takes on average.

    kept: k; success: of one trial, exactly, over the instance, the equations and the coordinates;
    expected: trials, where each has equations of its own; operations: on words, in all of them.
    """

    kept: int
    success: float
    expected: float
    operations: float


def success(d: int, m: int, noise: Fraction | float, kept: int) -> float:
    """Compute the chance of a trial: C(n-m, k-m)/C(n, k) (1 - noise)^k, n = d - 1.

    The k equations are the first independent ones among random ones; which they are does not
    depend on the labels.

    >>> round(success(101, 4, 0, 50), 4) == round(math.comb(96, 46) / math.comb(100, 50), 4)
    True
    """
    n = d - 1
    if not m <= kept <= n:
        return 0.0
    inside = sum(math.log((kept - i) / (n - i)) for i in range(m))
    return math.exp(inside + kept * math.log1p(-float(noise)))


def expected_trials(d: int, m: int, noise: Fraction | float, kept: int = 0) -> Trials:
    """Count trials for k coordinates (0: the best k) of hidden m of d - 1.

    Trials share a pool, which makes them a little dependent: pools differ in their flips, and the
    mean over pools is larger than 1/success by about exp(1/4), for the size of pool here.

    >>> expected_trials(d=100, m=4, noise=Fraction(1, 10)).kept
    26
    """
    kept = kept or best_k(d, m, noise)
    chance = success(d, m, noise, kept)
    expected = 1 / chance if chance else math.inf
    return Trials(
        kept=kept,
        success=chance,
        expected=expected,
        operations=expected * work(d, kept),
    )


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


def pool_size(family: Modular, kept: int) -> int:
    """Count the equations of a pool: enough to be sure of a secret, and for trials to differ.

    The chance of a trial changes from pool to pool by a factor exp(+-1/2) or so for 4 k^2 noise of
    them.
    """
    rate = float(family.noise)
    spread = math.ceil(4 * kept**2 * rate / (1 - rate))
    return max(samples_to_confirm(family), 2 * kept + 64, spread)


@dataclass(frozen=True, kw_only=True)
class Restricted(SecretSearch):
    """Repeats trials on a pool of equations, `samples` or `pool_size`, keeping `kept` coordinates.

    kept: 0 for the best number. Trial i is the same in all runs. It gives up after 30 times the
    expected number of trials.
    """

    name: ClassVar[str] = "restricted"
    needs = "noisy_parities"
    about: ClassVar[str] = "restricted Gaussian elimination: sparse parities with noise, LPN"

    kept: int = 0

    def unsupported_reason(self, forms: Modular) -> str | None:
        """Return that it takes more than 2^50 operations on words, or None."""
        operations = self.trials(forms).operations
        if operations > _MOST:
            about = math.log2(operations)
            return f"it takes 2^{about:.1f} operations on words or so, at most 2^50 are tried"
        return None

    def trials(self, forms: Modular) -> Trials:
        """Count the trials that it takes on average, with the coordinates that it keeps."""
        return expected_trials(forms.d, forms.h or forms.n, forms.noise, min(self.kept, forms.n))

    def sample_count(self, forms: Modular) -> int:
        """Count the equations of a pool."""
        return pool_size(forms, self.trials(forms).kept)

    def gather(self, oracle: ExampleOracle, forms: Modular) -> Equations:
        """Draw a pool of equations."""
        size = self.samples or self.sample_count(forms)
        require_memory(3 * 8 * size * tokens.words_per_token(forms.d), f"{size} equations")
        return gather(oracle, size, equations)

    def candidates(self, gathered: Equations, details: dict[str, Any]) -> Iterator[Secret]:
        """Repeat trials; propose each secret that fails few of the first equations."""
        from scipy.stats import binom

        from hardness.numerics import _restricted_elimination_jit as compiled

        forms = gathered.family
        average = self.trials(forms)
        checked = min(len(gathered), _CHECKED)
        limit = int(binom.isf(REJECTED, checked, float(forms.noise)))
        total = math.ceil(min(_PATIENCE * average.expected, 2.0**62))
        step = max(1, int(_STEP / work(forms.d, average.kept)))
        support = np.zeros(gathered.words.shape[1], np.uint64)
        details["kept"], details["trials"] = average.kept, 0
        details["expected_trials"] = float(f"{average.expected:.6g}")
        while details["trials"] < total:
            first = details["trials"]
            count = min(step, total - first)
            passed = compiled.run_trials(
                gathered.words,
                gathered.codes,
                forms.n,
                average.kept,
                forms.h,
                checked,
                limit,
                first,
                count,
                support,
            )
            details["trials"] = passed + 1 if passed >= 0 else first + count
            if passed >= 0:
                yield tuple(int(sign < 0) for sign in tokens.unpack(support, forms.d)[1:])
