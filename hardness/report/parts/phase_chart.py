"""The chart of a phase diagram: its table, and what its hatching does and does not say."""

from hardness.claims.vacuous import WORD
from hardness.report.parts.chart_words import command
from hardness.report.parts.material import Material
from hardness.report.parts.records import Cell, Chart, Table
from hardness.report.phase import Data, certified_queries, infeasible, of_phase
from hardness.runs.table import Plane


def phase_chart(material: Material, plane: Plane, place: int) -> Chart:
    """Make the chart of a plane of runs, or of a part of its learners."""
    data = of_phase(plane, material.certifier)
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
            None if bound is None else certified_queries(data, i, j) or WORD,
            "yes" if infeasible(data, i, j) else "no",
        )
        for learner, x, y, cell, bound, i, j in cells
    ]
    header = ("learner", data["x"], data["y"] or "-", "state", "passed", "runs")
    certified = ("certified queries", "certified above the budget of queries")
    states = ("solved", "partly", "not solved", "could not run")
    counts = {s: sum(cell[3]["state"] == s for cell in cells) for s in states}
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
    budget = f"{data['query_budget']:,}"
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
