"""How tests go by clocks: none decides a verdict, on machines as slow or as busy as you like.

- What must come to a limit never ends by itself. What must not come to one has none.
- Where it matters how long something takes, the test moves the clock itself (`ticks`, in conftest).
- A test that waits does so for an event: `wait_for`, and no sleep.
"""

import time
from collections.abc import Callable

# Seconds, short of those after which pytest ends a test that hangs.
NEVER = 800.0


def wait_for(true: Callable[[], object]) -> None:
    """Wait until something is true."""
    until = time.monotonic() + NEVER
    while not true():
        assert time.monotonic() < until, "what was waited for never happened"
        time.sleep(0.02)
