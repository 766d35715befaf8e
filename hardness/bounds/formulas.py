"""The closed forms of claims, over the parameters of a family: for people, sympy, other values.

A bound on queries is one formula of three numbers, max(0, ceil((delta N - K) / r)), and all others
are of a few. The checker computes them by `checker.closed`; here the same functions are put
together over the parameters of a family if these determine them, else over a named number that the
certificate has.

A form is a function of the operations that it computes with, and of numbers whose names its
parameters have: `lambda of, v, tau: of.floor(v / tau**2)`.
"""

import inspect
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from hardness.bounds.algebra import EXACT, LONG, Shown, Symbolic, Written, shown_number
from hardness.bounds.checker import closed
from hardness.bounds.checker.residues import residues_of
from hardness.bounds.checker.theorem import hypothesis_fits
from instances.spec import built_in, kind_of, parse_stored

if TYPE_CHECKING:
    from hardness.bounds.certificate import Certificate, Claim

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
_OF_TERMS = {"risk": "epsilon", "success": "delta"}  # parameters of a claim, as symbols

Form = Callable[..., Any]


def _names_in(form: Form) -> list[str]:
    """The names of the numbers that a form computes with."""
    return [*inspect.signature(form).parameters][1:]


@dataclass(frozen=True)
class Formula:
    """A name, its form over other names, and its value; says: what one without a form is.

    at: what the names stand for; when: conditions under which it is this form or value.
    """

    name: str
    form: Form | None
    value: Fraction
    says: str
    at: "dict[str, Formula]" = field(repr=False)
    when: tuple[Form, ...] = ()

    @property
    def parts(self) -> "Iterator[Formula]":
        """It, and all that it and its conditions are made of."""
        yield self
        forms = self.when if self.form is None else (self.form, *self.when)
        for name in dict.fromkeys(name for form in forms for name in _names_in(form)):
            yield from self.at[name].parts

    def at_values(self, values: dict[str, Fraction]) -> Fraction:
        """Compute it at other values of names; raises LookupError outside its domain."""
        if self.name in values:
            return values[self.name]

        def computed(form: Form) -> Any:
            return form(EXACT, *(self.at[name].at_values(values) for name in _names_in(form)))

        if not all(map(computed, self.when)):
            raise LookupError(self.name)
        return self.value if self.form is None else Fraction(computed(self.form))

    def _symbolic(self, form: Form) -> Any:
        return form(Symbolic(), *(self.at[name].expression for name in _names_in(form)))

    @property
    def domain(self) -> list[Any]:
        """The conditions under which it holds, as relations of sympy, each once."""
        import sympy

        whens = [part._symbolic(form) for part in self.parts for form in part.when]
        return [relation for relation in dict.fromkeys(whens) if relation is not sympy.true]

    @property
    def expression(self) -> Any:
        """It as an expression of sympy, over parameters, terms and named numbers."""
        import sympy

        if self.form is not None:
            return sympy.sympify(self._symbolic(self.form))
        known = {"nonnegative" if self.name in ZERO else "positive": True}
        return sympy.Symbol(self.name, integer=True if self.name in WHOLE else None, **known)

    @property
    def condition(self) -> Any:
        """What is 0 if a query rules out nothing, r, as an expression; None of what needs none."""
        return self.at["r"].expression if self.name.endswith("-queries") else None

    @property
    def put(self) -> Shown:
        """It with the values in, and the number of members by its formula; no idle maximum."""
        if self.form is None:
            return shown_number(self.value)
        values = []
        for part in map(self.at.__getitem__, _names_in(self.form)):
            long = part.value.denominator > 1 and len(str(part.value)) > LONG
            spelt = part.form and (long or part.name == "N")
            values.append(part.put if spelt else shown_number(part.value))
        return shown_number(self.form(Written(self.value > 0), *values))


def formulas(certificate: "Certificate") -> dict[str, Formula]:
    """Find the formulas of a certificate's claims, by quantity; none of what is only computed.

    >>> import hardness
    >>> formulas(hardness.certify("parity:d=24,m=3"))["stat-queries"].put.text
    '⌈(2/3·C(23, 3) - 1)/25⌉'
    """
    names = _Names(certificate)
    _OF_KINDS[certificate.problem["kind"]](names)
    found = {}
    for claim in certificate.claims:
        of_claim = names
        if claim.quantity not in names.at:
            of_claim = names.copy()
            _of_learners(of_claim, claim)
        formula = of_claim.at.get(claim.quantity)
        if formula and formula.form:
            found[claim.quantity] = formula
    return found


class _Names:
    """Names with their formulas, each over those before it."""

    def __init__(self, certificate: "Certificate") -> None:
        self.kind, self.claims = certificate.problem["kind"], certificate.claims
        self.problem, self.members = certificate.parsed, certificate.known.members
        self.gram: Any = certificate.known.gram
        self.known = certificate.known
        name = certificate.spec.partition(":")[0]
        self.family: Any = parse_stored(certificate.spec) if kind_of(name) else None
        self.at: dict[str, Formula] = {}
        self.parameters: list[str] = []  # that no other determines

    def copy(self) -> "_Names":
        """Make another with the same names so far."""
        names = object.__new__(_Names)
        names.__dict__.update(self.__dict__, at=dict(self.at))
        return names

    def parameter(self, name: str, value: Any, says: str) -> None:
        """Add a parameter of the family."""
        self.parameters.append(name)
        self._add(name, None, value, says)

    def number(self, name: str, value: Any, says: str) -> None:
        """Add a number without a form, at the parameters at which it has this value."""
        usual = [p for p in self.parameters if p not in ("eta", "bits")]
        on = [n for n in _DEPENDS.get(name, usual) if n in self.at and not self.at[n].form]
        self._add(name, None, value, says, *(_is(n, self.at[n].value) for n in on))

    def form(self, name: str, form: Form, *when: Form) -> None:
        """Add a form over names before it."""
        value = form(EXACT, *(self.at[other].value for other in _names_in(form)))
        self._add(name, form, value, "", *when)

    def _add(self, name: str, form: Form | None, value: Any, says: str, *when: Form) -> None:
        self.at[name] = Formula(name, form, Fraction(value), says, dict(self.at), when)

    @property
    def parity_of_q(self) -> list[Form]:
        """Whether q is even or odd, of which most formulas of residues are for one."""
        if self.kind != "residues" or self.flips:
            return []
        rest = self.problem.q % 2
        return [lambda of, q: of.equal(of.modulo(q, 2), rest)]

    @property
    def flips(self) -> bool:
        """Whether the family is one of noisy parities, with q = 2."""
        return getattr(self.family, "name", "") == "lpn"


def _named(form: Form, **names: str) -> Form:
    """The same form over numbers of other names."""
    return _over(form, [names.get(name, name) for name in _names_in(form)])


def _over(form: Form, names: list[str]) -> Form:
    """A form over numbers of these names, in their order."""

    def renamed(of: Any, *values: Any) -> Any:
        return form(of, *values)

    parameter = inspect.Parameter("of", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    renamed.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [parameter, *(parameter.replace(name=name) for name in names)]
    )
    return renamed


def _is(name: str, value: Any) -> Form:
    return _over(lambda of, x: of.equal(x, value), [name])


def _above(name: str, value: Any) -> Form:
    return _over(lambda of, x: of.above(x, value), [name])


def _same_as(name: str) -> Form:
    return _over(lambda of, x: x, [name])


def _constant(value: int) -> Form:
    return lambda of: value


# A kind of problem after the other: what its members are made of.


def _places(names: _Names) -> None:
    """Add the dimension, the places, how many are hidden, and the noise."""
    problem, family = names.problem, names.family
    family = family if family is not None and built_in(family) else None
    d, hard = getattr(family, "d", None), getattr(family, "hard", None)
    if d:
        less = d - problem.n
        names.parameter("d", d, "the dimension")
        names.form("n", lambda of, d: d - less)
    else:
        names.parameter("n", problem.n, "places, or dimensions")
    if hard:
        names.parameter("hard", hard, "places that are hidden")
        names.form("m", _same_as("hard"))
        names.form("eta", _constant(0))  # noise of what has other heads beside flips no label
    else:
        names.parameter("m", problem.m, "places that are hidden, or the degree")
        names.parameter("eta", problem.noise, "the rate of the label noise")


def _hidden_sets(names: _Names) -> None:
    _places(names)
    names.form("N", closed.hidden_sets)
    if names.known.more is None:
        for name in ("lam", "b", "c"):
            names.form(name, _constant(1))
        names.form("v", closed.parity_moves)
        names.form("w", closed.parity_moves)
        names.form("sq-dimension", _same_as("N"))
        return
    c, claims = names.known.more.c, {claim.quantity: claim for claim in names.known.claims}
    numbers = claims["operator-norm"].numbers
    mean, top = numbers["lambda_0"], numbers["lambda"]
    names.number("c_m", c[-1], "the squared norm of a member")
    names.number("c_near", c[-2], "the inner product of two that share all but 1 place")
    names.form("largest-correlation", lambda of, c_near, c_m: c_near / c_m)
    names.number("lam", top, "the largest eigenvalue of the Gram matrix but the mean's")
    names.number("lam_0", mean, "the eigenvalue of the mean member")
    names.form("b", lambda of, c_m, lam_0, N: c_m - lam_0 / N)
    names.form("c", _same_as("b"))
    names.number("g", names.problem.half, "half of the range of g")
    names.form("v", lambda of, eta, lam, g: (1 - 2 * eta) ** 2 * lam / 4 / g**2)
    names.form("average-correlation", lambda of, lam_0, c_m, N: lam_0 / (c_m * N))
    if top <= mean:
        names.form("operator-norm", lambda of, lam_0, c_m: lam_0 / c_m,
                   lambda of, lam, lam_0: of.at_most(lam, lam_0))  # fmt: skip
    else:
        names.form("operator-norm", lambda of, lam, c_m: lam / c_m,
                   lambda of, lam, lam_0: of.above(lam, lam_0))  # fmt: skip
    names.form("second-eigenvalue", lambda of, lam, c_m: lam / c_m)
    squares = claims["cross-predictability"].value * c[-1] ** 2
    names.number("S", squares, "the average of squared inner products over all pairs")
    names.form("cross-predictability", lambda of, S, c_m: S / c_m**2)
    for claim in names.claims:
        if claim.quantity == "sq-dimension":
            names.number("s_apart", claim.value, "members that meet in few places")
            names.form("sq-dimension", _same_as("s_apart"))


def _directions(names: _Names) -> None:
    _places(names)
    names.form("N", _constant(1))
    names.number("lam", names.gram.top, "the norm of the inner products, less the mean member")
    names.number("lam_0", 1 - names.gram.least, "the norm of the members' inner products")
    names.form("b", lambda of, lam_0: 1 - lam_0)
    names.form("c", _constant(1))
    names.form("v", lambda of, eta, lam: (1 - 2 * eta) ** 2 * lam)
    names.form("w", lambda of, eta, lam_0: (1 - 2 * eta) ** 2 * lam_0 / 2)
    names.form("operator-norm-at-most", _same_as("lam_0"))
    names.form("second-eigenvalue-at-most", _same_as("lam"))


def _functions(names: _Names) -> None:
    names.number("N", names.members.count, "members that are listed")
    if names.gram:
        names.number("lam", names.gram.top, "no eigenvalue of the Gram matrix is above it")
        names.number("b", names.gram.least, "the least squared norm of a member, less their mean")
        names.number("c", names.gram.scale, "the average of those")
        names.form("v", _same_as("lam"))


def _residues(names: _Names) -> None:
    problem, flips = names.problem, names.flips
    names.parameter("n", problem.n, "the dimension")
    if flips:
        names.form("q", _constant(2))
    else:
        names.parameter("q", problem.q, "the modulus")
    if problem.h:
        names.parameter("h", problem.h, "entries that are not 0")
    if flips:
        names.parameter("eta", names.family.noise, "the rate of flips")
    parts = "p" if getattr(names.family, "name", "") == "lwr" else "q"
    if parts == "p":
        names.parameter("p", problem.parts, "intervals of Z_q")
    names.form("P", _same_as(parts))
    names.form("L", _same_as(parts))
    if problem.q % 2:
        names.parameter("bits", problem.bits, "of the number that is an entry of a, mod q")
        names.form("U", lambda of, q: q - 1)
        names.form("M", _same_as("q"))
    else:
        names.form("U", _constant(1) if parts == "q" else lambda of, q, p: q / p)
        names.form("M", lambda of, U: 2 * U)
    _secrets(names)
    _labels_of_residues(names)


@dataclass(frozen=True)
class _Vectors:
    """Vectors mod M with a unit among their entries: whole^k - dull^k, at some places.

    whole, dull: how many entries there are, and how many are no units; units: the rest; None of
    dull: there is no formula, of uniform entries that are not 0 mod q and may be 0 mod M < q.
    """

    whole: Form
    dull: Form | None
    units: Form
    when: list[Form]

    def count(self, names: _Names, over_units: bool) -> Form:
        """How many there are, or over how many units with no rest."""
        whole, dull, units, h = self.whole, self.dull, self.units, names.problem.h

        def counted(of: Any, M: Any, U: Any, n: Any, *places: Any) -> Any:
            k = places[0] if h else n
            entries, rest = whole(of, M), dull(of, U) if dull else 0
            if isinstance(entries, int) and entries == 1 and rest == 0:
                total = of.binomial(n, k) if h else 1
            else:
                total = _power(entries, k)
                if isinstance(rest, int) and rest <= 1:
                    total = total - 1 if rest else total
                else:
                    total = total - _power(rest, k)
                total = of.binomial(n, k) * total if h else total
            by = units(of, U)
            if not over_units or (isinstance(by, int) and by == 1):
                return total
            return total / by

        return _over(counted, ["M", "U", "n", *(["h"] if h else [])])


def _power(base: Any, exponent: Any) -> Any:
    """A power, exactly: int ** Fraction may be an int, of which a quotient is a float."""
    power = base**exponent
    return Fraction(power) if isinstance(power, int) else power


def _vectors(names: _Names) -> _Vectors:
    problem, when = names.problem, names.parity_of_q
    h, entries, modulus = problem.h, problem.entries, problem.modulus
    zero = int(bool(h))  # entries that are not 0 leave out one residue
    if entries is None:
        if h:
            when = [*when, lambda of, M, q: of.equal(M, q), _above("h", 0)]
        dull: Form | None = _constant(1 - zero)
        if modulus % 2 == 0:
            dull = None if h and modulus < problem.q else lambda of, U: U - zero if zero else U
        whole: Form = lambda of, M: M - zero if zero else M  # noqa: E731
        return _Vectors(whole, _lone(dull), lambda of, U: U, when)
    folded, far = {v % modulus for v in entries}, max(*entries, 0) - min(*entries, 0)
    some = sum(math.gcd(v, modulus) == 1 for v in folded)
    if far <= 1:
        when = []  # units are 1 and -1, whatever q is
    elif modulus > far:
        when = [*when, _above("M", far)]
    else:
        when = [*when, _is("M", modulus)]
    when = [*when, _above("h", 0)] if h else when
    size, rest = len(folded), len(folded) - some
    return _Vectors(lambda of, M: size, lambda of, U: rest, lambda of, U: some, when)


def _lone(form: Form | None) -> Form | None:
    """A form of one number, though it may need none."""
    if form is None or _names_in(form):
        return form
    return lambda of, U: form(of)


def _secrets(names: _Names) -> None:
    problem, members, vectors = names.problem, names.members, _vectors(names)
    units = 1 if members.alike == 1 and problem.differ else 2
    if vectors.dull is None:
        names.number("N", members.count, "vectors mod M, by how many entries are not 0 mod M")
    else:
        when = vectors.when
        if not names.flips and vectors.units(EXACT, 2) != 1 and problem.modulus % 2 == 0:
            differ = problem.differ
            when = [*when, lambda of, q, P: (of.equal if differ else of.different)(q, 2 * P)]
        names.form("N", vectors.count(names, not problem.differ), *when)
    if units > 1 and members.alike > 1:
        names.form("A", lambda of, U: vectors.units(of, U))
    names.form("orthogonal-members", _same_as("N"))


def _labels_of_residues(names: _Names) -> None:
    """What labels of residues show: chi^2, times how uniform a is."""
    problem, when = names.problem, names.parity_of_q
    if problem.q % 2:
        names.form("x", lambda of, q, bits: of.modulo(2**bits, q), *when,
                   lambda of, n, q, bits: of.at_most(2 * n * q, 2**bits))  # fmt: skip
        names.form("b", lambda of, n, x, bits: 1 - n * x / 2**bits)
        names.form("lam", lambda of, n, q, x, bits: 1 / (1 - n * (q - x) / 2**bits))
    else:
        names.form("b", _constant(1))
        names.form("lam", _constant(1))
    names.form("c", _constant(1))
    if names.flips:
        names.form("e", lambda of, eta: of.floor(2**64 * eta) / 2**64)
        names.form("X", lambda of, e: (1 - 2 * e) ** 2)
    elif problem.errors is None:
        names.form("X", lambda of, L: L - 1)
    else:
        folded = residues_of(problem.errors, problem.q)
        square = problem.q * Fraction(sum(c * c for c in folded.values()), 1 << 128) - 1
        names.number("X", square, "q times the sum of squared probabilities of e mod q, less 1")
    if problem.levels % 2:
        names.form("v", lambda of, lam, X, L: lam * X * ((L**2 - 1) / (4 * L**2)), *when)
    else:
        names.form("v", lambda of, lam, X: lam * X / 4, *when)
    names.form("w", lambda of, lam, X, P: lam * X * (1 - 1 / P) / 2)
    vectors = _vectors(names)
    if vectors.dull is None:
        unlike: Form = (lambda of, N, U: N / U) if names.members.alike > 1 else _same_as("N")
        when = names.parity_of_q
    else:
        unlike, when = vectors.count(names, True), [*when, *vectors.when]
    if problem.q % 2 == 0:
        names.form("sq-dimension", unlike, *when)
        return

    def dimension(of: Any, lam: Any, b: Any, *values: Any) -> Any:
        return of.smaller(unlike(of, *values), of.floor((lam + b) / (lam - b)))

    names.form("sq-dimension", _over(dimension, ["lam", "b", *_names_in(unlike)]), *when)


_OF_KINDS = {
    "hidden-set": _hidden_sets,
    "residues": _residues,
    "direction": _directions,
    "functions": _functions,
}

# What is claimed of learners.


def _of_learners(names: _Names, claim: "Claim") -> None:
    """Add what a claim of queries, examples or SDA is computed from, and it."""
    quantity, members, numbers = claim.quantity, names.members, claim.numbers
    what, _, kind = quantity.rpartition("-")
    if quantity == "sda-all-subsets":
        names.number("s", numbers["s"], "members or more average gamma at most")
        if numbers["s"] > 1:
            names.form(quantity, closed.statistical_dimension, _above("s", 1))
        else:
            names.form(quantity, _same_as("N"), lambda of, s: of.at_most(s, 1))
        return
    if what not in ("stat", "csq", "vstat", "information"):
        return
    for term, value in claim.terms.items():
        if (name := _OF_TERMS.get(term, term)) in _TERMS:
            names.parameter(name, value, _TERMS[name])
            names.parameters = names.parameters[:-1]
    _fits(names)
    if what != "information":
        _ruled_out(names, what, numbers)
    when, entries = list[Form](), getattr(names.problem, "entries", None)
    if members.law is None and entries:
        uneven = len(set(residues_of(entries, names.problem.modulus).values())) > 1
        when += [_is("h" if names.problem.h else "n", 1)] * uneven  # else vectors are uneven too
    if kind == "success":
        if members.law is None:
            names.form(quantity, lambda of, K, N: of.smaller(K, N) / N, _is("r", 0), *when)
        return
    bound: Form = closed.information_floor if what == "information" else closed.queries
    if members.law is not None and claim.terms["success"] != 1:
        least = "the least members that have the probability delta together"
        names.number("T", numbers["T"], least)
    else:
        when += [_is("delta", 1)] * (members.law is not None)
        form, last = bound, _names_in(bound)[-1]
        bound = _over(lambda of, delta, count, fits, last: form(of, delta * count, fits, last),
                      ["delta", "N", "K", last])  # fmt: skip
    if what == "information":
        if names.kind != "residues":
            names.form("L", _constant(names.problem.levels))
        when += [_above("K", 0)] * (not getattr(names.problem, "parity", names.kind != "functions"))
    names.form(quantity, bound, *when)


def _fits(names: _Names) -> None:
    """K: alike floor(lam / (b - epsilon c)), or all members."""
    members, gram, when = names.members, names.gram, names.parity_of_q
    risk = names.at["epsilon"].value
    none = gram.least <= risk * gram.scale
    if gram.least != gram.scale:
        when = [*when, lambda of, b, epsilon, c: (of.at_most if none else of.above)(
            b - epsilon * c, 0)]  # fmt: skip
    if none:
        names.form("K", _same_as("N"), *when)
        return
    form: Form = closed.fitted
    if members.continuum:
        form = lambda of, lam, b, c, epsilon: lam / (b - epsilon * c)  # noqa: E731
    over, alike = _names_in(form), gram.alike > 1
    limited = hypothesis_fits(members, gram, risk) >= members.count

    def fits(of: Any, *values: Any) -> Any:
        most = form(of, *values[:4])
        most = values[4] * most if alike else most
        return of.smaller(values[-1], most) if limited else most

    names.form("K", _over(fits, [*over, *["A"] * alike, *["N"] * limited]), *when)


def _ruled_out(names: _Names, oracle: str, numbers: dict[str, Any]) -> None:
    """r: what one query rules out; shares of a continuum are not rounded down."""
    form: Form = closed.ruled_out_by_stat
    if oracle == "vstat" and "s" in numbers:
        names.number("s_t", numbers["s"], "members or more average 1/(3 t) at most, as laws")
        form = lambda of, s_t: s_t - 1  # noqa: E731
    elif oracle == "vstat" and "w" in numbers:
        form = closed.ruled_out_by_vstat
    elif oracle == "vstat":
        form = closed.ruled_out_within_one_over_t
    if names.members.continuum:
        rounded = form
        form = _over(lambda of, *values: rounded(_Unrounded(of), *values), _names_in(form))
    names.form("r", form)


class _Unrounded:
    """Operations that round nothing down."""

    def __init__(self, of: Any) -> None:
        self._of = of

    def __getattr__(self, name: str) -> Any:
        return getattr(self._of, name)

    @staticmethod
    def floor(value: Any) -> Any:
        """The number itself."""
        return value
