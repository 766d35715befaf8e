"""Comparisons: learners beside certified bounds over the values of one parameter."""

from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import msgspec

from hardness.claims import NONE_ENOUGH, WORD, vacuous
from hardness.lower import BoundParameters, Certificate, certify
from hardness.oracles import Budget
from hardness.runs.cells import bounds, cells
from hardness.runs.certified import query_bound
from hardness.runs.columns import runs_frame
from hardness.runs.difference import difference
from hardness.runs.fits import scaling
from hardness.runs.names import brief_spec
from hardness.runs.paired import contradiction, paired
from hardness.runs.planned import Cut, Do, Planned, here, require_loaded
from hardness.runs.ranges import Value, numbers, whole
from hardness.runs.run import Run, require_support
from hardness.runs.validate import inconsistency
from hardness.upper import learner_spec, parse_learner
from instances.arguments import located
from instances.disk import damage, require_format, write_json
from instances.errors import DamagedFile, ToolkitError, UsageError
from instances.parameters import fraction, key_values, listed, plain
from instances.result import Result, TableRow
from instances.spec import kind_of, require_drawn, spec_of
from instances.spec import parse_stored as parse
from instances.strict import read_json

if TYPE_CHECKING:
    from pandas import DataFrame

FORMAT = "hardness-results/2"
_MAX_RUNS = 100_000
_ROUNDING = 1e-6  # what another machine's floating point may differ by


@dataclass(frozen=True, kw_only=True, repr=False)
class Comparison(Result):
    """Runs and certificates over the values of one parameter."""

    spec: str  # as asked
    parameter: str
    values: tuple[Value, ...]
    specs: tuple[str, ...]  # canonical, one a value
    learners: tuple[str, ...]
    seeds: int
    terms: BoundParameters
    runs: tuple[Run, ...]
    certificates: tuple[Certificate, ...]  # one a value, none where no bound is claimed
    command: str = ""
    budget: Budget | None = None  # of every run; None where it is not known
    canonical: tuple[str, ...] = ()  # names of the learners, where a store says them

    _words: ClassVar[str] = "hardness.report.scaling.comparison_words"

    @classmethod
    def load(cls, path: str | PathLike[str]) -> "Comparison":
        """Read the file that `save` wrote, or a folder of `compare --out`; raises DamagedFile."""
        return read_comparison(Path(located("path", path)))

    def of(self, learner: str, value: Value) -> list[Run]:
        """Return the runs of a learner at a value of the parameter."""
        return list(self._cells.get((learner, self.specs[self.values.index(value)]), ()))

    @cached_property
    def _cells(self) -> dict[tuple[str, str], list[Run]]:
        found: dict[tuple[str, str], list[Run]] = {}
        for one in self.runs:
            found.setdefault((one.learner, one.spec), []).append(one)
        return found

    @cached_property
    def learner_names(self) -> list[str]:
        """Canonical names of the learners, in the order asked."""
        return list(self.canonical) or [learner_spec(parse_learner(one)) for one in self.learners]

    def _summary(self) -> tuple[str, list[TableRow]]:
        ends = [plain(value) for value in (*self.values[:1], *self.values[1:][-1:])]
        many = "s" * (len(self.learners) != 1)
        runs = f"{len(self.learners)} learner{many}, {len(self.runs)} runs"
        over = f"{self.parameter}={'..'.join(ends)}"
        title = f"{brief_spec(self.spec, self.parameter)} over {over}: {runs}"
        asked = query_bound(self.certificates)
        least, floor = bounds(self, asked), bounds(self, "information-floor")
        names = dict(zip(self.learner_names, self.learners, strict=True))
        every, rows = cells(self), list[TableRow]()
        valued = any(cell.values for cell in every)  # a column of values where any were asked
        for i, value in enumerate(self.values):
            size = f"{self.parameter}={plain(value)}"
            for cell in (c for c in every if c.value == value):
                rows.append(
                    {
                        "learner": names[cell.learner],
                        "size": size,
                        "queries": cell.queries or None,
                        "examples": cell.examples,
                        **({"values": cell.values or None} if valued else {}),
                        "seconds": cell.seconds,
                        "risk": cell.risk,
                        "solved": f"{cell.solved}/{cell.runs}",
                        "known": "measured",
                    }
                )
            if floor:
                queries = _worded(asked, least[i]) if least else None
                examples = _worded("information-floor", floor[i])
                rows.append(
                    {
                        "learner": "certified at least",
                        "size": size,
                        "queries": queries,
                        "examples": examples,
                        **({"values": None} if valued else {}),
                        "seconds": None,
                        "risk": None,
                        "solved": None,
                        "known": "exact" if {queries, examples} - {WORD, None} else WORD,
                    }
                )
        return title, rows

    def to_frame(self) -> "DataFrame":
        """Make the tidy pandas DataFrame: one row a run; where there is none, one row a claim."""
        if self.certificates and not self.runs:
            import pandas as pd

            return pd.concat([one.to_frame() for one in self.certificates], ignore_index=True)
        return runs_frame(self.runs)

    def to_dict(self) -> dict[str, Any]:
        """Write it as JSON, with fitted growth and learners compared in pairs."""
        return {
            "format": FORMAT,
            "spec": self.spec,
            "parameter": self.parameter,
            "values": [v if isinstance(v, int) else plain(v) for v in self.values],
            "specs": list(self.specs),
            "learners": list(self.learners),
            "seeds": self.seeds,
            "terms": self.terms.to_dict(),
            "command": self.command,
            "budget": self.budget and asdict(self.budget),
            "certificates": [c.to_dict() for c in self.certificates],
            "runs": [r.to_dict() for r in self.runs],
            "scaling": scaling(self).to_dict(),
            "paired": [one.to_dict() for one in paired(self.runs)],
        }


def _worded(quantity: str, value: int | None) -> int | str:
    """Give what is certified, or the words for what says nothing and for no number at all."""
    if value is None:
        return NONE_ENOUGH
    return WORD if vacuous(quantity, value) else value


def distinct(learners: tuple[str, ...]) -> tuple[str, ...]:
    """Drop learners that were named before, in whatever spelling.

    >>> distinct(("lowdegree", "lowdegree:degree=2", "student"))
    ('lowdegree', 'student')
    """
    named: dict[str, str] = {}
    for text in learners:
        named.setdefault(learner_spec(parse_learner(text)), text)
    return tuple(named.values())


def usual(spec: str, over: str) -> tuple[str, ...]:
    """Name a few learners that run on a family, for who names none.

    >>> usual("profile:g=majority,m=3", "d=8..10")
    ('queries', 'lowdegree', 'student')
    """
    family = parse(specs_over(spec_of(spec), *values_of(over))[0])
    return tuple(n for n in family.default_learners if not parse_learner(n).supports(family))


def values_of(text: str) -> tuple[str, tuple[Value, ...]]:
    """Read "d=8..20", "d=8..20..4", "d=8,12,16" or "coherence=0,0.5,0.9".

    >>> values_of("d=8..20..4")
    ('d', (8, 12, 16, 20))
    """
    name, equals, rest = (part.strip() for part in text.partition("="))
    found = numbers(rest, f"--over {name}") if equals and name else None
    if found is None:
        raise UsageError(
            f"--over {text} given: write numbers as d=8..20, d=8..20..4, d=8,12,16 or trace=0,0.5"
        )
    return name, tuple(found[: _MAX_RUNS + 1])


def certificates(
    specs: tuple[str, ...], terms: BoundParameters, needed: bool = False
) -> tuple[Certificate, ...]:
    """Certify every size; none where a bound is not claimed for one of them, or cannot be had.

    needed: raise ToolkitError there instead, with the reason.
    """
    families = [parse(one) for one in specs]
    try:
        for family in families:
            if family.hardness.evidence != "exact":
                raise UsageError(f"{family} given: {family.hardness.why}")
        return tuple(certify(family, terms) for family in families)
    except ToolkitError:
        if needed:
            raise
        return ()


def specs_over(spec: str, parameter: str, values: tuple[Value, ...]) -> list[str]:
    """Fill a parameter's values into a spec, whether or not it stands there already."""
    name, _, rest = spec.partition(":")
    if kind_of(name) is None:
        name, _, rest = parse(spec).spec.partition(":")
    keys = [field.name for field in listed(kind_of(name))]
    given = key_values(rest, name, keys)
    if parameter not in keys:
        raise UsageError(f"--over {parameter}: {name} has the parameters {', '.join(keys)}")
    found = []
    for value in values:
        filled = {**given, parameter: plain(value)}
        one = parse(f"{name}:" + ",".join(f"{k}={v}" for k, v in filled.items()))
        found.append(require_drawn(one).spec)
    return found


def compare(
    spec: str,
    over: str,
    learners: tuple[str, ...],
    seeds: int = 3,
    first_seed: int = 0,
    budget: Budget | None = None,
    terms: BoundParameters | None = None,
    do: Do = here,
    command: str = "",
    progress: Callable[[int], None] = lambda done: None,
) -> Comparison:
    """Run every learner on every size and seed, and certify every size; no learner: certify alone.

    do: who does the runs; the result does not depend on it, seconds apart. Raises UsageError
    before anything runs, and Cut, with what was finished, on Ctrl-C or where a run could not be
    done.
    """
    terms, spec, budget = terms or BoundParameters(), spec_of(spec), budget or Budget()
    parameter, values = values_of(over)
    specs = tuple(specs_over(spec, parameter, values))
    learners = distinct(learners)
    if seeds < 1:
        raise UsageError(f"{seeds} seeds given: at least one is needed")
    if len(specs) * len(learners) * seeds > _MAX_RUNS:
        raise UsageError(f"over {_MAX_RUNS} runs asked for: ask for fewer sizes, learners or seeds")
    for learner in map(parse_learner, learners):
        for one in specs:
            require_support(learner, parse(one))
    require_loaded(learners, specs[0])
    planned = Comparison(
        spec=spec,
        parameter=parameter,
        values=values,
        specs=specs,
        learners=learners,
        seeds=seeds,
        terms=terms,
        runs=(),
        certificates=certificates(specs, terms, needed=not learners),
        command=command,
        budget=budget,
    )
    tasks = [
        Planned(spec=one, learner=learner, seed=seed, budget=budget, tau=terms.tau)
        for one in specs
        for learner in learners
        for seed in range(first_seed, first_seed + seeds)
    ]
    done: dict[int, Run] = {}
    try:
        for index, found in do(tasks):
            if isinstance(found, ToolkitError):
                raise found
            done[index] = found
            progress(1)
    except (KeyboardInterrupt, ToolkitError) as error:
        whole = _finished(planned, done)
        said = f"{len(whole.values)} of {len(specs)} sizes were finished"
        raise Cut(said, whole if whole.values else None) from error
    return _finished(planned, done)


def _finished(planned: Comparison, done: dict[int, Run]) -> Comparison:
    """Put runs, by their place among all, into a comparison that has none: sizes that lack one go.

    Runs go size by size.
    """
    each = len(planned.learners) * planned.seeds
    places = [range(i * each, (i + 1) * each) for i in range(len(planned.specs))]
    kept = [i for i, size in enumerate(places) if all(place in done for place in size)]
    return replace(
        planned,
        values=tuple(planned.values[i] for i in kept),
        specs=tuple(planned.specs[i] for i in kept),
        runs=tuple(done[place] for i in kept for place in places[i]),
        certificates=tuple(planned.certificates[i] for i in kept if planned.certificates),
    )


def write_comparison(path: Path, comparison: Comparison, force: bool = False) -> None:
    """Write a comparison; raises AlreadyExists."""
    write_json(path, comparison.to_dict(), force=force)


class _Written(msgspec.Struct, frozen=True):
    """A comparison as JSON: earlier files lack the budget, the fitted growth and the pairs."""

    spec: str
    parameter: str
    values: tuple[int | str, ...]
    specs: tuple[str, ...]
    learners: tuple[str, ...]
    seeds: Annotated[int, msgspec.Meta(ge=1)]
    terms: dict[str, Any]
    command: str
    certificates: list[dict[str, Any]]
    runs: list[dict[str, Any]]
    budget: dict[str, Any] | None = None
    scaling: Any = msgspec.UNSET
    paired: Any = msgspec.UNSET


def read_comparison(path: Path) -> Comparison:
    """Read a comparison, or results.json in a folder; raises DamagedFile.

    The certificates are made again from their specs and must equal the stored ones, as must the
    fitted growth and the comparisons of pairs, where they are stored.
    """
    if path.is_dir():
        path = path / "results.json"
    data = read_json(path)
    require_format(data, FORMAT, path)
    with damage(path):
        written = msgspec.convert(data, _Written)
        found = _comparison(written)
        reason = _inconsistency(found, written)
    if reason:
        raise DamagedFile(f"{path} is damaged: {reason}")
    return found


def _comparison(written: _Written) -> Comparison:
    """Take what was written, with certificates made again; raises what its parts raise."""
    terms = BoundParameters.from_json(written.terms)
    budget = None if written.budget is None else Budget(**written.budget)
    return Comparison(
        spec=written.spec,
        parameter=written.parameter,
        values=tuple(
            v if isinstance(v, int) else whole(fraction(v, "a value")) for v in written.values
        ),
        specs=written.specs,
        learners=written.learners,
        seeds=written.seeds,
        terms=terms,
        runs=tuple(Run.from_json(r, budget or Budget()) for r in written.runs),
        certificates=certificates(written.specs, terms),
        command=written.command,
        budget=budget,
    )


def _inconsistency(found: Comparison, written: _Written) -> str | None:
    """Say why the parts of a comparison that was read do not belong together."""
    if [one.to_dict() for one in found.certificates] != list(written.certificates):
        return (
            "its certificates are not those that this version makes of its specs: it was changed, "
            "or an earlier version wrote it, and `compare` has to be run again"
        )
    specs = specs_over(found.spec, found.parameter, found.values)
    if not specs or specs != list(found.specs) or len(set(specs)) < len(specs):
        return "its specs are not those of its sizes"
    misfit = "its runs are not one for each size, learner and seed"
    if len(found.runs) != len(specs) * len(found.learners) * found.seeds:
        return misfit
    if not found.runs and not found.certificates:
        return "it has neither runs nor certificates"
    first = min((r.seed for r in found.runs), default=0)
    seeds = range(first, first + found.seeds)
    wanted = {(s, name, seed) for s in specs for name in found.learner_names for seed in seeds}
    if {(r.spec, r.learner, r.seed) for r in found.runs} != wanted:
        return misfit
    for r in found.runs:
        if found.budget is not None and r.budget != found.budget:
            return "a run had another budget than the others"
        reason = inconsistency(r)
        if reason:
            return reason
    if written.scaling is not msgspec.UNSET:
        grown = difference(written.scaling, scaling(found).to_dict(), _ROUNDING, _ROUNDING)
        if grown:
            return f"its fitted growth is not that of its runs: {grown}"
    if written.paired is not msgspec.UNSET:
        pairs = contradiction(written.paired, paired(found.runs))
        if pairs:
            return f"its pairs of learners are not those of its runs: {pairs}"
    return None
