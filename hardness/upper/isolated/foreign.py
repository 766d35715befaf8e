"""A learner of others as a learner of ours: it runs in a process of its own, and we serve it."""

import os
import time
from dataclasses import asdict, dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from hardness.oracles.budget import Budget, Meter
from hardness.upper.isolated.process import End, Process, printed
from hardness.upper.isolated.serve import serve
from hardness.upper.learner import SPENT, Access, Failed, Hypothesis, Outcome, nothing
from instances.errors import ToolkitError, UsageError
from instances.family import Family, Secret
from instances.spec import FAMILIES

_WINDOW = 1 << 25  # bytes
_LOADING, _GRACE, _JUDGING = 120.0, 2.0, 60.0  # seconds: to import; beyond the budget; to predict
CONFINE = True  # to the learner's own folder, where the system can; not in tests of what else holds
_OWN = frozenset(  # what a learner may say of itself: all else follows from what it did
    {
        *SPENT.values(),
        Outcome.NOISY,
        Outcome.TOLERANCE,
        Outcome.INCONSISTENT,
        Outcome.NOT_FOUND,
        Outcome.DEGENERATE,
        Outcome.DIVERGED,
    }
)

Message = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Foreign:
    """The learner that a user names: `spec` as given, `text` what the child is to load.

    file: where it stands, None for an installed one. package: what it was installed with.
    """

    access: ClassVar[Access] = "either"
    about: ClassVar[str] = "a learner of one's own, in a process of its own"
    revision: ClassVar[int] = 1

    spec: str
    text: str
    file: Path | None = None
    package: str | None = None

    @property
    def name(self) -> str:
        """What it is called in messages: as given."""
        return self.spec

    def supports(self, family: Family) -> str | None:
        """Every family that a spec names; what the learner itself says, it says when it runs."""
        if self.file is not None and not self.file.is_file():
            raise UsageError(f"{self.spec} given: there is no file {self.file}")
        if not hasattr(os, "fork"):
            return "it runs in a process that is forked: on Linux or macOS"
        if family.name not in FAMILIES:
            return "a family from a file has no spec that the learner's process could read"
        return None

    def learn(self, oracle: Any, rng: np.random.Generator) -> Hypothesis:
        """Start the process, serve it until it has learned, and keep it for predictions."""
        family: Family = oracle.family
        window, hidden = max(_WINDOW, 64 * 16 * family.k * family.d), _private(oracle)
        process = Process(oracle.meter.budget, window, CONFINE, hidden)
        try:
            return self._converse(process, oracle, rng)
        except Failed as failed:
            oracle.meter.peak_bytes = process.close().peak_bytes
            return nothing(family, failed.outcome, **(failed.details | process.told))
        except BaseException:
            process.close()
            raise

    def describe(self) -> Message:
        """Load the learner in a process and return what it says of itself; raises Failed.

        name, about, access, revision; sha256 of its file; confined: whether it was.
        """
        process = Process(Budget(), _WINDOW, CONFINE)
        try:
            return self._loaded(process, "parity:d=8,m=1", None, Budget(), (0, 0), False)
        finally:
            process.close()

    def _loaded(
        self,
        process: Process,
        spec: str,
        tau: Fraction | None,
        budget: Budget,
        rng: tuple[int, int],
        closed: bool,
    ) -> Message:
        """Tell the process its job, and wait until it has loaded the learner."""
        job = {
            "learner": self.text,
            "file": None if self.file is None else str(self.file.absolute()),
            "spec": spec,
            "tau": None if tau is None else str(tau),
            "budget": asdict(budget),
            "rng": rng,
            "closed": closed,  # there are folders that must be
        }
        until = time.monotonic() + _LOADING
        process.send(job, until)
        ready = process.receive(until)
        if ready.get("op") != "ready":
            raise _failed(process, ready)
        process.know()
        process.told |= {n: ready[n] for n in ("sha256", "confined") if ready.get(n)}
        process.told |= {"package": self.package} if self.package else {}
        return {name: value for name, value in ready.items() if name != "op"}

    def _converse(self, process: Process, oracle: Any, rng: np.random.Generator) -> Hypothesis:
        family, meter = oracle.family, oracle.meter
        started = time.monotonic()
        coins = int(rng.integers(2**63)), int(rng.integers(2**63))
        tau, closed = getattr(oracle, "tau", None), bool(_private(oracle))
        self._loaded(process, family.spec, tau, meter.budget, coins, closed)
        process.send({"op": "learn"})
        meter.restart()
        last = serve(process, oracle, _deadline(meter))
        if last.get("op") != "learned":
            raise _failed(process, last)
        meter.peak_bytes, cpu = process.now()
        secret, outcome = _claimed(last, family), last.get("outcome")
        own = {"startup_seconds": time.monotonic() - started - meter.seconds, "cpu_seconds": cpu}
        told = dict(process.told)
        if isinstance(last.get("libraries"), dict) and last["libraries"]:
            told["libraries"] = last["libraries"]
        predict = _Predictor(process, max(_JUDGING, meter.budget.seconds or 0.0))
        return Hypothesis(
            predict=predict,
            secret=secret,
            outcome=Outcome[outcome] if outcome in {o.name for o in _OWN} else None,
            details={**_texts(last.get("details")), **told, **own},
            close=lambda: _last(process.close()) | {"predict_seconds": predict.spent},
        )


class _Predictor:
    """Predictions by the learner's process: (n, k, d) -> (n, k, d); raises Failed.

    spent: the seconds that they took.
    """

    def __init__(self, process: Process, seconds: float) -> None:
        self._process, self._seconds, self.spent = process, seconds, 0.0

    def __call__(self, x: NDArray[Any]) -> NDArray[np.float64]:
        """Hand tokens over, a part at a time, and take the predictions."""
        window = self._process.window
        out = np.empty(x.shape)
        each = max(1, (window.size - 4096) // (x[:1].size * max(8, x.itemsize) or 1))
        for start in range(0, len(x), each):
            part = x[start : start + each]
            asked = time.monotonic()
            until = asked + self._seconds - self.spent
            self._process.send({"op": "predict", "arrays": window.put({"x": part})}, until)
            reply = self._process.receive(until)
            self.spent += time.monotonic() - asked
            if reply.get("op") != "predicted":
                raise _failed(self._process, reply)
            y = self._process.take(reply.get("arrays")).get("y")
            if y is None or y.shape != part.shape or y.dtype != np.float64:
                raise self._process.failure(Outcome.BROKE_OFF)
            wrong = int((~np.isfinite(y)).sum())
            if wrong:
                self._process.close()
                raise Failed(Outcome.INVALID, {"reason": f"{wrong} of {y.size} not finite"})
            out[start : start + each] = y
        return out


def _private(oracle: Any) -> tuple[Path, ...]:
    """Name the folders that hold the secret."""
    found: tuple[Path, ...] = getattr(oracle, "private", ())
    return found


def _deadline(meter: Meter) -> float | None:
    seconds = meter.budget.seconds
    return None if seconds is None else time.monotonic() + seconds + _GRACE


def _failed(process: Process, message: Message) -> Failed:
    """Turn the last words of a learner's process into what happened."""
    told = printed(process.close())
    reason = {"reason": str(message.get("reason"))[:2000]} if "reason" in message else {}
    op = message.get("op")
    if op == "exposed":
        raise ToolkitError(
            "the folder holds secret.json, which this system cannot keep from a learner of others: "
            "run it on the SPEC, or move secret.json elsewhere"
        )
    if op == "spent" and message.get("resource") in SPENT:
        return Failed(SPENT[message["resource"]], told)
    if op == "raised":
        kept = {k: message.get(k) for k in ("stage", "type", "message", "line", "file")}
        outcome = Outcome.MEMORY_SPENT if message.get("memory") else Outcome.RAISED
        if kept["type"] == "PermissionError" and process.told.get("confined"):
            kept["reason"] = "it may write in its working folder alone, which is removed at the end"
        return Failed(outcome, {k: v for k, v in kept.items() if v is not None} | told)
    if op == "exited":
        return Failed(Outcome.EXITED, {"exit_code": message.get("code")} | told)
    named = {
        "not loaded": Outcome.NOT_LOADED,
        "unsupported": Outcome.UNSUPPORTED,
        "invalid": Outcome.INVALID,
    }
    return Failed(named.get(str(op), Outcome.BROKE_OFF), reason | told)


def _claimed(message: Message, family: Family) -> Secret | None:
    """Read a claimed secret; None for what could be none of the family."""
    given = message.get("secret")
    if not isinstance(given, list):
        return None
    if any(type(j) is not int or abs(j) >= 2**63 for j in given):
        return None
    claimed = tuple(given)
    try:
        family.same(claimed, family.draw(np.random.default_rng(0)))
    except (ToolkitError, ValueError, IndexError, TypeError, ArithmeticError):
        return None
    return claimed


def _texts(details: Any) -> dict[str, Any]:
    return {str(k): v for k, v in details.items()} if isinstance(details, dict) else {}


def _last(ended: End) -> dict[str, Any]:
    """What is known of a process when it has ended: of the judging too."""
    if ended.reason == "gone":
        return {}
    left = {"processes_left": ended.left} if ended.left else {}
    return {"cpu_seconds": ended.cpu_seconds} | left | printed(ended)
