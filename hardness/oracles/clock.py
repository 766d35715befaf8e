"""The clock of budgets, limits and progress: the whole package reads the time here.

Tests replace `now` by their own clock. Code that waits must check this clock again, because the
system's timeouts follow real time.
"""

import time


def now() -> float:
    """Return the seconds since some moment of the past.

    >>> now() <= now()
    True
    """
    return time.monotonic()
