"""A driver with an engine of two slots, to be killed: `driver.py ENGINE PAYLOAD...`."""

import importlib
import signal
import sys
import time
from functools import partial

from hardness.sweep.engines import Limits, Slot, engine_of
from tests.hardness.sweep.engines.seen import COMMAND


def main(name, *payloads):
    if any('"bad"' in one for one in payloads):
        module = importlib.import_module("hardness.sweep.engines.attempt")
        module.Slot = partial(Slot, COMMAND)
    with engine_of(name, 2) as engine:
        tasks = [engine.submit([one], Limits()) for one in payloads]
        while not all(task.done() for task in tasks):
            time.sleep(0.05)


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored below a shell's `&`
    main(*sys.argv[1:])
