"""The bounds of a family as formulas: in its parameters, at a spec, and solved for a parameter."""

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

from hardness.bounds import checker
from hardness.bounds.certificate import OURS, Certificate
from hardness.bounds.certify import Posed, certified_problem, certify, pose
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

_EACH, _BEFORE = 512, 32  # values that are tried one by one: of the last parameter, and of others
_MAX_VALUE, _NEAR = 1 << 59, 512  # that is tried, and how far from one the next is looked for
_NAMES = {"t": "vstat", "tau": "tau", "epsilon": "risk", "delta": "success"}  # of terms
_KNOWN, _REFUSED = 3_000, 10_000  # specs that are computed in all, and refused for each of those
Values = tuple[int, ...]
LeastAndNext = tuple[int | None, int | None]  # the least value that is right, the next lower one


@dataclass(frozen=True, kw_only=True, repr=False)
class Bound(Result):
    """The bounds of a family as formulas, with the values of a certificate.

    solution: of what was solved for: the `least` values, and what is `certified` there and below.

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
        """Return the formula of a quantity; raises UsageError where there is none."""
        if quantity not in self.formulas:
            raise unknown("formula", quantity, self.formulas)
        return self.formulas[quantity]

    def expression(self, quantity: str) -> Any:
        """Return the formula as an expression of sympy, of positive symbols; raises UsageError."""
        return self[quantity].expression

    def symbols(self, quantity: str) -> dict[str, Fraction]:
        """Give the values of the symbols in a formula, by name; raises UsageError."""
        return {name: named.value for name, named in self[quantity].symbols.items()}

    def evaluate(self, quantity: str, **values: int | float | str | Fraction) -> Fraction:
        """Evaluate a formula exactly at other values of its symbols; the rest keep theirs.

        `bits` follows n and q unless the call sets it. Raises UsageError for
        values that the family does not allow, or outside the domain.

        >>> from instances import parse
        >>> found = Bound(certificate=certify(parse("lwr:n=10,q=16,p=4")))
        >>> found.evaluate("orthogonal-members", n=2, q=32)
        Fraction(24, 1)
        """
        formula, spec = self[quantity], self.certificate.spec
        known = formula.names
        at = {name: arguments.exact(name, value) for name, value in values.items()}
        for name, value in at.items():
            if name not in known:
                raise unknown("symbol", name, known)
            allowed = declared(BoundParameters).get(_NAMES.get(name, ""))
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
                why = f"a query eliminates nothing unless {formula.condition} > 0"
                ends = "none is needed, or no number of queries is enough"
                raise UsageError(f"{quantity} of {spec}: {ends}, as {why}")
            return formula.at_values(at)
        except checker.Refused as reason:
            raise UsageError(f"{spec}: {reason}") from reason
        except LookupError:
            holds = " and ".join(map(relation, formula.domain))
            here = ", ".join(f"{name} = {value}" for name, value in at.items())
            why = f"the formula holds if {holds}, not at {here}"
            raise UsageError(f"{quantity} of {self.certificate.spec}: {why}") from None

    def to_dict(self) -> dict[str, Any]:
        """Give each formula, as sympy writes it and in LaTeX, with its domain and its symbols."""
        from sympy import latex

        data: dict[str, Any] = {"spec": self.certificate.spec, "formulas": {}}
        for name, one in self.formulas.items():
            data["formulas"][name] = {
                "expression": str(one.expression),
                "latex": latex(one.expression),
                "domain": list(map(relation, one.domain)),
                "above 0": None if one.condition is None else str(one.condition),
                "value": write(one.claim.value, ratio=True),
                "symbols": {k: write(v, ratio=True) for k, v in sorted(self.symbols(name).items())},
                "source": one.claim.source,
            }
        return data if self.solution is None else data | {"solution": self.solution}

    def _rows(self) -> list[TableRow]:
        from sympy import Symbol, latex

        r = Symbol("r")  # members that a query eliminates, in LaTeX
        return [
            {
                "quantity": name,
                "formula": Displayed(
                    str(one.expression),
                    latex(one.expression.subs({one.condition: r} if one.condition else {})),
                ),
                "holds if": Displayed(
                    " and ".join(map(relation, one.domain)), r",\ ".join(map(latex, one.domain))
                )
                if one.domain
                else None,
                "eliminates nothing if": one.condition
                and Displayed(f"{one.condition} == 0", f"r = {latex(one.condition)}"),
                "value": write(one.claim.value, ratio=True),
                "source": OURS.get(source := one.claim.source) or Cited(source),
            }
            for name, one in self.formulas.items()
        ]


def solve(
    spec: str, names: tuple[str, ...], quantity: str, needed: int, terms: BoundParameters
) -> Bound:
    """Find the least values of whole parameters that a spec leaves out at which so many are needed.

    In the order of the names: the least first one for which others can be found, and so on. Each
    value is tried up to 512, or 32 of what is not the last; then 1024, 2048, .. and the middle:
    `every` says whether no lower value was left out. quantity: stat-queries or
    information-floor. What is found is certified, and so is what gives most with each parameter at
    the next lower value. Raises UsageError where nothing is found.

    >>> terms = BoundParameters(tau=Fraction(1, 100))
    >>> solve("parity:d=512", ("m",), "stat-queries", 2**128, terms).solution["least"]
    {'m': 25}
    """
    each = [_BEFORE] * (len(names) - 1) + [_EACH]
    known, lower, refused = dict[Values, Any](), dict[Values, int | None](), list[str]()

    def spec_of(values: Values) -> str:
        parameters = ",".join(f"{n}={v}" for n, v in zip(names, values, strict=True))
        return f"{spec}{',' if ':' in spec else ':'}{parameters}"

    def nothing() -> UsageError:
        most = max(known, key=lambda k: known[k], default=None)
        if most is None:
            return UsageError(f"{spec}, solved for {', '.join(names)}: {refused[-1]}")
        if known[most] >= needed:
            has = f"{spec_of(most)} has as many, and after {len(known)} tries fewer may do"
            return UsageError(f"the least {', '.join(names)} of {spec} was not found: {has}")
        why = f"the most of {len(known)} is {brief_power(int(known[most]))}, at {spec_of(most)}"
        return UsageError(
            f"no {', '.join(names)} of {spec} was found with {brief_power(needed)} {quantity}: "
            f"{why}"
        )

    def right(values: Values) -> bool | None:
        """Whether it is reached, with any values of the others; None where there is no spec."""
        if len(values) < len(names):
            found = find(values)
            return found is not None if any(k[: len(values)] == values for k in known) else None
        if values not in known:
            try:
                family = parse(spec_of(values))
                posed = pose(family, terms.success) if certified_problem(family) else None
            except (UsageError, checker.Refused) as error:
                refused.append(str(error))
                if len(refused) > _REFUSED * (1 + len(known)):
                    raise nothing() from None
                return None
            if len(known) >= _KNOWN:
                raise nothing()
            known[values] = _needed(family, posed, quantity, terms)
        return bool(known[values] >= needed)

    def find(prefix: Values) -> Values | None:
        least, less = _searched(lambda value: right((*prefix, value)), each[len(prefix)])
        if least is None:
            return None
        found = (*prefix, least)
        lower[found] = less
        return found if len(found) == len(names) else find(found)

    found = find(())
    if found is None:
        raise nothing()
    heights = range(len(names))
    heads = [(*found[:i], lower[found[: i + 1]]) for i in heights]
    below = [[k for k in known if k[: len(head)] == head] for head in heads]
    tried = [found, *(max(some, key=lambda k: known[k]) for some in below if some)]
    made = [certify(parse(spec_of(values)), terms) for values in tried]
    certified = []
    for one, key in zip(made, tried, strict=True):
        value = _worth({c.quantity: c.value for c in one.claims}, quantity, terms)
        if value != known[key]:
            raise ToolkitError(f"{one.spec}: the search and the certificate differ")
        shown = None if value == math.inf else write(Fraction(value), ratio=True)
        certified.append({"spec": one.spec, "value": shown, "reached": bool(value >= needed)})
    solution = {
        "least": dict(zip(names, found, strict=True)),
        "every": all(value <= most for value, most in zip(found, each, strict=True))
        and all(2 * k[i] <= each[i] for k in known for i in heights if k[:i] != found[:i]),
        "quantity": quantity,
        "wanted": write(needed),
        "terms": terms.to_dict(),
        "certified": certified,
    }
    return Bound(certificate=made[0], solution=solution)


def brief_power(value: Fraction | int) -> str:
    """Write a large power of 2 as one, and another number by its first digits.

    >>> brief_power(2**128), brief_power(1000)
    ('2^128', '1000')
    """
    small = value < 10**7 or int(value) & (int(value) - 1)
    return brief(int(value), 3) if small else f"2^{int(value).bit_length() - 1}"


def _needed(
    family: Family, posed: Posed | None, quantity: str, terms: BoundParameters
) -> Fraction | float:
    """Compute queries or examples that are needed; raises UsageError where there is no formula."""
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
    return _worth({c.quantity: Fraction(c.value) for c in claims}, quantity, terms)


def _worth(claims: dict[str, Fraction], quantity: str, terms: BoundParameters) -> Fraction | float:
    """Return how many are needed, infinite where the success asked for is out of reach."""
    if quantity in claims:
        return claims[quantity]
    out_of_reach = claims[quantity.replace("queries", "success")] < terms.success
    return math.inf if out_of_reach else Fraction(0)


def _searched(right: Callable[[int], bool | None], each: int) -> LeastAndNext:
    """Try 1, 2, .. up to `each`, then powers of 2, then between the last two of those.

    Where a value is not allowed the next that is. It ends where none is between one and its double.
    """
    lower, least = None, 1
    while not (reached := right(least)):
        if least >= _MAX_VALUE or (reached is None and lower is not None and least > 2 * lower):
            return None, lower
        lower = lower if reached is None else least
        least += 1 if least < each else least
    low, high = lower or 0, least
    while high - low > 1 and least > each:
        middle = (low + high) // 2
        near = range(middle, min(high, middle + _NEAR))
        value, reached = next(((v, r) for v in near if (r := right(v)) is not None), (middle, None))
        if reached is False:
            lower = low = value
        else:
            least, high = value if reached else least, middle
    return least, lower
