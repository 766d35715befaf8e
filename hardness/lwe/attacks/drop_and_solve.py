"""Drop and solve: entries of the secret are guessed, and an attack runs on the others.

Idea: for a secret of fixed weight h, zeta entries at random places are assumed to be 0, and drawn
again until they are. For independent entries all values of zeta entries are tried, since the number
of zeros is not known.

Success: a choice is right with probability C(n - zeta, h)/C(n, h), and choices are repeated until
one is right with probability S. `arora-gb` may fail too, so attack and choices get the root of S.

Cost: the number of trials times the whole attack on n - zeta entries.

Searched: zeta; for `usvp` together with its beta.

Heuristics: those of the attack.

Source: [ACW19]
"""

import math
from dataclasses import replace
from functools import cache
from math import log2

import numpy as np
from numpy.typing import ArrayLike

from hardness.lwe.attacks.arora import arora_gb
from hardness.lwe.attacks.usvp import Embedding, usvp, usvp_at
from hardness.lwe.laws import Law, sparse
from hardness.lwe.models import Array, Integers, Setting
from hardness.lwe.parameters import LweParameters
from hardness.lwe.record import Estimate, NoEstimate, attack
from hardness.lwe.scan import scan, spread, window
from hardness.lwe.success import SUCCESS, log_repetitions
from instances.symmetric import log_binomial

_MOST_VALUES = 128  # of an entry that is guessed


def ln_zeros(law: Law, n: int, zeta: ArrayLike) -> Array:
    """Compute ln of the probability that zeta entries are 0, for a secret of fixed weight."""
    h = law.weight or 0
    return np.asarray(log_binomial(n - np.asarray(zeta), h) - log_binomial(n, h))


def log_trials(law: Law, n: int, zeta: ArrayLike, success: float = SUCCESS) -> Array:
    """Compute log2 of the number of runs of the attack, one for each guess of zeta entries.

    >>> from hardness.lwe.laws import uniform
    >>> law = sparse(uniform(0, 1, q=3329), n=128, weight=10)
    >>> round(2 ** float(log_trials(law, 128, 87)))
    931820
    """
    if law.weight is None:
        return np.asarray(zeta) * log2(law.alphabet + (law.zero > 0))
    return log_repetitions(ln_zeros(law, n, zeta), success)


def without_zeros(parameters: LweParameters, zeta: int) -> LweParameters:
    """Return the problem without zeta entries of the secret that are 0; its weight is unchanged.

    >>> from hardness.lwe.parameters import parse_parameters
    >>> rest = without_zeros(parse_parameters("lwe:n=64,q=3329,sigma=3,secret=binary,h=8"), 32)
    >>> rest.n, rest.secret.weight, rest.secret.zero
    (32, 8, 0.75)
    """
    n, law = parameters.n - zeta, parameters.secret
    bits = parameters.size_bits * n / parameters.n
    if law.weight is not None:
        bits = parameters.size_bits + float(ln_zeros(law, parameters.n, zeta)) / math.log(2)
        law = sparse(law, n, law.weight)
    return replace(parameters, n=n, secret=law, size_bits=bits)


@attack("guess+usvp", "heuristic model", "ACW19, ADPS16, AGVW17", reduces=True)
def guess_usvp(parameters: LweParameters, setting: Setting) -> Estimate:
    """Estimate `usvp` after guesses.

    >>> from hardness.lwe.models import DEFAULT
    >>> from hardness.lwe.parameters import parse_parameters
    >>> sparse = parse_parameters("lwe:n=1024,q=2^25,sigma=3.19,secret=ternary,h=64")
    >>> best = guess_usvp(sparse, DEFAULT)
    >>> best.beta < usvp(sparse, DEFAULT).beta, best.zeta > 100
    (True, True)
    """
    unguessed, n = usvp(parameters, setting), parameters.n
    _require_few_values(parameters)
    few = min(n, (parameters.secret.weight or 0) + 1)

    def cost(beta: Integers, zeta: Integers) -> Array:
        runs = log_trials(parameters.secret, n, zeta, setting.success)
        return runs + Embedding(parameters, setting.shape, zeta).cost(setting, beta)[0]

    largest = unguessed.beta or Embedding(parameters).largest()
    zeta = np.unique(np.linspace(0, n - few, 24).astype(np.int64))
    point, rop = scan(cost, spread(2, largest, 40, dense=16), zeta)
    near = np.unique(np.linspace(0.8 * point[0], 1.1 * point[0] + 4, 24).astype(np.int64).clip(2))
    some = np.linspace(0.7 * point[1], min(n - few, 1.3 * point[1] + 8), 16).astype(np.int64)
    point, rop = min(((point, rop), scan(cost, near, np.unique(some))), key=lambda best: best[1])
    if not rop < unguessed.rank:
        return with_guesses(unguessed, parameters, 0, setting)
    beta, out = point
    m = int(Embedding(parameters, setting.shape, out).cost(setting, np.array(beta))[1])
    return with_guesses(
        usvp_at(without_zeros(parameters, out), setting, beta, m), parameters, out, setting
    )


@attack("guess+arora-gb", "heuristic model", "ACW19, AG11, ACFP14, BFS04")
def guess_arora_gb(parameters: LweParameters, setting: Setting) -> Estimate:
    """Estimate `arora-gb` after guesses.

    >>> from hardness.lwe.models import DEFAULT
    >>> from hardness.lwe.parameters import parse_parameters
    >>> spec = "lwe:n=128,q=3329,sigma=3,secret=binary,h=10"
    >>> guess_arora_gb(parse_parameters(spec, samples=512), DEFAULT).rop < 130
    True
    """
    unguessed, n = arora_gb(parameters, setting), parameters.n
    _require_few_values(parameters)
    few = min(n, (parameters.secret.weight or 0) + 1)
    fixed = parameters.secret.weight is not None
    root = replace(setting, success=math.sqrt(setting.success) if fixed else setting.success)

    @cache
    def rest(zeta: int) -> Estimate:
        return arora_gb(without_zeros(parameters, zeta), root) if zeta else unguessed

    def cost(left: Integers) -> Array:
        ranks = np.array([rest(n - int(v)).rank for v in left])
        return log_trials(parameters.secret, n, n - left, root.success) + ranks

    if not unguessed.applies and unguessed.reason == rest(n - few).reason:
        raise NoEstimate(unguessed.reason)
    (left,), _ = scan(cost, spread(few, n, 14), few=3)
    (left,), rop = scan(cost, window(left, 12, few, n), few=1)
    zeta = n - left
    if not math.isfinite(rop):
        raise NoEstimate(rest(zeta).reason)
    return with_guesses(rest(zeta), parameters, zeta, root)


def _require_few_values(parameters: LweParameters) -> None:
    if reason := parameters.too_few or parameters.no_lattice:
        raise NoEstimate(reason)
    wide = f"entries of the secret take over {_MOST_VALUES} values: too many to guess"
    if parameters.secret.alphabet >= _MOST_VALUES:
        raise NoEstimate(wide)


def with_guesses(
    rest: Estimate, parameters: LweParameters, zeta: int, setting: Setting
) -> Estimate:
    """Return the estimate of guesses of zeta entries, given that of the attack on the others.

    Raises NoEstimate if the guesses amount to trying nearly all secrets.

    >>> from hardness.lwe.models import DEFAULT
    >>> from hardness.lwe.parameters import parse_parameters
    >>> toy = parse_parameters("lwe:n=128,q=251,sigma=3,secret=binary,h=4")
    >>> guess = with_guesses(usvp_at(without_zeros(toy, 78), DEFAULT, 2, 35), toy, 78, DEFAULT)
    >>> guess.name, guess.d, round(guess.repetitions, 1)
    ('guess+usvp', 86, 7.7)
    """
    law = parameters.secret
    rest = rest.changed(name=f"guess+{rest.name}", source=f"ACW19, {rest.source}")
    if not rest.applies:
        return rest
    runs = float(log_trials(law, parameters.n, zeta, setting.success))
    all_values = law.weight is None  # else zeros are guessed
    if all_values and zeta and rest.rank + runs >= parameters.size_bits:
        raise NoEstimate("it tries nearly all secrets, at more than brute-force does")
    guessed = f"all 2^{runs:.1f} values" if all_values and zeta else "zeros"
    draws = 0.0 if all_values else runs
    note = f"{zeta} coordinates guessed, {guessed} at 2^{draws:.1f} choices of places"
    return rest.changed(
        rop=rest.rank + runs,
        zeta=zeta,
        space=runs if all_values else 0.0,
        repetitions=draws,
        prob=1.0 if all_values else math.exp(float(ln_zeros(law, parameters.n, zeta))),
        sample_bits=max(rest.sample_bits or 0.0, log2(parameters.unique)),
        search=f"scan of zeta; {rest.search}",
        note="; ".join(part for part in (note, rest.note) if part),
    )
