"""How a learner in a process of its own can end: all ways, with what the details say.

Its last words stand first, as they came before anything else ended it; then how its process ended;
at last that nothing came in time, or that it broke off.
"""

import signal
from collections.abc import Mapping
from typing import Any

from hardness.learners.isolated.messages import LOST, Ended, Message, Reply, Spends, printable
from hardness.learners.learner import SPENT, Failed, Outcome

_ABSENT = ("FileNotFoundError", "PermissionError", "OSError")  # what a sandbox makes it raise


def ending(
    words: Reply | None = None,
    *,
    code: int | None = None,
    late: bool = False,
    cpu: bool = False,
    sandbox: bool = False,
) -> Failed:
    """Say how it ended.

    words: its last, if they say so. code: of its exit, or minus its signal. late: nothing came in
    time. cpu: whether its processor time is limited. sandbox: whether it ran in one.

    >>> ending(code=3).outcome.value, ending(code=-11, late=True).details
    ('crashed', {'signal': 'SIGSEGV', 'reason': 'SIGSEGV ended its process'})
    """
    if isinstance(words, Spends):
        return Failed(SPENT[words.resource], {})
    if isinstance(words, Ended):  # not loaded, unsupported, invalid, raised, out of memory, exited
        return _said(words, _shown(words.told, sandbox))
    if code is not None and code >= 0 and code != LOST:
        return Failed(
            Outcome.CRASHED,
            {"exit_code": code, "reason": f"it ended its process with exit code {code}"},
        )
    if code is not None and code < 0:
        name = next((s.name for s in signal.Signals if s.value == -code), f"signal {-code}")
        if cpu and name == "SIGXCPU":
            return Failed(
                Outcome.SECONDS_SPENT, {"reason": "its processor time is spent: --budget-cpu"}
            )
        return Failed(Outcome.CRASHED, {"signal": name, "reason": f"{name} ended its process"})
    if late:
        details = {"ended": "from outside: it went on beyond its time"}
        return Failed(Outcome.SECONDS_SPENT, details)
    return Failed(Outcome.CRASHED, {"reason": "it closed its connection, or wrote into it"})


def _shown(details: Mapping[Any, str | int], sandbox: bool) -> Message:
    """Make what a learner said of its end fit to be shown."""
    shown: Message = {
        str(n): printable(v, 2000) if isinstance(v, str) else v for n, v in details.items()
    }
    if sandbox and details.get("type") in _ABSENT:
        shown["reason"] = "see what the sandbox closes to learners (your-learner.md)"
    return shown


def _said(words: Ended, told: Message) -> Failed:
    """Name the outcome of what it said last."""
    if words.why in ("NOT_LOADED", "UNSUPPORTED"):
        stage = "load" if words.why == "NOT_LOADED" else "supports"
        return Failed(Outcome.COULD_NOT_RUN, told | {"stage": stage})
    if words.why == "EXITED":
        code = told["exit_code"]
        return Failed(
            Outcome.CRASHED, {"reason": f"it ended its process with exit code {code}"} | told
        )
    if words.why == "RAISED":
        where = f", line {told['line']} of {told['file']}" if "line" in told else ""
        reason = f"{told.get('type')} in {told.get('stage')}{where}: {told.get('message')}"
        return Failed(Outcome.CRASHED, {"reason": reason} | told)
    return Failed(Outcome[words.why], told)
