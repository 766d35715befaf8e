"""What every engine submits: jobs done in the slot of the thread that it runs in."""

import weakref
from threading import local
from typing import Any

from hardness.sweep.engines.finished import Aborted, Limits
from hardness.sweep.engines.slot import Slot

_here = local()
_slots: weakref.WeakSet[Slot] = weakref.WeakSet()  # of all threads of this process
_aborts = [0]


def attempt(payloads: list[str], limits: dict[str, Any]) -> list[dict[str, Any]]:
    """Do the jobs of payloads within limits, each a `Finished` as JSON; raises Aborted.

    payloads: {"kind": ..., **job.to_json()} as texts. limits: the fields of Limits.

    >>> attempt(['{"kind": "none"}'], {"retries": 0})[0]["attempts"]
    1
    """
    if not hasattr(_here, "slot"):
        _here.slot = Slot()
        _slots.add(_here.slot)
    held, before, done = Limits(**limits), _aborts[0], []
    for payload in payloads:
        if _aborts[0] != before:
            raise Aborted("the engine was told to stop")
        done.append(_here.slot.do(payload, held).to_json())
    return done


def abort() -> None:
    """End what the slots of this process do, from any thread: their attempts raise Aborted."""
    _aborts[0] += 1
    for slot in list(_slots):
        slot.abort()
