"""Records and errors of `instances` that `import hardness` offers with its functions."""

from instances.errors import (
    AlreadyExists,
    DamagedFile,
    Refuted,
    TooLarge,
    ToolkitError,
    UsageError,
)
from instances.inspect import Inspection
from instances.result import Result
from instances.samples import Samples

__all__ = [
    "AlreadyExists",
    "DamagedFile",
    "Inspection",
    "Refuted",
    "Result",
    "Samples",
    "TooLarge",
    "ToolkitError",
    "UsageError",
]
