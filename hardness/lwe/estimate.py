"""Estimates of all attacks on a problem, with certified bounds on statistical queries."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from math import log2
from types import MappingProxyType

from hardness.bounds import checker
from hardness.bounds.certificate import Claim
from hardness.bounds.certify import certify
from hardness.lwe.attacks import arora, bdd, bkw, counted, drop_and_solve, dual, usvp
from hardness.lwe.models import DEFAULT, SMALL_BLOCK, Setting
from hardness.lwe.parameters import LweParameters
from hardness.lwe.record import Estimate, Estimates, Fields, Kind
from hardness.lwe.scan import spread
from instances.errors import ToolkitError, unknown
from instances.family import Family, require

Attack = Callable[[LweParameters, Setting], Estimate]
LATTICE: dict[str, Attack] = {  # attacks whose cost depends on the model of lattice reduction
    "usvp": usvp.usvp,
    "bdd": bdd.bdd,
    "bdd_hybrid": bdd.bdd_hybrid,
    "bdd_mitm_hybrid": bdd.bdd_mitm_hybrid,
    "dual": dual.dual,
    "dual_guess": dual.dual_guess,
    "dual_hybrid": dual.dual_hybrid,
    "guess+usvp": drop_and_solve.guess_usvp,
}
OTHERS: dict[str, Attack] = {
    "arora-gb": arora.arora_gb,
    "arora-ge": arora.arora_ge,
    "bkw": bkw.bkw,
    "brute-force": counted.brute_force,
    "coded-bkw": bkw.coded_bkw,
    "guess+arora-gb": drop_and_solve.guess_arora_gb,
    "linear-algebra": counted.linear_algebra,
    "meet-in-the-middle": counted.meet_in_the_middle,
    "restricted-elimination": counted.restricted_elimination,
}
_ATTACKS = {**LATTICE, **OTHERS}
DUALS = ("dual", "dual_guess", "dual_hybrid")  # for the shape gsa; their scans are not exhaustive
_FORMS = ("bdd", "bdd_hybrid", "bdd_mitm_hybrid", *DUALS, "coded-bkw")  # tried on all forms
_ROUNDING = 1e-9
_TOY = 48  # n up to which scans of `DUALS` are repeated with fewer samples
_MOST_VALUES = 1 << 11  # of an entry, for which a certificate takes about a second
BEYOND = "these parameters are of no family here, of which one could be certified"
QUANTITIES = ("orthogonal-members", "sq-dimension", "stat-queries", "stat-success")


def estimate_all(
    parameters: LweParameters,
    spec: str,
    settings: Sequence[Setting] = (),
    only: Sequence[str] = (),
    family: Family | None = None,
    name: str = "",
    levels: Mapping[str, float] = MappingProxyType({}),
    claimed: int | None = None,
) -> Estimates:
    """Estimate what each attack costs on a problem; raises UsageError for unknown attacks.

    settings: models of lattice reduction, all with the same probability of success; if there are
    none, the default. only: the names of some attacks. family: the family to certify. name: of a
    set. levels: other probabilities of success for some attacks. claimed: the bits of security that
    are claimed for the set.

    >>> from hardness.lwe.parameters import parse_parameters
    >>> spec = "lwe:n=80,q=113,sigma=3,secret=binary,h=6"
    >>> both = ("meet-in-the-middle", "brute-force")
    >>> estimate_all(parse_parameters(spec), spec, only=both).least.name
    'meet-in-the-middle'
    """
    for attack in only:
        if attack not in _ATTACKS:
            raise unknown("attack", attack, list(_ATTACKS))
    samples = parameters.samples
    require(samples is None or samples >= 1, f"samples={samples}: at least 1 is needed")
    different = {(each.model.name, each.shape): each for each in settings or (DEFAULT,)}
    settings, parameters = tuple(different.values()), parameters.shifted()
    estimates = [
        estimate_attack(attack, parameters, replace(each, success=levels.get(attack, each.success)))
        for attack in dict.fromkeys(only) or _ATTACKS
        for each in (settings if attack in LATTICE else settings[:1])
    ]
    queries, average, reason = _queries(family, parameters.secret.values)
    return Estimates(
        spec=spec,
        name=name or spec,
        samples=samples,
        success=settings[0].success,
        estimates=tuple(estimates),
        queries=queries,
        average=average,
        no_queries=reason,
        level=claimed,
    )


def estimate_attack(name: str, parameters: LweParameters, setting: Setting) -> Estimate:
    """Estimate one attack, on the cheapest form of the problem and with the available samples.

    The attack does not apply if it needs more labels than there are, or if there are too few to
    determine the secret. It costs at least the reading of the n entries of each of its samples. If
    reading dominates, fewer samples are tried by bisection.

    >>> from hardness.lwe.parameters import parse_parameters
    >>> wide = parse_parameters("lwe:n=64,q=97,sigma=1,secret=gaussian,spread=2", 96)
    >>> "of 32 samples" in estimate_attack("usvp", wide, DEFAULT).note
    False
    """
    best = _of_all(name, parameters, setting)
    if not best.applies or best.samples is None:
        return best

    def reads(estimate: Estimate) -> bool:
        bits = log2(parameters.n) + (estimate.sample_bits or 0.0)
        return estimate.applies and estimate.rank <= bits

    tried, low, high = [best], min(parameters.unique, best.samples), best.samples
    while reads(best) and low < high:
        middle = (low + high) // 2
        tried.append(_of_all(name, replace(parameters, samples=middle), setting))
        low, high = (low, middle) if reads(tried[-1]) else (middle + 1, high)
    if name in DUALS and (best.beta or SMALL_BLOCK) < SMALL_BLOCK and parameters.n <= _TOY:
        few = spread(1, best.samples, 12)
        tried += [_of_all(name, replace(parameters, samples=int(m)), setting) for m in few]
    return min(tried, key=lambda estimate: estimate.rank)


def _of_all(name: str, parameters: LweParameters, setting: Setting) -> Estimate:
    assumed = {"model": setting.model.name, "shape": setting.shape}
    lattice: Fields = assumed if name in LATTICE else {}

    def none(reason: str, source: str, kind: Kind = "heuristic model") -> Estimate:
        return Estimate(name=name, kind=kind, source=source, reason=reason, **lattice)

    if name in DUALS and setting.shape != "gsa":
        return none(f"its formula is for the shape gsa, {setting.shape} is given", "-")
    best = _of_forms(_ATTACKS[name], name in _FORMS, parameters, setting)
    if best.reason or best.sample_bits is None:
        return best
    bits, samples = max(best.sample_bits, log2(parameters.unique)), parameters.samples
    best = best.changed(sample_bits=bits)
    if samples is None or bits <= log2(samples) + _ROUNDING:
        return best.at_least(log2(parameters.n) + bits, "it reads all entries of its samples")
    few = f"not reachable with {samples} samples: it needs {best.sample_words}"
    return none(parameters.too_few or few, best.source, best.kind)


def _of_forms(attack: Attack, every: bool, parameters: LweParameters, setting: Setting) -> Estimate:
    """Estimate an attack on the form of a problem in which it is cheapest.

    every: whether to try all forms. Replacing the secret by the errors of n samples is linear
    algebra and costs n^3 operations.
    """
    tried = []
    for form in parameters.forms() if every else [parameters]:
        estimate = attack(form, setting)
        if form.spent:
            estimate = estimate.at_least(3 * log2(form.n), "it replaces the secret by errors")
        if form.again:
            also = f"in {form.again} of {form.rows} samples the error is an entry of the secret"
            estimate = estimate.noted(also)
        tried.append(estimate)
    best = min(tried, key=lambda estimate: estimate.rank)
    few = parameters.too_few if tried[1:] and not parameters.no_rows else ""
    return best.changed(reason=few or best.reason) if best.reason else best


def _queries(family: Family | None, wide: int) -> tuple[tuple[Claim, ...], str, str]:
    """Return the certified claims, the secrets over which they average, and why there are none.

    wide: how many values an entry of the secret takes.
    """
    if family is None:
        return (), "", BEYOND
    if wide > _MOST_VALUES:
        takes = "`hardness certify` takes its time"
        return (), "", f"entries of the secret take {wide} values: {takes}"
    try:
        claims = {claim.quantity: claim for claim in certify(family).claims}
    except ToolkitError as error:
        return (), "", str(error)
    average = "all secrets, as the family draws them"
    if counted := claims.get("orthogonal-members"):
        most = checker.short(counted.upper, up=True)
        average += f": {checker.short(counted.value)} members, of at most {most} secrets: where a "
        average += "is uniform their laws of a label are orthogonal"
        if (alike := int(counted.terms["alike"])) > 1:
            average += f", but for up to {alike} that are multiples of each other by units"
    return tuple(claims[name] for name in QUANTITIES if name in claims), average, ""
