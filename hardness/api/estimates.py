"""Estimate the costs of attacks on an instance by formulas."""

from typing import TYPE_CHECKING, Any, Literal, TypedDict, Unpack, overload

from hardness.api import progress, sources
from hardness.api.bounds import power
from instances.arguments import exact, number_between, refused, switch, text_argument
from instances.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from fractions import Fraction
    from os import PathLike

    from hardness.api.sources import Source
    from hardness.lwe.grid import Grid, SearchResult
    from hardness.lwe.record import Estimates, EstimatesTable
    from hardness.lwe.sets import Instance
    from instances.result import Answer

    File = str | PathLike[str]
    Number = int | float | str | Fraction
    Names = str | Sequence[str]


class Attackers(TypedDict, total=False):
    """The samples of attackers, the models of their costs, and the attacks to consider.

    samples: number of samples (a, b). model: one or several cost models of lattice reduction.
    success: the probability with which each attack succeeds, 0.99. shape: of a reduced basis, gsa,
    zgsa or lgsa. attack: names, all if none. a, b, spec: of samples in files.
    """

    a: "File | None"
    b: "File | None"
    spec: str | None
    samples: "int | str | None"
    model: "Names"
    success: "Number | None"
    shape: str | None
    attack: "Names"


@overload
def estimate(source: None = None) -> "Answer": ...
@overload
def estimate(
    source: "list[Source] | tuple[Source, ...]", **attackers: Unpack[Attackers]
) -> "EstimatesTable": ...
@overload
def estimate(source: "Source", *, over: "Names", **attackers: Unpack[Attackers]) -> "Grid": ...
@overload
def estimate(
    source: "Source", *, find: str, bits: float, **attackers: Unpack[Attackers]
) -> "SearchResult": ...
@overload
def estimate(source: "Source", *, emit: Literal[True], samples: int | None = None) -> "Answer": ...
@overload
def estimate(
    source: "Source", *, peer: Literal[True], **attackers: Unpack[Attackers]
) -> "Answer": ...
@overload
def estimate(source: "Source", **attackers: Unpack[Attackers]) -> "Estimates": ...
def estimate(
    source: "Source | Sequence[Source] | None" = None,
    *,
    over: "Names" = (),
    find: str | None = None,
    bits: "Number | None" = None,
    emit: bool = False,
    peer: bool = False,
    **attackers: Unpack[Attackers],
) -> "Estimates | EstimatesTable | Grid | SearchResult | Answer":
    """Estimate what attacks cost on a SPEC, a named set, a folder or a file of samples.

    Parameters
    ----------
    source : str, Family, path or list, optional
        A problem, or several for a table. The named sets are listed if it is not given. A SPEC of
        `lwe` or `lwr` may go beyond what families take: q=2^881 or any integer, p that does not
        divide q, secret=range, error=ternary.
    over : str or list
        Ranges such as "n=512..1024..128"; several make a grid.
    find : str, optional
        A range in which the smallest n, h or sigma, or the largest q, is to be found at which no
        attack costs less than `bits`.
    bits : number, optional
        Of `find`: log2 of operations.
    emit : bool
        Write the parameters for lattice-estimator in place of an estimate.
    peer : bool
        Run lattice-estimator too, where it is installed.
    **attackers
        Fields of `Attackers`: `samples`, the number of samples; `model`, the cost of lattice
        reduction; `success`, the probability that each attack is brought to; `shape` of a reduced
        basis; `attack`, the attacks to consider; `a`, `b`, `spec` of samples in files.

    Returns
    -------
    Estimates, EstimatesTable, Grid, SearchResult or Answer
        Of one problem; of several; with `over`; with `find`; else.

    Raises
    ------
    UsageError
        For a problem that no attack here is about, or values out of range.

    Examples
    --------
    >>> estimate("ml-kem-512", attack="usvp", model="rough").least.beta
    406
    """
    from dataclasses import replace

    from hardness.lwe import grid as grids
    from hardness.lwe import peer as public
    from hardness.lwe.estimate import estimate_all
    from hardness.lwe.models import MOST_SUCCESS, SUCCESS, parse_setting
    from hardness.lwe.record import EstimatesTable, spec_and_size
    from hardness.report import cost as words
    from hardness.runs.names import brief_spec
    from instances.result import Answer

    options = _read(attackers)
    samples, success = options.get("samples"), options.get("success")
    only = options.get("attack", ())
    over, several = _listed("over", over), _sources(source)
    bits = None if bits is None else number_between("bits", bits, 0)
    find = None if find is None else text_argument("find", find)
    switch("emit", emit)
    switch("peer", peer)
    exclusive = {"over": over, "find": find, "emit": emit, "peer": peer}
    modes = [f"--{name}" for name, value in exclusive.items() if value not in (None, (), False)]
    if len(modes) > 1:
        raise UsageError(f"give one of {' and '.join(modes)}")
    if options.get("spec") and (over or find):
        raise UsageError(f"{modes[0]} varies a SPEC alone: leave out --spec")
    if (find is None) != (bits is None):
        raise UsageError("--find and --bits go together: --find n=256..2048 --bits 128")
    if pair := sources.paired(several or None, options.get("a"), options.get("b")):
        several = (pair,) if isinstance(pair, sources.Arrays) else several
    if not several:
        if modes:
            raise UsageError(f"{modes[0]} needs a SPEC: lwe:.., lwr:.. or a set's name")
        data, text = words.sets_words()
        return Answer(data=data, message=text)
    if peer and success is not None:
        raise UsageError("--peer compares at the peer's own level: leave out --success")
    level = SUCCESS if success is None else float(success)
    if not 0.5 <= level <= MOST_SUCCESS:
        raise refused("--success", success, "a probability from 0.5 to 1 - 1e-12")
    models, shape = options.get("model") or ("default",), options.get("shape")
    settings = tuple(parse_setting(name, shape, level) for name in models)
    if len(several) > 1:
        if modes:
            raise UsageError(f"{modes[0]} is for one problem, not for {len(several)}")
        problems = [_problem(each, samples, options.get("spec")) for each in several]
        results = []
        with progress.counted(len(problems), "estimating") as bar:
            for problem in problems:
                name = problem.name
                if name == problem.spec:
                    name = spec_and_size(brief_spec(name), problem.parameters.samples)
                results.append(
                    estimate_all(
                        problem.parameters,
                        problem.spec,
                        settings,
                        only,
                        name=name,
                        claimed=problem.level,
                    )
                )
                bar(1)
        return EstimatesTable(problems=tuple(results))
    [single] = several
    if over or find is not None:
        spec, counted = grids.varied_spec(sources.spec_of(single, "estimate"), samples)
        if find is not None:
            return grids.search(spec, find, bits or 0.0, counted, settings, only)
        with progress.counted(len(grids.grid_points(over)), "estimating") as bar:
            return grids.grid(spec, over, counted, settings, only, bar)
    problem = _problem(single, samples, options.get("spec"))
    if emit:
        code = public.to_estimator_code(problem.parameters)
        return Answer(data={"spec": problem.spec, "parameters": code}, message=code)
    levels = public.LEVELS if peer else {}
    ours = estimate_all(
        problem.parameters,
        problem.spec,
        settings,
        only,
        problem.family,
        problem.name,
        levels,
        claimed=problem.level,
    )
    if peer:
        theirs = public.run_lattice_estimator(problem.parameters, settings[0])
        both = {**ours.to_dict(), "peer": {e.name: e.to_dict() for e in theirs}}
        return Answer(data=both, message=words.peer_words(ours, theirs))
    return replace(ours, detailed=bool(only))


def _sources(source: Any) -> tuple[Any, ...]:
    """Return one or several problems as a tuple; empty for None."""
    if source is None:
        return ()
    return tuple(source) if isinstance(source, list | tuple) else (source,)


def _listed(name: str, value: Any) -> tuple[str, ...]:
    """Return one or several texts as a tuple; raises UsageError for anything else."""
    texts = (value,) if isinstance(value, str) or not hasattr(value, "__iter__") else tuple(value)
    return tuple(text_argument(name, text) for text in texts)


def _read(attackers: Any) -> dict[str, Any]:
    """Check the arguments of `Attackers`; raises UsageError, and TypeError for another name."""
    if unknown := [name for name in attackers if name not in Attackers.__annotations__]:
        raise TypeError(f"estimate() got an unexpected keyword argument {unknown[0]!r}")
    read = {name: value for name, value in attackers.items() if value is not None}
    for name in read.keys() & {"model", "attack"}:
        read[name] = _listed(name, read[name])
    for name in read.keys() & {"spec", "shape"}:
        text_argument(name, read[name])
    if "samples" in read:
        read["samples"] = power("samples", read["samples"])
    if "success" in read:
        read["success"] = exact("success", read["success"])
    return read


def _problem(source: "Source", samples: int | None, spec: str | None) -> "Instance":
    """Read the problem of a SPEC, a named set, words of lwe or lwr, a folder or a file."""
    from hardness.lwe.parameters import parameters_of
    from hardness.lwe.sets import Instance, resolve_instance
    from instances.samples import samples as read

    if isinstance(source, str) and not (spec or sources.exists(source)):
        return resolve_instance(source, samples)
    family, folder = sources.target(source, spec)
    if folder and not folder.hidden and samples is None and family.linear_forms:
        samples = len(read(folder.examples(0, folder.count)))
    parameters = parameters_of(family, samples)
    return Instance(spec=family.spec, name=family.spec, parameters=parameters, family=family)
