"""The map of a noisy parity: examples against time, bounds as curves and learners as points.

Curves count examples of the layer, of which every other one is open or so: what is proven is proven
for them, estimates are made for open examples and doubled. docs/named-mathematics.md, section 16,
has the proofs.
"""

import math
import platform
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, fields
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal

import numpy as np
from flint import fmpq
from msgspec import Struct, convert
from numpy.typing import NDArray

from hardness.lower import Terms
from hardness.lower.bounds import vstat_queries
from hardness.lower.named.ratio import LAYER, Ratio
from hardness.oracles import Budget
from hardness.runs.comparison import distinct
from hardness.runs.difference import difference
from hardness.runs.information import BOUNDS, fano, least_of_layer, least_open, require_few
from hardness.runs.planned import Planned, here
from hardness.runs.run import Run, require_support
from hardness.runs.validate import inconsistency
from hardness.upper import LEARNERS, learner_spec, parse_learner
from hardness.upper.attack import needed
from hardness.upper.bruteforce import enumeration
from hardness.upper.equations import equations
from hardness.upper.restricted import best_k, pool_size, work
from instances import tokens
from instances.capabilities import NOISY_PARITIES
from instances.disk import damage, require_format
from instances.errors import DamagedFile, ToolkitError, UsageError
from instances.family import Family
from instances.limits import require_memory
from instances.modular import Modular
from instances.parameters import fraction
from instances.samples import samples
from instances.spec import parse_stored, require_stored
from instances.strict import read_json
from instances.threshold import rational

FORMAT = "hardness-map/1"
SPARE = 10  # equations beyond k: fewer than k of them are independent once in 2^10 pools
Role = Literal["floor", "algorithm", "low-degree", "queries"]
Floats = NDArray[np.float64]

_MOST_BITS = 900  # of the number of members: float64 holds no more seconds
_GRID = 60  # points of a curve that bends
_GROUPS = 12  # examples that a low-degree test takes at a time, at most
_FAR = 1e40  # seconds: what costs more is left out
_NEAR = 1e-6  # of numbers that are computed again, on another machine too


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


@dataclass(frozen=True, kw_only=True)
class Map:
    """The curves of a noisy parity at measured rates, and the runs of learners.

    left_out: learners that were not run, with the reason. success: of naming the hidden set.
    """

    spec: str
    success: Fraction
    rates: Rates
    curves: tuple[Curve, ...]
    runs: tuple[Run, ...]
    left_out: dict[str, str]
    seeds: int
    first_seed: int

    def of(self, name: str) -> Curve:
        """Return the curve of a name; raises KeyError."""
        return {curve.name: curve for curve in self.curves}[name]

    def to_json(self) -> dict[str, Any]:
        """Write the map as JSON; the field names are a contract."""
        return {
            "format": FORMAT,
            "kind": "map",
            "spec": self.spec,
            "members": str(NOISY_PARITIES.need(parse_stored(self.spec)).size),
            "success": str(self.success),
            "rates": asdict(self.rates),
            "curves": [curve.to_json() for curve in self.curves],
            "runs": [run.to_json() for run in self.runs],
            "left_out": self.left_out,
            "seeds": self.seeds,
            "first_seed": self.first_seed,
        }


def noisy_map(
    family: Family,
    learners: tuple[str, ...] = (),
    seeds: int = 3,
    first_seed: int = 0,
    budget: Budget | None = None,
    progress: Callable[[int], None] = lambda done: None,
) -> Map:
    """Measure the rates, draw up the curves and run learners (none named: those worth a run).

    Everything but seconds and memory depends on the seeds alone. Raises UsageError for a family
    that is not a noisy parity, ToolkitError where a learner named cannot run.
    """
    require_stored(family, "its map cannot be kept")
    terms, budget = Terms(), budget or Budget()
    require_noisy(family, terms)
    if seeds < 1:
        raise UsageError(f"{seeds} seeds given: at least one is needed")
    names = _runnable(family, learners)
    rates = measure(family, first_seed)
    drawn = curves(family, rates, terms)
    left: dict[str, str] = {}
    if not learners:
        names, left = usual(family, drawn, budget.seconds)
    planned = [
        Planned(spec=family.spec, learner=name, seed=seed, budget=budget)
        for name in names
        for seed in range(first_seed, first_seed + seeds)
    ]
    runs = []
    for _, done in here(planned):  # nothing runs beside it: its seconds are those of one core
        if isinstance(done, ToolkitError):
            raise done
        runs.append(done)
        progress(1)
    return Map(
        spec=family.spec,
        success=terms.success,
        rates=rates,
        curves=drawn,
        runs=tuple(runs),
        left_out=left,
        seeds=seeds,
        first_seed=first_seed,
    )


class _MapJSON(Struct, frozen=True, kw_only=True):
    spec: str
    success: str
    rates: Rates
    runs: list[Any]
    left_out: dict[str, str]
    seeds: int
    first_seed: int


def read_map(path: Path) -> Map:
    """Read a map from its folder or its results.json; raises DamagedFile.

    The curves are computed again, at the stored rates, and must be those that are stored.
    """
    path = path / "results.json" if path.is_dir() else path
    data = read_json(path)
    require_format(data, FORMAT, path)
    with damage(path):
        found = _read(convert(data, _MapJSON))
        again = found.to_json()
        said = {name: data[name] for name in ("members", "curves")}
    where = difference(said, {name: again[name] for name in said}, _NEAR)
    if where:
        raise DamagedFile(f"{path} is damaged: by its spec and rates, {where}")
    return found


def _read(data: _MapJSON) -> Map:
    """Read a map with its curves made anew; raises ValueError where its parts do not fit."""
    family, success = parse_stored(data.spec), fraction(data.success, "success")
    runs = tuple(Run.from_json(one) for one in data.runs)
    names = {learner_spec(parse_learner(one.learner)) for one in runs}
    if {data.spec, *(one.spec for one in runs)} != {family.spec}:
        raise ValueError("it or a run is of another family")
    if reason := next(filter(None, map(inconsistency, runs)), None):
        raise ValueError(reason)
    seeds = range(data.first_seed, data.first_seed + data.seeds)
    wanted = len(names) * len(seeds) == len(runs) and {(n, s) for n in names for s in seeds}
    if {(one.learner, one.seed) for one in runs} != wanted:
        raise ValueError("its runs are not one for each learner and seed")
    return Map(
        spec=family.spec,
        success=success,
        rates=data.rates,
        curves=curves(family, data.rates, Terms(success=success)),
        runs=runs,
        left_out=data.left_out,
        seeds=data.seeds,
        first_seed=data.first_seed,
    )


# Low degree: a polynomial of degree D in the (z, label) of open examples that moves at all takes
# t = D/(m + 1) whole examples at a time. Written with the members' average, its best such part is
# the sum over all groups of up to t examples of the product of their labels times K_m(weight of the
# product of their z), K_m a Krawtchouk polynomial: a group costs an operation or two. [BBHLS21]


def ratio(size: int, fade: Fraction, groups: int) -> Ratio:
    """Give the low-degree ratio of `size` orthonormal signs on up to `groups` open examples.

    Its squared norm less 1 is sum_{s=1..t} C(examples, s) fade^(2s) / M, for dense members of lpn
    too, which have no one degree.

    >>> ratio(math.comb(99, 4), Fraction(4, 5), 1).advantage(200)
    16/470547
    >>> ratio(455, Fraction(1), 2).least_examples()
    30
    """
    square = rational(fade) ** 2
    return Ratio(moments=tuple(square**s / fmpq(size) for s in range(1, groups + 1)))


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


# Curves.


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
    require_few(lpn.size, float(lpn.noise), float(terms.success))


def curves(family: Family, rates: Rates, terms: Terms | None = None) -> tuple[Curve, ...]:
    """Draw up all curves of a noisy parity or of lpn; raises UsageError for other families.

    terms: the success that is wanted, and the risk, below 1/2.
    """
    terms = terms or Terms()
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
        _queries(lpn, rates, terms, floor),
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
        exact = ratio(lpn.size, 1 - 2 * lpn.noise, groups)
        opened, count = exact.least_examples(), exact.thinned(LAYER).least_examples()
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


def _queries(lpn: Modular, rates: Rates, terms: Terms, floor: int) -> Curve:
    """Read a query to VSTAT(E) as one pass over E examples: E cancels, while one query is asked.

    Rounding the queries up only adds to the time.
    """
    excess = terms.success * lpn.size - terms.right_about
    product = 4 * excess / (3 * (1 - 2 * lpn.noise) ** 2)  # queries times examples, at least
    marks = []
    for count in (floor, math.ceil(product)) if product > floor else ():
        reading = Terms(vstat=count, risk=terms.risk, success=terms.success)
        asked = vstat_queries(lpn.size, lpn.noise, reading)
        number = "no number of" if asked is None else f"{float(asked):.3g}"
        note = f"{number} queries to VSTAT({float(count):.3g})"
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
    done, start = 0.0, time.perf_counter()
    while (passed := time.perf_counter() - start) < 0.1 or not done:
        done += step()
    return passed / done


# Learners that are run, one after another on one core.

_NAMED = ("bruteforce", "restricted", "mitm", "pairs", "bkw", "lowdegree")
_CURVE = {"bruteforce": "brute force", "restricted": "restricted elimination"}
_MONOMIALS = 1500  # of least squares: some seconds
_HOPELESS = 3.0  # budgets: what is expected to take as much longer is left out
_CHANCE = 2 / 3  # of a pool with no more flips than are reckoned with


def usual(
    family: Family, curves: tuple[Curve, ...], budget: float | None
) -> tuple[tuple[str, ...], dict[str, str]]:
    """Name the learners that are worth a run, and say why others are left out.

    budget: the seconds of a run.
    """
    lpn, named, left = NOISY_PARITIES.need(family), list[str](), dict[str, str]()
    degree = lpn.h or lpn.n
    monomials = sum(math.comb(lpn.n, k) for k in range(degree + 1))
    limit = _HOPELESS * (math.inf if budget is None else budget)
    expected = {c.name: c.quickest.seconds or 0.0 for c in curves if c.marks}
    (tests,) = (c for c in curves if c.role == "low-degree")
    expected["pairs"] = sum(m.seconds or 0.0 for m in tests.marks[1:2])
    for name in (n for n in _NAMED if n in LEARNERS and not (lpn.h and n == "bkw")):
        text = name if name != "lowdegree" else f"lowdegree:degree={degree}"
        seconds = expected.get(_CURVE.get(name, name), 0.0)
        reason = parse_learner(text).supports(family)
        if not reason and name == "lowdegree" and monomials > _MONOMIALS:
            reason = (
                f"it has {monomials:.3g} monomials, at most {_MONOMIALS} are tried unless it is "
                "asked for"
            )
        if not reason and seconds > limit:
            reason = f"it would take some {seconds:.2g} s, over {_HOPELESS:g} times the budget"
        if reason:
            left[text] = reason
            continue
        named.append(text)
        if name == "restricted":
            (curve,) = (c for c in curves if c.name == _CURVE[name])
            named += _scarce(lpn, curve, limit)
    return tuple(named), left


def _scarce(lpn: Modular, curve: Curve, limit: float) -> list[str]:
    """Restricted elimination on the fewest examples that its curve expects to do in time."""
    wide = pool_size(lpn, best_k(lpn.d, lpn.h or lpn.n, lpn.noise))
    for mark in curve.marks:
        samples = max(needed(lpn), int(mark.examples) // 2)
        found = effort(lpn, samples, _CHANCE)
        if found and (mark.seconds or 0.0) < limit / 30 and 3 * samples < 2 * wide:
            return [f"restricted:samples={samples},kept={found.kept}"]
    return []


def _runnable(family: Family, names: tuple[str, ...]) -> tuple[str, ...]:
    """Name learners, each once; raises UsageError where one cannot run on the family."""
    names = distinct(names)
    for learner in map(parse_learner, names):
        require_support(learner, family)
        if learner.access == "queries":
            raise UsageError(
                f"{learner.name} given: it asks statistical queries; the map counts examples"
            )
    return names
