"""A stress test in words: the levels that learners passed, their costs, and certified bounds."""

from collections.abc import Sequence
from itertools import groupby

from hardness.bounds.quantities import chance
from hardness.report.run import unbound_words
from hardness.report.text import number, table, wrap
from hardness.runs.names import brief_spec, short_specs
from hardness.runs.run import OVERTIME, Cost
from hardness.runs.stress import TERMS, LadderAttempt, LevelBounds, Stress, Trials, passes_needed
from instances.ladders import Ladder
from instances.numbers import brief, outward

_LISTED = 8  # most certified numbers in a sentence
_NEEDS = {
    "stat-queries": "statistical-query learner needs {} queries to STAT({})",
    "csq-queries": "learner by correlational queries needs {} of them within {}",
}
_NO_NUMBER_ENOUGH = {
    "stat-queries": "no number of queries to STAT({}) is enough for more than success {}",
    "csq-queries": "no number of correlational queries within {} is enough for more than success "
    "{}",
}


_SCOPE = (
    "Bounds on queries do not apply to learners that use individual examples, such as elimination, "
    "exhaustive search and lattice attacks."
)


def stress_words(stress: Stress) -> str:
    """Write a stress test: a headline for each learner, its levels, costs, and certified bounds."""
    tested = [attempt for attempt in stress.attempts if not attempt.reference]
    blocks = ["\n".join(wrap(headline(stress, attempt)) for attempt in tested)]
    blocks += [_overview(stress)]
    blocks += [_costs(attempt) for attempt in tested if attempt.levels]
    blocks += ["\n".join(wrap(line) for line in [*certified_words(stress), *_terms(stress)])]
    return "\n\n".join(blocks)


def headline(stress: Stress, attempt: LadderAttempt) -> str:
    """Say which levels a learner passed, with what confidence, and where it stopped.

    >>> from hardness.runs.stress import stress
    >>> from instances.ladders import ladder_of
    >>> tested = stress(["lowdegree"], ladder_of(["parity:d=8,m=2", "parity:d=8,m=3"]), base_seed=1)
    >>> headline(tested, tested.attempts[0])[:56]
    'lowdegree passes level 1 of the 2 of your ladder (parity'
    """
    ladder, passed, touched = stress.ladder, attempt.held, attempt.touched
    if passed:
        levels = "level 1" if passed == 1 else f"levels 1 to {passed}"
        first = (
            f"{attempt.name} passes {levels} of the {len(ladder.levels)} of {ladder.title} "
            f"({'up to ' * (passed > 1)}{brief_spec(ladder.specs[passed - 1])}): with confidence "
            f"{_percent(stress)} it solves more than half of the "
            f"instances{' of each' * (passed > 1)}."
        )
    else:
        first = f"{attempt.name} passes no level of {ladder.title}."
        if stress.confidence is None:
            first += " At least 5 seeds are needed to pass a level at 95 %."
    if touched > passed:
        trials = attempt.levels[touched - 1]
        first += f" It solves {trials.passes} of {len(trials.trials)} instances of level {touched}."
    return f"{first} {_stop(stress, attempt)}"


def _percent(stress: Stress) -> str:
    chance = stress.confidence or 0
    return f"{float(100 * chance):.4g} % ({chance})"


def _stop(stress: Stress, attempt: LadderAttempt) -> str:
    """Say where a learner stopped and why."""
    if attempt.unsupported:
        level = len(attempt.levels) + 1
        return f"It does not support level {level}, which is not a failure: {attempt.unsupported}."
    if attempt.continues:
        complete = len(attempt.levels) == len(stress.ladder.levels)
        return "The ladder ends there." if complete else "It was interrupted."
    last = attempt.levels[-1]
    if last.unsupported:
        return f"It does not support level {len(attempt.levels)}, which is not a failure."
    text = f"It stops at level {len(attempt.levels)}: {_ends(last)}."
    if last.not_run_reason:
        text += f" Not run: {last.not_run_reason}."
    timed = sum(trials.limits.get("seconds", 0) for trials in attempt.levels)
    if timed:
        text += (
            f" {timed} of its runs reached the time limit: on a faster machine it may pass more "
            "levels, on a slower one fewer."
        )
    return text


def _ends(trials: Trials) -> str:
    """Say how the runs of a level that did not solve ended, and what limited them."""
    ends = ", ".join(f"{count} {name}" for name, count in trials.failures.items())
    bounds = [name for name in trials.limits if name != "none"]
    return f"{ends}, limited by {' and '.join(bounds)}" if bounds else ends


def _overview(stress: Stress) -> str:
    """Write a table of the number of solved instances, by level and learner."""
    rows = stress.level_rows()
    marks = ["", "", "", *("*" * attempt.reference for attempt in stress.attempts)]
    header = [name + mark for name, mark in zip(rows[0], marks, strict=True)]
    note = "; * a reference" if any(marks) else ""
    title = f"instances solved on each level of {stress.ladder.title}, of {stress.seeds}{note}"
    return f"{title}\n{table(header, [list(map(str, row.values())) for row in rows])}"


def _costs(attempt: LadderAttempt) -> str:
    """Write a table of a learner's levels: the instances that it solved, and their costs."""
    rows = []
    counted: list[Cost] = ["examples", "queries"]
    if any(trials.asked_values for trials in attempt.levels):
        counted.append("values")
    for i, trials in enumerate(attempt.levels, 1):
        low, high = trials.interval
        used = [trials.cost(name) for name in counted]
        seconds = trials.cost("seconds")
        rows.append(
            [
                str(i),
                f"{trials.passes}/{len(trials.trials)}",
                outward(low, high, ".2f", ".."),
                *("-" if value is None else number(round(value)) for value in used),
                "-" if seconds is None else number(seconds),
                _ends(trials) if trials.failures else "",
            ]
        )
    header = ["level", "solved", "rate at 95%", *counted, "seconds", "not solved"]
    title = f"{attempt.name}: medians of the runs that solved the instance"
    return f"{title}\n{table(header, rows)}"


def certified_words(stress: Stress) -> list[str]:
    """Return a line for each group of consecutive levels with the same kind of certified bound."""
    lines, reasons, low = list[str](), list[str](), 1
    for _, group in groupby(stress.certified, _kind):
        levels = list(group)
        high = low + len(levels) - 1
        where = f"level {low}" if low == high else f"levels {low} to {high}"
        reason = "" if levels[0].reason in reasons else f" {_sentence(levels[0].reason)}"
        lines.append(f"{where}: {_claim(levels)}{reason}")
        reasons.append(levels[0].reason)
        low = high + 1
    if any(
        bounds.evidence not in ("none", "assumption") and not bounds.vacuous and bounds.quantity
        for bounds in stress.certified
    ):
        lines.append(_SCOPE)
    names = {attempt.learner: attempt.name for attempt in stress.attempts}
    return lines + unbound_words(stress.runs, names.__getitem__)


def _kind(bounds: LevelBounds) -> tuple[str, str | None, bool, bool, str]:
    quantity = None if bounds.vacuous else bounds.quantity
    return (bounds.evidence, quantity, bounds.vacuous, bounds.success is not None, bounds.reason)


def _claim(levels: Sequence[LevelBounds]) -> str:
    """Write the certified bound of levels of one kind."""
    if levels[0].evidence == "none":
        return "no claim."
    if levels[0].evidence == "assumption":
        return "no certificate."
    if levels[0].quantity is None:
        return "no bound on queries is certified."
    if levels[0].vacuous:
        return "the query bound is vacuous, which shows nothing."
    if levels[0].success is None:
        count = _each([brief(one.queries, 3) for one in levels if one.queries is not None])
        needs = _NEEDS[levels[0].quantity].format(f"at least {count}", TERMS.tau)
        text = f"any {needs}, to reach a relative risk of {TERMS.risk} with chance {TERMS.success}"
    else:
        most = _each([chance(one.success) for one in levels if one.success is not None])
        text = _NO_NUMBER_ENOUGH[levels[0].quantity].format(TERMS.tau, most)
        text += f" at a relative risk of {TERMS.risk}"
    return f"{text} over a random member, in the worst case over admissible answers (certified)."


def _each(parts: list[str]) -> str:
    """List certified numbers, level by level; the middle of a long list is left out."""
    if len(parts) > _LISTED:
        parts = [*parts[: _LISTED - 2], "...", parts[-1]]
    return f"{', '.join(parts)} (level by level)" if len(parts) > 1 else parts[0]


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:] + "."


def _terms(stress: Stress) -> list[str]:
    """Explain when a level is passed, and what knowledge of the base seed allows."""
    least = passes_needed(stress.seeds)
    passing = (
        "An instance is solved if the whole 95 % interval of the relative risk on fresh examples "
        f"lies below 0.05, within the level's examples and {OVERTIME} times its seconds."
    )
    if least is not None:
        passing += (
            f" A level is passed if at least {least} of {stress.seeds} instances are solved there "
            "and on every lower level"
        )
        several = sum(not attempt.reference for attempt in stress.attempts) > 1
        passing += "; the confidence is for each learner alone." if several else "."
    if stress.drawn:
        seed = (
            f"Base seed {stress.base_seed}, from the operating system, determines the secrets of "
            "these instances: use it to repeat this result and for nothing else."
        )
    else:
        seed = (
            f"You chose base seed {stress.base_seed}, which determines the secrets: the confidence "
            "holds for learners that do not depend on it."
        )
    return [passing, seed]


def ladders_table(ladders: Sequence[Ladder]) -> str:
    """Write a line for each ladder."""
    rows = [[ladder.name, str(len(ladder.levels)), ladder.about] for ladder in ladders]
    return table(["ladder", "levels", "what"], rows)


def ladder_words(ladder: Ladder) -> str:
    """Write a ladder level by level, with its budgets."""
    common, labels = short_specs(ladder)
    rows = [
        [str(i), label, str(level.examples or "-"), f"{level.seconds:g}", level.about]
        for i, (label, level) in enumerate(zip(labels, ladder.levels, strict=True), 1)
    ]
    header = ["level", common, "examples", "seconds", "what"]
    references = ", ".join(ladder.references) or "none"
    title = wrap(f"{ladder.name}: {ladder.about}")
    return f"{title}\n\n{table(header, rows)}\n\nreferences: {references}\nsha256: {ladder.digest}"
