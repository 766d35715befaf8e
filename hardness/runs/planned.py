"""Runs that are planned, and who does them."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from hardness.oracles import Budget
from hardness.runs.run import Run, run
from hardness.runs.warm import warm
from hardness.upper import parse_learner
from instances.errors import ToolkitError
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
        return run(parse_learner(self.learner), instance, self.budget, self.seed, tau=self.tau)


# Does planned runs: the index of each as it is done, with its run or why there is none.
Do = Callable[[Sequence[Planned]], Iterator[tuple[int, Run | ToolkitError]]]


def here(planned: Sequence[Planned]) -> Iterator[tuple[int, Run | ToolkitError]]:
    """Do runs one after the other in this process, each learner warmed up first.

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
