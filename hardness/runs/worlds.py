"""Runs that may stand in one comparison: of one family, within one budget, asked in one way."""

from collections import Counter
from collections.abc import Iterable

from hardness.runs.choices import Fixed
from hardness.runs.run import Run
from instances.parameters import plain

_ORIGIN = ("sha256", "package")  # of details: what a learner of one's own is


def worlds(runs: Iterable[Run]) -> list[tuple[Fixed, list[Run]]]:
    """Group runs that differ in spec, learner and seed alone, but for the family's name."""
    groups: dict[Fixed, list[Run]] = {}
    for row in runs:
        family = row.spec.partition(":")[0]
        budget = tuple((k, "none" if v is None else plain(v)) for k, v in vars(row.budget).items())
        revision = str(row.revisions.get("family", "unknown"))
        key = (("family", family), *budget, ("family revision", revision))
        groups.setdefault(key, []).append(row)
    found = []
    for key, rows in groups.items():
        usual = _usual_answers(rows)
        parts: dict[Fixed, list[Run]] = {}
        versions = _versions(rows)
        for row in rows:
            learner = row.learner
            place = versions[learner].index(version_of(row))
            apart = () if not place else (("of", f"{learner} {version_words(version_of(row))}"),)
            asked = answers(row) or usual
            parts.setdefault((*key, *asked, *apart), []).append(row)
        found += list(parts.items())
    return found


def answers(row: Run) -> Fixed:
    """How queries of a run were answered; empty where its learner asks none."""
    details = row.details
    said = {name: details[name] for name in ("oracle", "tau") if name in details}
    return tuple((name, str(value)) for name, value in said.items())


def _usual_answers(rows: list[Run]) -> Fixed:
    counted = Counter(filter(None, map(answers, rows)))
    return min(counted, key=lambda answers: (-counted[answers], answers)) if counted else ()


def version_of(row: Run) -> tuple[int, str]:
    """Tell a learner's revision, and of a learner of one's own which file or package it is."""
    origin = [str(row.details[name]) for name in _ORIGIN if name in row.details]
    return row.revisions.get("learner", -1), " ".join(origin)


def _versions(rows: list[Run]) -> dict[str, list[tuple[int, str]]]:
    """The versions of each learner: the latest revision first, of files the one of most runs."""
    counted: dict[str, Counter[tuple[int, str]]] = {}
    for row in rows:
        counted.setdefault(row.learner, Counter())[version_of(row)] += 1
    return {
        learner: sorted(every, key=lambda v: (-v[0], -every[v], v[1]))
        for learner, every in counted.items()
    }


def version_words(version: tuple[int, str]) -> str:
    """Write a version, as "revision 1 4dadd984".

    >>> version_words((2, ""))
    'revision 2'
    """
    revision, origin = version
    return f"revision {revision}" + (f" {origin[:16]}" if origin else "")
