"""The family of a user's data: labelled examples of an unknown function.

The examples were not drawn from a family of layers. So there is no secret, no fresh example and no
bound on the labels.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, ClassVar, NoReturn

import numpy as np

from instances.dense import Dense
from instances.errors import UsageError
from instances.parameters import OneOf, Range, later


@dataclass(frozen=True, kw_only=True)
class OwnData(Dense):
    """The public shape of a user's data: k tokens of d numbers, and labels of that shape.

    rows: only the first `rows` tokens have labels, and the others have label 0; 0 means all.
    tokens: boolean if all entries are -1 or +1, else real. Nothing is known about labels and noise.
    Its spec passes the shape to learners in other processes.
    """

    name: ClassVar[str] = "data"
    example: ClassVar[str] = "data:d=16,k=2"
    about: ClassVar[str] = "labelled examples of a user, of an unknown function"
    label_text: ClassVar[str] = "given by a user"
    easy: ClassVar[str] = "nothing is known of data of a user"
    noise: ClassVar[Fraction] = Fraction(0)  # type: ignore[misc]
    noise_known: ClassVar[bool] = False
    m: ClassVar[int] = 0  # type: ignore[misc]
    questions = None  # type: ignore[assignment]  # labels of other tokens are unknown

    d: Annotated[int, Range(1)]
    k: Annotated[int, Range(2, about="k, the number of tokens (one alone attends to itself),")]
    tokens: Annotated[str, OneOf(("boolean", "real"))] = "real"
    rows: Annotated[int, OneOf((0, 1))] = later(0)  # type: ignore[misc]

    def draw(self, rng: np.random.Generator) -> NoReturn:
        """Raise UsageError, as a user's data has neither secret nor layer."""
        raise UsageError(
            f"{self} is data of yours, and no instance is drawn of it: give `hardness learn` the "
            "file"
        )

    build = draw
