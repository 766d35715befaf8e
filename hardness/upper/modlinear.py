"""Linear algebra over Z_q: recovers the secret of noiseless labels from about n samples.

The first n samples that are independent modulo the residue field are solved there; for q = 2^l the
inverse is then lifted, which doubles its bits each time. One wrong label among those it uses spoils
it, and is noticed.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from flint import nmod_mat
from numpy.typing import NDArray

from hardness.oracles import ExampleOracle, Spent
from hardness.upper.attack import collect, only_modular
from hardness.upper.learner import SPENT, Hypothesis, Outcome, member, nothing
from instances.errors import UsageError
from instances.family import Family, Secret, require
from instances.limits import require_memory
from instances.modular import Modular
from instances.samples import Samples, as_modular

_MORE = 8  # samples at a time, where the first are not independent
_NUMBER_BYTES = 48  # of a residue on its way to a flint matrix and in it


@dataclass(frozen=True, kw_only=True)
class ModLinear:
    """Solves A s = b mod q; `checks` more equations confirm it (a false one: q^-checks)."""

    name: ClassVar[str] = "modlinear"
    revision: ClassVar[int] = 1
    access: ClassVar[Literal["examples", "queries"]] = "examples"
    about: ClassVar[str] = "linear algebra over Z_q: 2(n + 33) noiseless examples or so"

    checks: int = 32

    def __post_init__(self) -> None:
        require(
            self.checks >= 8,
            f"checks={self.checks} given: at least 8 must confirm a secret, or it is a guess",
        )

    def supports(self, family: Family) -> str | None:
        """LWE-style families with labels that are residues: what is rounded is not linear."""
        if (reason := only_modular(family)) or not isinstance(family, Modular):
            return reason
        if len(family.levels) != family.q or family.name == "window":
            return "its labels say only roughly where <a, s> mod q is: try primal or arora-ge"
        return None

    def learn(self, oracle: ExampleOracle, rng: np.random.Generator) -> Hypothesis:
        """Draw samples until n are independent, solve, and check the others."""
        family = as_modular(oracle.family)
        found = Samples.none(family)
        missing = family.n + self.checks
        require_memory(_NUMBER_BYTES * missing * family.n, f"{missing} equations")
        try:
            while len(independent(found.a, family.q)) < family.n:
                found = join((found, collect(oracle, missing)))
                missing = _MORE
        except Spent as spent:
            return nothing(family, SPENT[spent.resource], samples=len(found))
        residues = solve(found.a, found.b, family.q)
        wrong = int(np.count_nonzero(found.residuals(residues)))
        secret = family.secrets.lift(residues)
        if wrong or secret is None:
            return nothing(family, Outcome.NOISY, samples=len(found), contradictions=wrong)
        return member(family, secret, samples=len(found))


def solve(a: NDArray[np.int64], b: NDArray[np.int64], q: int) -> Secret:
    """Solve A s = b mod q by n independent rows: (N, n), (N,) -> n residues.

    q: a prime or a power of two. Raises UsageError where the rank is below n.

    >>> solve(np.array([[2, 1], [1, 1], [0, 3]]), np.array([1, 7, 2]), 8)
    (2, 5)
    """
    rows = independent(a, q)
    if len(rows) < a.shape[1]:
        raise UsageError(f"{len(a)} equations of rank {len(rows)} given: {a.shape[1]} are needed")
    right = nmod_mat(len(rows), 1, b[rows].tolist(), q)
    return tuple(int(v) for v in (inverse(a[rows], q) * right).entries())


def independent(a: NDArray[np.int64], q: int) -> list[int]:
    """Find the first rows of A, (N, n), that are independent modulo the residue field of Z_q.

    >>> independent(np.array([[2, 0], [1, 1], [3, 3], [1, 0]]), 4)
    [1, 3]
    """
    reduced, rank = _matrix(a.T, _residue(q)).rref()
    values = np.array([int(v) for v in reduced.entries()], bool).reshape(a.shape[::-1])
    return [int(row.argmax()) for row in values[:rank]]


def inverse(a: NDArray[np.int64], q: int) -> nmod_mat:
    """Invert A mod q, (n, n), its rows independent: mod 2 by elimination, then X (2 - A X).

    >>> inverse(np.array([[1, 2], [0, 3]]), 8)
    [1, 2]
    [0, 3]
    """
    found = _matrix(a, _residue(q)).inv()
    exact = _matrix(a, q)
    found = nmod_mat(len(a), len(a), [int(v) for v in found.entries()], q)
    bits = 1
    while _residue(q) == 2 and 1 << bits < q:
        found = found * 2 - found * exact * found
        bits *= 2
    return found


def join(parts: Sequence[Samples]) -> Samples:
    """Put samples of one family one after another."""
    return Samples(
        family=parts[0].family,
        a=np.concatenate([part.a for part in parts]),
        codes=np.concatenate([part.codes for part in parts]),
    )


def _residue(q: int) -> int:
    """The characteristic of the residue field of Z_q, q a prime or a power of two."""
    return 2 if q % 2 == 0 else q


def _matrix(a: NDArray[np.int64], q: int) -> nmod_mat:
    return nmod_mat(a.shape[0], a.shape[1], (a % q).ravel().tolist(), q)
