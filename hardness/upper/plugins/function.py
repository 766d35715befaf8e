"""A plain function as a learner: learn(x, y) -> predict, or learn(x, y, rng) -> predict."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from hardness.oracles import ExampleOracle
from hardness.upper.learner import Failed, Outcome
from hardness.upper.plugins.objects import described, takes_examples, takes_rng
from hardness.upper.plugins.views import Data, Fit, View, Viewed
from instances.errors import UsageError


@dataclass(frozen=True, eq=False)
class Function(Viewed):
    """Learns by a function of arrays: learn(x, y) gives predict(x), in the view it is to see.

    Where it names a third argument `rng`, or takes three, it gets a numpy Generator.

    >>> def mean(x, y):
    ...     centre = y.mean(axis=0)
    ...     return lambda x: np.broadcast_to(centre, x.shape)
    >>> Function(mean).view
    'tokens'
    """

    kind: ClassVar[str] = "a function of examples"

    view: View | None = "tokens"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not callable(self.given) or not takes_examples(self.given):
            raise UsageError(
                f"Function: {described(self.given)} given: a function learn(x, y) or "
                "learn(x, y, rng) is needed"
            )

    def fit(self, data: Data, oracle: ExampleOracle, rng: np.random.Generator) -> Fit:
        """Call the function."""
        third = (rng,) if takes_rng(self.given) else ()
        predict = self.given(data.x, data.y, *third)
        if not callable(predict):
            said = f"{self.name} gave a {type(predict).__name__}: a function predict(x) is needed"
            raise Failed(Outcome.INVALID, {"reason": said})
        return Fit(predict=predict)


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
