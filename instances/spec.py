"""Spec strings: "parity:d=32,m=3" <-> family. The canonical form is the key of results."""

from instances.catalog import CATALOG
from instances.errors import ToolkitError, unknown
from instances.family import Family
from instances.parameters import build
from instances.parity import Parity
from instances.profile import Profile

FAMILIES: dict[str, type[Family]] = {kind.name: kind for kind in (Parity, Profile)}


def parse(text: str) -> Family:
    """Read a spec or a catalog name; raises UsageError with the nearest known name.

    >>> parse("parity:m=3,d=32").spec
    'parity:d=32,m=3,noise=0,rho=3'
    """
    name, colon, rest = text.strip().partition(":")
    if not colon and name in CATALOG:
        return parse(CATALOG[name].spec)
    if name.endswith(".py"):
        raise ToolkitError(f"'{text}' given: families from files are not built yet")
    if name not in FAMILIES:
        names = FAMILIES if colon else [*FAMILIES, *CATALOG]
        raise unknown("family" if colon else "family or catalog name", name, names)
    family = FAMILIES[name]
    found: Family = build(family, rest, family.name, family.example)
    return found
