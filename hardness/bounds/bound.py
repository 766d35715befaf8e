"""The bounds of a family as formulas: in its parameters, at a spec, and solved for a parameter."""

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

from hardness.bounds import checker
from hardness.bounds.certificate import NOT_PAPERS, Certificate
from hardness.bounds.certify import PosedProblem, certified_problem, certify, pose
from hardness.bounds.checker.theorem import needed_by_learners, read_terms, stat_rules_out
from hardness.bounds.formulas import Formula, formulas, relation
from hardness.bounds.terms import BoundParameters
from instances import arguments
from instances.errors import ToolkitError, UsageError, unknown
from instances.family import Family
from instances.numbers import brief, write
from instances.parameters import declared
from instances.result import Cited, Displayed, Result, TableRow
from instances.spec import parse

_EVERY_VALUE_LAST = 512  # values of the last parameter that are tried one by one
_EVERY_VALUE_FIRST = 32  # the same for the other parameters
_MAX_VALUE = 1 << 59  # of a parameter
_NEARBY = 512  # values above a refused one that are tried instead
_TERM_OF_SYMBOL = {"t": "vstat", "tau": "tau", "epsilon": "risk", "delta": "success"}  # by symbol
_MOST_SPECS = 3_000  # that are computed
_MOST_REFUSALS = 10_000  # specs that are refused, for each one that is computed
Values = tuple[int, ...]
LeastAndLower = tuple[int | None, int | None]  # least value that is enough; next lower


@dataclass(frozen=True, kw_only=True, repr=False)
class Bound(Result):
    """The bounds of a family as formulas, with the values of a certificate.

    solution: of `solve`, the `least` values and the certified bounds there and below; else None.

    >>> from instances import parse
    >>> Bound(certificate=certify(parse("parity:d=24,m=3"))).expression("sq-dimension")
    binomial(d - 1, m)
    """

    certificate: Certificate
    solution: dict[str, Any] | None = None

    @cached_property
    def formulas(self) -> dict[str, Formula]:
        """The formulas by quantity."""
        return formulas(self.certificate)

    def __getitem__(self, quantity: str) -> Formula:
        """Return the formula of a quantity; raises UsageError if there is none."""
        if quantity not in self.formulas:
            raise unknown("formula", quantity, self.formulas)
        return self.formulas[quantity]

    def expression(self, quantity: str) -> Any:
        """Return a formula as an expression of sympy; raises UsageError if there is none."""
        return self[quantity].expression

    def symbols(self, quantity: str) -> dict[str, Fraction]:
        """Return the values of the symbols in a formula, by name; raises UsageError."""
        return {name: named.value for name, named in self[quantity].symbols.items()}

    def evaluate(self, quantity: str, **values: int | float | str | Fraction) -> Fraction:
        """Evaluate a formula exactly at other values of symbols; other symbols keep their values.

        `bits` follows n and q unless the call sets it. Raises UsageError for values that the
        family does not allow, and outside the domain.

        >>> from instances import parse
        >>> bound = Bound(certificate=certify(parse("lwr:n=10,q=16,p=4")))
        >>> bound.evaluate("orthogonal-members", n=2, q=32)
        Fraction(24, 1)
        """
        formula, spec = self[quantity], self.certificate.spec
        known = formula.names
        at = {name: arguments.exact(name, value) for name, value in values.items()}
        for name, value in at.items():
            if name not in known:
                raise unknown("symbol", name, known)
            allowed = declared(BoundParameters).get(_TERM_OF_SYMBOL.get(name, ""))
            if allowed and (value not in allowed or (name == "t" and value.denominator > 1)):
                raise UsageError(f"{quantity} of {spec}: {allowed.refusal(name, value)}")
            field = "noise" if name == "eta" else name
            spec = re.sub(rf"(?<=[:,]){field}=[^,]*", f"{field}={value}", spec)
        try:
            if spec != self.certificate.spec:
                posed = pose(parse(spec), at.get("delta", Fraction(1)))
                if "bits" in known:
                    at.setdefault("bits", Fraction(posed.parsed.bits))
            if formula.condition is not None and formula.at_values(at, ruled_out=True) <= 0:
                needs = f"a query eliminates nothing unless {formula.condition} > 0"
                result = "none is needed, or no number of queries is enough"
                raise UsageError(f"{quantity} of {spec}: {result}, as {needs}")
            return formula.at_values(at)
        except checker.Refused as reason:
            raise UsageError(f"{spec}: {reason}") from reason
        except LookupError:
            holds = " and ".join(map(relation, formula.domain))
            here = ", ".join(f"{name} = {value}" for name, value in at.items())
            domain = f"the formula holds if {holds}, not at {here}"
            raise UsageError(f"{quantity} of {self.certificate.spec}: {domain}") from None

    def to_dict(self) -> dict[str, Any]:
        """Return the formulas, in sympy's syntax and in LaTeX, with domains and symbols."""
        from sympy import latex

        data: dict[str, Any] = {"spec": self.certificate.spec, "formulas": {}}
        for name, formula in self.formulas.items():
            condition = formula.condition
            data["formulas"][name] = {
                "expression": str(formula.expression),
                "latex": latex(formula.expression),
                "domain": list(map(relation, formula.domain)),
                "above 0": None if condition is None else str(condition),
                "value": write(formula.claim.value, ratio=True),
                "symbols": {k: write(v, ratio=True) for k, v in sorted(self.symbols(name).items())},
                "source": formula.claim.source,
            }
        return data if self.solution is None else data | {"solution": self.solution}

    def _rows(self) -> list[TableRow]:
        from sympy import Symbol, latex

        r = Symbol("r")  # members that a query eliminates, in LaTeX
        return [
            {
                "quantity": name,
                "formula": Displayed(
                    str(formula.expression),
                    latex(
                        formula.expression.subs({formula.condition: r} if formula.condition else {})
                    ),
                ),
                "holds if": Displayed(
                    " and ".join(map(relation, formula.domain)),
                    r",\ ".join(map(latex, formula.domain)),
                )
                if formula.domain
                else None,
                "eliminates nothing if": formula.condition
                and Displayed(f"{formula.condition} == 0", f"r = {latex(formula.condition)}"),
                "value": write(formula.claim.value, ratio=True),
                "source": NOT_PAPERS.get(source := formula.claim.source) or Cited(source),
            }
            for name, formula in self.formulas.items()
        ]


def solve(
    spec: str, names: tuple[str, ...], quantity: str, needed: int, terms: BoundParameters
) -> Bound:
    """Find the least values of integer parameters at which a learner needs at least `needed`.

    spec: leaves these parameters out. The first is minimised so that values of the others exist,
    then the second, and so on. Every value is tried up to 512, or 32 for all but the last
    parameter; then 1024, 2048, .. and a bisection. `every` in the solution says whether no lower
    value was left out. quantity: stat-queries or information-floor. The solution is certified, and
    so is the best spec with each parameter at the next lower value. Raises UsageError if nothing is
    found.

    >>> terms = BoundParameters(tau=Fraction(1, 100))
    >>> solve("parity:d=512", ("m",), "stat-queries", 2**128, terms).solution["least"]
    {'m': 25}
    """
    each = [_EVERY_VALUE_FIRST] * (len(names) - 1) + [_EVERY_VALUE_LAST]
    known, lower, refused = dict[Values, Any](), dict[Values, int | None](), list[str]()

    def spec_of(values: Values) -> str:
        parameters = ",".join(f"{n}={v}" for n, v in zip(names, values, strict=True))
        return f"{spec}{',' if ':' in spec else ':'}{parameters}"

    def not_found() -> UsageError:
        best = max(known, key=lambda k: known[k], default=None)
        if best is None:
            return UsageError(f"{spec}, solved for {', '.join(names)}: {refused[-1]}")
        if known[best] >= needed:
            has = f"{spec_of(best)} has as many, and after {len(known)} tries fewer may do"
            return UsageError(f"the least {', '.join(names)} of {spec} was not found: {has}")
        reason = f"the most of {len(known)} is {brief_power(int(known[best]))}, at {spec_of(best)}"
        return UsageError(
            f"no {', '.join(names)} of {spec} was found with {brief_power(needed)} {quantity}: "
            f"{reason}"
        )

    def reached(values: Values) -> bool | None:
        """Whether `needed` is reached, for some values of the rest; None if no spec is valid."""
        if len(values) < len(names):
            completed = find(values)
            return completed is not None if any(k[: len(values)] == values for k in known) else None
        if values not in known:
            try:
                family = parse(spec_of(values))
                posed = pose(family, terms.success) if certified_problem(family) else None
            except (UsageError, checker.Refused) as error:
                refused.append(str(error))
                if len(refused) > _MOST_REFUSALS * (1 + len(known)):
                    raise not_found() from None
                return None
            if len(known) >= _MOST_SPECS:
                raise not_found()
            known[values] = _needed_for(family, posed, quantity, terms)
        return bool(known[values] >= needed)

    def find(prefix: Values) -> Values | None:
        least, next_lower = _search_value(
            lambda value: reached((*prefix, value)), each[len(prefix)]
        )
        if least is None:
            return None
        longer = (*prefix, least)
        lower[longer] = next_lower
        return longer if len(longer) == len(names) else find(longer)

    solved = find(())
    if solved is None:
        raise not_found()
    heights = range(len(names))
    heads = [(*solved[:i], lower[solved[: i + 1]]) for i in heights]
    below = [[k for k in known if k[: len(head)] == head] for head in heads]
    reported = [solved, *(max(some, key=lambda k: known[k]) for some in below if some)]
    certificates = [certify(parse(spec_of(values)), terms) for values in reported]
    certified = []
    for certificate, values in zip(certificates, reported, strict=True):
        value = _needed_of({c.quantity: c.value for c in certificate.claims}, quantity, terms)
        if value != known[values]:
            raise ToolkitError(f"{certificate.spec}: the search and the certificate differ")
        text = None if value == math.inf else write(Fraction(value), ratio=True)
        certified.append(
            {"spec": certificate.spec, "value": text, "reached": bool(value >= needed)}
        )
    solution = {
        "least": dict(zip(names, solved, strict=True)),
        "every": all(value <= limit for value, limit in zip(solved, each, strict=True))
        and all(2 * k[i] <= each[i] for k in known for i in heights if k[:i] != solved[:i]),
        "quantity": quantity,
        "wanted": write(needed),
        "terms": terms.to_dict(),
        "certified": certified,
    }
    return Bound(certificate=certificates[0], solution=solution)


def brief_power(value: Fraction | int) -> str:
    """Write a large power of 2 as 2^k, and another number by its first digits.

    >>> brief_power(2**128), brief_power(1000)
    ('2^128', '1000')
    """
    small = value < 10**7 or int(value) & (int(value) - 1)
    return brief(int(value), 3) if small else f"2^{int(value).bit_length() - 1}"


def _needed_for(
    family: Family, posed: PosedProblem | None, quantity: str, terms: BoundParameters
) -> Fraction | float:
    """Compute how many queries or examples are needed; raises UsageError without a formula."""
    spec = family.spec[:200]
    if posed is None:
        raise UsageError(f"the bounds of {spec} are not formulas in its parameters")
    try:
        known = posed.known
        queries = [stat_rules_out(known.members, known.gram, terms.tau)]
        goal = read_terms(terms.to_terms())
        claims = needed_by_learners(posed.parsed, goal, known, queries)
    except checker.Refused as reason:
        raise UsageError(f"{spec}: {reason}") from reason
    return _needed_of({c.quantity: Fraction(c.value) for c in claims}, quantity, terms)


def _needed_of(
    claims: dict[str, Fraction], quantity: str, terms: BoundParameters
) -> Fraction | float:
    """Return how many are needed: infinite if the success probability cannot be reached."""
    if quantity in claims:
        return claims[quantity]
    out_of_reach = claims[quantity.replace("queries", "success")] < terms.success
    return math.inf if out_of_reach else Fraction(0)


def _search_value(enough: Callable[[int], bool | None], each: int) -> LeastAndLower:
    """Search for the least value that is enough: 1, 2, .. to `each`, doubling, then bisection.

    enough: None for a value that is not allowed; the next allowed one is then tried. The search
    ends if no value between one and its double is allowed.
    """
    lower, least = None, 1
    while not (reached := enough(least)):
        if least >= _MAX_VALUE or (reached is None and lower is not None and least > 2 * lower):
            return None, lower
        lower = lower if reached is None else least
        least += 1 if least < each else least
    low, high = lower or 0, least
    while high - low > 1 and least > each:
        middle = (low + high) // 2
        near = range(middle, min(high, middle + _NEARBY))
        value, reached = next(
            ((v, r) for v in near if (r := enough(v)) is not None), (middle, None)
        )
        if reached is False:
            lower = low = value
        else:
            least, high = value if reached else least, middle
    return least, lower
