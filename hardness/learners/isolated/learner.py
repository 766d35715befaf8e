"""A learner from a file: it runs in its own process, and we serve it.

A statistical query is evaluated by the learner's process, which sees no label for it: it is sent
tokens, and answers with the query's value at every level that a label can have there; the parent,
which knows the labels, takes its pick.
"""

import hashlib
import os
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from hardness.learners.isolated.messages import (
    SENT,
    Array,
    Ask,
    Broken,
    Choose,
    Draw,
    Ended,
    Learned,
    Message,
    NoValues,
    Ready,
    Reply,
    Values,
    printable,
    reported,
)
from hardness.learners.isolated.sandbox import sandboxed
from hardness.learners.learner import SPENT, Access, Failed, Hypothesis, Outcome, nothing
from hardness.oracles import clock
from hardness.oracles.budget import Budget, Spent
from hardness.oracles.query import Character, Pool, StatisticalQuery, bounded, character
from instances.coded import as_coded, require_coded
from instances.errors import ToolkitError, UsageError
from instances.family import Examples, Family, Secret
from instances.spec import built_in, parse
from instances.userfile import pickled

if TYPE_CHECKING:
    from hardness.learners.isolated.process import Process

_LOADING, _GRACE, _JUDGING = 120.0, 2.0, 60.0  # seconds: to import; beyond the budget; to predict
_NUMBERS = 1 << 20  # of a query's table that is sent at once
_OWN = frozenset(  # what a learner may say of itself: all else follows from what it did
    {
        *SPENT.values(),
        Outcome.NO_CLAIM,
        Outcome.STAGE_FAILED,
    }
)


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
        """Start the process, serve it until it has learned, and keep it for predictions."""
        process = self._started(oracle.meter.budget, getattr(oracle, "private", ()))
        ran = "in bubblewrap" if process.sandboxed else "not sandboxed"
        details = self._origin() | {"process": ran}
        try:
            return self._converse(process, oracle, rng, details)
        except Failed as failed:
            process.close()
            oracle.meter.peak_bytes = process.peak_bytes
            return nothing(oracle.family, failed.outcome, **(failed.details | details))
        except BaseException:
            process.close()
            raise

    def describe(self) -> Message:
        """Load the learner in a process and return what it says of itself; raises Failed."""
        process = self._started(Budget(), ())
        try:
            ready = self._loaded(process, parse("parity:d=8,m=1"), None, Budget(), (0, 0))
            said = {"name": printable(ready.name), "about": printable(ready.about)}
            return said | {"access": ready.access, "revision": ready.revision} | self._origin()
        finally:
            process.close()

    def _started(self, budget: Budget, secrets: tuple[Path, ...]) -> "Process":
        from hardness.learners.isolated.process import Process

        return Process(budget, self.file.resolve().parent, secrets)

    def _origin(self) -> Message:
        """Say what is run: the SHA-256 of its file."""
        if not self.file.is_file():
            return {}
        return {"sha256": hashlib.sha256(self.file.read_bytes()).hexdigest()}

    def _loaded(
        self,
        process: "Process",
        family: Family,
        tau: Any,
        budget: Budget,
        rng: tuple[int, int],
    ) -> Ready:
        """Tell the process its job, and wait until it has loaded the learner."""
        job = {
            "learner": self.text,
            "file": str(self.file.resolve()),
            "spec": family.spec if built_in(family) else None,
            "tau": None if tau is None else str(tau),
            "budget": asdict(budget),
            "rng": rng,
        }
        until = clock.now() + _LOADING
        own = None if built_in(family) else pickled(family, family.name)
        process.tell(job, until, {"family": np.frombuffer(own, np.uint8)} if own else None)
        ready, _ = process.hear(until)
        if not isinstance(ready, Ready):
            raise process.failure(ready)
        return ready

    def _converse(
        self, process: "Process", oracle: Any, rng: np.random.Generator, told: Message
    ) -> Hypothesis:
        family, meter = oracle.family, oracle.meter
        started = clock.now()
        coins = int(rng.integers(2**63)), int(rng.integers(2**63))
        self._loaded(process, family, getattr(oracle, "tau", None), meter.budget, coins)
        process.tell({"op": "learn"}, None)
        meter.restart()
        seconds = meter.budget.seconds
        until = None if seconds is None else clock.now() + seconds + _GRACE
        last = serve(process, oracle, until)
        if not isinstance(last, Learned):
            raise process.failure(last)
        process.look()
        meter.peak_bytes = process.peak_bytes
        try:
            details = reported(last.details)
        except Broken as error:
            raise process.failure() from error
        own = {"startup_seconds": clock.now() - started - meter.seconds}
        predict = _Predictor(process, max(_JUDGING, meter.budget.seconds or 0.0))
        return Hypothesis(
            predict=predict,
            secret=_claimed(last.secret, family),
            outcome=Outcome[last.outcome] if last.outcome in {o.name for o in _OWN} else None,
            details=({"reported": details} if details else {}) | told | own,
            close=predict.close,
        )


class _Predictor:
    """Predictions by the learner's process: (n, k, d) -> (n, k, d); raises Failed.

    spent: the seconds that they took.
    """

    def __init__(self, process: "Process", seconds: float) -> None:
        self._process, self._seconds, self.spent = process, seconds, 0.0

    def __call__(self, x: NDArray[Any]) -> NDArray[np.float64]:
        """Hand tokens over, a part at a time, and take the predictions."""
        out = np.empty(x.shape)
        each = max(1, SENT // (8 * x[:1].size or 1))
        for start in range(0, len(x), each):
            part = x[start : start + each]
            asked = clock.now()
            until = asked + self._seconds - self.spent
            self._process.tell({"op": "predict"}, until, {"x": part})
            said, y = self._process.hear(until, part.shape)
            self.spent += clock.now() - asked
            if not isinstance(said, Values) or y is None:
                raise self._process.failure(said)
            wrong = int((~np.isfinite(y)).sum())
            if wrong:
                reason = f"{wrong} of {y.size} not finite"
                raise self._process.failure(Ended(why="INVALID", told={"reason": reason}))
            out[start : start + each] = y
        return out

    def close(self) -> Message:
        """End the process: what it printed, and the seconds of its predictions."""
        return self._process.close() | {"predict_seconds": self.spent}


def _claimed(given: list[int] | None, family: Family) -> Secret | None:
    """Read a claimed secret; None for what could be none of the family."""
    if given is None:
        return None
    claimed = tuple(given)
    try:
        family.same(claimed, family.draw(np.random.default_rng(0)))
    except Exception:  # whatever a family makes of numbers that are no secret of it
        return None
    return claimed


Evaluate = Callable[[dict[str, Array], Message, tuple[int, ...]], Array]


def serve(process: "Process", oracle: Any, until: float | None) -> Reply:
    """Answer what a learner asks for until a message of another kind comes, and return that.

    until: the time of the clock at which the process is ended. Raises Failed.
    """
    token = (oracle.family.k, oracle.family.d)
    while True:
        said, tokens = process.hear(until, token=token)
        arrays: dict[str, Array] = {}
        try:
            if isinstance(said, Draw):
                reply, arrays = _draw(oracle, said.count)
            elif isinstance(said, Ask):
                reply = _ask(process, oracle, said, until)
            elif isinstance(said, Choose) and tokens is not None:
                reply, arrays = _choose(oracle, tokens)
            else:
                return said
        except Spent as spent:
            reply = {"op": "spent", "resource": spent.resource}
        except ToolkitError as error:
            reply = {"op": "refused", "reason": str(error)[:2000]}
        meter = oracle.meter
        counts = {"examples": meter.examples, "queries": meter.queries, "values": meter.values}
        process.tell(reply | counts, until, arrays)


def _draw(oracle: Any, count: int) -> tuple[Message, dict[str, Array]]:
    """Draw as many examples as are sent at once, at most as many as were asked for."""
    if not hasattr(oracle, "draw"):
        said = "examples were asked for: this oracle has queries"
        return {"op": "unsupported", "reason": said}, {}
    asked = min(count, max(1, SENT // oracle.family.bytes_per_example))
    found = oracle.draw(asked)
    reply = {"op": "drawn", "count": len(found), "short": len(found) < asked}
    return reply, found.tensors


def _choose(oracle: Any, tokens: Array) -> tuple[Message, dict[str, Array]]:
    """Label the tokens that the learner chose."""
    if not hasattr(oracle, "value"):
        here = "the adversary answers statistical queries only"
        if not hasattr(oracle, "ask"):
            here = "this oracle has examples"
        said = f"a membership query was asked: {here}"
        return {"op": "unsupported", "reason": said}, {}
    return {"op": "labelled"}, {"y": oracle.value(tokens)}


def _ask(process: "Process", oracle: Any, said: Ask, until: float | None) -> Message:
    """Have the oracle answer a query, which the learner's process evaluates where it must."""
    if not hasattr(oracle, "ask"):
        return {"op": "unsupported", "reason": "a query was asked: this oracle has examples"}

    def evaluate(arrays: dict[str, Array], more: Message, shape: tuple[int, ...]) -> Array:
        process.tell({"op": "evaluate", **more}, until, arrays)
        reply, table = process.hear(until, shape)
        if isinstance(reply, NoValues):  # in its own code: it goes on from there
            raise ToolkitError(f"a query could not be evaluated: {reply.reason}")
        if not isinstance(reply, Values) or table is None:
            raise process.failure()
        return table

    query = _query(said, oracle.family, evaluate, until)
    return {"op": "answer", "value": float(oracle.ask(query))}


def _query(said: Ask, family: Family, evaluate: Evaluate, until: float | None) -> StatisticalQuery:
    """Make the query that a message describes."""
    sets = tuple(map(tuple, said.sets))
    if said.kind == "character":
        return Character(subset=sets[0] if sets else ())
    if said.kind == "pool":
        return _Pool(sets=sets, until=until)
    if said.kind == "correlational":
        return _Correlational(evaluate=evaluate)
    require_coded(family)
    return (_Factor if said.kind == "factor" else _Levels)(evaluate=evaluate)


@dataclass(frozen=True, kw_only=True)
class _Pool(Pool):
    """A pool that is not evaluated beyond a time: it may have thousands of sets."""

    until: float | None

    def of_factor(self, z: NDArray[np.uint64], factor: NDArray[np.float64]) -> NDArray[np.float64]:
        """Evaluate on packed z (n, words), z_0 = -1: (n,); raises Spent."""
        total = np.zeros(len(z))
        for subset in self.sets:
            if self.until is not None and clock.now() > self.until:
                raise Spent("seconds")
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
