"""The runs of a store cut into comparisons, each over one parameter with all else fixed.

Nothing of a learner's or a family's file is executed: names in a store are data.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from hardness.compare.both import Comparison
from hardness.compare.certified import Certifier, terms_of
from hardness.compare.lines import Point, lines, point_of
from hardness.compare.ranges import Value
from hardness.compare.store.rows import CertificateRow, RunRow
from hardness.oracles import Budget
from hardness.upper import LEARNERS, parse_learner
from instances.errors import UsageError
from instances.parameters import brief, plain, split_list
from instances.spec import FAMILIES, parse_stored

Fixed = tuple[tuple[str, str], ...]
_UNITS = {
    "examples": "{} examples",
    "queries": "{} queries",
    "seconds": "{} s",
    "cpu_seconds": "{} s of CPU",
    "memory_bytes": "{} bytes of memory",
    "oracle": "{} answers",
}
_ORIGIN = ("sha256", "package")  # of details: what a learner of one's own is


@dataclass(frozen=True, kw_only=True)
class Slice:
    """Runs over one parameter, with all that is fixed in them by name.

    choice: the part of `fixed` that tells it from the others of its store, as "m=3,noise=0".
    uncertified: why it has no certificates, empty where it has. rows: its runs with their budgets.
    """

    comparison: Comparison
    fixed: Fixed
    budget: Budget
    rows: tuple[RunRow, ...] = field(repr=False)
    uncertified: str = ""
    choice: str = ""

    @property
    def words(self) -> str:
        """What tells it from the others, in words, as "m = 3, noise = 0, 5 000 000 examples"."""
        kept = [pair for pair in self.fixed if f"{pair[0]}={pair[1]}" in split_choice(self.choice)]
        return ", ".join(fixed_words(*pair) for pair in kept)


def fixed_words(name: str, value: str) -> str:
    """Write one fixed quantity in words.

    >>> fixed_words("m", "3"), fixed_words("examples", "5000000"), fixed_words("over", "d")
    ('m = 3', '5 000 000 examples', 'over d')
    """
    if name in ("family", "over"):
        return value if name == "family" else f"over {value}"
    if value == "none" and name in _UNITS:
        return f"no limit of {name.replace('_', ' ')}"
    shown = f"{int(value):,}".replace(",", " ") if value.isdecimal() else value
    return _UNITS[name].format(shown) if name in _UNITS else f"{name} = {value}"


def slices(
    runs: Iterable[RunRow], certificates: Iterable[CertificateRow] = ()
) -> tuple[Slice, ...]:
    """Cut runs into slices: every run is in one of them, and in one alone.

    Runs of a slice agree in family, budget, and all parameters but one: that with the longest range
    of values, d or n first. Learners that ask queries agree in how these are answered; those that
    ask none stand with the answers that most of the others have. Of a learner of several revisions
    or files the latest stands with the others, earlier ones apart. Raises DamagedFile for a
    certificate that is not that of its spec.

    >>> slices([])
    ()
    """
    certifier = Certifier(certificates)
    found: list[Slice] = []
    for fixed, rows in _worlds(runs):
        points: dict[str, Point] = {}
        for row in rows:
            points.setdefault(row.run.spec, point_of(row.run.spec))
        by_spec: dict[str, list[RunRow]] = {}
        for row in rows:
            by_spec.setdefault(row.run.spec, []).append(row)
        for parameter, line in lines(list(points.values())):
            mine = [row for point in line for row in by_spec[point.spec]]
            found.append(_slice(parameter, line, mine, fixed, certifier))
    return _told_apart(found)


def chosen(found: Sequence[Slice], choice: str | None, source: str) -> Slice:
    """Return the slice that a choice as "m=3,noise=0" is about; raises UsageError for none."""
    if choice is None:
        kept = list(found)
    else:
        kept = [one for one in found if one.choice == choice.strip()]
        wanted = {_tight(part) for part in split_choice(choice)}
        kept = kept or [s for s in found if wanted <= {f"{k}={v}" for k, v in s.fixed}]
    if len(kept) == 1:
        return kept[0]
    if not found:
        raise UsageError(f"{source} given: the store holds no runs to draw: run a sweep into it")
    shown = "; ".join(f"'{one.choice}'" for one in (kept or found)[:20])
    more = f"; and {len(kept or found) - 20} more" if len(kept or found) > 20 else ""
    said = f"--slice '{choice[:100]}' given" if choice is not None else f"{source} given"
    count = "no slice" if not kept else f"{len(kept)} slices"
    of = "is that" if choice is not None else "are in it"
    raise UsageError(f"{said}: {count} {of}: give one with --slice, of {shown}{more}")


def split_choice(choice: str) -> list[str]:
    """Split "m=3,g=[1,2]" at its commas; one part where its brackets do not match."""
    try:
        return split_list(choice)
    except UsageError:
        return [choice]


def _tight(part: str) -> str:
    name, _, value = part.partition("=")
    return f"{name.strip()}={value.strip()}"


def _worlds(runs: Iterable[RunRow]) -> list[tuple[Fixed, list[RunRow]]]:
    """Group runs that differ in spec, learner and seed alone, but for the family's name."""
    groups: dict[Fixed, list[RunRow]] = {}
    for row in runs:
        family = row.run.spec.partition(":")[0]
        budget = tuple((k, "none" if v is None else plain(v)) for k, v in vars(row.budget).items())
        revision = str(row.run.revisions.get("family", "unknown"))
        key = (("family", family), *budget, ("family revision", revision))
        groups.setdefault(key, []).append(row)
    found = []
    for key, rows in groups.items():
        usual = _usual_answers(rows)
        parts: dict[Fixed, list[RunRow]] = {}
        versions = _versions(rows)
        for row in rows:
            learner = row.run.learner
            place = versions[learner].index(_version(row))
            apart = () if not place else (("of", f"{learner} {_said(_version(row))}"),)
            asked = _answers(row) or usual
            parts.setdefault((*key, *asked, *apart), []).append(row)
        found += list(parts.items())
    return found


def _answers(row: RunRow) -> Fixed:
    """How queries of a run were answered; empty where its learner asks none."""
    details = row.run.details
    said = {name: details[name] for name in ("oracle", "tau") if name in details}
    return tuple((name, str(value)) for name, value in said.items())


def _usual_answers(rows: list[RunRow]) -> Fixed:
    counted = Counter(filter(None, map(_answers, rows)))
    return min(counted, key=lambda answers: (-counted[answers], answers)) if counted else ()


def _version(row: RunRow) -> tuple[int, str]:
    origin = [str(row.run.details[name]) for name in _ORIGIN if name in row.run.details]
    return row.run.revisions.get("learner", -1), " ".join(origin)


def _versions(rows: list[RunRow]) -> dict[str, list[tuple[int, str]]]:
    """The versions of each learner: the latest revision first, of files the one of most runs."""
    counted: dict[str, Counter[tuple[int, str]]] = {}
    for row in rows:
        counted.setdefault(row.run.learner, Counter())[_version(row)] += 1
    return {
        learner: sorted(every, key=lambda v: (-v[0], -every[v], v[1]))
        for learner, every in counted.items()
    }


def _said(version: tuple[int, str]) -> str:
    revision, origin = version
    return f"revision {revision}" + (f" {origin[:16]}" if origin else "")


def _slice(
    parameter: str, line: tuple[Point, ...], rows: list[RunRow], fixed: Fixed, certifier: Certifier
) -> Slice:
    values: tuple[Value, ...] = tuple(point.numbers[parameter] for point in line)
    specs = tuple(point.spec for point in line)
    first = line[0]
    others = tuple((k, v) for k, v in first.texts.items() if k != parameter)
    answers = dict(fixed)
    terms = terms_of(answers.get("tau"))
    found = certifier.certify(specs, terms)
    learners = tuple(dict.fromkeys(row.run.learner for row in rows))
    counted = Counter((row.run.spec, row.run.learner) for row in rows)
    comparison = Comparison(
        spec=_brief(first, parameter),
        parameter=parameter,
        values=values,
        specs=specs,
        learners=tuple(short(name) for name in learners),
        canonical=learners,
        seeds=max(counted.values()),
        terms=found.terms,
        runs=tuple(row.run for row in rows),
        certificates=found.certificates,
    )
    own = fixed[:1] + others + (("over", parameter),) + fixed[1:]
    return Slice(
        comparison=comparison,
        fixed=own,
        budget=rows[0].budget,
        rows=tuple(rows),
        uncertified=found.why,
    )


def short(learner: str) -> str:
    """Write a learner's canonical name without its defaults; as it is, where it is none of ours.

    >>> short("lowdegree:degree=3,oversample=8"), short("mine.py:Net"), short("gone:a=1")
    ('lowdegree:degree=3', 'mine.py:Net', 'gone:a=1')
    """
    if learner.partition(":")[0] not in LEARNERS:
        return learner
    try:
        made = parse_learner(learner)
    except UsageError:  # of a version with other parameters: its name says what it was
        return learner
    return brief(made, made.name)


def _brief(point: Point, parameter: str) -> str:
    """Write a spec without its defaults and without the parameter that varies."""
    name, text = point.name, point.spec
    if name in FAMILIES:
        try:
            text = brief(parse_stored(point.spec), name)
        except UsageError:  # of a version with other parameters
            text = point.spec
    try:
        pairs = split_list(text.partition(":")[2])
    except UsageError:
        return text
    kept = [pair for pair in pairs if pair and pair.partition("=")[0] != parameter]
    return f"{name}:{','.join(kept)}" if kept else name


def _told_apart(found: list[Slice]) -> tuple[Slice, ...]:
    """Give every slice its choice: the shortest run of what is fixed in it that no other has."""
    return tuple(replace(one, choice=_choice(one, found)) for one in found)


def _choice(one: Slice, found: list[Slice]) -> str:
    same, parts = found, []
    for name, value in one.fixed:
        kept = [other for other in same if dict(other.fixed).get(name) == value]
        if len(kept) < len(same):
            parts.append(f"{name}={value}")
            same = kept
    if not parts:  # the only one
        return f"{one.fixed[0][0]}={one.fixed[0][1]}"
    return ",".join(parts)
