"""What a report says in sentences: what was run, what is certified, who passed what."""

import shlex
from collections import Counter
from collections.abc import Sequence

from hardness.claims import chance, vacuous
from hardness.lower import BoundParameters, Certificate
from hardness.report.binding import unbound, unbound_words
from hardness.report.charts.phase import SHARE, asks
from hardness.report.page.cards import certified
from hardness.report.page.material import Material
from hardness.report.page.records import LearnerRow
from hardness.report.page.tables import costs, learner_rows
from hardness.report.stress import NONE_ENOUGH
from hardness.report.summary import ASKER
from hardness.report.text import big, count
from hardness.runs.certified import number, query_bound, success
from hardness.runs.comparison import Comparison, values_of
from hardness.runs.fits import Scaling
from hardness.runs.names import brief_spec, short
from hardness.runs.ranges import Value
from hardness.runs.run import SOLVED_BELOW
from hardness.runs.table import Slice, fixed_words, split_choice, table
from hardness.upper import LEARNERS
from instances.errors import UsageError
from instances.parameters import plain
from instances.text import exact

_NAMED = 6  # learners in a sentence
_FAMILIES = 3  # of which it is said who got furthest
_FITS = 2

SCOPE = (
    "Runs are measurements: of these learners, on instances drawn from these seeds, within these "
    "budgets. That a learner failed says nothing of other learners, budgets or sizes.",
    "A bound is about learners by statistical queries and worst answers within a tolerance, on "
    "average over the members of a family. It says nothing of learners that see examples, such as "
    "elimination, lattice reduction or gradient descent on batches, nor of learners that ask for "
    "labels of tokens of their choice. The information floor binds all of these, and counts every "
    "label. "
    "Queries of runs had honest answers, so a run may pass with fewer queries than a bound says.",
    "Intervals of learners are of Clopper and Pearson, at 95 %, each for one row alone; they are "
    "about instances drawn as these were. A run that its budget cut did not pass; one that the "
    "machine ended did not pass either, and an interval allows for both.",
    "Fitted exponents describe the sizes run. They are no bounds, and no forecast of larger sizes.",
    "Seconds and memory are of the machines that are named, as busy as they were; in a sweep, the "
    "first run of a learner in a worker holds loading and compiling.",
)


NOT_SAID = (
    "What the numbers do not say: that a learner failed says nothing of other learners, budgets or "
    "sizes, and a bound on queries nothing of learners that see examples, nor of honest answers."
)


def summary(material: Material, grown: Sequence[tuple[Slice, Scaling]]) -> tuple[str, ...]:
    """Write what was run, what is certified, what is partial or not said; then all else.

    The first three stand alone.
    """
    partial = " ".join([*_states(material), *below_floor(material)])
    told = partial or ("" if material.runs.empty else NOT_SAID)
    said = [*material.said, told] if material.said else []
    said += [_what(material), *_bound(material), *([] if material.said else [told])]
    said += _unbounded(material)
    said += [line for one in _largest(material) for line in furthest(one)]
    said += [
        *nothing(material),
        *no_queries(material),
        *_growth(material, grown),
        *_ended(material),
        *_climbed(material),
    ]
    return tuple(filter(None, said))


def _what(material: Material) -> str:
    runs = material.runs
    if runs.empty:
        return _no_runs(material)
    learners = list(dict.fromkeys(map(short, runs["learner"])))
    families = list(runs["family"].unique())
    kinds = "family" if len(families) == 1 else "families"
    problems = count(runs["spec"].nunique(), "problem")
    counts = runs.groupby(runs["learner"].map(short), sort=False)["solved"]
    each = [f"{name} {sum(found)} of {len(found)}" for name, found in counts]
    told = f" ({listed(each)})" if len(each) > 1 else ""
    return (
        f"{count(len(runs), 'run')} of {count(len(learners), 'learner')} ({listed(learners)}) on "
        f"{problems} of {len(families)} {kinds} ({listed(families)}): {sum(runs['solved'])} "
        f"passed{told}. A run passes where the whole 95 % interval of its relative risk lies below "
        f"{SOLVED_BELOW}, in time; risk 1 is having learned nothing, 0 all."
    )


def _no_runs(material: Material) -> str:
    others = [
        count(len(found), noun)
        for found, noun in (
            (certified(material), "certificate"),
            (material.climbs, "climb"),
        )
        if found
    ]
    return f"There are no runs here{': but ' + ', '.join(others) if others else ''}."


def _states(material: Material) -> list[str]:
    """Say which sweeps are not finished, or lack runs that they did, and so what is partial."""
    cut = _cut(material.slices[0].comparison) if material.command else ""
    said = [cut] if cut else []
    runs = Counter(material.runs["learner"])
    for sweep in material.sweeps:
        done, planned = sum(sweep.done.values()), sum(sweep.planned.values())
        lost = sweep.missing(runs)
        if sweep.state == "finished" and not lost:
            continue
        here = f", and at least {count(lost, 'run')} of it missing here" if lost else ""
        verb = "is" if lost or done < planned else "may be"
        said.append(
            f"This {verb} partial: the sweep {sweep.name} is {sweep.state}, with {done} of "
            f"{planned} jobs done{here}. What is missing may be the slow ones, so shares of passes "
            "may change."
        )
    return said


def _cut(comparison: Comparison) -> str:
    """Say of a comparison that was cut how many of the sizes of its command it has."""
    words = shlex.split(comparison.command)
    try:
        asked = {value for word in words for value in _asked(word, comparison.parameter)}
    except UsageError:
        return ""
    kept = set(comparison.values)
    if not asked > kept:
        return ""
    return f"This is partial: {len(kept)} of the {len(asked)} sizes of its command were finished."


def _asked(word: str, parameter: str) -> tuple[Value, ...]:
    """The sizes that a word of a command asks for, as "d=8..20" or "--over=d=8..20"."""
    text = word.removeprefix("--over=")
    return values_of(text)[1] if text.startswith(f"{parameter}=") else ()


def _climbed(material: Material) -> list[str]:
    """Say what the runs of climbs do to the counts."""
    if not material.climbs or not material.store or material.runs.empty:
        return []
    return [
        "Runs of climbs count here too: a learner is run on a rung only where it passed at least "
        "once on the one below, so passes over several sizes are no rate."
    ]


def _largest(material: Material) -> list[Slice]:
    """The slice of most runs of each family, the last of equals: of the largest parameters."""
    found: dict[str, Slice] = {}
    for one in sorted(material.slices, key=lambda one: len(one.rows)):
        found[one.comparison.specs[0].partition(":")[0]] = one
    return sorted(found.values(), key=lambda one: -len(one.rows))[:_FAMILIES]


def _bound(material: Material) -> list[str]:
    """Say what is certified at the largest size: the certificate that asks for most queries."""
    if material.said:  # it says so itself, by rungs
        return []
    found, endless = [], []
    for spec, terms, one in certified(material):
        quantity = query_bound([one])
        queries = number(one, quantity, terms.success) if quantity else 0
        if queries is None:
            endless.append((spec, terms, one, quantity))
        elif quantity:
            found.append((queries, spec, terms, one, quantity))
    if not (found or endless):
        if material.runs.empty:
            return []
        return ["No bound on queries is certified for these problems."]
    said = [_none_enough(*endless[-1])] if endless else []
    told = [each for each in found if not (endless and vacuous(each[-1], each[0]))]
    if told:
        said.insert(0, _certified(*max(told, key=lambda each: each[0])))
    else:
        _, terms, one, _ = endless[-1]
        said.append(_floor(one, f"for probability {terms.success}"))
    return [" ".join(filter(None, said))]


def _none_enough(spec: str, terms: BoundParameters, one: Certificate, quantity: str) -> str:
    """Say of a certificate that no number of queries is enough."""
    said = NONE_ENOUGH[quantity].format(terms.tau, chance(exact(success(one, quantity) or 0)))
    return (
        f"Certified, for {brief_spec(spec)}: {said} at relative risk {terms.risk} over the "
        f"members, when answers may be any within {terms.tau}."
    )


def _floor(one: Certificate, what: str) -> str:
    floor = [c.value for c in one.claims if c.quantity == "information-floor" and not c.vacuous]
    if not floor:
        return ""
    return f"Any learner at all needs at least {big(int(floor[0]))} examples {what}."


def _unbounded(material: Material) -> list[str]:
    """Name the families that have runs and no certificate at all, where others have one."""
    bounded = {spec.partition(":")[0] for spec, _, _ in certified(material)}
    bounded |= {  # a name of the catalog is certified under its canonical spec
        one.comparison.specs[0].partition(":")[0]
        for one in material.slices
        if one.comparison.certificates
    }
    none = [name for name in material.runs["family"].unique() if name not in bounded]
    return [f"No bound is certified for {listed(none)}."] if bounded and none else []


def _certified(
    queries: int, spec: str, terms: BoundParameters, one: Certificate, quantity: str
) -> str:
    if vacuous(quantity, queries):
        shown = brief_spec(spec)
        return f"The certified bounds on queries are vacuous here: they say nothing ({shown})."
    said = (
        f"Certified, for {brief_spec(spec)}: {ASKER[quantity]} needs at least "
        f"{big(queries)} queries to reach relative risk {terms.risk} with probability "
        f"{terms.success} over the members, when answers may be any within {terms.tau}."
    )
    return " ".join(filter(None, [said, _floor(one, "for that")]))


def _growth(material: Material, grown: Sequence[tuple[Slice, Scaling]]) -> list[str]:
    """Say how examples and queries grow, where a law is named."""
    said = []
    kept = list(map(id, _largest(material)))
    for one, found in grown:
        comparison = one.comparison
        rates: set[tuple[str, float]] = set()  # examples may follow from queries
        for fit in found.fits if id(one) in kept else ():
            if fit.growth is None or fit.cost == "seconds":
                continue
            law, low, high = fit.growth.power, fit.values[0], fit.values[-1]
            if (fit.learner, round(law.rate, 9)) in rates:
                continue
            rates.add((fit.learner, round(law.rate, 9)))
            said.append(
                f"{short(fit.learner)} on {comparison.spec}{slice_words(one)}: its number of "
                f"{fit.cost} fits {comparison.parameter}^{law.rate:.2f}, "
                f"95 % interval [{law.low:.2f}, {law.high:.2f}], over {len(fit.values)} sizes in "
                f"{plain(low)} to {plain(high)} "
                f"({_verdict(fit.growth.verdict)})."
            )
    return said[:_FITS]


def _verdict(verdict: str) -> str:
    return "power law or exponential cannot be told" if verdict == "cannot tell" else verdict


def _ended(material: Material) -> list[str]:
    """Count the runs that another machine may end otherwise."""
    runs = material.runs
    found = Counter(runs["bound"][~runs["reproducible"].astype(bool)])
    if not found:
        return []
    shown = ", ".join(f"{number} by {bound}" for bound, number in sorted(found.items()))
    return [
        f"{count(sum(found.values()), 'run')} ended by what is not the same on every machine "
        f"({shown}): these are not reproducible."
    ]


def furthest(one: Slice) -> list[str]:
    """Say who passed at the largest size that anybody did, at which cost."""
    comparison = one.comparison
    if not comparison.learners:
        return []
    rows = learner_rows(table(one.rows), budgets=True)
    for spec, value in zip(reversed(comparison.specs), reversed(comparison.values), strict=True):
        best = [r for r in rows if r.spec == spec and r.passed >= SHARE * r.runs]
        if best:
            best.sort(key=lambda r: (r.examples or 0.0, r.seconds or 0.0))
            where = f"{comparison.spec} at {comparison.parameter} = {plain(value)}"
            which = "the largest run" if spec == comparison.specs[-1] else "the largest so solved"
            shown = "; ".join(_did(r) for r in best[:_NAMED])
            more = f"; and {len(best) - _NAMED} more" if len(best) > _NAMED else ""
            return [
                f"On {where}{slice_words(one)}, {which}, at least {SHARE} of the runs passed of "
                f"{shown}{more}.{_fewer(rows, spec)}"
            ]
    sizes = f"{comparison.parameter} = {plain(comparison.values[0])}"
    if len(comparison.values) > 1:
        sizes += f" to {plain(comparison.values[-1])}"
    return [
        f"On {comparison.spec}, {sizes}{slice_words(one)}, no learner passed {SHARE} of its runs "
        "at any of them."
    ]


def _fewer(rows: Sequence[LearnerRow], spec: str) -> str:
    """Name the learners of which fewer runs passed there."""
    found = [r for r in rows if r.spec == spec and r.passed < SHARE * r.runs]
    named = [f"{short(r.learner)} ({r.passed} of {r.runs})" for r in found]
    return f" Fewer passed of {listed(named)}." if named else ""


def _did(row: LearnerRow) -> str:
    return f"{short(row.learner)} ({row.passed} of {row.runs}; median of these {costs(row)})"


def nothing(material: Material) -> list[str]:
    """Name the learners of which no run passed, with how most of their runs ended."""
    none = []
    for name, runs in material.runs.groupby("learner", sort=False):
        (outcome, _), *more = Counter(runs["outcome"]).most_common()
        if not runs["solved"].any():
            how = f"most often: {outcome}" if more else f"all: {outcome}"
            none.append(f"{short(str(name))} (0 of {len(runs)}, {how})")
    return [f"No run passed of {listed(none)}."] if none else []


def no_queries(material: Material) -> list[str]:
    """Say which learners that passed are not what the bounds are about."""
    bounded = {c.spec for one in material.slices for c in one.comparison.certificates}
    runs = material.runs
    passed = runs[runs["spec"].isin(bounded) & runs["solved"]]
    free = unbound(passed["run"])
    found = [name for name in passed["learner"].unique() if not asks(name) and name not in free]
    if not found:
        return unbound_words(passed["run"], short)
    ours = [short(name) for name in found if name.partition(":")[0] in LEARNERS]
    others = [short(name) for name in found if name.partition(":")[0] not in LEARNERS]
    learn = "learns" if len(ours) == 1 else "learn"
    said = [f"{listed(ours)} {learn} from examples, not from statistical queries"] if ours else []
    said += [f"of {listed(others)} it is not known here what they ask"] if others else []
    one = len(found) == 1
    them, passes = ("it", "where it passes") if one else ("them", "where they pass")
    return [
        f"{'; '.join(said)}: the bounds on queries are not about {them}, and {passes} they are not "
        "contradicted.",
        *unbound_words(passed["run"], short),
    ]


def below_floor(material: Material) -> list[str]:
    """Name the runs that solved with fewer examples than the certified information floor.

    The floor counts labels, drawn or chosen, and holds with a probability of success.
    """
    floors = {
        c.spec: c.integer("information-floor")
        for one in material.slices
        for c in one.comparison.certificates
        if any(claim.quantity == "information-floor" for claim in c.claims)
    }
    runs = material.runs
    labels = runs["examples"] + runs["values_asked"]
    found = runs[runs["solved"] & (labels < runs["spec"].map(floors)) & (runs["queries"] == 0)]
    said = [
        f"{short(str(learner))} on {brief_spec(str(spec))} ({count(len(some), 'run')}, from "
        f"{labels[some.index].min():.0f} labels on, floor {floors[str(spec)]})"
        for (learner, spec), some in found.groupby(["learner", "spec"], sort=False)
    ]
    return (
        [
            f"Solved below the information floor: {listed(said)}. By chance that is rare: look for "
            "an error in the certificate, the seeds or the learner."
        ]
        if said
        else []
    )


def slice_words(one: Slice) -> str:
    """What tells a slice from the others and is not in its spec, in brackets."""
    chosen, shown = split_choice(one.choice), split_choice(one.comparison.spec.partition(":")[2])
    pairs = [pair for pair in one.fixed if "=".join(pair) in chosen and pair[0] != "family"]
    told = [fixed_words(*pair) for pair in pairs if "=".join(pair) not in shown]
    return f" ({', '.join(told)})" if told else ""


def listed(names: Sequence[str]) -> str:
    """Name some of them, and count the others."""
    more = [f"{len(names) - _NAMED} more"] if len(names) > _NAMED else []
    return ", ".join([*names[:_NAMED], *more])
