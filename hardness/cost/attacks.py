"""All attacks on a problem, and what is known of statistical queries beside them."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from math import log2
from types import MappingProxyType

from hardness.bounds import checker
from hardness.bounds.certificate import Claim
from hardness.bounds.certify import certify
from hardness.cost.arora_ge import arora_gb, arora_ge
from hardness.cost.bkw import bkw, coded_bkw
from hardness.cost.combinatorial import (
    brute_force,
    linear_algebra,
    meet_in_the_middle,
    restricted_elimination,
)
from hardness.cost.dual import dual, dual_guess, dual_hybrid, dual_mitm
from hardness.cost.guessing import guessed
from hardness.cost.hybrid import bdd, bdd_hybrid, bdd_mitm_hybrid
from hardness.cost.problem import Problem
from hardness.cost.record import SMALL_BLOCK, Estimate, Estimates
from hardness.cost.reduction import MODELS, SHAPES, Setting
from hardness.cost.success import SUCCESS
from hardness.cost.usvp import usvp
from instances.errors import ToolkitError, unknown
from instances.family import Family, require

Attack = Callable[[Problem, Setting], Estimate]
LATTICE: dict[str, Attack] = {  # their cost depends on what is assumed of lattice reduction
    "usvp": usvp,
    "bdd": bdd,
    "bdd_hybrid": bdd_hybrid,
    "bdd_mitm_hybrid": bdd_mitm_hybrid,
    "dual": dual,
    "dual_guess": dual_guess,
    "dual_hybrid": dual_hybrid,
    "dual_mitm": dual_mitm,
    "guess+usvp": partial(guessed, usvp),
}
OTHERS: dict[str, Attack] = {
    "arora-gb": arora_gb,
    "arora-ge": arora_ge,
    "bkw": bkw,
    "brute-force": brute_force,
    "coded-bkw": coded_bkw,
    "guess+arora-gb": partial(guessed, arora_gb),
    "linear-algebra": linear_algebra,
    "meet-in-the-middle": meet_in_the_middle,
    "restricted-elimination": restricted_elimination,
}
NAMED = {"default": ("matzov", "gsa"), "rough": ("adps16", "gsa")}
SHAPED = ("usvp", "guess+usvp", "bdd", "bdd_hybrid", "bdd_mitm_hybrid")  # the others take gsa
_COARSE = ("dual_guess", "dual_hybrid", "dual_mitm")  # their samples are not searched in full
_SMALL_N = 64
_ROUNDING = 1e-9
BEYOND = "these parameters are of no family here, of which one could be certified"
QUANTITIES = ("orthogonal-members", "sq-dimension", "stat-queries", "stat-success")


def setting(name: str, shape: str | None = None, success: float = SUCCESS) -> Setting:
    """Return the setting of a name: default, rough, or a cost model; raises UsageError.

    success: the probability with which attacks are to succeed, 1/2 to 1 - 1e-12.

    >>> setting("rough").model.name, setting("bdgl16", "zgsa").shape
    ('adps16', 'zgsa')
    """
    key = name.strip().lower()
    model, usual = NAMED.get(key, (key, "gsa"))
    if model not in MODELS:
        raise unknown("cost model", name, [*NAMED, *MODELS])
    if shape is not None and shape.lower() not in SHAPES:
        raise unknown("shape", shape, list(SHAPES))
    return Setting(model=MODELS[model], shape=(shape or usual).lower(), success=success)


def estimate(
    problem: Problem,
    spec: str,
    settings: Sequence[Setting] = (),
    only: Sequence[str] = (),
    family: Family | None = None,
    name: str = "",
    levels: Mapping[str, float] = MappingProxyType({}),
) -> Estimates:
    """Estimate what each attack costs on a problem; raises UsageError for unknown attacks.

    settings: what is assumed of lattice reduction, each on its own, and one probability of success;
    none: the default. only: the names of some attacks. family: of which a certificate stands
    beside. name: of a set. levels: other probabilities of success, of some attacks.

    >>> from hardness.cost.problem import read
    >>> spec = "lwe:n=80,q=113,sigma=3,secret=binary,h=6"
    >>> found = estimate(read(spec), spec, only=("meet-in-the-middle", "brute-force"))
    >>> found.least.name
    'meet-in-the-middle'
    """
    every = {**LATTICE, **OTHERS}
    for one in only:
        if one not in every:
            raise unknown("attack", one, list(every))
    samples = problem.samples
    require(samples is None or samples >= 1, f"samples={samples} given: at least 1 is needed")
    unlike = {(one.model.name, one.shape): one for one in settings or (setting("default"),)}
    settings, problem = tuple(unlike.values()), problem.shifted()
    found = [
        _cost(one, problem, replace(each, success=levels.get(one, each.success)))
        for one in dict.fromkeys(only) or every
        for each in (settings if one in LATTICE else settings[:1])
    ]
    queries, average, reason = _queries(family)
    return Estimates(
        spec=spec,
        name=name or spec,
        samples=samples,
        success=settings[0].success,
        estimates=tuple(found),
        queries=queries,
        average=average,
        no_queries=reason,
    )


def _cost(name: str, problem: Problem, setting: Setting) -> Estimate:
    """Estimate an attack with all samples, and with fewer of them if that costs less.

    What costs less than to read its samples takes fewer: the number is halved to where it costs as
    much. Dual attacks of small blocks and problems try two numbers an octave, from 1 and from n.
    """
    best = _of_all(name, problem, setting)
    if not best.applies or best.samples is None:
        return best

    def reads(result: Estimate) -> bool:
        return result.applies and result.rank == _reading(problem, result)

    def fewer(samples: int) -> Estimate:
        return _of_all(name, replace(problem, samples=samples), setting)

    every = [best]
    if name in _COARSE and (best.beta or 0) < SMALL_BLOCK and problem.n <= _SMALL_N:
        most = min(2 * best.samples, problem.samples or math.inf)
        some = {math.ceil(2 ** (i / 2)) for i in range(2 * best.samples.bit_length() + 2)}
        tried = {*some, *(problem.n + m for m in some)}
        every += [fewer(m) for m in sorted(tried) if m <= most]
    elif reads(best):
        low, high = min(problem.unique, best.samples), best.samples
        while low < high:
            middle = (low + high) // 2
            every.append(fewer(middle))
            low, high = (low, middle) if reads(every[-1]) else (middle + 1, high)
    return min(every, key=lambda estimate: estimate.rank)


def _of_all(name: str, problem: Problem, setting: Setting) -> Estimate:
    if name in OTHERS:
        result = OTHERS[name](problem, setting)
    elif setting.shape != "gsa" and name not in SHAPED:
        reason = f"its formula is for the shape gsa, {setting.shape} is given"
        result = Estimate(name=name, kind="heuristic model", source="-", reason=reason)
    else:
        result = LATTICE[name](problem, setting)
    if name in LATTICE:
        result = replace(result, model=setting.model.name, shape=setting.shape)
    return _within(problem, result)


def _within(problem: Problem, result: Estimate) -> Estimate:
    """Refuse an attack that needs more labels than there are, or than single a secret out.

    None costs less than it takes to read the n entries of each of its samples.
    """
    if result.reason or result.sample_bits is None:
        return result
    samples = problem.samples
    result = replace(result, sample_bits=max(result.sample_bits, log2(problem.unique)))
    if samples is None or (result.sample_bits or 0.0) <= log2(samples) + _ROUNDING:
        return result.at_least(_reading(problem, result), "it reads all entries of its samples")
    few = f"not reachable with {samples} samples: it needs {result.sample_words}"
    reason = problem.too_few or few
    kept = {"name", "kind", "source", "model", "shape"}
    return Estimate(reason=reason, **{name: getattr(result, name) for name in sorted(kept)})


def _reading(problem: Problem, result: Estimate) -> float:
    return log2(problem.n) + (result.sample_bits or 0.0)


def _counted(claim: Claim) -> str:
    """Say how many members are counted, of how many secrets, and which are orthogonal."""
    alike = int(claim.terms["alike"])
    but = f", but for up to {alike} that are multiples of each other by units" if alike > 1 else ""
    return (
        f"{checker.short(claim.value)} members, of at most {checker.short(claim.upper, up=True)} "
        f"secrets: where a is uniform their laws of a label are orthogonal{but}"
    )


def _queries(family: Family | None) -> tuple[tuple[Claim, ...], str, str]:
    """Return what is certified, over which secrets it is averaged, and why nothing is certified."""
    if family is None:
        return (), "", BEYOND
    try:
        certificate = certify(family)
    except ToolkitError as error:
        return (), "", str(error)
    claims = {claim.quantity: claim for claim in certificate.claims}
    counted = claims.get("orthogonal-members")
    average = "all secrets, as the family draws them"
    average += f": {_counted(counted)}" if counted else ""
    return tuple(claims[name] for name in QUANTITIES if name in claims), average, ""
