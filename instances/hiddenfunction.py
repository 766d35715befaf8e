"""What a member hides as a function of chosen signs, and how its labels show it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from instances.family import Secret

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
