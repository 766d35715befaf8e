"""What runs in a child process: a learner that learns from the parent's oracle; what it may say.

Messages are msgpack. What comes from a child must be one of the records here, its numbers and texts
in their bounds; the pickles in it are read from learners of this package alone.
"""

import contextlib
import math
import os
import pickle
import random
import resource
import shutil
import sys
import threading
import traceback
import warnings
from collections.abc import Callable, Iterator
from fractions import Fraction
from multiprocessing.connection import Connection
from pathlib import Path
from types import TracebackType
from typing import Annotated, Any, Literal

import msgspec
import numpy as np
from msgspec import Meta, Struct
from numpy.typing import NDArray

from hardness.learners.boundary import LOST, SCRATCH, SENT, below, die_with_parent
from hardness.learners.learner import Failed, Hypothesis, OfMember, Outcome
from hardness.oracles.budget import Budget, Meter, Spent
from hardness.oracles.query import (
    Character,
    Correlational,
    Factor,
    FactorQuery,
    Pool,
    StatisticalQuery,
    Table,
)
from instances import userfile
from instances.coded import CodedExamples, require_coded
from instances.errors import ToolkitError, UsageError
from instances.family import Examples, Family
from instances.layer import AttentionLayer
from instances.spec import parse_stored

DETAILS = 1 << 16  # bytes of what a user's learner reports
_LIBRARIES = ("sklearn", "torch", "jax", "tensorflow", "xgboost", "lightgbm")

Array = NDArray[Any]
Message = dict[str, Any]
_Text = Annotated[str, Meta(max_length=2000)]
_Word = Annotated[str, Meta(max_length=200)]
_Count = Annotated[int, Meta(ge=0, le=1 << 62)]
_Told = Literal["reason", "stage", "type", "message", "file", "line", "exit_code"]
_Number = Annotated[int, Meta(ge=-(1 << 31), lt=1 << 31)]
_Coordinates = Annotated[list[Annotated[int, Meta(ge=0, lt=1 << 40)]], Meta(max_length=1 << 15)]
_Secret = Annotated[list[Annotated[int, Meta(ge=-(1 << 62), le=1 << 62)]], Meta(max_length=1 << 15)]


class Broken(Exception):
    """The other side sent what is no message."""


class Floats(Struct, frozen=True, forbid_unknown_fields=True):
    """An array of float64."""

    shape: Annotated[tuple[Annotated[int, Meta(ge=0, lt=1 << 40)], ...], Meta(max_length=4)]
    data: bytes

    @classmethod
    def of(cls, values: Array) -> "Floats":
        """Take numbers of any type."""
        return cls(values.shape, np.ascontiguousarray(values, np.float64).tobytes())

    def array(self, shape: tuple[int, ...]) -> Array:
        """Give them in a shape; raises Broken for numbers of another."""
        if self.shape != shape or len(self.data) != 8 * math.prod(shape):
            raise Broken(f"numbers of shape {self.shape} where {shape} is wanted")
        return np.frombuffer(self.data, np.float64).reshape(shape).copy()


class Layer(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An attention layer."""

    theta: Floats
    w: Floats
    kind: Literal["softmax", "linear"]
    constant: bool

    @classmethod
    def of(cls, layer: AttentionLayer) -> "Layer":
        """Take a layer."""
        given = {"theta": Floats.of(layer.theta), "w": Floats.of(layer.w)}
        return cls(**given, kind=layer.kind, constant=layer.constant)


class Said(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="op"):
    """What a child says."""


class Ready(Said, frozen=True, kw_only=True, tag="ready"):
    """The learner is loaded; what it says of itself."""

    name: _Word
    about: _Text
    access: Literal["examples", "queries", "values", "either"]
    revision: Annotated[int, Meta(ge=0, lt=1 << 31)]


class Ended(Said, frozen=True, kw_only=True, tag="ended"):
    """There is no hypothesis: why not, and what more is to be said."""

    why: Literal["load", "supports", "invalid", "raised", "memory", "exited"]
    told: dict[_Told, _Text | _Number] = {}


class Spends(Said, frozen=True, kw_only=True, tag="spent"):
    """The learner did not catch that its budget was spent."""

    resource: Literal["examples", "queries", "values", "seconds"]


class Raises(Said, frozen=True, kw_only=True, tag="raises"):
    """A learner of this package raised: the pickled exception."""

    error: bytes


class Draw(Said, frozen=True, kw_only=True, tag="draw"):
    """The learner asks for examples."""

    count: _Count


class Ask(Said, frozen=True, kw_only=True, tag="ask"):
    """The learner asks a statistical query. sets: of characters, one or a pool of them."""

    kind: Literal["character", "pool", "correlational", "factor", "levels"]
    sets: Annotated[list[_Coordinates], Meta(max_length=1 << 12)] = []


class Choose(Said, frozen=True, kw_only=True, tag="choose"):
    """The learner asks for labels of tokens of its choice."""

    x: Floats


class Values(Said, frozen=True, kw_only=True, tag="values"):
    """The values of a query on the tokens that were sent, or predictions."""

    y: Floats


class NoValues(Said, frozen=True, kw_only=True, tag="no values"):
    """The learner's query raised."""

    reason: _Text


class Learned(Said, frozen=True, kw_only=True, tag="learned"):
    """A hypothesis. predicts: by its layer, its secret, or by messages.

    details: a pickle, or JSON of what a user's learner reports.
    """

    secret: _Secret | None
    outcome: _Word | None
    layer: Layer | None
    predicts: Literal["layer", "secret", "messages"]
    details: bytes


class Offered(Learned, frozen=True, kw_only=True, tag="offered"):
    """What the learner has so far."""


class Idle(Said, frozen=True, kw_only=True, tag="idle"):
    """The run is over. clean: nothing of it goes on here, so that another one may begin."""

    clean: bool


Reply = Ready | Ended | Spends | Raises | Draw | Ask | Choose | Values | NoValues | Learned
HEARD = msgspec.msgpack.Decoder(Reply | Offered | Idle)


class Unsupported(UsageError):
    """The learner asked for what the oracle of this run does not give."""


class Channel:
    """The child's end of the connection; raises EOFError or OSError once the parent is gone."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def say(self, said: Said) -> None:
        """Send a message."""
        self._connection.send_bytes(msgspec.msgpack.encode(said))

    def told(self) -> tuple[Message, dict[str, Array]]:
        """Wait for what the parent says, and its arrays."""
        message = msgspec.msgpack.decode(self._connection.recv_bytes())
        arrays = message.pop("arrays").items()
        return message, {n: np.frombuffer(b, t).reshape(s).copy() for n, (t, s, b) in arrays}


def main(descriptor: int, limits: dict[str, list[int]]) -> None:
    """Do what the parent says until it is gone; never returns."""
    die_with_parent()  # a parent that is gone already is seen at the first message
    for name, (soft, hard) in limits.items():
        number = getattr(resource, name)
        most = resource.getrlimit(number)[1]
        hard = hard if most == resource.RLIM_INFINITY else min(hard, most)
        resource.setrlimit(number, (min(soft, hard), hard))
    channel = Channel(Connection(descriptor))
    with contextlib.suppress(EOFError, OSError):
        while True:
            job, arrays = channel.told()
            folder = Path(job["file"]).parent if job["file"] else None
            before = held() if folder else set[Path]()
            with afresh(folder):
                words = converse(channel, job, arrays)
                if words:
                    channel.say(words)
                    channel.told()  # that it is over: the parent ends a child that it is done with
            # The thread of tqdm's bars stays, and does nothing of a run.
            threads = [type(thread).__module__ for thread in threading.enumerate()]
            busy = len(threads) - threads.count("tqdm._monitor") > 1 or below(os.getpid())
            channel.say(Idle(clean=not busy and (not folder or emptied(before))))
    os._exit(LOST)


@contextlib.contextmanager
def afresh(folder: Path | None) -> Iterator[None]:
    """Undo what a run changes in this process, and forget the modules of the user's folder."""
    modules, path, environment = set(sys.modules), list(sys.path), dict(os.environ)
    depth, here, mask = sys.getrecursionlimit(), os.getcwd(), os.umask(0o077)
    os.umask(mask)
    try:
        with warnings.catch_warnings(), np.errstate(), np.printoptions():
            yield
    finally:
        for name in set(sys.modules) - modules:
            file = getattr(sys.modules[name], "__file__", None)
            if folder and isinstance(file, str) and Path(file).is_relative_to(folder):
                del sys.modules[name]
        userfile.forget()
        sys.path[:] = path
        os.environ.clear()
        os.environ.update(environment)
        sys.setrecursionlimit(depth)
        os.umask(mask)
        os.chdir(here)


def held() -> set[Path]:
    """What lies in the folders that are this process's own, to write to."""
    shared = ("/tmp", "/dev/shm") if os.getcwd() == SCRATCH else ()
    return {path for folder in (os.getcwd(), *shared) for path in Path(folder).iterdir()}


def emptied(before: set[Path]) -> bool:
    """Remove what a run wrote to them; returns whether all is gone."""
    try:
        for path in held() - before:
            shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
    except OSError:
        return False
    return True


def converse(channel: Channel, job: Message, arrays: dict[str, Array]) -> Said | None:
    """Load, learn and predict; returns the last words, None where the parent has enough."""
    stage, trusted = "load", job["file"] is None
    try:
        # The parent's word alone is unpickled, and a family of the user, who wrote this file too.
        if trusted:
            learner, family, rng = pickle.loads(arrays["pickle"].tobytes())
        else:
            from hardness.learners.plugins import load

            rng = np.random.Generator(np.random.Philox(key=np.array(job["rng"], np.uint64)))
            np.random.seed(job["rng"][0] % 2**32)
            random.seed(job["rng"][1])
            own = job["spec"] is None
            family = pickle.loads(arrays["pickle"].tobytes()) if own else parse_stored(job["spec"])
            learner = load(job["learner"])
        oracle = ProxyOracle(channel, family, job)
        reason = None if trusted else learner.supports(family)
        if not reason and job["learns"] and hasattr(learner, "warm_up"):
            learner.warm_up(family)
        channel.say(
            Ready(
                name=str(learner.name)[:200],
                about=str(learner.about)[:500],
                access=learner.access,
                revision=int(learner.revision),
            )
        )
        if channel.told()[0]["op"] == "end":
            return None
        oracle.meter.restart()
        if reason:
            return _ended("supports", reason)
        stage = "learn"
        with np.errstate(over="ignore", invalid="ignore"):
            found = learner.learn(oracle, rng)
        channel.say(learned(Learned, found, trusted))
        stage = "predict"
        while True:
            message, sent = channel.told()
            if message["op"] == "end":
                return None
            x = sent["x"]
            y = checked(found.predict(x.copy()), x.shape)
            channel.say(Values(y=Floats.of(y)))
    except Spent as spent:
        return Spends(resource=spent.resource)
    except Unsupported as error:
        return _ended("supports", error)
    except Failed as failed:
        if trusted:
            return Raises(error=pickle.dumps(failed))
        # An adapter found something wrong with what the learner gave.
        return _ended("invalid", failed.details.get("reason", failed))
    except BaseException as error:
        if stage == "load" and isinstance(error, ToolkitError) and not trusted:
            return _ended("load", error)
        return _raised(stage, error, job)


def checked(values: Any, shape: tuple[int, ...]) -> Array:
    """Check predictions of any learner as those of a user's; imported late, as few need it."""
    from hardness.learners.plugins.views import checked as check

    return check(values, shape)


def learned(kind: type[Learned], found: Hypothesis, trusted: bool) -> Learned:
    """Write a hypothesis down; raises Failed for one that is not valid."""
    try:
        if not callable(found.predict):
            raise TypeError(f"predict is a {type(found.predict).__name__}")
        by_layer = found.layer is not None and found.predict is found.layer
        by_secret = trusted and isinstance(found.predict, OfMember)  # who checks it predicts
        said = kind(
            secret=None if found.secret is None else [int(j) for j in found.secret],
            outcome=None if found.outcome is None else found.outcome.name,
            layer=None if found.layer is None else Layer.of(found.layer),
            predicts="layer" if by_layer else "secret" if by_secret else "messages",
            details=pickle.dumps(found.details) if trusted else reported(found.details),
        )
        msgspec.convert(msgspec.to_builtins(said, builtin_types=(bytes,)), kind)  # as the parent
    except (TypeError, ValueError, AttributeError, msgspec.MsgspecError) as error:
        raise Failed(Outcome.INVALID, {"reason": f"learn gave no hypothesis: {error}"}) from error
    return said


def reported(details: Any) -> bytes:
    """Write what a user's learner reports as JSON, with the versions of what it has loaded.

    Numbers that are not finite become null; what is no dictionary, or too long, is left out.

    >>> reported({"steps": np.int64(3), "loss": float("nan"), "of": (1, 2)})
    b'{"steps":3,"loss":null,"of":[1,2]}'
    """
    given = details if isinstance(details, dict) else {}
    loaded = [name for name in _LIBRARIES if name in sys.modules]  # a result may depend on them
    versions = {n: str(getattr(sys.modules[n], "__version__", "unknown"))[:40] for n in loaded}
    given = given | {"libraries": versions} if versions else given
    try:
        text = msgspec.json.encode({str(k): v for k, v in given.items()}, enc_hook=_plain)
    except Exception as error:
        text = msgspec.json.encode({"dropped": f"details that are no JSON: {error}"[:200]})
    if len(text) > DETAILS:
        text = msgspec.json.encode({"dropped": f"details of over {DETAILS} characters"})
    return text


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist() if value.size <= DETAILS else str(value.shape)
    return str(value)[:1000]


def _ended(why: Any, reason: object) -> Ended:
    return Ended(why=why, told={"reason": str(reason)[:2000]})


def _raised(stage: str, error: BaseException, job: Message) -> Said:
    """Say what was raised, where in the user's code, and what it says."""
    if isinstance(error, MemoryError) and (job["budget"]["memory_bytes"] or job["file"]):
        return Ended(why="memory", told={"stage": stage})
    if job["file"] is None:
        with contextlib.suppress(Exception):
            if not isinstance(error, ToolkitError):
                error.add_note("".join(traceback.format_exception(error)))
            pickled = pickle.dumps(error)
            pickle.loads(pickled)
            return Raises(error=pickled)
    if isinstance(error, SystemExit):
        code = error.code if isinstance(error.code, int) else int(error.code is not None)
        return Ended(why="exited", told={"exit_code": code % 256, "stage": stage})
    frames = traceback.extract_tb(error.__traceback__)
    with contextlib.suppress(Exception):  # the end of what is printed is kept
        traceback.print_exception(error.with_traceback(_from(job["file"], error.__traceback__)))
    said = ""
    with contextlib.suppress(Exception):
        said = " ".join(" ".join([str(error), *getattr(error, "__notes__", ())]).split())[:500]
    told: dict[Any, str | int] = {"stage": stage, "type": type(error).__name__[:200]}
    told["message"] = said
    for where in ([f for f in frames if f.filename == job["file"]] or frames)[-1:]:
        told |= {"line": where.lineno or 0, "file": Path(where.filename).name[:200]}
    return Ended(why="raised", told=told)


def _from(file: str | None, trace: TracebackType | None) -> TracebackType | None:
    """Leave out what stands before the first line of the user's file, if there is one."""
    start = trace
    while start is not None and start.tb_frame.f_code.co_filename != file:
        start = start.tb_next
    return start or trace


class _Offering(Meter):
    """A meter of the child, which hands over what is offered."""

    def __init__(self, budget: Budget, say: Callable[[Hypothesis], None]) -> None:
        super().__init__(budget)
        self._say = say

    def offer(self, hypothesis: Hypothesis) -> None:
        """Send it to the parent, which keeps the last."""
        self._say(hypothesis)


class ProxyOracle:
    """Examples by `draw`, answers by `ask`, labels by `value`; raises Spent, UsageError.

    Every use goes to the parent, which counts.
    """

    def __init__(self, channel: Channel, family: Family, job: Message) -> None:
        """Talk to the parent over a channel."""
        self.family = family
        self.tau = None if job["tau"] is None else Fraction(job["tau"])
        self.meter = _Offering(
            Budget(**job["budget"]),
            lambda found: channel.say(learned(Offered, found, job["file"] is None)),
        )
        self._channel = channel

    def draw(self, count: int) -> Examples:
        """Return the next `count` examples, fewer at the end of the budget; then raises Spent."""
        if count < 0:
            raise UsageError(f"{count} examples asked for: at least 0 are allowed")
        parts: list[dict[str, Array]] = []
        drawn, short = 0, False
        while not parts or (drawn < count and not short):
            self._channel.say(Draw(count=min(int(count) - drawn, 1 << 62)))
            try:
                reply, arrays = self._reply("drawn")
            except Spent:
                if not drawn:
                    raise
                break
            parts.append(arrays)
            drawn, short = drawn + reply["count"], reply["short"]
        names = parts[0] if len(parts) > 1 else ()
        joined = {name: np.concatenate([part[name] for part in parts]) for name in names}
        return self.family.restore(joined or parts[0], drawn)

    def ask(self, query: StatisticalQuery) -> float:
        """Answer one query within tau of its expectation; this process sees no label for it."""
        asked, evaluate = _described(query, self.family)
        self._channel.say(asked)
        while True:
            reply, arrays = self._reply("answer", "evaluate")
            if reply["op"] == "answer":
                return float(reply["value"])
            try:
                table = np.asarray(evaluate(arrays, reply), np.float64)
            except Exception as error:
                self._channel.say(NoValues(reason=f"{type(error).__name__}: {error}"[:2000]))
                self._reply("refused")
                raise
            self._channel.say(Values(y=Floats.of(table)))

    def value(self, x: Any) -> Array:
        """Return the labels of tokens x (n, k, d): all of them, or none where they do not fit."""
        checked = self.family.questions or self.family.refuse("questions")
        tokens = checked(x).astype(np.float64)
        self.meter.require_values(len(tokens))
        labels, each = np.empty(tokens.shape), max(1, SENT // (8 * tokens[:1].size or 1))
        for start in range(0, len(tokens), each):
            self._channel.say(Choose(x=Floats.of(tokens[start : start + each])))
            labels[start : start + each] = self._reply("labelled")[1]["y"]
        return labels

    def _reply(self, *wanted: str) -> tuple[Message, dict[str, Array]]:
        reply, arrays = self._channel.told()
        self.meter.examples, self.meter.queries = reply["examples"], reply["queries"]
        self.meter.values = reply["values"]
        op = reply["op"]
        if op == "spent":
            raise Spent(reply["resource"])
        if op == "unsupported":
            raise Unsupported(reply["reason"])
        if op == "refused" and "refused" not in wanted:
            raise UsageError(reply["reason"])
        return reply, arrays


Evaluate = Callable[[dict[str, Array], Message], Any]


def _described(query: StatisticalQuery, family: Family) -> tuple[Ask, Evaluate]:
    """Return how a query is asked, and how it is evaluated here where the parent cannot."""
    if isinstance(query, Character):
        return Ask(kind="character", sets=[list(map(int, query.subset))]), _never
    if isinstance(query, Pool):
        return Ask(kind="pool", sets=[list(map(int, one)) for one in query.sets]), _never
    if isinstance(query, Correlational):
        return Ask(kind="correlational"), lambda arrays, _: query.h(arrays["x"])
    if isinstance(query, FactorQuery):
        if isinstance(query, Factor | Table):
            query.require(family)

        def of_factors(arrays: dict[str, Array], message: Message) -> Any:
            z, given = arrays["z"], message["factors"]
            return np.stack([query.of_factor(z, np.full(len(z), v)) for v in given], axis=1)

        return Ask(kind="factor"), of_factors
    if not hasattr(query, "values"):
        raise UsageError(f"a {type(query).__name__} given: a query of hardness.oracles is needed")
    return Ask(kind="levels"), lambda arrays, _: _levels(query, family, arrays["words"])


def _levels(query: StatisticalQuery, family: Family, words: Array) -> Array:
    """Evaluate a query on tokens at every level that their labels can have: (n, levels)."""
    coded = require_coded(family)
    opened = coded.open(words)
    columns = []
    for code in range(len(coded.levels)):
        codes = np.where(opened, code, 0).astype(coded.code_type)
        columns.append(query.values(CodedExamples(family=coded, words=words, codes=codes)))
    # Where the label is known its code is 0, and so is the column that is looked at.
    return np.stack(columns, axis=1)


def _never(arrays: dict[str, Array], message: Message) -> Any:
    raise ToolkitError("the parent evaluates such a query itself")
