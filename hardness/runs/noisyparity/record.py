"""The map of a noisy parity as one record, and on disk: curves, measured runs, rates."""

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from hardness.lower import Terms
from hardness.oracles import Budget
from hardness.runs.noisyparity.curves import Curve, curves, require_noisy
from hardness.runs.noisyparity.rates import Rates, measure
from hardness.runs.noisyparity.runs import chosen, measured, usual
from hardness.runs.run import JUDGED, Run, judge
from hardness.upper import learner_spec, parse_learner
from instances.capabilities import NOISY_PARITIES
from instances.disk import require_format
from instances.errors import DamagedFile, ToolkitError
from instances.family import Family
from instances.parameters import fraction
from instances.spec import parse_stored, require_stored
from instances.strict import one_line, read_json

FORMAT = "hardness-map/1"
_NEAR = 1e-6  # of numbers that are computed again, on another machine too


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
    that is no noisy parity, ToolkitError where a learner named cannot run.
    """
    require_stored(family, "its map cannot be kept")
    terms, budget = Terms(), budget or Budget()
    require_noisy(family, terms)
    chosen(family, learners, seeds)
    rates = measure(family, first_seed)
    drawn = curves(family, rates, terms)
    left: dict[str, str] = {}
    if not learners:
        learners, left = usual(family, drawn, budget.seconds)
    return Map(
        spec=family.spec,
        success=terms.success,
        rates=rates,
        curves=drawn,
        runs=measured(family, learners, seeds, first_seed, budget, progress),
        left_out=left,
        seeds=seeds,
        first_seed=first_seed,
    )


def read_map(path: Path) -> Map:
    """Read a map from its folder or its results.json; raises DamagedFile.

    The curves are computed again, at the stored rates, and must be those that are stored.
    """
    path = path / "results.json" if path.is_dir() else path
    data = read_json(path)
    require_format(data, FORMAT, path)
    try:
        found = _read(data)
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, ToolkitError) as e:
        said = one_line(e)
        raise DamagedFile(f"{path} is damaged: {type(e).__name__} {said}") from e
    again = found.to_json()
    if not all(_same(data.get(key), again[key]) for key in ("members", "curves")):
        raise DamagedFile(f"{path} is damaged: its curves are not those of its spec and rates")
    return found


def _read(data: dict[str, Any]) -> Map:
    """Read a map with its curves made anew; raises ValueError where its parts do not fit."""
    family = parse_stored(str(data["spec"]))
    rates = Rates(**data["rates"])
    runs = tuple(Run.from_json(run) for run in data["runs"])
    seeds, first = data["seeds"], data["first_seed"]
    if family.spec != data["spec"] or type(seeds) is not int or type(first) is not int:
        raise ValueError("its spec or its seeds are none")
    wanted = {(run.learner, seed) for run in runs for seed in range(first, first + seeds)}
    if len(runs) != len(wanted) or {(run.learner, run.seed) for run in runs} != wanted:
        raise ValueError("its runs are not one for each learner and seed")
    if any(
        r.spec != family.spec or learner_spec(parse_learner(r.learner)) != r.learner for r in runs
    ):
        raise ValueError("a run is of another family or learner")
    if any(r.outcome in JUDGED and r.outcome is not judge(r.risk, known=True) for r in runs):
        raise ValueError("an outcome does not follow from its risk")
    success = fraction(data["success"], "success")
    return Map(
        spec=family.spec,
        success=success,
        rates=rates,
        curves=curves(family, rates, Terms(success=success)),
        runs=runs,
        left_out={str(k): str(v) for k, v in data["left_out"].items()},
        seeds=seeds,
        first_seed=first,
    )


def _same(stored: Any, again: Any) -> bool:
    """Compare JSON, numbers up to rounding."""
    if isinstance(again, dict):
        return (
            isinstance(stored, dict)
            and stored.keys() == again.keys()
            and all(_same(stored[key], again[key]) for key in again)
        )
    if isinstance(again, list):
        return (
            isinstance(stored, list)
            and len(stored) == len(again)
            and all(map(_same, stored, again))
        )
    if isinstance(again, float):
        return type(stored) is float and math.isclose(stored, again, rel_tol=_NEAR)
    return type(stored) is type(again) and stored == again
