"""A stress test in words: how far each learner climbed, at what cost, and what is certified."""

from collections.abc import Sequence

from hardness.report.paired import paired_words
from hardness.report.text import big, bound, number, table, wrap
from hardness.runs.names import brief_spec
from hardness.runs.run import OVERTIME
from hardness.runs.stress import TERMS, Certified, Climb, Stress, Trials, needed
from instances.ladders import Ladder
from instances.parameters import split_list

_ASKERS = {
    "stat-queries": "statistical-query learner needs {} queries to STAT({})",
    "csq-queries": "learner by correlational queries needs {} of them within {}",
}


def stress_words(found: Stress) -> str:
    """Write a stress test: a headline a learner, its rungs, its costs, and what is certified."""
    own = [climb for climb in found.climbs if not climb.reference]
    blocks = ["\n".join(wrap(headline(found, climb)) for climb in own)]
    blocks += [_overview(found)]
    blocks += [_costs(found, climb) for climb in own if climb.rungs]
    if pairs := found.paired:
        names = {climb.learner: climb.asked for climb in found.climbs}
        blocks += [paired_words(pairs, lambda name: names[name])]
    blocks += ["\n".join(wrap(line) for line in [*certified_words(found), *_terms(found)])]
    return "\n\n".join(blocks)


def headline(found: Stress, climb: Climb) -> str:
    """Say in one paragraph how far a learner climbed, with which confidence, and what stopped it.

    >>> from hardness.runs.stress import stress
    >>> from instances.ladders import ladder_of
    >>> one = stress(["lowdegree"], ladder_of(["parity:d=8,m=2", "parity:d=8,m=3"]), base_seed=1)
    >>> headline(one, one.climbs[0])[:55]
    'lowdegree climbs own to rung 1 of 2, parity:d=8,m=2: wi'
    """
    ladder, held, touched = found.ladder, climb.held, climb.touched
    if held:
        rungs = "rung 1" if held == 1 else f"each of rungs 1 to {held}"
        first = (
            f"{climb.asked} climbs {ladder.name} to rung {held} of {len(ladder.rungs)}, "
            f"{spec_of(ladder, held)}: with confidence {_percent(found)} it passes on more than "
            f"half of the instances of {rungs}."
        )
    else:
        first = f"{climb.asked} holds no rung of {ladder.name}."
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
    common, labels = short_specs(found.ladder)
    header = ["rung", common, "certified", *(_name(climb) for climb in found.climbs)]
    rows = [
        [
            str(i),
            label,
            _queries(certified),
            *(_cell(climb, i) for climb in found.climbs),
        ]
        for i, (label, certified) in enumerate(zip(labels, found.certified, strict=True), 1)
    ]
    note = "; * a reference" if any(climb.reference for climb in found.climbs) else ""
    told = f"seeds passed on each rung of {found.ladder.name}, of {found.seeds}{note}"
    return f"{told}\n{table(header, rows)}"


def _queries(one: Certified) -> str:
    return "-" if one.asked is None or one.queries is None else bound(one.asked, one.queries)


def _name(climb: Climb) -> str:
    return climb.asked + "*" * climb.reference


def _cell(climb: Climb, rung: int) -> str:
    if rung <= len(climb.rungs):
        trials = climb.rungs[rung - 1]
        return f"{trials.passes}/{len(trials.trials)}"
    return "n/a" if climb.unsupported and rung == len(climb.rungs) + 1 else "-"


def _costs(found: Stress, climb: Climb) -> str:
    """A learner's rungs: its passes and their costs."""
    rows = []
    for i, trials in enumerate(climb.rungs, 1):
        low, high = trials.interval
        used = [trials.cost(name) for name in ("examples", "queries")]
        seconds = trials.cost("seconds")
        rows.append(
            [
                str(i),
                f"{trials.passes}/{len(trials.trials)}",
                f"{low:.2f}..{high:.2f}",
                *("-" if value is None else number(round(value)) for value in used),
                "-" if seconds is None else number(seconds),
                _ends(trials) if trials.failures else "",
            ]
        )
    header = ["rung", "passed", "rate at 95%", "examples", "queries", "seconds", "the others"]
    told = f"{climb.asked}: medians of the runs that passed"
    return f"{told}\n{table(header, rows)}"


def certified_words(found: Stress) -> list[str]:
    """Say what is certified of rungs that learners do not hold, a line a kind of evidence."""
    own = [climb.held for climb in found.climbs if not climb.reference]
    above = found.certified[min(own) :] or found.certified[-1:]
    first = len(found.certified) - len(above) + 1
    lines, start = [], 0
    while start < len(above):
        kind = _kind(above[start])
        stop = start
        while stop < len(above) and _kind(above[stop]) == kind:
            stop += 1
        low, high = first + start, first + stop - 1
        where = f"rung {low}" if low == high else f"rungs {low} to {high}"
        lines.append(f"{where}: {_claim(above[start:stop])}")
        start = stop
    return lines


def _kind(one: Certified) -> tuple[str, str | None, str]:
    return (one.evidence, None if one.vacuous else one.asked, one.why)


def _claim(rungs: Sequence[Certified]) -> str:
    """What is certified of rungs of one kind."""
    if rungs[0].evidence == "none":
        return f"no claim. {_sentence(rungs[0].why)}"
    if rungs[0].evidence == "assumption":
        return f"no certificate. {_sentence(rungs[0].why)}"
    queries = [one.queries for one in rungs if one.queries is not None]
    if rungs[0].vacuous or rungs[0].asked is None:
        return f"the query bound is vacuous. {_sentence(rungs[0].why)}"
    least, most = min(queries), max(queries)
    count = big(least) if least == most else f"{big(least)} to {big(most)}"
    asker = _ASKERS[rungs[0].asked].format(f"at least {count}", TERMS.tau)
    return (
        f"any {asker}, to reach a relative risk of {TERMS.risk} with chance {TERMS.success} over "
        "a uniform member where answers are as bad as they may be (certified). It says nothing of "
        "learners that look at single examples, as elimination, exhaustive search and lattice "
        f"attacks. {_sentence(rungs[0].why)}"
    )


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:] + "."


def _terms(found: Stress) -> list[str]:
    """What passing means, how many must pass, and what the base seed gives away."""
    least = needed(found.seeds)
    passing = (
        "Passed: the whole 95 % interval of the relative risk on fresh examples lies below 0.05, "
        f"learned within the examples of the rung and at most {OVERTIME} times its seconds, what a "
        "learner of one's own takes to predict included."
    )
    if least is not None:
        passing += f" Held: {least} of {found.seeds} seeds passed on it and on every rung below."
        if sum(not climb.reference for climb in found.climbs) > 1:
            passing += " The confidence is that of each learner alone, not of all at once."
    if found.drawn:
        seed = (
            f"Base seed {found.base_seed}, drawn from the operating system: whoever knows it knows "
            "the secrets of these instances, so use it to look at this result again and for no "
            "other."
        )
    else:
        seed = (
            f"Base seed {found.base_seed} was given: whoever knows it knows the secrets, so the "
            "confidence is that of learners made without regard to it."
        )
    return [passing, seed]


def spec_of(ladder: Ladder, rung: int) -> str:
    """Write the spec of a rung, from 1, without its defaults."""
    return brief_spec(ladder.specs[rung - 1])


def short_specs(ladder: Ladder) -> tuple[str, list[str]]:
    """Split the specs of a ladder into what all have in common and what differs.

    >>> from instances.ladders import ladder_of
    >>> short_specs(ladder_of(["parity:d=8,m=2,noise=0.1", "parity:d=9,m=2,noise=0.1"]))
    ('parity:m=2,noise=0.1', ['d=8', 'd=9'])
    """
    specs = [spec_of(ladder, i) for i in range(1, len(ladder.rungs) + 1)]
    names = {spec.partition(":")[0] for spec in specs}
    if len(names) > 1 or len(specs) == 1:
        return "family", specs
    parts = [split_list(spec.partition(":")[2]) for spec in specs]
    shared = [part for part in parts[0] if all(part in other for other in parts)]
    short = [",".join(part for part in one if part not in shared) for one in parts]
    name = names.pop()
    return (f"{name}:{','.join(shared)}" if shared else name), short


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
