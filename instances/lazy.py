"""Imports on first use, so that a command imports only what it needs."""

from collections import UserDict
from collections.abc import Mapping
from importlib import import_module
from typing import Any

from instances.errors import ToolkitError

EXTRAS = {  # the extra that installs a module
    "sklearn": "sklearn",
    "torch": "torch",
    "fpylll": "lattice",
    "distributed": "cluster",
    "pyarrow": "parquet",
}


class Imported(UserDict[str, Any]):
    """A mapping whose values are imported on access.

    >>> table = Imported("instances", {"parity": "sets.Parity"})
    >>> list(table), table["parity"].__name__
    (['parity'], 'Parity')
    """

    def __init__(self, package: str, places: Mapping[str, str]) -> None:
        """places: "module.Name" in the package, by key."""
        super().__init__({name: f"{package}.{place}" for name, place in places.items()})

    def __getitem__(self, name: str) -> Any:
        module, _, attribute = self.data[name].rpartition(".")
        return getattr(import_module(module), attribute)


def advice(module: str) -> str | None:
    """Say how to install a module of an extra; None for another module.

    >>> advice("torch.nn")
    "pip install 'hardness-toolkit[torch]'"
    """
    extra = EXTRAS.get(module.partition(".")[0])
    return extra and f"pip install 'hardness-toolkit[{extra}]'"


def require_extra(module: str, subject: str) -> Any:
    """Import a module of an extra; raises ToolkitError if the extra is not installed."""
    try:
        return import_module(module)
    except ImportError as error:
        root = module.partition(".")[0]
        raise ToolkitError(
            f"{subject} needs {root}, which is not installed: {advice(module)}"
        ) from error
