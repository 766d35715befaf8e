"""Token distributions: uniform on {-1, +1}, kept as packed bits, and standard normal.

A bit is 1 where the token is -1, so the bits of X_1 * X_2 are the exclusive or of the bits of both.
Example i of a stream is made of fixed words of it, wherever the stream is cut.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from instances.errors import UsageError
from instances.streams import BitStream

_LARGEST = 1e100  # of an entry: products of three stay within float64


def words_per_token(d: int) -> int:
    """Count the 64-bit words that hold d bits.

    >>> words_per_token(64), words_per_token(65)
    (1, 2)
    """
    return -(-d // 64)


def boolean(stream: BitStream, start: int, count: int, k: int, d: int) -> NDArray[np.uint64]:
    """Draw examples start .. start+count-1 of uniform +-1 tokens: packed (count, k, words).

    >>> boolean(BitStream((1, 2)), 0, 3, 2, 70).shape
    (3, 2, 2)
    """
    width = words_per_token(d)
    words = stream.words(start * k * width, count * k * width).reshape(count, k, width)
    if d % 64:
        words[:, :, -1] &= np.uint64((1 << d % 64) - 1)
    return words


def unpack(words: NDArray[np.uint64], d: int) -> NDArray[np.int8]:
    """Turn packed words (..., words) into +-1 tokens (..., d), int8.

    >>> unpack(np.array([5], np.uint64), 4).tolist()
    [-1, 1, -1, 1]
    """
    octets = np.ascontiguousarray(words, "<u8").view(np.uint8)
    bits = np.unpackbits(octets, axis=-1, bitorder="little")[..., :d]
    signs: NDArray[np.int8] = 1 - 2 * bits.astype(np.int8)
    return signs


def pack(x: NDArray[Any]) -> NDArray[np.uint64]:
    """Turn +-1 tokens (..., d) into packed words (..., words); anything but +-1 is refused.

    >>> pack(np.array([-1, 1, -1, 1])).tolist()
    [5]
    """
    if not ((x == 1) | (x == -1)).all():
        raise UsageError("tokens of this family must be -1 and +1")
    width = words_per_token(x.shape[-1])
    octets = np.packbits(x < 0, axis=-1, bitorder="little")
    padded = np.zeros((*x.shape[:-1], width * 8), np.uint8)
    padded[..., : octets.shape[-1]] = octets
    return padded.view("<u8").astype(np.uint64, copy=False)


def mask(subset: tuple[int, ...], d: int) -> NDArray[np.uint64]:
    """Turn a set of coordinates into packed words (words,).

    >>> mask((0, 2), 4).tolist()
    [5]
    """
    words = np.zeros(words_per_token(d), np.uint64)
    for j in subset:
        words[j // 64] |= np.uint64(1 << j % 64)
    return words


def gaussian(stream: BitStream, start: int, count: int, k: int, d: int) -> NDArray[np.float64]:
    """Draw examples start .. start+count-1 of standard normal tokens: (count, k, d).

    One word an entry, through the inverse of the normal distribution function.

    >>> gaussian(BitStream((1, 2)), 0, 3, 2, 5).shape
    (3, 2, 5)
    """
    from scipy.special import ndtri

    words = stream.words(start * k * d, count * k * d)
    uniform = ((words >> np.uint64(11)).astype(np.float64) + 0.5) * 2.0**-53
    return np.asarray(ndtri(uniform)).reshape(count, k, d)


def stored(
    tensors: Mapping[str, NDArray[Any]],
    d: int,
    **expected: tuple[DTypeLike, tuple[int, ...]] | None,
) -> list[NDArray[Any]]:
    """Return stored arrays of examples by name, each of a type and a shape; raises ValueError.

    Tokens that are packed as `words` have no bits beyond their d coordinates.

    >>> [len(one) for one in stored({"y": np.zeros(3)}, 8, x=None, y=(np.float64, (3,)))]
    [3]
    """
    arrays = []
    for name, (kind, shape) in {n: w for n, w in expected.items() if w}.items():
        one = tensors.get(name)
        if one is None or one.dtype != kind or one.shape != shape:
            raise ValueError(f"does not hold the {shape[0]} examples it should")
        if name == "words" and d % 64 and (one[..., -1] >> np.uint64(d % 64)).any():
            raise ValueError(f"has bits beyond coordinate d - 1 = {d - 1}")
        arrays.append(one)
    return arrays


def chosen(
    x: Any, family: Any, signs: bool, fixed: Iterable[tuple[int, int, float]] = ()
) -> NDArray[Any]:
    """Return tokens (n, k, d) that a learner chose, int8 of -1 and +1, or float64.

    x: numbers of any real type. fixed: token, coordinate and value of entries that are public, both
    counted from 0. Raises UsageError for other tokens than the family has.

    >>> from instances import parse
    >>> chosen(np.ones((1, 2, 8)), parse("parity:d=8,m=3"), signs=True, fixed=[(1, 0, -1)])
    Traceback (most recent call last):
    instances.errors.UsageError: coordinate 0 of token 2 must be -1, got 1
    """
    try:
        tokens = np.asarray(x)
    except ValueError:
        tokens = np.empty(0)  # rows of different lengths
    if tokens.shape[1:] != (family.k, family.d) or tokens.dtype.kind not in "iuf":
        raise UsageError(
            f"tokens must be numbers of shape (n, {family.k}, {family.d}), got {tokens.dtype} of "
            f"shape {tokens.shape}"
        )
    odd = tokens[(tokens != 1) & (tokens != -1) if signs else ~(np.abs(tokens) <= _LARGEST)]
    if odd.size:
        allowed = "-1 or +1" if signs else f"at most {_LARGEST:g}"
        raise UsageError(f"entries of tokens of {family.name} must be {allowed}, got {odd[0]:g}")
    for token, coordinate, value in fixed:
        entries = tokens[:, token, coordinate]
        if (entries != value).any():
            raise UsageError(
                f"coordinate {coordinate} of token {token + 1} must be {value:g}, got "
                f"{entries[entries != value][0]:g}"
            )
    return tokens.astype(np.int8 if signs else np.float64)


@dataclass(frozen=True, kw_only=True)
class TokenLaw:
    """The distribution of the independent tokens of an example.

    The k tokens of an example are independent. kind: boolean, uniform on {-1, +1}, or gaussian,
    standard normal. d: the dimension of a token. constant: whether its last coordinate is always 1,
    for the biases of a layer. No token is longer than `longest`, or it is standard normal in `free`
    coordinates beside the constant (docs/mathematics.md, section 32).

    >>> law = TokenLaw(kind="boolean", d=3)
    >>> law.longest, law.draw(BitStream((1, 2)), 0, 5, 2).dtype
    (3.0, dtype('int8'))
    """

    kind: str
    d: int
    constant: bool = False

    @property
    def free(self) -> int:
        """How many coordinates of a token are drawn."""
        return self.d - self.constant

    @property
    def text(self) -> str:
        """The distribution in words."""
        return self.kind + (" and a constant coordinate" if self.constant else "")

    def draw(self, stream: BitStream, start: int, count: int, k: int) -> NDArray[Any]:
        """Draw examples start .. start+count-1: (count, k, d), int8 for plain signs."""
        drawn: NDArray[Any]
        if self.kind == "boolean":
            drawn = unpack(boolean(stream, start, count, k, self.free), self.free)
        else:
            drawn = gaussian(stream, start, count, k, self.free)
        if self.constant:
            drawn = np.concatenate([drawn, np.ones((count, k, 1))], axis=2)
        return drawn

    @property
    def longest(self) -> float | None:
        """The largest squared length of a token; None for normal tokens."""
        return float(self.d) if self.kind == "boolean" else None
