"""Laws of tokens: signs, normal ones, words of a vocabulary; each may be moved by its position.

The k tokens of an example are independent. Every law knows its moments, and either the length that
no token exceeds or what the tail of its lengths is bounded by (docs/mathematics.md, section 24).
Draws are addressed by position, as in `tokens`.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from instances import tokens
from instances.arguments import real_array
from instances.arrayfile import SUFFIXES, read_arrays
from instances.errors import DamagedFile, UsageError, require
from instances.streams import BitStream

Array = NDArray[np.float64]
NAMES = ("boolean", "gaussian")  # laws that need no file
_ARRAYS = ("embedding", "frequencies", "covariance", "mean", "positions")
_ROUNDING = 1e-6  # relative: what a file may hold was made in float32
_ABOVE = 1e-9  # relative: what sums in another order may differ by, and more
_SEEN = 1e-9  # of the largest singular value: directions below it are those of rounding
_LARGEST = 1e50  # so that squares of labels stay within float64


@dataclass(frozen=True, kw_only=True)
class Signs:
    """Uniform on {-1, +1}^d."""

    d: int
    text: ClassVar[str] = "boolean"

    @property
    def mean(self) -> Array:
        """Zero."""
        return np.zeros(self.d)

    @property
    def covariance(self) -> Array:
        """The identity."""
        return np.eye(self.d)

    def draw(self, stream: BitStream, start: int, count: int, k: int) -> NDArray[np.int8]:
        """A bit an entry."""
        return tokens.unpack(tokens.boolean(stream, start, count, k, self.d), self.d)


@dataclass(frozen=True, kw_only=True, eq=False)
class Normal:
    """Normal with a mean (d,) and a covariance (d, d); raises UsageError for what is none.

    >>> Normal.of(np.diag([1.0, 4.0])).draw(BitStream((1, 2)), 0, 3, 2).shape
    (3, 2, 2)
    """

    mean: Array
    covariance: Array
    root: Array | None = None  # (d, d), symmetric, its square the covariance; None for the identity

    @staticmethod
    def standard(d: int) -> "Normal":
        """Mean 0, covariance the identity."""
        return Normal(mean=np.zeros(d), covariance=np.eye(d))

    @staticmethod
    def of(covariance: Array, mean: Array | None = None) -> "Normal":
        """Check a covariance, and a mean if there is one; raises UsageError."""
        c = _numbers("covariance", covariance, "(d, d)")
        d = len(c)
        require(c.shape == (d, d), f"covariance of shape {c.shape} given: (d, d) is needed")
        size, apart = float(np.abs(c).max()), np.abs(c - c.T)
        i, j = divmod(int(np.argmax(apart)), d)
        require(
            apart[i, j] <= _ROUNDING * size,
            f"covariance with entries {c[i, j]:g} at ({i}, {j}) and {c[j, i]:g} at ({j}, {i}) "
            "given: it must be symmetric",
        )
        values, vectors = np.linalg.eigh((c + c.T) / 2)
        least = f"covariance with an eigenvalue of {values[0]:.3g} given: none may be negative"
        require(values[0] >= -_ROUNDING * size, least)
        mean = np.zeros(d) if mean is None else _numbers("mean", mean, "(d,)")
        require(len(mean) == d, f"mean of shape {mean.shape} given: ({d},) is needed")
        values = np.where(values > _ROUNDING**2 * size, values, 0.0)
        return Normal(
            mean=mean,
            covariance=(vectors * values) @ vectors.T,
            root=(vectors * np.sqrt(values)) @ vectors.T,
        )

    @property
    def text(self) -> str:
        """Its law in words."""
        return "gaussian" if self.root is None else "correlated gaussian"

    @property
    def d(self) -> int:
        """Its dimension."""
        return len(self.mean)

    def draw(self, stream: BitStream, start: int, count: int, k: int) -> Array:
        """Move standard normal ones."""
        drawn = tokens.gaussian(stream, start, count, k, self.d)
        return drawn if self.root is None else drawn @ self.root + self.mean


@dataclass(frozen=True, kw_only=True, eq=False)
class Vocabulary:
    """Rows of an embedding (V, d), drawn uniformly or with frequencies (V,).

    Raises UsageError for frequencies that are none.

    >>> Vocabulary.of(np.eye(3), [0.5, 0.5, 0.0]).mean.tolist()
    [0.5, 0.5, 0.0]
    """

    embedding: Array
    frequencies: Array
    text: ClassVar[str] = "vocabulary"

    @staticmethod
    def of(embedding: ArrayLike, frequencies: ArrayLike | None = None) -> "Vocabulary":
        """Check an embedding, and frequencies if there are any; raises UsageError."""
        rows = _numbers("embedding", embedding, "(V, d)")
        if frequencies is None:
            return Vocabulary(embedding=rows, frequencies=np.full(len(rows), 1 / len(rows)))
        shares = _numbers("frequencies", frequencies, "(V,)")
        fit = (
            f"frequencies of shape {shares.shape} given: ({len(rows)},) is needed, one for each row"
        )
        require(len(shares) == len(rows), f"{fit} of the embedding")
        least, total = int(np.argmin(shares)), float(shares.sum())
        said = f"frequency {shares[least]:g} of word {least} given: none may be negative"
        require(shares[least] >= 0, said)
        require(
            abs(total - 1) <= _ROUNDING * len(shares) ** 0.5,
            f"frequencies that sum to {total:g} given: they must sum to 1; divide counts by their "
            "sum",
        )
        return Vocabulary(embedding=rows, frequencies=shares / total)

    @property
    def d(self) -> int:
        """Its dimension."""
        return int(self.embedding.shape[1])

    @cached_property
    def mean(self) -> Array:
        """The mean word."""
        return np.asarray(self.frequencies @ self.embedding)

    @cached_property
    def covariance(self) -> Array:
        """The covariance of the words."""
        apart = self.embedding - self.mean
        return np.asarray((apart * self.frequencies[:, None]).T @ apart)

    def draw(self, stream: BitStream, start: int, count: int, k: int) -> Array:
        """A random word of 53 bits a token, in the table of cumulative frequencies."""
        drawn = stream.words(start * k, count * k) >> np.uint64(11)
        ends = np.cumsum(self.frequencies)
        places = np.searchsorted(ends / ends[-1], drawn * 2.0**-53, side="right")
        return self.embedding[places].reshape(count, k, self.d)


Plain = Signs | Normal | Vocabulary  # one token, before its position is added


@dataclass(frozen=True, kw_only=True, eq=False)
class TokenLaw:
    """The law of an example: independent tokens, moved by positions (k, d), with a constant 1.

    constant: whether a coordinate that is always 1 follows the others, as layers with biases need
    it. sha256: of the arrays that a file gave, empty where none did.

    >>> law = law_of("boolean", 3)
    >>> law.mean(2).tolist(), law.longest(2), law.draw(BitStream((1, 2)), 0, 5, 2).dtype
    ([[0.0, 0.0, 0.0], [0.0, 0.0, 0.0]], 3.0, dtype('int8'))
    """

    plain: Plain
    positions: Array | None = None
    constant: bool = False
    sha256: str = ""

    @property
    def d(self) -> int:
        """The dimension of a token, the constant with it."""
        return self.plain.d + self.constant

    @property
    def name(self) -> str:
        """What a spec calls the law: boolean, gaussian, or given where it needs a file."""
        moved = self.positions is not None or self.constant
        return self.plain.text if self.plain.text in NAMES and not moved else "given"

    @property
    def text(self) -> str:
        """The law in words."""
        said = self.plain.text
        if isinstance(self.plain, Vocabulary):
            said += f" of {len(self.plain.embedding)} words"
        said += " with positions" if self.positions is not None else ""
        return said + (" and a constant coordinate" if self.constant else "")

    def draw(self, stream: BitStream, start: int, count: int, k: int) -> NDArray[Any]:
        """Draw examples start .. start+count-1: (count, k, d), int8 for plain signs."""
        drawn = self.plain.draw(stream, start, count, k)
        if self.positions is not None:
            drawn = drawn + self.positions
        if self.constant:
            drawn = np.concatenate([drawn, np.ones((count, k, 1))], axis=2)
        return drawn

    def mean(self, k: int) -> Array:
        """The mean of each of k tokens, (k, d)."""
        moved = self.plain.mean + self._moves(k)
        return np.concatenate([moved, np.ones((k, 1))], axis=1) if self.constant else moved

    @property
    def covariance(self) -> Array:
        """The covariance of every token about its own mean, (d, d)."""
        return np.asarray(np.pad(self.plain.covariance, (0, int(self.constant))))

    def longest(self, k: int) -> float | None:
        """The largest squared length of a token, to rounding from above; None where none is."""
        moves, plain = self._moves(k), self.plain
        if isinstance(plain, Signs):
            farthest = [np.abs(move) + 1 for move in moves]
        elif isinstance(plain, Vocabulary):
            farthest = [plain.embedding[plain.frequencies > 0] + move for move in moves]
        elif self.tail(k)[1]:
            return None
        else:
            farthest = list(plain.mean + moves)
        found = max(float((one**2).sum(axis=-1).max()) for one in farthest) + self.constant
        return found if self.name == "boolean" else found * (1 + _ABOVE)

    def _moves(self, k: int) -> Array:
        """What positions add to each of k tokens, (k, d) without the constant."""
        return np.zeros((k, self.plain.d)) if self.positions is None else self.positions

    def tail(self, k: int) -> tuple[float, float, int]:
        """Numbers c, s, r with |x_j| <= c + s |z|, z standard normal in r dimensions.

        c is the length of the longest mean, s^2 the largest eigenvalue of the covariance, r its
        rank.
        """
        values = np.linalg.eigvalsh(self.plain.covariance)
        rank = int(np.sum(values > _ROUNDING**2 * values[-1])) if values[-1] > 0 else 0
        offset = np.sqrt((self.mean(k) ** 2).sum(axis=1).max())
        return float(offset), float(np.sqrt(max(values[-1], 0.0))), rank

    def seen(self, k: int) -> tuple[Array, Array]:
        """Orthonormal bases (d, r) of what k tokens span, and of what their differences do."""
        spread, means = self.covariance, self.mean(k)
        whole = np.concatenate([_half(spread), means])
        return _span(whole), _span(np.concatenate([_half(spread), means[1:] - means[:1]]))


def _half(covariance: Array) -> Array:
    """Rows (d, d) whose Gram matrix is the covariance."""
    values, vectors = np.linalg.eigh(covariance)
    there = values > _ROUNDING**2 * max(values[-1], 1e-300)
    return np.asarray((vectors * np.sqrt(np.where(there, values, 0.0))).T)


def _span(rows: Array) -> Array:
    """An orthonormal basis (d, r) of rows (n, d)."""
    _, sizes, vectors = np.linalg.svd(rows, full_matrices=False)
    return np.ascontiguousarray(vectors[sizes > _SEEN * max(sizes[0], 1e-300)].T)


@lru_cache(maxsize=16)
def law_of(name: str, d: int) -> TokenLaw:
    """Return a law that needs no file, boolean or gaussian, in dimension d; raises UsageError."""
    if name == "boolean":
        return TokenLaw(plain=Signs(d=d))
    if name == "gaussian":
        return TokenLaw(plain=Normal.standard(d))
    raise UsageError(
        f"tokens={name[:60]} given: boolean, gaussian, or a file of a law of tokens "
        f"({', '.join(SUFFIXES)})"
    )


def read_law(path: Path, d: int, k: int | None = None) -> TokenLaw:
    """Read a law of tokens of dimension d from a file; raises DamagedFile and UsageError.

    path: .npz or .safetensors with `embedding` and perhaps `frequencies`, or `covariance` and
    perhaps `mean`, and perhaps `positions`; .npy with an embedding. Where only positions are given
    they are added to standard normal tokens.
    """
    if path.suffix not in SUFFIXES:
        raise UsageError(
            f"tokens={path} given: boolean, gaussian, or a file that ends in {', '.join(SUFFIXES)}"
        )
    arrays, _ = read_arrays(path)
    if "" in arrays:
        arrays = {"embedding": arrays[""]}
    try:
        return given_law(arrays, d, k)
    except UsageError as error:
        raise DamagedFile(f"{path}: {error}") from error


def given_law(arrays: Mapping[str, ArrayLike], d: int, k: int | None = None) -> TokenLaw:
    """Make a law of tokens of dimension d of arrays, named as in a file; raises UsageError.

    >>> given_law({"embedding": np.eye(4), "positions": np.ones((2, 4))}, 4).text
    'vocabulary of 4 words with positions'
    """
    odd = sorted(set(arrays) - set(_ARRAYS))
    said = f"arrays {', '.join(odd)[:60]}" if odd else "no arrays"
    known = f"{', '.join(_ARRAYS[:-1])} or {_ARRAYS[-1]}"
    require(not odd and len(arrays) > 0, f"{said} given: a law of tokens has {known}")
    for whose, what in (("embedding", "frequencies"), ("covariance", "mean")):
        require(what not in arrays or whose in arrays, f"{what} given without {whose}")
    both = {"embedding", "covariance"} <= set(arrays)
    require(not both, "embedding and covariance given: a law has one of the two")
    if "embedding" in arrays:
        plain: Plain = Vocabulary.of(arrays["embedding"], arrays.get("frequencies"))
    elif "covariance" in arrays:
        plain = Normal.of(arrays["covariance"], arrays.get("mean"))  # type: ignore[arg-type]
    else:
        plain = Normal.standard(d)
    require(plain.d == d, f"tokens of dimension {plain.d} given: the layer takes {d}")
    positions = None
    if "positions" in arrays:
        positions = _numbers("positions", arrays["positions"], "(k, d)")
        shape = positions.shape
        fit = shape == (k or shape[0], d)
        require(fit, f"positions of shape {shape} given: ({k or 'k'}, {d}) is needed")
    return TokenLaw(plain=plain, positions=positions, sha256=_digest(arrays))


def _digest(arrays: Mapping[str, ArrayLike]) -> str:
    """The SHA-256 of arrays: names, shapes and numbers, whatever file they stood in."""
    found = hashlib.sha256()
    for name in sorted(arrays):
        one = np.ascontiguousarray(arrays[name], "<f8")
        found.update(f"{name}{one.shape}".encode() + one.tobytes())
    return found.hexdigest()


def _numbers(name: str, given: ArrayLike, shape: str) -> Array:
    """Read an array of finite numbers as float64; raises UsageError."""
    made = real_array(name, given, shape).astype(np.float64)
    require(bool(np.isfinite(made).all()), f"{name} has entries that are not finite")
    most = np.abs(made).max()
    require(most <= _LARGEST, f"{name} has entries up to {most:.1g}: scale them")
    made.setflags(write=False)
    return made
