"""A page from a comparison, a store or a stress test: all that it says, and nothing laid out."""

import shlex
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path

from hardness.report.charts.runs import both_sides, of_least
from hardness.report.figures import draw
from hardness.report.page.charts import charts
from hardness.report.page.facts import cards, facts
from hardness.report.page.material import (
    Card,
    Chart,
    Material,
    Report,
    Reproduction,
    digest,
    material_of,
    of_comparison,
)
from hardness.report.page.tables import (
    diagnoses,
    growth,
    learner_rows,
    least,
    rungs,
    runs_table,
)
from hardness.report.page.write import write
from hardness.report.text import count
from hardness.runs import Comparison
from hardness.runs.groups import Line
from hardness.runs.least import Least
from hardness.runs.names import brief_spec
from hardness.runs.run import Run
from hardness.runs.stress import Stress
from instances import numbers
from instances.disk import damage, write_bytes, write_text
from instances.ladders import LADDERS, ladder_of


def report_of(path: Path) -> Report:
    """Make the report of what `compare`, `sweep` or `stress` wrote; raises DamagedFile."""
    material = material_of(path)
    with damage(path):
        return report(material)


def report_of_comparison(comparison: Comparison, source: str, sha256: str = "") -> Report:
    """Make the report of a comparison; source: where it lies, for the commands.

    >>> from hardness.runs import compare
    >>> found = compare("parity:m=2", "d=6..8", ("elimination", "trivial"), seeds=2)
    >>> made = report_of_comparison(found, "out")
    >>> made.title, len(made.runs), [chart.name for chart in made.charts]
    ('Both sides of parity:m=2', 12, ['both-sides'])
    """
    return report(of_comparison(comparison, source, sha256))


def report(material: Material) -> Report:
    """Say all that follows from the material."""
    ordered = sorted(material.lines, key=_interest)
    drawn, not_drawn = charts(material, ordered)
    shown, not_shown = cards(material)
    runs = list(material.runs["run"])
    return Report(
        title=_title(material),
        source=material.source,
        facts=facts(material, ordered),
        charts=tuple(drawn),
        learners=learner_rows(runs),
        runs=runs_table(runs),
        cards=tuple(shown),
        diagnoses=tuple(diagnoses(runs)),
        growth=tuple(growth(line) for line in ordered if line.comparison.scaling.laws),
        rungs=tuple(rungs(name, climbed) for name, climbed in material.climbs.items()),
        least=tuple(least(name, found) for name, found in material.least.items()),
        reproduce=reproduction(material, drawn, shown),
        provenance=provenance(material),
        left_out=(*not_drawn, *not_shown),
    )


def _title(material: Material) -> str:
    if material.stress:
        return f"Climbs of {material.stress.ladder.title}"
    if not material.store:
        return f"Both sides of {material.lines[0].comparison.spec}"
    return material.name or Path(material.source).name


def _interest(line: Line) -> tuple[bool, bool]:
    """Those over several sizes first, of these those with a bound; else in their own order."""
    return len(line.comparison.values) < 2, not line.comparison.certificates


def page(
    comparison: Comparison,
    source: str = "results.json",
    sha256: str = "",
    least: tuple[Least, ...] = (),
) -> str:
    """Render the page of a comparison.

    source: where it lies, for the commands. sha256: of its file, in hexadecimal. least: thresholds
    beside it.
    """
    return write(report(of_comparison(comparison, source, sha256, least)))


def save(
    folder: Path,
    comparison: Comparison,
    name: str,
    force: bool = False,
    thresholds: tuple[Least, ...] = (),
) -> None:
    """Write results.json, figure.svg and report.html into a folder, which will be called `name`.

    Thresholds, where there are any, go to least-examples.json and the like, and to least.svg.
    """
    results = folder / "results.json"
    comparison.save(results, force=force)
    write_bytes(folder / "figure.svg", both_sides(comparison), force=force)
    for one in thresholds:
        one.save(folder / f"least-{one.unit}.json", force=force)
    if thresholds:
        write_bytes(folder / "least.svg", draw("least", of_least(*thresholds)), force=force)
    made = page(comparison, name, digest(results), thresholds)
    write_text(folder / "report.html", made, force=force)


def provenance(material: Material) -> tuple[tuple[str, str], ...]:
    """Name the package, the source with its SHA-256, machines, versions and seeds."""
    runs = list(material.runs["run"])
    entries = [
        ("made with", f"hardness {version('hardness-toolkit')}"),
        ("source", material.source),
    ]
    entries += [("SHA-256 of the source", material.sha256)] if material.sha256 else []
    entries += [("machine", words) for words in _counted(row.machine for row in runs)]
    entries += _versions([row.versions for row in runs], "version of {}", "not known")
    entries += _versions([_libraries(row) for row in runs], "version of {}, as learners said", "")
    if stress := material.stress:
        where = "drawn from the operating system" if stress.drawn else "given"
        entries.append(("base seed", f"{stress.base_seed}, {where}: all seeds follow from it"))
    elif runs:
        seeds = {row.seed for row in runs}
        entries.append(("seeds", f"{len(seeds)}, from {min(seeds)} to {max(seeds)}"))
    files = {(row.learner, str(row.details["sha256"])) for row in runs if "sha256" in row.details}
    entries += [(f"SHA-256 of {name}", words) for name, words in sorted(files)]
    ran = {(row.learner, str(row.details["process"])) for row in runs if "process" in row.details}
    entries += [(f"process of {name}", words) for name, words in sorted(ran)]
    if material.store:
        ended = Counter(row.bound for row in runs)
        entries += [("runs ended by", f"{bound}: {n}") for bound, n in sorted(ended.items())]
    return tuple(entries)


def _versions(every: Sequence[Mapping[str, str]], head: str, unknown: str) -> list[tuple[str, str]]:
    """Say of each library in which versions it was there, with how many runs it is of."""
    return [
        (head.format(name), said)
        for name in sorted({name for one in every for name in one})
        for said in _counted(filter(None, (one.get(name, unknown) for one in every)))
    ]


def reproduction(
    material: Material, charts: Iterable[Chart], cards: Iterable[Card]
) -> tuple[Reproduction, ...]:
    """List the commands that make the runs, figures, tables and certificates again."""
    found = []
    if material.stress and (again := _climbed(material.stress)):
        found.append(Reproduction(makes="the runs, from their base seed", command=again))
    if _ours(material.command):
        found.append(Reproduction(makes="the runs", command=material.command))
    for one in charts:
        told = f"{one.title} ({one.choice})" if one.choice else one.title
        found.append(Reproduction(makes=told, command=one.command))
    found += [Reproduction(makes=f"the certificate of {c.spec}", command=c.command) for c in cards]
    return tuple(found)


def _libraries(run: Run) -> dict[str, str]:
    """What a learner from a file says that it loaded, with versions."""
    said = run.details.get("reported")
    found = said.get("libraries") if isinstance(said, dict) else None
    return {str(k): str(v) for k, v in found.items()} if isinstance(found, dict) else {}


def _climbed(found: Stress) -> str:
    """Write the command that climbs again on the same instances; empty where none does."""
    ladder = found.ladder
    words = ["hardness", "stress"]
    for climb in found.climbs:
        words += ["--reference" if climb.reference else "--learner", climb.asked]
    if not any(climb.reference for climb in found.climbs):
        words += ["--reference", "none"]
    if ladder.name in LADDERS:
        words += ["--ladder", ladder.name]
    elif ladder == ladder_of(ladder.specs):
        words += [word for spec in ladder.specs for word in ("--on", brief_spec(spec))]
    else:  # with budgets of its own
        return ""
    words += ["--seeds", str(found.seeds), "--seed", str(found.base_seed)]
    names = {"cpu_seconds": "cpu", "memory_bytes": "memory"}
    for name, value in vars(found.budget).items():
        if value is not None:
            words += [f"--budget-{names.get(name, name)}", numbers.write(value)]
    return shlex.join(words)


def _ours(command: str) -> bool:
    """Return whether a text is one command of ours: a reader may paste it into a shell."""
    try:
        words = shlex.split(command)
    except ValueError:
        return False
    return words[:1] == ["hardness"] and shlex.join(words) == command


def _counted(texts: Iterable[str]) -> list[str]:
    """Write each text with how many runs it is of, the most frequent first."""
    found = Counter(texts)
    return [f"{text} ({count(n, 'run')})" for text, n in found.most_common()]
