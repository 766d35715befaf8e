"""Stress tests on disk: runs, and all that follows from them, which reading derives again.

Names of learners in a file are text: nothing of it is loaded or executed.
"""

from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import Any

from hardness.oracles import Budget
from hardness.runs.climb import Climb, Refusal, Trial, Trials, needed
from hardness.runs.run import Run
from hardness.runs.sound import impossible
from hardness.runs.stress import (
    BITS,
    TERMS,
    Certified,
    Stress,
    certified_of,
    instance_seeds,
    rung_budget,
)
from hardness.upper import LEARNERS, learner_spec, parse_learner
from hardness.upper.registry import LONGEST_NAME
from instances.disk import require_format, write_json
from instances.errors import DamagedFile, ToolkitError, UnknownFamily
from instances.ladders import LADDERS, Ladder, Rung
from instances.spec import parse_stored
from instances.strict import one_line, read_json, shown

FORMAT = "hardness-stress/1"
_DRAWN, _GIVEN = "operating system", "given"


def to_json(found: Stress) -> dict[str, Any]:
    """Write a stress test as JSON."""
    return {
        "format": FORMAT,
        "ladder": found.ladder.to_json(),
        "seeds": found.seeds,
        "base_seed": found.base_seed,
        "seed_source": _DRAWN if found.drawn else _GIVEN,
        "budget": asdict(found.budget),
        "finished": found.finished,
        "passes_to_hold": needed(found.seeds),
        "confidence": None if found.confidence is None else str(found.confidence),
        "terms": {n: str(getattr(TERMS, n)) for n in ("tau", "risk", "success")},
        "learners": [climb.to_json() for climb in found.climbs],
        "certificates": [_certified(one) for one in found.certified],
        "runs": [run.to_json() for run in found.runs],
        "not_run": [asdict(one) for one in found.refusals],
    }


def write_stress(path: Path, found: Stress, force: bool = False) -> None:
    """Write a stress test; raises AlreadyExists."""
    write_json(path, to_json(found), force=force)


def read_stress(path: Path) -> Stress:
    """Read a stress test; raises DamagedFile.

    Seeds, summaries and certificates are derived again, from the base seed, the runs and the specs,
    and must equal the stored ones.
    """
    data = read_json(path)
    require_format(data, FORMAT, path)
    try:
        found = _parsed(data)
        reason = _unsound(found)
        if not reason:
            again = to_json(found)
            if found.ladder.name in LADDERS:  # its words may be others by now
                again["ladder"] |= {n: data["ladder"][n] for n in ("about", "references")}
                again["ladder"]["rungs"] = [
                    mine | {"about": _text(theirs["about"])}
                    for mine, theirs in zip(
                        again["ladder"]["rungs"], data["ladder"]["rungs"], strict=True
                    )
                ]
            differs = [name for name in again if again[name] != data[name]]
            reason = f"its {differs[0]} do not follow from its runs" if differs else None
    except UnknownFamily as error:
        raise DamagedFile(f"{path}: {one_line(error, 400)}") from error
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, ToolkitError) as e:
        said = one_line(e)
        raise DamagedFile(f"{path} is damaged: {type(e).__name__} {said}") from e
    if reason:
        raise DamagedFile(f"{path} is damaged: {reason}")
    return found


def _certified(one: Certified) -> dict[str, Any]:
    return asdict(one) | {
        "queries": None if one.queries is None else str(one.queries),
        "floor": None if one.floor is None else str(one.floor),
    }


def _parsed(data: dict[str, Any]) -> Stress:
    """Put a stress test together from the ladder, the base seed, the runs and learners' names."""
    ladder = _read_ladder(data["ladder"])
    seeds, base = data["seeds"], data["base_seed"]
    if type(seeds) is not int or not 1 <= seeds <= 1000:
        raise ValueError(f"{seeds!r} seeds")
    if type(base) is not int or base < 0:
        raise ValueError(f"a base seed of {base!r}")
    drawn = {_DRAWN: True, _GIVEN: False}[data["seed_source"]]
    if drawn and base >= 1 << BITS:
        raise ValueError(f"a base seed of {base}: below 2^{BITS} are drawn")
    budget = Budget(**data["budget"])
    trials = _trials(data)
    climbs = []
    for told in data["learners"]:
        name, rungs = _text(told["learner"]), []
        for rung, spec in zip(ladder.rungs, ladder.specs, strict=True):
            keys = [(name, spec, seed) for seed in instance_seeds(base, spec, seeds)]
            if keys[0] not in trials:
                break
            allowed = rung_budget(rung, budget)
            mine = tuple(_within(trials.pop(key), allowed) for key in keys)
            rungs.append(Trials(spec=spec, budget=allowed, trials=mine))
        climbs.append(
            Climb(
                learner=name,
                asked=_text(told["asked"]),
                reference=_flag(told["reference"]),
                rungs=tuple(rungs),
                unsupported=told["unsupported"] and _text(told["unsupported"]),
            )
        )
    if trials:
        raise ValueError("a run belongs to no rung, learner and seed")
    return Stress(
        ladder=ladder,
        climbs=tuple(climbs),
        certified=tuple(certified_of(spec) for spec in ladder.specs),
        seeds=seeds,
        base_seed=base,
        drawn=drawn,
        budget=budget,
        finished=_flag(data["finished"]),
    )


def _trials(data: dict[str, Any]) -> dict[tuple[str, str, int], Trial]:
    """Read runs and refusals, by learner, spec and seed."""
    runs: list[Trial] = [Run.from_json(r) for r in data["runs"]]
    runs += [Refusal(**{f.name: r[f.name] for f in fields(Refusal)}) for r in data["not_run"]]
    found = {(one.learner, one.spec, one.seed): one for one in runs}
    if len(found) < len(runs):
        raise ValueError("two runs of a learner on a rung have one seed")
    return found


def _within(trial: Trial, allowed: Budget) -> Trial:
    """Give a run the budget of its rung: files of version 0.1.0 do not say it with each run."""
    if isinstance(trial, Refusal):
        return trial
    if trial.budget not in (Budget(), allowed):
        raise ValueError(f"a run on {trial.spec} had another budget than its rung")
    return replace(trial, budget=allowed)


def _read_ladder(data: dict[str, Any]) -> Ladder:
    """Read a ladder: a published name stands for what was published under it."""
    if data["name"] in LADDERS:
        return LADDERS[data["name"]]
    rungs = [
        Rung(spec=r["spec"], examples=r["examples"], seconds=r["seconds"], about=_text(r["about"]))
        for r in data["rungs"]
    ]
    for rung in rungs:
        Budget(examples=rung.examples, seconds=rung.seconds)
    references = tuple(_text(name) for name in data["references"])
    about = _text(data["about"])
    return Ladder(name=_text(data["name"]), about=about, rungs=tuple(rungs), references=references)


def _text(value: Any) -> str:
    if not isinstance(value, str) or len(value) > LONGEST_NAME or not value.isprintable():
        raise ValueError(f"{shown(value)} is no line of text")
    return value


def _flag(value: Any) -> bool:
    if type(value) is not bool:
        raise ValueError(f"{shown(value)} is neither true nor false")
    return value


def _unsound(found: Stress) -> str | None:
    """Say why the parts of a stress test do not belong together."""
    names = [climb.learner for climb in found.climbs]
    if not names or len(set(names)) < len(names):
        return "it names no learner, or one twice"
    for climb in found.climbs:
        if climb.asked.partition(":")[0] in LEARNERS:
            if learner_spec(parse_learner(climb.asked)) != climb.learner:
                return f"'{climb.asked}' is not {climb.learner}"
        elif climb.asked != climb.learner:
            return f"'{climb.asked}' is not {climb.learner}"
        reason = _foreign_to(climb, found.ladder)
        if reason:
            return reason
        if any(not trials.passes for trials in climb.rungs[:-1]):
            return f"{climb.learner} went on from a rung that it never passed"
        over = not climb.climbing or len(climb.rungs) == len(found.ladder.rungs)
        if found.finished and not over:
            return f"{climb.learner} stopped on a rung that it passed"
        for trials in climb.rungs:
            reason = next((why for run in trials.runs if (why := _bad(run, trials.budget))), None)
            if reason:
                return reason
    return None


def _foreign_to(climb: Climb, ladder: Ladder) -> str | None:
    """Say why a climb cannot have ended, or gone on, by what its learner takes.

    A learner that is not built in says it when it runs, so no climb of one ends without a trial.
    """
    refused: list[str | None] = [None] * len(ladder.specs)
    if climb.asked.partition(":")[0] in LEARNERS:
        learner = parse_learner(climb.asked)
        refused = [learner.supports(parse_stored(spec)) for spec in ladder.specs]
    count = len(climb.rungs)
    if any(refused[:count]):
        return f"{climb.learner} ran on a rung that it does not take"
    if climb.unsupported and (count == len(refused) or climb.unsupported != refused[count]):
        return f"that {climb.learner} does not take rung {count + 1} is not so"
    return None


def _bad(run: Run, budget: Budget) -> str | None:
    """Say why a run cannot have been within a budget on its family."""
    reason = impossible(run)
    if reason:
        return reason
    for name in ("examples", "queries"):
        most = getattr(budget, name)
        if most is not None and getattr(run.usage, name) > most:
            return f"a run took more {name} than its budget of {most}"
    return None
