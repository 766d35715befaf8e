"""The unknown factor of a member's labels as a table over z: what general bounds stand on.

Where z_0 = -1 a label is Y[l, 0] = X[l, 0] times a factor, a function of z_1 .. z_(d-1) alone.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from instances.errors import UsageError
from instances.family import Secret
from instances.limits import require_memory

if TYPE_CHECKING:
    from instances.coded import Coded

MOST_COORDINATES = 26  # of z: a table has 2^26 entries there
MOST_MEMBERS = 5000  # of which all correlations are computed


@dataclass(frozen=True, kw_only=True)
class FactorTables:
    """Tables of the factor over all z, one a member.

    >>> from instances import parse
    >>> tables = parse("parity:d=3,m=2").factor
    >>> tables.table((1, 2)).tolist()
    [1.0, -1.0, -1.0, 1.0]
    """

    family: "Coded"

    @property
    def n(self) -> int:
        """The number of coordinates of z that the factor depends on: d - 1."""
        return self.family.d - 1

    @property
    def size(self) -> int | None:
        """The number of members."""
        return self.family.size

    def members(self) -> Iterator[Secret] | None:
        """List the secrets of all members, or None where that is not known how."""
        return self.family.members()

    def listed(self, most: int) -> tuple[Secret, ...]:
        """List the secrets of all members; raises UsageError for more than `most`."""
        size = self.size
        found = self.members() if size is not None and size <= most else None
        if found is None or size is None:
            raise UsageError(
                f"{self.family.spec[:200]} given: up to {most} members are enumerated, which "
                "`members` of the family lists: take smaller parameters"
            )
        secrets = tuple(islice(found, size + 1))
        if len(secrets) != size or len(set(secrets)) != size:
            more = "more" if len(secrets) > size else f"{len(set(secrets))} different ones"
            raise UsageError(
                f"{self.family.spec[:200]} given: its size is {size}, and `members` lists {more}: "
                "fix one of them"
            )
        return secrets

    def codes(
        self, secret: Secret, start: int = 0, stop: int | None = None
    ) -> NDArray[np.unsignedinteger]:
        """Compute which level the factor has, without noise: (2^n,), bit j - 1 set where z_j = -1.

        Of entries start .. stop-1 alone where these are given. Raises TooLarge where memory does
        not hold it.
        """
        stop = 1 << self.n if stop is None else min(stop, 1 << self.n)
        words = self.points(start, stop)
        return self.family.codes(secret, words, np.zeros(len(words), np.bool_))

    def points(self, start: int, stop: int) -> NDArray[np.uint64]:
        """Write z of entries start .. stop-1, z_0 = -1, as packed tokens: (stop - start, 2, 1)."""
        require_memory(40 * (stop - start), f"a table over z of {self.family.spec}")
        words = np.zeros((stop - start, 2, 1), np.uint64)
        words[:, 0, 0] = np.arange(start, stop, dtype=np.uint64) << np.uint64(1) | np.uint64(1)
        return words

    def part(self, secret: Secret, start: int, stop: int) -> NDArray[np.float64]:
        """Evaluate entries start .. stop-1 of a member's table."""
        return self.family.factors[self.codes(secret, start, stop)]

    def mean(self, secret: Secret) -> NDArray[np.float64]:
        """Evaluate the factor of E[Y|X] of a member whose noise is flips: (2^n,)."""
        return self.family.fade(self.table(secret))

    def known(self) -> NDArray[np.float64]:
        """Evaluate the public factor: (2^n,); raises TooLarge."""
        return self.family.expected(self.points(0, 1 << self.n))

    def table(self, secret: Secret) -> NDArray[np.float64]:
        """Evaluate the factor without noise: (2^n,), bit j - 1 of an index set where z_j = -1."""
        return self.family.factors[self.codes(secret)]
