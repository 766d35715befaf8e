"""The primal attack: the secret is in the shortest vector of a lattice. [ADPS16]

Kannan's embedding [Kannan87]: both the unknown x and the errors e of b = A x + e mod q are short.
They are scaled to the same deviation and centred, which is what makes a small secret cheaper than a
uniform one [BG14]; where the secret is not shorter than the errors, n errors take its place, as in
the normal form [ACPS09].
"""

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from flint import nmod_mat
from numpy.typing import NDArray

from hardness.attacks.core import Attack, believed, gather, needed, no_lattice
from hardness.attacks.elimination import independent, inverse
from hardness.attacks.lattice import (
    LARGEST_BLOCK,
    LLL_BLOCK,
    Basis,
    left_out,
    reduce,
    require_fpylll,
    root_hermite,
    tries,
)
from hardness.learners.learner import SPENT, Hypothesis, Outcome, member, nothing
from hardness.oracles import ExampleOracle, Spent
from instances.errors import UsageError
from instances.family import Secret, require
from instances.limits import require_memory
from instances.lwe import Modular
from instances.residues import dot
from instances.samples import Samples, samples
from instances.secrets import Integers
from instances.streams import generator

_GRAIN = 4  # scaled numbers are rounded: an error of one counts for four


@dataclass(frozen=True, kw_only=True)
class Shape:
    """How unknowns x and errors e are scaled: w x - c of both has about the deviation of tau."""

    wx: int
    cx: int
    we: int
    ce: int
    tau: int

    @property
    def ratio(self) -> float:
        """How much shorter x is than e before scaling."""
        return self.wx / self.we


@dataclass(frozen=True, kw_only=True, eq=False)
class Embedding:
    """Samples as m equations b = A x + e mod q, (m, n), with short x and e.

    The secret is taken to be 0 but at n places, `kept`. There it is x; or, with `through`, it is
    through (b - x) by the b of n samples, `rows`, whose errors are x. others: the m samples of e.
    """

    samples: Samples  # all of them: by these a secret is believed
    kept: NDArray[np.int64]
    rows: NDArray[np.int64]
    others: NDArray[np.int64]
    a: NDArray[np.int64]
    shape: Shape
    through: nmod_mat | None

    def basis(self) -> Basis:
        """Write the basis of Kannan's embedding: all (x, -A x mod q), scaled, and the target.

        That is m q-vectors, a row for each unknown, and a row of the labels, bordered by tau.
        """
        (m, n), q, f, b = self.a.shape, self.samples.q, self.shape, self.samples.b
        labels = b[self.others]
        if self.through is not None:
            labels = labels + dot(self.a, b[self.rows], q)
        rows = np.zeros((m + n + 1, n + m + 1), np.int64)
        rows[:m, n:-1] = f.we * q * np.eye(m, dtype=np.int64)
        rows[m:-1, :n] = f.wx * np.eye(n, dtype=np.int64)
        rows[m:-1, n:-1] = f.we * _half(-self.a.T, q)
        rows[-1, :n], rows[-1, n:-1] = -f.cx, f.we * _half(labels, q) - f.ce
        rows[-1, -1] = f.tau
        return rows

    def read(self, x: list[int]) -> Secret | None:
        """Read a secret off its unknowns, (n,) as they are scaled; None if they show none."""
        f, found = self.shape, self.samples
        if any((v + f.cx) % f.wx for v in x):
            return None
        secret = np.zeros(found.family.n, np.int64)
        x = [(v + f.cx) // f.wx for v in x]
        if self.through is not None:
            b = found.b[self.rows] - dot(found.a[self.rows], secret, found.q) - x
            known = self.through * nmod_mat(len(x), 1, (b % found.q).tolist(), found.q)
            x = [int(v) for v in known.entries()]
        secret[self.kept] = x
        return found.family.secrets.lift(secret.tolist())


def embed(found: Samples, count: int, zeta: int = 0, index: int = 0) -> Embedding:
    """Embed `count` of the samples, or as many as there are; raises UsageError at a low rank.

    With zeta try `index` chooses the samples, and zeta places of the secret that are left out.
    """
    q, n = found.q, found.family.n - zeta
    kept, order = np.arange(found.family.n), np.arange(len(found))
    if zeta:
        kept = np.delete(kept, left_out(len(kept), zeta, index))
        order = generator(0, "samples", index).permutation(len(found))
    through, rows, a = None, order[:0], found.a[:, kept]
    if not short_secret(found, n):
        rows = order[independent(a[order], q)]
        if len(rows) < n:
            raise UsageError(f"{len(found)} samples of rank {len(rows)} given: {n} are needed")
        through = inverse(a[rows], q)
        order = order[~np.isin(order, rows)]
        if not len(order):
            raise UsageError(f"{len(found)} samples given: more than n - zeta = {n} are needed")
    others = order[:count]
    a = a[others]
    if through is not None:
        product = nmod_mat(len(a), n, a.ravel().tolist(), q) * through
        a = -np.array([int(v) for v in product.entries()], np.int64).reshape(a.shape) % q
    return Embedding(
        samples=found,
        kept=kept,
        rows=rows,
        others=others,
        a=a,
        shape=shape(found, n),
        through=through,
    )


def short_secret(found: Samples, n: int) -> bool:
    """Return whether the secret's entries, but for zeros all at n places, are under the errors."""
    return _secret(found.family, n)[1] < error_of(found).deviation


def shape(found: Samples, n: int) -> Shape:
    """Choose the scaling of samples, the secret being 0 but for n places."""
    error = error_of(found)
    mean, deviation = error.mean, error.deviation
    if short_secret(found, n):
        mean, deviation = _secret(found.family, n)
    ratio = error.deviation / max(deviation, 1 / (2 * n))
    wx, we = max(1, round(_GRAIN * ratio)), _GRAIN  # errors may all be 0
    cx, ce = round(wx * mean), round(we * error.mean)
    tau = max(1, round(we * error.deviation))
    common = math.gcd(wx, we, cx, ce)
    return Shape(
        wx=wx // common,
        cx=cx // common,
        we=we // common,
        ce=ce // common,
        tau=max(1, round(tau / common)),
    )


def best_count(found: Samples, n: int, delta: float) -> int:
    """The number of samples m for which a reduction of root-Hermite factor delta works best.

    It maximises the gap ln Vol^(1/d) - d ln delta, d = m + n + 1, Vol = q^m ratio^n. [MR09]
    """
    low = n * math.log(shape(found, n).ratio)

    def gap(m: int) -> float:
        d = m + n + 1
        return (m * math.log(found.q) + low) / d - d * math.log(delta)

    m = 1
    while gap(m + 1) > gap(m):
        m += 1
    return m


def error_of(found: Samples) -> Integers:
    """The law of the errors; raises UsageError where there are none."""
    if found.error is None:
        raise UsageError(f"{found.family} given: its labels have no error, use modlinear")
    return found.error


def _secret(family: Modular, n: int) -> tuple[float, float]:
    """The mean and the deviation of an entry of the secret, of the n that may not be 0."""
    law, (mean, deviation) = family.secrets, family.secrets.moments
    share = law.n / n if law.h else 1.0  # h of them are not 0
    square = share * (mean**2 + deviation**2)
    return share * mean, math.sqrt(max(0.0, square - (share * mean) ** 2))


def _half(values: NDArray[np.int64], q: int) -> NDArray[np.int64]:
    return (values + q // 2) % q - q // 2


@dataclass(frozen=True, kw_only=True)
class Primal(Attack):
    """Reduces the embedding lattice with blocks 2, start, start + step, .., block; 2 is LLL alone.

    Blocks above 2 need the extra `lattice`. samples: of the lattice; 0 for the number that is best
    for the block; it makes do with fewer where there are no more. zeta: at each try so many
    coordinates of the secret, at random places, are taken to be 0 and left out [ACW19]. A run that
    was cut goes on with `first`, the index of a try, or without zeta with `start`.
    """

    revision: ClassVar[int] = 3
    name: ClassVar[str] = "primal"
    about: ClassVar[str] = "primal lattice attack: Kannan's embedding, LLL, BKZ with block=20 or so"

    block: int = LLL_BLOCK
    start: int = 3
    step: int = 1
    samples: int = 0
    zeta: int = 0
    first: int = 0

    def __post_init__(self) -> None:
        require(
            LLL_BLOCK <= self.block <= LARGEST_BLOCK,
            f"block={self.block} given: 2, which is LLL alone, to {LARGEST_BLOCK}",
        )
        require(self.start >= 3, f"start={self.start} given: the first block of BKZ, at least 3")
        require(self.step >= 1, f"step={self.step} given: from block to block, at least 1")
        require(self.samples >= 0, f"samples={self.samples} given: at least 1, or 0 for the best")
        require(self.zeta >= 0, f"zeta={self.zeta} given: coordinates left out, at least 0")
        require(
            self.first >= 0 and (self.zeta > 0 or not self.first),
            f"first={self.first} given: the index of a try, from 0, and 0 without zeta",
        )

    def unfit(self, forms: Modular) -> str | None:
        """Return why there is no such lattice, or None."""
        most = forms.n - max(forms.h, 1)
        if self.zeta > most:
            return f"zeta={self.zeta} given: at most {most} coordinates of its secret can be 0"
        return no_lattice(forms)

    def attack(self, oracle: ExampleOracle, forms: Modular, rng: np.random.Generator) -> Hypothesis:
        """Reduce with growing blocks until a basis vector holds a secret that samples show."""
        if self.block > LLL_BLOCK:
            require_fpylll()
        family = oracle.family
        try:
            lattice, wanted = self._embed(forms, oracle)
        except Spent as spent:
            return nothing(family, SPENT[spent.resource])
        found = lattice.samples
        details: dict[str, Any] = {
            "samples": len(found),
            "dimension": sum(lattice.a.shape) + 1,
            "block": 0,
            "zeta": self.zeta,
            "tries": 0,
        }
        count = len(lattice.a)
        for index in range(self.first, tries(forms.secrets, self.zeta)):
            try:
                oracle.meter.require_time()
                try:
                    lattice = embed(found, count, self.zeta, index)
                except UsageError:  # a low rank at the places of this try
                    details["tries"] += 1
                    continue
                blocks = [*range(self.start, self.block, self.step), self.block]
                for block, basis in reduce(lattice.basis(), blocks, oracle.meter, index):
                    details["block"] = block
                    secret = shown_by(lattice, basis)
                    if secret is not None:
                        details["tries"] += 1
                        return member(family, family.from_linear(secret), **details)
            except Spent as spent:
                at = {"first": index} if self.zeta else {"start": max(self.start, details["block"])}
                return nothing(family, SPENT[spent.resource], **details, **at)
            details["tries"] += 1
        if len(found) < wanted:
            details["samples_wanted"] = wanted
            return nothing(family, Outcome.EXAMPLES_SPENT, **details)
        return nothing(family, Outcome.NO_CLAIM, **details)

    def count(self, forms: Modular) -> int:
        """Count the samples of a lattice where there are enough."""
        n = forms.n - self.zeta
        return self.samples or best_count(Samples.none(forms), n, root_hermite(self.block))

    def _embed(self, forms: Modular, oracle: ExampleOracle) -> tuple[Embedding, int]:
        """Embed the best number of samples, or all that there are, and say how many that takes."""
        n = forms.n - self.zeta
        found = gather(oracle, max(needed(forms), forms.n), samples)
        count = self.count(forms)
        d = n + count + 1
        require_memory(100 * d * d, f"a lattice of dimension {d}")
        if len(found) < count + n:
            try:
                found = Samples.join((found, gather(oracle, count + n - len(found), samples)))
            except Spent as spent:  # what is there has to do
                if spent.resource != "examples":
                    raise
        while True:
            try:
                made = embed(found, count, self.zeta)
                return made, max(needed(forms), count + (n if made.through is not None else 0))
            except UsageError:  # a low rank, likely for small n and q only
                found = Samples.join((found, gather(oracle, 8, samples, every=True)))


def shown_by(lattice: Embedding, basis: Basis) -> Secret | None:
    """Find a basis vector that holds a secret which samples show; None if there is none."""
    n, tau = lattice.a.shape[1], lattice.shape.tau
    for row in basis[abs(basis[:, -1]) == tau]:
        secret = lattice.read((row[:n] * row[-1] // tau).tolist())
        if secret is not None and believed(lattice.samples, secret):
            return secret
    return None
