"""The charts of a report: data, words and command of each; nothing is drawn."""

import shlex
from collections.abc import Callable, Sequence
from typing import Any

from hardness.report.charts.chart import Data
from hardness.report.charts.costs import of_risks, of_scaling
from hardness.report.charts.phase import needed, of_phase
from hardness.report.charts.runs import of_both_sides
from hardness.report.charts.stages import of_stages
from hardness.report.page.material import Material
from hardness.report.page.records import Chart
from hardness.report.summary import ASKER
from hardness.runs.certified import query_bound
from hardness.runs.fits import Scaling
from hardness.runs.run import Run
from hardness.runs.table import Plane, Slice
from instances.errors import DamagedFile
from instances.parameters import plain

MOST = 6  # charts of a kind: a page of more is neither read nor loaded in a moment
_SAY = {
    "both-sides": "Each mark is a run: filled where its risk passed, in time or not, hollow where "
    "it did not, at what it spent. A line joins the costs that {success} of a learner's runs "
    "stayed within, where all of them passed.",
    "bound": " The dashed line is certified: {asker} needs that many queries to reach "
    "relative risk {risk} with probability {success} over the members, whatever the answers within "
    "{tau}. It is about such learners alone, and about worst answers: runs had honest ones, and "
    "may lie below it. The dotted line is the least number of labels, drawn or chosen, for any "
    "learner. Vacuous bounds, as of 1 or 2 queries, are not drawn.",
    "no bound": " No bound is drawn; {why}.",
    "scaling": "Lines are laws fitted to the logarithms of costs over the sizes where every run "
    "passed; they say nothing of larger sizes.",
    "risks": "The median of the relative risk with the range over the runs: 1 is having learned "
    "nothing, and a run passes where the whole 95 % interval of its risk is below 0.05. {why}.",
    "stages": "What the stages of the provable learner saw in the run of median risk, of the runs "
    "at the largest size that came through its stages: eigenvalues with the gap that counts the "
    "heads, residuals with what was accepted, and the error on held-out examples after each stage.",
    "stress": "How far each learner climbed, and the median cost of the runs that passed on each "
    "rung. A learner tries a rung only where it passed at least once on the one below. A rung "
    "is held where it, and every rung below, is passed on more than half of its instances, "
    "with confidence. Certified are the queries that learners by statistical queries need when "
    "answers are the worst, and the labels that any learner needs; vacuous bounds are left out.",
}
_TITLES = {
    "scaling": "Growth of costs on",
    "risks": "Risks on",
}


def charts(
    material: Material, grown: Sequence[tuple[Slice, Scaling]]
) -> tuple[list[Chart], list[str]]:
    """Make the charts of all sections, at most `MOST` each, and name the commands of the others.

    grown: slices in the order in which they are shown, with their fitted growth.
    """
    every = [one for one, _ in grown]
    fitted = [(one, found) for one, found in grown if any(fit.growth for fit in found.fits)]
    staged = [one for one in every if staged_runs(one)]
    sections: list[tuple[str, Sequence[Any], Callable[[Material, Any, int], Chart]]] = [
        ("both-sides", every, _both_sides),
        ("stress", material.climbs, _climbs),
        ("phase", sorted(material.diagrams, key=lambda one: -len(one.rows)), _phase),
        ("scaling", fitted, _scaling),
        ("stages", staged, _stages),
        ("risks", [one for one in every if not one.comparison.certificates], _risks),
    ]
    found: list[Chart] = []
    left_out: list[str] = []
    for name, parts, make in sections:
        found += [make(material, part, place) for place, part in enumerate(parts[:MOST], 1)]
        for part in parts[MOST:]:
            words, choice = _named(name, part)
            if name != "stages":
                drawn = command(material.source, name, choice)
                left_out.append(f"figure {name} of {words}: {drawn}")
    return found, left_out


def _named(name: str, part: Any) -> tuple[str, str]:
    """What tells a part from the others, in words and as a choice."""
    if name == "stress":
        return part[0], part[0]
    one = part[0] if isinstance(part, tuple) else part
    return one.words, one.choice


def command(source: str, name: str, choice: str) -> str:
    """Write the command that draws a figure again, quoted for a shell."""
    chosen = ["--slice", choice] if choice else []
    return shlex.join(["hardness", "figure", name, source, *chosen, "--out", f"{name}.svg"])


def _both_sides(material: Material, one: Slice, place: int) -> Chart:
    comparison = one.comparison
    terms = comparison.terms
    caption = _SAY["both-sides"].format(success=terms.success)
    if comparison.certificates:
        asker = ASKER[query_bound(comparison.certificates) or "csq-queries"]
        caption += _SAY["bound"].format(
            asker=asker, risk=terms.risk, success=terms.success, tau=terms.tau
        )
    else:
        caption += _SAY["no bound"].format(why=one.uncertified or "its families have none")
    return Chart(
        key=f"both-sides-{place}",
        name="both-sides",
        section="both-sides",
        title=f"Both sides of {comparison.spec}",
        caption=caption,
        data=of_both_sides(comparison),
        command=command(material.source, "both-sides", one.choice),
        choice=one.words,
    )


def _climbs(material: Material, named: tuple[str, Callable[[], Data]], place: int) -> Chart:
    name, collect = named
    data = collect()
    choice = name if material.store else ""
    return Chart(
        key=f"climbs-{place}",
        name="stress",
        section="climbs",
        title=f"Climbs: {data['family']}",
        caption=_SAY["stress"],
        data=data,
        command=command(material.source, "stress", choice),
        choice=name,
    )


def _scaling(material: Material, grown: tuple[Slice, Scaling], place: int) -> Chart:
    one, found = grown
    return _chart(material, one, place, "scaling", of_scaling(one.comparison, found))


def _risks(material: Material, one: Slice, place: int) -> Chart:
    return _chart(material, one, place, "risks", of_risks(one.comparison))


def _chart(material: Material, one: Slice, place: int, name: str, data: Data) -> Chart:
    why = one.uncertified or "No bound is claimed for these families"
    parts = (one.words, "risks" if name == "risks" else "")
    return Chart(
        key=f"{name}-{place}",
        name=name,
        section="both-sides" if name == "risks" else name,
        title=f"{_TITLES[name]} {one.comparison.spec}",
        caption=_SAY[name].format(why=why[:1].upper() + why[1:]),
        data=data,
        command=command(material.source, name, one.choice),
        choice=", ".join(filter(None, parts)),
    )


def _phase(material: Material, plane: Plane, place: int) -> Chart:
    data = of_phase(plane, material.certifier)
    return Chart(
        key=f"phase-{place}",
        name="phase",
        section="phase",
        title=f"Phase diagram of {data['spec']}",
        caption=phase_caption(data),
        data=data,
        command=command(material.source, "phase", plane.choice if material.store else ""),
        choice=plane.words,
    )


def phase_caption(data: Data) -> str:
    """Say what the cells of a phase diagram are, and what its hatching does and does not say."""
    said = (
        f"A cell is solved where at least {data['share']} of its runs passed in time, partly where "
        "fewer did; the numbers are runs that passed, of all. Runs that the machine ended, or that "
        "could not run, count as not passed."
    )
    if not data["quantity"]:
        return f"{said} Nothing is hatched: {data['uncertified'] or 'no bound is claimed'}."
    kind = "statistical" if data["quantity"] == "stat-queries" else "correlational"
    budget = f"{data['query_budget']:,}"
    whose = "the runs' own" if data["budget_given"] else "assumed, for none is known of the runs"
    if not any(found > data["query_budget"] for found in needed(data).values()):
        return (
            f"{said} Nothing is hatched: no certified number is above a budget of {budget} queries "
            f"({whose}), for {kind}-query learners, relative risk {data['risk']}, probability "
            f"{data['success']} over the members and worst answers within {data['tau']}."
        )
    why = data["uncertified"]
    some = f"For some cells there is no bound: {why}. " if why else ""
    return (
        f"{said} Certified infeasible at a budget of {budget} queries ({whose}): {kind}-query "
        f"learners need more, to reach relative risk {data['risk']} with probability "
        f"{data['success']} over the members against worst answers within {data['tau']}. "
        f"{some}Such cells are hatched for learners known to ask statistical queries alone, where "
        "the bound is on all such queries. The bound says nothing of other learners: their panels "
        "have its dashed edge alone. A solved cell in a hatched region contradicts nothing: the "
        "answers to the runs were honest."
    )


def _stages(material: Material, one: Slice, place: int) -> Chart:
    """Draw the stages in one run of a slice, which `staged_runs` has found."""
    run = staged_runs(one)[0]
    learn = ["hardness", "learn", run.learner, run.spec, "--seed", str(run.seed)]
    for name in ("examples", "seconds"):
        given = getattr(run.budget, name)
        learn += [f"--budget-{name}", plain(given)] if given is not None else []
    draw = ["hardness", "figure", "stages", "run.json", "--out", "stages.svg"]
    return Chart(
        key=f"stages-{place}",
        name="stages",
        section="stages",
        title=f"Stages of {run.learner} on {run.spec}, seed {run.seed}",
        caption=_SAY["stages"],
        data=of_stages(run.to_dict()),
        command=f"{shlex.join([*learn, '--out', 'run.json'])} && {shlex.join(draw)}",
        choice=", ".join(filter(None, (one.words, run.spec))),
    )


def staged_runs(one: Slice) -> list[Run]:
    """Find the run of median risk of the staged learner at the largest size where it has one.

    Runs that ended before a stage have no figure, and do not count.
    """
    for spec in reversed(one.comparison.specs):
        found = [run for run in one.comparison.runs if run.spec == spec and _is_staged(run)]
        found.sort(key=lambda run: (run.risk.value if run.risk else float("inf"), run.seed))
        if found:
            return [found[(len(found) - 1) // 2]]
    return []


def _is_staged(run: Run) -> bool:
    """Whether a run has what the figure of the stages shows."""
    if run.learner.partition(":")[0] != "staged":
        return False
    try:
        of_stages(run.to_dict())
    except DamagedFile:  # it ended before a stage, or is none of this package's
        return False
    return True
