"""A hypothesis is a function of tokens: asked again, in other batches, it has to answer the same.

What tosses a coin a call makes all predictions of a call depend on it, and an interval over
examples says nothing of coins. (docs/mathematics.md, section 13)
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardness.upper.learner import Predict
from instances.family import Instance
from instances.streams import generator

CALLS = 64  # at most; a hypothesis that differs in a share q of its calls passes all by (1 - q)^64
_PART = 8  # one token pair in so many is asked for again
_SAME = (
    1e-3  # of the labels' size and of the prediction's: more than rounding moves, no risk's worth
)


class Repeated:
    """A prediction function that keeps a part of what it was asked, and asks for it again.

    >>> from instances import parse
    >>> instance = parse("parity:d=8,m=3").instance(0)
    >>> fixed, counted = Repeated(instance.layer()), Repeated(lambda x: np.full(x.shape, len(x)))
    >>> x = instance.examples(0, 100).x
    >>> _ = fixed(x), counted(x)
    >>> fixed.same(instance), counted.same(instance)
    (True, False)
    """

    def __init__(self, predict: Predict) -> None:
        """Wrap a prediction function: (n, k, d) -> (n, k, d)."""
        self._predict = predict
        self._asked: list[NDArray[Any]] = []
        self._said: list[NDArray[Any]] = []

    def __call__(self, x: NDArray[Any]) -> NDArray[Any]:
        """Predict, and keep every eighth token pair with its prediction."""
        kept = x[::_PART].copy()  # before it is written into
        said = np.asarray(self._predict(x))
        if said.shape == x.shape:  # others are refused as they are
            self._asked.append(kept)
            self._said.append(said[::_PART].copy())
        return said

    def same(self, instance: Instance) -> bool:
        """Ask again, in batches of 1 to 64 or so and in another order: are all answers the same?

        To within a thousandth of the labels' size. For valid predictions alone.
        """
        x, y = np.concatenate(self._asked), np.concatenate(self._said).astype(np.float64)
        labels = instance.family.mean(instance.hidden.secret, x)
        size = _SAME * float(np.sqrt((labels**2).sum(axis=(1, 2)).mean()))
        order = generator(instance.hidden.seed, "repeated").permutation(len(x))
        cuts = np.unique([1, *(np.arange(1, CALLS) ** 2 * len(x) // CALLS**2)])
        return all(
            _close(self._predict(x[rows]), y[rows], size)
            for rows in np.split(order, cuts)
            if len(rows)
        )


def _close(given: Any, wanted: NDArray[np.float64], size: float) -> bool:
    """Compare predictions (n, k, d) with what was said before."""
    with np.errstate(all="ignore"):  # beyond float64 they are infinitely far apart
        again = np.asarray(given)
        if again.shape != wanted.shape or again.dtype.kind not in "fiu":
            return False
        apart = np.abs(again - wanted) <= size + _SAME * np.abs(wanted)
    return bool(apart.all())
