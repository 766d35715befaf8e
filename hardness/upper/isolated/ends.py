"""How a contained learner can end: all ways, in one list, with what the details say.

Its own last words stand first, as they came before anything else ended it; then what was seen from
outside, whatever it wrote; at last that nothing came in time, or that it broke off.
"""

import re
import signal
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hardness.upper.isolated.messages import LOST, Ended, Message, Reply, Spends, printable
from hardness.upper.learner import SPENT, Failed, Outcome

_CLOSED = ("PermissionError", "OSError")  # what it raises at what is closed to it
_XCPU = -int(getattr(signal, "SIGXCPU", 0))


@dataclass(frozen=True, kw_only=True)
class Seen:
    """What is known of a learner that gives no answer any more.

    words: its last, where they say so. unwatched: why it could not be watched. limit: the one that
    it passed. code: of its exit, or minus its signal. vanished: with its first process, which
    reports that. late: nothing came in time. cpu: whether seconds of a processor are limited.
    level: of containment.
    """

    words: Reply | None = None
    unwatched: str = ""
    limit: Outcome | None = None
    code: int | None = None
    vanished: bool = False
    late: bool = False
    cpu: bool = False
    level: str = "off"


def ending(seen: Seen) -> Failed:
    """Say how it ended.

    >>> ending(Seen(code=3)).outcome.value, ending(Seen(code=-11, late=True)).details
    ('exited', {'signal': 'SIGSEGV'})
    """
    outcome, details = _ending(seen)
    return Failed(outcome, details)


def _ending(seen: Seen) -> tuple[Outcome, Message]:
    match seen:
        case Seen(words=Spends(resource=resource)):
            return SPENT[resource], {}
        case Seen(words=Ended(why=why, told=told)):  # not loaded, unsupported, invalid, raised,
            return Outcome[why], _shown(told, seen.level)  # out of memory, or an exit of Python's
        case Seen(unwatched=str(reason)) if reason:
            return Outcome.REFUSED, {"reason": f"it could not be watched: {printable(reason)}"}
        case Seen(limit=Outcome() as limit):  # of processor time, memory or processes
            return limit, {}
        case Seen(vanished=True):
            return Outcome.CRASHED, {"signal": "its first process was killed"}
        case Seen(code=int(code)) if code >= 0 and code != LOST:
            return Outcome.EXITED, {"exit_code": code}
        case Seen(code=int(code), cpu=True) if code == _XCPU:
            return Outcome.CPU_SPENT, {}
        case Seen(code=int(code)) if code < 0:
            named = {s.value: s.name for s in signal.Signals}
            return Outcome.CRASHED, {"signal": named.get(-code, f"signal {-code}")}
        case Seen(late=True):
            return Outcome.SECONDS_SPENT, {"ended": "from outside: it went on beyond its time"}
    return Outcome.BROKE_OFF, {}


def _shown(told: Mapping[Any, str | int], level: str) -> Message:
    """Make what a learner said of its end fit to be shown."""
    shown: Message = {
        str(n): printable(v, 2000) if isinstance(v, str) else v for n, v in told.items()
    }
    if told.get("type") in _CLOSED and level != "off":
        shown["reason"] = f"see what {level} closes to learners (your-learner.md)"
    return shown


def code_of(status: bytes) -> int | None:
    """Read a wait status as it is reported; None for none, or what a learner wrote there itself.

    >>> code_of(b"768\\n"), code_of(b"11\\n"), code_of(b"99999999")
    (3, -11, None)
    """
    found = re.match(rb"(\d{1,5})\n", status)
    return (int(found[1]) >> 8 or -(int(found[1]) & 127)) if found else None
