"""Two-valued functions of a user as a family: what learners learn, without a layer."""

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, Field
from fractions import Fraction
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from instances.coded import Coded
from instances.errors import UsageError
from instances.family import Secret, require
from instances.layer import AttentionLayer
from instances.limits import require_memory
from instances.parameters import parameters_of
from instances.userfile import Functions, Origin, guarded

_MOST_POINTS = 20  # bits of a point: a million values a function
_KEPT = 16  # sizes of a class, with their tables


class ListedFunctions(Coded):
    """Functions of z_1 .. z_(d-1) with values -1 and +1, each by its table; secret (i,) is one.

    A class of these for each class of functions of a user, whose parameters are those of the spec:
    its d is d - 1 here, as z_0 says where a label shows. No attention layer is known for them:
    `layer` raises UsageError.
    """

    noise = Fraction(0)
    layer_heads = 0  # nobody knows
    origin: ClassVar[Origin]
    spec_fields: ClassVar[tuple[Field[Any], ...]]

    def __init__(self, **given: Any) -> None:
        """Make the functions of some parameters; raises UsageError."""
        defaults = {f.name: f.default for f in self.spec_fields if f.default is not MISSING}
        self.spec_values: Mapping[str, Any] = defaults | given
        self.given = made(self.origin, tuple(given.items()))
        self.d = self.given.d + 1
        _tables(self.given)

    def __eq__(self, other: object) -> bool:
        """Compare classes and parameters."""
        return type(self) is type(other) and vars(self)["spec_values"] == vars(other)["spec_values"]

    def __hash__(self) -> int:
        """Hash the spec."""
        return hash(self.spec)

    @property
    def size(self) -> int:
        """How many there are."""
        return len(self.given.functions)

    def members(self) -> Any:
        """List them in the order of the file."""
        return ((i,) for i in range(self.size))

    def draw(self, rng: np.random.Generator) -> Secret:
        """Draw one uniformly."""
        return (int(rng.integers(self.size)),)

    def code(self, secret: Secret, z: NDArray[np.int8]) -> NDArray[np.bool_]:
        """Look values up."""
        found: NDArray[np.bool_] = _tables(self.given)[secret[0]]
        return found[(z[:, 1:] < 0) @ (1 << np.arange(self.d - 1))]

    def _tabled(self) -> Iterator[NDArray[np.float64]]:
        return (np.where(row, -1.0, 1.0) for row in _tables(self.given))

    def layer(self, secret: Secret) -> AttentionLayer:
        """Refuse: raises UsageError."""
        raise UsageError(
            "functions of a file given: no attention layer is known that has their labels"
        )


def class_of(origin: Origin) -> type[ListedFunctions]:
    """Make the family of what gives functions, under its own name."""
    fields = parameters_of(origin.value) if origin.called else ()
    needed = (f"{f.name}={8 if f.name == 'd' else 2}" for f in fields if f.default is MISSING)
    about = (getattr(origin.value, "__doc__", None) or "").strip().splitlines()
    told = about[0] if origin.called and about and about[0].isprintable() else ""
    space = {
        "name": origin.name,
        "example": ":".join(filter(None, (origin.name, ",".join(needed)))),
        "about": told or "two-valued functions of a user's file",
        "origin": origin,
        "spec_fields": fields,
    }
    return type(origin.name, (ListedFunctions,), space)


@lru_cache(_KEPT)
def made(origin: Origin, given: tuple[tuple[str, Any], ...]) -> Functions:
    """Make functions once for the same parameters; raises UsageError."""
    return origin.functions(dict(given))


@lru_cache(_KEPT)
def _tables(given: Functions) -> NDArray[np.bool_]:
    """Tabulate functions: (N, 2^n), True for -1; bit j - 1 of a place is 1 where z_j = -1.

    Raises UsageError where values are not -1 and +1, or repeat.
    """
    n, count = given.d, len(given.functions)
    require(
        n <= _MOST_POINTS, f"d={n} given: functions are played on up to 2^{_MOST_POINTS} points"
    )
    require_memory(2 * count << n, f"the tables of {count} functions")
    places = np.arange(1 << n)
    points = (1 - 2 * (places[:, None] >> np.arange(n) & 1)).astype(np.int8)
    points.setflags(write=False)
    rows = np.empty((count, 1 << n), np.bool_)
    seen: dict[bytes, int] = {}
    for i, function in enumerate(given.functions):
        with guarded(given.where(i)):
            values, again = np.asarray(function(points)), np.asarray(function(points[::-1]))
        if values.shape != (1 << n,) or not (np.abs(values) == 1).all():
            raise UsageError(
                f"{given.where(i)} is not -1 or +1 at each of 2^{n} points: query learners play "
                "such functions; `hardness certify` takes all"
            )
        if again.shape != values.shape or (again[::-1] != values).any():
            raise UsageError(
                f"{given.where(i)} has other values at the same points in another order"
            )
        rows[i] = values < 0
        before = seen.setdefault(hashlib.sha256(rows[i].tobytes()).digest(), i)
        require(before == i, f"{given.where(i)} is the function {given.names[before]} again")
    return rows
