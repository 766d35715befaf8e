"""Comparisons on disk: one JSON file with runs, certificates and fitted growth."""

import math
from dataclasses import asdict
from pathlib import Path
from typing import Any

from hardness.lower import Terms
from hardness.oracles import Budget
from hardness.runs.both import Comparison, certificates, specs_over
from hardness.runs.ranges import Value, whole
from hardness.runs.run import Run
from hardness.runs.scaling import scaling
from hardness.runs.sound import impossible
from instances.disk import require_format, write_json
from instances.errors import DamagedFile, ToolkitError, UnknownFamily
from instances.parameters import fraction, plain
from instances.strict import one_line, read_json

FORMAT = "hardness-results/2"
_ROUNDING = 1e-6  # relative: what another machine's floating point may differ by


def to_json(comparison: Comparison) -> dict[str, Any]:
    """Write a comparison as JSON."""
    return {
        "format": FORMAT,
        "spec": comparison.spec,
        "parameter": comparison.parameter,
        "values": [v if isinstance(v, int) else plain(v) for v in comparison.values],
        "specs": list(comparison.specs),
        "learners": list(comparison.learners),
        "seeds": comparison.seeds,
        "terms": comparison.terms.to_json(),
        "command": comparison.command,
        "budget": comparison.budget and asdict(comparison.budget),
        "certificates": [c.to_json() for c in comparison.certificates],
        "runs": [r.to_json() for r in comparison.runs],
        "scaling": scaling(comparison).to_json(),
    }


def write_comparison(path: Path, comparison: Comparison, force: bool = False) -> None:
    """Write a comparison; raises AlreadyExists."""
    write_json(path, to_json(comparison), force=force)


def read_comparison(path: Path) -> Comparison:
    """Read a comparison, or results.json in a folder; raises DamagedFile.

    The certificates are made again from their specs and must equal the stored ones, as must the
    fitted growth, where it is stored (earlier files have none, and do not say their budget).
    """
    if path.is_dir():
        path = path / "results.json"
    data = read_json(path)
    require_format(data, FORMAT, path)
    try:
        terms = Terms.from_json(data["terms"])
        budget = Budget(**data["budget"]) if data.get("budget") is not None else None
        found = Comparison(
            spec=str(data["spec"]),
            parameter=str(data["parameter"]),
            values=tuple(map(_value, data["values"])),
            specs=tuple(str(one) for one in data["specs"]),
            learners=tuple(str(name) for name in data["learners"]),
            seeds=_count(data["seeds"]),
            terms=terms,
            runs=tuple(Run.from_json(r, budget or Budget()) for r in data["runs"]),
            certificates=certificates(tuple(str(one) for one in data["specs"]), terms),
            command=str(data["command"]),
            budget=budget,
        )
        if [c.to_json() for c in found.certificates] != data["certificates"]:
            raise DamagedFile(f"{path} is damaged: its certificates are not those of its specs")
        f"{found.spec}{found.parameter}{found.learners}{found.command}".encode()
        reason = _unsound(found) or _forged(found, data)
    except DamagedFile:
        raise
    except UnknownFamily as error:
        raise DamagedFile(f"{path}: {one_line(error, 400)}") from error
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, ToolkitError) as e:
        said = one_line(e)
        raise DamagedFile(f"{path} is damaged: {type(e).__name__} {said}") from e
    if reason:
        raise DamagedFile(f"{path} is damaged: {reason}")
    return found


def _forged(found: Comparison, data: dict[str, Any]) -> str | None:
    """Say that the stored growth is not what the runs give."""
    if "scaling" not in data or _same(scaling(found).to_json(), data["scaling"]):
        return None
    return "its fitted growth is not that of its runs"


def _same(made: Any, stored: Any) -> bool:
    """Compare JSON, floats to within what floating point may differ by."""
    if isinstance(made, dict):
        return (
            isinstance(stored, dict)
            and made.keys() == stored.keys()
            and all(_same(made[name], stored[name]) for name in made)
        )
    if isinstance(made, list | tuple):
        return (
            isinstance(stored, list) and len(made) == len(stored) and all(map(_same, made, stored))
        )
    if isinstance(made, float):
        return isinstance(stored, int | float) and math.isclose(
            made, stored, rel_tol=_ROUNDING, abs_tol=_ROUNDING
        )
    return type(made) is type(stored) and bool(made == stored)


def _value(data: Any) -> Value:
    if type(data) is int:
        return data
    if not isinstance(data, str):
        raise ValueError(f"{data!r} is no value of a parameter")
    return whole(fraction(data, "a value"))


def _count(value: Any) -> int:
    if type(value) is not int or value < 1:
        raise ValueError(f"{value!r} is no count")
    return value


def _unsound(found: Comparison) -> str | None:
    """Say why the parts of a comparison do not belong together."""
    specs = specs_over(found.spec, found.parameter, found.values)
    if not specs or specs != list(found.specs) or len(set(specs)) < len(specs):
        return "its specs are not those of its sizes"
    if len(found.runs) != len(specs) * len(found.learners) * found.seeds:
        return "its runs are not one for each size, learner and seed"
    if not found.runs and not found.certificates:
        return "it has neither runs nor certificates"
    first = min((r.seed for r in found.runs), default=0)
    seeds = range(first, first + found.seeds)
    wanted = {(s, name, seed) for s in specs for name in found.learner_names for seed in seeds}
    if {(r.spec, r.learner, r.seed) for r in found.runs} != wanted:
        return "its runs are not one for each size, learner and seed"
    for r in found.runs:
        if found.budget is not None and r.budget != found.budget:
            return "a run had another budget than the others"
        reason = impossible(r)
        if reason:
            return reason
    return None
