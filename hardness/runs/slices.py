"""The runs of a store cut into comparisons, each over one parameter with all else fixed.

Nothing of a learner's or a family's file is executed: names in a store are data.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache

from hardness.oracles import Budget
from hardness.runs.certified import Certifier, terms_of
from hardness.runs.choices import Fixed, choice_words, choices, choose
from hardness.runs.comparison import Comparison
from hardness.runs.lines import Point, lines, point_of
from hardness.runs.ranges import Value
from hardness.runs.rows import CertificateRow
from hardness.runs.run import Run
from hardness.runs.worlds import worlds
from hardness.upper import LEARNERS, parse_learner
from instances.errors import UsageError
from instances.parameters import brief, split_list
from instances.spec import kind_of, parse_stored


@dataclass(frozen=True, kw_only=True)
class Slice:
    """Runs over one parameter, with all that is fixed in them by name.

    choice: the part of `fixed` that tells it from the others of its store, as "m=3,noise=0".
    uncertified: why it has no certificates, empty where it has. rows: its runs with their budgets.
    """

    comparison: Comparison
    fixed: Fixed
    budget: Budget
    rows: tuple[Run, ...] = field(repr=False)
    uncertified: str = ""
    choice: str = ""

    @property
    def words(self) -> str:
        """What tells it from the others, in words, as "m = 3, noise = 0, 5,000,000 examples"."""
        return choice_words(self.fixed, self.choice)


def slices(runs: Iterable[Run], certificates: Iterable[CertificateRow] = ()) -> tuple[Slice, ...]:
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
    for fixed, rows in worlds(runs):
        by_spec: dict[str, list[Run]] = {}
        for row in rows:
            by_spec.setdefault(row.spec, []).append(row)
        for parameter, line in lines([point_of(spec) for spec in by_spec]):
            mine = [row for point in line for row in by_spec[point.spec]]
            found.append(_slice(parameter, line, mine, fixed, certifier))
    named = choices([one.fixed for one in found])
    return tuple(replace(one, choice=choice) for one, choice in zip(found, named, strict=True))


def chosen(found: Sequence[Slice], choice: str | None, source: str) -> Slice:
    """Return the slice that a choice as "m=3,noise=0" is about; raises UsageError for none."""
    return found[choose([one.fixed for one in found], choice, source)]


def _slice(
    parameter: str, line: tuple[Point, ...], rows: list[Run], fixed: Fixed, certifier: Certifier
) -> Slice:
    values: tuple[Value, ...] = tuple(point.numbers[parameter] for point in line)
    specs = tuple(point.spec for point in line)
    first = line[0]
    others = tuple((k, v) for k, v in first.texts.items() if k != parameter)
    answers = dict(fixed)
    terms = terms_of(answers.get("tau"))
    found = certifier.certify(specs, terms)
    learners = tuple(dict.fromkeys(row.learner for row in rows))
    counted = Counter((row.spec, row.learner) for row in rows)
    comparison = Comparison(
        spec=brief_spec(first.spec, parameter),
        parameter=parameter,
        values=values,
        specs=specs,
        learners=tuple(short(name) for name in learners),
        canonical=learners,
        seeds=max(counted.values()),
        terms=found.terms,
        runs=tuple(rows),
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


@lru_cache(1024)
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


def brief_spec(spec: str, *without: str) -> str:
    """Write a spec without its defaults, and without the parameters that vary.

    >>> brief_spec("parity:d=8,m=3,noise=0,rho=3", "d"), brief_spec("gone:d=8,a=1", "d")
    ('parity:m=3', 'gone:a=1')
    """
    name, text = spec.partition(":")[0], spec
    if kind_of(name):
        try:
            text = brief(parse_stored(spec), name)
        except UsageError:  # of a version with other parameters
            text = spec
    try:
        pairs = split_list(text.partition(":")[2])
    except UsageError:
        return text
    kept = [pair for pair in pairs if pair and pair.partition("=")[0] not in without]
    return f"{name}:{','.join(kept)}" if kept else name
