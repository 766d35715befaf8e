"""The clock of budgets, limits and progress: whatever of the package goes by one reads it here.

HARDNESS_CLOCK=8 lets it run eight times as fast as time, in this process and in those that it
starts: a budget then sees a machine eight times as slow. Tests set it, or put a clock of their own
in the place of `now`. What waits looks at the clock again before it is late, for what the system
times for it goes by time itself.
"""

import os
import time
from functools import cache

CLOCK = "HARDNESS_CLOCK"


def now() -> float:
    """Return the seconds since some moment of the past.

    >>> now() <= now()
    True
    """
    return pace() * time.monotonic()


@cache
def pace() -> float:
    """Return how fast the clock runs: 1 is as time does. Raises UsageError."""
    from instances.arguments import real
    from instances.errors import UsageError

    found = real(CLOCK, os.environ.get(CLOCK, "1"))
    if not 1e-3 <= found <= 1e3:
        raise UsageError(f"{CLOCK}={found:g} given: it must be from 0.001 to 1000")
    return found
