"""Linear algebra over Z_q: recovers the secret of labels without error from about n samples.

The first n samples that are independent modulo every prime divisor of q are solved modulo these
primes. For prime powers the inverse is lifted, which doubles the exponent in each step. One wrong
label among the n spoils the solution, and the remaining samples detect it. `elimination` is the
same for parities, with packed bits, for thousands of coordinates.
"""

import math
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np
from flint import nmod_mat
from numpy.typing import NDArray

from hardness.attacks.core import SPARE_BITS, Attack, gather_more, is_member
from hardness.learners.learner import Hypothesis, Outcome, member, nothing
from hardness.numerics.gf2 import LinearSystem
from hardness.oracles import ExampleOracle
from instances.coded import as_coded, require_coded
from instances.errors import UsageError
from instances.family import Examples, Secret
from instances.limits import require_memory
from instances.lwe import Modular
from instances.parameters import Range
from instances.residues import factors
from instances.samples import Samples

_NOISY = "the labels fit no member: they are noisy"
_BATCH_SAMPLES = 8  # further samples at once, while the rank is too low
_BATCH_EXAMPLES = 1024  # examples for parities at a time
_NUMBER_BYTES = 48  # of a residue, in NumPy and in a flint matrix


@dataclass(frozen=True, kw_only=True)
class ModLinear(Attack):
    """Solves A s = b mod q; `checks` more equations confirm s (a wrong s passes: q^-checks)."""

    name: ClassVar[str] = "modlinear"
    about: ClassVar[str] = "linear algebra over Z_q: 2(n + 33) noiseless examples or so"

    checks: Annotated[int, Range(8)] = 32  # fewer would make a guess of a secret

    def unsupported_reason(self, forms: Modular) -> str | None:
        """Return None if labels are residues, else the reason: rounded labels are not linear."""
        if forms.interval != 1:
            return "its labels say only roughly where <a, s> mod q is: try primal"
        least = math.ceil(SPARE_BITS / math.log2(forms.q))
        if self.checks < least:
            return f"checks must be at least {least} for a secret mod {forms.q}, got {self.checks}"
        return None

    def learn(self, oracle: ExampleOracle, rng: np.random.Generator) -> Hypothesis:
        """Draw samples until n are independent, solve, and check the others."""
        family = oracle.family
        forms = family.linear_forms or family.refuse("linear_forms")
        least, drawn = forms.n + self.checks, Samples.none(forms)
        require_memory(_NUMBER_BYTES * least * forms.n, f"{least} equations")
        missing = least
        while missing > 0:
            count = max(least - len(drawn), _BATCH_SAMPLES)
            drawn = gather_more(oracle, drawn, count, len(drawn) + missing)
            missing = max(least - len(drawn), forms.n - len(independent(drawn.a, forms.q)))
        residues = solve(drawn.a, drawn.b, forms.q)
        wrong = int(np.count_nonzero(drawn.residuals(residues)))
        secret = forms.secrets.lift(residues)
        if wrong or secret is None or not is_member(forms, secret):
            details = {"samples": len(drawn), "contradictions": wrong}
            return nothing(family, Outcome.NO_CLAIM, reason=_NOISY, **details)
        return member(family, family.from_linear(secret), samples=len(drawn))


@dataclass(frozen=True, kw_only=True)
class Elimination(Attack):
    """Solves for the hidden set; `checks` more equations confirm it (a wrong one: 2^-checks)."""

    name: ClassVar[str] = "elimination"
    needs = "noisy_parities"
    about: ClassVar[str] = "Gaussian elimination over GF(2): 2(d + 31) noiseless examples or so"

    checks: Annotated[int, Range(SPARE_BITS)] = 32

    def learn(self, oracle: ExampleOracle, rng: np.random.Generator) -> Hypothesis:
        """Add equations until the rank is full and the checks pass, or an equation contradicts."""
        family = require_coded(oracle.family)
        forms = family.linear_forms or family.refuse("linear_forms")
        n = forms.n
        system, used = LinearSystem(forms.d), 0
        details: dict[str, Any] = {}
        while system.rank < n or used < n + self.checks:
            missing = max(n + self.checks - used, n - system.rank)
            words, labels = equations(oracle.draw(min(family.enough(missing), _BATCH_EXAMPLES)))
            used += len(labels)
            conflicts = system.add_equations(words, labels)
            details = {"rank": system.rank, "equations": used}
            if conflicts:
                details["contradictions"] = conflicts
                return nothing(family, Outcome.NO_CLAIM, reason=_NOISY, **details)
            wanted = max(n + self.checks, used + n - system.rank)
            early = details | {"samples": used, "samples_wanted": wanted}
            oracle.meter.offer(nothing(family, **early))
        bits = tuple(int(bit) for bit in system.solution()[1:])
        if not is_member(forms, bits):
            return nothing(family, Outcome.NO_CLAIM, reason=_NOISY, size_found=sum(bits), **details)
        return member(family, family.from_linear(bits), **details)


def equations(examples: Examples) -> tuple[NDArray[np.uint64], NDArray[np.uint8]]:
    """Read <a, s> = b of informative parities: words (N, words), a_j in bit j + 1, and b (N,)."""
    packed = as_coded(examples)
    opened = packed.family.open(packed.words)
    words = packed.words[opened, 0] ^ packed.words[opened, 1]
    words[:, 0] &= ~np.uint64(1)
    return words, packed.codes[opened].astype(np.uint8)


def solve(a: NDArray[np.int64], b: NDArray[np.int64], q: int) -> Secret:
    """Solve A s = b mod q by n independent rows: (N, n), (N,) -> n residues.

    Raises UsageError if the rank is below n.

    >>> solve(np.array([[2, 1], [1, 1], [0, 3]]), np.array([1, 7, 2]), 8)
    (2, 5)
    """
    rows = independent(a, q)
    if len(rows) < a.shape[1]:
        raise UsageError(f"the rank must be {a.shape[1]}, got {len(rows)} of {len(a)} equations")
    right = nmod_mat(len(rows), 1, b[rows].tolist(), q)
    return tuple(int(v) for v in (inverse(a[rows], q) * right).entries())


def independent(a: NDArray[np.int64], q: int) -> list[int]:
    """Find the first rows of A (N, n) that are independent modulo every prime divisor of q.

    A row that depends on earlier ones modulo one of the primes is left out.

    >>> independent(np.array([[2, 0], [1, 1], [3, 3], [1, 0]]), 4)
    [1, 3]
    >>> independent(np.array([[2, 0], [1, 1], [1, 4], [1, 0]]), 6)
    [1, 3]
    """
    primes, kept = [p for p, _ in factors(q)], list(range(len(a)))
    while True:
        bases = [_basis(a[kept], p) for p in primes]
        fewest = min(bases, key=len)
        apart = set().union(*bases) - set(fewest).intersection(*bases)
        if not apart or len(fewest) < a.shape[1]:  # n independent rows do not exist
            return [kept[i] for i in fewest]
        del kept[min(apart)]


def _basis(a: NDArray[np.int64], p: int) -> list[int]:
    """Find the first rows that are independent modulo a prime."""
    reduced, rank = _matrix(a.T, p).rref()
    return [int(row.argmax()) for row in entries(reduced)[:rank] != 0]


def inverse(a: NDArray[np.int64], q: int) -> nmod_mat:
    """Invert A mod q (n, n): modulo primes by elimination, then by lifting X <- X (2 - A X).

    >>> inverse(np.array([[1, 2], [0, 3]]), 8)
    [1, 2]
    [0, 3]
    >>> inverse(np.array([[1, 2], [0, 5]]), 12) * nmod_mat(2, 2, [1, 2, 0, 5], 12)
    [1, 0]
    [0, 1]
    """
    inverted = nmod_mat(len(a), len(a), q)
    for p, exponent in factors(q):
        power, exact = p**exponent, _matrix(a, p**exponent)
        part = _matrix(entries(_matrix(a, p).inv()), power)
        for _ in range((exponent - 1).bit_length()):
            part = part * 2 - part * exact * part
        rest = q // power
        inverted += _matrix(entries(part), q) * (rest * pow(rest, -1, power) % q)
    return inverted


def entries(matrix: nmod_mat) -> NDArray[np.int64]:
    """Convert a flint matrix to an array of entries in 0 .. q-1."""
    numbers = np.array([int(v) for v in matrix.entries()], np.int64)
    return numbers.reshape(matrix.nrows(), matrix.ncols())


def _matrix(a: NDArray[np.int64], q: int) -> nmod_mat:
    return nmod_mat(a.shape[0], a.shape[1], (a % q).ravel().tolist(), q)
