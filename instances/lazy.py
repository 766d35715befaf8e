"""What is imported when it is first asked for, so that a command starts without what it needs not.

>>> from hardness.compare import run  # the function, though a module is called so too
>>> run.__module__
'hardness.compare.run'
"""

import sys
from collections.abc import Iterator, Mapping
from importlib import import_module
from types import ModuleType
from typing import Any


class Imported(Mapping[str, Any]):
    """Things by name, each imported where it is asked for.

    >>> table = Imported("instances", {"parity": "parity.Parity"})
    >>> list(table), table["parity"].__name__
    (['parity'], 'Parity')
    """

    def __init__(self, package: str, places: Mapping[str, str]) -> None:
        """places: "module.Name" in the package, by what each is called here."""
        self._package, self._places = package, places

    def __getitem__(self, name: str) -> Any:
        module, _, called = self._places[name].rpartition(".")
        return getattr(import_module(f"{self._package}.{module}"), called)

    def __contains__(self, name: object) -> bool:
        return name in self._places

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)


class _Lazy(ModuleType):
    """A package that imports its public names where they are asked for."""

    _names: Imported

    def __getattr__(self, name: str) -> Any:
        if name not in self._names:
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        value = self.__dict__[name] = self._names[name]
        return value

    def __setattr__(self, name: str, value: Any) -> None:
        # The import system binds a module to its package: it must not hide a function of its name.
        if name not in self._names or not isinstance(value, ModuleType):
            super().__setattr__(name, value)


def lazily(package: str, names: Mapping[str, str]) -> None:
    """Let a package import its names where they are asked for: by module, with spaces between."""
    found = sys.modules[package]
    places = {name: f"{module}.{name}" for module, said in names.items() for name in said.split()}
    found.__dict__["_names"] = Imported(package, places)
    found.__class__ = _Lazy
