"""The parent's part of a conversation: what a learner asks for, drawn, counted and handed over."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardness.oracles.budget import Spent
from hardness.upper.isolated.process import Process
from hardness.upper.isolated.remote import remote
from hardness.upper.isolated.wire import Broken
from hardness.upper.learner import Outcome
from instances.errors import ToolkitError

Message = dict[str, Any]


def serve(process: Process, oracle: Any, until: float | None) -> Message:
    """Answer draws and queries until a message of another kind comes, and return that.

    until: the time of time.monotonic at which the process is ended. Raises Failed.
    """
    while True:
        message = process.receive(until)
        op = message.get("op")
        if op not in ("draw", "ask"):
            return message
        try:
            reply = (_draw if op == "draw" else _ask)(process, oracle, message, until)
        except Spent as spent:
            reply = {"op": "spent", "resource": spent.resource}
        except ToolkitError as error:
            reply = {"op": "refused", "reason": str(error)[:2000]}
        except Broken as error:
            raise process.failure(Outcome.BROKE_OFF) from error
        meter = oracle.meter
        counts = {"examples": meter.examples, "queries": meter.queries}
        process.send({**reply, **counts}, until)


def _draw(process: Process, oracle: Any, message: Message, until: float | None) -> Message:
    """Draw as many examples as the window holds, at most as many as were asked for."""
    if not hasattr(oracle, "draw"):
        return {"op": "unsupported", "reason": "examples were asked for: this oracle has queries"}
    count = message.get("count")
    if type(count) is not int or count < 0:
        raise Broken("a count of examples that is none")
    fitting = max(1, (process.window.size - 4096) // oracle.family.bytes_per_example)
    asked = min(count, fitting)
    found = oracle.draw(asked)
    places = process.window.put(found.tensors)
    return {"op": "drawn", "count": len(found), "short": len(found) < asked, "arrays": places}


def _ask(process: Process, oracle: Any, message: Message, until: float | None) -> Message:
    """Have the oracle answer a query, which the learner's process evaluates where it must."""
    if not hasattr(oracle, "ask"):
        return {"op": "unsupported", "reason": "a query was asked: this oracle has examples"}

    def evaluate(arrays: dict[str, NDArray[Any]], more: Message) -> NDArray[Any]:
        process.send({"op": "evaluate", "arrays": process.window.put(arrays), **more}, until)
        reply = process.receive(until)
        if reply.get("op") == "failed":  # in its own code: it goes on from there
            raise ToolkitError(f"a query could not be evaluated: {str(reply.get('reason'))[:500]}")
        return _only(process.take(reply.get("arrays")))

    query = remote(str(message.get("kind")), message.get("data"), oracle.family, evaluate)
    return {"op": "answer", "value": float(oracle.ask(query))}


def _only(arrays: dict[str, NDArray[Any]]) -> NDArray[np.float64]:
    if len(arrays) != 1:
        raise Broken(f"{len(arrays)} arrays where one is wanted")
    return next(iter(arrays.values()))
