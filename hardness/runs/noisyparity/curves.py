"""The curves of the map: what each kind of algorithm needs, in examples and in seconds.

Examples are those of the layer, each open with probability 1/2. What is proven is proven for them;
estimates are made for open examples and doubled.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

import numpy as np

from hardness.lower import Terms
from hardness.lower.bounds import vstat_queries
from hardness.lower.named.ratio import LAYER
from hardness.runs.noisyparity import information
from hardness.runs.noisyparity.groups import log_groups, ratio
from hardness.runs.noisyparity.rates import Rates
from hardness.runs.noisyparity.trials import effort
from instances import tokens
from instances.capabilities import NOISY_PARITIES
from instances.errors import UsageError
from instances.family import Family

Role = Literal["floor", "algorithm", "low-degree", "queries"]
_GRID = 60  # points of a curve that bends
_GROUPS = 12  # examples that a low-degree test takes at a time, at most
_MOST_BITS = 900  # of the number of members: float64 holds no more seconds
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
    lpn = NOISY_PARITIES.need(family)
    if not lpn.noise:
        raise UsageError(
            f"{family.spec} given: the map is of noisy parities: give noise=0.1 or so; without "
            "noise `hardness learn elimination SPEC` solves it from about 2 d examples"
        )
    if lpn.size < 3:
        raise UsageError(f"{family.spec} given: {lpn.size} members: at least 3 are needed")
    if lpn.size.bit_length() > _MOST_BITS:
        raise UsageError(
            f"{family.spec} given: over 2^{_MOST_BITS} members, up to which the map is drawn: "
            "lower its size"
        )
    if terms.right_about > 1:
        raise UsageError(f"risk={terms.risk} given: below 1/2 for the map, where one set is named")
    information.require_few(lpn.size, float(lpn.noise), float(terms.success))


def curves(family: Family, rates: Rates, terms: Terms | None = None) -> tuple[Curve, ...]:
    """Draw up all curves of a noisy parity or of lpn; raises UsageError for other families.

    terms: the success that is wanted, and the risk, below 1/2.
    """
    terms = terms or Terms()
    require_noisy(family, terms)
    lpn = NOISY_PARITIES.need(family)
    asked = (lpn.size, float(lpn.noise), float(terms.success))
    floor, enough = information.floor_of_layer(*asked), information.enough_of_layer(*asked)
    return (
        *_floors(asked, terms, floor, enough),
        _brute_force(family, rates, enough),
        _elimination(family, rates, terms, enough),
        _low_degree(family, rates, enough),
        _queries(family, rates, terms, floor),
    )


def _floors(
    asked: tuple[int, float, float], terms: Terms, floor: int, enough: int
) -> tuple[Curve, ...]:
    fano = information.fano(*asked)
    fewer = f"with fewer examples no learner names the hidden set with probability {terms.success}"
    named = f"from so many on maximum likelihood names it with {terms.success}"
    least = [information.least(*asked, bound) for bound in information.BOUNDS]
    return (
        _floor("Fano's inequality", math.ceil(2 * fano), math.ceil(fano), "CT06", fewer),
        _floor("information floor", floor, least[0], "PPV10", f"{fewer}; by the best test"),
        _floor("union bound", enough, least[1], "PPV10", named),
    )


def _floor(name: str, examples: int, opened: int, source: str, says: str) -> Curve:
    note = f"{opened} where all are open"
    mark = Mark(examples=float(examples), seconds=None, note=note)
    return Curve(name=name, role="floor", known="proven", source=source, says=says, marks=(mark,))


def _brute_force(family: Family, rates: Rates, enough: int) -> Curve:
    size = NOISY_PARITIES.need(family).size
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
    lpn, chance = NOISY_PARITIES.need(family), float(terms.success)
    marks: list[Mark] = []
    floor = (lpn.h or lpn.n) + 16
    for count in np.unique(np.geomspace(max((enough + 1) // 2, floor), 1 << 22, _GRID).astype(int)):
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
    lpn = NOISY_PARITIES.need(family)
    fade: Fraction = 1 - 2 * lpn.noise
    weight = lpn.h or lpn.n
    words = tokens.words_per_token(lpn.d)
    marks: list[Mark] = []
    for groups in range(1, _GROUPS + 1):
        exact = ratio(lpn.size, fade, groups)
        opened, count = exact.least_examples(), exact.thinned(LAYER).least_examples()
        summed = math.exp(min(log_groups(opened, groups), 600.0)) * words * rates.group
        seconds = summed + count * rates.example
        if count < enough or seconds > _FAR:
            break
        degree = groups * (weight + 1)
        note = f"t = {groups}" + (f", degree {degree}" if lpn.h else "")
        marks.append(Mark(examples=float(count), seconds=seconds, note=note))
    return Curve(
        name="low-degree tests",
        role="low-degree",
        known="threshold exact, cost of the plain sum",
        source="BBHLS21",
        says="t examples at a time: with fewer, no polynomial of that degree moves its mean by a "
        "standard deviation of coins; it names no set, and its sum may be had faster",
        marks=tuple(marks),
    )


def _queries(family: Family, rates: Rates, terms: Terms, floor: int) -> Curve:
    """Read a query to VSTAT(E) as one pass over E examples: E cancels, while one query is asked.

    Rounding the queries up only adds to the time.
    """
    lpn = NOISY_PARITIES.need(family)
    excess = terms.success * lpn.size - terms.right_about
    product = 4 * excess / (3 * (1 - 2 * lpn.noise) ** 2)  # queries times examples, at least
    seconds = float(product) * rates.query
    marks = []
    for count in (floor, math.ceil(product)) if product > floor else ():
        asked = vstat_queries(
            lpn.size, lpn.noise, Terms(vstat=count, risk=terms.risk, success=terms.success)
        )
        number = "no number of" if asked is None else f"{float(asked):.3g}"
        note = f"{number} queries to VSTAT({float(count):.3g})"
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
