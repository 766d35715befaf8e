"""The primal attack: the secret is in the shortest vector of a lattice. [ADPS16]"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from flint import fmpz_mat

from hardness.oracles import ExampleOracle, Spent
from hardness.upper.attack import Attack, believed, gather, needed, no_lattice
from hardness.upper.embedding import Embedding, best_count, embed
from hardness.upper.learner import SPENT, Hypothesis, Outcome, member, nothing
from hardness.upper.reduction import LLL_BLOCK, bkz, lll, require_fpylll, root_hermite
from instances.errors import UsageError
from instances.family import Secret, require
from instances.limits import require_memory
from instances.modular import Modular
from instances.samples import Samples, samples

LARGEST_BLOCK = 80
_STEP = 4  # between block sizes


@dataclass(frozen=True, kw_only=True)
class Primal(Attack):
    """Reduces the embedding lattice with blocks start, start + 4, ..., block; 2 is LLL alone.

    Blocks above 2 need the extra `lattice`. A run that was cut short goes on where it was with
    `start`. samples: of the lattice; 0 for the number that is best for the block. It
    makes do with fewer where there are no more.
    """

    revision: ClassVar[int] = 2
    name: ClassVar[str] = "primal"
    about: ClassVar[str] = "primal lattice attack: Kannan's embedding, LLL, BKZ with block=20 or so"

    block: int = LLL_BLOCK
    start: int = 10
    samples: int = 0

    def __post_init__(self) -> None:
        require(
            LLL_BLOCK <= self.block <= LARGEST_BLOCK,
            f"block={self.block} given: 2, which is LLL alone, to {LARGEST_BLOCK}",
        )
        require(self.start >= 3, f"start={self.start} given: the first block of BKZ, at least 3")
        require(self.samples >= 0, f"samples={self.samples} given: at least 1, or 0 for the best")

    def unfit(self, forms: Modular) -> str | None:
        """Return that labels do not say about where <a, s> mod q is, with an error, or None."""
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
        used = len(lattice.samples)
        details: dict[str, Any] = {
            "samples": used,
            "dimension": sum(lattice.a.shape) + 1,
            "block": 0,
        }
        try:
            for block, basis in self._reduce(lattice, oracle, int(rng.integers(1 << 31))):
                details["block"] = block
                secret = recover(lattice, basis)
                if secret is not None:
                    return member(family, family.from_linear(secret), **details)
        except Spent as spent:
            return nothing(family, SPENT[spent.resource], **details)
        if used < wanted:
            details["samples_wanted"] = wanted
            return nothing(family, Outcome.EXAMPLES_SPENT, **details)
        return nothing(family, Outcome.NOT_FOUND, **details)

    def _embed(self, forms: Modular, oracle: ExampleOracle) -> tuple[Embedding, int]:
        """Embed the best number of samples, or all that there are, and say how many that takes."""
        found = gather(oracle, max(needed(forms), forms.n), samples)
        count = self.samples or best_count(found, root_hermite(self.block))
        d = forms.n + count + 1
        require_memory(100 * d * d, f"a lattice of dimension {d}")
        if len(found) < count + forms.n:
            try:
                found = Samples.join((found, gather(oracle, count + forms.n - len(found), samples)))
            except Spent as spent:  # what is there has to do
                if spent.resource != "examples":
                    raise
        while True:
            try:
                made = embed(found, count)
                return made, max(needed(forms), count + (forms.n if made.back is not None else 0))
            except UsageError:  # a low rank, likely for small n and q only
                found = Samples.join((found, gather(oracle, 8, samples, every=True)))

    def _reduce(
        self, lattice: Embedding, oracle: ExampleOracle, seed: int
    ) -> Iterator[tuple[int, fmpz_mat]]:
        basis = lll(lattice.basis(), oracle.meter)
        yield LLL_BLOCK, basis
        if self.block > LLL_BLOCK:
            blocks = [*range(self.start, self.block, _STEP), self.block]
            yield from bkz(basis, blocks, oracle.meter, seed)


def recover(lattice: Embedding, basis: fmpz_mat) -> Secret | None:
    """Find a basis vector that holds a secret which the samples show; None where there is none."""
    for i in range(basis.nrows()):
        if abs(int(basis[i, basis.ncols() - 1])) != lattice.shape.tau:
            continue
        secret = lattice.read([int(basis[i, j]) for j in range(basis.ncols())])
        if secret is not None and believed(lattice.samples, secret):
            return secret
    return None
