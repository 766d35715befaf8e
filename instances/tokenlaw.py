"""Laws of tokens: signs, normal ones, words of a vocabulary; each may be moved by its position.

The k tokens of an example are independent. Every law knows its moments, and either the length that
no token exceeds or what the tail of its lengths is bounded by (docs/mathematics.md, section 24).
Draws are addressed by position, as in `tokens`.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

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


@dataclass(frozen=True, kw_only=True, eq=False)
class TokenLaw:
    """The law of an example: independent tokens, moved by positions (k, d), with a constant 1.

    kind: boolean, uniform on {-1, +1}^d; gaussian, standard normal; correlated gaussian, with
    `spread` (d, d) for its covariance and `root` for the symmetric root of that; or vocabulary,
    rows of `words` (V, d) with frequencies `shares` (V,). centre: the mean (d,), positions aside.
    constant: whether a coordinate that is always 1 follows the others, as layers with biases need
    it. sha256: of the arrays that a file gave, empty where none did.

    >>> law = law_of("boolean", 3)
    >>> law.mean(2).tolist(), law.longest(2), law.draw(BitStream((1, 2)), 0, 5, 2).dtype
    ([[0.0, 0.0, 0.0], [0.0, 0.0, 0.0]], 3.0, dtype('int8'))
    """

    kind: str
    centre: Array
    spread: Array | None = None
    root: Array | None = None
    words: Array | None = None
    shares: Array | None = None
    positions: Array | None = None
    constant: bool = False
    sha256: str = ""

    @property
    def d(self) -> int:
        """The dimension of a token, the constant with it."""
        return len(self.centre) + self.constant

    @property
    def name(self) -> str:
        """What a spec calls the law: boolean, gaussian, or given where it needs a file."""
        moved = self.positions is not None or self.constant
        return self.kind if self.kind in NAMES and not moved else "given"

    @property
    def text(self) -> str:
        """The law in words."""
        said = self.kind if self.words is None else f"{self.kind} of {len(self.words)} words"
        said += " with positions" if self.positions is not None else ""
        return said + (" and a constant coordinate" if self.constant else "")

    def draw(self, stream: BitStream, start: int, count: int, k: int) -> NDArray[Any]:
        """Draw examples start .. start+count-1: (count, k, d), int8 for plain signs."""
        d = len(self.centre)
        drawn: NDArray[Any]
        if self.kind == "boolean":
            drawn = tokens.unpack(tokens.boolean(stream, start, count, k, d), d)
        elif self.words is not None and self.shares is not None:  # by 53 bits a token
            ends = np.cumsum(self.shares)
            bits = stream.words(start * k, count * k) >> np.uint64(11)
            places = np.searchsorted(ends / ends[-1], bits * 2.0**-53, side="right")
            drawn = self.words[places].reshape(count, k, d)
        else:
            drawn = tokens.gaussian(stream, start, count, k, d)
            drawn = drawn if self.root is None else drawn @ self.root + self.centre
        if self.positions is not None:
            drawn = drawn + self.positions
        if self.constant:
            drawn = np.concatenate([drawn, np.ones((count, k, 1))], axis=2)
        return drawn

    def mean(self, k: int) -> Array:
        """The mean of each of k tokens, (k, d)."""
        moved = self.centre + self._moves(k)
        return np.concatenate([moved, np.ones((k, 1))], axis=1) if self.constant else moved

    @property
    def covariance(self) -> Array:
        """The covariance of every token about its own mean, (d, d)."""
        return np.asarray(np.pad(self._own_covariance, (0, int(self.constant))))

    @property
    def _own_covariance(self) -> Array:
        """The same without the constant."""
        if self.words is None or self.shares is None:
            return np.eye(len(self.centre)) if self.spread is None else self.spread
        apart = self.words - self.centre
        return np.asarray((apart * self.shares[:, None]).T @ apart)

    def longest(self, k: int) -> float | None:
        """The largest squared length of a token, to rounding from above; None where none is."""
        moves = self._moves(k)
        if self.kind == "boolean":
            farthest = [np.abs(move) + 1 for move in moves]
        elif self.words is not None and self.shares is not None:
            farthest = [self.words[self.shares > 0] + move for move in moves]
        elif self.tail(k)[1]:
            return None
        else:
            farthest = list(self.centre + moves)
        found = max(float((one**2).sum(axis=-1).max()) for one in farthest) + self.constant
        return found if self.name == "boolean" else found * (1 + _ABOVE)

    def _moves(self, k: int) -> Array:
        """What positions add to each of k tokens, (k, d) without the constant."""
        return np.zeros((k, len(self.centre))) if self.positions is None else self.positions

    def tail(self, k: int) -> tuple[float, float, int]:
        """Numbers c, s, r with |x_j| <= c + s |z|, z standard normal in r dimensions.

        c is the length of the longest mean, s^2 the largest eigenvalue of the covariance, r its
        rank.
        """
        values = np.linalg.eigvalsh(self._own_covariance)
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
    if name in NAMES:
        return TokenLaw(kind=name, centre=np.zeros(d))
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
        made = _vocabulary(arrays["embedding"], arrays.get("frequencies"))
    elif "covariance" in arrays:
        made = _correlated(arrays["covariance"], arrays.get("mean"))
    else:
        made = law_of("gaussian", d)
    require(made.d == d, f"tokens of dimension {made.d} given: the layer takes {d}")
    positions = None
    if "positions" in arrays:
        positions = _numbers("positions", arrays["positions"], "(k, d)")
        shape = positions.shape
        fit = shape == (k or shape[0], d)
        require(fit, f"positions of shape {shape} given: ({k or 'k'}, {d}) is needed")
    return replace(made, positions=positions, sha256=_digest(arrays))


def _correlated(covariance: ArrayLike, mean: ArrayLike | None) -> TokenLaw:
    """Check a covariance, and a mean if there is one; raises UsageError."""
    c = _numbers("covariance", covariance, "(d, d)")
    d = len(c)
    require(c.shape == (d, d), f"covariance of shape {c.shape} given: (d, d) is needed")
    size, apart = float(np.abs(c).max()), np.abs(c - c.T)
    i, j = divmod(int(np.argmax(apart)), d)
    require(
        apart[i, j] <= _ROUNDING * size,
        f"covariance with entries {c[i, j]:g} at ({i}, {j}) and {c[j, i]:g} at ({j}, {i}) given: "
        "it must be symmetric",
    )
    values, vectors = np.linalg.eigh((c + c.T) / 2)
    least = f"covariance with an eigenvalue of {values[0]:.3g} given: none may be negative"
    require(values[0] >= -_ROUNDING * size, least)
    centre = np.zeros(d) if mean is None else _numbers("mean", mean, "(d,)")
    require(len(centre) == d, f"mean of shape {centre.shape} given: ({d},) is needed")
    values = np.where(values > _ROUNDING**2 * size, values, 0.0)
    spread, root = ((vectors * part) @ vectors.T for part in (values, np.sqrt(values)))
    return TokenLaw(kind="correlated gaussian", centre=centre, spread=spread, root=root)


def _vocabulary(embedding: ArrayLike, frequencies: ArrayLike | None) -> TokenLaw:
    """Check an embedding, and frequencies if there are any; raises UsageError."""
    words = _numbers("embedding", embedding, "(V, d)")
    if frequencies is None:
        shares = np.full(len(words), 1 / len(words))
    else:
        shares = _numbers("frequencies", frequencies, "(V,)")
        needed = f"({len(words)},) is needed, one for each row of the embedding"
        fit = len(shares) == len(words)
        require(fit, f"frequencies of shape {shares.shape} given: {needed}")
        least, total = int(np.argmin(shares)), float(shares.sum())
        said = f"frequency {shares[least]:g} of word {least} given: none may be negative"
        require(shares[least] >= 0, said)
        said = f"frequencies that sum to {total:g} given: they must sum to 1; divide counts by"
        require(abs(total - 1) <= _ROUNDING * len(shares) ** 0.5, f"{said} their sum")
        shares = shares / total
    return TokenLaw(kind="vocabulary", centre=shares @ words, words=words, shares=shares)


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
