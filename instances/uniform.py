"""Coins in place of labels: the examples of a family with nothing in them to be learned.

Tokens are drawn as those of an instance. Where the label has an unknown part its code is drawn
independently of the tokens, by the chances that it has over them: for LWR, uniform samples.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from instances.coded import Coded, CodedExamples
from instances.errors import ToolkitError
from instances.family import Family, require_examples
from instances.secrets import Integers, integers
from instances.streams import BitStream, key


@dataclass(frozen=True, kw_only=True)
class Uniform:
    """A source of examples of a family whose labels are independent coins.

    Raises ToolkitError for families of which no one distribution of codes is that of the labels at
    all tokens: there, the family would tell more.

    >>> from instances import parse
    >>> family = parse("lwr:n=8,q=16,p=2,secret=binary,h=4")
    >>> found = Uniform(family=family, seed=0).examples(0, 1000)
    >>> found.x.shape, 200 < int(found.codes.sum()) < 300
    ((1000, 2, 33), True)
    """

    family: Coded
    seed: int

    def __post_init__(self) -> None:
        reason = no_coins(self.family)
        if reason:
            raise ToolkitError(reason)

    @cached_property
    def coins(self) -> Integers:
        """The distribution of a code."""
        shares = self.family.shares or ()
        return integers(dict(enumerate(shares)))

    def examples(self, start: int, count: int, axis: str = "examples") -> CodedExamples:
        """Return examples start .. start+count-1 of a named stream, the same however it is cut."""
        family = self.family
        require_examples(family, count)
        words = family.inputs(self.seed, axis, start, count)
        drawn = self.coins.draw(BitStream(key(self.seed, "coins", axis)).words(start, count))
        codes = np.where(family.open(words), drawn, 0).astype(family.code_type)
        return CodedExamples(family=family, words=words, codes=codes)


def no_coins(family: Family) -> str | None:
    """Say why labels of a family cannot be replaced by coins; None where they can.

    >>> from instances import parse
    >>> no_coins(parse("nice:m=1,k=2,d=4"))  # doctest: +ELLIPSIS
    'there are no coins to replace the labels: nice given: it lacks `coded`, labels that are ...'
    """
    if not isinstance(family, Coded):
        return f"there are no coins to replace the labels: {family.lacks('coded')}"
    if family.shares is None:
        return (
            f"{family.name} given: its labels depend on tokens in a way that all members share, so "
            "coins would differ from them for the family alone; take parity, lwr, lwe "
            "or lpn, or give the family `shares`, the chance of each level"
        )
    return None
