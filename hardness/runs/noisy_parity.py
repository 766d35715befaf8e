"""The map of a noisy parity: examples against time, bounds as curves and learners as points.

Curves, and what one step of each algorithm takes: hardness/runs/parity_curves.py.
"""

import math
from collections.abc import Callable
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

from hardness.oracles import Budget
from hardness.runs.columns import runs_frame
from hardness.runs.comparison import distinct
from hardness.runs.parity_curves import (
    TERMS,
    Curve,
    Rates,
    curves,
    effort,
    measure,
    require_noisy,
)
from hardness.runs.planned import Planned, here
from hardness.runs.run import Run, require_support
from hardness.upper import LEARNERS, Learner, Outcome, learner_spec, parse_learner
from hardness.upper.attack import needed
from hardness.upper.restricted import Restricted, best_k, pool_size
from instances.capabilities import NOISY_PARITIES
from instances.errors import ToolkitError, UsageError
from instances.family import Family
from instances.modular import Modular
from instances.result import Record, json_of
from instances.spec import parse_stored, require_stored

if TYPE_CHECKING:
    from pandas import DataFrame

TIGHT = "restricted, fewer examples"
_NAMED = ("bruteforce", "restricted", "mitm", "pairs", "bkw", "lowdegree")
_MONOMIALS = 1500  # of least squares: some seconds
_HOPELESS = 3.0  # budgets: what is expected to take as much longer is left out
_CHANCE = 2 / 3  # of a pool with no more flips than are reckoned with


class Map(Record, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The curves of a noisy parity at measured rates, and the runs of learners.

    left_out: learners that were not run, with the reason.
    """

    spec: str
    rates: Rates
    runs: tuple[Run, ...]
    left_out: dict[str, str]

    _format: ClassVar[str] = "hardness-map/2"
    _inside: ClassVar[str] = "results.json"
    _follows: ClassVar[tuple[str, ...]] = ("success", "curves")
    _parts: ClassVar[dict[str, type[Record]]] = {"runs": Run}
    _words: ClassVar[str] = "hardness.report.parity_map_words.map_words"

    def __post_init__(self) -> None:
        if any(run.spec != self.spec for run in self.runs):
            raise ValueError(f"a run is of another family than {self.spec}")

    @cached_property
    def curves(self) -> tuple[Curve, ...]:
        """The curves, which follow from the spec and the rates."""
        return curves(parse_stored(self.spec), self.rates)

    @property
    def success(self) -> Fraction:
        """Of naming the hidden set."""
        return TERMS.success

    @cached_property
    def by_kind(self) -> dict[str, list[Run]]:
        """The runs of each kind of learner; restricted elimination on a small pool is its own."""
        found: dict[str, list[Run]] = {}
        for run in self.runs:
            found.setdefault(kind(run.learner), []).append(run)
        return found

    def of(self, name: str) -> Curve:
        """Return the curve of a name; raises KeyError."""
        return {curve.name: curve for curve in self.curves}[name]

    def to_frame(self) -> "DataFrame":
        """Make the tidy pandas DataFrame of its runs: one row a run."""
        return runs_frame(self.runs)

    def to_dict(self) -> dict[str, Any]:
        """Write the map as JSON, its curves among it; the field names are a contract."""
        return {**self.filed(), "success": str(self.success), "curves": json_of(self.curves)}

    def _contradiction(self) -> str | None:
        family, names = parse_stored(self.spec), dict.fromkeys(r.learner for r in self.runs)
        require_noisy(family)
        for name in names:
            learner = parse_learner(name)
            if learner_spec(learner) != name:
                return f"it names a learner {name}, which is {learner_spec(learner)}"
            if name.partition(":")[0] in LEARNERS:  # others say it when they run
                require_mapped(learner, family)
        seeds = {r.seed for r in self.runs}
        wanted = {(name, min(seeds) + i) for name in names for i in range(len(seeds))}
        ran = [(r.learner, r.seed) for r in self.runs]
        if len(ran) != len(wanted) or set(ran) != wanted:
            return "its runs are not one for each learner and seed"
        if any(r.budget != self.runs[0].budget for r in self.runs):
            return "a run had another budget than the others"
        if any(r.usage.values for r in self.runs):
            return "a run asked membership queries: the map counts examples"
        return next((reason for r in self.runs if (reason := r.inconsistency)), None)


def kind(learner: str) -> str:
    """Name a learner on the map: restricted elimination on a small pool apart.

    >>> kind("bruteforce:samples=0,start=0")
    'bruteforce'
    """
    made = parse_learner(learner)
    return TIGHT if isinstance(made, Restricted) and made.samples else made.name


def found_set(run: Run) -> bool:
    """Whether a run names the hidden set, or, where it names none, predicts as it does."""
    named = run.secret_recovered
    return run.outcome is Outcome.SOLVED if named is None else named


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
    require_noisy(family)
    names, left, budget = distinct(learners), dict[str, str](), budget or Budget()
    for learner in map(parse_learner, names):
        require_mapped(learner, family)
    drawn = Map(spec=family.spec, rates=measure(family, first_seed), runs=(), left_out={})
    if not names:
        names, left = usual(drawn, budget.seconds)
    planned = [
        Planned(spec=family.spec, learner=name, seed=seed, budget=budget)
        for name in names
        for seed in range(first_seed, first_seed + seeds)
    ]
    runs = []
    for _, done in here(planned):  # nothing runs beside it: its seconds are those of one core
        if isinstance(done, ToolkitError):
            raise done
        if done.usage.values:
            raise UsageError(f"{done.learner} asked membership queries: the map counts examples")
        runs.append(done)
        progress(1)
    return Map(spec=family.spec, rates=drawn.rates, runs=tuple(runs), left_out=left)


def require_mapped(learner: Learner, family: Family) -> None:
    """Refuse a learner that does not run on a family, or asks queries; raises UsageError."""
    require_support(learner, family)
    if learner.access in ("queries", "values"):
        asked = "statistical" if learner.access == "queries" else "membership"
        raise UsageError(f"{learner.name} given: it asks {asked} queries; the map counts examples")


def usual(drawn: Map, budget: float | None) -> tuple[tuple[str, ...], dict[str, str]]:
    """Name the learners that are worth a run, and say why others are left out.

    budget: the seconds of a run.
    """
    family = parse_stored(drawn.spec)
    lpn = NOISY_PARITIES.need(family)
    degree = lpn.h or lpn.n
    monomials = sum(math.comb(lpn.n, k) for k in range(degree + 1))
    limit = _HOPELESS * (math.inf if budget is None else budget)
    expected = {  # seconds
        "bruteforce": drawn.of("brute force").marks,
        "restricted": drawn.of("restricted elimination").marks[-1:],
        "pairs": drawn.of("low-degree tests").marks[1:2],
    }
    named, left = list[str](), dict[str, str]()
    for name in _NAMED:
        if name not in LEARNERS or (lpn.h and name == "bkw"):
            continue
        text = name if name != "lowdegree" else f"lowdegree:degree={degree}"
        seconds = sum(mark.seconds or 0.0 for mark in expected.get(name, ()))
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
            named += _scarce(lpn, drawn.of("restricted elimination"), limit)
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
