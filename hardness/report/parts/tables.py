"""The runs of a report as rows: one a learner, spec and budget, and one a run."""

from collections.abc import Iterable
from statistics import median
from typing import TYPE_CHECKING, Any

from hardness.oracles import Budget
from hardness.report.marks import plain_number
from hardness.report.parts.records import Cell, LearnerRow, Table
from hardness.report.text import number
from hardness.runs.run import Run
from hardness.runs.table import answers, version_of, version_words
from hardness.runs.tally import tally
from instances.parameters import plain

if TYPE_CHECKING:
    from pandas import DataFrame

_UNITS = {
    "examples": "examples",
    "queries": "queries",
    "seconds": "s",
    "cpu_seconds": "s of CPU",
    "memory_bytes": "bytes",
}
_OF_RUN = ("spec", "learner", "seed", "outcome", "passed", "risk", "risk, low", "risk, high")
_SPENT = ("examples", "queries", "time (s)", "peak memory (bytes)", "budget", "answers", "ended by")


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
    """Write how queries of a run were answered; empty where its learner asks none."""
    said = dict(answers(row))
    shown = [f"{said['oracle']} answers"] if "oracle" in said else []
    return ", ".join(shown + ([f"tau {said['tau']}"] if "tau" in said else []))


def learner_rows(runs: "DataFrame", budgets: bool) -> tuple[LearnerRow, ...]:
    """Put the runs of each learner, spec, budget and way of asking in one row.

    Revisions of a learner or of a family, and learners of one's own whose files differ, have rows
    apart; budgets: whether they are known. Counts and the interval are those of a `Tally`.
    """
    key = ["learner", "spec", "within", "asked"]
    every = runs.assign(
        within=[_budget(row, budgets) for row in runs["run"]],
        asked=[answers_words(row) for row in runs["run"]],
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


def _budget(row: Run, known: bool) -> str:
    return budget_words(row.budget) if known else "as in the command of the runs"


def _learner_row(first: Any, asked: str, rows: list[Run]) -> LearnerRow:
    found = tally(rows)
    risks = [row.risk.value for row in rows if row.risk]
    outcomes = [row.outcome.value for row in rows]
    return LearnerRow(
        learner=first["learner"],
        spec=first["spec"],
        budget=first["within"],
        asked=asked,
        runs=found.runs,
        passed=found.solved,
        low=found.low,
        high=found.high,
        examples=None if found.examples is None else float(found.examples),
        queries=None if found.queries is None else float(found.queries),
        seconds=found.seconds,
        risk=float(median(risks)) if risks else None,
        outcome=max(outcomes, key=outcomes.count),
    )


def runs_table(rows: Iterable[Run], budgets: bool) -> Table:
    """Lay out every run; seeds beyond 2^53 as texts, which a page keeps exactly."""
    return Table(header=(*_OF_RUN, *_SPENT), rows=tuple(_run(row, budgets) for row in rows))


def _run(row: Run, budgets: bool) -> tuple[Cell, ...]:
    run, risk = row, row.risk
    seed: Cell = run.seed if run.seed < 2**53 else str(run.seed)
    high = None if risk is None or risk.high == float("inf") else risk.high
    ended = row.bound if budgets or row.bound == "machine" else "not known"
    return (
        *(run.spec, run.learner, seed, run.outcome.value, "yes" if row.solved else "no"),
        *(risk.value if risk else None, risk.low if risk else None, high),
        *(run.usage.examples, run.usage.queries, run.usage.seconds, run.usage.peak_bytes),
        *(_budget(row, budgets), answers_words(row), ended),
    )


def costs(row: LearnerRow) -> str:
    """Write the median costs of the runs that passed.

    >>> costs(LearnerRow(learner="", spec="", budget="", asked="", runs=1, passed=1, low=0, high=1,
    ...     examples=12.0, queries=0.0, seconds=0.5, risk=0.0, outcome="solved"))
    '12 examples, 0.5 s'
    """
    if row.examples is None or row.queries is None or row.seconds is None:
        return "no cost"
    asked = f"{plain_number(row.queries)} queries, " if row.queries else ""
    return f"{asked}{plain_number(row.examples)} examples, {number(row.seconds)} s"
