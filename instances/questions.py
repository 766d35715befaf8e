"""Which tokens of a family a learner may choose, and what function of them labels may show."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from instances.errors import UsageError

if TYPE_CHECKING:
    from instances.family import Family, Secret

Signs = NDArray[np.int8]
Array = NDArray[np.float64]
_LARGEST = 1e100  # of an entry: products of three stay within float64


@dataclass(frozen=True, kw_only=True)
class Questions:
    """Tokens of -1 and +1, or of any real numbers, perhaps with some entries that are public.

    fixed: (token, coordinate, value) of each of these, counted from 0.

    >>> from instances import parse
    >>> asked = Questions(tokens="boolean", fixed=((0, 0, 1), (1, 0, -1)))
    >>> x = np.ones((1, 2, 8))
    >>> asked.checked(x, parse("parity:d=8,m=3"))
    Traceback (most recent call last):
    instances.errors.UsageError: tokens with 1 in coordinate 0 of token 2 given: it is -1 here
    """

    tokens: Literal["boolean", "real"]
    fixed: tuple[tuple[int, int, float], ...] = ()

    def checked(self, x: Any, family: "Family") -> NDArray[Any]:
        """Return tokens (n, k, d), int8 where they are -1 and +1, else float64; raises UsageError.

        Numbers may be of any real type.
        """
        wanted = f"(n, {family.k}, {family.d})"
        try:
            given = np.asarray(x)
        except ValueError:  # rows of different lengths
            raise UsageError(f"tokens that are no array given: {wanted} is needed") from None
        if given.ndim != 3 or given.shape[1:] != (family.k, family.d):
            raise UsageError(f"tokens of shape {given.shape} given: {wanted} is needed")
        if given.dtype.kind not in "iuf":
            raise UsageError(f"tokens of type {given.dtype} given: integers or floats are needed")
        if self.tokens == "boolean":
            odd = given[(given != 1) & (given != -1)]
            if odd.size:
                raise UsageError(
                    f"tokens with an entry {odd[0]:g} given: {family.name} takes -1 and +1"
                )
            found: NDArray[Any] = given.astype(np.int8)
        else:
            found = given.astype(np.float64)
            odd = found[~(np.abs(found) <= _LARGEST)]
            if odd.size:
                raise UsageError(
                    f"tokens with an entry {odd[0]:g} given: numbers up to {_LARGEST:g} are allowed"
                )
        for token, coordinate, value in self.fixed:
            entries = found[:, token, coordinate]
            wrong = entries[entries != value]
            if wrong.size:
                raise UsageError(
                    f"tokens with {wrong[0]:g} in coordinate {coordinate} of token {token + 1} "
                    f"given: it is {value:g} here"
                )
        return found


@dataclass(frozen=True, kw_only=True)
class HiddenFunction:
    """A function f of `places` signs z, and noise that reflects its value in the middle of levels.

    tokens: z (n, places) -> tokens (n, k, d) whose labels show f(z). read: these tokens and labels
    -> f(z) with noise, (n,), exactly one of the levels. noise: the probability that a value is
    reflected.

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
    noise: float
    secret: "Callable[[tuple[int, ...]], Secret] | None" = None
    size: int | None = None
    first_step: bool = False
