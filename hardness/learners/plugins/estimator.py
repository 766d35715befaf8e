"""Anything with fit and predict as a learner: regressors and classifiers of scikit-learn.

A classifier learns the level of the unknown part of a label. Its guess is c times g(z), the
expected factor less its public part. c is fitted by least squares to held-out examples and one more
example on which the guess is right: c = (sum s g + v) / (sum g^2 + v), v = mean s^2. For a guess
that is always right, c = 1 exactly. For a useless guess c is near 0, so the risk is 1 and not 2.
With flips of probability eta c is near 1 - 2 eta, like E[Y|X]. If g is near 0 or there are few
held-out examples, the added example keeps c finite and near 1.
"""

import copy
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from hardness.learners.learner import Failed, Outcome
from hardness.learners.plugins.views import Data, Gathering, PredictView, checked, described
from hardness.learners.reduced import known_factor
from instances.coded import Coded, require_coded
from instances.errors import UsageError

Array = NDArray[Any]
_HELD_OUT_EXAMPLES = (64, 10_000)  # at least and at most; a fifth of all examples in between


@dataclass(frozen=True, eq=False)
class Estimator(Gathering):
    """Learns by an object with fit and predict, or by what a function without arguments makes.

    A classifier needs the view z, and holds out a fifth of its examples. The object itself is never
    changed, as only a copy is fitted. Each random_state of the copy that is None is set by the
    learner's generator.
    """

    kind: ClassVar[str] = "an estimator with fit and predict"

    def __post_init__(self) -> None:
        made = self.make()
        if not fits(made):
            raise UsageError(
                f"Estimator takes an object with fit and predict, got {described(made)}"
            )
        super().__post_init__()
        if self.view == "tokens":
            raise UsageError("view of an Estimator must be flat, z or samples: fit takes rows")
        if is_classifier(made):
            if self.view in ("flat", "samples"):
                raise UsageError(f"view of a classifier must be z, got {self.view}")
            object.__setattr__(self, "view", "z")

    def make(self) -> Any:
        """Return an unfitted copy of the object, or a new one."""
        if not fits(self.wrapped) or isinstance(self.wrapped, type):
            return self.wrapped() if callable(self.wrapped) else self.wrapped
        if _is_sklearn(self.wrapped):
            return sys.modules["sklearn.base"].clone(self.wrapped)
        return copy.deepcopy(self.wrapped)

    def fit(self, data: Data, rng: np.random.Generator) -> tuple[PredictView, dict[str, Any]]:
        """Fit a new object: a classifier to levels, a regressor to labels."""
        estimator = seeded(self.make(), rng)
        if is_classifier(estimator):
            return _classify(estimator, data)
        try:
            return _fitted(estimator, data.x, data.y).predict, {}
        except ValueError:  # tags do not state whether a regressor accepts several columns
            if data.y.ndim == 1 or not _is_sklearn(estimator):
                raise
            from sklearn.multioutput import MultiOutputRegressor

            each = MultiOutputRegressor(sys.modules["sklearn.base"].clone(estimator))
            return each.fit(data.x, data.y).predict, {}


def _classify(estimator: Any, data: Data) -> tuple[PredictView, dict[str, Any]]:
    family, codes = require_coded(data.family), data.codes
    assert codes is not None
    least, most = _HELD_OUT_EXAMPLES
    held = min(max(len(data) // 5, least), most, len(data) // 2)
    train = slice(0, len(data) - held)
    factor = _factor(estimator, data.x[train], codes[train], family)

    def guess(z: Array) -> Array:
        return factor(z) - known_factor(family, np.column_stack([np.ones(len(z)), z]))

    right = data.y[len(data) - held :]
    scale = fitted_scale(guess(data.x[len(data) - held :]), right) if held else 1.0
    return lambda z: scale * guess(z), {"scale": scale}


def fitted_scale(guess: Array, right: Array) -> float:
    """Compute c, at least 0, from guesses and right values, both (n,).

    >>> s = np.array([1.0, -1.0, -1.0])
    >>> fitted_scale(s, s), fitted_scale(-s, s), fitted_scale(0 * s, s)
    (1.0, 0.0, 1.0)
    """
    spread = float(right @ right) / len(right)
    below = float(guess @ guess) + spread
    return max(0.0, (float(guess @ right) + spread) / below) if below else 1.0


def _factor(estimator: Any, z: Array, codes: Array, family: Coded) -> Callable[[Array], Array]:
    """Fit levels; return the expected factor, from probabilities if the estimator has them."""
    classes = np.unique(codes)
    if len(classes) == 1:  # many classifiers refuse a single class
        return lambda z: np.full(len(z), family.factors[classes[0]])
    fitted = _fitted(estimator, z, codes.astype(np.int64))
    if hasattr(fitted, "predict_proba"):
        levels = family.factors[np.asarray(getattr(fitted, "classes_", classes), np.intp)]
        return lambda z: checked(fitted.predict_proba(z), (len(z), len(levels))) @ levels

    def decided(z: Array) -> Array:
        codes = checked(fitted.predict(z), (len(z),)).astype(np.intp)
        return family.factors[np.clip(codes, 0, len(family.factors) - 1)]

    return decided


def _fitted(estimator: Any, x: Array, y: Array) -> Any:
    """Fit; return the result of fit, or the object if that is None; raises Failed."""
    returned = estimator.fit(x, y)
    fitted = estimator if returned is None else returned
    if not callable(getattr(fitted, "predict", None)):
        raise Failed(Outcome.INVALID, {"reason": f"after fit {described(fitted)} has no predict"})
    return fitted


def seeded(estimator: Any, rng: np.random.Generator) -> Any:
    """Set random_state of an object and of all its steps, if it is None; return the object."""
    if not hasattr(estimator, "get_params"):
        if getattr(estimator, "random_state", 0) is None:
            estimator.random_state = int(rng.integers(1 << 31))
        return estimator
    for name, value in sorted(estimator.get_params().items(), key=lambda item: item[0]):
        if name.split("__")[-1] == "random_state" and value is None:
            estimator.set_params(**{name: int(rng.integers(1 << 31))})
    return estimator


def fits(value: Any) -> bool:
    """Return whether an object has fit, and predict, perhaps only after fit."""
    return callable(getattr(value, "fit", None)) and _has_method(value, "predict")


def _has_method(value: Any, name: str) -> bool:
    return callable(getattr(value, name, None)) or hasattr(type(value), name)


def is_classifier(estimator: Any) -> bool:
    """Return whether an object is a classifier: by scikit-learn, its own type, or predict_proba."""
    if _is_sklearn(estimator):
        return bool(sys.modules["sklearn.base"].is_classifier(estimator))
    kind = getattr(estimator, "_estimator_type", None)
    return kind == "classifier" or (kind is None and _has_method(estimator, "predict_proba"))


def _is_sklearn(estimator: Any) -> bool:
    base = sys.modules.get("sklearn.base")  # without an import of sklearn it is not sklearn's
    return base is not None and isinstance(estimator, base.BaseEstimator)
