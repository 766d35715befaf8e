"""The oracle that a learner sees in its own process: every use goes to the parent, who counts."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardness.oracles.budget import Budget, Meter, Spent
from hardness.oracles.query import Character, Correlational, Factor, Pool, StatisticalQuery
from hardness.upper.isolated.wire import Broken, Channel, Window
from instances import tokens
from instances.coded import CodedExamples, require_coded
from instances.errors import ToolkitError, UsageError
from instances.family import Examples, Family

Message = dict[str, Any]
Array = NDArray[Any]


class Unsupported(UsageError):
    """The learner asked for what the oracle of this run does not give."""


class ProxyOracle:
    """Examples by `draw`, answers by `ask`; raises Spent where the budget is, UsageError."""

    def __init__(
        self,
        channel: Channel,
        window: Window,
        family: Family,
        tau: Fraction | None,
        budget: Budget,
    ) -> None:
        """Talk to the parent over a channel and a window."""
        self.family, self.tau, self.meter = family, tau, Meter(budget)
        self._channel, self._window = channel, window

    def draw(self, count: int) -> Examples:
        """Return the next `count` examples, fewer at the end of the budget; then raises Spent."""
        if count < 0:
            raise UsageError(f"{count} examples asked for: at least 0 are allowed")
        parts: list[dict[str, Array]] = []
        counts: list[int] = []
        while True:
            self._channel.send({"op": "draw", "count": int(count) - sum(counts)})
            try:
                reply = self._reply("drawn")
            except Spent:
                if not sum(counts):
                    raise
                break
            parts.append(self._window.take(reply["arrays"]))
            counts.append(reply["count"])
            if reply["short"] or sum(counts) >= count:
                break
        joined = parts[0]
        if len(parts) > 1:
            joined = {name: np.concatenate([part[name] for part in parts]) for name in joined}
        return self.family.restore(joined, sum(counts))

    def ask(self, query: StatisticalQuery) -> float:
        """Answer one query within tau of its expectation; this process sees no label for it."""
        kind, data, evaluate = _described(query, self.family)
        self._channel.send({"op": "ask", "kind": kind, "data": data})
        while True:
            reply = self._reply("answer", "evaluate")
            if reply["op"] == "answer":
                return float(reply["value"])
            arrays = self._window.take(reply["arrays"])
            try:
                table = np.asarray(evaluate(arrays, reply), np.float64)
            except Exception as error:
                self._channel.send({"op": "failed", "reason": f"{type(error).__name__}: {error}"})
                self._reply("refused")
                raise
            self._channel.send({"op": "values", "arrays": self._window.put({"table": table})})

    def _reply(self, *wanted: str) -> Message:
        reply = self._channel.receive()
        if "examples" in reply:
            self.meter.examples, self.meter.queries = reply["examples"], reply["queries"]
        op = reply.get("op")
        if op == "spent":
            raise Spent(reply["resource"])
        if op == "unsupported":
            raise Unsupported(reply["reason"])
        if op == "refused" and "refused" not in wanted:
            raise UsageError(reply["reason"])
        if op not in wanted and op != "refused":
            raise Broken(f"{op} where {wanted} was wanted")
        return reply


Evaluate = Callable[[dict[str, Array], Message], Array]


def _described(query: StatisticalQuery, family: Family) -> tuple[str, Any, Evaluate]:
    """Return a query's kind, what the parent must know of it, and how it is evaluated here."""
    if isinstance(query, Character):
        return "character", [int(j) for j in query.subset], _never
    if isinstance(query, Pool):
        return "pool", [[int(j) for j in one] for one in query.sets], _never
    if isinstance(query, Correlational):

        def correlational(arrays: dict[str, Array], _: Message) -> Array:
            return np.asarray(query.h(_dense(arrays, family)))

        return "correlational", None, correlational
    if isinstance(query, Factor):
        query.require(family)

        def factor(arrays: dict[str, Array], message: Message) -> Array:
            z = arrays["z"]
            return np.stack(
                [query.of_factor(z, np.full(len(z), v)) for v in message["factors"]], axis=1
            )

        return "factor", None, factor
    if not hasattr(query, "values"):
        raise UsageError(f"a {type(query).__name__} given: a query of hardness.oracles is needed")
    return "levels", None, lambda arrays, _: _levels(query, family, arrays["words"])


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


def _dense(arrays: dict[str, Array], family: Family) -> Array:
    return arrays["x"] if "x" in arrays else tokens.unpack(arrays["words"], family.d)


def _never(arrays: dict[str, Array], message: Message) -> Array:
    raise ToolkitError("the parent evaluates such a query itself")
