"""The curves of the map: what each kind of algorithm needs, in examples and in seconds.

Examples are those of the layer, of which half are open: all counts are made for open examples and
doubled.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

import numpy as np

from hardness.compare.noisyparity import information
from hardness.compare.noisyparity.groups import log_groups, ratio
from hardness.compare.noisyparity.rates import Rates
from hardness.compare.noisyparity.trials import effort
from hardness.lower import Terms
from hardness.lower.bounds import vstat_queries
from hardness.upper.equations import as_lpn
from instances import tokens
from instances.errors import UsageError
from instances.family import Family

Role = Literal["floor", "algorithm", "low-degree", "queries"]
_GRID = 60  # points of a curve that bends
_GROUPS = 12  # examples that a low-degree test takes at a time, at most
_FAR = 1e40  # seconds: what costs more is left out


@dataclass(frozen=True, kw_only=True)
class Mark:
    """A point of a curve: examples of the layer, seconds (None: any), and what it is in words."""

    examples: float
    seconds: float | None
    note: str


@dataclass(frozen=True, kw_only=True)
class Curve:
    """One curve with how it is known, the key of its source, and what it says in a sentence."""

    name: str
    role: Role
    known: str
    source: str
    says: str
    marks: tuple[Mark, ...]

    @property
    def quickest(self) -> Mark:
        """The mark of the fewest seconds; of those with as many, of the fewest examples."""
        return min(self.marks, key=lambda m: (m.seconds or 0.0, m.examples))

    def to_json(self) -> dict[str, Any]:
        """Write the curve as JSON."""
        return {
            "name": self.name,
            "role": self.role,
            "known": self.known,
            "source": self.source,
            "says": self.says,
            "marks": [[m.examples, m.seconds, m.note] for m in self.marks],
        }


def require_noisy(family: Family, terms: Terms) -> None:
    """Refuse what the map is not about: no parity, no noise, few members; raises UsageError."""
    lpn = as_lpn(family)
    if not lpn.noise:
        raise UsageError(
            f"{family.spec} given: the map is of noisy parities: give noise=0.1 or so; without "
            "noise `hardness learn elimination SPEC` solves it from about 2 d examples"
        )
    if lpn.size < 3:
        raise UsageError(f"{family.spec} given: {lpn.size} members: at least 3 are needed")
    if terms.right_about > 1:
        raise UsageError(f"risk={terms.risk} given: below 1/2 for the map, where one set is named")
    information.require_few(lpn.size, float(lpn.noise), float(terms.success))


def curves(family: Family, rates: Rates, terms: Terms | None = None) -> tuple[Curve, ...]:
    """Draw up all curves of a noisy parity or of lpn; raises UsageError for other families.

    terms: the success that is wanted, and the risk, below 1/2.
    """
    terms = terms or Terms()
    require_noisy(family, terms)
    floor = 2 * _least(family, terms, information.success_at_most)
    enough = 2 * _least(family, terms, information.success_at_least)
    return (
        *_floors(family, terms, floor, enough),
        _brute_force(family, rates, enough),
        _elimination(family, rates, terms, enough),
        _low_degree(family, rates, enough),
        _queries(family, rates, terms, floor),
    )


def _least(family: Family, terms: Terms, bound: Any) -> int:
    lpn = as_lpn(family)
    return information.least(lpn.size, float(lpn.noise), float(terms.success), bound)


def _floors(family: Family, terms: Terms, floor: int, enough: int) -> tuple[Curve, ...]:
    lpn, chance = as_lpn(family), terms.success
    fano = 2 * math.ceil(information.fano(lpn.size, float(lpn.noise), float(chance)))
    fewer = f"with fewer open examples no learner names the hidden set with probability {chance}"
    return (
        _floor("Fano's inequality", fano, "CT06", fewer),
        _floor("information floor", floor, "PPV10", f"{fewer}; by the best test of labels"),
        _floor("union bound", enough, "PPV10", f"maximum likelihood names it with {chance}"),
    )


def _floor(name: str, examples: int, source: str, says: str) -> Curve:
    mark = Mark(examples=float(examples), seconds=None, note=f"{examples // 2} open examples")
    return Curve(name=name, role="floor", known="proven", source=source, says=says, marks=(mark,))


def _brute_force(family: Family, rates: Rates, enough: int) -> Curve:
    size = as_lpn(family).size
    seconds = size * rates.candidate + enough * rates.example
    return Curve(
        name="brute force",
        role="algorithm",
        known="count exact, rate measured",
        source="information",
        says="every member against the examples, each given up early; half of them on average",
        marks=(Mark(examples=float(enough), seconds=seconds, note=f"{size:.3g} candidates"),),
    )


def _elimination(family: Family, rates: Rates, terms: Terms, enough: int) -> Curve:
    """Minimise over what is kept for each size of pool, until more examples save nothing."""
    lpn, chance = as_lpn(family), float(terms.success)
    marks: list[Mark] = []
    floor = (lpn.h or lpn.n) + 16
    for count in np.unique(np.geomspace(max(enough // 2, floor), 1 << 22, _GRID).astype(int)):
        found = effort(lpn, int(count), chance)
        if found is None:
            continue
        seconds = found.operations * rates.word + 2 * float(count) * rates.example
        if seconds > _FAR or (marks and seconds >= (marks[-1].seconds or 0.0)):
            continue
        note = f"k = {found.kept}, {found.trials:.3g} trials"
        marks.append(Mark(examples=2.0 * float(count), seconds=seconds, note=note))
    return Curve(
        name="restricted elimination",
        role="algorithm",
        known="estimate, rate measured",
        source="EKM17",
        says="guesses k coordinates that hold the set and k labels without a flip: no "
        "statistical-query algorithm; examples are the pool that trials share",
        marks=tuple(marks),
    )


def _low_degree(family: Family, rates: Rates, enough: int) -> Curve:
    lpn = as_lpn(family)
    fade: Fraction = 1 - 2 * lpn.noise
    weight = lpn.h or lpn.n
    words = tokens.words_per_token(lpn.d)
    marks: list[Mark] = []
    for groups in range(1, _GROUPS + 1):
        count = ratio(lpn.size, fade, groups).least_examples()
        summed = math.exp(min(log_groups(count, groups), 600.0)) * words * rates.group
        seconds = summed + 2 * count * rates.example
        if 2 * count < enough or seconds > _FAR:
            break
        degree = groups * (weight + 1)
        note = f"t = {groups}" + (f", degree {degree}" if lpn.h else "")
        marks.append(Mark(examples=2.0 * count, seconds=seconds, note=note))
    return Curve(
        name="low-degree tests",
        role="low-degree",
        known="threshold exact, cost of the plain sum",
        source="BBHLS21",
        says="t examples at a time: from here on the best test of that degree has its means over "
        "labels and over coins a standard deviation apart; it names no set, and its sum may be had "
        "faster",
        marks=tuple(marks),
    )


def _queries(family: Family, rates: Rates, terms: Terms, floor: int) -> Curve:
    """Read a query to VSTAT(E) as one pass over E examples: E cancels, while one query is asked.

    Rounding the queries up only adds to the time.
    """
    lpn = as_lpn(family)
    excess = terms.success * lpn.size - terms.right_about
    product = 4 * excess / (3 * (1 - 2 * lpn.noise) ** 2)  # queries times examples, at least
    seconds = float(product) * rates.query
    marks = []
    for count in (floor, math.ceil(product)) if product > floor else ():
        asked = vstat_queries(
            lpn.size, lpn.noise, Terms(vstat=count, risk=terms.risk, success=terms.success)
        )
        note = f"{float(asked):.3g} queries to VSTAT({float(count):.3g})"
        marks.append(Mark(examples=float(count), seconds=seconds, note=note))
    return Curve(
        name="statistical queries",
        role="queries",
        known="queries proven, time a reading",
        source="FGRVX17",
        says="no fewer queries to VSTAT(examples); that a query is a pass over as many examples is "
        "a reading, no theorem",
        marks=tuple(marks),
    )
