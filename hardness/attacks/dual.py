"""The dual attack: short vectors of the dual lattice, and guesses at the other columns. [MR09]

A row x of small integers combines samples b = A s + e to a reduced one, A' = x A and b' = x b
mod q. Let x and the columns of A' that were in the lattice be short. Then the cosine of
2 pi (b' - <A', g>)/q over the other columns has the mean e^(-D/2) at the right guess g, and 0 at
wrong ones. Sums of many cosines show the right guess [Albrecht17, EJK20]. The same sum then finds
the remaining entries one by one: first the cruel, then the cool ones [NMWSLCL24]. Entries have few
values. A secret is claimed if the samples, as they were drawn, confirm it.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Annotated, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from hardness.attacks.core import gather, nonzero_values, samples_to_confirm
from hardness.attacks.lattice import (
    LatticeAttack,
    dropped_coordinates,
    max_restarts,
    reduce,
    root_hermite,
)
from hardness.oracles import ExampleOracle
from instances.errors import UsageError
from instances.family import Secret
from instances.limits import require_memory
from instances.lwe import Modular
from instances.parameters import Range
from instances.residues import centred
from instances.samples import Samples
from instances.streams import generator

MOST_GUESSES = 1 << 36  # guesses of a restart, at most
_MOST_VECTORS = 1 << 13
_MOST_VALUES = 33  # values of an entry, at most
_KEPT_GUESSES = 8  # guesses that are verified
_BATCH_COSINES = 1 << 20  # cosines that are computed at once
_SCALE_LIMIT = 16  # the largest denominator of the scale of x to that of columns
_NEAR_VALUE = 0.25  # an entry whose mean is this near to a value starts at the value
_CLEAR_DEVIATIONS = 6  # standard deviations that determine an entry that is not guessed
_LEAST_WIDTH = 1e-9  # the width that columns of zeros are counted with
_VECTORS_MARGIN = 2  # times the vectors needed: D is computed from these errors, not mean ones
_FIRST_BLOCK, _BLOCK_STEP = 10, 4  # block sizes before the last one

Places = NDArray[np.int64]
Waves = NDArray[np.complex64]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ReducedSamples:
    """Samples (m,) combined by rows R (N, m): A' (N, n), centred, and b' (N,) less the mean of R e.

    They are samples of the same secret: b' - A' s = R e mod q. deviation: (N,), the standard
    deviations of the errors R e: that of e times the lengths of rows.
    """

    samples: Samples
    a: NDArray[np.int64]
    b: NDArray[np.float64]
    deviation: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.b)

    def __repr__(self) -> str:
        return f"{len(self)} reduced samples of {self.samples.family}"

    @staticmethod
    def combine(gathered: Samples, rows: NDArray[np.int64]) -> "ReducedSamples":
        """Combine samples by rows; raises UsageError for rows that int64 does not hold.

        >>> from instances import parse
        >>> from instances.samples import draw_samples
        >>> drawn = draw_samples(parse("lwe:n=4,q=97,sigma=1").instance(0), 3)
        >>> ReducedSamples.combine(drawn, np.array([[1, 0, -1]])).deviation.round(2).tolist()
        [1.41]
        """
        error, lengths = gathered.error, np.sqrt((rows.astype(float) ** 2).sum(axis=1))
        most = int(abs(rows).sum(axis=1).max()) * gathered.q
        if most >= 1 << 63:
            raise UsageError(f"rows are too wide: their entries add up to {most // gathered.q}")
        exact = np.float64 if most < 1 << 53 else np.int64  # float64 is much faster
        table = rows.astype(exact) @ np.column_stack([gathered.a, gathered.b]).astype(exact)
        table = centred(table.astype(np.int64), gathered.q)
        mean, deviation = (error.mean, error.deviation * lengths) if error else (0.0, 0.0 * lengths)
        b = table[:, -1] - mean * rows.sum(axis=1)
        return ReducedSamples(samples=gathered, a=table[:, :-1], b=b, deviation=deviation)

    @cached_property
    def spread(self) -> NDArray[np.float64]:
        """The root mean square of each column of A': (n,). It is q/sqrt(12) for uniform columns."""
        return np.sqrt((self.a.astype(float) ** 2).mean(axis=0))

    def noise(self, inside: NDArray[np.int64]) -> NDArray[np.float64]:
        """Compute the deviation of b' less the part of the other columns: (N,)."""
        deviation = self.samples.family.secrets.moments[1]
        lengths = np.sqrt((self.a[:, inside].astype(float) ** 2).sum(axis=1))
        return np.hypot(self.deviation, deviation * lengths)


def lattice(a: Places, q: int, ratio: float) -> tuple[Places, Fraction]:
    """Write a basis of all (w x, v y) with y = x A mod q, for A (m, k) and w/v near ratio."""
    m, k = a.shape
    scale = Fraction(max(ratio, 1 / _SCALE_LIMIT)).limit_denominator(_SCALE_LIMIT)
    basis = np.zeros((m + k, m + k), np.int64)
    basis[:k, m:] = scale.denominator * q * np.eye(k, dtype=np.int64)
    basis[k:, m:] = scale.denominator * centred(a, q)
    basis[k:, :m] = scale.numerator * np.eye(m, dtype=np.int64)
    return basis, scale


def short_rows(
    gathered: Samples, inside: Places, count: int, block: int, rng: np.random.Generator
) -> Iterator[Places]:
    """Yield rows x (any number, N) of N samples without end, by reducing lattices of `count` each.

    Each lattice has newly chosen samples, and a new order of the columns `inside`.
    """
    blocks = [*range(_FIRST_BLOCK, block, _BLOCK_STEP), block]
    while True:
        some, order = np.sort(rng.permutation(len(gathered))[:count]), rng.permutation(inside)
        basis, scale = lattice(gathered.a[np.ix_(some, order)], gathered.q, _ratio(gathered.family))
        *_, (_, short) = reduce(basis, blocks, int(rng.integers(1 << 31)))
        x = short[:, :count] // scale.numerator
        rows = np.zeros((len(x), len(gathered)), np.int64)
        rows[:, some] = x
        yield rows[x.any(axis=1)]  # q times a unit vector has no information


def _ratio(forms: Modular) -> float:
    error = Samples.none(forms).error
    least = 1 / (2 * forms.n)  # all entries may be 1
    return (error.deviation if error else 0.0) / max(forms.secrets.moments[1], least)


class Sums:
    """Sums over reduced samples of the cosines of 2 pi (b' - <A', s>)/q, weighted by e^(-D/2).

    That is the mean of a cosine at the right guess, so these weights suit different lengths.
    """

    def __init__(self, reduced: ReducedSamples, places: Places) -> None:
        """Prepare guesses at `places`. Other entries start at their mean, or at a value near it."""
        law, self._turn = reduced.samples.family.secrets, 2 * math.pi / reduced.samples.q
        self._values, self._places = np.array(law.values), places
        require_memory(16 * (len(self._values) + 3) * reduced.a.size, f"{len(reduced)} vectors")
        self._a, self._b = reduced.a, reduced.b
        mean = law.moments[0]
        near = self._values[np.argmin(abs(self._values - mean))]
        self._entries = np.full(law.n, near if abs(near - mean) <= _NEAR_VALUE else mean, float)
        self._entries[places] = 0
        self.weights = weights(reduced, places)
        self._turned = np.stack([self._wave(-self._a * v) for v in self._values])

    def _wave(self, numbers: NDArray[Any]) -> Waves:
        return np.exp(1j * self._turn * numbers).astype(np.complex64)

    def _at(self, entries: NDArray[np.float64]) -> Waves:
        """Compute the weighted waves whose real part is summed: (N,)."""
        return (self.weights * self._wave(self._b - self._a @ entries)).astype(np.complex64)

    def best(self, weight: int) -> list[tuple[float, Secret]]:
        """Compute sums at all guesses of at most `weight` nonzero entries; return the best few.

        A guess has n entries, nonzero only at the places. Guesses are extended by one entry at a
        time: all extensions of a guess are one product of matrices.
        """
        others = np.flatnonzero(self._values)
        table = self._turned[others][:, :, self._places].transpose(1, 2, 0)
        table = table.reshape(len(self._b), -1)  # a column for each place and value
        both, column = np.concatenate([table.real, -table.imag]), np.arange(table.shape[1])
        start = self._at(self._entries)
        kept: list[tuple[float, tuple[int, ...]]] = [(float(start.real.sum()), ())]
        step, most = max(1, _BATCH_COSINES // max(both.shape)), min(weight, len(self._places))

        def lengthen(waves: Waves, heads: NDArray[np.intp]) -> None:
            """Compute sums at heads (any number, size) with one more entry, then lengthen those."""
            last = heads[:, -1] // len(others) if heads.size else np.full(len(heads), -1)
            after = column // len(others) > last[:, None]
            totals = np.concatenate([waves.real, waves.imag], axis=1) @ both
            totals = np.where(after, totals, -np.inf).ravel()
            for index in np.argpartition(totals, -min(_KEPT_GUESSES, len(totals)))[
                -_KEPT_GUESSES:
            ].tolist():
                row, end = divmod(index, len(column))
                kept.append((float(totals[index]), (*heads[row].tolist(), end)))
            kept[:] = sorted(kept, reverse=True)[:_KEPT_GUESSES]
            if heads.shape[1] + 1 < most:
                rows, ends = np.nonzero(after)
                for i in range(0, len(rows), step):
                    row, end = rows[i : i + step], ends[i : i + step]
                    lengthen(waves[row] * table.T[end], np.column_stack([heads[row], end]))

        if most:
            lengthen(start[None], np.zeros((1, 0), np.intp))
        guesses = np.zeros((len(kept), len(self._entries)), np.int64)
        for guess, (_, chosen) in zip(guesses, kept, strict=True):
            place, value = np.divmod(np.array(chosen, np.intp), len(others))
            guess[self._places[place]] = self._values[others[value]]
        pairs = zip(kept, guesses.tolist(), strict=True)
        return [(score, tuple(guess)) for (score, _), guess in pairs if score > -np.inf]

    def climb(self, guess: Secret) -> Secret:
        """Change single entries, guessed or not, while the sum grows."""
        entries = self._entries + np.array(guess)
        waves, open_ = self._at(entries), ~np.isin(entries, self._values)
        without = waves[:, None] * self._wave(self._a * entries)  # without each entry
        score = float(waves.real.sum())
        for _ in range(2 * len(entries) + _KEPT_GUESSES):
            sums = np.stack([np.einsum("ij,ij->j", without, one).real for one in self._turned])
            value, place = np.unravel_index(sums.argmax(), sums.shape)
            if not sums[value, place] > score + 1e-6 * (1 + abs(score)):
                break
            score, old, kept = float(sums[value, place]), entries[place], without[:, place].copy()
            entries[place], open_[place] = self._values[value], False
            without *= self._wave(self._a[:, place] * (old - entries[place]))[:, None]
            without[:, place] = kept
        likely = self._values[sums.argmax(axis=0)]
        return tuple(int(v) for v in np.where(open_, likely, entries))


def weights(reduced: ReducedSamples, places: Places) -> NDArray[np.float64]:
    """Compute e^(-D/2), the mean of each sample's cosine at the right guess of places: (N,)."""
    inside = np.setdiff1d(np.arange(reduced.a.shape[1]), places)
    return np.exp(-((2 * math.pi / reduced.samples.q * reduced.noise(inside)) ** 2) / 2)


@dataclass(frozen=True, kw_only=True)
class Dual(LatticeAttack):
    """Leaves zeta coordinates out of the lattice, guesses them, and then finds the others.

    block: the block size of the reduction, 2 for LLL alone. weight: the number of nonzero entries
    of a guess, at most. vectors: the number of vectors of all lattices, 0 for as many as needed.
    samples: the number of samples of one lattice, 0 for as many as needed.
    """

    name: ClassVar[str] = "dual"
    about: ClassVar[str] = "dual lattice attack: short rows, guesses of the columns they leave wide"

    weight: Annotated[int, Range(0)] = 2
    vectors: Annotated[int, Range(0, _MOST_VECTORS)] = 0

    def unsupported_reason(self, forms: Modular) -> str | None:
        """Return why labels are not b = <a, s> + e or guesses are impossible, or None."""
        if reason := super().unsupported_reason(forms):
            return reason
        if forms.secrets.entries is None or len(forms.secrets.values) > _MOST_VALUES:
            return f"it takes entries of a secret of at most {_MOST_VALUES} values: try primal"
        if self.zeta > forms.n:
            return f"zeta must be at most n = {forms.n}, got {self.zeta}"
        if (guesses := self.guesses(forms)) > MOST_GUESSES:
            return f"a try has 2^{math.log2(guesses):.1f} guesses, at most 2^36 are summed up"
        return None

    def guesses(self, forms: Modular) -> int:
        """Count the guesses of a restart."""
        others, most = len(nonzero_values(forms)), min(self.weight, self.zeta)
        return sum(math.comb(self.zeta, w) * others**w for w in range(most + 1))

    def lattice_samples(self, forms: Modular) -> int:
        """Count the samples of a lattice: the number given, or the one of the shortest vectors.

        d^2 = k ln(q/ratio)/ln delta for d samples and columns. k of them are columns, no more than
        a reduction by delta can shorten. [MR09]
        """
        low, gain = math.log(root_hermite(self.block)), math.log(max(2.0, forms.q / _ratio(forms)))
        k = min(forms.n - self.zeta, gain / (4 * low))
        return self.samples or max(1, round(math.sqrt(k * gain / low) - k))

    def sample_count(self, forms: Modular) -> int:
        """Return twice the samples of a lattice, as each lattice makes a new choice."""
        return max(samples_to_confirm(forms), 2 * self.lattice_samples(forms))

    def gather(self, oracle: ExampleOracle, forms: Modular) -> Samples:
        """Draw the samples that every lattice chooses from."""
        self.require_lattice(forms)
        return gather(oracle, self.sample_count(forms))

    def candidates(self, gathered: Samples, details: dict[str, Any]) -> Iterator[Secret]:
        """Guess zeta coordinates by sums over short vectors, and find the others from the sums."""
        forms, error = gathered.family, gathered.error
        assert error is not None  # by `unsupported_reason`
        count = min(self.lattice_samples(forms), len(gathered))
        details |= {"block": self.block, "zeta": self.zeta}
        details["dimension"] = count + forms.n - self.zeta
        for restart in range(max_restarts(forms.secrets, self.zeta, self.weight)):
            reduced, guessed = self.reduced(gathered, restart)
            inside = np.setdiff1d(np.arange(forms.n), guessed)
            length = math.sqrt(float((reduced.noise(inside) ** 2).mean())) / error.deviation
            details |= {"tries": restart + 1, "vectors": len(reduced), "length": round(length, 2)}
            sums = Sums(reduced, guessed)
            for _, guess in sums.best(self.weight):
                yield sums.climb(guess)

    def reduced(self, gathered: Samples, restart: int = 0) -> tuple[ReducedSamples, Places]:
        """Reduce samples for a restart; return these and the coordinates to guess.

        >>> from instances import parse
        >>> from instances.samples import draw_samples
        >>> drawn = draw_samples(parse("lwe:n=12,q=97,sigma=1,secret=binary").instance(0), 40)
        >>> reduced, guessed = Dual(zeta=3, vectors=50).reduced(drawn)
        >>> reduced, sorted(np.argsort(reduced.spread)[-3:]) == guessed.tolist()  # they stay wide
        (50 reduced samples of lwe:n=12,q=97,sigma=1,secret=binary, True)
        """
        forms, rows, shown = gathered.family, list[Places](), 0.0
        guessed = dropped_coordinates(forms.n, self.zeta, restart)
        inside = np.setdiff1d(np.arange(forms.n), guessed)
        count = min(self.lattice_samples(forms), len(gathered))
        # With weights w the right guess scores sqrt(2 sum w^2) standard deviations on average, and
        # with 99 % at least 2.33 less. All wrong ones stay below sqrt(2 ln(100 guesses)) with 99 %.
        # `shows` is the requirement for the other entries.
        need = (math.sqrt(2 * math.log(100 * self.guesses(forms))) + 2.33) ** 2 / 2
        for some in short_rows(gathered, inside, count, self.block, generator(restart, "dual")):
            rows.append(some)
            part = ReducedSamples.combine(gathered, some)
            shown += float((weights(part, guessed) ** 2).sum())
            have = sum(map(len, rows))
            wide = 2 * math.pi / forms.q * (part.spread[inside].mean() if len(inside) else math.inf)
            shows = (
                (1 - (shown / have) ** 2)
                / 2
                * (_CLEAR_DEVIATIONS / np.clip(wide, _LEAST_WIDTH, 1)) ** 2
            )
            if have >= (self.vectors or _MOST_VECTORS):
                break
            if not self.vectors and shown >= _VECTORS_MARGIN * max(need, shows):
                break
        short = np.concatenate(rows)[: self.vectors or None]
        return ReducedSamples.combine(gathered, short), guessed
