"""The front door: what the command line does, as functions with its names and defaults.

A SPEC is given as the same string, as a Family, or as the path of a folder that `hardness generate`
made; a learner as the same string or as an object. Errors are ToolkitError, with the line that the
command line prints.
"""

from collections.abc import Callable, Iterable, Mapping
from functools import wraps
from inspect import signature
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Literal, ParamSpec, TypeVar

from hardness.verbs.sources import exists, file_of, read_file, target
from hardness.verbs.sources import learner as as_learner

if TYPE_CHECKING:
    from fractions import Fraction

    from numpy.typing import ArrayLike

    from hardness.cost.given import Given
    from hardness.cost.record import Estimates
    from hardness.lower import BoundParameters
    from hardness.oracles import Budget
    from hardness.runs import Game
    from hardness.upper import Learner
    from instances import AttentionLayer, Family
    from instances.heads import Heads
    from instances.inspect import Inspection
    from instances.samples import Samples

    Source = str | PathLike[str] | Family
    Teacher = str | PathLike[str] | AttentionLayer
    Tokens = str | PathLike[str] | ArrayLike | Mapping[str, ArrayLike]
    Data = tuple[ArrayLike, ArrayLike]  # tokens and labels, (n, k, d)
    Learners = str | Learner | Iterable[str | Learner]
    Names = str | Iterable[str]
    Number = int | float | str | Fraction  # read exactly: 0.1, "0.1" and "1/10" are the same

_P = ParamSpec("_P")
_R = TypeVar("_R")


def _gated(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """Decorate a function: its arguments are read by `argument` before anything is done."""
    declared = signature(function)

    @wraps(function)
    def gated(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        from instances.arguments import argument  # `--help` needs none

        try:
            given = declared.bind(*args, **kwargs)
        except TypeError as error:
            raise TypeError(f"{function.__name__}: {error}") from None
        for name, value in given.arguments.items():
            kind = declared.parameters[name].annotation
            given.arguments[name] = argument(name, value, kind)
        return function(*given.args, **given.kwargs)

    return gated


@_gated
def inspect(
    source: "Source | AttentionLayer | Heads",
    *,
    layer: int | None = None,
    heads: int | None = None,
    k: int | None = None,
    form: str | None = None,
    seed: int = 0,
) -> "Inspection":
    """Show what a layer is like, and whether the theorem about learning speaks of it.

    source: a file of a layer, or a model's checkpoint with `layer`, from 0, and `heads` where no
    config.json says how many; a layer; a SPEC, of which the instance of `seed` is taken, or a
    folder of `hardness generate`, both perhaps in a form of `instances.forms`. k: the number of
    tokens of a layer that is given.

    >>> inspect("parity:d=12,m=4").facts["structure"]["parity_like"]
    True
    """
    from instances import AttentionLayer
    from instances.checkpoint import holds_layer, read_heads
    from instances.errors import UsageError
    from instances.heads import Heads
    from instances.inspect import inspect as described
    from instances.inspect import inspect_heads

    if isinstance(source, AttentionLayer):
        source = Heads.of(source)
    if isinstance(source, str | PathLike) and holds_layer(Path(source)):
        source = read_heads(Path(source), layer, heads)
        layer = heads = None
    for option, value in {"--layer": layer, "--heads": heads}.items():
        if value is not None:
            raise UsageError(
                f"{option} {value} given: it is of a layer in a file, and {source} is "
                "no file of one"
            )
    if isinstance(source, Heads):
        if form:
            raise UsageError(f"--rewrite {form} given: it is of a SPEC")
        return inspect_heads(source, k)
    if k is not None:
        raise UsageError(f"--k {k} given: it is of a layer in a file")
    found, folder = target(source)
    return described(found, folder.instance if folder else found.instance(seed), form)


@_gated
def estimate(
    source: "Source",
    *,
    samples: int | None = None,
    model: "Names" = "default",
    success: float = 0.99,
    shape: str | None = None,
    attack: "Names" = (),
) -> "Estimates":
    """Estimate what attacks cost, by formulas of the literature.

    source: also the name of a parameter set, or words of lwe and lwr beyond what families take.
    samples: that an attacker may have; by default those of a folder or file without its secret,
    what a set's name gives away, or any. model, shape: of lattice reduction; several models stand
    side by side. success: the probability that each attack is brought to, 0.5 and more. attack:
    names of some; all of them by default.

    >>> estimate("ml-kem-512", attack="usvp", model="rough").least.beta
    406
    """
    from hardness.cost.attacks import estimate as costs
    from hardness.cost.attacks import setting

    models, only = _texts("model", model), _texts("attack", attack)
    found = problem_of(source, samples)
    settings = tuple(setting(name, shape, success) for name in models)
    return costs(found.problem, found.spec, settings, only, found.family, found.name)


@_gated
def play(
    learner: object,
    source: "Source",
    *,
    oracle: Literal["adversary", "stabbing"] = "adversary",
    tau: "Number" = "0.1",
    budget_examples: int | None = None,
    budget_queries: int | None = None,
    budget_values: int | None = None,
    budget_seconds: float | None = 60.0,
    budget_cpu: float | None = None,
    budget_memory: int | str | None = None,
    seed: int | None = None,
) -> "Game":
    """Play a learner against the adversary of the bound, as `hardness learn --oracle adversary`.

    seed: by default the operating system's.

    >>> game = play("queries", "parity:d=8,m=1", seed=0)
    >>> game.bound <= game.run.usage.queries
    True
    """
    from hardness.runs import play as against

    limits = budget(
        budget_examples, budget_queries, budget_values, budget_seconds, budget_cpu, budget_memory
    )
    chosen, within = as_learner(learner), _exact("tau", tau)
    return against(chosen, target(source)[0], limits, seed, strategy=oracle, tau=within)


@_gated
def samples(
    source: "Source", count: int | None = None, *, spec: str | None = None, seed: int = 0
) -> "Samples":
    """Return samples (a, b) of an LWE-style instance, as arrays, without its secret.

    source: a SPEC or Family, of which the first `count` are drawn; or a file or folder, all of
    which are read, or the first `count`. spec: of a file that does not state it. Raises
    ToolkitError.

    >>> found = samples("lwe:n=30,q=251,sigma=3,secret=binary,h=3", 1000)
    >>> found.a.shape, found.b.shape, found.q
    ((1000, 30), (1000,), 251)
    """
    from instances.arguments import integral
    from instances.errors import UsageError
    from instances.samples import draw_samples
    from instances.samples import samples as seen

    many = None if count is None else integral("count", count, 1)
    if path := file_of(source):
        read = read_file(path, spec)
        return read.cut(0, many or len(read))
    found, folder = target(source, spec)
    if folder is not None:
        return seen(folder.examples(0, folder.count)).cut(0, many or folder.count)
    if many is None:
        raise UsageError(f"samples of {found} are drawn without end: give their count")
    return draw_samples(found.instance(seed), many)


# What commands share with this file


def _texts(name: str, given: "Names") -> tuple[str, ...]:
    """Read one name or several; raises UsageError."""
    from instances.arguments import refused

    found = (
        (given,)
        if isinstance(given, str)
        else tuple(given)
        if isinstance(given, Iterable)
        else (given,)
    )
    if not all(isinstance(one, str) for one in found):
        raise refused(name, given, "a text, or several")
    return found


def problem_of(source: "Source", samples: int | None = None) -> "Given":
    """Read what attacks see of a SPEC, a named set, words of lwe or lwr, a folder or a file."""
    from hardness.cost.given import Given, given
    from hardness.cost.problem import problem
    from instances.capabilities import LINEAR_FORMS
    from instances.samples import samples as read

    if isinstance(source, str) and not file_of(source) and not exists(source):
        return given(source, samples)
    found, folder = target(source)
    if folder and not folder.hidden and samples is None and LINEAR_FORMS.of(found):
        samples = len(read(folder.examples(0, folder.count)))
    name = found.spec
    return Given(spec=name, name=name, problem=problem(found, samples), family=found)


def budget(
    examples: int | None,
    queries: int | None,
    values: int | None,
    seconds: float | None,
    cpu: float | None,
    memory: int | str | None,
) -> "Budget":
    """Make a budget of the options; memory may be "500MB" or "4GiB"."""
    from hardness.oracles import Budget
    from instances.limits import bytes_of

    return Budget(
        examples=examples,
        queries=queries,
        values=values,
        seconds=seconds,
        cpu_seconds=cpu,
        memory_bytes=bytes_of(memory, "--budget-memory") if isinstance(memory, str) else memory,
    )


# Arguments


def _exact(name: str, value: "Number") -> "Fraction":
    from instances.arguments import exact

    return exact(f"--{name}", value)


def _terms(vstat: int = 100, **numbers: "Number") -> "BoundParameters":
    from hardness.lower import BoundParameters

    return BoundParameters(vstat=vstat, **{n: _exact(n, v) for n, v in numbers.items()})
