"""LWR, LWE and LPN samples <-> examples of attention layers, without knowing the secret.

To attention: an example is z with z_0 and X_1 uniform, X_2 = X_1 * z. Where z_0 = -1 it takes the
next sample: the bits of a go into z, and the label is X_1[0] times the sample's level; elsewhere a
vector of its own is drawn, and the label is 0. For q = 2^L tokens are exactly uniform if the a of
the samples are; for a prime q an a is written as a uniform one of the L-bit numbers that are a mod
q. Back: the examples with z_0 = -1 are the samples, in their order. [CL24]
"""

import numpy as np
from numpy.typing import NDArray

from instances import residues, tokens
from instances.coded import CodedExamples
from instances.limits import require_memory
from instances.samples import Samples
from instances.streams import generator

_NUMBERS = 1 << 24  # bits of z that are made at once


def to_attention(found: Samples, seed: int) -> CodedExamples:
    """Turn N samples into about 2 N examples, the last of them made of the last sample.

    The label of an example says no more than its sample does. Raises ToolkitError for a large q.

    >>> from instances import parse
    >>> from instances.samples import samples
    >>> taken = samples(parse("lwr:n=4,q=16,p=4").instance(0).examples(0, 100))
    >>> back = samples(to_attention(taken, seed=1))
    >>> bool((back.a == taken.a).all() and (back.codes == taken.codes).all())
    True
    """
    family, rng = found.family, generator(seed, "reduce", found.family.spec)
    family.require_table()
    opened = _places(len(found), rng)
    require_memory(
        2 * len(opened) * family.bytes_per_example, f"{len(opened)} examples of {family.spec}"
    )
    rows, used = max(1, _NUMBERS // family.d), 0
    words = np.empty((len(opened), 2, tokens.words_per_token(family.d)), np.uint64)
    for start in range(0, len(opened), rows):
        part = opened[start : start + rows]
        a = found.a[used : used + int(part.sum())]
        used += len(a)
        z = rng.integers(0, 2, (len(part), family.d), dtype=np.uint8)
        z[:, 0] = part
        z[part, 1:] = residues.write(a, family.length, family.q, rng)
        first = rng.integers(0, 2, z.shape, dtype=np.uint8)
        signs = 1 - 2 * np.stack([first, first ^ z], axis=1).astype(np.int8)
        words[start : start + rows] = tokens.pack(signs)
    codes = np.zeros(len(opened), family.code_type)
    codes[opened] = found.codes
    return CodedExamples(family=family, words=words, codes=codes)


def _places(count: int, rng: np.random.Generator) -> NDArray[np.bool_]:
    """Toss z_0 until `count` of the tosses are -1: True where one is."""
    tosses = np.zeros(0, np.bool_)
    while (missing := count - int(tosses.sum())) > 0:
        tosses = np.concatenate([tosses, rng.integers(0, 2, 2 * missing + 8).astype(np.bool_)])
    ends = np.flatnonzero(tosses)
    return tosses[: ends[count - 1] + 1] if count else tosses
