"""How certified numbers grow over the sizes of a comparison, and what theory says of it."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from hardness.claims import vacuous
from hardness.runs.ranges import Value
from instances.spec import parse_stored

if TYPE_CHECKING:
    from hardness.runs.comparison import Comparison

QUANTITIES = ("sq-dimension", "stat-queries", "csq-queries", "information-floor")


@dataclass(frozen=True, kw_only=True)
class Step:
    """From one size to the next: the exact factor, and the slope of its logarithm in log x."""

    start: Value
    end: Value
    factor: Fraction
    slope: float


@dataclass(frozen=True, kw_only=True)
class Certified:
    """A certified quantity over the sizes at which it says something.

    exponent, rate: least squares of its logarithm on log x and on x, as a learner's cost is fitted;
    None below two sizes. They describe numbers that are certified, and are no bound themselves.
    """

    quantity: str
    values: tuple[Value, ...]
    vacuous: tuple[Value, ...]
    steps: tuple[Step, ...]
    exponent: float | None
    rate: float | None
    theory: str


def certified(comparison: "Comparison") -> tuple[Certified, ...]:
    """Describe how every certified quantity of a comparison grows; empty where nothing is claimed.

    >>> from hardness.runs import compare
    >>> found = certified(compare("parity:m=2", "d=6..10..2", ("trivial",), seeds=1))
    >>> found[0].quantity, [str(step.factor) for step in found[0].steps]
    ('sq-dimension', ['21/10', '12/7'])
    """
    return tuple(_growth(comparison, quantity) for quantity in quantities(comparison))


def quantities(comparison: "Comparison") -> list[str]:
    """Name what every certificate of a comparison claims, among what grows with the size."""
    every = [{claim.quantity for claim in c.claims} for c in comparison.certificates]
    return [q for q in QUANTITIES if every and all(q in names for names in every)]


def numbers(comparison: "Comparison", quantity: str) -> dict[Value, int]:
    """Collect a certified quantity at every size that has one."""
    return {
        value: certificate.integer(quantity)
        for value, certificate in zip(comparison.values, comparison.certificates, strict=True)
    }


def slope(values: Sequence[Value], certified: Sequence[int], exponential: bool) -> float | None:
    """Fit log(certified) = a + b log x, or a + b x, by least squares; None below two sizes.

    >>> slope([2, 4, 8], [12, 48, 192], exponential=False)
    2.0
    """
    places = [float(v) for v in values]
    u = np.array(places if exponential else [math.log(x) for x in places])
    logs = np.array([math.log(n) for n in certified])  # integers of any size
    centred = u - u.mean() if len(u) else u
    norm = float(centred @ centred)
    return round(float(centred @ logs) / norm, 12) if norm > 0 else None


def _growth(comparison: "Comparison", quantity: str) -> Certified:
    every = numbers(comparison, quantity)
    kept = {v: n for v, n in every.items() if n > 0 and v > 0 and not vacuous(quantity, n)}
    values, found = tuple(kept), tuple(kept.values())
    return Certified(
        quantity=quantity,
        values=values,
        vacuous=tuple(v for v in every if v not in kept),
        steps=tuple(
            Step(
                start=a,
                end=b,
                factor=Fraction(n, m),
                slope=(math.log(n) - math.log(m)) / (math.log(b) - math.log(a)),
            )
            for a, b, m, n in zip(values, values[1:], found, found[1:], strict=False)
        ),
        exponent=slope(values, found, exponential=False),
        rate=slope(values, found, exponential=True),
        theory=_theory(comparison, quantity),
    )


_OF_SIZE = {
    "d": "N = C(d-1, m) is a polynomial of degree m = {m} in d; a step from d to d+1 multiplies it "
    "by d / (d-m)",
    "m": "N = C(d-1, m): a step from m to m+1 multiplies it by (d-1-m) / (m+1), here with d = {d}",
    "noise": "N does not depend on the noise",
}


def _theory(comparison: "Comparison", quantity: str) -> str:
    """Say what is known of hidden parities in closed form; nothing of other families."""
    family = parse_stored(comparison.specs[0]).characters
    if family is None or comparison.parameter not in _OF_SIZE:
        return ""
    said = _OF_SIZE[comparison.parameter].format(d=family.d, m=family.m)
    if quantity == "stat-queries":
        said += (
            "; the bound is (success N - K) / r, rounded up, r the whole part of "
            "(1 - 2 noise)^2 / (4 tau^2)"
        )
    elif quantity == "information-floor":
        said += "; the floor is log2(success N / K), rounded up"
    return said
