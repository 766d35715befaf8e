"""The tables of a report: learners, runs, pairs of learners, growth and stages."""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from statistics import median
from typing import TYPE_CHECKING, Any

from hardness.oracles import Budget
from hardness.report.page.records import Cell, Diagnosis, Growth, LearnerRow, SideBySide, Table
from hardness.report.page.text import figures
from hardness.report.paired import HEADER as PAIR_HEADER
from hardness.report.paired import TITLE, note
from hardness.report.paired import row as pair_row
from hardness.report.scaling import HEADER, NOTE, fit_rows, left_out
from hardness.report.text import bound, number
from hardness.runs.cells import seen
from hardness.runs.fits import Scaling
from hardness.runs.growth import CONFIDENCE
from hardness.runs.names import brief_spec, labels, short
from hardness.runs.paired import Paired, paired
from hardness.runs.run import Run
from hardness.runs.stress import TERMS, Stress
from hardness.runs.table import Slice, answers, version_of, version_words
from hardness.runs.tally import tally
from instances.parameters import plain

if TYPE_CHECKING:
    from pandas import DataFrame

_UNITS = {
    "examples": "examples",
    "queries": "queries",
    "values": "values",
    "seconds": "s",
    "cpu_seconds": "s of CPU",
    "memory_bytes": "bytes",
}
_VALUES = "values"  # a column where any were asked
_RUNS = (
    *("problem", "learner", "seed", "outcome", "passed", "risk", "examples", "queries", _VALUES),
    *("time (s)", "memory (MB)", "budget", "answers", "ended by"),
)
_LEARNERS = (
    *("learner", "sees", "problem", "passed", "runs", "95 % interval", "examples", "queries"),
    _VALUES,
    *("time (s)", "risk", "most often", "budget", "answers"),
)
_RUNGS = (
    "How many seeds each learner passed. Certified: with fewer queries no statistical-query "
    f"learner reaches relative risk {TERMS.risk} with probability {TERMS.success} over the "
    f"member when answers may be any within {TERMS.tau} (where marked, no learner by correlational "
    "queries), and with fewer labels no learner does. A learner holds the rungs up "
    "to the number in the last row: with that confidence it passes on more than half of the "
    "instances of each."
)
_brief = lru_cache(4096)(brief_spec)


def budget_words(budget: Budget) -> str:
    """Write a budget.

    >>> budget_words(Budget(examples=5_000_000, seconds=10)), budget_words(Budget())
    ('5,000,000 examples, 10 s', 'not limited')
    """
    found = [
        f"{plain(value) if value % 1 else f'{int(value):,}'} {_UNITS[name]}"
        for name, value in vars(budget).items()
        if value is not None
    ]
    return ", ".join(found) or "not limited"


def answers_words(row: Run) -> str:
    """Write how queries of a run were answered; empty where it asked none."""
    return _answered(row) if row.usage.queries else ""


def _answered(row: Run) -> str:
    said = dict(answers(row))
    shown = [said["oracle"]] if "oracle" in said else []
    return ", ".join(shown + ([f"tau {said['tau']}"] if "tau" in said else []))


def learner_rows(runs: "DataFrame", budgets: bool) -> tuple[LearnerRow, ...]:
    """Put the runs of each learner, spec, budget and way of asking in one row.

    Revisions of a learner or of a family, and learners of one's own whose files differ, have rows
    apart; budgets: whether they are known. Counts and the interval are those of a `Tally`.
    """
    key = ["learner", "spec", "within", "asked"]
    said = _asked(runs["run"])
    every = runs.assign(
        within=[_budget(row, budgets) for row in runs["run"]],
        asked=said,
        version=[str(version_of(row)) for row in runs["run"]],
        made=[str(row.revisions.get("family", "?")) for row in runs["run"]],
    )
    alike = every.groupby(key)[["version", "made"]].transform("nunique")
    every = every.join(alike.add_suffix("s"))
    found = []
    for _, group in every.groupby([*key, "version", "made"], sort=False):
        first = group.iloc[0]
        parts = [first["asked"]] if first["asked"] else []
        parts += [version_words(version_of(first["run"]))] if first["versions"] > 1 else []
        parts += [f"family revision {first['made']}"] if first["mades"] > 1 else []
        found.append(_learner_row(first, ", ".join(parts), list(group["run"])))
    return tuple(found)


def _asked(runs: Iterable[Run]) -> list[str]:
    """Say of each run how queries are answered; nothing of learners of which no run asked any."""
    every = list(runs)
    asking = {run.learner for run in every if run.usage.queries}
    return [_answered(run) if run.learner in asking else "" for run in every]


def _budget(row: Run, known: bool) -> str:
    return budget_words(row.budget) if known else "as in the command of the runs"


def _learner_row(first: Any, asked: str, rows: list[Run]) -> LearnerRow:
    found = tally(rows)
    risks = [row.risk.value for row in rows if row.risk]
    outcomes = [row.outcome.value for row in rows]
    return LearnerRow(
        learner=first["learner"],
        spec=first["spec"],
        view=seen(first["learner"], first["spec"], first["run"].usage),
        budget=first["within"],
        asked=asked,
        runs=found.runs,
        passed=found.solved,
        low=found.low,
        high=found.high,
        examples=None if found.examples is None else float(found.examples),
        queries=float(found.queries) if found.queries else None,
        values=float(found.values) if found.values else None,
        seconds=found.seconds,
        risk=float(median(risks)) if risks else None,
        outcome=max(outcomes, key=outcomes.count),
    )


def learners_table(rows: Iterable[LearnerRow]) -> Table:
    """Lay out learners and problems without their defaults, and files without their folders."""
    rows = list(rows)
    names = _names(row.learner for row in rows)
    found = Table(
        header=_LEARNERS,
        rows=tuple(
            (
                *(names[row.learner], row.view, _brief(row.spec), row.passed, row.runs),
                f"{row.low:.2f}–{row.high:.2f}",
                *(row.examples, row.queries, row.values, row.seconds, row.risk, row.outcome),
                *(row.budget, row.asked),
            )
            for row in rows
        ),
    )
    return _valued(found)


def runs_table(rows: Iterable[Run], budgets: bool) -> Table:
    """Lay out every run; seeds beyond 2^53 as texts, which a page keeps exactly."""
    rows = list(rows)
    names = _names(row.learner for row in rows)
    return _valued(Table(header=_RUNS, rows=tuple(_run(row, names, budgets) for row in rows)))


def _valued(table: Table) -> Table:
    """Leave the column of values out where none were asked."""
    place = table.header.index(_VALUES)
    if any(row[place] is not None for row in table.rows):
        return table
    return Table(
        header=table.header[:place] + table.header[place + 1 :],
        rows=tuple(row[:place] + row[place + 1 :] for row in table.rows),
    )


def rungs(found: Stress) -> SideBySide:
    """Lay out the rungs of a stress test: what is certified, and how many seeds passed."""
    rows = [list(row.values()) for row in found._summary()[1]]
    first, common, _, *learners = found.rung_rows()[0]
    for row, one in zip(rows, found.certified, strict=False):
        row[2] += " (correlational)" if one.asked == "csq-queries" and not one.vacuous else ""
        row.insert(3, "-" if one.floor is None else bound("information-floor", one.floor))
    rows[-1].insert(3, "")
    header = (first, common, "certified queries", "certified examples", *learners)
    cells = tuple((str(row[0]), *row[1:]) for row in rows)
    return SideBySide(title="Rungs", table=Table(header=header, rows=cells), note=_RUNGS)


def _names(learners: Iterable[str]) -> dict[str, str]:
    found = list(dict.fromkeys(learners))
    return dict(zip(found, labels(list(map(short, found))), strict=True))


def _run(run: Run, names: dict[str, str], budgets: bool) -> tuple[Cell, ...]:
    used = run.usage
    seed: Cell = run.seed if run.seed < 2**53 else str(run.seed)
    ended = run.bound if budgets or run.bound == "machine" else "not known"
    return (
        *(_brief(run.spec), names[run.learner], seed, run.outcome.value),
        *("yes" if run.solved else "no", run.risk.value if run.risk else None),
        *(used.examples, used.queries or None, used.values or None, used.seconds),
        round(used.peak_bytes / 1e6, 1),
        *(_budget(run, budgets), answers_words(run), ended),
    )


def costs(row: LearnerRow) -> str:
    """Write the median costs of the runs that passed.

    >>> costs(LearnerRow(learner="", spec="", view="", budget="", asked="", runs=1, passed=1,
    ...     low=0, high=1, examples=12.0, queries=0.0, seconds=0.5, risk=0.0, outcome="solved"))
    '12 examples, 0.5 s'
    """
    if row.examples is None or row.seconds is None:
        return "no cost"
    asked = f"{figures(row.queries)} queries, " if row.queries else ""
    asked += f"{figures(row.values)} values, " if row.values else ""
    return f"{asked}{figures(row.examples)} examples, {number(row.seconds)} s"


def slice_title(one: Slice) -> str:
    """Name a slice by its spec, its sizes and what tells it from the others."""
    comparison = one.comparison
    low, high = plain(comparison.values[0]), plain(comparison.values[-1])
    sizes = low if low == high else f"{low} to {high}"
    told = f" ({one.words})" if one.choice else ""
    return f"{comparison.spec}, {comparison.parameter} = {sizes}{told}"


def growth(one: Slice, found: Scaling) -> Growth | None:
    """Lay out what was fitted of a slice; None where nothing was."""
    if not any(fit.growth for fit in found.fits):
        return None
    comparison = one.comparison
    rows: list[tuple[Cell, ...]] = [*fit_rows(comparison, found)]
    for quantity in found.certified:
        power = "-" if quantity.exponent is None else f"{found.parameter}^{quantity.exponent:.2f}"
        rows.append(("certified", quantity.quantity, str(len(quantity.values)), power, "", "", ""))
    return Growth(
        title=f"{slice_title(one)}, {CONFIDENCE:.0%} intervals",
        fits=Table(header=HEADER, rows=tuple(rows)),
        left_out=tuple(left_out(comparison, found)),
        note=NOTE,
    )


def pairs(one: Slice) -> SideBySide | None:
    """Lay out the pairs of learners of a slice; None where no two ran on one instance."""
    return pairs_table(slice_title(one), paired(one.rows))


def pairs_table(title: str, found: Sequence[Paired]) -> SideBySide | None:
    """Lay out learners two by two; None where no two ran on one instance."""
    if not found:
        return None
    names = _names(name for pair in found for name in (pair.first, pair.second))
    table = Table(
        header=PAIR_HEADER, rows=tuple(pair_row(pair, names.__getitem__) for pair in found)
    )
    return SideBySide(title=title, table=table, note=f"Alone: {TITLE}. {note(found)}")


_SIGNALS = ("signal", "runs that measured it", "flagged", "median", "limit", "advice")


def diagnoses(rows: Iterable[Run]) -> tuple[Diagnosis, ...]:
    """Count, of every spec, the signals that the staged learner's runs gave."""
    groups: dict[tuple[str, str], list[Run]] = {}
    for row in rows:
        if row.learner.partition(":")[0] == "staged" and _signals(row):
            groups.setdefault((row.spec, row.learner), []).append(row)
    return tuple(_diagnosis(spec, learner, kept) for (spec, learner), kept in groups.items())


def _diagnosis(spec: str, learner: str, rows: list[Run]) -> Diagnosis:
    found: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        for signal in _signals(row):
            found.setdefault(str(signal["name"]), []).append(signal)
    table: list[tuple[Cell, ...]] = []
    advice: dict[str, None] = {}
    for name, every in found.items():
        flagged = [signal for signal in every if signal.get("flagged") is True]
        values = [s["value"] for s in every if isinstance(s.get("value"), int | float)]
        limits = [s["threshold"] for s in every if isinstance(s.get("threshold"), int | float)]
        said = str(flagged[0].get("advice", "")) if flagged else ""
        table.append(
            (
                *(name, len(every), len(flagged), float(median(values)) if values else None),
                *(float(median(limits)) if limits else None, said),
            )
        )
        advice |= {str(signal.get("advice", "")): None for signal in flagged}
    return Diagnosis(
        spec=spec,
        learner=learner,
        runs=len(rows),
        passed=sum(row.solved for row in rows),
        signals=Table(header=_SIGNALS, rows=tuple(table)),
        advice=tuple(filter(None, advice)),
    )


def _signals(row: Run) -> list[dict[str, Any]]:
    """The signals in a run's details, which a store may have from anybody."""
    found = row.details.get("diagnosis")
    kept = found if isinstance(found, list) else []
    return [signal for signal in kept if isinstance(signal, dict) and "name" in signal]
