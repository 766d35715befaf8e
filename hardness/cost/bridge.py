"""The same parameters in the syntax of lattice-estimator, and its figures where it is installed."""

import math
from importlib import import_module
from typing import Any

from hardness.cost.problem import Law, Problem
from hardness.cost.record import Estimate
from hardness.cost.reduction import Setting
from instances.errors import UsageError
from instances.family import require

SOURCE = "lattice-estimator"
_MODELS = {  # its names of cost models
    "abfksw20": "ABFKSW20",
    "ablr21": "ABLR21",
    "adps16": "ADPS16",
    "bdgl16": "BDGL16",
    "chaloy21": "ChaLoy21",
    "chengu12": "CheNgu12",
    "gj21": "GJ21",
    "kyber": "Kyber",
    "laamospol14": "LaaMosPol14",
    "matzov": "MATZOV",
}
LEVELS = {"dual_hybrid": 0.5, "guess+arora-gb": 0.99**2}  # of success, where it is not 0.99
_LOGARITHMS = {  # its name of a count: ours of the logarithm
    "rop": "rop",
    "red": "red",
    "svp": "svp",
    "guess": "guess",
    "mem": "mem",
    "repetitions": "repetitions",
    "|S|": "space",
}
_WHOLE = {"beta": "beta", "eta": "eta", "beta_": "sieve", "zeta": "zeta", "d": "d", "p": "p"}
_CLOSE = 1e-6
_SHORT = 1 << 64

Call = tuple[str, tuple[float, ...], dict[str, int]]  # of a distribution: name, arguments


def emit(problem: Problem) -> str:
    """Write a problem as lattice-estimator reads it, in Python; raises UsageError.

    A law that it has no name for stands as the Gaussian of its mean and deviation, with a comment.

    >>> from hardness.cost.problem import read
    >>> print(emit(read("lwe:n=1024,q=2^25,sigma=3.19,secret=ternary,h=64")))
    LWE.Parameters(n=1024, q=33554432, Xs=ND.SparseTernary(p=32, m=32, n=1024), \
Xe=ND.DiscreteGaussian(3.19), m=oo)
    """
    secret, error = _laws(problem)
    m = "oo" if problem.rows is None else str(problem.rows)
    text = (
        f"LWE.Parameters(n={problem.n}, q={_modulus(problem.q)}, Xs={_written(secret)}, "
        f"Xe={_written(error)}, m={m})"
    )
    other = [
        what
        for what, law, call in (
            ("secret", problem.secret, secret),
            ("error", problem.error, error),
        )
        if law is not None and call[0] == "DiscreteGaussian" and law.kind != "gaussian"
    ]
    return f"{text}  # {' and '.join(other)}: as a Gaussian of that deviation" if other else text


def peer(problem: Problem, setting: Setting) -> tuple[Estimate, ...]:
    """Run the installed lattice-estimator on a problem; raises UsageError where it is not there.

    Returns what it reports, its attacks under its names; log2 of all counts.
    """
    model = _MODELS.get(setting.model.name)
    require(
        model is not None,
        f"--peer given with the cost model {setting.model.name}, which lattice-estimator does not "
        f"have: one of {', '.join(sorted(_MODELS))}",
    )
    secret, error = _laws(problem)
    try:
        module: Any = import_module("estimator")
        lwe, laws, models = module.LWE, module.ND, module.RC
    except (ImportError, AttributeError) as missing:
        raise UsageError(
            "--peer runs lattice-estimator, which cannot be imported as `estimator` here: run in "
            "the Python of a Sage that has it, or take --emit and paste the line there"
        ) from missing
    parameters = lwe.Parameters(
        n=problem.n,
        q=problem.q,
        Xs=_made(laws, secret),
        Xe=_made(laws, error),
        **({} if problem.rows is None else {"m": problem.rows}),
    )
    found = lwe.estimate(
        parameters,
        red_cost_model=getattr(models, str(model)),
        red_shape_model=setting.shape,
        quiet=True,
    )
    return tuple(_estimate(name, dict(cost), setting) for name, cost in found.items())


def _estimate(name: str, cost: dict[str, Any], setting: Setting) -> Estimate:
    fields: dict[str, Any] = {
        ours: _log2(cost[its]) for its, ours in _LOGARITHMS.items() if its in cost
    }
    fields |= {ours: int(cost[its]) for its, ours in _WHOLE.items() if its in cost}
    fields |= {key: float(cost[key]) for key in ("prob", "delta") if key in cost}
    if "m" in cost:
        fields["sample_bits"] = _log2(cost["m"])
    reason = "it reports no finite cost" if fields.get("rop", math.inf) == math.inf else ""
    return Estimate(
        name=name,
        kind="heuristic model",
        source=SOURCE,
        reason=reason,
        search="its own local search",
        model=setting.model.name,
        shape=setting.shape,
        **({} if reason else fields),
    )


def _log2(count: Any) -> float:
    """Compute log2 of a number of any type and size; -infinity of 0."""
    try:
        number = float(count)
        if math.isfinite(number):
            return math.log2(number) if number > 0 else -math.inf
        return math.log2(int(count))  # beyond float64
    except OverflowError:
        try:
            return math.log2(int(count))
        except OverflowError:
            return math.inf


def _laws(problem: Problem) -> tuple[Call, Call]:
    error = problem.error
    if error is None or not error.deviation:
        raise UsageError(
            "a problem without error given: lattice-estimator takes none, linear algebra solves it"
        )
    count = problem.n if problem.samples is None else problem.samples
    return _call(problem.secret, problem.n, problem.q), _call(error, count, problem.q)


def _call(law: Law, count: int, q: int) -> Call:
    """Name a law; count: of how many entries it is, for a fixed weight."""
    values = law.high - law.low + 1
    if law.weight is not None:
        if (law.low, law.high) in ((0, 1), (-1, 1)):
            minus = law.weight // 2 if law.low else 0
            return "SparseTernary", (), {"p": law.weight - minus, "m": minus, "n": count}
    elif law.kind == "cbd":
        return "CenteredBinomial", (law.high,), {}
    elif law.kind != "gaussian" and abs(law.entropy - math.log2(values)) < _CLOSE:
        return ("UniformMod", (q,), {}) if values == q else ("Uniform", (law.low, law.high), {})
    require(
        math.isfinite(law.deviation),
        "a law wider than floats hold given: lattice-estimator has no name for it",
    )
    mean = () if abs(law.mean) < _CLOSE * law.deviation else (law.mean,)
    return "DiscreteGaussian", (law.deviation, *mean), {}


def _written(call: Call) -> str:
    name, values, named = call
    words = [_modulus(v) if isinstance(v, int) else f"{v:.10g}" for v in values]
    return f"ND.{name}({', '.join([*words, *(f'{k}={v}' for k, v in named.items())])})"


def _made(laws: Any, call: Call) -> Any:
    name, values, named = call
    return getattr(laws, name)(*values, **named)


def _modulus(q: int) -> str:
    """Write an integer, one of many digits as a power of 2 and what is added where that is short.

    >>> _modulus(2**190 - 1073741823), _modulus(3329)
    ('2**190 - 1073741823', '3329')
    """
    if abs(q) < _SHORT:
        return str(q)
    for power in (q.bit_length() - 1, q.bit_length()):
        more = q - 2**power
        if abs(more) < _SHORT:
            return f"2**{power}" + (f" {'-' if more < 0 else '+'} {abs(more)}" if more else "")
    return str(q)
