"""Parameters in the syntax of lattice-estimator, and its figures where it is installed."""

import ast
import math
import operator
import re
from collections.abc import Callable
from contextlib import suppress
from fractions import Fraction
from importlib import import_module
from typing import Any

from hardness.lwe.laws import Law
from hardness.lwe.models import Setting
from hardness.lwe.parameters import LweParameters
from hardness.lwe.record import Estimate
from instances.errors import UsageError
from instances.family import require
from instances.numbers import write
from instances.text import cut

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
_SHORT = 10**18
_CODE = re.compile(r"\s*(?:[\w.]+\s*=\s*)?(?:\w+\.)*?LWE\.?Parameters\s*\(")
_ENDLESS = {"oo", "infinity", "Infinity", "inf"}
_ROOMS = {"", "ND", "nd", "NoiseDistribution", "estimator"}  # what may stand before a law
_PARAMETERS = ("n", "q", "Xs", "Xe", "m", "tag")
_GAUSSIAN, _RANGE = (
    ("secret=gaussian,spread", "sigma"),
    ("secret=range,spread", "error=uniform,width"),
)
_LISTED, _SHORTER = ("secret", "error"), {(0, 1): "binary", (-1, 1): "ternary"}
_LAWS = {  # the arguments of the laws that it names, and the words for a secret and for an error
    "DiscreteGaussian": (("stddev", "mean", "n"), _GAUSSIAN),
    "DiscreteGaussianAlpha": (("alpha", "q", "mean", "n"), _GAUSSIAN),
    "CenteredBinomial": (("eta", "n"), ("secret=cbd,spread", "error=cbd,eta")),
    "TUniform": (("b", "n"), ("secret=tuniform,spread", "error=tuniform,eta")),
    "SparseTernary": (("p", "m", "n"), _LISTED),
    "SparseBinary": (("hw", "n"), _LISTED),
    "Uniform": (("a", "b", "n"), _RANGE),
    "UniformMod": (("q", "n"), _RANGE),
    "Binary": ((), _LISTED),
    "Ternary": ((), _LISTED),
}
_SIGNS: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.LShift: lambda value, bits: Fraction(_whole(value) << _whole(bits)),
    ast.Pow: operator.pow,
}
_LONGEST, _MOST_BITS = 1 << 14, 1 << 17  # characters that are read, bits of an integer

Call = tuple[str, tuple[float, ...], dict[str, int]]  # of a distribution: name, arguments


def to_estimator_code(parameters: LweParameters) -> str:
    """Write a problem as lattice-estimator reads it, in Python; raises UsageError.

    A law that it has no name for stands as the Gaussian of its mean and deviation, with a comment.

    >>> from hardness.lwe.parameters import parse_parameters
    >>> spec = "lwe:n=1024,q=2^25,sigma=3.19,secret=ternary,h=64"
    >>> print(to_estimator_code(parse_parameters(spec)))
    LWE.Parameters(n=1024, q=33554432, Xs=ND.SparseTernary(p=32, m=32, n=1024), \
Xe=ND.DiscreteGaussian(3.19), m=oo)
    """
    secret, error = _laws(parameters)
    m = "oo" if parameters.rows is None else str(parameters.rows)
    text = (
        f"LWE.Parameters(n={parameters.n}, q={_modulus(parameters.q)}, Xs={_written(secret)}, "
        f"Xe={_written(error)}, m={m})"
    )
    other = [
        what
        for what, law, call in (
            ("secret", parameters.secret, secret),
            ("error", parameters.error, error),
        )
        if law is not None and call[0] == "DiscreteGaussian" and law.kind != "gaussian"
    ]
    return f"{text}  # {' and '.join(other)}: as a Gaussian of that deviation" if other else text


# ---- its syntax, read


def is_estimator_code(text: str) -> bool:
    """Return whether a text is meant to be parameters of lattice-estimator."""
    return bool(_CODE.match(text))


def parse_estimator_code(code: str) -> tuple[str, int | None]:
    """Read "LWE.Parameters(..)" as the words of a problem and its samples; raises UsageError.

    The text is parsed and never evaluated, numbers are exact. ^ is the power, as in Sage.

    >>> laws = "Xs=ND.SparseTernary(48, 16), Xe=ND.DiscreteGaussian(3)"
    >>> parse_estimator_code(f"LWE.Parameters(512, 2**32, {laws})")
    ('lwe:n=512,q=4294967296,sigma=3,secret=[-1:16,1:48]', None)
    """
    try:
        return _read(code.strip())
    except UsageError:
        raise
    except (SyntaxError, ValueError, ArithmeticError, RecursionError, MemoryError) as deep:
        raise _refused(code.strip()) from deep


def _read(code: str) -> tuple[str, int | None]:
    lines = ast.parse(code.replace("^", "**")).body if len(code) < _LONGEST else []
    call = lines[0].value if len(lines) == 1 and isinstance(lines[0], ast.Expr | ast.Assign) else 0
    name = ast.unparse(call.func) if isinstance(call, ast.Call) else code
    if not isinstance(call, ast.Call) or not name.replace(".", "").endswith("LWEParameters"):
        raise _refused(name.rpartition(")")[2].strip(".") or code)
    parameters = _bound(call, _PARAMETERS)
    for name in _PARAMETERS[:4]:
        require(
            name in parameters, f"LWE.Parameters given without {name}: it needs n, q, Xs and Xe"
        )
    samples = ast.unparse(parameters["m"]) if "m" in parameters else "oo"
    keys = ("n", "q") if samples.lstrip("+").rpartition(".")[2] in _ENDLESS else ("n", "q", "m")
    sizes = [_number(parameters[key]) for key in keys]
    require(all(size.denominator == 1 for size in sizes), "n, q and m are integers, or m=oo")
    n, q, *rest = map(int, sizes)
    m = rest[0] if rest else None
    secret, error = _law(parameters["Xs"], "Xs", n, q), _law(parameters["Xe"], "Xe", m, q)
    return f"lwe:n={n},q={_modulus(q).replace('**', '^').replace(' ', '')},{error},{secret}", m


def _law(node: ast.expr, key: str, count: int | None, q: int) -> str:
    """Write a law in words; count: of how many entries it is, None for any number."""
    call = node if isinstance(node, ast.Call) else ast.Call(node, [], [])
    room, _, name = ast.unparse(call.func).rpartition(".")
    if name not in _LAWS or not _ROOMS.issuperset(room.split(".")):
        raise _refused(f"{key}={ast.unparse(node)}")
    names, said = _LAWS[name]
    named = {one.arg for one in call.keywords}
    if name == "SparseTernary" and call.args and "n" not in named:  # once its length came first
        old = "p" in named or (len(call.args) > 1 and _number(call.args[0]) == count)
        names = ("n", "p", "m") if old else names
    bound = _bound(call, names)
    stated = [part for part in names if ast.unparse(bound.get(part, ast.Constant(None))) != "None"]
    values = {part: _number(bound[part]) for part in stated}
    length, mean = values.pop("n", count), values.pop("mean", Fraction(0))
    require(length == count, f"{key} of n={length} given: it is of {count or 'oo'} entries")
    require(  # a known one is subtracted
        mean.denominator == 1, f"{key} has mean={write(mean)}: the mean must be an integer"
    )
    for part in names:
        lacks = part not in values and part not in ("n", "m", "mean")
        require(not lacks, f"{key}=ND.{name} given without {part}: it is needed")
        whole = part in ("stddev", "alpha") or values.get(part, Fraction(0)).denominator == 1
        require(whole, f"{key} with {part}={values.get(part)} given: an integer is needed")
    first, secret = next(iter(values.values()), Fraction(0)), key == "Xs"
    size = name.lower() if said is _LISTED else _decimal(first)
    if name == "DiscreteGaussianAlpha":
        size = _decimal(_width(first * values["q"]))
    elif name.startswith("Sparse"):
        minus = values.get("m", first if name == "SparseTernary" else Fraction(0))
        require(
            bool(first or minus), f"{key}=ND.{name} of 0 entries given: at least one must not be 0"
        )
        size = f"[{','.join(f'{v}:{c}' for v, c in ((-1, minus), (1, first)) if c)}]"
    elif said is _RANGE:
        ends = (first, values["b"]) if "b" in values else (-(first // 2), (first - 1) // 2)
        low, high = map(int, ends)
        short = "uniform" if secret and high - low + 1 == q else _SHORTER.get((low, high))
        said, size = (_LISTED, short) if short else (said, f"{low}..{high}")
    return f"{said[not secret]}={size}"


def _bound(call: ast.Call, names: tuple[str, ...]) -> dict[str, ast.expr]:
    """Bind arguments to names, as a call of a function does."""
    said = ast.unparse(call)
    keywords = [(one.arg or "**", one.value) for one in call.keywords]
    pairs = [*zip(names, call.args, strict=False), *keywords]
    given = dict(pairs)
    fits = len(call.args) <= len(names) and len(given) == len(pairs) and given.keys() <= {*names}
    require(fits, f"{cut(said, 60)} given: its arguments are {', '.join(names) or 'none'}, once")
    return given


def _number(node: ast.expr) -> Fraction:
    """Compute a number of literals and signs, exactly, of a size that a modulus may have."""
    match node:
        case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
            return Fraction(value if isinstance(value, int) else repr(value))
        case ast.UnaryOp(op=ast.USub() | ast.UAdd() as sign, operand=inner):
            return -_number(inner) if isinstance(sign, ast.USub) else _number(inner)
        case ast.Call(func=name, args=[inner]) if ast.unparse(name).endswith("stddevf"):
            return _width(_number(inner))
        case ast.BinOp(left=first, op=sign, right=second) if type(sign) in _SIGNS:
            left, right = _number(first), _number(second)
            sizes = [
                x.numerator.bit_length() + x.denominator.bit_length() - 2 for x in (left, right)
            ]
            power, shift = (isinstance(sign, kind) for kind in (ast.Pow, ast.LShift))
            bits = sizes[0] * abs(right) if power else sizes[0] + (right if shift else sizes[1])
            with suppress(ArithmeticError, TypeError, ValueError):
                found = _SIGNS[type(sign)](left, right) if bits < _MOST_BITS else None
                return found if isinstance(found, Fraction) else Fraction(repr(found))
        case ast.BinOp(op=sign):
            raise _refused(ast.unparse(ast.BinOp(ast.Name("x"), sign, ast.Name("y")))[2:-2])
    raise _refused(ast.unparse(node))


def _whole(value: Fraction) -> int:
    if value.denominator != 1:
        raise ValueError(value)
    return value.numerator


def _width(scale: Fraction) -> Fraction:
    """Return the deviation of a Gaussian exp(-pi x^2/scale^2)."""
    return Fraction(repr(float(scale) / math.sqrt(2 * math.pi)))


def _decimal(value: Fraction) -> str:
    """Write a number that words have, as float64 where its digits are too many to be read."""
    return write(
        value if max(abs(value.numerator), value.denominator) < _SHORT**2 else float(value)
    )


def _refused(what: str) -> UsageError:
    return UsageError(
        f"{cut(what, 60)} is not read: write LWE.Parameters(n=.., q=.., Xs=.., Xe=.., m=..) with "
        f"numbers, + - * / // ** ^ <<, oo and the laws ND.{', '.join(_LAWS)}; nothing is evaluated"
    )


def run_lattice_estimator(parameters: LweParameters, setting: Setting) -> tuple[Estimate, ...]:
    """Run the installed lattice-estimator on a problem; raises UsageError where it is not there.

    Returns what it reports, its attacks under its names; log2 of all counts.
    """
    model = _MODELS.get(setting.model.name)
    require(
        model is not None,
        f"--peer given with the cost model {setting.model.name}, which lattice-estimator does not "
        f"have: one of {', '.join(sorted(_MODELS))}",
    )
    secret, error = _laws(parameters)
    try:
        module: Any = import_module("estimator")
        lwe, laws, models = module.LWE, module.ND, module.RC
    except (ImportError, AttributeError) as missing:
        raise UsageError(
            "--peer runs lattice-estimator, which cannot be imported as `estimator` here: run in "
            "the Python of a Sage that has it, or take --emit and paste the line there"
        ) from missing
    parameters = lwe.Parameters(
        n=parameters.n,
        q=parameters.q,
        Xs=_made(laws, secret),
        Xe=_made(laws, error),
        **({} if parameters.rows is None else {"m": parameters.rows}),
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


def _laws(parameters: LweParameters) -> tuple[Call, Call]:
    error = parameters.error
    if error is None or not error.deviation:
        raise UsageError(
            "a problem without error given: lattice-estimator takes none, linear algebra solves it"
        )
    count = parameters.n if parameters.samples is None else parameters.samples
    return _call(parameters.secret, parameters.n, parameters.q), _call(error, count, parameters.q)


def _call(law: Law, count: int, q: int) -> Call:
    """Name a law; count: of how many entries it is, for a fixed weight."""
    values = law.high - law.low + 1
    if law.weight is not None:
        if law.counts and -1 <= law.low <= law.high <= 1:
            signs = dict(law.counts)
            return "SparseTernary", (), {"p": signs.get(1, 0), "m": signs.get(-1, 0), "n": count}
        if not law.counts and (law.low, law.high) in ((0, 1), (-1, 1)):
            minus = law.weight // 2 if law.low else 0
            return "SparseTernary", (), {"p": law.weight - minus, "m": minus, "n": count}
    elif law.kind == "cbd":
        return "CenteredBinomial", (law.high,), {}
    elif law.kind == "tuniform":
        return "TUniform", (law.high.bit_length() - 1,), {}
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
    return write(q)
