"""The views in which a user's learner sees examples, and its predictions as labels.

tokens: x (n, k, d) as drawn, y (n, k, d). flat: x and y (n, k d), float64. z, for Coded families:
z (n, d-1) of +-1, float64, and s (n,), the factor of the label less its public part. samples, for
families with linear_forms: a (n, family.n) and b (n,), the code of the label, int64. The views z
and samples contain only informative examples.
"""

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from hardness.learners.learner import SPENT, Access, Failed, Hypothesis, Outcome, Predict, nothing
from hardness.learners.reduced import known_factor, predictor
from hardness.oracles import Spent
from instances import tokens
from instances.coded import Coded, reduce, require_coded
from instances.errors import UsageError
from instances.family import Examples, Family
from instances.limits import require_memory
from instances.parameters import OneOf
from instances.text import with_article

if TYPE_CHECKING:
    from hardness.oracles import ExampleOracle  # which loads what answers queries

View = Literal["tokens", "flat", "z", "samples"]
DEFAULT_EXAMPLES = 10_000  # if neither the learner nor the budget has a number
_BATCH_NUMBERS = 1 << 21  # numbers of tokens that are drawn, or predicted, at once

Array = NDArray[Any]
PredictView = Callable[[Array], Any]  # rows of a view's x -> rows of its y


@dataclass(frozen=True, kw_only=True, eq=False)
class Data:
    """Examples in a view: x and y with the rows along the first axis, codes of the view z.

    outcome: the reason for an early end, None if only the examples ended. drawn: the number of
    examples, some of which the view may omit.
    """

    family: Family
    view: View
    x: Array
    y: Array
    codes: Array | None
    outcome: Outcome | None
    drawn: int

    def __len__(self) -> int:
        return len(self.y)

    @property
    def baseline(self) -> Array:
        """The public part of y; errors relative to its own are comparable to risks."""
        if self.view == "z":
            return np.zeros_like(self.y)
        if self.view == "samples":
            return np.full(self.y.shape, self.y.mean())
        shape = (-1, self.family.k, self.family.d)
        return self.family.known(self.x.reshape(shape)).reshape(self.y.shape)


@dataclass(frozen=True, eq=False)
class Viewed:
    """A learner that sees examples in a view, and predicts in it.

    wrapped: the object that learns. view: by default z if the family has it, else flat. name: by
    default that of the object or of its class. Raises UsageError for a view that does not exist.
    """

    access: ClassVar[Access] = "examples"
    kind: ClassVar[str]  # the text for objects without a docstring

    wrapped: Any
    view: View | None = None
    name: str = ""

    def __post_init__(self) -> None:
        if not self.name:
            name = getattr(self.wrapped, "__name__", type(self.wrapped).__name__)
            object.__setattr__(self, "name", str(name))
        if self.view is not None and self.view not in (views := OneOf(get_args(View))):
            raise UsageError(f"{type(self).__name__}: {views.refusal('view', self.view)}")

    @property
    def about(self) -> str:
        """The first line of the object's docstring."""
        return first_line(self.wrapped) or self.kind

    def supports(self, family: Family) -> str | None:
        """Families that have the view."""
        coded, forms = isinstance(family, Coded), family.linear_forms
        lacking = {"z": "" if coded else "coded", "samples": "" if forms else "linear_forms"}
        offer = lacking.get(self.view or "")
        return f"its view is '{self.view}': {family.lacks(offer)}" if offer else None


@dataclass(frozen=True, eq=False)
class Gathering(Viewed, ABC):
    """A learner that draws all its examples, or `examples` of them, before it fits."""

    examples: int | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.examples is not None and (type(self.examples) is not int or self.examples < 1):
            raise UsageError(f"examples must be an integer of at least 1, got {self.examples!r}")

    def learn(self, oracle: "ExampleOracle", rng: np.random.Generator) -> Hypothesis:
        """Draw the examples, fit, and convert predictions to labels."""
        family = oracle.family
        view: View = self.view or ("z" if isinstance(family, Coded) else "flat")
        data = gather(oracle, view, self.examples)
        details: dict[str, Any] = {"view": view, "trained_on": len(data)}
        if not len(data):
            return nothing(family, data.outcome, **details)
        try:
            predict, more = self.fit(data, rng)
        except Exception as error:
            error.add_note(f"(in the view '{view}': x {data.x.shape}, y {data.y.shape})")
            raise
        predict = completed(family, view, predict)
        return Hypothesis(predict=predict, outcome=data.outcome, details=details | more)

    @abstractmethod
    def fit(self, data: Data, rng: np.random.Generator) -> tuple[PredictView, dict[str, Any]]:
        """Learn from at least one example: rows of x -> rows of y, and numbers for the details."""


@dataclass(frozen=True, eq=False)
class Function(Gathering):
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
        if not callable(self.wrapped) or not takes_examples(self.wrapped):
            what = described(self.wrapped)
            raise UsageError(f"Function takes a function learn(x, y), got {what}")

    def fit(self, data: Data, rng: np.random.Generator) -> tuple[PredictView, dict[str, Any]]:
        """Call the function."""
        third = (rng,) if takes_rng(self.wrapped) else ()
        predict = self.wrapped(data.x, data.y, *third)
        if not callable(predict):
            gave = f"{self.name} gave {described(predict)}: a function predict(x) is needed"
            raise Failed(Outcome.INVALID, {"reason": gave})
        return predict, {}


def function(
    *, view: View = "tokens", examples: int | None = None
) -> Callable[[Callable[..., Any]], Function]:
    """Decorate a function learn(x, y): it becomes a learner with the given view.

    >>> @function(view="z", examples=500)
    ... def linear(z, s):
    ...     weights = z.T @ s / len(s)
    ...     return lambda z: z @ weights
    >>> linear.examples
    500
    """
    return lambda learn: Function(learn, examples=examples, view=view)


def gather(oracle: "ExampleOracle", view: View, examples: int | None) -> Data:
    """Draw at most so many examples in a view; None: the budget's, or 10 000 without a limit.

    If the budget ends earlier, it returns the examples drawn; raises Spent if there are none.
    """
    family, limit = oracle.family, oracle.meter.budget.examples
    rest = DEFAULT_EXAMPLES if limit is None else max(1, limit - oracle.meter.examples)
    wanted = examples or rest
    size = 2 * 8 * (1 if view in ("z", "samples") else 2 * family.k) * family.d
    require_memory(wanted * size, f"{wanted} examples of {family} in the view {view!r}")
    parts: list[Any] = []
    used, outcome = 0, None
    while used < wanted:
        try:
            drawn = oracle.draw(min(wanted - used, max(1, _BATCH_NUMBERS // (family.k * family.d))))
        except Spent as spent:
            if not used:
                raise
            # If only the examples ended, the risk decides about the run.
            outcome = SPENT[spent.resource] if spent.resource != "examples" else None
            break
        used += len(drawn)
        parts.append(_arrays_of_view(drawn, view))
    x, y, *codes = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    first = codes[0] if codes else None
    return Data(family=family, view=view, x=x, y=y, codes=first, outcome=outcome, drawn=used)


def _arrays_of_view(drawn: Examples, view: View) -> tuple[Array, ...]:
    if view == "tokens":
        return drawn.x, drawn.y
    if view == "flat":
        return flat(drawn.x), flat(drawn.y)
    if view == "samples":
        from instances.samples import samples  # a module that imports readers of files

        seen = samples(drawn)
        return seen.a, seen.codes
    opened = reduce(drawn)
    return opened.signs().astype(np.float64), opened.values, opened.codes


def flat(x: Array) -> NDArray[np.float64]:
    """Concatenate the tokens of each example: (n, k, d) -> (n, k d), float64."""
    return x.reshape(len(x), x.shape[1] * x.shape[2]).astype(np.float64)


def completed(family: Family, view: View, predict: PredictView) -> Predict:
    """Convert a prediction in a view to labels (n, k, d), in batches; these may raise Failed."""
    if view == "z":
        return predictor(family, lambda z: checked(predict(z[:, 1:]), (len(z),)))
    if view == "samples":
        return predictor(family, lambda z: _of_samples(family, z, predict))

    if view == "tokens":
        return batched(predict)

    def labels(x: Array) -> Array:
        rows = flat(x)
        return checked(predict(rows), rows.shape).reshape(x.shape)

    return batched(labels)


def _of_samples(
    family: Family, z: NDArray[np.float64], predict: PredictView
) -> NDArray[np.float64]:
    """Convert predictions of b, also fractional ones, to the factor less its public part: (n,)."""
    x = np.ones((len(z), 2, family.d), np.int8)
    x[:, 1] = z
    a = (family.linear_forms or family.refuse("linear_forms")).vectors(tokens.pack(x))
    b = checked(predict(a), (len(z),)).astype(np.float64)
    levels = require_coded(family).factors
    factor = np.where(np.isfinite(b), np.interp(b, np.arange(len(levels)), levels), b)
    return factor - known_factor(family, z)


def batched(predict: PredictView) -> Predict:
    """Evaluate predictions of labels in batches of bounded size."""

    def batches(x: Array) -> Array:
        rows = max(1, _BATCH_NUMBERS // max(1, x.shape[1] * x.shape[2]))
        parts = [x[i : i + rows] for i in range(0, max(1, len(x)), rows)]
        return np.concatenate([checked(predict(part), part.shape) for part in parts])

    return batches


def checked(values: Any, shape: tuple[int, ...]) -> Array:
    """Convert the result of a user's function to a real array of this shape; raises Failed.

    A column (n, 1) is accepted as (n,). Values may be infinite or NaN: the judge refuses these.

    >>> checked([[1], [2]], (2,)).tolist()
    [1, 2]
    """
    if hasattr(values, "detach"):  # a torch tensor that may have a gradient
        values = values.detach().cpu()
    try:
        array = np.asarray(values)
    except ValueError as error:  # rows of different lengths
        raise _invalid(f"gave {described(values)} that is no array", shape) from error
    if array.shape == (*shape, 1):
        array = array[..., 0]
    if array.dtype.kind not in "fiub":
        raise _invalid(f"gave {type(values).__name__} of {array.dtype}, no real numbers", shape)
    if array.shape != shape:
        raise _invalid(f"gave the shape {array.shape}", shape)
    return array.astype(np.float64) if array.dtype.kind == "b" else array


def _invalid(subject: str, shape: tuple[int, ...]) -> Failed:
    return Failed(Outcome.INVALID, {"reason": f"predict {subject}: {shape} is needed"})


def described(value: Any) -> str:
    """Describe an object in a few words: a class or function by its name."""
    if inspect.isclass(value):
        return f"the class {value.__name__}"
    if inspect.isroutine(value):
        try:
            return f"the function {value.__name__}{inspect.signature(value)}"[:100]
        except (TypeError, ValueError):
            return f"the function {value.__name__}"
    return with_article(type(value).__name__)


def first_line(value: Any) -> str:
    """Return the first line of an object's docstring, or an empty string."""
    lines = (getattr(value, "__doc__", None) or "").strip().splitlines()
    return lines[0].strip()[:200] if lines else ""


def takes_examples(value: Callable[..., Any]) -> bool:
    """Return whether a function has two or three required arguments: x, y and perhaps rng."""
    return 2 <= len(needs(value)) <= 3


def takes_rng(value: Callable[..., Any]) -> bool:
    """Return whether the third argument is required, or has the name rng."""
    places = _positional(value)
    return len(needs(value)) == 3 or (len(places) > 2 and places[2].name == "rng")


def needs(value: Callable[..., Any]) -> list[str]:
    """Return the names of the required positional arguments, without *args."""
    return [p.name for p in _positional(value) if p.default is inspect.Parameter.empty]


def _positional(value: Callable[..., Any]) -> list[inspect.Parameter]:
    try:
        found = inspect.signature(value).parameters.values()
    except (TypeError, ValueError):  # compiled functions without a signature
        return []
    return [p for p in found if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
