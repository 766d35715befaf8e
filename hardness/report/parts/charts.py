"""The charts of a report: data, words and command of each; nothing is drawn."""

import shlex
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from hardness.compare.planes import Plane
from hardness.compare.run import Run
from hardness.compare.scaling import Scaling
from hardness.compare.slices import Slice
from hardness.compare.store.rows import FigureRow
from hardness.report.figure import of_both_sides
from hardness.report.parts.climbs import of_climbs
from hardness.report.parts.material import Material
from hardness.report.parts.records import Cell, Chart, Table
from hardness.report.parts.tables import succeeded
from hardness.report.phase import infeasible, of_phase
from hardness.report.risks import of_risks
from hardness.report.scaling_figure import of_scaling
from hardness.report.stages import of_dial, of_run
from instances.errors import DamagedFile
from instances.parameters import plain

Data = dict[str, Any]
MOST = 12  # charts of a section
_SAY = {
    "both-sides": "Each mark is a run: filled where its risk passed, in time or not, hollow where "
    "it did not, at what it spent. A line joins the costs that {success} of a learner's runs "
    "stayed within, where all of them passed.",
    "bound": " The dashed line is certified: {asker} must be allowed that many queries to reach "
    "relative risk {risk} with probability {success} over the members, whatever the answers within "
    "{tau}. It is about such learners alone, and about worst answers: runs had honest ones, and "
    "may lie below it. The dotted line is the least number of examples for any learner.",
    "no bound": " No bound is drawn: {why}.",
    "scaling": "Lines are laws fitted to the logarithms of costs over the sizes where every run "
    "passed; they say nothing of larger sizes.",
    "risks": "The median of the relative risk with the range over the runs: 1 is having learned "
    "nothing, and a run passes where the whole 95 % interval of its risk is below 0.05. {why}.",
    "stages": "What the stages of the provable learner saw in the run of median risk: eigenvalues "
    "with the gap that counts the heads, residuals with what was accepted, and the error on "
    "held-out examples after each stage.",
    "dial": "The error on held-out examples after each stage of the provable learner, and the "
    "risk, medians over the runs; below each size, how many runs its diagnosis flagged.",
}


def command(source: str, name: str, choice: str) -> str:
    """Write the command that draws a figure again, quoted for a shell."""
    chosen = ["--slice", choice] if choice else []
    return shlex.join(["hardness", "figure", name, source, *chosen, "--out", f"{name}.svg"])


def charts(
    material: Material, grown: Sequence[tuple[Slice, Scaling]]
) -> tuple[list[Chart], list[str]]:
    """Make the charts of all sections, at most `MOST` each, and name the commands of the others.

    grown: slices in the order in which they are shown, with their fitted growth.
    """
    every = [one for one, _ in grown]
    fitted = [(one, found) for one, found in grown if any(fit.growth for fit in found.fits)]
    staged = [one for one in every if _staged(one)]
    sections: list[tuple[str, list[Any], Callable[[Material, Any, int], Chart]]] = [
        ("both-sides", every, _both_sides),
        ("stress", list(material.climbs), _climbs),
        ("phase", _by_size(material.diagrams), _phase),
        ("scaling", fitted, _scaling),
        ("stages", staged, _stages),
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


def _by_size(found: Iterable[tuple[Plane, int]]) -> list[tuple[Plane, int]]:
    return sorted(found, key=lambda one: -len(one[0].rows))


def _both_sides(material: Material, one: Slice, place: int) -> Chart:
    comparison = one.comparison
    terms = comparison.terms
    caption = _SAY["both-sides"].format(success=terms.success)
    data = of_both_sides(comparison)
    if comparison.certificates:
        bound = "stat-queries"
        names = [{c.quantity for c in found.claims} for found in comparison.certificates]
        asker = "a statistical-query learner"
        if not all(bound in each for each in names):
            asker = "a learner by correlational queries"
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
            *(plain(place[run.spec]), run.learner, _seed(run), run.outcome.value),
            *(run.risk.value if run.risk else None, run.usage.queries, run.usage.examples),
            run.usage.seconds,
        )
        for run in comparison.runs
    ]
    return Table(header=(*header, "queries", "examples", "time (s)"), rows=tuple(rows))


def _phase(material: Material, found: tuple[Plane, int], place: int) -> Chart:
    plane, part = found
    data = of_phase(plane, material.certifier, part)
    cells = [
        (one["learner"], data["xs"][j], data["ys"][i], cell, data["certified"][i][j], i, j)
        for one in data["learners"]
        for i, line in enumerate(one["cells"])
        for j, cell in enumerate(line)
        if cell
    ]
    rows: list[tuple[Cell, ...]] = [
        (
            *(learner, x, y if data["y"] else None, cell["state"], cell["passed"], cell["runs"]),
            bound["queries"] if bound else None,
            "yes" if infeasible(data, i, j) else "no",
        )
        for learner, x, y, cell, bound, i, j in cells
    ]
    header = ("learner", data["x"], data["y"] or "-", "state", "passed", "runs")
    certified = ("certified queries", "certified above the budget of queries")
    counts = {s: sum(c[3]["state"] == s for c in cells) for s in ("solved", "partly", "not solved")}
    said = ", ".join(f"{number} {state}" for state, number in counts.items())
    return Chart(
        key=f"phase-{place}",
        name="phase",
        section="phase",
        title=f"Phase diagram of {data['spec']}",
        caption=phase_caption(data),
        alt=f"{len(data['learners'])} panels, one a learner, over {data['x']}"
        + (f" and {data['y']}" if data["y"] else "")
        + f": {said}.",
        data=data,
        table=Table(header=(*header, *certified), rows=tuple(rows)),
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
    budget = f"{data['query_budget']:,}".replace(",", " ")
    whose = "the runs' own" if data["budget_given"] else "assumed, for none is known of the runs"
    rows, columns = len(data["ys"]), len(data["xs"])
    if not any(infeasible(data, i, j) for i in range(rows) for j in range(columns)):
        return (
            f"{said} Nothing is hatched: no certified number is above a budget of {budget} queries "
            f"({whose}), for {kind}-query learners, relative risk {data['risk']}, probability "
            f"{data['success']} over the members and worst answers within {data['tau']}."
        )
    why = data["uncertified"]
    some = f"For some cells there is no bound: {why}. " if why else ""
    return (
        f"{said} Certified infeasible at a budget of {budget} queries ({whose}): {kind}-query "
        f"learners must be allowed more, to reach relative risk {data['risk']} with probability "
        f"{data['success']} over the members against worst answers within {data['tau']}. "
        f"{some}Such cells are hatched for learners known to ask statistical queries alone, where "
        "the bound is on all such queries. The bound says nothing of other learners: their panels "
        "have its dashed edge alone. A solved cell in a hatched region contradicts nothing: the "
        "answers to the runs were honest."
    )


def _climbs(material: Material, figure: FigureRow, place: int) -> Chart:
    data = of_climbs(figure, material.rows, material.certifier)
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
        "with confidence. Certified numbers are about statistical-query learners and "
        "worst answers.",
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
        (plain(value), name, _seed(run), run.risk.value if run.risk else None, run.usage.examples)
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
        choice=_joined(one.words, "risks" if name == "risks" else ""),
    )


def _stages(material: Material, one: Slice, place: int) -> Chart:
    run = _staged(one)[0]
    data = of_run(run.to_json())
    rows: list[tuple[Cell, ...]] = [
        (error["stage"], error["examples"], error["error"]) for error in data["errors"]
    ]
    learn = ["hardness", "learn", run.learner, run.spec, "--seed", str(run.seed)]
    for name in ("examples", "seconds"):
        given = getattr(one.budget, name)
        learn += [f"--budget-{name}", plain(given)] if given is not None else []
    draw = ["hardness", "figure", "stages", "run.json", "--out", "stages.svg"]
    return Chart(
        key=f"stages-{place}",
        name="stages",
        section="stages",
        title=f"Stages of {run.learner} on {run.spec}, seed {run.seed}",
        caption=_SAY["stages"],
        alt=f"{data['heads']} heads; {len(data['eigenvalues'])} eigenvalues; errors after "
        + ", ".join(f"{stage} {error:.2g}" for stage, _, error in rows)
        + ".",
        data=data,
        table=Table(header=("stage", "examples", "relative squared error"), rows=tuple(rows)),
        command=f"{shlex.join([*learn, '--out', 'run.json'])} && {shlex.join(draw)}",
        choice=_joined(one.words, run.spec),
    )


def _staged(one: Slice) -> list[Run]:
    """The run of median risk of the staged learner at the largest size where it has one."""
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
        of_run(run.to_json())
    except DamagedFile:  # it ended before a stage, or is none of this package's
        return False
    return True


def _seed(run: Run) -> Cell:
    return run.seed if run.seed < 2**53 else str(run.seed)


def _over(one: Slice) -> str:
    values = one.comparison.values
    return f"{one.comparison.parameter} = {plain(values[0])} to {plain(values[-1])}"


def _passed(one: Slice) -> str:
    counted = {name: [0, 0] for name in one.comparison.learner_names}
    for row in one.rows:
        counted[row.run.learner][0] += succeeded(row)
        counted[row.run.learner][1] += 1
    return ", ".join(f"{name} passed {done} of {of}" for name, (done, of) in counted.items())


def _joined(*parts: str) -> str:
    return ", ".join(filter(None, parts))
