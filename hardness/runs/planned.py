"""Runs that are planned, and who does them."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from hardness.learners import Failed
from hardness.learners.learner import innermost
from hardness.learners.remote import SubprocessLearner
from hardness.oracles import Budget
from hardness.runs.registry import fresh_learner, parse_learner
from hardness.runs.run import Run, learn_once, run
from instances.errors import ToolkitError, UsageError
from instances.spec import parse_stored


@dataclass(frozen=True, kw_only=True)
class Planned:
    """A learner on the instance of a seed, within a budget; the learner as it was named."""

    spec: str
    learner: str
    seed: int
    budget: Budget
    tau: Fraction = Fraction(1, 10)

    def do(self) -> Run:
        """Run it; raises ToolkitError where it cannot be."""
        instance = parse_stored(self.spec).instance(self.seed)
        learner = fresh_learner(self.learner)
        return run(learner, instance, self.budget, self.seed, tau=self.tau).updated(layer=None)


class Cut(Exception):
    """Runs were cut, by Ctrl-C or by what could not be done: its cause says which.

    partial: what the finished ones make, or None.
    """

    def __init__(self, said: str, partial: Any = None) -> None:
        super().__init__(said)
        self.partial = partial


# Does what is planned, runs or searches: the index of each as it is done, with what came of it or
# why nothing did.
Do = Callable[[Sequence[Any]], Iterator[tuple[int, Any]]]


def here(planned: Sequence[Any]) -> Iterator[tuple[int, Any]]:
    """Do what is planned one after the other in this process, each learner warmed up first.

    >>> from hardness.oracles import Budget
    >>> one = Planned(spec="parity:d=8,m=2", learner="trivial", seed=0, budget=Budget())
    >>> [(index, done.outcome.value) for index, done in here([one])]
    [(0, 'learned nothing')]
    """
    if planned:
        warm(planned[0].spec, tuple(dict.fromkeys(one.learner for one in planned)))
    for index, one in enumerate(planned):
        try:
            yield index, one.do()
        except ToolkitError as error:
            yield index, error
        except MemoryError as error:
            yield index, ToolkitError(" ".join(str(error).split()) or "out of memory")


def collect(
    do: Do, planned: Sequence[Any], done: dict[int, Any], progress: Callable[[int], None]
) -> None:
    """Put what came of each of the planned into `done`; raises ToolkitError where nothing did."""
    for index, found in do(planned):
        if isinstance(found, ToolkitError):
            raise found
        done[index] = found
        progress(1)


@contextmanager
def cut_to(finished: Callable[[], Any], sizes: int) -> Iterator[None]:
    """Raise Cut, with what the finished sizes make, where runs inside are cut or cannot be done."""
    try:
        yield
    except (KeyboardInterrupt, ToolkitError) as error:
        partial = finished()
        said = f"{len(partial.specs)} of {sizes} sizes were finished"
        raise Cut(said, partial if partial.specs else None) from error


def whole(sizes: int, each: int, done: Mapping[int, Any]) -> dict[int, list[Any]]:
    """Give what was done of each size that lacks nothing, by its place; planned is size by size.

    >>> whole(3, 2, {0: "a", 1: "b", 3: "c", 5: "d", 4: "e"})
    {0: ['a', 'b'], 2: ['e', 'd']}
    """
    places = {i: range(i * each, (i + 1) * each) for i in range(sizes)}
    return {i: [done[k] for k in own] for i, own in places.items() if all(k in done for k in own)}


def require_loaded(names: Iterable[str], spec: str) -> None:
    """Load each learner from a file once; raises UsageError for one that cannot be.

    What cannot be loaded would otherwise count as runs that did not pass.

    >>> require_loaded(["elimination", "docs/examples/nearest.py:neerest"], "parity:d=8,m=1")
    Traceback (most recent call last):
    ...
    instances.errors.UsageError: ... docs/examples/nearest.py:neerest was not loaded...
    """
    for name in dict.fromkeys(names):
        learner = innermost(parse_learner(name))
        if not isinstance(learner, SubprocessLearner):
            continue
        learner.supports(parse_stored(spec))  # its file is there
        try:
            learner.describe()
        except Failed as failed:
            raise not_loaded(name, failed.details) from failed


def not_loaded(name: str, details: Mapping[str, Any]) -> UsageError:
    """Say why a learner could not be loaded, the reason first."""
    why = details.get("reason") or details.get("message") or "its process said nothing"
    return UsageError(f"{why}: {name} was not loaded, and nothing was run")


_warm = set[str]()  # learners that this process has warmed up


def warm(spec: str, learners: tuple[str, ...]) -> None:
    """Load and compile what learners need, so that the first of their times holds none of it.

    Each learns for a second at most on an instance that is not measured. Those from files start a
    process for each run, and need it not.
    """
    for name in learners:
        learner = fresh_learner(name)
        if not isinstance(innermost(learner), SubprocessLearner) and name not in _warm:
            _warm.add(name)
            with suppress(ToolkitError, MemoryError):  # the run that is measured says it
                tried = learn_once(learner, parse_stored(spec).instance(0), Budget(seconds=1.0))
                tried[0].close()
