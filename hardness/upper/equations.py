"""Hidden parities and LPN as one: noisy linear equations over GF(2), packed."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hardness.oracles import ExampleOracle
from hardness.upper.drawing import draw_open
from instances.coded import CodedExamples, as_coded
from instances.errors import UsageError
from instances.family import Examples, Family, Secret
from instances.lpn import Lpn
from instances.parity import Parity
from instances.tokens import mask


@dataclass(frozen=True, kw_only=True, eq=False)
class Equations:
    """Equations <a, s> + e = b: words (N, words), bit j + 1 being a_j; codes (N,), the bits b.

    >>> from instances import parse
    >>> instance = parse("parity:d=20,m=3,noise=0.1").instance(0)
    >>> found = equations(instance.examples(0, 400))
    >>> bool(found.errors(bits_of(instance.family, instance.hidden.secret)) < 0.2 * len(found))
    True
    """

    family: Lpn
    words: NDArray[np.uint64]
    codes: NDArray[np.uint8]

    def __len__(self) -> int:
        return len(self.codes)

    def errors(self, bits: Secret) -> int:
        """Count the equations that a secret of n bits fails."""
        support = tuple(j + 1 for j, bit in enumerate(bits) if bit)
        folded = np.bitwise_xor.reduce(self.words & mask(support, self.family.d), axis=1)
        return int(((np.bitwise_count(folded) & 1) ^ self.codes).sum())

    def evidence(self, bits: Secret) -> float:
        """Compute the bits by which the equations favour a secret over labels that are coins."""
        wrong, rate = self.errors(bits), float(self.family.noise)
        if wrong and not rate:
            return -math.inf
        right = (len(self) - wrong) * math.log2(2 * (1 - rate))
        return right + (wrong * math.log2(2 * rate) if wrong else 0)


def only_equations(family: Family) -> str | None:
    """Say why an attack on noisy parities cannot run on another family."""
    if isinstance(family, Parity | Lpn):
        return None
    return f"it attacks noisy linear equations over GF(2) (parity, lpn), not {family.name}"


def as_lpn(family: Family) -> Lpn:
    """Read hidden parities on m of d - 1 coordinates as LPN; raises UsageError for others.

    >>> from instances import parse
    >>> as_lpn(parse("parity:d=21,m=3,noise=0.1")) == parse("lpn:n=20,h=3,noise=0.1")
    True
    """
    if isinstance(family, Parity):
        return Lpn(n=family.d - 1, h=family.m, noise=family.noise)
    if not isinstance(family, Lpn):
        raise UsageError(f"{family.spec} given: parity or lpn is needed")
    return family


def bits_of(family: Family, secret: Secret) -> Secret:
    """Write a member of parity or lpn as n bits."""
    if not isinstance(family, Parity):
        return secret
    return tuple(int(j in secret) for j in range(1, family.d))


def secret_of(family: Family, bits: Secret) -> Secret:
    """Write n entries as a secret of the family: of a parity, the hidden set."""
    if not isinstance(family, Parity):
        return bits
    return tuple(j + 1 for j, bit in enumerate(bits) if bit)


def equations(examples: Examples) -> Equations:
    """Keep the examples whose label is unknown; raises UsageError for other families."""
    family = as_lpn(examples.family)
    packed = as_coded(examples)
    opened = family.open(packed.words)
    words = packed.words[opened, 0] ^ packed.words[opened, 1]
    words[:, 0] &= ~np.uint64(1)
    return Equations(family=family, words=words, codes=packed.codes[opened].astype(np.uint8))


def pool(oracle: ExampleOracle, count: int) -> Equations:
    """Draw examples until there are `count` equations, or the budget of examples is over.

    Raises Spent where there are none, or where the time is over.
    """
    parts = draw_open(oracle, count, equations)
    return Equations(
        family=as_lpn(oracle.family),
        words=np.concatenate([part.words for part in parts])[:count],
        codes=np.concatenate([part.codes for part in parts])[:count],
    )


def as_lpn_examples(examples: Examples) -> CodedExamples:
    """Read examples of a parity as those of LPN: the tokens and codes are the same."""
    packed = as_coded(examples)
    return CodedExamples(
        family=as_lpn(examples.family), words=packed.words, codes=packed.codes.astype(np.uint8)
    )
