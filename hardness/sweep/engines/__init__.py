"""Engines: jobs on executors of `concurrent.futures`, here or on a cluster.

driver --attempt(payloads)--> thread of an executor, here or of a dask worker
                               owns a slot --lines of JSON--> its child process, which does the jobs

The owner of a child holds its limits, counts its attempts and ends it: deaths, hangs and memory
have the same outcomes on every engine. A child ends when its owner is gone.
"""

from typing import TYPE_CHECKING

from instances.lazy import lazily

if TYPE_CHECKING:
    from hardness.sweep.engines.attempt import abort, attempt
    from hardness.sweep.engines.choose import engine_of, exposed
    from hardness.sweep.engines.cluster import dask
    from hardness.sweep.engines.engine import Batch, Engine
    from hardness.sweep.engines.finished import Aborted, Failure, Finished, Limits
    from hardness.sweep.engines.local import local
    from hardness.sweep.engines.slot import Slot

__all__ = [
    "Aborted",
    "Batch",
    "Engine",
    "Failure",
    "Finished",
    "Limits",
    "Slot",
    "abort",
    "attempt",
    "dask",
    "engine_of",
    "exposed",
    "local",
]

lazily(__name__)
