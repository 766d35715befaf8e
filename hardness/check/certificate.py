"""Re-derives the claims of a parity certificate from its evidence.

The evidence is the exact heads. What is done here: evaluate them at every count h in rational
arithmetic; conclude that the unknown part of a label is a character of the hidden set; count the
members; and verify every bound as an inequality between integers, never by the formula that made
it. No part of the makers' code is used. The words of a claim must be those of hardness/claims.py:
what was verified is what they say.
"""

import hashlib
import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NoReturn

from flint import fmpq, fmpz

from hardness.claims import FORMAT, QUANTITIES, SCOPE
from instances.errors import DamagedFile, Refuted, ToolkitError
from instances.parameters import fraction, plain

_TOP = {"format", "spec", "claims", "scope", "evidence", "digest"}
_CLAIM = {"quantity", "value", "kind", "parameters", "assumptions", "meaning", "source"}
_RATIONAL = re.compile(r"-?\d+(/\d+)?", re.ASCII)
_MAX_DIGITS = 1_000_000  # of one rational
_SPEC = re.compile(
    r"parity:d=(?P<d>[1-9]\d{0,17}),m=(?P<m>[1-9]\d{0,3}),noise=(?P<noise>[\d./]{1,90}),rho=(?P<rho>[\d./]{1,90})",
    re.ASCII,
)
_EVIDENCE = {"rho", "heads", "A", "c0", "members"}


@dataclass(frozen=True, kw_only=True)
class Checked:
    """What a certificate was found to prove, in the checker's own words."""

    spec: str
    statements: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class _Family:
    ground: int
    chosen: int
    noise: Fraction
    rho: Fraction
    size: int


def check(data: dict[str, Any]) -> Checked:
    """Derive a certificate's claims again; raises Refuted where one does not follow.

    A file that is no certificate raises DamagedFile.

    >>> from hardness.lower import certify
    >>> from instances import parse
    >>> check(certify(parse("parity:d=8,m=3")).to_json()).statements[1]
    'SQ-DIM is exactly 35: all members are orthogonal, and there are no more'
    """
    kind = data.get("format")
    if not isinstance(kind, str) or not kind.startswith("hardness-certificate/"):
        raise DamagedFile(f"this is no certificate: its format is {kind!r}")
    if kind != FORMAT:
        raise DamagedFile(f"certificate format {kind} given: this version reads {FORMAT}")
    body = {key: value for key, value in data.items() if key != "digest"}
    text = json.dumps(body, sort_keys=True, separators=(",", ":"))
    if hashlib.sha256(text.encode()).hexdigest() != data.get("digest"):
        _refuse("its content does not match its digest: it was changed after it was made")
    if set(data) != _TOP or not isinstance(data["claims"], list) or not data["claims"]:
        _refuse(f"its fields must be {', '.join(sorted(_TOP))}, with at least one claim")
    if data["scope"] != SCOPE:
        _refuse("its scope is not what these claims are about")
    try:
        family = _read_family(data["spec"])
        if set(data["evidence"]) != _EVIDENCE:
            _refuse(f"its evidence must be {', '.join(sorted(_EVIDENCE))}")
        _check_members(family, data["evidence"]["members"])
        _check_heads(family, data["evidence"])
        statements = [_check_claim(family, claim) for claim in data["claims"]]
        quantities = [claim["quantity"] for claim in data["claims"]]
        if len(set(quantities)) != len(quantities):
            _refuse("a quantity is claimed twice")
        if "information-floor" not in quantities:
            _refuse("the information floor is missing")
    except ToolkitError as error:
        raise Refuted(str(error)) from error
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
        reason = " ".join(str(error).split())[:120]
        raise Refuted(f"certificate refused: a field is missing or malformed ({reason})") from error
    return Checked(spec=data["spec"], statements=tuple(statements))


def _refuse(reason: str) -> NoReturn:
    raise Refuted(f"certificate refused: {reason}")


def _rational(text: Any) -> fmpq:
    if not isinstance(text, str) or len(text) > _MAX_DIGITS or not _RATIONAL.fullmatch(text):
        _refuse(f"{str(text)[:40]!r} is not an integer or a rational p/q")
    top, _, bottom = text.partition("/")
    return fmpq(fmpz(top), fmpz(bottom or "1"))


def _integer(text: Any) -> fmpz:
    value = _rational(text)
    if value.q != 1:
        _refuse(f"{str(text)[:40]!r} is not an integer")
    return value.p


def _fraction(text: str) -> Fraction:
    value = _rational(text)
    return Fraction(int(value.p), int(value.q))


def _read_family(spec: str) -> _Family:
    """Read the canonical spec by its own fields; the family's code is not asked."""
    found = _SPEC.fullmatch(spec)
    if not found:
        _refuse(f"{spec[:80]!r} is no canonical spec of a family that is checked here")
    d, m = int(found["d"]), int(found["m"])
    noise, rho = fraction(found["noise"], "noise"), fraction(found["rho"], "rho")
    if (plain(noise), plain(rho)) != (found["noise"], found["rho"]):
        _refuse(f"{spec[:80]!r} is not in its canonical form")
    if not (1 <= m <= d - 1 and 0 <= noise < Fraction(1, 2) and 1 < rho <= 16):
        _refuse(f"{spec} is outside of the family's range")
    return _Family(ground=d - 1, chosen=m, noise=noise, rho=rho, size=int(fmpz.bin_uiui(d - 1, m)))


def _check_members(family: _Family, members: dict[str, Any]) -> None:
    wanted = {"ground": family.ground, "chosen": family.chosen}
    if members != wanted or any(type(value) is not int for value in members.values()):
        _refuse(f"the members of the evidence are not the {family.chosen}-subsets of the spec")


def _check_heads(family: _Family, evidence: dict[str, Any]) -> None:
    """Evaluate B(h) = sum_i a_i (x_h - u_i)/(x_h + u_i) for every h: it must be (-1)^h + c0."""
    if fraction(evidence["rho"], "rho") != family.rho:
        _refuse("rho of the evidence is not that of the spec")
    if any(set(h) != {"u", "a", "counts"} for h in evidence["heads"]):
        _refuse("a head must have u, a and counts")
    if len(evidence["heads"]) > family.chosen + 1:
        _refuse("there are more heads than the parity needs")
    heads = [(_rational(h["u"]), _rational(h["a"]), h["counts"]) for h in evidence["heads"]]
    if any(u <= 0 or not isinstance(counts, bool) for u, _, counts in heads):
        _refuse("a threshold u is not positive, or a head does not say whether it counts")
    if sum((a for _, a, _ in heads), fmpq(0)) != _rational(evidence["A"]):
        _refuse("A is not the sum of the heads' a")
    c0 = _rational(evidence["c0"])
    if c0 != 0:
        _refuse("c0 is not 0: this family's labels have no offset")
    rho = fmpq(family.rho.numerator, family.rho.denominator)
    for h in range(family.chosen + 1):
        x = rho ** (2 * h)
        total = fmpq(0)
        for u, a, counts in heads:
            at = x if counts else fmpq(1)
            total += a * (at - u) / (at + u)
        if total != (-1) ** h + c0:
            _refuse(f"the heads do not compute the parity: B({h}) is not {(-1) ** h}")


def _check_claim(family: _Family, claim: dict[str, Any]) -> str:
    if set(claim) != _CLAIM or claim["kind"] != "exact":
        _refuse("a claim has fields or a kind that are not known here")
    name, given = claim["quantity"], claim["parameters"]
    if name not in _CLAIMS:
        _refuse(f"{name!r} is not a quantity that is checked here")
    quantity = QUANTITIES[name]
    words = (claim["meaning"], claim["source"], tuple(claim["assumptions"]))
    if words != (quantity.meaning, quantity.source, quantity.assumptions):
        _refuse(f"the words of {name} are not what is verified")
    if set(given) != {*quantity.parameters, *quantity.fixed}:
        _refuse(f"{name} must have the parameters {', '.join(quantity.parameters) or 'fixed'}")
    if any(given[key] != value for key, value in quantity.fixed.items()):
        _refuse(f"a fixed parameter of {name} was changed")
    return _CLAIMS[name](family, int(_integer(claim["value"])), given)


def _correlation(family: _Family, value: int, _: dict[str, str]) -> str:
    # chi_S chi_S' = chi of the symmetric difference, which is empty only for S = S'; a non-empty
    # character of uniform bits has mean 0, whatever z_0 is.
    if value != 0:
        _refuse("different members have correlation 0")
    return "any two different members have correlation exactly 0"


def _dimension(family: _Family, value: int, _: dict[str, str]) -> str:
    if value != family.size:
        _refuse(f"SQ-DIM is not the number of {family.chosen}-subsets of {family.ground}")
    return f"SQ-DIM is exactly {value}: all members are orthogonal, and there are no more"


def _stat(family: _Family, value: int, given: dict[str, str]) -> str:
    tau, goal = _fraction(given["tau"]), _Goal.read(family, given)
    if not 0 < tau <= 1:
        _refuse("tau is not in (0, 1]")
    # A query rules out at most r = (1-2 eta)^2/(4 tau^2) members: value * r >= missing,
    # and one less would not do.
    ruled_out = (1 - 2 * family.noise) ** 2 / (4 * tau**2)
    goal.require_least(value, ruled_out)
    return f"at least {value} queries to STAT({tau}) are needed {goal.words}"


def _vstat(family: _Family, value: int, given: dict[str, str]) -> str:
    t, goal = int(_integer(given["t"])), _Goal.read(family, given)
    if t < 1:
        _refuse("t is below 1")
    goal.require_least(value, Fraction(3 * t, 4) * (1 - 2 * family.noise) ** 2)
    return f"at least {value} queries to VSTAT({t}) are needed {goal.words}"


def _floor(family: _Family, value: int, given: dict[str, str]) -> str:
    risk, success = _fraction(given["risk"]), _fraction(given["success"])
    right = _right_about(risk)
    if not 0 < success <= 1 or value < 0:
        _refuse("success is not in (0, 1], or the floor is negative")
    if value > family.size.bit_length() or right * 2**value < success * family.size:
        _refuse(f"{value} is not the information floor")
    if value > 0 and right * 2 ** (value - 1) >= success * family.size:
        _refuse(f"{value} is more than the information floor")
    return f"any learner needs at least {value} examples for risk {risk} with success {success}"


def _right_about(risk: Fraction) -> int:
    """The largest K with K (1 - risk) <= 1."""
    if not 0 <= risk < 1:
        _refuse("risk is not in [0, 1)")
    right = risk.denominator // (risk.denominator - risk.numerator)
    if not right * (1 - risk) <= 1 < (right + 1) * (1 - risk):
        _refuse("the risk does not bound how many members a hypothesis is right about")
    return right


@dataclass(frozen=True, kw_only=True)
class _Goal:
    missing: Fraction  # members that have to be ruled out, on average
    words: str

    @staticmethod
    def read(family: _Family, given: dict[str, str]) -> "_Goal":
        risk, success = _fraction(given["risk"]), _fraction(given["success"])
        if _fraction(given["noise"]) != family.noise:
            _refuse("the noise is not that of the spec")
        if not 0 < success <= 1:
            _refuse("success is not in (0, 1]")
        return _Goal(
            missing=success * family.size - _right_about(risk),
            words=f"for relative risk {risk} with success probability {success}",
        )

    def require_least(self, value: int, ruled_out: Fraction) -> None:
        """The least whole number of queries that rule out what is missing is `value`."""
        if value < 0 or value * ruled_out < self.missing:
            _refuse(f"{value} is not the least number of queries that the argument allows")
        if value > 0 and (value - 1) * ruled_out >= self.missing:
            _refuse(f"{value} queries are claimed, and fewer already rule out enough members")


_CLAIMS: dict[str, Callable[[_Family, int, dict[str, str]], str]] = {
    "pairwise-correlation": _correlation,
    "sq-dimension": _dimension,
    "stat-queries": _stat,
    "vstat-queries": _vstat,
    "information-floor": _floor,
}
