"""What is imported when it is first asked for, so that a command imports no more than it uses.

>>> from hardness.runs import run  # the function, though a module is called so too
>>> run.__module__
'hardness.runs.run'
"""

import sys
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from instances.errors import ToolkitError
from instances.withdrawn import withdrawn

EXTRAS = {  # by what is imported
    "sklearn": "sklearn",
    "torch": "torch",
    "fpylll": "lattice",
    "distributed": "cluster",
    "cryptography": "cluster",
    "pyarrow": "parquet",
}


class Imported(Mapping[str, Any]):
    """Things by name, each imported where it is asked for.

    >>> table = Imported("instances", {"parity": "sets.Parity"})
    >>> list(table), table["parity"].__name__
    (['parity'], 'Parity')
    """

    def __init__(self, package: str, places: Mapping[str, str]) -> None:
        """places: "module.Name" in the package, by what each is called here."""
        self._package, self.places = package, places

    def __getitem__(self, name: str) -> Any:
        module, _, called = self.places[name].rpartition(".")
        return getattr(import_module(f"{self._package}.{module}"), called)

    def __contains__(self, name: object) -> bool:
        return name in self.places

    def __iter__(self) -> Iterator[str]:
        return iter(self.places)

    def __len__(self) -> int:
        return len(self.places)


class _Lazy(ModuleType):
    """A package that imports its public names where they are asked for."""

    __all__: list[str]

    def __getattr__(self, name: str) -> Any:
        if name not in self.__all__:
            gone = withdrawn("command", name) or withdrawn("name", name)
            lacks = f"module {self.__name__!r} has no attribute {name!r}"
            raise AttributeError(f"{lacks}: {gone}" if gone else lacks)
        value = self.__dict__[name] = getattr(import_module(_names(self.__name__)[name]), name)
        return value

    def __dir__(self) -> list[str]:
        special = (name for name in super().__dir__() if name.startswith("__"))
        return sorted({*special, *self.__all__})

    def __setattr__(self, name: str, value: Any) -> None:
        # The import system binds a module to its package: it must not hide a function of its name.
        if name not in self.__all__ or not isinstance(value, ModuleType):
            super().__setattr__(name, value)


@cache
def _names(package: str) -> dict[str, str]:
    """Read in a package's file from which module each of its names comes."""
    import ast  # a tenth of what `--help` takes, which needs no names

    tree = ast.parse(Path(sys.modules[package].__file__ or "").read_text())
    [block] = [
        node
        for node in tree.body
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
    ]
    return {
        name.name: line.module
        for line in block.body
        if isinstance(line, ast.ImportFrom) and line.module
        for name in line.names
    }


def lazily(package: str) -> None:
    """Have a package import the names of its `__all__` where they are asked for.

    Each comes from the module from which its file imports it under `if TYPE_CHECKING`.
    """
    sys.modules[package].__class__ = _Lazy


# ---- libraries that extras bring


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
        return import_module(module)
    except ImportError as error:
        root = module.partition(".")[0]
        raise ToolkitError(
            f"{what} needs {root}, which is not installed: {advice(module)}"
        ) from error
