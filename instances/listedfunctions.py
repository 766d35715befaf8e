"""Two-valued functions of a user's file as a family: what query learners play, without a layer."""

import hashlib
from dataclasses import InitVar, dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from instances.coded import Coded
from instances.errors import UsageError
from instances.family import Secret, require
from instances.layer import AttentionLayer
from instances.limits import require_memory
from instances.userfile import Functions, guarded

_MOST_POINTS = 20  # bits of a point: a million values a function


@dataclass(frozen=True, kw_only=True)
class ListedFunctions(Coded):
    """Functions of z_1 .. z_(d-1) with values -1 and +1, each by its table; secret (i,) is one.

    sha256: of the tables. No attention layer is known for them: `layer` raises UsageError.
    """

    name = "functions"
    example = "functions"
    about = "two-valued functions of a user's file"

    d: int
    functions: int
    sha256: str
    noise: Fraction = Fraction(0)
    rows: InitVar[NDArray[np.bool_]]  # (N, 2^(d-1)), True for -1; bit j - 1 of a place is z_j = -1

    def __post_init__(self, rows: NDArray[np.bool_]) -> None:
        object.__setattr__(self, "table", rows)

    @property
    def size(self) -> int:
        """How many there are."""
        return self.functions

    def members(self) -> Any:
        """List them in the order of the file."""
        return ((i,) for i in range(self.functions))

    def draw(self, rng: np.random.Generator) -> Secret:
        """Draw one uniformly."""
        return (int(rng.integers(self.functions)),)

    def code(self, secret: Secret, z: NDArray[np.int8]) -> NDArray[np.bool_]:
        """Look values up."""
        table: NDArray[np.bool_] = self.table  # type: ignore[attr-defined]
        return table[secret[0]][(z[:, 1:] < 0) @ (1 << np.arange(self.d - 1))]

    def layer(self, secret: Secret) -> AttentionLayer:
        """Refuse: raises UsageError."""
        raise UsageError(
            "functions of a file given: no attention layer is known that has their labels"
        )


def listed_functions(given: Functions) -> ListedFunctions:
    """Tabulate functions of a file; raises UsageError where values are not -1 and +1, or repeat."""
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
    return ListedFunctions(
        d=n + 1,
        functions=count,
        sha256=hashlib.sha256(rows.tobytes()).hexdigest(),
        rows=rows,
    )
