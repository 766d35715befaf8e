"""A learner in a child process as its parent sees it: told its job, served, asked for predictions.

A statistical query is evaluated by the child, which sees no label for it: it is sent tokens, and
answers with the query's value at every level that a label can have there; the parent, which knows
the labels, takes its pick.
"""

import hashlib
import os
import pickle
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, ClassVar

import msgspec
import numpy as np
from numpy.typing import NDArray

from hardness.learners.boundary import SENT, Child, sandboxed, take
from hardness.learners.child import (
    HEARD,
    Array,
    Ask,
    Broken,
    Choose,
    Draw,
    Ended,
    Idle,
    Learned,
    Message,
    NoValues,
    Offered,
    Raises,
    Ready,
    Spends,
    Values,
)
from hardness.learners.learner import (
    SPENT,
    Access,
    Failed,
    Hypothesis,
    Learner,
    OfMember,
    Outcome,
    ended_early,
)
from hardness.oracles import clock
from hardness.oracles.budget import Budget, Meter, Spent
from hardness.oracles.query import Character, Pool, StatisticalQuery, bounded, character
from instances.coded import as_coded, require_coded
from instances.errors import ToolkitError, UsageError
from instances.family import Examples, Family, Secret
from instances.layer import AttentionLayer
from instances.spec import built_in, parse
from instances.userfile import pickled

_LOADING, _GRACE, _JUDGING = 120.0, 2.0, 60.0  # seconds: to import; beyond the budget; to predict
_NUMBERS = 1 << 20  # of a query's table that is sent at once
_DEEP = 6  # levels of what a user's learner reports
_OWN = (*SPENT.values(), Outcome.NO_CLAIM, Outcome.STAGE_FAILED)  # what it may say of itself
_ABSENT = ("FileNotFoundError", "PermissionError", "OSError")  # what a sandbox makes it raise


@dataclass(frozen=True, kw_only=True)
class SubprocessLearner:
    """The learner that a user names: `spec` as given, `text` what the child is to load.

    file: where it stands.
    """

    access: ClassVar[Access] = "either"
    about: ClassVar[str] = "a learner from a file, in a process of its own"
    revision: ClassVar[int] = 1

    spec: str
    text: str
    file: Path

    @property
    def name(self) -> str:
        """What it is called in messages: as given."""
        return self.spec

    def supports(self, family: Family) -> str | None:
        """Every family; what the learner itself says, it says when it runs."""
        if not self.file.is_file():
            raise UsageError(f"{self.spec} given: there is no file {self.file}")
        if os.name != "posix":
            return "it runs in a process with limits: on Linux or macOS"
        sandboxed()
        return None

    def learn(self, oracle: Any, rng: np.random.Generator) -> Hypothesis:
        """Have a child load it, serve it until it has learned, and keep it for predictions."""
        coins = int(rng.integers(2**63)), int(rng.integers(2**63))
        talk = self._talk(oracle, getattr(oracle, "private", ()), coins)
        details = self._origin() | {
            "process": "in bubblewrap" if talk.child.sandboxed else "not sandboxed"
        }
        began = clock.now()
        try:
            hypothesis = talk.learn()
        except Failed as failed:
            return ended_early(oracle, failed.outcome, **(failed.details | details))
        own = {"startup_seconds": clock.now() - began - oracle.meter.seconds}
        hypothesis.details.update(details | own)
        return hypothesis

    def describe(self) -> Message:
        """Load the learner in a child and return what it says of itself; raises Failed."""
        oracle = _Nothing(parse("parity:d=8,m=1"), Meter(Budget()))
        talk = self._talk(oracle, (), (0, 0), learns=False)
        ready = talk.begin()
        talk.end()
        said = {"name": printable(ready.name), "about": printable(ready.about)}
        return said | {"access": ready.access, "revision": ready.revision} | self._origin()

    def _talk(
        self,
        oracle: Any,
        secrets: tuple[Path, ...],
        coins: tuple[int, int],
        learns: bool = True,
    ) -> "Talk":
        file, family = self.file.resolve(), oracle.family
        digest = self._origin().get("sha256", "")
        child = take(oracle.meter.budget, digest, file.parent, secrets)
        own = None if built_in(family) else pickled(family, family.name)
        job = {
            "learner": self.text,
            "file": str(file),
            "spec": None if own else family.spec,
            "rng": coins,
            "learns": learns,
        }
        return Talk(child, oracle, job, own, trusted=False)

    def _origin(self) -> Message:
        """Say what is run: the SHA-256 of its file."""
        if not self.file.is_file():
            return {}
        return {"sha256": hashlib.sha256(self.file.read_bytes()).hexdigest()}


@dataclass
class _Nothing:
    """What stands for an oracle where nothing is learned."""

    family: Family
    meter: Meter


def learn_in_child(learner: Learner, oracle: Any, rng: np.random.Generator) -> Hypothesis:
    """Let a learner of this package learn in a child, which is ended when its budget is.

    The child gets the learner, by its module, class and fields, the family and the coins; what it
    finds is what it would here. Raises what the learner does, and Failed if a limit ended it.
    """
    given = (learner, oracle.family, rng)
    ours = {type(part).__module__.partition(".")[0] for part in given[:2]} <= {
        "hardness",
        "instances",
    }
    text = pickle.dumps(given) if ours else pickled(given, learner.name)
    job = {"file": None, "learns": True}
    return Talk(take(oracle.meter.budget), oracle, job, text, trusted=True).learn()


class Talk:
    """The conversation of one run with its child, which is ended unless all goes as it should.

    trusted: the learner is of this package. Methods raise Failed.
    """

    def __init__(
        self, child: Child, oracle: Any, job: Message, text: bytes | None, trusted: bool
    ) -> None:
        """Begin nothing yet. text: what the child is to unpickle."""
        self.child, self.oracle, self.spent = child, oracle, 0.0
        self._job, self._text, self._trusted = job, text, trusted
        self._over, self._said = False, Message()

    def begin(self) -> Ready:
        """Tell the child its job, and wait until it has loaded the learner."""
        tau = getattr(self.oracle, "tau", None)
        budget = asdict(self.oracle.meter.budget)
        job = self._job | {"op": "job", "tau": tau and str(tau), "budget": budget}
        with self.child.within(_LOADING):
            self.tell(job, {"pickle": np.frombuffer(self._text, np.uint8)} if self._text else {})
            ready = self.hear()
        if not isinstance(ready, Ready):
            raise self.failure(ready)
        return ready

    def learn(self) -> Hypothesis:
        """Serve the learner until it has learned: its hypothesis."""
        meter = self.oracle.meter
        try:
            self.begin()
            self.tell({"op": "learn"})
            meter.restart()
            seconds = meter.budget.seconds
            limit = None if seconds is None else seconds + min(_GRACE, seconds / 5)
            with self.child.within(limit):
                said = self.serve()
            if not isinstance(said, Learned):
                raise self.failure(said)
            found = self.hypothesis(said)
        except (Failed, ToolkitError):
            raise
        except BaseException:  # such as an interrupt, while the child goes on
            self.child.close()
            raise
        finally:
            self.child.look()
            meter.peak_bytes = self.child.peak_bytes
        if said.predicts != "messages":
            self.end()
        return found

    def end(self) -> Message:
        """Tell the child that the run is over; it is kept for another one if nothing goes on."""
        if self._over:  # it may serve another run by now
            return self._said
        if not self.child.running:
            return self.child.close()
        self._over, idle = True, None
        with suppress(Failed), self.child.within(_GRACE):
            self.tell({"op": "end"})
            idle = self.hear()
        again = isinstance(idle, Idle) and idle.clean
        self._said = self.child.leave() if again else self.child.close()
        return self._said

    def close(self) -> Message:
        """End it: what it printed, and the seconds of its predictions."""
        return self.end() | ({} if self._trusted else {"predict_seconds": self.spent})

    def tell(self, message: Message, arrays: dict[str, Array] | None = None) -> None:
        """Send a message, what was counted, and arrays."""
        meter = self.oracle.meter
        counts = {"examples": meter.examples, "queries": meter.queries, "values": meter.values}
        sent = {n: (a.dtype.str, a.shape, a.tobytes()) for n, a in (arrays or {}).items()}
        self.child.tell(msgspec.msgpack.encode(message | counts | {"arrays": sent}))

    def hear(self) -> Any:
        """Wait for what the child says; raises Failed for what is no message."""
        content = self.child.hear()
        try:
            return HEARD.decode(content)
        except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError) as error:
            raise self.failure() from error

    def failure(self, said: Any = None) -> Failed:
        """End the child, and say what became of it by its last words; raises what it raised."""
        if isinstance(said, Raises) and self._trusted:
            self.end()
            raise pickle.loads(said.error)
        if isinstance(said, Spends):
            return self.rested(Failed(SPENT[said.resource], {}))
        if not isinstance(said, Ended):
            return self.child.failure()
        cause = _cause(said, self.child.sandboxed)
        again = said.why not in ("memory", "exited")
        return self.rested(cause) if again else self.child.failure(cause)

    def rested(self, cause: Failed) -> Failed:
        """Keep the child for another run, which can go on: what came of this one."""
        cause.details |= self.end()
        return cause

    def predict(self, x: NDArray[Any]) -> NDArray[np.float64]:
        """Hand tokens (n, k, d) over, a part at a time, and take the predictions (n, k, d)."""
        out = np.empty(x.shape)
        each = max(1, SENT // (8 * x[:1].size or 1))
        seconds = max(_JUDGING, self.oracle.meter.budget.seconds or 0.0)
        for start in range(0, len(x), each):
            part, asked = x[start : start + each], clock.now()
            with self.child.within(seconds - self.spent):
                self.tell({"op": "predict"}, {"x": part})
                said = self.hear()
            self.spent += clock.now() - asked
            if not isinstance(said, Values):
                raise self.failure(said)
            y = self.numbers(said.y, part.shape)
            if wrong := int((~np.isfinite(y)).sum()):
                reason = f"{wrong} of {y.size} not finite"
                raise self.rested(Failed(Outcome.INVALID, {"reason": reason}))
            out[start : start + each] = y
        return out

    def numbers(self, given: Any, shape: tuple[int, ...]) -> Array:
        """Read float64 of a shape."""
        try:
            found: Array = given.array(shape)
        except Broken as error:
            raise self.failure() from error
        return found

    def hypothesis(self, said: Learned) -> Hypothesis:
        """Build the hypothesis that a child has or offers; raises Failed for none."""
        family = self.oracle.family
        secret = None if said.secret is None else tuple(said.secret)
        layer = None
        if said.layer is not None:
            shape = said.layer.theta.shape
            theta, w = (self.numbers(part, shape) for part in (said.layer.theta, said.layer.w))
            try:
                layer = AttentionLayer(
                    theta=theta, w=w, kind=said.layer.kind, constant=said.layer.constant
                )
            except UsageError as error:
                raise self.child.failure(Failed(Outcome.INVALID, {"reason": str(error)})) from error
        outcome = Outcome.__members__.get(said.outcome or "")
        if self._trusted:
            details = pickle.loads(said.details)
        else:
            secret = _claimed(secret, family)
            outcome = outcome if outcome in _OWN else None
            try:
                details = reported(said.details)
            except Broken as error:
                raise self.failure() from error
            details = {"reported": details} if details else {}
        predict: Any = self.predict
        if said.predicts == "layer" and layer and layer.theta.shape[1] == family.d:
            predict = layer
        elif said.predicts == "secret" and secret is not None:
            predict = OfMember(family, secret)
        return Hypothesis(
            predict=predict,
            secret=secret,
            outcome=outcome,
            details=details,
            layer=layer,
            close=self.close if said.predicts == "messages" else dict,
        )

    def serve(self) -> Any:
        """Answer what a learner asks for until a message of another kind comes: that one."""
        oracle = self.oracle
        while True:
            said, arrays = self.hear(), dict[str, Array]()
            try:
                if isinstance(said, Offered):
                    if said.predicts != "messages":
                        oracle.meter.offer(self.hypothesis(said))
                    continue
                if isinstance(said, Draw):
                    reply, arrays = _draw(oracle, said.count)
                elif isinstance(said, Ask):
                    reply = self._ask(said)
                elif isinstance(said, Choose):
                    reply, arrays = self._choose(said)
                else:
                    return said
            except Spent as spent:
                reply = {"op": "spent", "resource": spent.resource}
            except ToolkitError as error:
                reply = {"op": "refused", "reason": str(error)[:2000]}
            self.tell(reply, arrays)

    def _choose(self, said: Choose) -> tuple[Message, dict[str, Array]]:
        """Label the tokens that the learner chose."""
        family = self.oracle.family
        tokens = self.numbers(said.x, (*said.x.shape[:1], family.k, family.d))
        if not hasattr(self.oracle, "value"):
            here = "the adversary answers statistical queries only"
            if not hasattr(self.oracle, "ask"):
                here = "this oracle has examples"
            return _unsupported(f"a membership query was asked: {here}"), {}
        return {"op": "labelled"}, {"y": self.oracle.value(tokens)}

    def _ask(self, said: Ask) -> Message:
        """Have the oracle answer a query, which the child evaluates where it must."""
        if not hasattr(self.oracle, "ask"):
            return _unsupported("a query was asked: this oracle has examples")

        def evaluate(arrays: dict[str, Array], more: Message, shape: tuple[int, ...]) -> Array:
            self.tell({"op": "evaluate", **more}, arrays)
            reply = self.hear()
            if isinstance(reply, NoValues):  # in its own code: it goes on from there
                raise ToolkitError(f"a query could not be evaluated: {reply.reason}")
            if not isinstance(reply, Values):
                raise self.failure()
            return self.numbers(reply.y, shape)

        query = _query(said, self.oracle.family, evaluate, self.oracle.meter)
        return {"op": "answer", "value": float(self.oracle.ask(query))}


def _unsupported(reason: str) -> Message:
    return {"op": "unsupported", "reason": reason}


def _draw(oracle: Any, count: int) -> tuple[Message, dict[str, Array]]:
    """Draw as many examples as are sent at once, at most as many as were asked for."""
    if not hasattr(oracle, "draw"):
        return _unsupported("examples were asked for: this oracle has queries"), {}
    asked = min(count, max(1, SENT // oracle.family.bytes_per_example))
    found = oracle.draw(asked)
    reply = {"op": "drawn", "count": len(found), "short": len(found) < asked}
    return reply, found.tensors


def _cause(said: Ended, sandbox: bool) -> Failed:
    """Say why there is no hypothesis, in words that are fit to be shown."""
    told: Message = {
        str(n): printable(v, 2000) if isinstance(v, str) else v for n, v in said.told.items()
    }
    if said.why in ("load", "supports"):
        return Failed(Outcome.COULD_NOT_RUN, told | {"stage": said.why})
    if said.why in ("invalid", "memory"):
        return Failed(Outcome.INVALID if said.why == "invalid" else Outcome.MEMORY_SPENT, told)
    reason = f"it ended its process with exit code {told.get('exit_code')}"
    if said.why == "raised":
        where = f", line {told['line']} of {told['file']}" if "line" in told else ""
        reason = f"{told.get('type')} in {told.get('stage')}{where}: {told.get('message')}"
        if sandbox and told.get("type") in _ABSENT:
            reason += "; see what the sandbox closes to learners (your-learner.md)"
    return Failed(Outcome.CRASHED, {"reason": reason} | told)


def reported(text: bytes) -> Message:
    """Read what a learner reports: names, numbers and short texts, without what steers a terminal.

    Raises Broken for what is no JSON object.

    >>> reported(b'{"loss": 0.5, "note": "a\\\\u001b[31mb"}')
    {'loss': 0.5, 'note': 'a?[31mb'}
    """
    try:
        found = msgspec.json.decode(text)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError) as error:
        raise Broken("details that are no JSON") from error
    if not isinstance(found, dict):
        raise Broken("details that are no object")
    kept: Message = _clean(found, _DEEP)
    return kept


def printable(text: str, most: int = 1000) -> str:
    """Make a text of somebody else's one that can be printed: one line, no control characters.

    >>> printable("red:" + chr(27) + "[31m" + chr(10) + "é")
    'red:?[31m?é'
    """
    return "".join(c if c.isprintable() else "?" for c in text[:most])


def _clean(value: Any, deep: int) -> Any:
    if isinstance(value, dict):
        return {printable(k, 100): _clean(v, deep - 1) for k, v in value.items()} if deep else None
    if isinstance(value, list):
        return [_clean(part, deep - 1) for part in value] if deep else None
    if isinstance(value, str):
        return printable(value)
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) >= 2**63:
        return f"an integer of {value.bit_length()} bits"
    return value


def _claimed(claimed: tuple[int, ...] | None, family: Family) -> Secret | None:
    """Read a claimed secret; None for what could be none of the family."""
    if claimed is None:
        return None
    try:
        family.same(claimed, family.draw(np.random.default_rng(0)))
    except Exception:  # whatever a family makes of numbers that are no secret of it
        return None
    return claimed


Evaluate = Callable[[dict[str, Array], Message, tuple[int, ...]], Array]


def _query(said: Ask, family: Family, evaluate: Evaluate, meter: Meter) -> StatisticalQuery:
    """Make the query that a message describes."""
    sets = tuple(map(tuple, said.sets))
    if said.kind == "character":
        return Character(subset=sets[0] if sets else ())
    if said.kind == "pool":
        return _Pool(sets=sets, meter=meter)
    if said.kind == "correlational":
        return _Correlational(evaluate=evaluate)
    require_coded(family)
    return (_Factor if said.kind == "factor" else _Levels)(evaluate=evaluate)


@dataclass(frozen=True, kw_only=True)
class _Pool(Pool):
    """A pool that is not evaluated beyond its time: it may have thousands of sets."""

    meter: Meter

    def of_factor(self, z: NDArray[np.uint64], factor: NDArray[np.float64]) -> NDArray[np.float64]:
        """Evaluate on packed z (n, words), z_0 = -1: (n,); raises Spent."""
        total = np.zeros(len(z))
        for subset in self.sets:
            self.meter.require_time()
            total += character(z, subset)
        return factor * np.sign(total)


@dataclass(frozen=True, kw_only=True)
class _Evaluated:
    """A query that the learner's process evaluates on tokens: it is sent no label."""

    evaluate: Evaluate

    def picked(
        self, given: dict[str, Array], more: Message, columns: int, place: Array
    ) -> NDArray[np.float64]:
        """Have an array's rows evaluated in all columns, and take those of `place` (n,): (n,)."""
        ((name, array),) = given.items()
        out = np.empty(len(array))
        for rows in _blocks(len(array), columns):
            part = array[rows]
            table = self.evaluate({name: part}, more, (len(part), columns))
            # All of it must be in range: a refusal then says nothing of the labels.
            bounded(table.reshape(-1), table.size)
            out[rows] = table[np.arange(len(part)), place[rows]]
        return out


class _Levels(_Evaluated):
    """Any phi(x, y) of two-token examples whose labels have one of a few levels."""

    def values(self, examples: Examples) -> NDArray[np.float64]:
        """Evaluate phi on examples: (n,)."""
        packed = as_coded(examples)
        return self.picked({"words": packed.words}, {}, len(packed.family.levels), packed.codes)


class _Correlational(_Evaluated):
    """phi = <y, h(x)>: the learner's process evaluates h."""

    def values(self, examples: Examples) -> NDArray[np.float64]:
        """Evaluate phi on examples: (n,)."""
        out, each = np.empty(len(examples)), examples.family.k * examples.family.d
        for rows in _blocks(len(examples), each):
            part = examples.cut(rows.start, rows.stop)
            x, y = part.x, part.y
            out[rows] = np.sum(y * self.evaluate({"x": x}, {}, y.shape), axis=(1, 2))
        return bounded(out, len(examples))


class _Factor(_Evaluated):
    """phi(z, s) of z and the label's factor where z_0 = -1."""

    def values(self, examples: Examples) -> NDArray[np.float64]:
        """Evaluate phi on examples: (n,); at every level, whichever the examples have."""
        packed = as_coded(examples)
        rows = np.flatnonzero(packed.family.open(packed.words))
        words, codes = packed.words[rows], packed.codes[rows]
        out, levels = np.zeros(len(packed)), packed.family.factors.tolist()
        given = {"z": words[:, 0] ^ words[:, 1]}
        out[rows] = self.picked(given, {"factors": levels}, len(levels), codes)
        return out

    def of_factor(self, z: NDArray[np.uint64], factor: NDArray[np.float64]) -> NDArray[np.float64]:
        """Evaluate phi on packed z (n, words) at factors (n,) that no secret has a part in."""
        values, place = np.unique(factor, return_inverse=True)
        return self.picked({"z": z}, {"factors": values.tolist()}, len(values), place)


def _blocks(count: int, numbers: int) -> list[slice]:
    each = max(1, _NUMBERS // max(1, numbers))
    return [slice(start, min(start + each, count)) for start in range(0, count, each)]
