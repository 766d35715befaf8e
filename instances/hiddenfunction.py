"""What a member hides as a function of chosen signs, and how its labels show it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from instances.capabilities import NOISY_PARITIES, PROVED_AS, SCHEME
from instances.family import Secret

if TYPE_CHECKING:
    from instances.coded import Coded

Signs = NDArray[np.int8]
Array = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class HiddenFunction:
    """A function f of `places` signs z, and noise that reflects its value in the middle of levels.

    tokens: z (n, places) -> tokens (n, k, d) whose labels show f(z). read: these tokens and labels
    -> f(z) with noise, (n,), exactly one of the levels. labels: tokens and a function z -> values
    -> labels. largest: of a level. noise: the probability that a value is reflected.

    secret: a set of places, as a tuple -> the secret of the member that hides it; None where f is
    not g(the number of places of a hidden set with z_j = -1). size: of the set, where it is public.
    first_step: whether g(0) != g(1) in all members.

    >>> from instances import parse
    >>> instance = parse("parity:d=4,m=2").instance(0)
    >>> hidden, z = instance.family.hidden_function, np.array([[1, 1, 1], [1, -1, 1]], np.int8)
    >>> x = hidden.tokens(z)
    >>> instance.hidden.secret, hidden.read(x, instance.values(0, x)).tolist()
    ((1, 2), [1.0, -1.0])
    """

    places: int
    tokens: Callable[[Signs], Signs]
    read: Callable[[NDArray[Any], Array], Array]
    labels: Callable[[NDArray[Any], Callable[[Signs], Array]], Array]
    largest: float
    noise: float
    secret: Callable[[tuple[int, ...]], Secret] | None = None
    size: int | None = None
    first_step: bool = False


def of_coded(family: "Coded") -> HiddenFunction:
    """Describe the factor of a family of coded labels: X_1 all +1, X_2 = z with z_0 = -1."""
    levels = np.sort(family.factors)
    between = (levels[1:] + levels[:-1]) / 2

    def tokens(z: Signs) -> Signs:
        x = np.ones((len(z), 2, family.d), np.int8)
        x[:, 1, 0], x[:, 1, 1:] = -1, z
        return x

    def read(x: NDArray[Any], y: Array) -> Array:
        return levels[np.searchsorted(between, family.factor_of(x, y))]

    def labels(x: NDArray[Any], f: Callable[[Signs], Array]) -> Array:
        return family.labelled(x, f((x[:, 0] * x[:, 1])[:, 1:].astype(np.int8)))

    parities, proved = NOISY_PARITIES.of(family), PROVED_AS.of(family)
    hides: dict[str, Any] = {}
    if sets := SCHEME.of(family) or (proved and proved[0]):
        hides = {"size": sets.m, "first_step": sets.values[0] != sets.values[1]}
        hides["secret"] = lambda places: tuple(j + 1 for j in places)
    elif parities:
        hides = {"size": parities.h or None, "first_step": True}
        hides["secret"] = lambda places: tuple(int(j in places) for j in range(family.d - 1))
    return HiddenFunction(
        places=family.d - 1,
        tokens=tokens,
        read=read,
        labels=labels,
        largest=float(np.abs(levels).max()),
        noise=float(family.noise),
        **hides,
    )
