"""What a report says in sentences: each with its numbers, the most important first."""

import shlex
from collections import Counter
from collections.abc import Sequence

from hardness.claims import vacuous
from hardness.lower import BoundParameters, Certificate
from hardness.report.parts.cards import certified
from hardness.report.parts.material import Material
from hardness.report.parts.solved import (
    below_floor,
    furthest,
    listed,
    no_queries,
    nothing,
    slice_words,
)
from hardness.report.summary import ASKER
from hardness.report.text import big, count
from hardness.runs.certified import query_bound
from hardness.runs.comparison import Comparison, values_of
from hardness.runs.fits import Scaling
from hardness.runs.names import brief_spec, short
from hardness.runs.ranges import Value
from hardness.runs.run import SOLVED_BELOW
from hardness.runs.table import Slice
from instances.errors import UsageError
from instances.parameters import plain

_FAMILIES = 3  # of which it is said who got furthest
_FITS = 2

SCOPE = (
    "Runs are measurements: of these learners, on instances drawn from these seeds, within these "
    "budgets. That a learner failed says nothing of other learners, budgets or sizes.",
    "A bound is about learners by statistical queries and worst answers within a tolerance, on "
    "average over the members of a family. It says nothing of learners that see examples, such as "
    "elimination, lattice reduction or gradient descent on batches, but for the information floor. "
    "Queries of runs had honest answers, so a run may pass with fewer queries than a bound says.",
    "Intervals of learners are of Clopper and Pearson, at 95 %, each for one row alone; they are "
    "about instances drawn as these were. A run that its budget cut did not pass; one that the "
    "machine ended did not pass either, and an interval allows for both.",
    "Fitted exponents describe the sizes run. They are no bounds, and no forecast of larger sizes.",
    "Seconds and memory are of the machines that are named, as busy as they were; in a sweep, the "
    "first run of a learner in a worker holds loading and compiling.",
)


def summary(material: Material, grown: Sequence[tuple[Slice, Scaling]]) -> tuple[str, ...]:
    """Write what was run, what is certified, who got how far at which cost, and what is partial."""
    said = [_what(material), *_states(material)]
    said += [*_bound(material), *_unbounded(material)]
    said += [line for one in _largest(material) for line in furthest(one)]
    said += [
        *nothing(material),
        *below_floor(material),
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
    return (
        f"{count(len(runs), 'run')} of {count(len(learners), 'learner')} ({listed(learners)}) on "
        f"{problems} of {len(families)} {kinds} ({listed(families)}): {sum(runs['solved'])} "
        "passed. A run passes where the whole 95 % interval of its relative risk lies below "
        f"{SOLVED_BELOW}, in time; risk 1 is having learned nothing, 0 all."
    )


def _no_runs(material: Material) -> str:
    others = [
        count(len(found), noun)
        for found, noun in (
            (certified(material), "certificate"),
            (material.climbs, "climb"),
            (material.artifacts, "Gram matrix"),
        )
        if found
    ]
    return f"There are no runs here{': but ' + ', '.join(others) if others else ''}."


def _states(material: Material) -> list[str]:
    """Say which sweeps are not finished, and so what is partial."""
    said = [_cut(material.slices[0].comparison)] if material.command else []
    for sweep in material.sweeps:
        done, planned = sum(sweep.done.values()), sum(sweep.planned.values())
        if sweep.state != "finished":
            said.append(
                f"This is partial: the sweep {sweep.name} is {sweep.state}, with {done} of "
                f"{planned} jobs done. What is missing may be the slow ones, so shares of passes "
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
    if not material.climbs or material.runs.empty:
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
    found = [
        (one.integer(quantity), spec, terms, one, quantity)
        for spec, terms, one in certified(material)
        if (quantity := query_bound([one]))
    ]
    if not found:
        if material.runs.empty:
            return []
        return ["No bound on queries is certified for these problems."]
    queries, spec, terms, one, quantity = max(found, key=lambda each: each[0])
    if vacuous(quantity, queries):
        shown = brief_spec(spec)
        return [f"The certified bounds on queries are vacuous here: they say nothing ({shown})."]
    return [_certified(queries, spec, terms, one, quantity)]


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
    floor = [c.value for c in one.claims if c.quantity == "information-floor" and not c.vacuous]
    more = ""
    if floor:
        more = f" Any learner at all needs at least {big(int(floor[0]))} examples for that."
    return (
        f"Certified, for {brief_spec(spec)}: {ASKER[quantity]} must be allowed at least "
        f"{big(queries)} queries to reach relative risk {terms.risk} with probability "
        f"{terms.success} over the members, when answers may be any within {terms.tau}.{more}"
    )


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
