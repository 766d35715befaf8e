"""Gram matrices of members: which members, their correlations exactly, and how to sample them.

Of hidden sets correlations depend on overlaps alone; functions of <a, s> mod q are independent in
pairs; of any other family whose factor can be tabulated, correlations are sums over all z.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from hardness.lower.correlation import exact_gram
from hardness.lower.residues import Responses, certified_gram, choose_independent, uneven
from hardness.lower.sums import Evaluations, GramAccumulator, overlap_adder
from instances.capabilities import CODED, FACTOR, LINEAR_FORMS, PROVED_AS, SCHEME
from instances.coded import Coded, FactorTables
from instances.errors import TooLarge, ToolkitError, UsageError
from instances.family import Family, Secret
from instances.modular import Modular
from instances.streams import generator
from instances.symmetric import Symmetric

_VALUES = 1 << 30  # of members over z: they are computed in minutes
_AT_ONCE = 1 << 24
_TRIES = 10_000  # draws for each different member
_LISTED = 5000  # members of which all pairs are correlated


class Grams(Protocol):
    """How the Gram matrix of a family's members is known.

    bias: a bound on what the tokens add to an entry, where they are not quite uniform.
    """

    @property
    def family(self) -> Coded:
        """The family."""

    @property
    def bias(self) -> float:
        """A bound on what the tokens add to an entry."""

    def choose(self, members: int, seed: int, own: Secret | None = None) -> tuple[Secret, ...]:
        """Draw different members, `own` first; all of them where there are no more."""

    def exact(self, members: tuple[Secret, ...], rows: int | None = None) -> NDArray[np.float64]:
        """Compute the correlations of the first `rows` members, or of all, with all."""

    def adder(self, members: tuple[Secret, ...], rows: int | None = None) -> GramAccumulator:
        """Choose how products of the first `rows` members, or of all, with all are added up."""


def grams_of(family: Family) -> Grams:
    """Choose by what a family has; raises UsageError for a family without tables over z.

    >>> from instances import parse
    >>> grams_of(parse("parity:d=8,m=2")).exact(((1, 2), (1, 3))).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    if scheme := SCHEME.of(family):
        return BySets(family=scheme)
    if CODED.of(family) and (proved := PROVED_AS.of(family)):
        return BySets(family=proved[0])
    if forms := LINEAR_FORMS.of(family):
        return ByForms(family=forms)
    return ByTables(tables=FACTOR.need(family))


@dataclass(frozen=True, kw_only=True)
class BySets:
    """Hidden sets: correlations by overlap, sampled from the heads."""

    family: Symmetric
    bias = 0.0

    def choose(self, members: int, seed: int, own: Secret | None = None) -> tuple[Secret, ...]:
        """Draw different sets."""
        return different(self.family, self.family.size, members, seed, own)

    def exact(self, members: tuple[Secret, ...], rows: int | None = None) -> NDArray[np.float64]:
        """Look overlaps up."""
        return exact_gram(self.family, members, rows)

    def adder(self, members: tuple[Secret, ...], rows: int | None = None) -> GramAccumulator:
        """Count overlaps with every z."""
        return overlap_adder(self.family, members, rows)


@dataclass(frozen=True, kw_only=True)
class ByForms:
    """Functions of <a, s> mod q: members that are independent in pairs, sampled from E[Y|X]."""

    family: Modular

    @property
    def bias(self) -> float:
        """What a modulus that is no power of two adds."""
        return uneven(self.family)

    def choose(self, members: int, seed: int, own: Secret | None = None) -> tuple[Secret, ...]:
        """Draw members that are independent in pairs."""
        _require_some(members)
        return choose_independent(self.family, members, seed, own)

    def exact(self, members: tuple[Secret, ...], rows: int | None = None) -> NDArray[np.float64]:
        """A multiple of the identity."""
        return certified_gram(self.family, members, rows)

    def adder(self, members: tuple[Secret, ...], rows: int | None = None) -> GramAccumulator:
        """Evaluate responses."""
        return Responses(self.family, members, len(members) if rows is None else rows)


@dataclass(frozen=True, kw_only=True)
class ByTables:
    """Any factor that is a table: correlations over all z, sampled from the formula."""

    tables: FactorTables
    bias = 0.0

    @cached_property
    def family(self) -> Coded:
        """The family that the tables are of."""
        return self.tables.family

    def choose(self, members: int, seed: int, own: Secret | None = None) -> tuple[Secret, ...]:
        """Draw different secrets."""
        return different(self.family, self.tables.size, members, seed, own)

    def exact(self, members: tuple[Secret, ...], rows: int | None = None) -> NDArray[np.float64]:
        """Average products over all z; raises TooLarge beyond 2^30 values."""
        size = len(members) << self.tables.n
        if size > _VALUES:
            raise TooLarge(
                f"{self.family.spec[:200]}: the exact correlations of {len(members)} members take "
                f"{size} values over z, at most 2^30 are computed: take fewer members"
            )
        out = np.zeros((len(members) if rows is None else rows, len(members)))
        step = max(1, _AT_ONCE // len(members))
        for start in range(0, 1 << self.tables.n, step):
            values = np.stack([self.tables.part(s, start, start + step) for s in members])
            out += values[: len(out)] @ values.T
        return np.asarray(out / (1 << self.tables.n))

    def adder(self, members: tuple[Secret, ...], rows: int | None = None) -> GramAccumulator:
        """Evaluate the formula."""
        return Evaluations(self.family, members, len(members) if rows is None else rows)


def correlations(tables: FactorTables) -> NDArray[np.float64]:
    """Correlate all members, less their means and of norm 1: (M, M), 0 for a constant member.

    Raises UsageError where members cannot be listed or are more than 5000, TooLarge.

    >>> from instances import parse
    >>> correlations(parse("profile:g=majority,d=5,m=3").factor)[0].tolist()
    [1.0, 0.5, 0.5, 0.5]
    """
    members = tables.listed(_LISTED)
    found = ByTables(tables=tables).exact(members)
    means = np.array([tables.table(secret).mean() for secret in members])
    found -= np.outer(means, means)
    norms = np.sqrt(np.diag(found))
    scale = np.where(norms > 0, norms, np.inf)
    return np.asarray(found / np.outer(scale, scale))


def different(
    family: Family, size: int | None, members: int, seed: int, own: Secret | None
) -> tuple[Secret, ...]:
    """Draw different secrets, `own` first; of all of a size where there are no more."""
    _require_some(members)
    rng = generator(seed, "members", family.spec)
    wanted = members if size is None else min(members, size)
    found: dict[Secret, None] = {own: None} if own else {}
    for _ in range(_TRIES * wanted):
        if len(found) == wanted:
            break
        found[family.draw(rng)] = None
    else:
        raise ToolkitError(
            f"{family.spec[:200]}: draws give {len(found)} different members, not {wanted}: fix "
            "`draw` or `size`, or ask for fewer members"
        )
    return tuple(found)[:wanted]


def _require_some(members: int) -> None:
    if members < 1:
        raise UsageError(f"--members {members} given: at least 1 is needed")
