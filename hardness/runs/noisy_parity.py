"""The map of a noisy parity: examples against time, bounds as curves and learners as points.

Curves, and what one step of each algorithm takes: hardness/runs/parity_curves.py.
"""

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from msgspec import Struct, convert

from hardness.lower import BoundParameters
from hardness.oracles import Budget
from hardness.runs.columns import runs_frame
from hardness.runs.comparison import distinct
from hardness.runs.difference import difference
from hardness.runs.names import brief_spec
from hardness.runs.parity_curves import Curve, Rates, curves, effort, measure, require_noisy
from hardness.runs.planned import Planned, here
from hardness.runs.run import Run, require_support
from hardness.upper import LEARNERS, learner_spec, parse_learner
from hardness.upper.attack import needed
from hardness.upper.restricted import best_k, pool_size
from instances.capabilities import NOISY_PARITIES
from instances.disk import damage, require_format
from instances.errors import DamagedFile, ToolkitError, UsageError
from instances.family import Family
from instances.modular import Modular
from instances.parameters import fraction
from instances.result import Result, TableRow
from instances.spec import parse_stored, require_stored
from instances.strict import read_json

if TYPE_CHECKING:
    from pandas import DataFrame

FORMAT = "hardness-map/1"
_NEAR = 1e-6  # of numbers that are computed again, on another machine too
_NAMED = ("bruteforce", "restricted", "mitm", "pairs", "bkw", "lowdegree")
_CURVE = {"bruteforce": "brute force", "restricted": "restricted elimination"}
_MONOMIALS = 1500  # of least squares: some seconds
_HOPELESS = 3.0  # budgets: what is expected to take as much longer is left out
_CHANCE = 2 / 3  # of a pool with no more flips than are reckoned with


@dataclass(frozen=True, kw_only=True, repr=False)
class Map(Result):
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

    _words: ClassVar[str] = "hardness.report.parity_map_words.map_words"

    def of(self, name: str) -> Curve:
        """Return the curve of a name; raises KeyError."""
        return {curve.name: curve for curve in self.curves}[name]

    def _summary(self) -> tuple[str, list[TableRow]]:
        return f"{brief_spec(self.spec)}: {len(self.curves)} curves, {len(self.runs)} runs", [
            {
                "learner": run.learner,
                "seed": run.seed,
                "outcome": run.outcome.value,
                "examples": run.usage.examples,
                "seconds": run.usage.seconds,
            }
            for run in self.runs
        ]

    def to_frame(self) -> "DataFrame":
        """Make the tidy pandas DataFrame of its runs: one row a run."""
        return runs_frame(self.runs)

    def to_dict(self) -> dict[str, Any]:
        """Write the map as JSON; the field names are a contract."""
        return {
            "format": FORMAT,
            "kind": "map",
            "spec": self.spec,
            "members": str(NOISY_PARITIES.need(parse_stored(self.spec)).size),
            "success": str(self.success),
            "rates": asdict(self.rates),
            "curves": [curve.to_dict() for curve in self.curves],
            "runs": [run.to_dict() for run in self.runs],
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
    terms, budget = BoundParameters(), budget or Budget()
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
        if done.usage.values:
            raise UsageError(f"{done.learner} asked membership queries: the map counts examples")
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
        again = found.to_dict()
        said = {name: data[name] for name in ("members", "curves")}
    where = difference(said, {name: again[name] for name in said}, _NEAR)
    if where:
        raise DamagedFile(f"{path} is damaged: by its spec and rates, {where}")
    return found


def _read(data: _MapJSON) -> Map:
    """Read a map with its curves made anew; raises ValueError where its parts do not fit."""
    family, success = parse_stored(data.spec), fraction(data.success, "success")
    runs = tuple(Run.read(one) for one in data.runs)
    names = {learner_spec(parse_learner(one.learner)) for one in runs}
    if {data.spec, *(one.spec for one in runs)} != {family.spec}:
        raise ValueError("it or a run is of another family")
    if reason := next((r for one in runs if (r := one.inconsistency)), None):
        raise ValueError(reason)
    seeds = range(data.first_seed, data.first_seed + data.seeds)
    wanted = len(names) * len(seeds) == len(runs) and {(n, s) for n in names for s in seeds}
    if {(one.learner, one.seed) for one in runs} != wanted:
        raise ValueError("its runs are not one for each learner and seed")
    return Map(
        spec=family.spec,
        success=success,
        rates=data.rates,
        curves=curves(family, data.rates, BoundParameters(success=success)),
        runs=runs,
        left_out=data.left_out,
        seeds=data.seeds,
        first_seed=data.first_seed,
    )


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
        if learner.access in ("queries", "values"):
            kind = "statistical" if learner.access == "queries" else "membership"
            raise UsageError(
                f"{learner.name} given: it asks {kind} queries; the map counts examples"
            )
    return names
