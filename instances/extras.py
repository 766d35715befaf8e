"""Libraries that extras bring: imported where they are used, one line where they are not."""

import importlib
from typing import Any

from instances.errors import ToolkitError

EXTRAS = {  # by what is imported
    "sklearn": "sklearn",
    "torch": "torch",
    "fpylll": "lattice",
    "distributed": "cluster",
    "cryptography": "cluster",
    "pyarrow": "parquet",
}


def advice(module: str) -> str | None:
    """Say how to install a module that an extra brings, or None for another.

    >>> advice("torch.nn")
    "pip install 'hardness-toolkit[torch]'"
    """
    extra = EXTRAS.get(module.partition(".")[0])
    return extra and f"pip install 'hardness-toolkit[{extra}]'"


def require_extra(module: str, what: str) -> Any:
    """Import a module of an extra; raises ToolkitError where the extra is not installed."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        root = module.partition(".")[0]
        raise ToolkitError(
            f"{what} needs {root}, which is not installed: {advice(module)}"
        ) from error
