"""The parent's side of a learner in a child process: its job, its requests, its predictions.

The child evaluates a statistical query without seeing labels. It receives tokens and returns the
query's value at every level that a label can have. The parent, which knows the labels, selects the
right values.
"""

import hashlib
import os
import pickle
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar, TypeVar

import msgspec
import numpy as np
from numpy.typing import NDArray

from hardness.learners import messages
from hardness.learners.boundary import BATCH_BYTES, Child, Paths, sandboxed, take_child
from hardness.learners.learner import (
    SPENT,
    Access,
    Failed,
    Hypothesis,
    Learner,
    Outcome,
    ended_early,
)
from hardness.learners.messages import Array, Message, Unsupported, from_child, packed
from hardness.oracles import clock
from hardness.oracles.budget import Budget, Meter, Spent
from hardness.oracles.query import Character, StatisticalQuery, bounded
from instances.coded import as_coded, require_coded
from instances.errors import ToolkitError, require
from instances.family import Examples, Family, Secret
from instances.spec import built_in, parse
from instances.text import printable
from instances.userfile import pickled

_LOAD_SECONDS = 120.0  # seconds to import
_GRACE_SECONDS = 2.0  # seconds beyond the budget
_PREDICT_SECONDS = 60.0  # seconds to predict
_TABLE_NUMBERS = 1 << 20  # of a query's table in one message
_MOST_NESTING = 6  # of the details that a user's learner reports
# The outcomes that a user's learner may report.
_CLAIMABLE = (*SPENT.values(), Outcome.NO_CLAIM, Outcome.STAGE_FAILED)
_M = TypeVar("_M", bound=Message)
# The errors that a sandbox may cause.
_SANDBOX_ERRORS = ("FileNotFoundError", "PermissionError", "OSError")


@dataclass(frozen=True, kw_only=True)
class SubprocessLearner:
    """A learner in a user's `file`: `spec` as given, `text` as the child loads it."""

    access: ClassVar[Access] = "either"
    about: ClassVar[str] = "a learner from a file, in a process of its own"
    revision: ClassVar[int] = 1

    spec: str
    text: str
    file: Path

    @property
    def name(self) -> str:
        """The name in messages: the spec as given."""
        return self.spec

    def supports(self, family: Family) -> str | None:
        """Return None where processes can be limited; the learner itself is asked when it runs."""
        require(self.file.is_file(), f"no such file: {self.file}, of {self.spec}")
        if os.name != "posix":
            return "it runs in a process with limits: on Linux or macOS"
        sandboxed()
        return None

    def learn(self, oracle: Any, rng: np.random.Generator) -> Hypothesis:
        """Let a child load the learner, serve its requests, and keep the child for predictions."""
        coins = int(rng.integers(2**63)), int(rng.integers(2**63))
        conversation, details = self._start(oracle, getattr(oracle, "private", ()), coins)
        began = clock.now()
        try:
            hypothesis = conversation.learn()
        except Failed as failed:
            return ended_early(oracle, failed.outcome, **(failed.details | details))
        details["startup_seconds"] = clock.now() - began - oracle.meter.seconds
        hypothesis.details.update(details)
        return hypothesis

    def describe(self) -> dict[str, Any]:
        """Load the learner in a child and return its name, access and revision; raises Failed."""
        no_oracle = SimpleNamespace(family=parse("parity:d=8,m=1"), meter=Meter(Budget()))
        conversation, details = self._start(no_oracle)
        ready = conversation.begin(learns=False)
        conversation.end()
        words = {"name": _cleaned(ready.name), "about": _cleaned(ready.about)}
        details.pop("process")
        return words | {"access": ready.access, "revision": ready.revision} | details

    def _start(self, oracle: Any, secrets: Paths = (), coins: tuple[int, ...] = (0, 0)) -> Any:
        """Start a conversation with a child; also return facts about file and sandbox."""
        file, family = self.file.resolve(), oracle.family
        sha256 = hashlib.sha256(file.read_bytes()).hexdigest()
        child = take_child(oracle.meter.budget, sha256, file.parent, secrets)
        job = {"file": str(file), "name": self.text, "coins": coins}
        given = built_in(family)
        job |= {"spec": family.spec} if given else {"content": pickled(family, family.name)}
        place = "in bubblewrap" if child.sandboxed else "not sandboxed"
        return Conversation(child, oracle, job), {"sha256": sha256, "process": place}


def learn_in_child(learner: Learner, oracle: Any, rng: np.random.Generator) -> Hypothesis:
    """Let a built-in learner learn in a child, which is ended when a budget is spent.

    The result is the same as in this process. Raises the learner's errors, and Failed if a limit
    ended it.
    """
    content = pickled((learner, oracle.family, rng), learner.name)
    return Conversation(take_child(oracle.meter.budget), oracle, {"content": content}).learn()


class Conversation:
    """The conversation of one run with its child; any failure ends the child.

    job: the fields of its Job; without a file for a built-in learner. Methods raise Failed.
    """

    def __init__(self, child: Child, oracle: Any, job: dict[str, Any]) -> None:
        self.child, self.oracle, self._job = child, oracle, job
        self._predicting = 0.0  # seconds
        self._printed: dict[str, Any] | None = None  # what it printed, once the run is over

    def begin(self, learns: bool = True) -> messages.Ready:
        """Send the job to the child, and wait until it has loaded the learner."""
        tau, budget = getattr(self.oracle, "tau", None), self.oracle.meter.budget
        with self.child.within(_LOAD_SECONDS):
            self.tell(messages.Job(budget=budget, tau=tau and str(tau), learns=learns, **self._job))
            return self.hear(messages.Ready)

    def learn(self) -> Hypothesis:
        """Serve the learner's requests and return its hypothesis; raises its errors."""
        meter, seconds = self.oracle.meter, self.oracle.meter.budget.seconds
        try:
            self.begin()
            meter.restart()
            with self.child.within(
                None if seconds is None else seconds + min(_GRACE_SECONDS, seconds / 5)
            ):
                message = self.hear(_SERVED)
                while not getattr(message, "final", False):
                    self.serve(message)
                    message = self.hear(_SERVED)
            hypothesis = self.hypothesis(message)
            if hypothesis.predict != self.predict:
                hypothesis.details.update(self.end())
            return hypothesis
        except BaseException:  # such as an interrupt, while the child goes on
            if self._printed is None:
                self.child.close()
            raise
        finally:
            self.child.note_peak()
            meter.peak_bytes = self.child.peak_bytes

    def end(self) -> dict[str, Any]:
        """End the run; the child is kept for another one if it is clean. Returns its output."""
        if self._printed is None:
            self._printed, clean = {}, False  # it may serve another run from here on
            with suppress(Failed), self.child.within(_GRACE_SECONDS):
                self.tell(messages.End())
                clean = self.hear(messages.Idle).clean
            self._printed = self.child.leave() if clean else self.child.close()
        return self._printed

    def close(self) -> dict[str, Any]:
        """End the run; return what it printed, and the seconds of its predictions."""
        return self.end() | {"predict_seconds": self._predicting}

    def tell(self, message: Message) -> None:
        """Send a message."""
        self.child.tell(packed(message))

    def hear(self, kind: type[_M]) -> _M:
        """Wait for a message of some kinds; raises Failed if the learner reports its end."""
        content = self.child.hear()
        try:
            message = from_child(content)
        except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError) as error:
            raise self.child.failure() from error
        if isinstance(message, messages.Ended):
            words = _cleaned(dict(message.words))
            if self.child.sandboxed and words.get("type") in _SANDBOX_ERRORS:
                words["reason"] = f"{words.get('reason')}; of the sandbox see your-learner.md"
            cause = Failed(Outcome[message.outcome], words)
            if message.outcome == "MEMORY_SPENT" or "exit_code" in words:
                raise self.child.failure(cause)
            raise self.failed_but_kept(cause)
        forged = isinstance(message, messages.Pickled) and "file" in self._job
        if forged or not isinstance(message, kind):
            raise self.child.failure()
        return message

    def failed_but_kept(self, cause: Failed) -> Failed:
        """End the run but keep the child, and return the failure with further details."""
        cause.details |= self.end()
        return cause

    def serve(self, message: Message) -> None:
        """Answer a learner's request, or keep the hypothesis that it offers."""
        meter = self.oracle.meter
        content: dict[str, Any]
        try:
            if isinstance(message, messages.Draw):
                content = self._draw(message.count)
            elif isinstance(message, messages.Ask):
                content = {"value": self._ask(message)}
            elif isinstance(message, messages.Label):
                content = {"arrays": {"y": self._label(message.x)}}
            else:
                hypothesis = self.hypothesis(message)
                if hypothesis.predict != self.predict:  # else it needs the child, which may end
                    meter.offer(hypothesis)
                return
        except Spent as spent:
            content = {"spent": spent.resource}
        except ToolkitError as error:
            reason = str(error)[:2000] or "refused"
            content = {"reason": reason, "unsupported": isinstance(error, Unsupported)}
        self.tell(messages.Answer((meter.examples, meter.queries, meter.values), **content))

    def _draw(self, count: int) -> dict[str, Any]:
        """Draw up to `count` examples, as many as fit in one message."""
        if not hasattr(self.oracle, "draw"):
            raise Unsupported("examples were asked for: this oracle has queries")
        count = min(count, max(1, BATCH_BYTES // self.oracle.family.bytes_per_example))
        drawn = self.oracle.draw(count)
        return {"arrays": drawn.tensors, "count": len(drawn), "short": len(drawn) < count}

    def _ask(self, message: messages.Ask) -> float:
        """Let the oracle answer a query."""
        if not hasattr(self.oracle, "ask"):
            raise Unsupported("a query was asked: this oracle has examples")
        if message.kind == "character":
            query: StatisticalQuery = Character(subset=tuple(message.subset))
        else:
            query = _QUERIES[message.kind](self._evaluate, self.oracle.family)
        return float(self.oracle.ask(query))

    def _evaluate(self, message: messages.Evaluate, shape: tuple[int, ...]) -> Array:
        """Let the child evaluate a query: a float64 array of a shape."""
        self.tell(message)
        values = self.hear(messages.Values).y
        if values.shape != shape:  # it raised in the learner's code, which goes on from there
            raise ToolkitError("a query could not be evaluated")
        return self._numbers(values, shape)

    def _label(self, x: Array) -> Array:
        """Label tokens that the learner chose."""
        family = self.oracle.family
        tokens = self._numbers(x, (*x.shape[:1], family.k, family.d))
        if not hasattr(self.oracle, "value"):
            plays = "the adversary answers statistical queries only"
            here = plays if hasattr(self.oracle, "ask") else "this oracle has examples"
            raise Unsupported(f"a membership query was asked: {here}")
        return np.asarray(self.oracle.value(tokens))

    def predict(self, x: NDArray[Any]) -> NDArray[np.float64]:
        """Send tokens (n, k, d) in parts, and return the predictions (n, k, d)."""
        out, each = np.empty(x.shape), max(1, BATCH_BYTES // (8 * x[:1].size or 1))
        seconds = max(_PREDICT_SECONDS, self.oracle.meter.budget.seconds or 0.0)
        for start in range(0, len(x), each):
            part, began = x[start : start + each], clock.now()
            with self.child.within(seconds - self._predicting):
                self.tell(messages.Predict(part))
                y = self._numbers(self.hear(messages.Values).y, part.shape)
            self._predicting += clock.now() - began
            if wrong := int((~np.isfinite(y)).sum()):
                reason = f"{wrong} of {y.size} not finite"
                raise self.failed_but_kept(Failed(Outcome.INVALID, {"reason": reason}))
            out[start : start + each] = y
        return out

    def _numbers(self, values: Array, shape: tuple[int, ...]) -> NDArray[np.float64]:
        """Return the values; raises Failed unless they are float64 of the shape."""
        if values.shape != shape or values.dtype != np.float64:
            raise self.child.failure()
        return values

    def hypothesis(self, message: Any) -> Hypothesis:
        """Build the hypothesis of a message; raises the error of a built-in learner."""
        if isinstance(message, messages.Pickled):  # of a built-in learner
            content: Any = pickle.loads(message.content)
            if isinstance(content, BaseException):
                self.end()
                raise content
            return content
        family, layer = self.oracle.family, message.layer
        predict = family.known if message.predicts == "baseline" else self.predict
        if message.predicts == "layer" and layer and layer.d == family.d:
            predict = layer
        outcome = Outcome.__members__.get(message.outcome or "")
        try:
            details = reported(message.details)
        except ValueError as error:
            raise self.child.failure() from error
        return Hypothesis(
            predict=predict,
            secret=_claimed(message.secret, family),
            outcome=outcome if outcome in _CLAIMABLE else None,
            details={"reported": details} if details else {},
            layer=layer,
            model=message.weights or None,
            close=self.close if predict == self.predict else dict,
        )


_SERVED: Any = messages.Draw | messages.Ask | messages.Label | messages.Learned | messages.Pickled


def reported(text: bytes) -> dict[str, Any]:
    """Read the details that a learner reports, without control characters or long values.

    Raises ValueError unless they are a JSON object.

    >>> reported(b'{"loss": 0.5, "note": "a\\\\u001b[31mb"}')
    {'loss': 0.5, 'note': 'a?[31mb'}
    """
    try:
        details: dict[str, Any] = _cleaned(msgspec.json.decode(text, type=dict[str, Any]))
    except (msgspec.MsgspecError, RecursionError) as error:
        raise ValueError("details that are no JSON object") from error
    return details


def _cleaned(value: Any, depth: int = _MOST_NESTING) -> Any:
    """Return a value without control characters, and cut what is long, deep or large."""
    if isinstance(value, dict | list) and not depth:
        return None
    if isinstance(value, dict):
        return {printable(k[:100], ""): _cleaned(v, depth - 1) for k, v in value.items()}
    if isinstance(value, list):
        return [_cleaned(part, depth - 1) for part in value]
    if isinstance(value, str):
        return printable(value[:2000], "")
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) >= 2**63:
        return f"an integer of {value.bit_length()} bits"
    return value


def _claimed(numbers: list[int] | None, family: Family) -> Secret | None:
    """Read a claimed secret; None if the family cannot have it."""
    try:
        secret = tuple(numbers or ())
        family.same(secret, family.draw(np.random.default_rng(0)))
    except Exception:  # a family may raise anything for numbers that are not its secret
        return None
    return None if numbers is None else secret


@dataclass(frozen=True)
class _Levels:
    """A query phi(x, y) of examples with codes, which the child evaluates at every level."""

    evaluate: Callable[[messages.Evaluate, tuple[int, ...]], Array]
    family: Family

    def values(self, examples: Examples) -> NDArray[np.float64]:
        """Evaluate phi on examples: (n,)."""
        coded = as_coded(examples)
        return self.values_at(coded.words, coded.codes, range(len(coded.family.levels)))

    def values_at(self, words: Array, place: Array, codes: Sequence[int]) -> NDArray[np.float64]:
        """Evaluate phi on packed tokens at `codes`, and select codes[place] for each: (n,)."""
        out = np.empty(len(words))
        for rows in _batches(len(words), len(codes)):
            message = messages.Evaluate({"words": words[rows]}, list(codes))
            table = self.evaluate(message, (len(words[rows]), len(codes)))
            # The whole table must be in range, so that a refusal reveals nothing about labels.
            bounded(table.reshape(-1), table.size)
            out[rows] = table[np.arange(len(table)), place[rows]]
        return out


class _Factor(_Levels):
    """A query phi(z, s) of z and the label's factor on informative examples."""

    def of_factor(self, z: NDArray[np.uint64], factor: NDArray[np.float64]) -> NDArray[np.float64]:
        """Evaluate phi on packed z (n, words) at factors (n,) that no secret determines."""
        each, place = np.unique(factor, return_inverse=True)
        codes = np.abs(each[:, None] - require_coded(self.family).factors).argmin(axis=1)
        return self.values_at(np.stack([np.zeros_like(z), z], axis=1), place, codes.tolist())


class _Correlational(_Levels):
    """A query phi = <y, h(x)>; the child evaluates h."""

    def values(self, examples: Examples) -> NDArray[np.float64]:
        out, each = np.empty(len(examples)), examples.family.k * examples.family.d
        for rows in _batches(len(examples), each):
            part = examples.cut(rows.start, rows.stop)
            h = self.evaluate(messages.Evaluate({"x": part.x}), part.y.shape)
            out[rows] = np.sum(part.y * h, axis=(1, 2))
        return bounded(out, len(examples))


_QUERIES = {"levels": _Levels, "correlational": _Correlational, "factor": _Factor}


def _batches(count: int, numbers: int) -> list[slice]:
    each = max(1, _TABLE_NUMBERS // max(1, numbers))
    return [slice(start, min(start + each, count)) for start in range(0, count, each)]
