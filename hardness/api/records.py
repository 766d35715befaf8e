"""Records and errors of `instances` that the front door offers next to those of its functions."""

from instances.errors import Refuted, ToolkitError
from instances.inspect import Inspection
from instances.result import Result
from instances.samples import Samples

__all__ = ["Inspection", "Refuted", "Result", "Samples", "ToolkitError"]
