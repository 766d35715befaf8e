"""Which formula each step of a proof computes, over names: the members N, the fit K, the cap r.

A bound on queries is one formula of three numbers, max(0, ceiling((delta N - K) / r)), and all
others are of a few. The kernel computes them; here they are written over the parameters of the
family where these determine them, else over a named number that a step computed.
"""

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

from hardness.check import kernel
from hardness.lower.algebra import LONG, Shown, compute, names, number, shown, symbolic
from instances.spec import built_in, kind_of, parse_stored

if TYPE_CHECKING:
    from hardness.lower.record import Certificate

WHOLE = {*"dnmqhptNALsTKr", "parts", "bits", "hard", "s_apart", "s_t"}  # that are integers
ZERO = {"eta", "epsilon", "h"}  # that may be 0
# On which parameters and terms a number depends that has no formula: if it is not here, on all
# parameters but "eta" and "bits".
_DEPENDS = {
    **dict.fromkeys(("c_m", "c_near", "g"), ("m", "hard")),
    "X": ("q",),
    "T": (*"dnmqhp", "parts", "delta"),
    "s_t": (*"dnm", "hard", "eta", "t"),
}
_TERMS = {
    "tau": "the tolerance of STAT",
    "t": "of VSTAT(t)",
    "epsilon": "the relative risk",
    "delta": "the success probability",
}


class Formula(NamedTuple):
    """A name, its formula and its value; says: what one without a formula is.

    at: what the names in the formula stand for; when: the conditions under which it is this formula
    or value, besides those of what it is made of.
    """

    name: str
    formula: str | None
    value: Fraction
    says: str
    at: "dict[str, Formula]"
    when: tuple[str, ...] = ()

    @property
    def parts(self) -> "Iterator[Formula]":
        """It, and all that it and its conditions are made of."""
        yield self
        for name in names(", ".join([self.formula or "", *self.when])):
            yield from self.at[name].parts

    def at_values(self, values: dict[str, Fraction]) -> Fraction:
        """Compute it at other values of names; raises LookupError outside its domain."""
        if self.name in values:
            return values[self.name]

        def computed(formula: str) -> Any:
            return compute(formula, {n: self.at[n].at_values(values) for n in names(formula)})

        if not all(map(computed, self.when)):
            raise LookupError(self.name)
        return self.value if self.formula is None else Fraction(computed(self.formula))

    @property
    def domain(self) -> list[Any]:
        """The conditions under which it holds, as relations of sympy, each once."""
        import sympy

        whens = [
            symbolic(one, {n: part.at[n].expression for n in names(one)})
            for part in self.parts
            for one in part.when
        ]
        return [one for one in dict.fromkeys(whens) if one is not sympy.true]

    @property
    def names(self) -> "dict[str, Formula]":
        """What the names in it stand for."""
        return {name: self.at[name] for name in names(self.formula or "")}

    @property
    def expression(self) -> Any:
        """It as an expression of sympy, over parameters, terms and named numbers."""
        import sympy

        if self.formula is not None:
            return symbolic(self.formula, {n: one.expression for n, one in self.names.items()})
        known = {"nonnegative" if self.name in ZERO else "positive": True}
        return sympy.Symbol(self.name, integer=True if self.name in WHOLE else None, **known)

    @property
    def condition(self) -> Any:
        """What is 0 if a query rules out nothing, r, as an expression; None of what needs none."""
        return self.at["r"].expression if self.name.endswith("-queries") else None

    @property
    def put(self) -> Shown:
        """It with the values in, and the number of members by its formula; no idle maximum."""
        formula = self.formula or ""
        if self.value > 0:
            formula = re.sub(r"^Max\(0, (.*)\)$", r"\1", formula)
        values = {}
        for name, one in self.names.items():
            long = one.value.denominator > 1 and len(str(one.value)) > LONG
            spelt = one.formula and (long or name == "N")
            values[name] = one.put if spelt else number(one.value)
        return shown(formula, values)


def formulas(certificate: "Certificate") -> dict[str, Formula]:
    """Find the formulas of a certificate's claims, by quantity; none of what is only computed.

    >>> from hardness.lower import certify
    >>> from instances import parse
    >>> formulas(certify(parse("parity:d=24,m=3")))["stat-queries"].put.text
    '⌈(2/3·C(23, 3) - 1)/25⌉'
    """
    steps = derived(certificate)
    at = {claim.quantity: {f.name: f for f in steps[claim.step - 1]}
          for claim in certificate.claims}  # fmt: skip
    found = {name: lines[name] for name, lines in at.items() if name in lines}
    return {name: one for name, one in found.items() if one.formula}


def derived(certificate: "Certificate") -> list[list[Formula]]:
    """Say of each step what it computes."""
    problem = kernel.read_problem(certificate.proof["problem"])
    facts, out = certificate.facts, list[list[Formula]]()
    given = {f.name: f for f in _computed({}, _given(problem, certificate.spec))}
    free = [name for name in given if name not in ("eta", "bits") and not given[name].formula]
    for step, fact in zip(certificate.proof["steps"], facts, strict=True):
        at = dict(given)
        for i in step["from"]:
            at |= out[i - 1][-1].at if out[i - 1] else {}
        kinds = kernel.RULES[step["rule"]][2]
        read = {name: kernel.read(kind, step[name]) for name, kind in kinds.items()}
        cited = [facts[i - 1] for i in step["from"]]
        told = [_pinned(line, free, at) for line in _told(problem, step["rule"], read, fact, cited)]
        out.append(_computed(at, told))
    return out


def _pinned(line: tuple[Any, ...], free: list[str], at: dict[str, Formula]) -> tuple[Any, ...]:
    """Add to a number that no parameter determines at which parameters it has this value."""
    name, formula, *_ = line
    if name in _TERMS:
        at[name] = Formula(name, None, Fraction(line[2]), "", {})
    if formula is not None or name in _TERMS:
        return line
    on = [n for n in _DEPENDS.get(name, free) if n in at and not at[n].formula]
    return (*line, *(f"Eq({n}, {at[n].value})" for n in on))


def _computed(at: dict[str, Formula], told: Iterable[tuple[Any, ...]]) -> list[Formula]:
    """Compute the value of each formula that is told, or take it as known."""
    at, out = dict(at), []
    for name, formula, *known in told:
        numbers = known[:1] and not isinstance(known[0], str)
        value, says, *when = known if numbers else (None, "", *known)
        if formula is not None:
            value = compute(formula, {n: at[n].value for n in names(formula)})
        at[name] = Formula(name, formula, Fraction(value or 0), says, at, tuple(when))
        out.append(at[name])
    return out


def _given(problem: Any, spec: str) -> Iterator[Any]:
    """The numbers of a problem, over the parameters of its family."""
    if problem.kind == "functions":
        return
    family: Any = kind_of(spec.partition(":")[0]) and parse_stored(spec)
    if problem.kind != "residues":
        family = family if family and built_in(family) else None
        if d := getattr(family, "d", None):
            yield "d", None, d, "the dimension"
        yield "n", d and f"d - {d - problem.n}", problem.n, "places, or dimensions"
        if hard := getattr(family, "hard", None):
            yield "hard", None, hard, "places that are hidden"
        yield "m", hard and "hard", problem.m, "places that are hidden, or the degree"
        # Noise of what has other heads beside the hidden ones flips no label.
        yield "eta", hard and "0", (1 - problem.fade) / 2, "the rate of the label noise"
        return
    name = getattr(family, "name", "")
    problem.flips = name == "lpn"
    yield "n", None, problem.n, "the dimension"
    yield "q", "2" if problem.flips else None, problem.q, "the modulus"
    if problem.h:
        yield "h", None, problem.h, "entries that are not 0"
    if problem.flips:
        yield "eta", None, family.noise, "the rate of flips"
    part = "p" if name == "lwr" else "q"
    if part != "q":
        yield part, None, problem.parts, "intervals of Z_q"
    yield "P", part
    yield "L", part
    if problem.q % 2:
        yield "bits", None, problem.bits, "of the number that is an entry of a, mod q"
        yield from (("U", "q - 1"), ("M", "q"))
    else:
        yield from (("U", "1" if part == "q" else f"q/{part}"), ("M", "2*U"))


def _told(problem: Any, rule: str, at: dict[str, Any], fact: Any, cited: Sequence[Any]) -> Any:
    """What a step computes: names with formulas over earlier names, or values and what they are.

    at: the numbers of the step; cited: the facts that it cites.
    """
    fade, flat = "(1 - 2*eta)**2", problem.down is Fraction
    match rule:
        case "subsets":
            yield "N", "binomial(n, m)"
        case "characters":
            yield "v", _times(Fraction(1, 4), fade)
            yield "w", _times(Fraction(1, 4), fade)
        case "overlaps" if problem.m < problem.n:
            yield "c_m", None, fact.c[-1], "the squared norm of a member"
            yield "c_near", None, fact.c[-2], "the inner product of two that share all but 1 place"
            yield "largest-correlation", "c_near/c_m"
        case "johnson":
            mean, top = fact.eigenvalues[0], fact.top
            squares = fact.claims["cross-predictability"][0] * cited[1].c[-1] ** 2
            yield "lam", None, top, "the largest eigenvalue of the Gram matrix but the mean's"
            yield "lam_0", None, mean, "the eigenvalue of the mean member"
            yield "b", "c_m - lam_0/N"
            yield "g", None, problem.half, "half of the range of g"
            yield "v", f"{_times(Fraction(1, 4), f'{fade}*lam')}/g**2"
            yield "average-correlation", "lam_0/(c_m*N)"
            largest, holds = ("lam_0", "Le") if top <= mean else ("lam", "Gt")
            yield "operator-norm", f"{largest}/c_m", f"{holds}(lam, lam_0)"
            yield "second-eigenvalue", "lam/c_m"
            yield "S", None, squares, "the average of squared inner products over all pairs"
            yield "cross-predictability", "S/c_m**2"
        case "code":
            yield "s_apart", None, at["size"], "members that meet in few places"
        case "packing":
            yield "sq-dimension", "s_apart"
        case "every-set":
            yield "s", None, fact.enough, "members or more average gamma at most"
        case "sda" | "sums":
            enough = at["enough"] if rule == "sums" else cited[1].enough
            yield "s", None, enough, "members or more average gamma at most"
            size, holds = ("floor((N - 1)/(s - 1))", "Gt") if enough > 1 else ("N", "Le")
            yield "sda-all-subsets", size, f"{holds}(s, 1)"
        case "vstat-sets":
            yield "t", None, at["t"], _TERMS["t"]
            yield "s_t", None, fact.most + 1, "members or more average 1/(3 t) at most, as laws"
            yield "r", "s_t - 1"
        case "products":
            yield "N", None, fact.count, "members that are listed"
        case "spread":
            yield "lam", None, fact.top, "no eigenvalue of the Gram matrix is above it"
            yield "b", None, fact.least, "the least squared norm of a member, less their mean"
            yield "c", None, fact.scale, "the average of those"
            yield "v", "lam"
        case "directions":
            yield "N", "1"
        case "sphere":
            yield "lam", None, fact.top, "the norm of the inner products, less the mean member"
            yield "lam_0", None, 1 - fact.least, "the norm of the members' inner products"
            yield from (("b", "1 - lam_0"), ("v", f"{fade}*lam"), ("w", f"{fade}*lam_0/2"))
            yield "operator-norm-at-most", "lam_0"
            yield "second-eigenvalue-at-most", "lam"
        case "secrets":
            yield from _secrets(problem, fact)
        case "laws":
            yield from _residues(problem, fact, cited[0])
        case "fit":
            yield from _fit(problem, fact, cited, at["risk"])
        case "ask":
            term = "t" if at["oracle"].startswith("vstat") else "tau"
            asked = {"vstat": "3*t*w", "vstat-least": "t**2*v/4"}.get(at["oracle"], "v/tau**2")
            yield term, None, at["term"], _TERMS[term]
            yield "r", asked if flat else f"floor({asked})"
        case "queries" | "information":
            yield from _needed(problem, fact, cited[0], at["success"])
    if rule == "characters":
        yield "sq-dimension", "N"
    if rule == "laws":
        vectors, units, when = _vectors(problem)
        unlike = _over(vectors, units) if vectors else _over("N", "A" * (cited[0].alike > 1) or "1")
        if problem.q % 2:
            unlike = f"Min({unlike}, floor((lam + b)/(lam - b)))"
        yield "sq-dimension", unlike, *_parity(problem), *when


def _times(value: Fraction, rest: str) -> str:
    """Write a product with a number."""
    times = "" if value.numerator == 1 else f"{value.numerator}*"
    return f"{times}{rest}" + (f"/{value.denominator}" if value.denominator > 1 else "")


def _vectors(problem: Any) -> tuple[str, str, list[str]]:
    """Vectors mod M with a unit among their entries, how many units there are, and when that holds.

    There is no formula of uniform entries that are not 0 mod q and may be 0 mod M < q.
    """
    h, entries, m = problem.h, problem.entries, problem.modulus
    when = _parity(problem)
    if entries is None:
        less = " - 1" * bool(h)  # 0 is left out
        whole, units = f"(M{less})", "U"
        dull = str(int(not h)) if m % 2 else f"(U{less})"
        when += ["Eq(M, q)"] * bool(h)
        if h and m < problem.q:
            return "", units, []
    else:
        folded, far = {v % m for v in entries}, max(*entries, 0) - min(*entries, 0)
        some = sum(math.gcd(v, m) == 1 for v in folded)
        whole, dull, units = str(len(folded)), str(len(folded) - some), str(some)
        when = [*when, f"Gt(M, {far})" if m > far else f"Eq(M, {m})"] if far > 1 else []
    power, places = ("h", "binomial(n, h)") if h else ("n", "1")
    vectors = f"{whole}**{power}" + {"0": "", "1": " - 1"}.get(dull, f" - {dull}**{power}")
    vectors = f"{places}*({vectors})" if h else vectors
    return places if (whole, dull) == ("1", "0") else vectors, units, when + ["Gt(h, 0)"] * bool(h)


def _parity(problem: Any) -> list[str]:
    """Whether q is even or odd, of which formulas of residues are for one."""
    if problem.kind != "residues" or problem.flips:
        return []
    return [f"Eq(Mod(q, 2), {problem.q % 2})"]


def _over(vectors: str, units: str) -> str:
    """Divide by how many units there are, with no rest."""
    return vectors if units == "1" else f"({vectors})/{units}"


def _secrets(problem: Any, fact: Any) -> Iterator[Any]:
    """Count members: vectors, over how many are one member."""
    vectors, units, when = _vectors(problem)
    if not problem.flips and units != "1":
        when += [f"{'Eq' if problem.differ else 'Ne'}(q, 2*P)"] * (problem.modulus % 2 == 0)
    if not vectors:
        yield "N", None, fact.count, "vectors mod M, by how many entries are not 0 mod M"
    else:
        yield "N", vectors if problem.differ else _over(vectors, units), *when
    if fact.alike > 1:
        yield "A", units
    yield "orthogonal-members", "N"


def _residues(problem: Any, fact: Any, members: Any) -> Iterator[Any]:
    """What labels of residues show: chi^2, times how uniform a is."""
    if problem.q % 2:
        yield "x", "Mod(2**bits, q)", "Eq(Mod(q, 2), 1)", "Le(2*n*q, 2**bits)"
        yield "b", "1 - n*x/2**bits"
        yield "lam", "1/(1 - n*(q - x)/2**bits)"
    if problem.flips:
        yield "e", "floor(2**64*eta)/2**64"
        yield "X", "(1 - 2*e)**2"
    elif problem.errors is None:
        yield "X", "L - 1"
    else:
        yield "X", None, fact.square, "q times the sum of squared probabilities of e mod q, less 1"
    top = "lam*X" if problem.q % 2 else "X"
    odd = "(L**2 - 1)/(4*L**2)" if problem.levels % 2 else "1/4"
    yield "v", f"{top}*{odd}", *_parity(problem)
    yield "w", f"{top}*(1 - 1/P)/2"


def _fit(problem: Any, fact: Any, cited: Sequence[Any], risk: Fraction) -> Iterator[Any]:
    """K: alike floor(top / (least - risk scale)), or all members."""
    (members, gram), when = cited, _parity(problem)
    yield "epsilon", None, risk, _TERMS["epsilon"]
    least = "1" if gram.least == 1 else "b"
    room = f"{least} - epsilon" + {gram.least: "*b", 1: ""}.get(gram.scale, "*c")
    most = f"{'1' if gram.top == 1 else 'lam'}/({room})"
    most = f"{'A*' * (gram.alike > 1)}{most if members.share else f'floor({most})'}"
    none = gram.least <= risk * gram.scale
    when += [f"{'Le' if none else 'Gt'}({room}, 0)"] * (gram.least != gram.scale)
    most = "N" if none else most if fact.most < members.count else f"Min(N, {most})"
    yield "K", most, *when


def _needed(problem: Any, fact: Any, members: Any, success: Fraction) -> Iterator[Any]:
    """Queries, examples, or a success that no number of queries beats."""
    quantity, when = next(iter(fact.claims)), list[str]()
    if members.law is None and getattr(problem, "entries", None):
        uneven = len(set(kernel.residues_of(problem.entries, problem.modulus).values())) > 1
        when += ["Eq(h, 1)" if problem.h else "Eq(n, 1)"] * uneven  # else vectors are uneven too
    if quantity.endswith("-success"):
        if members.law is None:
            yield quantity, "Min(K, N)/N", "Eq(r, 0)", *when
        return
    yield "delta", None, success, _TERMS["delta"]
    wanted = "delta*N"
    if members.law is not None and success != 1:
        wanted, least = "T", kernel.likely(members, success)
        yield "T", None, least, "the least members that have the probability delta together"
    labels = "L" if problem.kind == "residues" else str(problem.levels)
    when += ["Eq(delta, 1)"] * (members.law is not None and success == 1)
    if quantity == "information-floor":
        when += ["Gt(K, 0)"] * (problem.kind == "functions" or not getattr(problem, "parity", True))
        yield quantity, f"power({labels}, {wanted}/K)", *when
    else:
        yield quantity, f"Max(0, ceiling(({wanted} - K)/r))", *when
