"""Many candidates in one query: how near the query bound can be reached.

The query of a pool of L parities has the mean (1 - 2 eta)/2 E[sign(sum of the pool) chi_S] for
member S, about (1 - 2 eta)/sqrt(2 pi L) inside of the pool. The learner computes it exactly for
every member that is left, and an answer rules out those further than tau from it: whole pools at a
time, where asking one by one rules out one.

Of other families whose members can be listed it asks about the first 1, 2, 4, ... that are left,
always as many as make sure that most are ruled out, whatever the answer; where no pool is sure of
any it goes on one by one.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from hardness.oracles import Means, Pool, QueryOracle, Spent
from hardness.oracles.means import can_follow, secrets
from hardness.upper.learner import SPENT, Hypothesis, Outcome, member, nothing
from hardness.upper.versionspace import Asking, Question, VersionSpace
from instances.capabilities import CHARACTERS
from instances.family import Family, require
from instances.symmetric import Symmetric


@dataclass(frozen=True, kw_only=True)
class Pooled(Asking):
    """Asks about `pool` members at once (0: as many as the tolerance allows)."""

    name: ClassVar[str] = "pooled"
    about: ClassVar[str] = "statistical queries that test many candidates at once"

    pool: int = 0

    def __post_init__(self) -> None:
        require(self.pool >= 0, f"pool={self.pool} given: it must be at least 0")

    def supports(self, family: Family) -> str | None:
        """Return None where every member can be followed, or the reason."""
        if CHARACTERS.of(family) is None or can_follow(family):
            return super().supports(family)
        return "it follows every member: d - 1 may be up to 26, and N 2^m up to 2^28"

    def narrow(self, space: VersionSpace) -> None:
        """Ask about the pool that is surest to rule members out, one by one where none is."""
        while len(space.left) > 1:
            pool = self._surest(space)
            if not pool.sure(space.tau):
                return space.ask_each()
            space.ask(pool)

    def _surest(self, space: VersionSpace) -> Question:
        """Choose the pool that rules out the most members whatever the answer."""
        most = len(space.left)
        sizes = [min(self.pool, most)] if self.pool else [1 << i for i in range(most.bit_length())]
        pools = space.about([space.left[:size] for size in sizes])
        return max(pools, key=lambda pool: pool.sure(space.tau))

    def ask_characters(self, oracle: QueryOracle, family: Symmetric) -> Hypothesis:
        """Ask about pools of the members that are left, in order, until one is left."""
        tau = float(oracle.tau)
        signal = float(1 - 2 * family.noise) / 2
        if not tau < signal / 2:
            return nothing(family, Outcome.TOLERANCE, tau_below=signal / 2)
        means = Means(family)
        left = np.arange(family.size)
        limit = self.pool or pool_size(tau, signal, family.d - 1)
        asked = 0
        try:
            while len(left) > 1:
                chosen = independent(means.members[left], limit)
                pool = Pool(sets=tuple(secrets(means.members[left[chosen]])))
                expected = means.of(pool)[left]
                answer = oracle.ask(pool)
                asked += 1
                fits = np.abs(expected - answer) <= tau
                if fits.all():
                    # An answer between both groups fits all; one parity alone always tells.
                    limit = max(1, len(chosen) // 2)
                left = left[fits]
        except Spent as spent:
            return nothing(family, SPENT[spent.resource], left=len(left), asked=asked)
        if not len(left):
            return nothing(family, Outcome.INCONSISTENT, asked=asked)
        (found,) = secrets(means.members[left])
        return member(family, found, asked=asked, last_pool=limit)


def independent(members: NDArray[np.int64], most: int) -> list[int]:
    """Choose an odd number of rows, up to `most`, whose parities are independent over GF(2).

    Independent parities are independent signs, so each has the same large mean under their pool.

    >>> independent(np.array([[1, 2], [2, 3], [1, 3], [3, 4]]), 5)
    [0, 1, 3]
    """
    basis: dict[int, int] = {}  # by leading bit
    chosen: list[int] = []
    for i, row in enumerate(members):
        vector = sum(1 << int(j) for j in row)
        while vector and vector.bit_length() in basis:
            vector ^= basis[vector.bit_length()]
        if vector:
            basis[vector.bit_length()] = vector
            chosen.append(i)
            if len(chosen) == most:
                break
    return chosen if len(chosen) % 2 else chosen[:-1]  # an even number would have ties


def pool_size(tau: float, signal: float, most: int) -> int:
    """The largest odd L up to `most` whose pool of independent parities has a mean above tau.

    The mean is signal C(L-1, (L-1)/2) / 2^(L-1).

    >>> pool_size(0.1, 0.5, 99), pool_size(0.001, 0.5, 20)
    (15, 19)
    """
    size, mean = 1, signal
    while size + 2 <= most and mean * size / (size + 1) > tau:
        mean *= size / (size + 1)
        size += 2
    return size
