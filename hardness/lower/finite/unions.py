"""Unions of symmetric families, given as a list of specs: correlations exactly, at any size.

Member S of a family with profile g is f_S(z) = g(h_S(z)), a function of z_1 .. z_(d-1), uniform on
{-1,+1}^(d-1); h_S counts the j in S with z_j = -1. So E f_S f'_T = sum_k C(t, k) g^_k g'^_k, where
t is the size of the overlap of S and T.
"""

import hashlib
import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from pathlib import Path

import numpy as np
from flint import fmpq

from hardness.claims.finite import MOST_LISTED, MOST_SPECS
from hardness.kernels import counts
from hardness.lower.finite.known import Ends, Known, ends, of_table, root_ends
from instances import tokens
from instances.capabilities import SCHEME
from instances.errors import DamagedFile, TooLarge, ToolkitError, UsageError
from instances.family import Secret
from instances.limits import require_memory
from instances.spec import parse_stored
from instances.strict import read_text
from instances.symmetric import Symmetric
from instances.threshold import Rational

_MOST_BYTES = 1 << 20


@dataclass(frozen=True, kw_only=True, eq=False)
class Union:
    """The members of several symmetric families of one d, one family after the other.

    The members of a family are the m-subsets of 1 .. d-1 in lexicographic order.
    """

    name: str  # of the file
    families: tuple[Symmetric, ...]

    @property
    def d(self) -> int:
        """The dimension of a token: members are functions of d - 1 signs."""
        return self.families[0].d

    @property
    def size(self) -> int:
        """The number of members in all."""
        return sum(f.size for f in self.families)

    @property
    def specs(self) -> tuple[str, ...]:
        """The canonical specs."""
        return tuple(f.spec for f in self.families)

    @property
    def spec(self) -> str:
        """The name of the union in its certificate."""
        digest = hashlib.sha256("\n".join(self.specs).encode()).hexdigest()
        return f"specs:d={self.d},members={self.size},sha256={digest}"

    def members(self) -> Iterator[tuple[int, Secret]]:
        """List all members: the place of the family, and the subset."""
        for a, family in enumerate(self.families):
            for subset in itertools.combinations(range(1, self.d), family.m):
                yield a, subset

    @cached_property
    def products(self) -> dict[tuple[int, int], list[Rational]]:
        """E f_S f'_T by the two families and the overlap t = 0 .. min(m, m')."""
        return {
            (a, b): [
                sum(
                    (math.comb(t, k) * one.fourier[k] * two.fourier[k] for k in range(t + 1)),
                    fmpq(0),
                )
                for t in range(min(one.m, two.m) + 1)
            ]
            for a, one in enumerate(self.families)
            for b, two in enumerate(self.families)
        }

    def known(self, centred: bool) -> Known:
        """Find the correlations of all pairs, less the mean of all members if centred.

        Raises TooLarge where the pairs do not fit in memory.
        """
        size = self.size
        require_memory(160 * size**2, f"the pairs of {size} members")
        masks = np.stack([tokens.mask(subset, self.d) for _, subset in self.members()])
        place = np.repeat(np.arange(len(self.families)), [f.size for f in self.families])
        most = max(f.m for f in self.families) + 1
        codes = counts(masks, masks).astype(np.int64)
        codes += most * (place[:, None] * len(self.families) + place[None, :])
        pairs = np.bincount(codes.ravel(), minlength=most * len(self.families) ** 2)
        values = self._centred(pairs.tolist(), most) if centred else self.products
        norms = [values[a, a][f.m] for a, f in enumerate(self.families)]
        if not all(norms):
            raise UsageError(
                f"{self.specs[norms.index(fmpq(0))]}: a member has the norm 0 once the mean of the "
                "members is taken away: leave --centred or the spec out"
            )
        cap, table = np.ones(len(pairs), np.int64), np.zeros(len(pairs))
        squares: list[Fraction] = []
        average, exact = fmpq(0), True
        for (a, b), row in values.items():
            for t, value in enumerate(row):
                code = most * (a * len(self.families) + b) + t
                if not pairs[code]:
                    continue
                square = value**2 / (norms[a] * norms[b])
                fraction = Fraction(int(square.p), int(square.q))
                cap[code] = min(size, math.isqrt(int(square.q) // int(square.p))) if value else size
                table[code] = math.copysign(math.sqrt(fraction), value.p) if value else 0.0
                low, high = root_ends(fraction)
                exact = exact and low == high
                average += int(pairs[code]) * fmpq(low.numerator, low.denominator)
                if (a, t) != (b, self.families[a].m):
                    squares.append(fraction)
        if exact:
            mean = Fraction(int(average.p), int(average.q)) / size**2
            both: Ends = (mean, mean)
        else:
            both = ends(math.fsum(np.abs(table) * pairs) / size**2, 1e-12)
        largest = root_ends(max(squares, default=Fraction(0)))
        return of_table(codes, np.maximum(cap, 1), table, largest, both)

    def _centred(self, pairs: list[int], most: int) -> dict[tuple[int, int], list[Rational]]:
        """The inner products of the members less the mean of all: by the pairs of each code."""
        count, size = len(self.families), self.size
        rows = [fmpq(0)] * count  # inner product of a member with the mean of all
        for (a, b), row in self.products.items():
            for t, value in enumerate(row):
                found = pairs[most * (a * count + b) + t]
                rows[a] += value * found / (self.families[a].size * size)
        total = sum((r * f.size for r, f in zip(rows, self.families, strict=True)), fmpq(0)) / size
        return {
            (a, b): [value - rows[a] - rows[b] + total for value in row]
            for (a, b), row in self.products.items()
        }


def read_union(path: Path) -> Union:
    """Read a list of specs, one a line, with # comments; raises UsageError, TooLarge."""
    try:
        lines = read_text(path, _MOST_BYTES).splitlines()
    except DamagedFile as error:
        raise UsageError(f"{error}: a list of specs is needed") from error
    families: list[Symmetric] = []
    seen: dict[tuple[object, ...], int] = {}
    for number, line in enumerate(lines, 1):
        spec = line.partition("#")[0].strip()
        if not spec:
            continue
        where = f"{path}, line {number}: {spec[:80]}"
        try:
            family = SCHEME.need(parse_stored(spec))
        except ToolkitError as error:
            raise UsageError(f"{path}, line {number}: {error}") from error
        if families and family.d != families[0].d:
            raise UsageError(
                f"{where} has d={family.d}, the first d={families[0].d}: one d is needed"
            )
        if family.noise:
            raise UsageError(f"{where}: members are functions here, without noise: leave noise out")
        if family.values in seen:
            raise UsageError(f"{where}: the same functions stand in line {seen[family.values]}")
        seen[family.values] = number
        families.append(family)
        if len(families) > MOST_SPECS:
            raise UsageError(f"{path} has over {MOST_SPECS} specs: ask for less")
        size = sum(f.size for f in families)
        if size > MOST_LISTED:
            raise TooLarge(f"{where}: {size} members in all, at most {MOST_LISTED} are allowed")
    if not families:
        raise UsageError(f"{path} holds no specs: write one a line, as parity:d=12,m=3")
    return Union(name=path.name, families=tuple(families))
