"""The learner's own process: load it, let it learn from the parent's oracle, answer predictions."""

import contextlib
import os
import pickle
import random
import resource
import socket
import sys
import traceback
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from types import TracebackType
from typing import Any

import msgspec
import numpy as np

from hardness.learners.isolated.messages import (
    LOST,
    SENT,
    Array,
    Ask,
    Broken,
    Channel,
    Choose,
    Draw,
    Ended,
    Learned,
    Message,
    NoValues,
    Ready,
    Said,
    Spends,
    Values,
    encoded,
)
from hardness.learners.isolated.proc import die_with_parent
from hardness.learners.learner import Failed, Hypothesis, Outcome
from hardness.learners.plugins.views import checked
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
from instances.coded import CodedExamples, require_coded
from instances.errors import ToolkitError, UsageError
from instances.family import Examples, Family
from instances.spec import parse_stored

_LIBRARIES = ("sklearn", "torch", "jax", "tensorflow", "xgboost", "lightgbm")


class Unsupported(UsageError):
    """The learner asked for what the oracle of this run does not give."""


def main(descriptor: int, limits: dict[str, list[int]]) -> None:
    """Converse with the parent until it has enough; never returns."""
    die_with_parent()  # a parent that is gone already is seen at the first message
    for name, (soft, hard) in limits.items():
        number = getattr(resource, name)
        most = resource.getrlimit(number)[1]
        hard = hard if most == resource.RLIM_INFINITY else min(hard, most)
        resource.setrlimit(number, (min(soft, hard), hard))
    channel = Channel(socket.socket(fileno=descriptor))
    try:
        channel.say(converse(channel))
        channel.told()  # the parent ends this process
    except Broken:
        os._exit(LOST)
    os._exit(0)


def converse(channel: Channel) -> Said:
    """Load, learn and predict; returns the last words, which say why there are no more."""
    job, arrays = channel.told()
    rng = np.random.Generator(np.random.Philox(key=np.array(job["rng"], np.uint64)))
    np.random.seed(job["rng"][0] % 2**32)
    random.seed(job["rng"][1])
    stage = "load"
    try:
        from hardness.learners.plugins import load

        # The parent's word alone is unpickled: a family of the user, who wrote this learner too.
        own = job["spec"] is None
        family = pickle.loads(arrays["family"].tobytes()) if own else parse_stored(job["spec"])
        learner = load(job["learner"])
        channel.say(
            Ready(
                name=str(learner.name)[:200],
                about=str(learner.about)[:500],
                access=learner.access,
                revision=int(learner.revision),
            )
        )
        channel.told()
        stage = "learn"
        tau = None if job["tau"] is None else Fraction(job["tau"])
        oracle = ProxyOracle(channel, family, tau, Budget(**job["budget"]))
        reason = learner.supports(family)
        if reason:
            return _ended("UNSUPPORTED", reason)
        with np.errstate(over="ignore", invalid="ignore"):
            found = learner.learn(oracle, rng)
        _say_learned(channel, found)
        stage = "predict"
        while True:
            x = channel.told()[1]["x"]
            y = checked(found.predict(x.copy()), x.shape)
            channel.say(Values(shape=y.shape), y.astype(np.float64))
    except Broken:
        raise
    except Spent as spent:
        return Spends(resource=spent.resource)
    except Unsupported as error:
        return _ended("UNSUPPORTED", error)
    except Failed as failed:  # an adapter found something wrong with what the learner gave
        return _ended("INVALID", failed.details.get("reason", failed))
    except BaseException as error:
        if stage == "load" and isinstance(error, ToolkitError):
            return _ended("NOT_LOADED", error)
        return _raised(stage, error, job["file"])


def _say_learned(channel: Channel, found: Hypothesis) -> None:
    """Send the hypothesis but for its predictions; raises Failed for one that is not valid."""
    given = found.details if isinstance(found.details, dict) else {}
    loaded = [name for name in _LIBRARIES if name in sys.modules]  # a result may depend on them
    versions = {n: str(getattr(sys.modules[n], "__version__", "unknown"))[:40] for n in loaded}
    details = encoded(given | {"libraries": versions} if versions else given)
    try:
        secret = None if found.secret is None else [int(j) for j in found.secret]
        outcome: Any = None if found.outcome is None else found.outcome.name
        said = Learned(secret=secret, outcome=outcome, details=details)
        msgspec.convert(msgspec.to_builtins(said), Learned)  # refuses what the parent would
        if not callable(found.predict):
            raise TypeError(f"predict is a {type(found.predict).__name__}")
    except (TypeError, ValueError, AttributeError, msgspec.MsgspecError) as error:
        raise Failed(Outcome.INVALID, {"reason": f"learn gave no hypothesis: {error}"}) from error
    channel.say(said)


def _ended(why: Any, reason: object) -> Ended:
    return Ended(why=why, told={"reason": str(reason)[:2000]})


def _raised(stage: str, error: BaseException, file: str | None) -> Ended:
    """Say what was raised, where in the user's code, and what it says."""
    if isinstance(error, SystemExit):
        code = error.code if isinstance(error.code, int) else int(error.code is not None)
        return Ended(why="EXITED", told={"exit_code": code % 256, "stage": stage})
    frames = traceback.extract_tb(error.__traceback__)
    with contextlib.suppress(Exception):  # the end of what is printed is kept
        traceback.print_exception(error.with_traceback(_from(file, error.__traceback__)))
    said = ""
    with contextlib.suppress(Exception):
        said = " ".join(" ".join([str(error), *getattr(error, "__notes__", ())]).split())[:500]
    told: dict[Any, str | int] = {"stage": stage, "type": type(error).__name__[:200]}
    told["message"] = said
    for where in ([f for f in frames if f.filename == file] or frames)[-1:]:
        told |= {"line": where.lineno or 0, "file": Path(where.filename).name[:200]}
    why: Any = "MEMORY_SPENT" if isinstance(error, MemoryError) else "RAISED"
    return Ended(why=why, told=told)


def _from(file: str | None, trace: TracebackType | None) -> TracebackType | None:
    """Leave out what stands before the first line of the user's file, if there is one."""
    start = trace
    while start is not None and start.tb_frame.f_code.co_filename != file:
        start = start.tb_next
    return start or trace


class ProxyOracle:
    """Examples by `draw`, answers by `ask`, labels by `value`; raises Spent, UsageError.

    Every use goes to the parent, which counts.
    """

    def __init__(
        self, channel: Channel, family: Family, tau: Fraction | None, budget: Budget
    ) -> None:
        """Talk to the parent over a channel."""
        self.family, self.tau, self.meter = family, tau, Meter(budget)
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
                said = f"{type(error).__name__}: {error}"
                self._channel.say(NoValues(reason=said[:2000]))
                self._reply("refused")
                raise
            self._channel.say(Values(shape=table.shape), table)

    def value(self, x: Any) -> Array:
        """Return the labels of tokens x (n, k, d): all of them, or none where they do not fit."""
        asked = self.family.questions or self.family.refuse("questions")
        tokens = asked.checked(x, self.family).astype(np.float64)
        self.meter.require_values(len(tokens))
        labels, each = np.empty(tokens.shape), max(1, SENT // (8 * tokens[:1].size or 1))
        for start in range(0, len(tokens), each):
            part = np.ascontiguousarray(tokens[start : start + each])
            self._channel.say(Choose(shape=part.shape), part)
            labels[start : start + each] = self._reply("labelled")[1]["y"]
        return labels

    def _reply(self, *wanted: str) -> tuple[Message, dict[str, Array]]:
        reply, arrays = self._channel.told()
        if "examples" in reply:
            self.meter.examples, self.meter.queries = reply["examples"], reply["queries"]
            self.meter.values = reply["values"]
        op = reply.get("op")
        if op == "spent":
            raise Spent(reply["resource"])
        if op == "unsupported":
            raise Unsupported(reply["reason"])
        if op == "refused" and "refused" not in wanted:
            raise UsageError(reply["reason"])
        if op not in wanted:
            raise Broken(f"{op} where {wanted} was wanted")
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
