"""A plain function as a learner: learn(x, y) -> predict, or learn(x, y, rng) -> predict."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from hardness.oracles import ExampleOracle
from hardness.upper.learner import Access, Failed, Hypothesis, Outcome, nothing
from hardness.upper.plugins.views import (
    View,
    completed,
    gather,
    lacks,
    require_count,
    require_view,
)
from instances.errors import UsageError
from instances.family import Family


@dataclass(frozen=True, eq=False)
class Function:
    """Learns by a function of arrays: learn(x, y) gives predict(x), in the view it is to see.

    Where it names a third argument `rng`, or takes three, it gets a numpy Generator.
    examples: how many it gets at most, all of the budget's by default.

    >>> def mean(x, y):
    ...     centre = y.mean(axis=0)
    ...     return lambda x: np.broadcast_to(centre, x.shape)
    >>> Function(mean).view
    'tokens'
    """

    access: ClassVar[Access] = "examples"

    train: Callable[..., Any]
    examples: int | None = None
    view: View = "tokens"

    def __post_init__(self) -> None:
        if not callable(self.train) or not takes_examples(self.train):
            raise UsageError(
                f"Function: {described(self.train)} given: a function learn(x, y) or "
                "learn(x, y, rng) is needed"
            )
        require_view(self.view, "Function")
        require_count(self.examples, "Function")

    @property
    def name(self) -> str:
        """The function's own."""
        return str(getattr(self.train, "__name__", type(self.train).__name__))

    @property
    def about(self) -> str:
        """The first line of what the function says of itself."""
        return first_line(self.train) or "a function of examples"

    def supports(self, family: Family) -> str | None:
        """Families that have its view."""
        return lacks(self.view, family)

    def learn(self, oracle: ExampleOracle, rng: np.random.Generator) -> Hypothesis:
        """Draw the examples, call the function, complete its predictions to labels."""
        family = oracle.family
        data = gather(oracle, self.view, self.examples)
        details = {"view": self.view, "trained_on": len(data)}
        if not len(data):
            return nothing(family, data.outcome, **details)
        third = (rng,) if takes_rng(self.train) else ()
        predict = self.train(data.x, data.y, *third)
        if not callable(predict):
            said = f"{self.name} gave a {type(predict).__name__}: a function predict(x) is needed"
            raise Failed(Outcome.INVALID, {"reason": said})
        return Hypothesis(
            predict=completed(family, self.view, predict), outcome=data.outcome, details=details
        )


def function(
    *, view: View = "tokens", examples: int | None = None
) -> Callable[[Callable[..., Any]], Function]:
    """Decorate a function learn(x, y) to be a learner that sees a view of its choice.

    >>> @function(view="reduced", examples=500)
    ... def linear(z, s):
    ...     weights = z.T @ s / len(s)
    ...     return lambda z: z @ weights
    >>> linear.examples
    500
    """
    return lambda learn: Function(learn, examples=examples, view=view)


def takes_examples(value: Callable[..., Any]) -> bool:
    """Say whether a function can be called as f(x, y), or f(x, y, rng), and not without both."""
    needed = needs(value)
    return 2 <= len(needed) <= 3 and (len(needed) == 2 or takes_rng(value))


def takes_rng(value: Callable[..., Any]) -> bool:
    """Say whether the third argument is needed, or is named rng."""
    places = _positional(value)
    return len(needs(value)) == 3 or (len(places) > 2 and places[2].name == "rng")


def needs(value: Callable[..., Any]) -> list[str]:
    """Name the positional arguments that must be given; those of *args are none."""
    return [p.name for p in _positional(value) if p.default is inspect.Parameter.empty]


def _positional(value: Callable[..., Any]) -> list[inspect.Parameter]:
    try:
        found = inspect.signature(value).parameters.values()
    except (TypeError, ValueError):  # compiled functions that do not say
        return []
    return [p for p in found if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]


def described(value: Any) -> str:
    """Say what an object is, in a few words: a class and a function by their names."""
    if inspect.isclass(value):
        return f"the class {value.__name__}"
    if inspect.isroutine(value):
        try:
            return f"the function {value.__name__}{inspect.signature(value)}"[:100]
        except (TypeError, ValueError):
            return f"the function {value.__name__}"
    return f"a {type(value).__name__}"


def first_line(value: Any) -> str:
    """Return the first line of an object's own docstring, or nothing."""
    lines = (getattr(value, "__doc__", None) or "").strip().splitlines()
    return lines[0].strip()[:200] if lines else ""
