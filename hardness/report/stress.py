"""A stress test in words: how far each learner climbed, at what cost, and what is certified."""

from collections.abc import Sequence
from itertools import groupby

from hardness.bounds.quantities import chance
from hardness.report.run import unbound_words
from hardness.report.text import number, table, wrap
from hardness.runs.names import brief_spec, short_specs
from hardness.runs.run import OVERTIME, Cost
from hardness.runs.stress import TERMS, Climb, RungBounds, Stress, Trials, needed
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


def stress_words(found: Stress) -> str:
    """Write a stress test: a headline a learner, its rungs, its costs, and what is certified."""
    own = [climb for climb in found.climbs if not climb.reference]
    blocks = ["\n".join(wrap(headline(found, climb)) for climb in own)]
    blocks += [_overview(found)]
    blocks += [_costs(climb) for climb in own if climb.rungs]
    blocks += ["\n".join(wrap(line) for line in [*certified_words(found), *_terms(found)])]
    return "\n\n".join(blocks)


def headline(found: Stress, climb: Climb) -> str:
    """Say in one paragraph how far a learner climbed, with which confidence, and what stopped it.

    >>> from hardness.runs.stress import stress
    >>> from instances.ladders import ladder_of
    >>> one = stress(["lowdegree"], ladder_of(["parity:d=8,m=2", "parity:d=8,m=3"]), base_seed=1)
    >>> headline(one, one.climbs[0])[:55]
    'lowdegree climbs your ladder to rung 1 of 2, parity:d=8'
    """
    ladder, held, touched = found.ladder, climb.held, climb.touched
    if held:
        rungs = "rung 1" if held == 1 else f"each of rungs 1 to {held}"
        first = (
            f"{climb.asked} climbs {ladder.title} to rung {held} of {len(ladder.rungs)}, "
            f"{brief_spec(ladder.specs[held - 1])}: with confidence {_percent(found)} it passes on "
            f"more than half of the instances of {rungs}."
        )
    else:
        first = f"{climb.asked} holds no rung of {ladder.title}."
        if found.confidence is None:
            first += " Fewer than 5 seeds hold nothing at 95 %: give at least 5."
    if touched > held:
        trials = climb.rungs[touched - 1]
        first += f" It touches rung {touched} ({trials.passes} of {len(trials.trials)})."
    return f"{first} {_stop(found, climb)}"


def _percent(found: Stress) -> str:
    chance = found.confidence or 0
    return f"{float(100 * chance):.4g} % ({chance})"


def _stop(found: Stress, climb: Climb) -> str:
    """What ended a climb."""
    if climb.unsupported:
        rung = len(climb.rungs) + 1
        return f"It does not take rung {rung}, which is no failure: {climb.unsupported}."
    if climb.climbing:
        whole = len(climb.rungs) == len(found.ladder.rungs)
        return "That is where the ladder ends." if whole else "Its climb was interrupted."
    last = climb.rungs[-1]
    if last.unsupported:
        return f"It does not take rung {len(climb.rungs)}, which is no failure."
    text = f"It stops on rung {len(climb.rungs)}: {_ends(last)}."
    if last.why:
        text += f" Not run: {last.why}."
    timed = sum(trials.bounds.get("seconds", 0) for trials in climb.rungs)
    if timed:
        text += (
            f" {timed} of its runs ended with the seconds of the budget: a faster machine may "
            "climb higher, a slower one less high."
        )
    return text


def _ends(trials: Trials) -> str:
    """How the trials of a rung ended that did not pass, and by what they were bound."""
    ends = ", ".join(f"{count} {name}" for name, count in trials.failures.items())
    bounds = [name for name in trials.bounds if name != "none"]
    return f"{ends}, bound by {' and '.join(bounds)}" if bounds else ends


def _overview(found: Stress) -> str:
    """Rungs by learners: how many seeds passed."""
    rows = found.rung_rows()
    marks = ["", "", "", *("*" * climb.reference for climb in found.climbs)]
    header = [name + mark for name, mark in zip(rows[0], marks, strict=True)]
    note = "; * a reference" if any(marks) else ""
    told = f"seeds passed on each rung of {found.ladder.title}, of {found.seeds}{note}"
    return f"{told}\n{table(header, [list(map(str, row.values())) for row in rows])}"


def _costs(climb: Climb) -> str:
    """A learner's rungs: its passes and their costs."""
    rows = []
    counted: list[Cost] = ["examples", "queries"]
    if any(trials.valued for trials in climb.rungs):
        counted.append("values")
    for i, trials in enumerate(climb.rungs, 1):
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
    header = ["rung", "passed", "rate at 95%", *counted, "seconds", "the others"]
    told = f"{climb.asked}: medians of the runs that passed"
    return f"{told}\n{table(header, rows)}"


def certified_words(found: Stress) -> list[str]:
    """Say what is certified of the rungs, a line a kind of evidence."""
    lines, low = [], 1
    for _, group in groupby(found.certified, _kind):
        rungs = list(group)
        high = low + len(rungs) - 1
        where = f"rung {low}" if low == high else f"rungs {low} to {high}"
        lines.append(f"{where}: {_claim(rungs)}")
        low = high + 1
    names = {climb.learner: climb.asked for climb in found.climbs}
    return lines + unbound_words(found.runs, names.__getitem__)


def _kind(one: RungBounds) -> tuple[str, str | None, bool, bool, str]:
    asked = None if one.vacuous else one.asked
    return (one.evidence, asked, one.vacuous, one.success is not None, one.why)


def _claim(rungs: Sequence[RungBounds]) -> str:
    """What is certified of rungs of one kind."""
    if rungs[0].evidence == "none":
        return f"no claim. {_sentence(rungs[0].why)}"
    if rungs[0].evidence == "assumption":
        return f"no certificate. {_sentence(rungs[0].why)}"
    if rungs[0].asked is None:
        return f"no bound on queries is certified. {_sentence(rungs[0].why)}"
    if rungs[0].vacuous:
        return f"the query bound is vacuous. {_sentence(rungs[0].why)}"
    if rungs[0].success is None:
        count = _each([brief(one.queries, 3) for one in rungs if one.queries is not None])
        asker = _ASKERS[rungs[0].asked].format(f"at least {count}", TERMS.tau)
        said = f"any {asker}, to reach a relative risk of {TERMS.risk} with chance {TERMS.success}"
    else:
        most = _each([chance(one.success) for one in rungs if one.success is not None])
        said = NONE_ENOUGH[rungs[0].asked].format(TERMS.tau, most)
        said += f" at a relative risk of {TERMS.risk}"
    return (
        f"{said} over the member where answers are as bad as they may be (certified). It "
        "says nothing of learners that look at single examples, as elimination, exhaustive search "
        f"and lattice attacks. {_sentence(rungs[0].why)}"
    )


def _each(found: list[str]) -> str:
    """List what is certified, rung by rung."""
    if len(found) > _LISTED:
        found = [*found[: _LISTED - 2], "...", found[-1]]
    return f"{', '.join(found)} (rung by rung)" if len(found) > 1 else found[0]


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:] + "."


def _terms(found: Stress) -> list[str]:
    """What passing means, how many must pass, and what the base seed gives away."""
    least = needed(found.seeds)
    passing = (
        "Passed: the whole 95 % interval of the relative risk on fresh examples lies below 0.05, "
        f"learned within the examples of the rung and at most {OVERTIME} times its seconds, with "
        "the time that your own learners take to predict."
    )
    if least is not None:
        passing += f" Held: {least} of {found.seeds} seeds passed on it and on every rung below."
        if sum(not climb.reference for climb in found.climbs) > 1:
            passing += " The confidence is that of each learner alone, not of all at once."
    if found.drawn:
        seed = (
            f"Base seed {found.base_seed}, drawn from the operating system: the secrets of these "
            "instances follow from it, so use it to look at this result again and for no other."
        )
    else:
        seed = (
            f"Base seed {found.base_seed} was given: the secrets follow from it, so the confidence "
            "is that of learners made without regard to it."
        )
    return [passing, seed]


def ladders_table(ladders: Sequence[Ladder]) -> str:
    """Write a line for each ladder."""
    rows = [[one.name, str(len(one.rungs)), one.about] for one in ladders]
    return table(["ladder", "rungs", "what"], rows)


def ladder_words(one: Ladder) -> str:
    """Write a ladder rung by rung, with its budgets."""
    common, labels = short_specs(one)
    rows = [
        [str(i), label, str(rung.examples or "-"), f"{rung.seconds:g}", rung.about]
        for i, (label, rung) in enumerate(zip(labels, one.rungs, strict=True), 1)
    ]
    header = ["rung", common, "examples", "seconds", "what"]
    beside = ", ".join(one.references) or "none"
    told = wrap(f"{one.name}: {one.about}")
    return f"{told}\n\n{table(header, rows)}\n\nreferences: {beside}\nsha256: {one.digest}"
