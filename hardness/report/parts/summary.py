"""What a report says in sentences: each with its numbers, the most important first."""

import shlex
from collections import Counter
from collections.abc import Sequence

from hardness.compare.both import Comparison, values_of
from hardness.compare.choices import fixed_words, split_choice
from hardness.compare.ranges import Value
from hardness.compare.run import SOLVED_BELOW
from hardness.compare.scaling import Scaling
from hardness.compare.slices import Slice, brief_spec, short
from hardness.lower import Certificate, Terms
from hardness.report.parts.cards import certified
from hardness.report.parts.material import Material
from hardness.report.parts.records import LearnerRow
from hardness.report.parts.tables import costs, learner_rows, succeeded
from hardness.report.phase import SHARE, asks
from hardness.report.summary import ASKER
from hardness.report.text import big, count
from hardness.upper import LEARNERS
from instances.errors import UsageError
from instances.parameters import plain

_FAMILIES = 3  # of which it is said who got furthest
_NAMED = 6  # learners in a sentence
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
    "Seconds and memory are of the machines that are named, as busy as they were.",
)


def summary(material: Material, grown: Sequence[tuple[Slice, Scaling]]) -> tuple[str, ...]:
    """Write what was run, what is certified, who got how far at which cost, and what is partial."""
    said = [_what(material), *_states(material)]
    said += [*_bound(material), *_unbounded(material)]
    said += [line for one in _largest(material) for line in _furthest(one)]
    said += [
        *_nothing(material),
        *_no_queries(material),
        *_growth(material, grown),
        *_ended(material),
        *_climbed(material),
    ]
    return tuple(filter(None, said))


def _what(material: Material) -> str:
    rows = material.rows
    if not rows:
        return _no_runs(material)
    learners = list(dict.fromkeys(short(row.run.learner) for row in rows))
    specs = dict.fromkeys(row.run.spec for row in rows)
    families = list(dict.fromkeys(spec.partition(":")[0] for spec in specs))
    passed = sum(map(succeeded, rows))
    kinds = "family" if len(families) == 1 else "families"
    return (
        f"{count(len(rows), 'run')} of {count(len(learners), 'learner')} ({_names(learners)}) on "
        f"{count(len(specs), 'problem')} of {len(families)} {kinds} ({_names(families)}): {passed} "
        "passed. A run passes where the whole 95 % interval of its relative risk lies below "
        f"{SOLVED_BELOW}, in time; risk 1 is having learned nothing, 0 all."
    )


def _no_runs(material: Material) -> str:
    others = [
        count(len(found), noun)
        for found, noun in (
            (certified(material), "certificate"),
            (material.climbs, "climb"),
            (material.wholes, "Gram matrix"),
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
    if not material.climbs or not material.rows:
        return []
    return [
        "Runs of climbs count here too: a learner is run on a rung only where it passed at least "
        "once on the one below, so passes over several sizes are no rate."
    ]


def _largest(material: Material) -> list[Slice]:
    """The slice of most runs of each family, of most runs first."""
    found: dict[str, Slice] = {}
    for one in sorted(material.slices, key=lambda one: -len(one.rows)):
        found.setdefault(one.comparison.specs[0].partition(":")[0], one)
    return list(found.values())[:_FAMILIES]


def _bound(material: Material) -> list[str]:
    """Say what is certified at the largest size: the certificate that asks for most queries."""
    found = [
        (int(one.value(quantity)), spec, terms, one, quantity)
        for spec, terms, one in certified(material)
        for quantity in _quantity(one)
    ]
    if not found:
        return ["No bound on queries is certified for these problems."] if material.rows else []
    queries, spec, terms, one, quantity = max(found, key=lambda each: each[0])
    if not queries:
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
    every = dict.fromkeys(row.run.spec.partition(":")[0] for row in material.rows)
    none = [name for name in every if name not in bounded]
    return [f"No bound is certified for {_names(none)}."] if bounded and none else []


def _quantity(one: Certificate) -> list[str]:
    names = {claim.quantity for claim in one.claims}
    return [name for name in ASKER if name in names][:1]


def _certified(queries: int, spec: str, terms: Terms, one: Certificate, quantity: str) -> str:
    floor = [c.value for c in one.claims if c.quantity == "information-floor"]
    more = ""
    if floor and floor[0] != "0":
        more = f" Any learner at all needs at least {big(int(floor[0]))} examples for that."
    return (
        f"Certified, for {brief_spec(spec)}: {ASKER[quantity]} must be allowed at least "
        f"{big(queries)} queries to reach relative risk {terms.risk} with probability "
        f"{terms.success} over the members, when answers may be any within {terms.tau}.{more}"
    )


def _furthest(one: Slice) -> list[str]:
    """Say who passed at the largest size that anybody did, at which cost."""
    comparison = one.comparison
    rows = learner_rows(one.rows, budgets=True)
    for spec, value in zip(reversed(comparison.specs), reversed(comparison.values), strict=True):
        best = [r for r in rows if r.spec == spec and r.passed >= SHARE * r.runs]
        if best:
            best.sort(key=lambda r: (r.examples or 0.0, r.seconds or 0.0))
            where = f"{comparison.spec} at {comparison.parameter} = {plain(value)}"
            which = "the largest run" if spec == comparison.specs[-1] else "the largest so solved"
            shown = "; ".join(_did(r) for r in best[:_NAMED])
            more = f"; and {len(best) - _NAMED} more" if len(best) > _NAMED else ""
            return [
                f"On {where}{_words(one)}, {which}, at least {SHARE} of the runs passed of "
                f"{shown}{more}."
            ]
    sizes = f"{comparison.parameter} = {plain(comparison.values[0])}"
    if len(comparison.values) > 1:
        sizes += f" to {plain(comparison.values[-1])}"
    return [
        f"On {comparison.spec}, {sizes}{_words(one)}, no learner passed {SHARE} of its runs at any "
        "of them."
    ]


def _words(one: Slice) -> str:
    """What tells a slice from the others and is not in its spec, in brackets."""
    chosen, shown = split_choice(one.choice), split_choice(one.comparison.spec.partition(":")[2])
    pairs = [pair for pair in one.fixed if "=".join(pair) in chosen and pair[0] != "family"]
    told = [fixed_words(*pair) for pair in pairs if "=".join(pair) not in shown]
    return f" ({', '.join(told)})" if told else ""


def _did(row: LearnerRow) -> str:
    return f"{short(row.learner)} ({row.passed} of {row.runs}; median of these {costs(row)})"


def _nothing(material: Material) -> list[str]:
    """Name the learners of which no run passed, with how most of their runs ended."""
    runs: Counter[str] = Counter(row.run.learner for row in material.rows)
    passed: Counter[str] = Counter(row.run.learner for row in material.rows if succeeded(row))
    ends: dict[str, Counter[str]] = {}
    for row in material.rows:
        ends.setdefault(row.run.learner, Counter())[row.run.outcome.value] += 1
    none = [
        f"{short(name)} (0 of {runs[name]}, {_most(ends[name])})"
        for name in runs
        if not passed[name]
    ]
    return [f"No run passed of {_names(none)}."] if none else []


def _most(ends: Counter[str]) -> str:
    """How runs ended, of all or of the most."""
    (outcome, _), *more = ends.most_common()
    return f"most often: {outcome}" if more else f"all: {outcome}"


def _no_queries(material: Material) -> list[str]:
    """Say which learners that passed are not what the bounds are about."""
    bounded = {c.spec for one in material.slices for c in one.comparison.certificates}
    found = dict.fromkeys(
        row.run.learner
        for row in material.rows
        if row.run.spec in bounded and succeeded(row) and not asks(row.run.learner)
    )
    if not found:
        return []
    ours = [short(name) for name in found if name.partition(":")[0] in LEARNERS]
    others = [short(name) for name in found if name.partition(":")[0] not in LEARNERS]
    learn = "learns" if len(ours) == 1 else "learn"
    said = [f"{_names(ours)} {learn} from examples, not from statistical queries"] if ours else []
    said += [f"of {_names(others)} it is not known here what they ask"] if others else []
    one = len(found) == 1
    them, passes = ("it", "where it passes") if one else ("them", "where they pass")
    return [
        f"{'; '.join(said)}: the bounds on queries are not about {them}, and {passes} nothing is "
        "contradicted."
    ]


def _growth(material: Material, grown: Sequence[tuple[Slice, Scaling]]) -> list[str]:
    """Say how examples and queries grow, where a law is named."""
    said = []
    kept = list(map(id, _largest(material)))
    for one, found in grown:
        comparison = one.comparison
        for fit in found.fits if id(one) in kept else ():
            if fit.growth is None or fit.cost == "seconds":
                continue
            law, low, high = fit.growth.power, fit.values[0], fit.values[-1]
            said.append(
                f"{short(fit.learner)} on {comparison.spec}{_words(one)}: its number of {fit.cost} "
                f"fits "
                f"{comparison.parameter}^{law.rate:.2f}, 95 % interval [{law.low:.2f}, "
                f"{law.high:.2f}], over {len(fit.values)} sizes in {plain(low)} to {plain(high)} "
                f"({_verdict(fit.growth.verdict)})."
            )
    return said[:_FITS]


def _verdict(verdict: str) -> str:
    return "power law or exponential cannot be told" if verdict == "cannot tell" else verdict


def _ended(material: Material) -> list[str]:
    """Count the runs that another machine may end otherwise."""
    found = Counter(row.bound for row in material.rows if not row.reproducible)
    if not found:
        return []
    shown = ", ".join(f"{number} by {bound}" for bound, number in sorted(found.items()))
    return [
        f"{count(sum(found.values()), 'run')} ended by what is not the same on every machine "
        f"({shown}): these are not reproducible."
    ]


def _names(names: Sequence[str]) -> str:
    more = [f"{len(names) - _NAMED} more"] if len(names) > _NAMED else []
    return ", ".join([*names[:_NAMED], *more])
