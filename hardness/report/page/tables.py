"""The tables of a page: learners, runs, rungs, pairs of learners, growth and stages."""

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache
from statistics import median
from typing import TYPE_CHECKING, Any

import msgspec

from hardness.oracles import Budget
from hardness.report.comparison import (
    HEADER,
    NOTE,
    fit_rows,
    left_out,
    power,
)
from hardness.report.page.material import Section
from hardness.report.text import bound
from hardness.runs.cells import seen, tally
from hardness.runs.groups import Line, answers, version_of, version_words
from hardness.runs.growth import CONFIDENCE
from hardness.runs.least import Least
from hardness.runs.names import brief_spec, labels, short
from hardness.runs.run import Run
from hardness.runs.stress import Stress
from instances.numbers import outward, write

if TYPE_CHECKING:
    from pandas import DataFrame

_UNITS = {"seconds": "s", "cpu_seconds": "s of CPU", "memory_bytes": "bytes"}
# The columns of the page by those that they are made of.
_LEARNERS = {
    **{"learner": "learner", "view": "sees", "spec": "problem", "solved": "passed", "runs": "runs"},
    **{"within": "95 % interval", "examples": "examples", "queries": "queries", "values": "values"},
    **{"seconds": "time (s)", "risk": "risk", "outcome": "most often"},
    **{"budget": "budget", "asked": "answers"},
}
_RUNS = {
    **{"spec": "problem", "learner": "learner", "seed": "seed", "outcome": "outcome"},
    **{"passed": "passed", "risk": "risk", "examples": "examples", "queries": "queries"},
    **{"values": "values", "seconds": "time (s)", "memory": "memory (MB)"},
    **{"budget": "budget", "asked": "answers", "ended": "ended by"},
}
_SIGNALS = ("signal", "runs that measured it", "flagged", "median", "limit", "advice")
_brief = lru_cache(4096)(brief_spec)


def frame(header: Iterable[str], rows: Iterable[Any] = ()) -> "DataFrame":
    """Make a table of which no cell changes its type."""
    from pandas import DataFrame

    return DataFrame(list(rows), columns=list(header), dtype=object)


def budget_words(budget: Budget) -> str:
    """Write a budget.

    >>> budget_words(Budget(examples=5_000_000, seconds=10)), budget_words(Budget())
    ('5,000,000 examples, 10 s', 'not limited')
    """
    found = [
        f"{write(value) if value % 1 else f'{int(value):,}'} {_UNITS.get(name, name)}"
        for name, value in vars(budget).items()
        if value is not None
    ]
    return ", ".join(found) or "not limited"


def _answered(run: Run) -> str:
    """Say how queries of a run are answered."""
    said = dict(answers(run))
    shown = [said["oracle"]] if "oracle" in said else []
    return ", ".join(shown + ([f"tau {said['tolerance']}"] if "tolerance" in said else []))


def learner_rows(runs: Sequence[Run]) -> "DataFrame":
    """Put the runs of each learner, spec, budget and way of asking in one row.

    A row has the fields of a `Tally`, the median `risk` of those that have one, and the `outcome`
    of most. Revisions of a learner or of a family, and learners of one's own whose files differ,
    have rows apart.
    """
    key = ["learner", "spec", "budget", "asked"]
    every = frame(
        [*key, "version", "made", "run"],
        (
            (
                *(run.learner, run.spec, budget_words(run.budget), _answered(run)),
                version_words(version_of(run)),
                f"family revision {run.revisions.get('family', '?')}",
                run,
            )
            for run in runs
        ),
    )
    asking = {run.learner for run in runs if run.usage.queries}
    every["asked"] = every["asked"].where(every["learner"].isin(asking), "")
    for name in ("version", "made"):
        several = every.groupby(key)[name].transform("nunique") > 1
        every[name] = every[name].where(several, "")
    parts = zip(every["asked"], every["version"], every["made"], strict=True)
    every["asked"] = [", ".join(filter(None, one)) for one in parts]
    return frame(
        dict.fromkeys([*key, *_LEARNERS]),
        (
            dict(zip(key, names, strict=True)) | _tallied(list(group))
            for names, group in every.groupby(key, sort=False)["run"]
        ),
    )


def _tallied(runs: Sequence[Run]) -> dict[str, Any]:
    found = tally(runs)
    risks = [run.risk.value for run in runs if run.risk]
    return {
        **vars(found),
        "view": seen(runs[0].learner, runs[0].spec, runs[0].usage),
        "queries": found.queries or None,
        "values": found.values or None,
        "within": outward(found.low, found.high, ".2f", "–"),
        "risk": median(risks) if risks else None,
        "outcome": Counter(run.outcome.value for run in runs).most_common(1)[0][0],
    }


def least(name: str, found: Sequence[Least]) -> Section:
    """Lay out thresholds, as their own table does."""
    rows = [row for one in found for row in one._rows()]
    return Section(title=name or found[0].spec, table=frame(rows[0], rows))


def learners_table(rows: "DataFrame") -> "DataFrame":
    """Lay out what `learner_rows` gives for the page."""
    return _named(rows, _LEARNERS)


def runs_table(runs: Iterable[Run]) -> "DataFrame":
    """Lay out every run; seeds beyond 2^53 as texts, which a page keeps exactly."""
    rows = (
        msgspec.structs.asdict(run.usage)
        | {
            **{"spec": run.spec, "learner": run.learner, "outcome": run.outcome.value},
            "seed": run.seed if run.seed < 2**53 else str(run.seed),
            "passed": "yes" if run.solved else "no",
            "risk": run.risk.value if run.risk else None,
            "queries": run.usage.queries or None,
            "values": run.usage.values or None,
            "memory": round(run.usage.peak_bytes / 1e6, 1),
            "budget": budget_words(run.budget),
            "asked": _answered(run) if run.usage.queries else "",
            "ended": run.bound,
        }
        for run in runs
    )
    return _named(frame(_RUNS, rows), _RUNS)


def shown_names(learners: Iterable[str]) -> dict[str, str]:
    """Give the names that are shown of learners: without defaults, files without their folders."""
    every = list(dict.fromkeys(learners))
    return dict(zip(every, labels([short(name) for name in every]), strict=True))


def _named(rows: "DataFrame", columns: dict[str, str]) -> "DataFrame":
    """Give the columns the names of the page; that of values is left out where none were asked."""
    names = shown_names(rows["learner"])
    found = rows.assign(learner=rows["learner"].map(names), spec=rows["spec"].map(_brief))
    found = found[list(columns)].rename(columns=columns)
    return found if found["values"].notna().any() else found.drop(columns="values")


def rungs(name: str, stress: Stress) -> Section:
    """Lay out the rungs of a stress test: what is certified, and how many seeds passed."""
    from pandas import concat

    rows = frame(stress.rung_rows()[0], stress.rung_rows())
    least = [certificate.floor for certificate in stress.certified]
    floors = ["-" if floor is None else bound("information-floor", floor) for floor in least]
    rows["certified queries"] += [
        " (correlational)" * (certificate.asked == "csq-queries" and not certificate.vacuous)
        for certificate in stress.certified
    ]
    rows.insert(3, "certified examples", floors)
    sure = stress.confidence
    held = "held (too few seeds)" if sure is None else f"held at {float(sure):.2%}"
    rows["rung"] = rows["rung"].map(str)
    last = frame(map(str, rows), [[held, "", "", "", *(climb.held for climb in stress.climbs)]])
    return Section(title=name, table=concat([rows, last], ignore_index=True))


def growth(line: Line) -> Section:
    """Lay out what was fitted over a parameter, and the exponents that are certified."""
    scaling, rows = line.comparison.scaling, list[Sequence[Any]](fit_rows(line.comparison))
    for quantity in scaling.certified:
        grown = power(scaling.parameter, quantity.exponent)
        rows.append(("certified", quantity.quantity, str(len(quantity.values)), grown, ""))
    return Section(
        title=f"{line.title}, {CONFIDENCE:.0%} intervals",
        table=frame(HEADER, rows),
        note=NOTE,
        said=tuple(left_out(line.comparison)),
    )


def diagnoses(runs: Iterable[Run]) -> list[Section]:
    """Count, of every spec, the signals that the staged learner's runs gave."""
    groups: dict[tuple[str, str], list[Run]] = {}
    for run in runs:
        if run.learner.partition(":")[0] == "staged" and _signals(run):
            groups.setdefault((run.spec, run.learner), []).append(run)
    return [_diagnosis(spec, learner, group) for (spec, learner), group in groups.items()]


def _diagnosis(spec: str, learner: str, runs: list[Run]) -> Section:
    header = ("name", "flagged", "value", "threshold", "advice")
    every = frame(header, (signal for run in runs for signal in _signals(run)))
    rows = list[tuple[Any, ...]]()
    for name, group in every.groupby("name", sort=False):
        flagged = group[group["flagged"].map(lambda said: said is True)]
        middle = [_middle(group[column]) for column in ("value", "threshold")]
        advice = next(map(str, flagged["advice"].dropna()), "")
        rows.append((name, len(group), len(flagged), *middle, advice))
    return Section(
        title=f"{short(learner)} on {brief_spec(spec)}",
        table=frame(_SIGNALS, rows),
        note=f"{sum(run.solved for run in runs)} of {len(runs)}",
        said=tuple(dict.fromkeys(row[-1] for row in rows if row[-1])),
    )


def _middle(values: Iterable[Any]) -> float | None:
    given = [value for value in values if isinstance(value, int | float) and value == value]
    return float(median(given)) if given else None


def _signals(run: Run) -> list[dict[str, Any]]:
    """The signals in a run's details, which a store may have from anybody."""
    found = run.details.get("diagnosis")
    kept = found if isinstance(found, list) else []
    return [
        signal | {"name": str(signal["name"])}
        for signal in kept
        if isinstance(signal, dict) and "name" in signal
    ]
