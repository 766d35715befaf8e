"""A stress test in words: the levels that each learner passed, at what cost, what is certified."""

from collections.abc import Sequence
from itertools import groupby

from hardness.bounds.quantities import chance
from hardness.report.run import unbound_words
from hardness.report.text import number, table, wrap
from hardness.runs.names import brief_spec, short_specs
from hardness.runs.run import OVERTIME, Cost
from hardness.runs.stress import TERMS, LadderAttempt, LevelBounds, Stress, Trials, needed
from instances.ladders import Ladder
from instances.numbers import brief, outward

_LISTED = 8  # certified numbers in a sentence
_ASKERS = {
    "stat-queries": "statistical-query learner needs {} queries to STAT({})",
    "csq-queries": "learner by correlational queries needs {} of them within {}",
}
NONE_ENOUGH = {
    "stat-queries": "no number of queries to STAT({}) is enough for more than success {}",
    "csq-queries": "no number of correlational queries within {} is enough for more than success "
    "{}",
}


_SCOPE = (
    "Bounds on queries do not apply to learners that use individual examples, such as elimination, "
    "exhaustive search and lattice attacks."
)


def stress_words(stress: Stress) -> str:
    """Write a stress test: a headline a learner, its levels, its costs, and what is certified."""
    own = [attempt for attempt in stress.attempts if not attempt.reference]
    blocks = ["\n".join(wrap(headline(stress, attempt)) for attempt in own)]
    blocks += [_overview(stress)]
    blocks += [_costs(attempt) for attempt in own if attempt.levels]
    blocks += ["\n".join(wrap(line) for line in [*certified_words(stress), *_terms(stress)])]
    return "\n\n".join(blocks)


def headline(stress: Stress, attempt: LadderAttempt) -> str:
    """Say which levels a learner passed, with which confidence, and where it stopped.

    >>> from hardness.runs.stress import stress
    >>> from instances.ladders import ladder_of
    >>> one = stress(["lowdegree"], ladder_of(["parity:d=8,m=2", "parity:d=8,m=3"]), base_seed=1)
    >>> headline(one, one.attempts[0])[:56]
    'lowdegree passes level 1 of the 2 of your ladder (parity'
    """
    ladder, held, touched = stress.ladder, attempt.held, attempt.touched
    if held:
        levels = "level 1" if held == 1 else f"levels 1 to {held}"
        first = (
            f"{attempt.asked} passes {levels} of the {len(ladder.levels)} of {ladder.title} "
            f"({'up to ' * (held > 1)}{brief_spec(ladder.specs[held - 1])}): with confidence "
            f"{_percent(stress)} it solves more than half of the "
            f"instances{' of each' * (held > 1)}."
        )
    else:
        first = f"{attempt.asked} passes no level of {ladder.title}."
        if stress.confidence is None:
            first += " At least 5 seeds are needed to pass a level at 95 %."
    if touched > held:
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
        whole = len(attempt.levels) == len(stress.ladder.levels)
        return "The ladder ends there." if whole else "It was interrupted."
    last = attempt.levels[-1]
    if last.unsupported:
        return f"It does not support level {len(attempt.levels)}, which is not a failure."
    text = f"It stops at level {len(attempt.levels)}: {_ends(last)}."
    if last.why:
        text += f" Not run: {last.why}."
    timed = sum(trials.bounds.get("seconds", 0) for trials in attempt.levels)
    if timed:
        text += (
            f" {timed} of its runs reached the time limit: on a faster machine it may pass more "
            "levels, on a slower one fewer."
        )
    return text


def _ends(trials: Trials) -> str:
    """Say how the runs of a level ended that were not solved, and by what they were limited."""
    ends = ", ".join(f"{count} {name}" for name, count in trials.failures.items())
    bounds = [name for name in trials.bounds if name != "none"]
    return f"{ends}, limited by {' and '.join(bounds)}" if bounds else ends


def _overview(stress: Stress) -> str:
    """Lay out levels by learners: how many instances were solved."""
    rows = stress.level_rows()
    marks = ["", "", "", *("*" * attempt.reference for attempt in stress.attempts)]
    header = [name + mark for name, mark in zip(rows[0], marks, strict=True)]
    note = "; * a reference" if any(marks) else ""
    told = f"instances solved on each level of {stress.ladder.title}, of {stress.seeds}{note}"
    return f"{told}\n{table(header, [list(map(str, row.values())) for row in rows])}"


def _costs(attempt: LadderAttempt) -> str:
    """Lay out a learner's levels: the instances that it solved and their costs."""
    rows = []
    counted: list[Cost] = ["examples", "queries"]
    if any(trials.valued for trials in attempt.levels):
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
    told = f"{attempt.asked}: medians of the runs that solved the instance"
    return f"{told}\n{table(header, rows)}"


def certified_words(stress: Stress) -> list[str]:
    """Say what is certified of the levels, a line a kind of evidence."""
    lines, whys, low = list[str](), list[str](), 1
    for _, group in groupby(stress.certified, _kind):
        levels = list(group)
        high = low + len(levels) - 1
        where = f"level {low}" if low == high else f"levels {low} to {high}"
        why = "" if levels[0].why in whys else f" {_sentence(levels[0].why)}"
        lines.append(f"{where}: {_claim(levels)}{why}")
        whys.append(levels[0].why)
        low = high + 1
    if any(
        one.evidence not in ("none", "assumption") and not one.vacuous and one.asked
        for one in stress.certified
    ):
        lines.append(_SCOPE)
    names = {attempt.learner: attempt.asked for attempt in stress.attempts}
    return lines + unbound_words(stress.runs, names.__getitem__)


def _kind(bounds: LevelBounds) -> tuple[str, str | None, bool, bool, str]:
    asked = None if bounds.vacuous else bounds.asked
    return (bounds.evidence, asked, bounds.vacuous, bounds.success is not None, bounds.why)


def _claim(levels: Sequence[LevelBounds]) -> str:
    """Say what is certified of levels of one kind."""
    if levels[0].evidence == "none":
        return "no claim."
    if levels[0].evidence == "assumption":
        return "no certificate."
    if levels[0].asked is None:
        return "no bound on queries is certified."
    if levels[0].vacuous:
        return "the query bound is vacuous, which shows nothing."
    if levels[0].success is None:
        count = _each([brief(one.queries, 3) for one in levels if one.queries is not None])
        asker = _ASKERS[levels[0].asked].format(f"at least {count}", TERMS.tau)
        said = f"any {asker}, to reach a relative risk of {TERMS.risk} with chance {TERMS.success}"
    else:
        most = _each([chance(one.success) for one in levels if one.success is not None])
        said = NONE_ENOUGH[levels[0].asked].format(TERMS.tau, most)
        said += f" at a relative risk of {TERMS.risk}"
    return f"{said} over a random member, in the worst case over admissible answers (certified)."


def _each(parts: list[str]) -> str:
    """List what is certified, level by level."""
    if len(parts) > _LISTED:
        parts = [*parts[: _LISTED - 2], "...", parts[-1]]
    return f"{', '.join(parts)} (level by level)" if len(parts) > 1 else parts[0]


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:] + "."


def _terms(stress: Stress) -> list[str]:
    """What passing means, how many must pass, and what the base seed gives away."""
    least = needed(stress.seeds)
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
    rows = [[one.name, str(len(one.levels)), one.about] for one in ladders]
    return table(["ladder", "levels", "what"], rows)


def ladder_words(ladder: Ladder) -> str:
    """Write a ladder level by level, with its budgets."""
    common, labels = short_specs(ladder)
    rows = [
        [str(i), label, str(level.examples or "-"), f"{level.seconds:g}", level.about]
        for i, (label, level) in enumerate(zip(labels, ladder.levels, strict=True), 1)
    ]
    header = ["level", common, "examples", "seconds", "what"]
    beside = ", ".join(ladder.references) or "none"
    told = wrap(f"{ladder.name}: {ladder.about}")
    return f"{told}\n\n{table(header, rows)}\n\nreferences: {beside}\nsha256: {ladder.digest}"
