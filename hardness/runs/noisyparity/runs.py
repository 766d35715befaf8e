"""The measured points of the map: learners on instances, one after another on one core."""

import math
from collections.abc import Callable

from hardness.oracles import Budget, ExampleOracle, Meter
from hardness.runs.both import distinct
from hardness.runs.noisyparity.curves import Curve
from hardness.runs.noisyparity.trials import effort
from hardness.runs.run import Run, attempt, require_support, run
from hardness.upper import LEARNERS, Learner, parse_learner
from hardness.upper.attack import needed
from hardness.upper.restricted import best_k, pool_size
from instances.capabilities import NOISY_PARITIES
from instances.errors import UsageError
from instances.family import Family

_NAMED = ("bruteforce", "restricted", "mitm", "pairs", "bkw", "lowdegree")
_CURVE = {"bruteforce": "brute force", "restricted": "restricted elimination"}
_MONOMIALS = 1500  # of least squares: some seconds
_WARM = 5.0  # seconds of the run that compiles, and is not kept
_HOPELESS = 3.0  # budgets: what is expected to take as much longer is left out
_OTHER_SEED = 1 << 20
_CHANCE = 2 / 3  # of a pool with no more flips than are reckoned with


def usual(
    family: Family, curves: tuple[Curve, ...], budget: float | None
) -> tuple[tuple[str, ...], dict[str, str]]:
    """Name the learners that are worth a run, and say why others are left out.

    budget: the seconds of a run.
    """
    named: list[str] = []
    left: dict[str, str] = {}
    limit = _HOPELESS * (math.inf if budget is None else budget)
    expected = {c.name: c.quickest.seconds or 0.0 for c in curves if c.marks}
    (tests,) = (c for c in curves if c.role == "low-degree")
    expected["pairs"] = sum(m.seconds or 0.0 for m in tests.marks[1:2])
    sparse = NOISY_PARITIES.need(family).h
    for name in (n for n in _NAMED if n in LEARNERS and not (sparse and n == "bkw")):
        text = name if name != "lowdegree" else f"lowdegree:degree={_degree(family)}"
        seconds = expected.get(_CURVE.get(name, name), 0.0)
        reason = parse_learner(text).supports(family) or _too_wide(name, family)
        if reason is None and seconds > limit:
            reason = f"it would take some {seconds:.2g} s, over {_HOPELESS:g} times the budget"
        if reason:
            left[text] = reason
            continue
        named.append(text)
        if name == "restricted":
            named += _tight(family, curves, limit)
    return tuple(named), left


def chosen(family: Family, learners: tuple[str, ...], seeds: int) -> list[Learner]:
    """Read learners, each once; raises UsageError where one cannot run on the family."""
    if seeds < 1:
        raise UsageError(f"{seeds} seeds given: at least one is needed")
    every = [parse_learner(name) for name in distinct(learners)]
    for learner in every:
        require_support(learner, family)
        if learner.access == "queries":
            raise UsageError(
                f"{learner.name} given: it asks statistical queries; the map counts examples"
            )
    return every


def measured(
    family: Family,
    learners: tuple[str, ...],
    seeds: int,
    first_seed: int,
    budget: Budget,
    progress: Callable[[int], None] = lambda done: None,
) -> tuple[Run, ...]:
    """Run each learner on each seed, after a run that is not kept, in which code is compiled.

    Nothing runs beside it, so the seconds are those of one core. Raises ToolkitError where a
    learner cannot run on the family.
    """
    every = chosen(family, learners, seeds)
    short = Budget(examples=budget.examples, seconds=min(_WARM, budget.seconds or _WARM))
    found = []
    for learner in every:
        instance = family.instance(first_seed + _OTHER_SEED)
        warm, _ = attempt(learner, ExampleOracle(instance, Meter(short)), first_seed)
        warm.close()
        for seed in range(first_seed, first_seed + seeds):
            found.append(run(learner, family.instance(seed), budget, seed))
            progress(1)
    return tuple(found)


def _degree(family: Family) -> int:
    lpn = NOISY_PARITIES.need(family)
    return lpn.h or lpn.n


def _too_wide(name: str, family: Family) -> str | None:
    """Say why least squares on monomials is not tried."""
    n = NOISY_PARITIES.need(family).n
    size = sum(math.comb(n, k) for k in range(_degree(family) + 1))
    if name != "lowdegree" or size <= _MONOMIALS:
        return None
    return f"it has {size:.3g} monomials, at most {_MONOMIALS} are tried unless it is asked for"


def _tight(family: Family, curves: tuple[Curve, ...], limit: float) -> list[str]:
    """Restricted elimination on the fewest examples that the curve expects to do in time."""
    lpn = NOISY_PARITIES.need(family)
    (curve,) = (c for c in curves if c.name == _CURVE["restricted"])
    wide = pool_size(lpn, best_k(lpn.d, lpn.h or lpn.n, lpn.noise))
    for mark in curve.marks:
        samples = max(needed(lpn), int(mark.examples) // 2)
        found = effort(lpn, samples, _CHANCE)
        if found and (mark.seconds or 0.0) < limit / 30 and 3 * samples < 2 * wide:
            return [f"restricted:samples={samples},kept={found.kept}"]
    return []
