"""What attacks on an instance cost, by formulas."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, TypedDict, Unpack, cast, overload

from hardness.verbs import progress, sources
from hardness.verbs.ask import called, flag, number, power, rational, text, thing
from hardness.verbs.asks import A_FILE, B_FILE, FILE, SPEC_OF
from hardness.verbs.command import verb
from instances.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from fractions import Fraction

    from hardness.lwe.grid import Grid, SearchResult
    from hardness.lwe.record import Estimates, EstimatesTable
    from hardness.lwe.sets import Instance
    from hardness.verbs.sources import Source
    from instances.result import Answer

    Exact = int | float | str | Fraction
    Names = str | Sequence[str]

_ATTACKERS = "Attackers"
ATTACK = text("The attack of a name; repeatable.", default="all", many=True, group=_ATTACKERS)
MODEL = text(
    "Cost of lattice reduction: default (matzov), rough (adps16) or a model's name; "
    "several stand side by side.",
    default="default",
    many=True,
    group=_ATTACKERS,
)
OVER = text(
    "A parameter's range: n=512..1024..128, q=2^20..2^40, h=32,64; several make a grid.",
    default="one problem",
    many=True,
)


def problems() -> list[str]:
    """Name the families that attacks speak of, and parameter sets."""
    from hardness.lwe.sets import SETS

    return ["lwe:", "lwr:", "lpn:", "parity:", *SETS]


class Attackers(TypedDict, total=False):
    """What attackers have, and which of them are asked."""

    a: Annotated[Path | None, A_FILE(group=_ATTACKERS)]
    b: Annotated[Path | None, B_FILE(group=_ATTACKERS)]
    spec: Annotated[str | None, SPEC_OF(group=_ATTACKERS)]
    samples: Annotated[
        int | None,
        power(
            "Number of samples: (a, b), that an attacker has.",
            default="samples= of the SPEC, those of a folder, what a set gives away, or any",
            group=_ATTACKERS,
        ),
    ]
    model: Annotated["Names", MODEL]
    success: Annotated[
        "Exact | None",
        rational(
            "Success probability: that each attack is brought to, 0.5 and more.",
            default="0.99",
            group=_ATTACKERS,
        ),
    ]
    shape: Annotated[
        str | None,
        text("Shape of a reduced basis: gsa, zgsa, lgsa.", default="gsa", group=_ATTACKERS),
    ]
    attack: Annotated["Names", ATTACK]


@overload
def estimate(source: None = None) -> "Answer": ...
@overload
def estimate(
    source: "list[Source] | tuple[Source, ...]", **asked: Unpack[Attackers]
) -> "EstimatesTable": ...
@overload
def estimate(source: "Source", *, over: "Names", **asked: Unpack[Attackers]) -> "Grid": ...
@overload
def estimate(
    source: "Source", *, find: str, bits: float, **asked: Unpack[Attackers]
) -> "SearchResult": ...
@overload
def estimate(source: "Source", *, emit: Literal[True], samples: int | None = None) -> "Answer": ...
@overload
def estimate(source: "Source", *, peer: Literal[True], **asked: Unpack[Attackers]) -> "Answer": ...
@overload
def estimate(source: "Source", **asked: Unpack[Attackers]) -> "Estimates": ...
@verb("What an instance costs to break, by formulas.", out=FILE)
def estimate(
    source: Annotated[
        "Source | Sequence[Source] | None",
        thing("What is attacked; several make a table.", problems, many=True),
    ] = None,
    *,
    over: Annotated["Names", OVER] = (),
    find: Annotated[
        str | None,
        text(
            "The least n, h or sigma of a range, or the largest q, that has --bits.",
            default="none",
        ),
    ] = None,
    bits: Annotated[
        float | None,
        number(
            "log2 of operations that --find looks for.  [required with --find]",
            above=0,
        ),
    ] = None,
    emit: Annotated[bool, flag("Print the parameters for lattice-estimator.")] = False,
    peer: Annotated[bool, flag("Run lattice-estimator beside, where it is installed.")] = False,
    **asked: Unpack[Attackers],
) -> "Estimates | EstimatesTable | Grid | SearchResult | Answer":
    """Estimate what attacks cost on a SPEC, a named set, a folder or a file of samples.

    A SPEC of lwe or lwr may go beyond what families take: q=2^881 or any integer, p that does not
    divide q, secret=range, error=ternary. Several make a table: a row each, a column an attack, the
    least marked. Without SOURCE: list the named sets.

    >>> estimate("ml-kem-512", attack="usvp", model="rough").least.beta
    406
    """
    from dataclasses import replace

    from hardness.lwe import grid as grids
    from hardness.lwe import peer as public
    from hardness.lwe.estimate import estimate_all
    from hardness.lwe.models import MOST_SUCCESS, SUCCESS, parse_setting
    from hardness.lwe.record import EstimatesTable, worded
    from hardness.report import cost as words
    from hardness.runs.names import brief_spec
    from instances.result import Answer

    samples, success, only = asked.get("samples"), asked.get("success"), asked.get("attack", ())
    one_of = {"over": over, "find": find, "emit": emit, "peer": peer}
    ways = [called(name) for name, value in one_of.items() if value not in (None, (), False)]
    if len(ways) > 1:
        raise UsageError(f"{' and '.join(ways)} given: one of them at a time")
    if asked.get("spec") and (over or find):
        raise UsageError(f"--spec given with {ways[0]}: a SPEC alone is varied")
    if (find is None) != (bits is None):
        raise UsageError("--find and --bits go together: --find n=256..2048 --bits 128")
    several = cast("tuple[Source, ...]", source or ())  # as the verb reads it
    if pair := sources.paired(source or None, asked.get("a"), asked.get("b")):
        several = (pair,) if isinstance(pair, sources.Arrays) else several
    if not several:
        if ways:
            raise UsageError(f"{ways[0]} given without a SPEC: lwe:.., lwr:.. or a set's name")
        data, told = words.sets_words()
        return Answer(data=data, told=told)
    if peer and success is not None:
        raise UsageError("--peer and --success given: both stand at the peer's own level")
    level = SUCCESS if success is None else float(success)
    if not 0.5 <= level <= MOST_SUCCESS:
        raise UsageError(
            f"{called('success')} {success} given: a probability from 0.5 to 1 - 1e-12"
        )
    models, shape = asked.get("model") or ("default",), asked.get("shape")
    settings = tuple(parse_setting(name, shape, level) for name in models)
    if len(several) > 1:
        if ways:
            raise UsageError(f"{ways[0]} given with {len(several)} problems: it is for one")
        every, found = [_problem(one, samples, asked.get("spec")) for one in several], []
        with progress.counted(len(every), "estimating") as bar:
            for one in every:
                row = one.name
                if row == one.spec:
                    row = worded(brief_spec(row), one.parameters.samples)
                found.append(
                    estimate_all(
                        one.parameters, one.spec, settings, only, name=row, claimed=one.level
                    )
                )
                bar(1)
        return EstimatesTable(problems=tuple(found))
    [one_source] = several
    if over or find is not None:
        spec, counted = grids.varied_spec(sources.spec_of(one_source, "estimate"), samples)
        if find is not None:
            return grids.search(spec, find, bits or 0.0, counted, settings, only)
        with progress.counted(len(grids.grid_points(over)), "estimating") as bar:
            return grids.grid(spec, over, counted, settings, only, bar)
    read = _problem(one_source, samples, asked.get("spec"))
    if emit:
        code = public.to_estimator_code(read.parameters)
        return Answer(data={"spec": read.spec, "parameters": code}, told=code)
    levels = public.LEVELS if peer else {}
    ours = estimate_all(
        read.parameters,
        read.spec,
        settings,
        only,
        read.family,
        read.name,
        levels,
        claimed=read.level,
    )
    if peer:
        theirs = public.run_lattice_estimator(read.parameters, settings[0])
        beside = {**ours.to_dict(), "peer": {e.name: e.to_dict() for e in theirs}}
        return Answer(data=beside, told=words.peer_words(ours, theirs))
    return replace(ours, detailed=bool(only))


def _problem(source: "Source", samples: int | None, of: str | None) -> "Instance":
    """Read what attacks see of a SPEC, a named set, words of lwe or lwr, a folder or a file."""
    from hardness.lwe.parameters import parameters_of
    from hardness.lwe.sets import Instance, resolve_instance
    from instances.samples import samples as read

    if isinstance(source, str) and not (of or sources.exists(source)):
        return resolve_instance(source, samples)
    family, folder = sources.target(source, of)
    if folder and not folder.hidden and samples is None and family.linear_forms:
        samples = len(read(folder.examples(0, folder.count)))
    asked = parameters_of(family, samples)
    return Instance(spec=family.spec, name=family.spec, parameters=asked, family=family)
