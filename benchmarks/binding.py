"""The table of docs/binding.md: `python benchmarks/binding.py RUNS.db`.

Rows are problems and columns are classes of learners. A cell has the best learner of the class, its
median cost or its risk, the number of its runs that solved, and the bound certified for the class.
"""

import sys
from collections.abc import Iterator, Sequence
from fractions import Fraction
from pathlib import Path
from statistics import median

from timing import table

from hardness.bounds import BoundParameters, Certificate
from hardness.bounds.quantities import bound
from hardness.report.text import shown_risk
from hardness.runs.certified import certificate_of, claims, number
from hardness.runs.names import brief_spec, short
from hardness.runs.registry import CLASSES, LEARNERS, LearnerClass, class_of, parse_learner
from hardness.runs.results import read_runs
from hardness.runs.run import Run
from instances.family import Family
from instances.numbers import brief
from instances.spec import FAMILIES, parse_stored

BASELINE, UNKNOWN_RISK = "trivial", float("inf")  # the baseline uses the family alone
SHARE = Fraction(2, 3)  # the share of its runs that a learner must solve
KINDS = {"csq-queries": "correlational", "vstat-queries": "VSTAT"}


def certified(of: LearnerClass, certificate: Certificate | None, success: Fraction) -> str:
    """Write the first bound of a certificate that applies to a class, as "certified ≥ 37"."""
    for quantity in of.bound_by:
        if certificate and claims(certificate, quantity):
            shown, kind = bound(quantity, number(certificate, quantity, success)), "certified"
            kind = KINDS.get(quantity, kind)
            if not shown[0].isdigit():
                return f"{kind}: {shown}"
            return f"{kind} ≥ {int(shown):,}" if shown.isdecimal() else f"{kind} ≥ {shown}"
    return "no bound"


def measured(of: LearnerClass, runs: Sequence[Run], family: Family) -> str:
    """Write the result of the best learner of a class, as "`flips` 16, 3/3"."""
    groups: dict[str, list[Run]] = {}
    for run in runs:
        if class_of(run.learner, bool(run.membership_queries)) is of and run.learner != BASELINE:
            groups.setdefault(run.learner, []).append(run)
    if groups:
        return min(tried(of, name, group) for name, group in groups.items())[1]
    takes = (
        class_of(name) is of and parse_learner(name).supports(family) is None
        for name in LEARNERS
        if name != BASELINE
    )
    return "not tried" if any(takes) else "no learner takes it"


def tried(of: LearnerClass, name: str, runs: list[Run]) -> tuple[tuple[float, float], str]:
    """Rank a learner by cost if it solved, else by the number of runs solved, else by risk."""
    passed, shown_name = sum(run.solved for run in runs), f"`{short(name)}`"
    risks = [run.risk for run in runs if run.risk is not None]
    risk = median(risks) if risks else None
    if passed:
        cost = median(run.used(of.cost) for run in runs if run.solved)
        shown = f"{round(cost):,}" if cost < 10**7 else brief(round(cost), 3)
        rank = (0.0, cost) if passed >= SHARE * len(runs) else (1.0, -passed)
        return rank, f"{shown_name} {shown}, {passed}/{len(runs)}"
    stayed = "no risk" if risk is None else f"risk {shown_risk(risk)}"
    return (2.0, UNKNOWN_RISK if risk is None else risk), f"{shown_name}, {stayed}, 0/{len(runs)}"


def rows(store: Path) -> Iterator[tuple[str, ...]]:
    """List the problems of a sweep: those with a bound first, then in the order of families."""
    runs = read_runs(store).runs
    by_spec: dict[str, list[Run]] = {}
    for run in runs:
        by_spec.setdefault(run.spec, []).append(run)
    terms = BoundParameters()
    found = {spec: certificate_of(spec, terms) for spec in by_spec}
    proved = {spec: one for spec, one in found.items() if isinstance(one, Certificate)}
    names = list(FAMILIES)
    yield "problem", *(f"{name}, {of.cost}" for name, of in CLASSES.items())
    for spec in sorted(by_spec, key=lambda s: (s not in proved, names.index(s.partition(":")[0]))):
        family, one = parse_stored(spec), proved.get(spec)
        cells = (
            f"{measured(of, by_spec[spec], family)}; {certified(of, one, terms.success)}"
            for of in CLASSES.values()
        )
        yield f"`{brief_spec(spec)}`", *cells


if __name__ == "__main__":
    made = rows(Path(sys.argv[1]))
    table("", f"| {' | '.join(next(made))} |", made)
