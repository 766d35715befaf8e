"""Closed forms of claims in the parameters of a family, with the conditions that they need.

A bound on queries is one formula of three numbers, max(0, ceil((delta N - K) / r)), and the others
depend on a few numbers too. `checker.theorem` computes them; here the same functions are called
with symbols of sympy. A number without a closed form, such as the largest eigenvalue of a spectrum,
becomes a named number with its value from the certificate.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

from hardness.bounds.checker import theorem
from hardness.bounds.checker.functions import Functions
from hardness.bounds.checker.hidden_sets import HiddenSets
from hardness.bounds.checker.residues import residues_of
from hardness.bounds.checker.theorem import hypothesis_fits
from instances.spec import built_in, kind_of, parse_stored

if TYPE_CHECKING:
    from hardness.bounds.certificate import Certificate, Claim

INTEGER_NAMES = {*"dnmqhptNsT", "bits", "hard", "s_t"}  # names of integer symbols
_MAY_BE_ZERO = {"eta", "epsilon", "h"}  # symbols that may be 0; others are positive
_TERMS = {
    "tau": "the tolerance of STAT",
    "t": "the parameter of VSTAT",
    "epsilon": "the relative risk",
    "delta": "the success probability",
}
_TERM_SYMBOLS = {"risk": "epsilon", "success": "delta"}  # terms with other symbols


class NamedValue(NamedTuple):
    """A named number of a formula: its value in the certificate, and its meaning in words."""

    value: Fraction
    says: str


def symbol(name: str) -> Any:
    """Make the sympy symbol of a name: positive or nonnegative, and integer for counts.

    >>> symbol("d").is_integer, symbol("tau").is_positive
    (True, True)
    """
    import sympy

    known = {"nonnegative" if name in _MAY_BE_ZERO else "positive": True}
    return sympy.Symbol(name, integer=True if name in INTEGER_NAMES else None, **known)


def relation(condition: Any) -> str:
    """Write a relation of sympy in Python's syntax.

    >>> import sympy
    >>> relation(sympy.Ne(sympy.Symbol("q"), 2 * sympy.Symbol("p")))
    'q != 2*p'
    """
    return f"{condition.lhs} {condition.rel_op} {condition.rhs}"


@dataclass(frozen=True, eq=False)
class Formula:
    """The formula of a claim as an expression of sympy, over parameters, terms and named numbers.

    domain: the conditions under which it holds, as relations of sympy. Each has the names of
    numbers: if the caller gives values for all of these, the condition is not needed. names: the
    named numbers in the formula and its conditions. condition: for bounds on queries r, which must
    be above 0; else None.

    >>> import hardness
    >>> formula = formulas(hardness.certify("parity:d=24,m=3"))["sq-dimension"]
    >>> formula.expression, formula.at_values({"d": Fraction(9)})
    (binomial(d - 1, m), Fraction(56, 1))
    """

    claim: "Claim"
    expression: Any
    domain: dict[Any, set[str]]
    names: dict[str, NamedValue]
    condition: Any

    def at_values(self, values: dict[str, Fraction], ruled_out: bool = False) -> Fraction:
        """Evaluate the formula at values of names; raises LookupError outside its domain.

        ruled_out: evaluate r, the number of members that a query eliminates, instead.
        """
        point = {
            symbol(name): rational(values.get(name, named.value))
            for name, named in self.names.items()
        }
        for condition, useless in self.domain.items():
            if not useless <= values.keys() and not condition.subs(point):
                raise LookupError(condition)
        value = (self.condition if ruled_out else self.expression).subs(point)
        return Fraction(int(value.p), int(value.q))

    @property
    def symbols(self) -> dict[str, NamedValue]:
        """The named numbers in the expression, by name."""
        return {name: self.names[name] for name in sorted(map(str, self.expression.free_symbols))}


def formulas(certificate: "Certificate") -> dict[str, Formula]:
    """Return the formulas of a certificate's claims, by quantity; claims without one are absent."""
    by_quantity = {}
    for claim in certificate.claims:
        symbols = _symbols_of(certificate, claim)
        if (expression := symbols.formula()) is not None:
            needs_r = claim.quantity.endswith("-queries")
            condition = symbols.sympify(symbols.r()) if needs_r else None
            expression = symbols.sympify(expression)
            by_quantity[claim.quantity] = Formula(
                claim, expression, symbols.domain, symbols.names, condition
            )
    return by_quantity


class _Symbols:
    """The numbers of a claim as expressions of sympy: each method is a symbol of closed forms.

    N, K, r: the numbers of members, of members that a hypothesis fits, and of members that a query
    eliminates. lam, b, c, v, w: the fields top, least, scale, moves and moves01 of a `Gram`.
    parameters: the family's independent parameters, with values and meanings. names, domain: the
    named numbers and the conditions that have been used so far.
    """

    def __init__(self, certificate: "Certificate", claim: "Claim") -> None:
        import sympy

        self.binomial, self.ceil, self.constant = sympy.binomial, sympy.ceiling, sympy.Integer
        self.larger, self.smaller = sympy.Max, sympy.Min
        self.equal, self.different = sympy.Eq, sympy.Ne
        self.sympify, self._log = sympy.sympify, sympy.log
        continuum = certificate.known.members.continuum  # its shares are not rounded
        self.floor = sympy.sympify if continuum else sympy.floor
        self.names, self.domain = dict[str, NamedValue](), dict[Any, set[str]]()
        self.problem, self.known, self.claim = certificate.parsed, certificate.known, claim
        self.members, self.gram = self.known.members, self.known.gram
        name = certificate.spec.partition(":")[0]
        self.family: Any = parse_stored(certificate.spec) if kind_of(name) else None
        self.parameters: dict[str, tuple[Any, str]] = self.family_parameters()
        for term, value in claim.terms.items():
            if (symbol := _TERM_SYMBOLS.get(term, term)) in _TERMS:
                self.parameters[symbol] = value, _TERMS[symbol]

    def name(self, name: str, value: Any, says: str) -> Any:
        """Return the symbol of a named number of the certificate, and record it."""
        self.names[name] = NamedValue(Fraction(value), says)
        return symbol(name)

    def need(self, condition: Any, unless: str = "") -> None:
        """Record a condition, unless it always holds; `unless` names a number that replaces it."""
        if (condition := self.sympify(condition)) != True:  # noqa: E712 - sympy has its own
            self.domain.setdefault(condition, set()).add(unless)

    def examples(self, levels: Any, needed: Any) -> Any:
        """The smallest integer n >= 0 with levels^n >= needed."""
        return self.larger(0, self.ceil(self._log(needed, levels)))

    def at(self, name: str) -> Any:
        """Return the symbol of a parameter of the family or of a term of the claim."""
        return self.name(name, *self.parameters[name])

    def named(self, name: str, value: Any, says: str, *more: str, only: str = "") -> Any:
        """Return a number without closed form, valid at the present parameters, any noise."""
        usual = [p for p in self.parameters if p not in (*_TERMS, "eta", "bits")]
        for parameter in [only] if only else [*usual, *more]:
            here = rational(Fraction(self.parameters[parameter][0]))
            self.need(self.equal(self.at(parameter), here), unless=name)
        return self.name(name, value, says)

    def family_parameters(self) -> dict[str, tuple[Any, str]]:
        """The independent parameters: none for listed functions."""
        return {}

    def formula(self) -> Any:
        """The expression of the claim; None if it has no closed form."""
        oracle, _, kind = self.claim.quantity.rpartition("-")
        if oracle in ("stat", "csq", "vstat"):
            return self.success() if kind == "success" else self.queries()
        method = getattr(type(self), self.claim.quantity.replace("-", "_"), None)
        return method(self) if method else None

    # ---- claims about learners

    def queries(self) -> Any:
        self.need_uniform()
        return theorem.least_queries(self, self.T(), self.K(), self.r())

    def success(self) -> Any:
        """K / N, if a query eliminates no member and the members are uniform."""
        if self.members.law is not None:
            return None
        self.need_uniform()
        self.need(self.equal(self.r(), 0))
        return self.smaller(self.K(), self.N()) / self.N()

    def information_floor(self) -> Any:
        self.need_uniform()
        needed, fits = self.T(), self.K()
        if fits != 1 and isinstance(self.problem, HiddenSets | Functions):
            self.need(fits > 0)
        return theorem.least_examples(self, needed, fits, self.L())

    def need_uniform(self) -> None:
        """Record the conditions under which members are uniform: here, none."""

    def T(self) -> Any:
        """The smallest number of members that have probability delta together."""
        if self.members.law is None or self.claim.terms["success"] == 1:
            if self.members.law is not None:
                self.need(self.equal(self.at("delta"), 1))
            return self.at("delta") * self.N()
        says = "the least members that have the probability delta together"
        return self.named("T", self.claim.numbers["T"], says, "delta")

    def K(self) -> Any:
        """The members that a hypothesis fits: alike floor(lam / (b - epsilon c)), or all."""
        gram, risk = self.gram, Fraction(self.claim.terms["risk"])
        b, c, epsilon, fits_all = self.b(), self.c(), self.at("epsilon"), False
        if gram.least != gram.scale:
            fits_all = gram.least <= risk * gram.scale
            self.need(b - epsilon * c <= 0 if fits_all else b - epsilon * c > 0)
        if fits_all:
            return self.N()
        most = theorem.fitted(self, self.lam(), b, c, epsilon)
        if self.members.alike > 1:
            most = self.units() * most
        limited = hypothesis_fits(self.members, gram, risk) >= self.members.count
        return self.smaller(self.N(), most) if limited else most

    def r(self) -> Any:
        """The number of members that one query eliminates."""
        numbers = self.claim.numbers
        if not self.claim.quantity.startswith("vstat"):
            return theorem.ruled_out_by_stat(self, self.v(), self.at("tau"))
        if "s" in numbers:
            says = "from so many members on their mean correlation is at most 1/(3 t)"
            return self.named("s_t", numbers["s"], says, "eta", "t") - 1
        if "w" in numbers:
            return theorem.ruled_out_by_vstat(self, self.w(), self.at("t"))
        return theorem.ruled_out_by_stat(self, self.v(), 2 / self.at("t"))

    # ---- members and their Gram matrix; most families have no closed forms of these

    def N(self) -> Any:
        return self.named("N", self.members.count, "members")

    def lam(self) -> Any:
        return self.named(
            "lam",
            self.gram.top,
            "no eigenvalue of the Gram matrix of the members less their mean is above it",
        )

    def b(self) -> Any:
        return self.named(
            "b", self.gram.least, "the least squared norm of a member less the mean of all"
        )

    def c(self) -> Any:
        return self.named(
            "c",
            self.gram.scale,
            "the mean squared norm of a member less the mean of all: a relative risk of 1",
        )

    def v(self) -> Any:
        return self.faded(
            "v_0",
            self.gram.moves,
            "the squares by which a query's means move, over all members, without noise",
        )

    def w(self) -> Any:
        return self.faded("w_0", self.gram.moves01, "the same of values in [0, 1]")

    def faded(self, name: str, value: Any, says: str) -> Any:
        """Return value / (1 - 2 eta)^2 as a named number, times (1 - 2 eta)^2."""
        if "eta" not in self.parameters:
            return self.named(name, value, says)
        noise = Fraction(self.parameters["eta"][0])
        return (1 - 2 * self.at("eta")) ** 2 * self.named(name, value / (1 - 2 * noise) ** 2, says)

    def units(self) -> Any:
        return self.constant(self.members.alike)

    def L(self) -> Any:
        return self.constant(self.problem.levels)


class _HiddenSets(_Symbols):
    """Hidden sets and directions: coordinates, or dimensions, of which some are hidden."""

    def family_parameters(self) -> dict[str, tuple[Any, str]]:
        known, problem = self.family is not None and built_in(self.family), self.problem
        d, hard = (getattr(self.family if known else None, name, 0) for name in ("d", "hard"))
        places = {"d": (d, "the dimension")} if d else {"n": (problem.n, "places, or dimensions")}
        if hard:  # with random heads, the noise does not flip labels
            return {**places, "hard": (hard, "places that are hidden")}
        return {**places, "m": (problem.m, "places that are hidden, or the degree"),
                "eta": (problem.noise, "the rate of the label noise")}  # fmt: skip

    def N(self) -> Any:
        if self.members.continuum:
            return self.constant(1)
        less = self.parameters["d"][0] - self.problem.n if "d" in self.parameters else 0
        n = self.at("d") - less if less else self.at("n")
        return self.binomial(n, self.at("hard" if "hard" in self.parameters else "m"))


class _Parities(_HiddenSets):
    def lam(self) -> Any:
        return self.constant(1)

    b = c = lam

    def v(self) -> Any:
        eta = self.at("eta") if "eta" in self.parameters else self.constant(0)
        return (1 - 2 * eta) ** 2 / 4

    w, sq_dimension = v, _HiddenSets.N


class _Residues(_Symbols):
    def family_parameters(self) -> dict[str, tuple[Any, str]]:
        problem, name = self.problem, getattr(self.family, "name", "")
        parameters: dict[str, tuple[Any, str]] = {"n": (problem.n, "the dimension")}
        self.flips = name == "lpn"
        if not self.flips:
            parameters["q"] = problem.q, "the modulus"
        if problem.h:
            parameters["h"] = problem.h, "entries that are not 0"
        if self.flips:
            parameters["eta"] = self.family.noise, "the rate of flips"
        if name == "lwr":
            parameters["p"] = problem.levels, "intervals of Z_q"
        if problem.q % 2:
            parameters["bits"] = problem.bits, "of the number that is an entry of a, mod q"
        return parameters

    def q(self) -> Any:
        return self.constant(2) if self.flips else self.at("q")

    def L(self) -> Any:
        return self.at("p") if "p" in self.parameters else self.q()

    def units(self) -> Any:
        """The number of units among the values of entries, mod M."""
        if self.problem.entries is not None:
            return self.entries()[2]
        if self.problem.q % 2:
            return self.q() - 1
        return self.q() / self.at("p") if "p" in self.parameters else self.constant(1)

    def M(self) -> Any:
        return self.q() if self.problem.q % 2 else 2 * self.q() / self.L()

    def need_parity(self) -> None:
        """Record that q has its present parity, as most formulas are for one parity."""
        if not self.flips:
            self.need(self.equal(self.q() % 2, self.problem.q % 2))

    def need_uniform(self) -> None:
        """Record that vectors have one entry, if entries are not uniform: else vectors are not."""
        entries, modulus = self.problem.entries or {}, self.problem.modulus
        if self.members.law is None and len(set(residues_of(entries, modulus).values())) > 1:
            self.need(self.equal(self.at("h" if self.problem.h else "n"), 1))

    def entries(self) -> tuple[Any, Any, Any]:
        """The numbers of residues mod M that entries may be: all, non-units, units."""
        entries, modulus = self.problem.entries, self.problem.modulus
        if entries is None:
            less = int(self.problem.h > 0)  # with h, entries are not 0
            self.need_parity()
            if less:
                self.need(self.equal(self.M(), self.q()))
            return self.M() - less, 1 - less if modulus % 2 else self.units() - less, self.units()
        residues, far = {v % modulus for v in entries}, max(*entries, 0) - min(*entries, 0)
        if far > 1:  # else units are 1 and -1, whatever q is
            self.need_parity()
            self.need(self.M() > far if modulus > far else self.equal(self.M(), modulus))
        some = sum(math.gcd(v, modulus) == 1 for v in residues)
        return len(residues), len(residues) - some, some

    def vectors(self, over_units: bool) -> Any:
        """The number of vectors mod M with a unit entry, divided by the units if `over_units`."""
        problem = self.problem
        if problem.entries is None and problem.h and problem.modulus < problem.q:
            says = "vectors mod M, by how many entries are not 0 mod M"
            self.need_parity()
            count = self.named("N", self.members.count, says)
            return count / self.units() if over_units and self.members.alike > 1 else count
        values, nonunits, units = self.entries()
        if problem.h:
            self.need(self.at("h") > 0)
        k = self.at("h" if problem.h else "n")
        total = _power(values, k) - _power(nonunits, k)
        total = self.binomial(self.at("n"), k) * total if problem.h else total
        single = isinstance(units, int) and units == 1
        return total / units if over_units and not single else total

    def N(self) -> Any:
        problem = self.problem
        if problem.entries is None and problem.h and problem.modulus < problem.q:
            return self.vectors(over_units=False)
        count = self.vectors(over_units=not problem.differ)
        single = problem.entries is not None and self.units() == 1
        if not self.flips and not single and problem.modulus % 2 == 0:
            same = self.equal if problem.differ else self.different
            self.need(same(self.q(), 2 * self.L()))
        return count

    orthogonal_members = N

    def _density(self) -> tuple[Any, Any]:
        """The smallest and the largest density of a relative to the uniform distribution."""
        if self.problem.q % 2 == 0:
            return self.constant(1), self.constant(1)
        n, q, whole = self.at("n"), self.q(), 2 ** self.at("bits")
        self.need_parity()
        self.need(2 * n * q <= whole)
        return 1 - n * (whole % q) / whole, 1 / (1 - n * (q - whole % q) / whole)

    def b(self) -> Any:
        return self._density()[0]

    def lam(self) -> Any:
        return self._density()[1]

    def c(self) -> Any:
        return self.constant(1)

    def chi_squared(self) -> Any:
        problem = self.problem
        if self.flips:
            return (1 - 2 * (self.floor(2**64 * self.at("eta")) / 2**64)) ** 2
        if problem.errors is None:
            return self.L() - 1
        law = residues_of(problem.errors, problem.q).values()
        square = problem.q * Fraction(sum(c * c for c in law), 1 << 128) - 1
        says = "q times the sum of squared probabilities of e mod q, less 1"
        return self.named("X", square, says, only="q")

    def v(self) -> Any:
        self.need_parity()
        moved, L = self.lam() * self.chi_squared(), self.L()
        return moved * ((L**2 - 1) / (4 * L**2)) if self.problem.levels % 2 else moved / 4

    def w(self) -> Any:
        return self.lam() * self.chi_squared() * (1 - 1 / self.L()) / 2

    def sq_dimension(self) -> Any:
        self.need_parity()
        unlike = self.vectors(over_units=True)
        if self.problem.q % 2 == 0:
            return unlike
        low, high = self._density()
        return self.smaller(unlike, self.floor((high + low) / (high - low)))


def _power(base: Any, exponent: Any) -> Any:
    """Return base^exponent for an exponent of at least 1; 0 and 1 are returned as they are."""
    return base if isinstance(base, int) and base <= 1 else base**exponent


_SYMBOLS_BY_KIND = {"residues": _Residues, "direction": _HiddenSets, "functions": _Symbols}


def rational(value: Fraction) -> Any:
    """Convert a fraction to a rational of sympy."""
    import sympy

    return sympy.Rational(value.numerator, value.denominator)


def _symbols_of(certificate: "Certificate", claim: "Claim") -> _Symbols:
    kind = certificate.problem["kind"]
    hidden = _HiddenSets if certificate.known.products else _Parities
    return (hidden if kind == "hidden-set" else _SYMBOLS_BY_KIND[kind])(certificate, claim)
