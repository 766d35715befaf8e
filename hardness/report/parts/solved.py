"""Who solved what, in sentences: how far each got, at which cost, and which did not."""

from collections import Counter
from collections.abc import Sequence

from hardness.report.parts.material import Material
from hardness.report.parts.records import LearnerRow
from hardness.report.parts.tables import costs, learner_rows
from hardness.report.phase import SHARE, asks
from hardness.report.text import count
from hardness.runs.names import brief_spec, short
from hardness.runs.table import Slice, fixed_words, split_choice, table
from hardness.upper import LEARNERS
from instances.parameters import plain

_NAMED = 6  # learners in a sentence


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
    found = [name for name in passed["learner"].unique() if not asks(name)]
    if not found:
        return []
    ours = [short(name) for name in found if name.partition(":")[0] in LEARNERS]
    others = [short(name) for name in found if name.partition(":")[0] not in LEARNERS]
    learn = "learns" if len(ours) == 1 else "learn"
    said = [f"{listed(ours)} {learn} from examples, not from statistical queries"] if ours else []
    said += [f"of {listed(others)} it is not known here what they ask"] if others else []
    one = len(found) == 1
    them, passes = ("it", "where it passes") if one else ("them", "where they pass")
    return [
        f"{'; '.join(said)}: the bounds on queries are not about {them}, and {passes} they are not "
        "contradicted."
    ]


def below_floor(material: Material) -> list[str]:
    """Name the runs that solved with fewer examples than the certified information floor.

    The floor holds for every learner that sees examples alone, with a probability of success.
    """
    floors = {
        c.spec: c.integer("information-floor")
        for one in material.slices
        for c in one.comparison.certificates
        if any(claim.quantity == "information-floor" for claim in c.claims)
    }
    runs = material.runs
    few = runs["examples"] < runs["spec"].map(floors)
    found = runs[runs["solved"] & few & (runs["queries"] == 0)]
    said = [
        f"{short(str(learner))} on {brief_spec(str(spec))} ({count(len(some), 'run')}, from "
        f"{some['examples'].min():.0f} examples on, floor {floors[str(spec)]})"
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
