"""The charts of a report: data, words and command of each; nothing is drawn."""

from collections.abc import Callable, Sequence
from typing import Any

from hardness.report.charts.runs import of_both_sides
from hardness.report.parts.chart_words import command, joined, seed_cell
from hardness.report.parts.climbs import of_climbs
from hardness.report.parts.material import Material
from hardness.report.parts.phase_chart import phase_chart
from hardness.report.parts.records import Cell, Chart, Table
from hardness.report.parts.stage_chart import stage_chart, staged_runs
from hardness.report.risks import of_risks
from hardness.report.scaling_figure import of_scaling
from hardness.report.stages import of_dial
from hardness.report.summary import ASKER
from hardness.runs.certified import query_bound
from hardness.runs.fits import Scaling
from hardness.runs.rows import FigureRow
from hardness.runs.table import Slice
from instances.parameters import plain

Data = dict[str, Any]
MOST = 8  # charts of a kind: more are neither read nor drawn in a few seconds
_SAY = {
    "both-sides": "Each mark is a run: filled where its risk passed, in time or not, hollow where "
    "it did not, at what it spent. A line joins the costs that {success} of a learner's runs "
    "stayed within, where all of them passed.",
    "bound": " The dashed line is certified: {asker} must be allowed that many queries to reach "
    "relative risk {risk} with probability {success} over the members, whatever the answers within "
    "{tau}. It is about such learners alone, and about worst answers: runs had honest ones, and "
    "may lie below it. The dotted line is the least number of examples for any learner. Vacuous "
    "bounds, as of 1 or 2 queries, are not drawn.",
    "no bound": " No bound is drawn; {why}.",
    "scaling": "Lines are laws fitted to the logarithms of costs over the sizes where every run "
    "passed; they say nothing of larger sizes.",
    "risks": "The median of the relative risk with the range over the runs: 1 is having learned "
    "nothing, and a run passes where the whole 95 % interval of its risk is below 0.05. {why}.",
    "dial": "The error on held-out examples after each stage of the provable learner, and the "
    "risk, medians over the runs that came so far; below each size, how many runs its diagnosis "
    "flagged.",
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
    sections: list[tuple[str, list[Any], Callable[[Material, Any, int], Chart]]] = [
        ("both-sides", every, _both_sides),
        ("stress", list(material.climbs), _climbs),
        ("phase", sorted(material.diagrams, key=lambda one: -len(one.rows)), phase_chart),
        ("scaling", fitted, _scaling),
        ("stages", staged, stage_chart),
        ("dial", [one for one in staged if len(one.comparison.values) > 1], _dial),
        ("risks", [one for one in every if not one.comparison.certificates], _risks),
    ]
    found: list[Chart] = []
    left_out: list[str] = []
    for name, parts, make in sections:
        found += [make(material, part, place) for place, part in enumerate(parts[:MOST], 1)]
        for part in parts[MOST:]:
            if isinstance(part, FigureRow):
                left_out.append(
                    f"figure stress of {part.name}: {command(material.source, name, part.name)}"
                )
                continue
            one = part[0] if isinstance(part, tuple) else part
            if name != "stages":
                left_out.append(
                    f"figure {name} of {one.words}: {command(material.source, name, one.choice)}"
                )
    return found, left_out


def _both_sides(material: Material, one: Slice, place: int) -> Chart:
    comparison = one.comparison
    terms = comparison.terms
    caption = _SAY["both-sides"].format(success=terms.success)
    data = of_both_sides(comparison)
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
        alt=f"Costs of {len(comparison.runs)} runs over {_over(one)}; {_passed(one)}.",
        data=data,
        table=_run_costs(one),
        command=command(material.source, "both-sides", one.choice),
        choice=one.words,
    )


def _run_costs(one: Slice) -> Table:
    comparison = one.comparison
    place = dict(zip(comparison.specs, comparison.values, strict=True))
    header = (comparison.parameter, "learner", "seed", "outcome", "risk")
    rows: list[tuple[Cell, ...]] = [
        (
            *(plain(place[run.spec]), run.learner, seed_cell(run), run.outcome.value),
            *(run.risk.value if run.risk else None, run.usage.queries, run.usage.examples),
            run.usage.seconds,
        )
        for run in comparison.runs
    ]
    return Table(header=(*header, "queries", "examples", "time (s)"), rows=tuple(rows))


def _climbs(material: Material, figure: FigureRow, place: int) -> Chart:
    data = of_climbs(figure, material.runs["run"], material.certifier)
    rows: list[tuple[Cell, ...]] = [
        (
            *(learner["learner"], rung, point["passes"], point["trials"]),
            *(point["examples"], point["queries"], point["seconds"]),
        )
        for learner in data["learners"]
        for rung, point in enumerate(learner["points"], 1)
    ]
    costs = ("examples, median", "queries, median", "time (s), median")
    held = ", ".join(f"{x['learner']} holds {x['held']}" for x in data["learners"])
    return Chart(
        key=f"climbs-{place}",
        name="stress",
        section="climbs",
        title=f"Climbs: {data['family']}",
        caption="How far each learner climbed, and the median cost of the runs that passed on each "
        "rung. A learner tries a rung only where it passed at least once on the one below. A rung "
        "is held where it, and every rung below, is passed on more than half of its instances, "
        "with confidence. The grey bar is the budget of a rung. Dashed lines are the queries that "
        "a learner by statistical queries must be allowed when answers are the worst, dotted ones "
        "the examples that any learner must be allowed, both certified; vacuous ones are left out.",
        alt=f"Rungs 1 to {len(data['rungs'])}: {held}.",
        data=data,
        table=Table(header=("learner", "rung", "passed", "runs", *costs), rows=tuple(rows)),
        command=command(material.source, "stress", figure.name),
        choice=figure.name,
    )


def _scaling(material: Material, grown: tuple[Slice, Scaling], place: int) -> Chart:
    one = grown[0]
    data = of_scaling(one.comparison, grown[1])
    rows: list[tuple[Cell, ...]] = [
        (fit["learner"], fit["cost"], p["place"], p["cost"], "yes" if p["counts"] else "no")
        for fit in data["fits"]
        for p in fit["points"]
    ]
    header = ("learner", "unit", one.comparison.parameter, "cost", "in the fit")
    fits = [f for f in data["fits"] if f["power"]]
    said = "; ".join(
        f"{f['cost']} of {f['learner']}: exponent {f['power']['rate']:.2f} "
        f"[{f['power']['low']:.2f}, {f['power']['high']:.2f}], {f['verdict']}"
        for f in fits
    )
    return _chart(
        material, one, place, "scaling", data, Table(header=header, rows=tuple(rows)), said
    )


def _risks(material: Material, one: Slice, place: int) -> Chart:
    comparison = one.comparison
    rows: list[tuple[Cell, ...]] = [
        (
            plain(value),
            name,
            seed_cell(run),
            run.risk.value if run.risk else None,
            run.usage.examples,
        )
        for name in comparison.learner_names
        for value in comparison.values
        for run in comparison.of(name, value)
    ]
    header = (comparison.parameter, "learner", "seed", "risk", "examples")
    table = Table(header=header, rows=tuple(rows))
    return _chart(material, one, place, "risks", of_risks(comparison), table, _passed(one))


def _dial(material: Material, one: Slice, place: int) -> Chart:
    data = of_dial(one.comparison)
    rows: list[tuple[Cell, ...]] = [
        (value, stage, errors[i])
        for stage, errors in [*data["errors"].items(), ("risk", data["risk"])]
        for i, value in enumerate(data["values"])
    ]
    header = (one.comparison.parameter, "after the stage", "relative squared error, median")
    return _chart(
        material, one, place, "dial", data, Table(header=header, rows=tuple(rows)), _passed(one)
    )


def _chart(
    material: Material, one: Slice, place: int, name: str, data: Data, table: Table, said: str
) -> Chart:
    titles = {
        "scaling": "Growth of costs on",
        "risks": "Risks on",
        "dial": "The stages of the provable learner on",
    }
    why = one.uncertified or "No bound is claimed for these families"
    return Chart(
        key=f"{name}-{place}",
        name=name,
        section="stages" if name == "dial" else "both-sides" if name == "risks" else name,
        title=f"{titles[name]} {one.comparison.spec}",
        caption=_SAY[name].format(why=why[:1].upper() + why[1:]),
        alt=f"{titles[name]} {one.comparison.spec} over {_over(one)}: {said}.",
        data=data,
        table=table,
        command=command(material.source, name, one.choice),
        choice=joined(one.words, "risks" if name == "risks" else ""),
    )


def _over(one: Slice) -> str:
    values = one.comparison.values
    return f"{one.comparison.parameter} = {plain(values[0])} to {plain(values[-1])}"


def _passed(one: Slice) -> str:
    counted = {name: [0, 0] for name in one.comparison.learner_names}
    for row in one.rows:
        counted[row.learner][0] += row.solved
        counted[row.learner][1] += 1
    return ", ".join(f"{name} passed {done} of {of}" for name, (done, of) in counted.items())
