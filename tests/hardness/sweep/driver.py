"""A driver with an engine of two slots, to be killed: `driver.py ENGINE PAYLOAD...`."""

import signal
import sys
import time

from hardness.sweep.cluster import engine_of
from hardness.sweep.pool import local
from tests.hardness.sweep.misbehaving import answer


def main(name, *payloads):
    with local(2, answer) if name == "local" else engine_of(name, 2) as engine:
        tasks = [engine.submit([one]) for one in payloads]
        while not all(task.done() for task in tasks):
            time.sleep(0.05)


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored below a shell's `&`
    main(*sys.argv[1:])
