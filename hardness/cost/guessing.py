"""Guessing composed with any attack: zeta coordinates of the secret are guessed, the rest attacked.

Drop and solve [ACW19]: coordinates at random places are guessed to be 0, and the attack runs on the
n - zeta others; places are drawn until the secret is 0 there, with probability 0.99 in the end. For
a secret with h entries that are not 0 a choice succeeds with probability C(n - zeta, h)/C(n, h),
for independent entries with Pr[0]^zeta. Of independent entries all values may be tried instead,
a^zeta.
"""

import heapq
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import pairwise
from math import log2

from hardness.cost.combinatorial import log2_binomial
from hardness.cost.problem import Law, Problem, sparse
from hardness.cost.record import Estimate
from hardness.cost.reduction import Setting
from hardness.cost.success import SUCCESS, log_repetitions

_CLOSE = 1e-9
_MOST_VALUES = 128
_MAY_FAIL = ("arora-gb",)

Attack = Callable[[Problem, Setting], Estimate]


@dataclass(frozen=True, kw_only=True)
class Guess:
    """What a guess of coordinates takes: log2 of the candidates |S|, of repetitions, of 1/prob."""

    space: float
    repetitions: float
    rarity: float

    @property
    def trials(self) -> float:
        """Log2 of how often the attack runs."""
        return self.space + self.repetitions


def guess(law: Law, n: int, zeta: int, success: float = SUCCESS) -> Guess:
    """Guess zeros at random places where the weight is fixed, and all values of an entry elsewhere.

    Zeros are redrawn until they are: a secret of the weight has enough of them. Of independent
    entries nobody knows how many are 0.

    >>> from hardness.cost.problem import uniform
    >>> found = guess(sparse(uniform(0, 1, q=3329), n=128, weight=10), 128, 87)
    >>> round(2**found.trials), round(2**-found.rarity, 8)
    (931820, 4.94e-06)
    """
    if law.weight is None:
        values = zeta * log2(law.alphabet + (law.zero > 0))
        return Guess(space=values, repetitions=0.0, rarity=0.0)
    rarity = log2_binomial(n, law.weight) - log2_binomial(n - zeta, law.weight)
    repetitions = float(log_repetitions(-rarity * math.log(2), success))
    return Guess(space=0.0, repetitions=repetitions, rarity=rarity)


def without(problem: Problem, zeta: int) -> Problem:
    """Drop coordinates of the secret that are guessed to be 0; its weight stays.

    >>> from hardness.cost.problem import read
    >>> left = without(read("lwe:n=64,q=3329,sigma=3,secret=binary,h=8"), 32)
    >>> left.n, left.secret.weight, left.secret.zero
    (32, 8, 0.75)
    """
    n, law = problem.n - zeta, problem.secret
    bits = problem.size_bits * n / problem.n
    if law.weight is not None:
        dropped = log2_binomial(problem.n, law.weight) - log2_binomial(n, law.weight)
        law, bits = sparse(law, n, law.weight), problem.size_bits - dropped
    return replace(problem, n=n, secret=law, size_bits=bits)


def guessed(attack: Attack, problem: Problem, setting: Setting) -> Estimate:
    """Estimate an attack behind a guess of zeta coordinates of least cost, 0 included. [ACW19]

    >>> from hardness.cost.arora_ge import arora_gb
    >>> from hardness.cost.problem import read
    >>> from hardness.cost.reduction import ROUGH
    >>> spec = "lwe:n=128,q=3329,sigma=3,secret=binary,h=10"
    >>> found = guessed(arora_gb, read(spec, samples=512), ROUGH)
    >>> found.name, found.rop < 130
    ('guess+arora-gb', True)
    """
    whole = attack(problem, setting)
    name = f"guess+{whole.name}"
    estimate = partial(
        Estimate,
        name=name,
        kind=whole.kind,
        source=f"ACW19, {whole.source}",
        model=whole.model,
        shape=whole.shape,
    )
    if problem.too_few:
        return estimate(reason=problem.too_few)
    if problem.secret.alphabet >= _MOST_VALUES:
        return estimate(
            reason=f"entries of the secret take over {_MOST_VALUES} values: too many to guess"
        )

    low = min(problem.n, (problem.secret.weight or 0) + 1)
    few = attack(without(problem, problem.n - low), setting)
    both = problem.secret.weight is not None and whole.name in _MAY_FAIL
    often = math.sqrt(setting.success) if both else setting.success

    @cache
    def after(n: int) -> Estimate:
        if n == problem.n:
            return whole
        return attack(without(problem, problem.n - n), replace(setting, success=often))

    @cache
    def trials(zeta: int) -> Guess:
        return guess(problem.secret, problem.n, zeta, often)

    if not whole.applies and whole.reason == few.reason:
        return estimate(reason=whole.reason)
    n = least(problem.n, low, lambda zeta: trials(zeta).trials, lambda n: after(n).rank)
    found, used, zeta = after(n), trials(problem.n - n), problem.n - n
    if not found.applies:
        return estimate(reason=found.reason)
    if used.space and found.rank + used.trials >= problem.size_bits:
        return estimate(reason="it tries nearly all secrets, at more than brute-force does")
    search = f"zeta: exhaustive, by bounds; {found.search}"
    return behind(replace(found, search=search), used, zeta, problem)


def behind(found: Estimate, used: Guess, zeta: int, problem: Problem) -> Estimate:
    """Put an attack on what is left of a problem behind a guess of zeta coordinates.

    >>> from hardness.cost.problem import read
    >>> from hardness.cost.reduction import DEFAULT
    >>> from hardness.cost.usvp import usvp_at
    >>> toy = read("lwe:n=128,q=251,sigma=3,secret=binary,h=4")
    >>> found = usvp_at(without(toy, 78), DEFAULT, 2, 35)
    >>> found = behind(found, guess(toy.secret, toy.n, 78), 78, toy)
    >>> found.name, found.d, round(found.repetitions, 1)
    ('guess+usvp', 86, 7.7)
    """
    how = f"all 2^{used.space:.1f} values" if used.space else "zeros"
    said = f"{zeta} coordinates guessed, {how} at 2^{used.repetitions:.1f} choices of places"
    return replace(
        found,
        name=f"guess+{found.name}",
        source=f"ACW19, {found.source}",
        rop=found.rank + used.trials,
        zeta=zeta,
        space=used.space,
        repetitions=used.repetitions,
        prob=2**-used.rarity,
        sample_bits=max(found.sample_bits or 0.0, log2(problem.unique)),
        note="; ".join(part for part in (said, found.note) if part),
    )


def least(most: int, low: int, trials: Callable[[int], float], cost: Callable[[int], float]) -> int:
    """Find the n in low .. most of least trials(most - n) + cost(n), both of which never fall.

    Between two n it is at least what the smaller costs and the larger takes in trials: intervals
    are halved where that bound is below the best, the lowest first. Costs may be infinite below
    some n and above another; between them is one of low, 2 low, 4 low, .. or most.

    >>> least(100, 1, lambda zeta: 2.0 * zeta, lambda n: n**2 / 20)
    20
    """

    some = sorted({most, *(low << k for k in range(most.bit_length()) if low << k < most)})
    first = next((n for n in some if math.isfinite(cost(n))), most)

    def bound(start: int, end: int) -> float:
        below = 0.0 if start < first else cost(start)
        return trials(most - end) + below

    best = min((trials(most - n) + cost(n), n) for n in some)
    heap = [(bound(start, end), start, end) for start, end in pairwise(some)]
    heapq.heapify(heap)
    while heap and math.isfinite(best[0]):
        lowest, start, end = heapq.heappop(heap)
        if lowest >= best[0] - _CLOSE:
            break
        if end - start < 2:
            continue
        middle = (start + end) // 2
        best = min(best, (trials(most - middle) + cost(middle), middle))
        for left, right in ((start, middle), (middle, end)):
            heapq.heappush(heap, (bound(left, right), left, right))
    return best[1]
