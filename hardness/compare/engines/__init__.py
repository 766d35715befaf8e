"""Engines: jobs on executors of `concurrent.futures`, here or on a cluster."""

from hardness.compare.engines.finished import Failure, Finished, Limits

__all__ = ["Failure", "Finished", "Limits"]
