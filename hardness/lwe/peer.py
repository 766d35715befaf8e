"""Parameters in the syntax of lattice-estimator, and its estimates if it is installed."""

import ast
import inspect
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

_MODELS = {  # our names of cost models, with those of lattice-estimator
    name.lower(): name
    for name in (
        *("ABFKSW20", "ABLR21", "ADPS16", "BDGL16", "ChaLoy21", "CheNgu12", "GJ21", "Kyber"),
        *("LaaMosPol14", "MATZOV"),
    )
}
LEVELS = {"dual_hybrid": 0.5, "guess+arora-gb": 0.99**2}  # its success probabilities, if not 0.99
_LOGARITHMS = {  # its names of counts, with our fields of their log2
    **{name: name for name in ("rop", "red", "svp", "guess", "mem", "repetitions")},
    **{"|S|": "space", "m": "sample_bits"},
}
_INTEGERS = {"beta": "beta", "eta": "eta", "beta_": "sieve", "zeta": "zeta", "d": "d", "p": "p"}
_FLOATS = {"prob": "prob", "delta": "delta"}
_CLOSE = 1e-6
_SHORT = 10**18
_LONGEST, _MOST_BITS = 1 << 14, 1 << 17  # characters that are read, bits of an integer


# ---- writing


def to_estimator_code(parameters: LweParameters) -> str:
    """Write a problem as lattice-estimator reads it, in Python; raises UsageError.

    A law without a name there is written as a Gaussian of the same mean and deviation, with a
    comment.

    >>> from hardness.lwe.parameters import parse_parameters
    >>> spec = "lwe:n=1024,q=2^25,sigma=3.19,secret=ternary,h=64"
    >>> print(to_estimator_code(parse_parameters(spec)))
    LWE.Parameters(n=1024, q=33554432, Xs=ND.SparseTernary(p=32, m=32, n=1024), \
Xe=ND.DiscreteGaussian(3.19), m=oo)
    """
    code, other = {}, []
    for word, law, name, values, named in _calls(parameters):
        texts = [_modulus(v) if isinstance(v, int) else f"{v:.10g}" for v in values]
        code[word] = f"ND.{name}({', '.join([*texts, *(f'{k}={v}' for k, v in named.items())])})"
        other += [word] * (name == "DiscreteGaussian" and law.kind != "gaussian")
    m, q = "oo" if parameters.rows is None else parameters.rows, _modulus(parameters.q)
    sizes = f"n={parameters.n}, q={q}, Xs={code['secret']}, Xe={code['error']}, m={m}"
    more = f"\n# {' and '.join(other)}: as a Gaussian of that deviation" if other else ""
    return f"LWE.Parameters({sizes}){more}"


def _calls(parameters: LweParameters) -> list[tuple[Any, ...]]:
    """Return for secret and error: word, law, class of ND, positional and named arguments."""
    n, rows, error = parameters.n, parameters.samples, parameters.error
    if error is None or not error.deviation:
        raise UsageError(
            "a problem without error: lattice-estimator takes none, linear algebra solves it"
        )
    laws = ("secret", parameters.secret, n), ("error", error, n if rows is None else rows)
    return [(word, law, *_call(law, count, parameters.q)) for word, law, count in laws]


def _call(law: Law, count: int, q: int) -> tuple[str, tuple[int | float, ...], dict[str, int]]:
    """Return the class and the arguments of a law; count: its number of entries."""
    width, ends = law.high - law.low + 1, (law.low, law.high)
    if law.weight is not None:
        signs = dict(law.counts) or {1: law.weight}
        if law.low and not law.counts:
            signs = {1: law.weight - law.weight // 2, -1: law.weight // 2}
        plus, minus = signs.get(1, 0), signs.get(-1, 0)
        if plus + minus == law.weight and (law.counts or ends in _NAMED):
            return "SparseTernary", (), {"p": plus, "m": minus, "n": count}
    elif law.kind == "cbd":
        return "CenteredBinomial", (law.high,), {}
    elif law.kind == "tuniform":
        return "TUniform", (law.high.bit_length() - 1,), {}
    elif law.kind != "gaussian" and abs(law.entropy - math.log2(width)) < _CLOSE:
        return ("UniformMod", (q,), {}) if width == q else ("Uniform", ends, {})
    require(
        math.isfinite(law.deviation),
        "a law wider than floats hold: lattice-estimator has no name for it",
    )
    moments = (
        (law.deviation,) if abs(law.mean) < _CLOSE * law.deviation else (law.deviation, law.mean)
    )
    return "DiscreteGaussian", tuple(float(f"{value:.10g}") for value in moments), {}


def _modulus(q: int) -> str:
    """Write an integer; a long one as a power of 2 plus or minus a short number, if possible.

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


# ---- reading

_CODE = re.compile(r"\s*(?:[\w.]+\s*=\s*)?(?:\w+\.)*?LWE\.?Parameters\s*\(")
_ENDLESS = {"oo", "infinity", "Infinity", "inf"}
_MODULES = {"", "ND", "nd", "NoiseDistribution", "estimator"}  # allowed before the name of a law
_NAMED = {(0, 1): "binary", (-1, 1): "ternary"}


def _gaussian(deviation: Fraction) -> tuple[str, str]:
    long = max(abs(deviation.numerator), deviation.denominator) >= _SHORT**2  # is not read again
    size = write(float(deviation) if long else deviation)
    return f"gaussian,spread={size}", f"sigma={size}"


def _interval(low: Fraction, high: Fraction) -> tuple[str, str]:
    require(low < high, f"a uniform law on {low}..{high}: the first number is the smaller")
    name = _NAMED.get((int(low), int(high)))
    ends = f"{low}..{high}"
    return name or f"range,spread={ends}", f"error={name or f'uniform,width={ends}'}"


def _counts(plus: Fraction, minus: Fraction) -> tuple[str, str]:
    require(bool(plus or minus), "a sparse law of 0 entries: at least one must not be 0")
    listed = ",".join(f"{value}:{count}" for value, count in ((-1, minus), (1, plus)) if count)
    return f"[{listed}]", f"error=[{listed}]"


def _scale(width: Fraction) -> Fraction:
    """Return the deviation of a Gaussian exp(-pi x^2/width^2)."""
    return Fraction(repr(float(width) / math.sqrt(2 * math.pi)))


# For each law, a function of its arguments that returns the words after "secret=" and the words of
# an error. The length n is checked elsewhere, and a mean is dropped, since it can be subtracted.
_LAWS: dict[str, Callable[..., tuple[str, str]]] = {
    "DiscreteGaussian": lambda stddev, mean=0, n=None: _gaussian(stddev),
    "DiscreteGaussianAlpha": lambda alpha, q, mean=0, n=None: _gaussian(_scale(alpha * q)),
    "CenteredBinomial": lambda eta, n=None: (f"cbd,spread={eta}", f"error=cbd,eta={eta}"),
    "TUniform": lambda b, n=None: (f"tuniform,spread={b}", f"error=tuniform,eta={b}"),
    "SparseTernary": lambda p, m=None, n=None: _counts(p, p if m is None else m),
    "SparseBinary": lambda hw, n=None: _counts(hw, Fraction(0)),
    "Uniform": lambda a, b, n=None: _interval(a, b),
    "UniformMod": lambda q, n=None: _interval(-(q // 2), (q - 1) // 2),
    "Binary": lambda: _interval(Fraction(0), Fraction(1)),
    "Ternary": lambda: _interval(Fraction(-1), Fraction(1)),
}
_OPERATORS: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.LShift: lambda value, bits: value * 2**bits,
    ast.Pow: operator.pow,
}


def is_estimator_code(text: str) -> bool:
    """Return whether a text looks like parameters of lattice-estimator."""
    return bool(_CODE.match(text))


def parse_estimator_code(code: str) -> tuple[str, int | None]:
    """Read "LWE.Parameters(..)" as the words of a problem and its samples; raises UsageError.

    The text is parsed and never evaluated. Numbers are exact, and ^ is the power, as in Sage.

    >>> laws = "Xs=ND.SparseTernary(48, 16), Xe=ND.DiscreteGaussian(3)"
    >>> parse_estimator_code(f"LWE.Parameters(512, 2**32, {laws})")
    ('lwe:n=512,q=4294967296,sigma=3,secret=[-1:16,1:48]', None)
    """
    try:
        return _problem(code.strip())
    except UsageError:
        raise
    except (SyntaxError, ValueError, ArithmeticError, RecursionError, MemoryError) as deep:
        raise _refused(code.strip()) from deep


def _problem(code: str) -> tuple[str, int | None]:
    lines = ast.parse(code.replace("^", "**")).body if len(code) < _LONGEST else []
    call = lines[0].value if len(lines) == 1 and isinstance(lines[0], ast.Expr | ast.Assign) else 0
    name = ast.unparse(call.func) if isinstance(call, ast.Call) else code
    if not isinstance(call, ast.Call) or not name.replace(".", "").endswith("LWEParameters"):
        raise _refused(name.rpartition(")")[2].strip(".") or code)
    bound = _bound(call, lambda n, q, Xs, Xe, m=None, tag=None: None)
    samples = ast.unparse(bound["m"]).lstrip("+").rpartition(".")[2] if "m" in bound else "oo"
    sizes = [_number(bound[key]) for key in (["n", "q"] + ["m"] * (samples not in _ENDLESS))]
    require(all(size.denominator == 1 for size in sizes), "n, q and m are integers, or m=oo")
    (n, q), m = map(int, sizes[:2]), int(sizes[2]) if sizes[2:] else None
    secret, error = _law(bound["Xs"], "Xs", n)[0], _law(bound["Xe"], "Xe", m)[1]
    if secret == f"range,spread={-(q // 2)}..{(q - 1) // 2}":
        secret = "uniform"
    words = f"lwe:n={n},q={_modulus(q).replace('**', '^').replace(' ', '')}"
    return f"{words},{error},secret={secret}", m


def _law(node: ast.expr, key: str, count: int | None) -> tuple[str, str]:
    """Return the words of a law, as secret and as error; count: its entries, None for any."""
    call = node if isinstance(node, ast.Call) else ast.Call(node, [], [])
    module, _, name = ast.unparse(call.func).rpartition(".")
    if name not in _LAWS or not _MODULES.issuperset(module.split(".")):
        raise _refused(f"{key}={ast.unparse(node)}")
    bound = _bound(call, _LAWS[name]).items()
    values = {arg: _number(value) for arg, value in bound if ast.unparse(value) != "None"}
    for arg, value in values.items():
        allowed = arg in ("stddev", "alpha") or value.denominator == 1
        require(allowed, f"{key} has {arg}={write(value)}: it must be an integer")
    length = values.get("n", count)
    require(length == count, f"{key} of n={length}: it is of {count or 'oo'} entries")
    return _LAWS[name](**values)


def _bound(call: ast.Call, law: Callable[..., Any]) -> dict[str, Any]:
    """Bind the arguments of a call to the parameter names of a law; raises UsageError."""
    named = {keyword.arg or "**": keyword.value for keyword in call.keywords}
    try:
        return inspect.signature(law).bind(*call.args, **named).arguments
    except TypeError as wrong:
        raise UsageError(f"{cut(ast.unparse(call), 60)}: {wrong}") from None


def _number(node: ast.expr) -> Fraction:
    """Compute an arithmetic expression of literals exactly; raises UsageError if too large."""
    match node:
        case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
            return Fraction(value if isinstance(value, int) else repr(value))
        case ast.UnaryOp(op=ast.USub() | ast.UAdd() as sign, operand=inner):
            return -_number(inner) if isinstance(sign, ast.USub) else _number(inner)
        case ast.BinOp(left=first, op=sign, right=second) if type(sign) in _OPERATORS:
            left, right = _number(first), _number(second)
            bits, more = (
                x.numerator.bit_length() + x.denominator.bit_length() - 2 for x in (left, right)
            )
            power, shift = (isinstance(sign, kind) for kind in (ast.Pow, ast.LShift))
            size = bits * abs(right) if power else bits + (right if shift else more)
            with suppress(ArithmeticError, TypeError, ValueError):
                result = _OPERATORS[type(sign)](left, right) if size < _MOST_BITS else None
                return result if isinstance(result, Fraction) else Fraction(repr(result))
        case ast.BinOp(op=sign):
            raise _refused(ast.unparse(ast.BinOp(ast.Name("x"), sign, ast.Name("y")))[2:-2])
    raise _refused(ast.unparse(node))


def _refused(subject: str) -> UsageError:
    return UsageError(
        f"{cut(subject, 60)} is not read: write LWE.Parameters(n=.., q=.., Xs=.., Xe=.., m=..) "
        f"with numbers, + - * / // ** ^ <<, oo and the laws ND.{', '.join(_LAWS)}; nothing is "
        "evaluated"
    )


# ---- running


def run_lattice_estimator(parameters: LweParameters, setting: Setting) -> tuple[Estimate, ...]:
    """Run the installed lattice-estimator on a problem; raises UsageError if it is not installed.

    Returns its attacks under its own names, with log2 of all counts.
    """
    model = _MODELS.get(setting.model.name, "")
    require(
        bool(model),
        f"--peer with the cost model {setting.model.name}, which lattice-estimator does not "
        f"have: one of {', '.join(sorted(_MODELS))}",
    )
    calls, sizes = _calls(parameters), {"n": parameters.n, "q": parameters.q}
    sizes |= {} if parameters.rows is None else {"m": parameters.rows}
    try:
        tool: Any = import_module("estimator")
        laws = [getattr(tool.ND, name)(*values, **named) for _, _, name, values, named in calls]
        costs = tool.LWE.estimate(
            tool.LWE.Parameters(**sizes, Xs=laws[0], Xe=laws[1]),
            red_cost_model=getattr(tool.RC, model),
            red_shape_model=setting.shape,
            quiet=True,
        )
    except (ImportError, AttributeError) as missing:
        raise UsageError(
            "--peer runs lattice-estimator, which cannot be imported as `estimator` here: run in "
            "the Python of a Sage that has it, or take --emit and paste the line there"
        ) from missing
    return tuple(_estimate(name, dict(cost), setting) for name, cost in costs.items())


def _estimate(name: str, cost: dict[str, Any], setting: Setting) -> Estimate:
    values: dict[str, Any] = {
        ours: kind(cost[its])
        for kind, names in ((_log2, _LOGARITHMS), (int, _INTEGERS), (float, _FLOATS))
        for its, ours in names.items()
        if its in cost
    }
    if values.get("rop", math.inf) == math.inf:
        values = {"reason": "it reports no finite cost"}
    return Estimate(
        name=name,
        kind="heuristic model",
        source="lattice-estimator",
        search="its own local search",
        model=setting.model.name,
        shape=setting.shape,
        **values,
    )


def _log2(count: Any) -> float:
    """Compute log2 of a number of any type and size; -infinity for 0."""
    with suppress(OverflowError):
        if math.isfinite(number := float(count)):
            return math.log2(number) if number > 0 else -math.inf
    try:
        return math.log2(int(count))  # beyond float64
    except OverflowError:
        return math.inf
