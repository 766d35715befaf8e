"""What a learner's process and its parent say to each other: tagged records in msgpack.

First those of a child, then those of its parent. What comes from a child must be one of the records
here, its numbers and texts in their bounds. The one that holds a pickle is read from learners of
this package alone.
"""

from typing import Annotated, Any, Literal

import msgspec
import numpy as np
from msgspec import Meta, Struct

from hardness.learners.learner import Access
from hardness.oracles.budget import Budget, Resource
from instances.errors import UsageError
from instances.layer import AttentionLayer

DETAILS = 1 << 16  # bytes of what a user's learner reports

Array = np.ndarray[Any, Any]
_Text = Annotated[str, Meta(max_length=2000)]
_Word = Annotated[str, Meta(max_length=200)]
_Number = Annotated[int, Meta(ge=-(1 << 31), lt=1 << 31)]
_Size = Annotated[int, Meta(ge=0, lt=1 << 40)]
_Coordinates = Annotated[list[_Size], Meta(max_length=1 << 15)]
_Secret = Annotated[list[Annotated[int, Meta(ge=-(1 << 62), le=1 << 62)]], Meta(max_length=1 << 15)]
_Type = Annotated[str, Meta(pattern="^[<|][biuf][1248]$")]
_Packed = tuple[_Type, Annotated[tuple[_Size, ...], Meta(max_length=4)], bytes]  # an array


class Unsupported(UsageError):
    """The learner does not take the family, or asks for what the oracle of its run has not."""


class Message(Struct, forbid_unknown_fields=True, tag_field="op", tag=str.lower):
    """A message, tagged by its name."""


class Ready(Message):
    """The learner is loaded; what it says of itself."""

    name: _Word
    about: _Text
    access: Access
    revision: Annotated[int, Meta(ge=0, lt=1 << 31)]


class Draw(Message):
    """The learner asks for examples."""

    count: Annotated[int, Meta(ge=0, le=1 << 62)]


class Ask(Message):
    """The learner asks a statistical query: a character, or one that it evaluates itself."""

    kind: Literal["character", "correlational", "factor", "levels"]
    subset: _Coordinates = []


class Label(Message):
    """The learner asks for labels of inputs of its choice."""

    x: Array


class Values(Message):
    """The values of a query on the tokens that were sent, none if it raised; or predictions."""

    y: Array


class Learned(Message):
    """A hypothesis of a user's learner: its last, or one that it offers before.

    predicts: as its layer, as the baseline, or by messages. details: JSON of what it reports.
    weights: of a torch module, by their names.
    """

    final: bool
    predicts: Literal["layer", "baseline", "messages"]
    details: Annotated[bytes, Meta(max_length=DETAILS)]
    secret: _Secret | None = None
    outcome: _Word | None = None
    layer: AttentionLayer | None = None
    weights: dict[_Word, Array] = {}


class Pickled(Message):
    """A hypothesis of a learner of this package, its last or one before, or what it raised."""

    final: bool
    content: bytes


class Ended(Message):
    """There is no hypothesis of a user's learner: its outcome by name, and what more is to say."""

    outcome: Literal[
        "COULD_NOT_RUN", "INVALID", "CRASHED", "MEMORY_SPENT",
        "EXAMPLES_SPENT", "QUERIES_SPENT", "VALUES_SPENT", "SECONDS_SPENT",
    ]  # fmt: skip
    words: dict[
        Literal["reason", "stage", "type", "message", "file", "line", "exit_code"], _Text | _Number
    ]


class Idle(Message):
    """The run is over. clean: nothing of it goes on here, so that another one may begin."""

    clean: bool


class Job(Message, kw_only=True):
    """What a child is to do: load a learner, say what it is and, if it `learns`, have it learn.

    content: a pickle of a learner of this package, its family and its generator. Of a learner from
    a file: file, and name, as path.py:Name; spec, or the family as `content`, if it is a user's;
    coins, two numbers that its generators start from.
    """

    budget: Budget
    tau: str | None
    content: bytes = b""
    file: str | None = None
    name: str = ""
    spec: str = ""
    coins: tuple[int, int] = (0, 0)
    learns: bool = True


class Evaluate(Message):
    """A query is to be evaluated on tokens x, or on packed ones, words, at some codes of labels."""

    arrays: dict[str, Array]
    codes: list[int] = []


class Answer(Message):
    """What a learner asked for: examples or labels in arrays, or the value of a query.

    used: examples, queries and values so far. count: examples; short: there are no more. spent,
    reason: of a refusal; unsupported: no oracle of the run gives anything of the kind.
    """

    used: tuple[int, int, int]
    arrays: dict[str, Array] = {}
    value: float = 0.0
    count: int = 0
    short: bool = False
    spent: Resource | None = None
    reason: str = ""
    unsupported: bool = False


class Predict(Message):
    """The hypothesis is to predict labels of tokens (n, k, d)."""

    x: Array


class End(Message):
    """The run is over."""


def packed(message: Message) -> bytes:
    """Write a message."""
    return msgspec.msgpack.encode(message, enc_hook=_array_packed)


def _array_packed(value: Any) -> tuple[str, tuple[int, ...], bytes]:
    if not isinstance(value, np.ndarray):
        raise TypeError(f"{type(value).__name__}: no message holds any")
    return value.dtype.str, value.shape, value.tobytes()


def _array(kind: Any, content: Any) -> Array:
    """Read an array, which may be written into; raises ValueError for bytes of another number."""
    dtype, shape, data = msgspec.convert(content, _Packed)
    return np.frombuffer(data, dtype).reshape(shape).copy()


from_child = msgspec.msgpack.Decoder(
    Ready | Draw | Ask | Label | Values | Learned | Pickled | Ended | Idle, dec_hook=_array
).decode
from_parent = msgspec.msgpack.Decoder(
    Job | Evaluate | Answer | Predict | End, dec_hook=_array
).decode
