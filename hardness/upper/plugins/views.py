"""What a user's learner sees of examples, and how its predictions become labels.

tokens: x (n, k, d) as drawn, y (n, k, d). flat: x and y (n, k d), float64. reduced, of Coded
families: z (n, d-1) of +-1, float64, and s (n,), the factor of the label less what everyone knows
of it, of the open examples alone.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from hardness.oracles import ExampleOracle, Spent
from hardness.upper.learner import SPENT, Failed, Outcome, Predict
from hardness.upper.reduced import only_coded, predictor
from instances.errors import UsageError
from instances.family import Examples, Family
from instances.limits import require_memory
from instances.reduced import reduce

View = Literal["tokens", "flat", "reduced"]
DEFAULT_EXAMPLES = 10_000  # where neither the learner nor the budget says how many
_NUMBERS = 1 << 21  # in the tokens that are drawn, or predicted, at once

Array = NDArray[Any]


@dataclass(frozen=True, kw_only=True, eq=False)
class Data:
    """Examples in a view: x and y with the rows along the first axis, codes of the reduced view.

    used: the examples that were drawn. outcome: what ended the drawing early, but for their end.
    """

    x: Array
    y: Array
    codes: Array | None
    used: int
    outcome: Outcome | None

    def __len__(self) -> int:
        return len(self.y)


def require_view(view: str | None, what: str) -> None:
    """Refuse a view that there is not; raises UsageError."""
    if view is not None and view not in get_args(View):
        raise UsageError(f"{what}: view={view!r} given: one of {', '.join(get_args(View))}")


def require_count(examples: int | None, what: str) -> None:
    """Refuse a number of examples that is none; raises UsageError."""
    if examples is not None and (type(examples) is not int or examples < 1):
        raise UsageError(f"{what}: examples={examples!r} given: an integer of at least 1 is needed")


def view_of(view: View | None, family: Family) -> View:
    """Fill in the view of who names none: reduced where the family has it, else flat."""
    return view or ("flat" if only_coded(family) else "reduced")


def lacks(view: View | None, family: Family) -> str | None:
    """Say why a family has no such view, or None."""
    if view != "reduced" or not only_coded(family):
        return None
    return f"its view is 'reduced', which families with codes alone have, not {family.name}"


def gather(oracle: ExampleOracle, view: View, examples: int | None) -> Data:
    """Draw at most so many examples in a view; None: the budget's, 10 000 where it has no limit.

    Takes what is there where the budget ends before; raises Spent where there is nothing.
    """
    family = oracle.family
    limit = oracle.meter.budget.examples
    rest = DEFAULT_EXAMPLES if limit is None else max(1, limit - oracle.meter.examples)
    wanted = examples or rest
    size = 2 * 8 * (1 if view == "reduced" else 2 * family.k) * family.d
    require_memory(wanted * size, f"{wanted} examples of {family.spec} in the view {view!r}")
    parts: list[Any] = []
    used, outcome = 0, None
    while used < wanted:
        try:
            drawn = oracle.draw(min(wanted - used, max(1, _NUMBERS // (family.k * family.d))))
        except Spent as spent:
            if not used:
                raise
            # Who has learned from all examples that there are is judged by the risk.
            outcome = SPENT[spent.resource] if spent.resource != "examples" else None
            break
        used += len(drawn)
        parts.append(_seen(drawn, view))
    x, y, *codes = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    return Data(x=x, y=y, codes=codes[0] if codes else None, used=used, outcome=outcome)


def _seen(drawn: Examples, view: View) -> tuple[Array, ...]:
    if view == "tokens":
        return drawn.x, drawn.y
    if view == "flat":
        return flat(drawn.x), flat(drawn.y)
    found = reduce(drawn)
    return found.signs().astype(np.float64), found.values, found.codes


def flat(x: Array) -> NDArray[np.float64]:
    """Put the tokens of an example behind each other: (n, k, d) -> (n, k d), float64."""
    return x.reshape(len(x), x.shape[1] * x.shape[2]).astype(np.float64)


def completed(family: Family, view: View, predict: Callable[[Array], Any]) -> Predict:
    """Make a prediction in a view one of labels, (n, k, d) -> (n, k, d), in batches.

    predict: rows of the view's x -> rows of its y. What it gives that is no such thing makes the
    prediction raise Failed.
    """
    if view == "reduced":
        return predictor(family, lambda z: checked(predict(z[:, 1:]), (len(z),)))

    def labels(x: Array) -> Array:
        if view == "tokens":
            return checked(predict(x), x.shape)
        rows = flat(x)
        return checked(predict(rows), rows.shape).reshape(x.shape)

    return batched(labels)


def batched(predict: Callable[[Array], Any]) -> Predict:
    """Evaluate a prediction of labels on a bounded number of examples at once."""

    def batches(x: Array) -> Array:
        rows = max(1, _NUMBERS // max(1, x.shape[1] * x.shape[2]))
        parts = [
            checked(predict(x[i : i + rows]), x[i : i + rows].shape)
            for i in range(0, max(1, len(x)), rows)
        ]
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    return batches


def checked(values: Any, shape: tuple[int, ...]) -> Array:
    """Return what a user's function gave as an array of real numbers of a shape; raises Failed.

    A column (n, 1) passes for (n,). Values that are not finite pass: the judge refuses them.

    >>> checked([[1], [2]], (2,)).tolist()
    [1, 2]
    """
    if hasattr(values, "detach"):  # a torch tensor that may still carry its gradient
        values = values.detach().cpu()
    try:
        found = np.asarray(values)
    except ValueError as error:  # rows of different lengths
        raise _invalid(f"gave a {type(values).__name__} that is no array", shape) from error
    if found.shape == (*shape, 1):
        found = found[..., 0]
    if found.dtype.kind not in "fiub":
        raise _invalid(f"gave {type(values).__name__} of {found.dtype}, no real numbers", shape)
    if found.shape != shape:
        raise _invalid(f"gave the shape {found.shape}", shape)
    return found.astype(np.float64) if found.dtype.kind == "b" else found


def _invalid(what: str, shape: tuple[int, ...]) -> Failed:
    return Failed(Outcome.INVALID, {"reason": f"predict {what}: {shape} is needed"})
