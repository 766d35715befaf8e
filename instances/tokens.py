"""Token distributions: uniform on {-1, +1}, kept as packed bits, and standard normal.

A bit is 1 where the token is -1, so the bits of X_1 * X_2 are the exclusive or of the bits of both.
Example i uses fixed words of its stream, so it does not depend on how the stream is cut.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from instances.errors import UsageError
from instances.streams import BitStream

_LARGEST_ENTRY = 1e100  # products of three entries stay within float64


def words_per_token(d: int) -> int:
    """Return how many 64-bit words hold d bits.

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
    """Unpack words (..., words) to tokens of +-1 (..., d), int8.

    >>> unpack(np.array([5], np.uint64), 4).tolist()
    [-1, 1, -1, 1]
    """
    octets = np.ascontiguousarray(words, "<u8").view(np.uint8)
    # `unpackbits` is several times faster on a flat array than along an axis.
    bits = np.unpackbits(octets.reshape(-1), bitorder="little")
    signs = bits.reshape(*words.shape[:-1], 64 * words.shape[-1])[..., :d].astype(np.int8)
    signs *= -2
    signs += 1
    return signs


def pack(x: NDArray[Any]) -> NDArray[np.uint64]:
    """Pack tokens of +-1 (..., d) into words (..., words); raises UsageError for other entries.

    >>> pack(np.array([-1, 1, -1, 1])).tolist()
    [5]
    """
    if not (np.abs(x) == 1).all():
        raise UsageError("tokens of this family must be -1 and +1")
    *rows, d = x.shape
    octets = -(-d // 8)
    bits = np.zeros((*rows, 8 * octets), np.bool_)
    bits[..., :d] = x < 0
    padded = np.zeros((*rows, 8 * words_per_token(d)), np.uint8)
    padded[..., :octets] = np.packbits(bits.reshape(-1), bitorder="little").reshape(*rows, octets)
    return padded.view("<u8").astype(np.uint64, copy=False)


def mask(subset: tuple[int, ...], d: int) -> NDArray[np.uint64]:
    """Pack a set of coordinates into words (words,): their bits are 1.

    >>> mask((0, 2), 4).tolist()
    [5]
    """
    words = np.zeros(words_per_token(d), np.uint64)
    for j in subset:
        words[j // 64] |= np.uint64(1 << j % 64)
    return words


def gaussian(stream: BitStream, start: int, count: int, k: int, d: int) -> NDArray[np.float64]:
    """Draw examples start .. start+count-1 of standard normal tokens: (count, k, d).

    Each entry is the inverse normal distribution function of one word.

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
    """Return stored arrays of examples, in the order of `expected`; raises ValueError.

    expected: type and shape by name, None to leave an array out. Arrays of another type or shape
    are refused, and packed `words` with bits beyond their d coordinates.

    >>> [len(array) for array in stored({"y": np.zeros(3)}, 8, x=None, y=(np.float64, (3,)))]
    [3]
    """
    arrays = []
    for name, (kind, shape) in {n: w for n, w in expected.items() if w}.items():
        array = tensors.get(name)
        if array is None or array.dtype != kind or array.shape != shape:
            raise ValueError(f"does not hold the {shape[0]} examples it should")
        if name == "words" and d % 64 and (array[..., -1] >> np.uint64(d % 64)).any():
            raise ValueError(f"has bits beyond coordinate d - 1 = {d - 1}")
        arrays.append(array)
    return arrays


def chosen(
    x: Any, family: Any, signs: bool, fixed: Iterable[tuple[int, int, float]] = ()
) -> NDArray[Any]:
    """Return tokens (n, k, d) that a learner chose, int8 of -1 and +1, or float64.

    x: numbers of any real type. signs: whether entries must be -1 or +1. fixed: token, coordinate
    and value of public entries, with indices from 0. Raises UsageError for tokens that the family
    does not have.

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
    odd = tokens[(tokens != 1) & (tokens != -1) if signs else ~(np.abs(tokens) <= _LARGEST_ENTRY)]
    if odd.size:
        allowed = "-1 or +1" if signs else f"at most {_LARGEST_ENTRY:g}"
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

    kind: boolean, uniform on {-1, +1}, or gaussian, standard normal. d: the dimension of a token.
    constant: whether its last coordinate is always 1, for the biases of a layer. The squared length
    of a token is at most `longest`, or the token is standard normal in `free` coordinates
    and constant in the others (docs/mathematics.md, section 32).

    >>> law = TokenLaw(kind="boolean", d=3)
    >>> law.longest, law.draw(BitStream((1, 2)), 0, 5, 2).dtype
    (3.0, dtype('int8'))
    """

    kind: str
    d: int
    constant: bool = False

    @property
    def free(self) -> int:
        """The number of coordinates of a token that are drawn."""
        return self.d - self.constant

    @property
    def text(self) -> str:
        """The distribution, in words."""
        return self.kind + (" and a constant coordinate" if self.constant else "")

    def draw(self, stream: BitStream, start: int, count: int, k: int) -> NDArray[Any]:
        """Draw examples start .. start+count-1: (count, k, d), int8 if all entries are signs."""
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
