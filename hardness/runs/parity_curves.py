"""The curves of a noisy parity's map: what is proven, and what algorithms take at measured rates.

Curves count examples of the layer, of which every other one is open or so: what is proven is proven
for them, estimates are made for open examples and doubled. docs/named-mathematics.md, section 16,
has the proofs.
"""

import math
import platform
from collections.abc import Callable
from fractions import Fraction
from typing import Annotated, Literal, NamedTuple

import numpy as np
from msgspec import Meta, Struct
from numpy.typing import NDArray

from hardness.check.kernel import likely
from hardness.check.kernel.low_degree import least_examples, thinned
from hardness.claims import big
from hardness.lower import BoundParameters
from hardness.lower.certificate import pose
from hardness.oracles import clock
from hardness.runs.information import BOUNDS, fano, least_of_layer, least_open, require_few
from hardness.upper.attack import equations, needed
from hardness.upper.bruteforce import enumeration
from hardness.upper.restricted import best_k, work
from instances import tokens
from instances.capabilities import CODED, NOISY_PARITIES
from instances.errors import UsageError
from instances.family import Family
from instances.limits import require_memory
from instances.modular import Modular
from instances.samples import samples

TERMS = BoundParameters()  # the success that is wanted, and the risk by which it is judged
SPARE = 10  # equations beyond k: fewer than k of them are independent once in 2^10 pools
Role = Literal["floor", "algorithm", "low-degree", "queries"]
Floats = NDArray[np.float64]
Rate = Annotated[float, Meta(gt=0, lt=1e6)]

_MOST_BITS = 900  # of the number of members: float64 holds no more seconds
_GRID = 60  # points of a curve that bends
_GROUPS = 12  # examples that a low-degree test takes at a time, at most
_FAR = 1e40  # seconds: what costs more is left out
_FEWER = "with fewer examples no learner names the hidden set with probability {success}"

# How each curve is known, the key of its source, and what it says.
_TOLD: dict[str, tuple[Role, str, str, str]] = {
    "Fano's inequality": ("floor", "proven", "CT06", _FEWER),
    "information floor": ("floor", "proven", "PPV10", f"{_FEWER}; by the best test"),
    "union bound": (
        *("floor", "proven", "PPV10"),
        "from so many on maximum likelihood names it with {success}",
    ),
    "brute force": (
        *("algorithm", "count exact, rate measured", "information"),
        "every member against the examples, each given up early; half of them on average",
    ),
    "restricted elimination": (
        *("algorithm", "estimate, rate measured", "EKM17"),
        "guesses k coordinates that hold the set and k labels without a flip: no "
        "statistical-query algorithm; examples are the pool that trials share",
    ),
    "low-degree tests": (
        *("low-degree", "threshold exact, cost of the plain sum", "BBHLS21"),
        "t examples at a time: with fewer, no polynomial of that degree moves its mean by a "
        "standard deviation of coins; it names no set, and its sum may be had faster",
    ),
    "statistical queries": (
        *("queries", "queries proven, time a reading", "FGRVX17"),
        "no fewer queries to VSTAT(examples); that a query is a pass over as many examples is "
        "a reading, no theorem",
    ),
}


class Mark(Struct, frozen=True):
    """A point of a curve: examples of the layer, seconds (None: any), and what it is in words."""

    examples: float
    seconds: float | None
    note: str


class Curve(Struct, frozen=True, kw_only=True):
    """One curve with how it is known, the key of its source, and what it says in a sentence."""

    name: str
    role: Role
    known: str
    source: str
    says: str
    marks: tuple[Mark, ...]


class Rates(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Seconds on one core, each from a loop of at least 0.1 s, compiled before it is timed.

    candidate: one of brute force, given up early; word: an operation on a word of restricted
    elimination, as `hardness.upper.restricted.work` counts; group: a word of one group of examples
    in a low-degree test; query: an example of one parity's average, from packed columns; example:
    drawing one of the layer and reading its equation.
    """

    candidate: Rate
    word: Rate
    group: Rate
    query: Rate
    example: Rate
    machine: str


def require_noisy(family: Family) -> None:
    """Refuse what the map is not about: no parity, no noise, few members; raises UsageError."""
    lpn, why = NOISY_PARITIES.need(family), ""
    if CODED.need(family).open_share != Fraction(1, 2):
        why = (
            "the map counts examples of which every other one tells something; here all do: take "
            "parity"
        )
    elif not lpn.noise:
        why = (
            "the map is of noisy parities: give noise=0.1 or so; without noise "
            "`hardness learn elimination SPEC` solves it from about 2 d examples"
        )
    elif lpn.size < 3:
        why = f"{lpn.size} members: at least 3 are needed"
    elif lpn.size.bit_length() > _MOST_BITS:
        why = f"over 2^{_MOST_BITS} members, up to which the map is drawn: lower its size"
    if why:
        raise UsageError(f"{family} given: {why}")
    require_few(lpn.size, float(lpn.noise), float(TERMS.success))


def curves(family: Family, rates: Rates) -> tuple[Curve, ...]:
    """Draw up all curves of a noisy parity or of lpn; raises UsageError for other families."""
    require_noisy(family)
    lpn = NOISY_PARITIES.need(family)
    asked = (lpn.size, float(lpn.noise), float(TERMS.success))
    bits = fano(*asked)
    floor, enough = (least_of_layer(*asked, bound) for bound in BOUNDS)
    opened = [math.ceil(bits), *(least_open(*asked, bound) for bound in BOUNDS)]
    floors = [
        [Mark(float(count), None, f"{few} where all are open")]
        for count, few in zip((math.ceil(2 * bits), floor, enough), opened, strict=True)
    ]
    seconds = lpn.size * rates.candidate + enough * rates.example
    marks = [
        *floors,
        [Mark(float(enough), seconds, f"{lpn.size:.3g} candidates")],
        _elimination(lpn, rates, enough),
        _low_degree(lpn, rates, enough),
        _queries(family, rates, floor),
    ]
    return tuple(
        Curve(
            name=name,
            role=role,
            known=known,
            source=source,
            says=says.format(success=TERMS.success),
            marks=tuple(found),
        )
        for (name, (role, known, source, says)), found in zip(_TOLD.items(), marks, strict=True)
    )


class Effort(NamedTuple):
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
    large = [math.exp(log) if log < 700 else math.inf for log in (trials, operations)]
    return Effort(int(k[best]), *large)


def _log_choose(n: Floats | float, k: Floats | float) -> Floats:
    from scipy.special import gammaln

    return np.asarray(gammaln(n + 1.0) - gammaln(k + 1.0) - gammaln(n - k + 1.0))


def _elimination(lpn: Modular, rates: Rates, enough: int) -> list[Mark]:
    """Minimise over what is kept for each size of pool, until more examples save nothing."""
    marks: list[Mark] = []
    floor = max((enough + 1) // 2, (lpn.h or lpn.n) + 16)
    best = _FAR
    for count in np.unique(np.geomspace(floor, 1 << 22, _GRID).astype(int)).tolist():
        if found := effort(lpn, count, float(TERMS.success)):
            seconds = found.operations * rates.word + 2.0 * count * rates.example
            if seconds < best:
                note = f"k = {found.kept}, {found.trials:.3g} trials"
                marks.append(Mark(2.0 * count, seconds, note))
                best = seconds
    return marks


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


def _low_degree(lpn: Modular, rates: Rates, enough: int) -> list[Mark]:
    words = tokens.words_per_token(lpn.d)
    marks: list[Mark] = []
    for groups in range(1, _GROUPS + 1):
        found = moments(lpn.size, 1 - 2 * lpn.noise, groups)
        opened, count = least_examples(found), least_examples(thinned(found))
        summed = min(math.comb(opened, groups), 10**260) * words * rates.group
        seconds = summed + count * rates.example
        if count < enough or seconds > _FAR:
            break
        note = f"t = {groups}" + (f", degree {groups * (lpn.h + 1)}" if lpn.h else "")
        marks.append(Mark(float(count), seconds, note))
    return marks


def _queries(family: Family, rates: Rates, floor: int) -> list[Mark]:
    """Read a query to VSTAT(E) as one pass over E examples: E cancels, while one query is asked.

    Rounding the queries up only adds to the time.
    """
    posed = pose(family, TERMS.success)
    assert posed is not None
    moves = posed.fact(posed.gram).moves01
    fits = posed.fact(posed.fit(TERMS.risk)).most
    missing = likely(posed.fact(posed.members), TERMS.success) - fits
    product = Fraction(missing) / (3 * moves)  # queries times examples, at least
    marks = []
    for count in (floor, math.ceil(product)) if product > floor else ():
        most = math.floor(3 * count * moves)  # members that a query rules out
        number = big(math.ceil(missing / most)) if most else "no number of"
        note = f"{number} queries to VSTAT({big(count)})"
        marks.append(Mark(float(count), float(product) * rates.query, note))
    return marks


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
    values, out = rng.random(lpn.d + 64), np.zeros(found.words.shape[1], np.uint64)

    def candidate() -> float:
        tried: int = search.run(weight, 0, 1 << 12)[0]
        return tried

    def word() -> float:  # trials that find nothing, as no number of errors is below 0
        compiled.trials(found.words, found.codes, lpn.n, kept, lpn.h, 1, -1, 0, trials, out)
        return trials * work(lpn.d, kept)

    def group() -> float:  # a function of the weight of the product, over all pairs of two blocks
        weights = np.zeros((_PAIRS, _PAIRS), np.int64)
        for a, b in zip(first, second, strict=True):
            weights += np.bitwise_count(a[:, None] ^ b)
        values[weights % len(values)].sum()
        return weights.size * len(first)

    def query() -> float:  # where a parity differs from the labels, which are the last column
        np.bitwise_count(np.bitwise_xor.reduce(columns, axis=0)).sum()
        return _QUERY

    def draw() -> float:
        equations(instance.examples(0, _AT_ONCE))
        return _AT_ONCE

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
