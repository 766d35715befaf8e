"""The curves of a noisy parity's map: what is proven, and what algorithms take at measured rates.

Curves count examples of the layer, of which every other one is open or so: what is proven is proven
for them, estimates are made for open examples and doubled. docs/named-mathematics.md, section 16,
has the proofs.
"""

import math
import platform
from collections.abc import Callable
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from hardness.check.kernel import likely
from hardness.check.kernel.low_degree import least_examples, thinned
from hardness.claims import big
from hardness.lower import BoundParameters
from hardness.lower.certificate import pose
from hardness.oracles import clock
from hardness.runs.information import BOUNDS, fano, least_of_layer, least_open, require_few
from hardness.upper.attack import needed
from hardness.upper.bruteforce import enumeration
from hardness.upper.equations import equations
from hardness.upper.restricted import best_k, work
from instances import tokens
from instances.capabilities import CODED, NOISY_PARITIES
from instances.errors import UsageError
from instances.family import Family
from instances.limits import require_memory
from instances.modular import Modular
from instances.samples import samples

SPARE = 10  # equations beyond k: fewer than k of them are independent once in 2^10 pools
Role = Literal["floor", "algorithm", "low-degree", "queries"]
Floats = NDArray[np.float64]

_MOST_BITS = 900  # of the number of members: float64 holds no more seconds
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

    def to_dict(self) -> dict[str, Any]:
        """Write the curve as JSON."""
        return vars(self) | {"marks": [[m.examples, m.seconds, m.note] for m in self.marks]}


@dataclass(frozen=True, kw_only=True)
class Rates:
    """Seconds on one core, each from a loop of at least 0.1 s, compiled before it is timed.

    candidate: one of brute force, given up early; word: an operation on a word of restricted
    elimination, as `hardness.upper.restricted.work` counts; group: a word of one group of examples
    in a low-degree test; query: an example of one parity's average, from packed columns; example:
    drawing one of the layer and reading its equation.
    """

    candidate: float
    word: float
    group: float
    query: float
    example: float
    machine: str

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if field.name != "machine" and not (type(value) is float and 0 < value < 1e6):
                raise ValueError(f"a rate '{field.name}' of {value!r} seconds")


# Low degree: a polynomial of degree D in the (z, label) of open examples that moves at all takes
# t = D/(m + 1) whole examples at a time. Written with the members' average, its best such part is
# the sum over all groups of up to t examples of the product of their labels times K_m(weight of the
# product of their z), K_m a Krawtchouk polynomial: a group costs an operation or two. [BBHLS21]


def moments(size: int, fade: Fraction, groups: int) -> list[Fraction]:
    """Give what the low-degree ratio of `size` orthonormal signs has of 1 to `groups` examples.

    Open ones, as `hardness.check.kernel.low_degree` adds them up: the squared norm less 1 is
    sum_{s=1..t} C(examples, s) fade^(2s) / M, for dense members of lpn too, which have no one
    degree.

    >>> least_examples(moments(455, Fraction(1), 2))
    30
    """
    return [fade ** (2 * s) / size for s in range(1, groups + 1)]


@dataclass(frozen=True, kw_only=True)
class Effort:
    """The least work of restricted elimination on a pool of equations.

    kept: coordinates; trials: expected; operations: on words, in all.
    """

    kept: int
    trials: float
    operations: float


def effort(family: Modular, equations: int, success: float) -> Effort | None:
    """Minimise the expected work over k; None where no k can be kept on so few equations. [EKM17]

    `hardness.upper.restricted` has trials on a large pool. Here the pool is what there is: of N
    equations F are flipped, as many as at most with probability `success`, and k of them are clean
    with probability C(N - F, k)/C(N, k).

    >>> from instances import parse
    >>> found = effort(parse("lpn:n=99,h=4,noise=0.1"), 4000, 2 / 3)
    >>> found.kept, round(found.trials, -2)
    (25, 4400.0)
    """
    from scipy.special import bdtr, bdtrik

    n, m, rate = family.n, family.h or family.n, float(family.noise)
    flipped = math.ceil(bdtrik(success, equations, rate))
    if flipped and bdtr(flipped - 1, equations, rate) >= success:  # bdtrik was rounded up
        flipped -= 1
    clean = equations - flipped
    top = min(n, clean, equations - SPARE)
    if top < m:
        return None
    k = np.arange(m, top + 1.0)
    inside = _log_choose(k, m) - _log_choose(float(n), m)
    pure = _log_choose(float(clean), k) - _log_choose(float(equations), k)
    logs = np.log([work(family.d, int(each)) for each in k]) - inside - pure
    best = int(np.argmin(logs))
    trials, operations = -float(inside[best] + pure[best]), float(logs[best])
    return Effort(
        kept=int(k[best]),
        trials=math.exp(trials) if trials < 700 else math.inf,
        operations=math.exp(operations) if operations < 700 else math.inf,
    )


def _log_groups(examples: int, groups: int) -> float:
    """Compute ln C(examples, groups), the groups of a test."""
    rest = math.lgamma(max(examples - groups, 0) + 1)
    return math.lgamma(examples + 1) - math.lgamma(groups + 1) - rest


def _log_choose(n: Floats | float, k: Floats | float) -> Floats:
    from scipy.special import gammaln

    return np.asarray(gammaln(n + 1.0) - gammaln(k + 1.0) - gammaln(n - k + 1.0))


def require_noisy(family: Family, terms: BoundParameters) -> None:
    """Refuse what the map is not about: no parity, no noise, few members; raises UsageError."""
    lpn = NOISY_PARITIES.need(family)
    if CODED.need(family).open_share != Fraction(1, 2):
        raise UsageError(
            f"{family} given: the map counts examples of which every other one tells something; "
            "here all do: take parity"
        )
    if not lpn.noise:
        raise UsageError(
            f"{family} given: the map is of noisy parities: give noise=0.1 or so; without "
            "noise `hardness learn elimination SPEC` solves it from about 2 d examples"
        )
    if lpn.size < 3:
        raise UsageError(f"{family} given: {lpn.size} members: at least 3 are needed")
    if lpn.size.bit_length() > _MOST_BITS:
        raise UsageError(
            f"{family} given: over 2^{_MOST_BITS} members, up to which the map is drawn: "
            "lower its size"
        )
    if terms.risk >= Fraction(1, 2):
        raise UsageError(f"risk={terms.risk} given: below 1/2 for the map, where one set is named")
    require_few(lpn.size, float(lpn.noise), float(terms.success))


def curves(family: Family, rates: Rates, terms: BoundParameters | None = None) -> tuple[Curve, ...]:
    """Draw up all curves of a noisy parity or of lpn; raises UsageError for other families.

    terms: the success that is wanted, and the risk, below 1/2.
    """
    terms = terms or BoundParameters()
    require_noisy(family, terms)
    lpn = NOISY_PARITIES.need(family)
    asked = (lpn.size, float(lpn.noise), float(terms.success))
    floor, enough = (least_of_layer(*asked, bound) for bound in BOUNDS)
    opened = [least_open(*asked, bound) for bound in BOUNDS]
    fewer = f"with fewer examples no learner names the hidden set with probability {terms.success}"
    named = f"from so many on maximum likelihood names it with {terms.success}"
    bits = fano(*asked)
    return (
        _floor("Fano's inequality", math.ceil(2 * bits), math.ceil(bits), "CT06", fewer),
        _floor("information floor", floor, opened[0], "PPV10", f"{fewer}; by the best test"),
        _floor("union bound", enough, opened[1], "PPV10", named),
        _brute_force(lpn, rates, enough),
        _elimination(lpn, rates, float(terms.success), enough),
        _low_degree(lpn, rates, enough),
        _queries(family, rates, terms, floor),
    )


def _floor(name: str, examples: int, opened: int, source: str, says: str) -> Curve:
    note = f"{opened} where all are open"
    mark = Mark(examples=float(examples), seconds=None, note=note)
    return Curve(name=name, role="floor", known="proven", source=source, says=says, marks=(mark,))


def _brute_force(lpn: Modular, rates: Rates, enough: int) -> Curve:
    seconds = lpn.size * rates.candidate + enough * rates.example
    return Curve(
        name="brute force",
        role="algorithm",
        known="count exact, rate measured",
        source="information",
        says="every member against the examples, each given up early; half of them on average",
        marks=(Mark(examples=float(enough), seconds=seconds, note=f"{lpn.size:.3g} candidates"),),
    )


def _elimination(lpn: Modular, rates: Rates, chance: float, enough: int) -> Curve:
    """Minimise over what is kept for each size of pool, until more examples save nothing."""
    marks: list[Mark] = []
    floor = max((enough + 1) // 2, (lpn.h or lpn.n) + 16)
    for count in np.unique(np.geomspace(floor, 1 << 22, _GRID).astype(int)).tolist():
        found = effort(lpn, count, chance)
        if found is None:
            continue
        seconds = found.operations * rates.word + 2.0 * count * rates.example
        if seconds > _FAR or (marks and seconds >= (marks[-1].seconds or 0.0)):
            continue
        note = f"k = {found.kept}, {found.trials:.3g} trials"
        marks.append(Mark(examples=2.0 * count, seconds=seconds, note=note))
    return Curve(
        name="restricted elimination",
        role="algorithm",
        known="estimate, rate measured",
        source="EKM17",
        says="guesses k coordinates that hold the set and k labels without a flip: no "
        "statistical-query algorithm; examples are the pool that trials share",
        marks=tuple(marks),
    )


def _low_degree(lpn: Modular, rates: Rates, enough: int) -> Curve:
    words = tokens.words_per_token(lpn.d)
    marks: list[Mark] = []
    for groups in range(1, _GROUPS + 1):
        found = moments(lpn.size, 1 - 2 * lpn.noise, groups)
        opened, count = least_examples(found), least_examples(thinned(found))
        summed = math.exp(min(_log_groups(opened, groups), 600.0)) * words * rates.group
        seconds = summed + count * rates.example
        if count < enough or seconds > _FAR:
            break
        note = f"t = {groups}" + (f", degree {groups * (lpn.h + 1)}" if lpn.h else "")
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


def _queries(family: Family, rates: Rates, terms: BoundParameters, floor: int) -> Curve:
    """Read a query to VSTAT(E) as one pass over E examples: E cancels, while one query is asked.

    Rounding the queries up only adds to the time.
    """
    posed = pose(family, terms.success)
    assert posed is not None
    moves = posed.fact(posed.gram).moves01
    fits = posed.fact(posed.fit(terms.risk)).most
    missing = likely(posed.fact(posed.members), terms.success) - fits
    product = Fraction(missing) / (3 * moves)  # queries times examples, at least
    marks = []
    for count in (floor, math.ceil(product)) if product > floor else ():
        most = math.floor(3 * count * moves)  # members that a query rules out
        number = big(math.ceil(missing / most)) if most else "no number of"
        note = f"{number} queries to VSTAT({big(count)})"
        seconds = float(product) * rates.query
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


# What one step of each algorithm takes on this machine.

_AT_ONCE = 4096  # examples that are drawn to time it
_QUERY = 1 << 16  # examples of the query that is timed
_PAIRS = 512  # rows of the block of pairs that is timed
_NUMBERS = 1 << 25  # int64 of the samples that candidates are tried on, at most


def measure(family: Family, seed: int = 0) -> Rates:
    """Measure all rates on an instance of a parity or of lpn: about a second."""
    from hardness.kernels import _restricted_jit as compiled

    lpn, instance = NOISY_PARITIES.need(family), family.instance(seed)
    count, weight = min(needed(lpn), max(_AT_ONCE, _NUMBERS // lpn.n)), lpn.h or (lpn.n + 1) // 2
    drawn = instance.examples(0, 2 * count + 64)
    require_memory(24 * count * lpn.n, f"{count} samples of {lpn.spec}")
    search, found = enumeration(samples(drawn).cut(0, count)), equations(drawn)
    kept = min(best_k(lpn.d, lpn.h or lpn.n, lpn.noise), len(found.words) - 1)
    trials = max(1, int(1e6 / work(lpn.d, kept)))
    rng = np.random.default_rng(0)
    columns = rng.integers(0, 2**64, (weight + 1, _QUERY // 64), np.uint64)
    first, second = rng.integers(0, 2**64, (2, tokens.words_per_token(lpn.d), _PAIRS), np.uint64)
    values = rng.random(lpn.d + 64)

    def draw() -> float:
        equations(instance.examples(0, _AT_ONCE))
        return _AT_ONCE

    def candidate() -> float:
        tried: int = search.run(weight, 0, 1 << 12)[0]
        return tried

    def word() -> float:
        """Do trials that find nothing, as no number of errors is below 0."""
        out = np.zeros(found.words.shape[1], np.uint64)
        compiled.trials(found.words, found.codes, lpn.n, kept, lpn.h, 1, -1, 0, trials, out)
        return trials * work(lpn.d, kept)

    def group() -> float:
        """Sum a function of the weight of the product over all pairs of two blocks."""
        weights = np.zeros((_PAIRS, _PAIRS), np.int64)
        for a, b in zip(first, second, strict=True):
            weights += np.bitwise_count(a[:, None] ^ b)
        values[weights % len(values)].sum()
        return weights.size * len(first)

    def query() -> float:
        """Count where a parity differs from the labels, which are the last column."""
        np.bitwise_count(np.bitwise_xor.reduce(columns, axis=0)).sum()
        return _QUERY

    return Rates(
        candidate=_seconds(candidate),
        word=_seconds(word),
        group=_seconds(group),
        query=_seconds(query),
        example=_seconds(draw),
        machine=f"{platform.system()} {platform.machine()}",
    )


def _seconds(step: Callable[[], float]) -> float:
    """Time a step again and again: seconds for each of the units that it says it did."""
    step()  # compiles, and is not timed
    done, start = 0.0, clock.now()
    while (passed := clock.now() - start) < 0.1 or not done:
        done += step()
    return passed / done
