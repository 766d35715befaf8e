"""Forms of a layer: others with other heads that compute the same function.

No learner can tell them apart, and a diagnosis of the function has to say the same of all. `split`
and `padded` are of any layer, `flipped` of softmax attention on two tokens, the others of hidden
sets (`instances/symmetric.py`): their amplitudes are solved in rational arithmetic.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from flint import fmpq, fmpq_mat
from numpy.typing import NDArray

from instances.capabilities import CHARACTERS, SCHEME
from instances.errors import UsageError, unknown
from instances.family import Instance
from instances.layer import AttentionLayer
from instances.streams import generator
from instances.symmetric import Symmetric, log, to_float
from instances.threshold import Rational, rational, solve

Array = NDArray[np.float64]
_BIASES = (rational(Fraction(1, 4)), rational(Fraction(4)))  # e^(-2 offset) of two constant heads


@dataclass(frozen=True, kw_only=True)
class Form:
    """What a form is in a line, and how a layer of an instance is written in it."""

    about: str
    make: Callable[[Instance], AttentionLayer]


def formed(instance: Instance, name: str) -> AttentionLayer:
    """Write an instance's layer in another form; raises UsageError where there is none.

    >>> from instances import parse
    >>> instance = parse("parity:d=8,m=4").instance(0)
    >>> matched, x = formed(instance, "matched"), instance.examples(0, 99).x
    >>> matched.m, instance.layer().m, float(np.abs(matched(x) - instance.layer()(x)).max()) < 1e-12
    (6, 5, True)
    """
    if name not in FORMS:
        raise unknown("form", name, FORMS)
    return FORMS[name].make(instance)


def _flipped(instance: Instance) -> AttentionLayer:
    layer, family = instance.layer(), instance.family
    if family.k != 2 or layer.kind != "softmax":
        raise UsageError(f"{family} given: the form `flipped` is of softmax on two tokens")
    sign = np.where(np.arange(layer.m) % 2, 1.0, -1.0)[:, None, None]
    turned = layer.w[::2].sum(axis=0, keepdims=True)
    theta = np.concatenate([sign * layer.theta, np.zeros_like(turned)])
    return AttentionLayer(theta=theta, w=np.concatenate([sign * layer.w, 2 * turned]))


def _split(instance: Instance) -> AttentionLayer:
    layer = instance.layer()
    theta, w = np.repeat(layer.theta, 2, axis=0), np.repeat(layer.w / 2, 2, axis=0)
    return AttentionLayer(theta=theta, w=w, kind=layer.kind)


def _padded(instance: Instance) -> AttentionLayer:
    layer = instance.layer()
    rng = generator(instance.hidden.seed, "form", "padded")
    theta, w = rng.standard_normal((2, 1, layer.d, layer.d)) / math.sqrt(layer.d)
    more = np.concatenate([layer.theta, theta, theta]), np.concatenate([layer.w, w, -w])
    return AttentionLayer(theta=more[0], w=more[1], kind=layer.kind)


def _copies(instance: Instance) -> AttentionLayer:
    """Each head twice, with +-nu at (j, 0), j in S, where tokens of one sign meet half of each.

    A pair contributes the mean of thresholds u/2 and 2u, whichever sign meets which.
    """
    family, secret = _hidden(instance, "copies")
    base, m = rational(family.rho), family.m
    u = [base ** (2 * i - 1) for i in range(1, m + 1)]
    rows = []
    for h in range(m + 1):
        x = base ** (2 * h)
        rows.append([((x - v / 2) / (x + v / 2) + (x - 2 * v) / (x + 2 * v)) / 2 for v in u])
    goal = fmpq_mat(m + 1, 1, [rational(v) for v in family.values])
    found = fmpq_mat([[*row, fmpq(1)] for row in rows]).solve(goal)
    part = _counting(family, secret, 2 * m)
    part[:, secret[0], 0] = np.tile([math.log(2) / 2, -math.log(2) / 2], m)
    heads = [(u[i // 2], found[i // 2, 0] / 2) for i in range(2 * m)]
    return _layer(family, part, heads, found[m, 0])


def _matched(instance: Instance) -> AttentionLayer:
    """Heads whose Theta is antisymmetric on S: pairs of S count t = -1, 0, 1, and chi_S is (-1)^t.

    x_1 Theta (x_1 - x_2)^T is +-1 times the slope for pairs whose signs of z differ, else 0.
    """
    family, secret = _hidden(instance, "matched")
    m = family.m
    if m % 2 or not CHARACTERS.of(family):
        raise UsageError(f"{family} given: the form `matched` is of parities of even m")
    base = rational(family.rho)
    u = [base ** (2 * i - 1 - m) for i in range(1, m + 1)]
    x = [base ** (2 * t) for t in range(-m // 2, m // 2 + 1)]
    a, offset = solve([fmpq((-1) ** (t % 2)) for t in range(-m // 2, m // 2 + 1)], x, u)
    part = np.zeros((family.d, family.d))
    part[secret[::2], secret[1::2]] = math.log(family.rho)
    part[secret[1::2], secret[::2]] = -math.log(family.rho)
    return _layer(family, part, list(zip(u, a, strict=True)), -offset)


def _moved(instance: Instance) -> AttentionLayer:
    """Heads whose threshold stands at (j, 0), j in S, and so has a random sign; their middle not.

    For g(m - h) = -g(h) thresholds that are symmetric about m/2 give g with either sign.
    """
    family, secret = _hidden(instance, "moved")
    m = family.m
    if any(a != -b for a, b in zip(family.values, reversed(family.values), strict=True)):
        raise UsageError(f"{family} given: the form `moved` asks for g(m - h) = -g(h)")
    base = rational(family.rho)
    u = [base ** (2 * i - 1 - m) for i in range(1, m + 1)]
    x = [base ** (2 * h - m) for h in range(m + 1)]
    a, offset = solve([rational(v) for v in family.values], x, u)
    part = _counting(family, secret, m)
    part[:, secret[0], 0] = [-log(v) / 2 for v in u]
    return _layer(family, part, [(base**m, v) for v in a], -offset)


FORMS: dict[str, Form] = {
    "flipped": Form(about="every second head as (-Theta, -W), with (0, 2W)", make=_flipped),
    "split": Form(about="every head as two halves", make=_split),
    "padded": Form(about="two more heads, which cancel", make=_padded),
    "copies": Form(about="every head of a hidden set as two, Theta +- nu e_j e_0^T", make=_copies),
    "matched": Form(about="parities of even m by antisymmetric Theta", make=_matched),
    "moved": Form(about="thresholds at e_j e_0^T, where g(m-h) = -g(h)", make=_moved),
}


def _hidden(instance: Instance, name: str) -> tuple[Symmetric, list[int]]:
    family = instance.family
    scheme = SCHEME.of(family)
    if scheme is not family or scheme.kind != "softmax":
        raise UsageError(f"{family} given: the form `{name}` is of parity and profile")
    return scheme, sorted(instance.hidden.secret)


def _counting(family: Symmetric, secret: list[int], heads: int) -> Array:
    """The part of Theta by which heads count the places of S, (heads, d, d)."""
    out = np.zeros((heads, family.d, family.d))
    out[:, secret, secret] = math.log(family.rho)
    return out


def _layer(
    family: Symmetric, part: Array, heads: Sequence[tuple[Rational, Rational]], constant: Rational
) -> AttentionLayer:
    """Make heads of thresholds and amplitudes (u, a) that count by `part`, and two constant ones.

    These add `constant` where z_0 = -1, and where z_0 = +1 what makes A of all.
    """
    missing = rational(family.known_constant) - sum((a for _, a in heads), fmpq(0))
    at = [(1 - u) / (1 + u) for u in _BIASES]
    first = (constant - at[1] * missing) / (at[0] - at[1])
    every = [*heads, *zip(_BIASES, (first, missing - first), strict=True)]
    theta, w = np.zeros((2, len(every), family.d, family.d))
    theta[: len(heads)] = part
    theta[:, 0, 0] = [-log(u) / 2 for u, _ in every]
    w[:, 0, 0] = [to_float(a) for _, a in every]
    return AttentionLayer(theta=theta, w=w)
