"""The primal attack: the secret is in the shortest vector of a lattice. [ADPS16]

Kannan's embedding [Kannan87]: both the unknown x and the errors e of b = A x + e mod q are short.
They are centred and scaled to the same deviation; therefore a small secret is cheaper than a
uniform one [BG14]. If the secret is not shorter than the errors, n errors take its place, as in the
normal form [ACPS09]. Errors must be small and not 0. A secret read from a short vector is claimed
if all samples confirm it.
"""

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np
from flint import nmod_mat
from numpy.typing import NDArray

from hardness.attacks.core import gather, gather_more, samples_to_confirm
from hardness.attacks.elimination import entries, independent, inverse
from hardness.attacks.lattice import (
    Basis,
    LatticeAttack,
    dropped_coordinates,
    max_restarts,
    reduce,
    root_hermite,
)
from hardness.learners.learner import Failed
from hardness.oracles import ExampleOracle
from instances.family import Secret
from instances.lwe import Modular
from instances.parameters import Range
from instances.residues import centred, dot
from instances.samples import Samples
from instances.streams import generator

_ROUNDING_SCALE = 4  # an error of one is scaled to four, as scaled numbers are rounded
_BATCH_SAMPLES = 8  # further samples at once, while the rank is too low


@dataclass(frozen=True, kw_only=True)
class Shape:
    """The scaling of unknowns x and errors e: w x - c and w e - c have a deviation of about tau.

    normal: whether n errors take the place of the secret, as its entries are not shorter.
    """

    wx: int
    cx: int
    we: int
    ce: int
    tau: int
    normal: bool


@dataclass(frozen=True, kw_only=True, eq=False)
class Embedding:
    """Samples as m equations b = A x + e mod q, (m, n), with short x and e.

    The secret is assumed to be 0 except at n places, `kept`. There it is x; or, with `through`, it
    is through (b - x), where b and x are labels and errors of the n samples `rows`. others: the m
    samples of e.
    """

    samples: Samples  # all samples; they confirm a secret
    kept: NDArray[np.int64]
    rows: NDArray[np.int64]
    others: NDArray[np.int64]
    a: NDArray[np.int64]
    shape: Shape
    through: nmod_mat | None

    def basis(self) -> Basis:
        """Write the basis of Kannan's embedding: all (x, -A x mod q), scaled, and the target.

        Its rows are m q-vectors, a row for each unknown, and a row of the labels, bordered by tau.
        """
        (m, n), q, f, b = self.a.shape, self.samples.q, self.shape, self.samples.b
        labels = b[self.others]
        if self.through is not None:
            labels = labels + dot(self.a, b[self.rows], q)
        rows = np.zeros((m + n + 1, n + m + 1), np.int64)
        rows[:m, n:-1] = f.we * q * np.eye(m, dtype=np.int64)
        rows[m:-1, :n] = f.wx * np.eye(n, dtype=np.int64)
        rows[m:-1, n:-1] = f.we * centred(-self.a.T, q)
        rows[-1, :n], rows[-1, n:-1] = -f.cx, f.we * centred(labels, q) - f.ce
        rows[-1, -1] = f.tau
        return rows

    def read(self, x: list[int]) -> Secret | None:
        """Return the secret of scaled unknowns (n,); None if they give none."""
        f, gathered = self.shape, self.samples
        if any((v + f.cx) % f.wx for v in x):
            return None
        secret = np.zeros(gathered.family.n, np.int64)
        x = [(v + f.cx) // f.wx for v in x]
        if self.through is not None:
            b = gathered.b[self.rows] - x
            known = self.through * nmod_mat(len(x), 1, (b % gathered.q).tolist(), gathered.q)
            x = entries(known).ravel().tolist()
        secret[self.kept] = x
        return gathered.family.secrets.lift(secret.tolist())


def embed(gathered: Samples, count: int, zeta: int = 0, restart: int = 0) -> Embedding | None:
    """Embed up to `count` of the samples; None if their rank is too low.

    With zeta > 0, `restart` seeds the choice of samples and of zeta dropped coordinates.
    """
    q, n = gathered.q, gathered.family.n - zeta
    kept, order = np.arange(gathered.family.n), np.arange(len(gathered))
    if zeta:
        kept = np.delete(kept, dropped_coordinates(len(kept), zeta, restart))
        order = generator(0, "samples", restart).permutation(len(gathered))
    through, rows, a = None, order[:0], gathered.a[:, kept]
    scaling = shape(gathered, n)
    if scaling.normal:
        rows = order[independent(a[order], q)]
        order = order[~np.isin(order, rows)]
        if len(rows) < n or not len(order):
            return None
        through = inverse(a[rows], q)
    others = order[:count]
    a = a[others]
    if through is not None:
        a = -entries(nmod_mat(len(a), n, a.ravel().tolist(), q) * through) % q
    return Embedding(
        samples=gathered, kept=kept, rows=rows, others=others, a=a, shape=scaling, through=through
    )


def shape(gathered: Samples, n: int) -> Shape:
    """Choose the scaling for samples whose secret is 0 except at n places."""
    law, error = gathered.family.secrets, gathered.error
    assert error is not None  # by `unsupported_reason`
    mean, deviation = law.moments
    share = law.n / n if law.h else 1.0  # h of the n entries are not 0
    square = share * (mean**2 + deviation**2)
    mean *= share
    deviation = math.sqrt(max(0.0, square - mean**2))
    if normal := deviation >= error.deviation:
        mean, deviation = error.mean, error.deviation
    ratio = error.deviation / max(deviation, 1 / (2 * n))  # entries may all be 0
    wx, we = max(1, round(_ROUNDING_SCALE * ratio)), _ROUNDING_SCALE
    cx, ce = round(wx * mean), round(we * error.mean)
    tau = max(1, round(we * error.deviation))
    common = math.gcd(wx, we, cx, ce)
    wx, cx, we, ce = (number // common for number in (wx, cx, we, ce))
    return Shape(wx=wx, cx=cx, we=we, ce=ce, tau=max(1, round(tau / common)), normal=normal)


def best_count(gathered: Samples, n: int, delta: float) -> int:
    """Return the number of samples m that is best for a reduction of root-Hermite factor delta.

    It maximises the gap ln Vol^(1/d) - d ln delta, d = m + n + 1, Vol = q^m ratio^n. [MR09]
    """
    scaling = shape(gathered, n)
    low = n * math.log(scaling.wx / scaling.we)

    def gap(m: int) -> float:
        d = m + n + 1
        return (m * math.log(gathered.q) + low) / d - d * math.log(delta)

    return next(m for m in itertools.count(1) if gap(m + 1) <= gap(m))


@dataclass(frozen=True, kw_only=True)
class Primal(LatticeAttack):
    """Reduces the embedding lattice with blocks 2, start, start + step, .., block; 2 is LLL alone.

    Blocks above 2 need the extra `lattice`. samples: of the lattice, or fewer if there are no more;
    0 for the best number. zeta: each restart assumes that so many random coordinates of the secret
    are 0, and drops them [ACW19].
    """

    revision: ClassVar[int] = 4
    name: ClassVar[str] = "primal"
    about: ClassVar[str] = "primal lattice attack: Kannan's embedding, LLL, BKZ with block=20 or so"

    start: Annotated[int, Range(3, about="the first block of BKZ")] = 3
    step: Annotated[int, Range(1)] = 1

    def unsupported_reason(self, forms: Modular) -> str | None:
        """Return why there is no such lattice, else None."""
        zeros = forms.n - max(forms.h, 1)
        if self.zeta > zeros:
            return (
                f"zeta must be at most {zeros}, the zeros that a secret can have, got {self.zeta}"
            )
        return super().unsupported_reason(forms)

    def lattice_samples(self, forms: Modular) -> int:
        """Return the number of samples of a lattice."""
        n = forms.n - self.zeta
        return self.samples or best_count(Samples.none(forms), n, root_hermite(self.block))

    def sample_count(self, forms: Modular) -> int:
        """Return the samples of a lattice, plus n if errors take the secret's place."""
        n = forms.n - self.zeta
        return self.lattice_samples(forms) + (n if shape(Samples.none(forms), n).normal else 0)

    def gather(self, oracle: ExampleOracle, forms: Modular) -> Samples:
        """Draw the samples of a lattice, and more while their rank is too low."""
        self.require_lattice(forms)
        count = self.lattice_samples(forms)
        gathered = gather(oracle, max(samples_to_confirm(forms), forms.n))
        missing = count + forms.n - self.zeta - len(gathered)
        while missing > 0 or embed(gathered, count, self.zeta) is None:
            wanted = max(samples_to_confirm(forms), self.sample_count(forms), len(gathered) + 1)
            try:
                gathered = gather_more(oracle, gathered, max(missing, _BATCH_SAMPLES), wanted)
            except Failed:  # the samples suffice if their rank is full
                if embed(gathered, count, self.zeta) is None:
                    raise
                break
            missing = 0
        return gathered

    def candidates(self, gathered: Samples, details: dict[str, Any]) -> Iterator[Secret | None]:
        """Reduce lattices with growing blocks, and read secrets from their basis vectors."""
        count = self.lattice_samples(gathered.family)
        blocks = [*range(self.start, self.block, self.step), self.block]
        details |= {"zeta": self.zeta, "tries": 0}
        for restart in range(max_restarts(gathered.family.secrets, self.zeta)):
            details["tries"] += 1
            lattice = embed(gathered, count, self.zeta, restart)
            if lattice is None:
                continue
            details["dimension"] = sum(lattice.a.shape) + 1
            for block, basis in reduce(lattice.basis(), blocks, restart):
                details["block"], n, tau = block, lattice.a.shape[1], lattice.shape.tau
                for row in basis[abs(basis[:, -1]) == tau]:  # it may be the short vector
                    yield lattice.read((row[:n] * row[-1] // tau).tolist())
