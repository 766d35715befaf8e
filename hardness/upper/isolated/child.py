"""The learner's process: load it, let it learn from the parent's oracle, answer predictions."""

import contextlib
import math
import os
import random
import socket
import sys
import traceback
from fractions import Fraction
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np

from hardness.oracles.budget import Budget, Spent
from hardness.upper.isolated.proxy import ProxyOracle, Unsupported
from hardness.upper.isolated.wire import Broken, Channel, Window
from hardness.upper.learner import Failed, Hypothesis, Outcome
from instances.errors import ToolkitError
from instances.spec import parse_stored

Message = dict[str, Any]
LOST = 77  # see process.py
_MOST_SECRET = 1 << 15
_DETAILS = 1 << 16  # characters
_DEEP = 6
_LIBRARIES = ("sklearn", "torch", "jax", "tensorflow", "xgboost", "lightgbm")


def main(data: int, descriptor: int, size: int, confined: int) -> None:
    """Converse with the parent until it has enough; never returns."""
    channel, window = Channel(socket.socket(fileno=data)), Window(descriptor, size)
    try:
        last = converse(channel, window, bool(confined))
        channel.send(last)
        channel.receive()  # the parent ends this process
    except Broken:
        os._exit(LOST)
    os._exit(0)


def converse(channel: Channel, window: Window, confined: bool) -> Message:
    """Load, learn and predict; returns the last message, which says why there are no more."""
    job = channel.receive()
    if job["closed"] and not confined:
        return {"op": "exposed"}
    family = parse_stored(job["spec"])
    rng = np.random.Generator(np.random.Philox(key=np.array(job["rng"], np.uint64)))
    np.random.seed(job["rng"][0] % 2**32)
    random.seed(job["rng"][1])
    try:
        from hardness.upper.plugins import load

        learner = load(job["learner"])
    except ToolkitError as error:
        return {"op": "not loaded", "reason": str(error)[:2000]}
    except BaseException as error:
        return _raised("load", error, job["file"])
    channel.send(_described(learner, confined))
    channel.receive()
    tau = None if job["tau"] is None else Fraction(job["tau"])
    oracle = ProxyOracle(channel, window, family, tau, Budget(**job["budget"]))
    try:
        reason = learner.supports(family)
        if reason:
            return {"op": "unsupported", "reason": str(reason)[:2000]}
        with np.errstate(over="ignore", invalid="ignore"):
            found = learner.learn(oracle, rng)
        return _predict(channel, window, found, job["file"])
    except Broken:
        raise
    except Spent as spent:
        return {"op": "spent", "resource": spent.resource}
    except Unsupported as error:
        return {"op": "unsupported", "reason": str(error)}
    except Failed as failed:
        return _invalid(failed)
    except BaseException as error:
        return _raised("learn", error, job["file"])


def _described(learner: Any, confined: bool) -> Message:
    return {
        "op": "ready",
        "name": str(learner.name)[:200],
        "about": str(learner.about)[:500],
        "access": str(learner.access)[:20],
        "revision": int(learner.revision),
        "sha256": getattr(learner, "digest", None),
        "confined": confined,
    }


def _predict(channel: Channel, window: Window, found: Any, file: str | None) -> Message:
    """Send the hypothesis, and answer predictions from then on."""
    if not isinstance(found, Hypothesis) or not callable(found.predict):
        return {"op": "invalid", "reason": f"learn gave a {type(found).__name__}: {_WANTED}"}
    secret = None
    if found.secret is not None:
        try:
            secret = [int(j) for j in found.secret][: _MOST_SECRET + 1]
        except (TypeError, ValueError):
            return {"op": "invalid", "reason": f"a secret of type {type(found.secret).__name__}"}
        if len(secret) > _MOST_SECRET or any(abs(j) >= 2**63 for j in secret):
            return {"op": "invalid", "reason": "a secret of too many or too large numbers"}
    if not isinstance(found.outcome, Outcome | None):
        return {"op": "invalid", "reason": f"an outcome of type {type(found.outcome).__name__}"}
    outcome = found.outcome.name if found.outcome else None
    channel.send(
        {
            "op": "learned",
            "secret": secret,
            "outcome": outcome,
            "details": plain(found.details),
            "libraries": _libraries(),
        }
    )
    while True:
        x = window.take(channel.receive()["arrays"])["x"]
        try:
            given: Any = found.predict(x.copy())
            if not hasattr(given, "__len__"):
                return {"op": "invalid", "reason": f"predict gave a {type(given).__name__}"}
            y = np.asarray(given)
        except Failed as failed:
            return _invalid(failed)
        except BaseException as error:
            return _raised("predict", error, file)
        if y.shape != x.shape or y.dtype.kind not in "iuf":
            said = f"predict gave {y.dtype} of shape {y.shape}: numbers of shape {x.shape} wanted"
            return {"op": "invalid", "reason": said[:500]}
        channel.send({"op": "predicted", "arrays": window.put({"y": y.astype(np.float64)})})


_WANTED = "a Hypothesis, or a function predict(x), is needed"


def _libraries() -> dict[str, str]:
    """Return the versions of what a learner's result may depend on, of those that are loaded."""
    return {
        name: str(getattr(sys.modules[name], "__version__", "unknown"))[:40]
        for name in _LIBRARIES
        if name in sys.modules
    }


def plain(details: Any) -> dict[str, Any]:
    """Make JSON of details: numbers that are not finite become None, what is long is dropped.

    >>> plain({"steps": np.int64(3), "loss": float("nan"), "of": (1, 2)})
    {'steps': 3, 'loss': None, 'of': [1, 2]}
    """
    left = [_DETAILS]
    found = _plain(details, left, _DEEP) if isinstance(details, dict) else {}
    return found if left[0] > 0 else {"dropped": f"details of over {_DETAILS} characters"}


def _plain(value: Any, left: list[int], deep: int) -> Any:
    left[0] -= 8
    if left[0] <= 0 or deep < 0:
        return None
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist() if value.size <= _DETAILS else str(value.shape)
    if isinstance(value, dict):
        return {_plain(str(k), left, deep): _plain(v, left, deep - 1) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part, left, deep - 1) for part in value]
    if isinstance(value, bool | None):
        return value
    if isinstance(value, int):
        return value if abs(value) < 2**63 else f"an integer of {value.bit_length()} bits"
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    text = str(value)[:1000]
    left[0] -= len(text)
    return text


def _invalid(failed: Failed) -> Message:
    """Say what an adapter found wrong with what the learner gave."""
    return {"op": "invalid", "reason": str(failed.details.get("reason", failed))[:500]}


def _raised(stage: str, error: BaseException, file: str | None) -> Message:
    """Say what was raised, where in the user's code, and what it says."""
    if isinstance(error, SystemExit):
        code = error.code if isinstance(error.code, int) else int(error.code is not None)
        return {"op": "exited", "code": code, "stage": stage}
    frames = traceback.extract_tb(error.__traceback__)
    with contextlib.suppress(Exception):  # the end of what is printed is kept
        traceback.print_exception(error.with_traceback(_from(file, error.__traceback__)))
    said = ""
    with contextlib.suppress(Exception):
        said = " ".join(str(error).split())[:500]
    own = [f for f in frames if f.filename == file] or frames
    where = own[-1] if own else None
    return {
        "op": "raised",
        "stage": stage,
        "type": type(error).__name__,
        "message": said,
        "memory": isinstance(error, MemoryError),
        "line": where.lineno if where else None,
        "file": Path(where.filename).name if where else None,
    }


def _from(file: str | None, trace: TracebackType | None) -> TracebackType | None:
    """Leave out what stands before the first line of the user's file, if there is one."""
    start = trace
    while start is not None and start.tb_frame.f_code.co_filename != file:
        start = start.tb_next
    return start or trace


if __name__ == "__main__":
    main(*map(int, sys.argv[1:5]))
