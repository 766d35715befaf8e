"""The messages between a learner's process and its parent: tagged records in msgpack.

First the messages of the child, then those of the parent. A message from a child must be one of
these records, with numbers and texts within their bounds. `Pickled` is accepted from built-in
learners alone.
"""

from typing import Annotated, Any, Literal

import msgspec
import numpy as np
from msgspec import Meta, Struct

from hardness.learners.learner import Access
from hardness.oracles.budget import Budget, Resource
from instances.errors import UsageError
from instances.layer import AttentionLayer

DETAILS = 1 << 16  # of the details that a user's learner reports

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
    """The learner does not support the family, or needs another kind of oracle."""


class Message(Struct, forbid_unknown_fields=True, tag_field="op", tag=str.lower):
    """A message, tagged by its name."""


class Ready(Message):
    """The learner is loaded; its name, description, access and revision."""

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
    """The values of a query on tokens, empty if it raised; or predictions."""

    y: Array


class Learned(Message):
    """A hypothesis of a user's learner: the final one, or an earlier offer.

    predicts: how its predictions are computed: by its layer, as the baseline, or by messages.
    details: reported details as JSON. weights: of a torch module, by name.
    """

    final: bool
    predicts: Literal["layer", "baseline", "messages"]
    details: Annotated[bytes, Meta(max_length=DETAILS)]
    secret: _Secret | None = None
    outcome: _Word | None = None
    layer: AttentionLayer | None = None
    weights: dict[_Word, Array] = {}


class Pickled(Message):
    """A pickled hypothesis of a built-in learner, final or offered, or the error it raised."""

    final: bool
    content: bytes


class Ended(Message):
    """A user's learner ended without a hypothesis: the name of the outcome, and details."""

    outcome: Literal[
        "COULD_NOT_RUN", "INVALID", "CRASHED", "MEMORY_SPENT",
        "EXAMPLES_SPENT", "QUERIES_SPENT", "VALUES_SPENT", "SECONDS_SPENT",
    ]  # fmt: skip
    words: dict[
        Literal["reason", "stage", "type", "message", "file", "line", "exit_code"], _Text | _Number
    ]


class Idle(Message):
    """The run is over. clean: whether nothing of it is left, so that another may begin."""

    clean: bool


class Job(Message, kw_only=True):
    """The work of a child: load a learner, describe it and, if `learns`, let it learn.

    content: for a built-in learner, a pickle of it, its family and its generator; for a learner
    from a file, a pickle of a user's family. file, name: the file, and the learner as path.py:Name.
    spec: of a built-in family. coins: two seeds of the learner's generators.
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
    """Asks the child to evaluate a query on tokens x, or on packed words at some codes."""

    arrays: dict[str, Array]
    codes: list[int] = []


class Answer(Message):
    """The answer to a learner's request: examples or labels in arrays, or the value of a query.

    used: examples, queries and values so far. count: examples sent. short: whether there are no
    more. spent, reason: why the request was refused. unsupported: whether the oracle of the run
    cannot answer such requests at all.
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
    """Asks for predictions of the hypothesis on tokens (n, k, d)."""

    x: Array


class End(Message):
    """Tells the child that the run is over."""


def packed(message: Message) -> bytes:
    """Write a message."""
    return msgspec.msgpack.encode(message, enc_hook=_pack_array)


def _pack_array(value: Any) -> tuple[str, tuple[int, ...], bytes]:
    if not isinstance(value, np.ndarray):
        raise TypeError(f"{type(value).__name__}: no message holds any")
    return value.dtype.str, value.shape, value.tobytes()


def _unpack_array(kind: Any, content: Any) -> Array:
    """Read a writable array; raises ValueError if the number of bytes does not fit its shape."""
    dtype, shape, data = msgspec.convert(content, _Packed)
    return np.frombuffer(data, dtype).reshape(shape).copy()


from_child = msgspec.msgpack.Decoder(
    Ready | Draw | Ask | Label | Values | Learned | Pickled | Ended | Idle, dec_hook=_unpack_array
).decode
from_parent = msgspec.msgpack.Decoder(
    Job | Evaluate | Answer | Predict | End, dec_hook=_unpack_array
).decode
