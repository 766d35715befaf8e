"""What can be claimed, in words: the vocabulary that makers and checkers of certificates share.

Words only. How a value is found stands in lower/, how it is verified in check/.
"""

from dataclasses import dataclass, field

FORMAT = "hardness-certificate/1"


def counted(number: int | str, noun: str) -> str:
    """Write a number of things, whose plural is given and ends in s.

    >>> counted(1, "steps"), counted(20, "steps")
    ('1 step', '20 steps')
    """
    return f"{number} {noun.removesuffix('s') if str(number) == '1' else noun}"


@dataclass(frozen=True, kw_only=True)
class Quantity:
    """A quantity: what a value of it means, on what it depends, and under which assumptions."""

    meaning: str
    source: str  # whose notion it is: a key in docs/references.md; the proofs are in docs/
    assumptions: tuple[str, ...]
    parameters: tuple[str, ...] = ()  # that a claim has to give
    fixed: dict[str, str] = field(default_factory=dict)  # that are the same in every claim
