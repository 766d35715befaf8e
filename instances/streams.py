"""Random streams: seeds by named axes, and random words addressed by their position.

Every random number of the toolkit comes from a Philox generator [SMDS11]. Its key is the SHA-256 of
the seed and of names that state the purpose, the axes. Philox is counter-based: word i of a stream
is a function of (key, i), so a stream may be cut anywhere and by any number of workers. It is not
linear over F_2, so it does not correlate with parities.
"""

import hashlib
import json
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from instances.errors import UsageError

_WORDS_PER_BLOCK = 4


def key(seed: int, *axes: str | int) -> tuple[int, int]:
    """Hash a seed and the names of its axes to a 128-bit Philox key.

    >>> key(0, "tokens", "learn") == key(0, "tokens", "evaluate")
    False
    """
    if seed < 0:
        raise UsageError(f"a seed must be an integer of at least 0, got {seed}")
    digest = hashlib.sha256(json.dumps(["hardness", str(seed), *axes]).encode()).digest()
    return int.from_bytes(digest[:8], "little"), int.from_bytes(digest[8:16], "little")


def generator(seed: int, *axes: str | int) -> np.random.Generator:
    """Make a numpy generator for one named use of a seed.

    >>> int(generator(0, "example").integers(100)) == int(generator(0, "example").integers(100))
    True
    """
    return np.random.Generator(np.random.Philox(key=np.array(key(seed, *axes), np.uint64)))


@dataclass(frozen=True)
class BitStream:
    """Uniform random 64-bit words, each a function of the key and of its position.

    >>> stream = BitStream(key(7, "tokens"))
    >>> bool((stream.words(3, 5) == stream.words(0, 8)[3:]).all())
    True
    """

    key: tuple[int, int]

    def words(self, start: int, count: int) -> NDArray[np.uint64]:
        """Return words start .. start+count-1 as a (count,) array."""
        if start < 0 or count < 0:
            raise UsageError(f"words({start}, {count}): start and count must be at least 0")
        block, skip = divmod(start, _WORDS_PER_BLOCK)
        counter = np.array([block & (2**64 - 1), block >> 64, 0, 0], np.uint64)
        bits = np.random.Philox(key=np.array(self.key, np.uint64), counter=counter)
        words = bits.random_raw(skip + count)
        return np.asarray(words, np.uint64)[skip:]
