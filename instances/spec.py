"""Spec strings: "parity:d=32,m=3" <-> family. The canonical form is the key of results."""

from instances.catalog import CATALOG
from instances.dial import Dial
from instances.errors import UsageError, unknown
from instances.family import Family
from instances.linear import Linear
from instances.lpn import Lpn
from instances.lwe import Lwe
from instances.lwr import Lwr
from instances.nice import Nice
from instances.parameters import build
from instances.parity import Parity
from instances.profile import Profile
from instances.userfile import Functions, load, split
from instances.window import Window

FAMILIES: dict[str, type[Family]] = {
    kind.name: kind for kind in (Parity, Profile, Nice, Dial, Linear, Lwr, Lwe, Lpn, Window)
}


def parse(text: str) -> Family:
    """Read a spec or a catalog name, or the family of a user's path.py:Name; raises UsageError.

    A family from a file keeps its own spec, under which it cannot be found again: its instances
    cannot be stored (`generate`), nor compared over sizes (`compare`, whose workers read specs),
    and a certificate is made of it only where it is one of the families here.

    >>> parse("parity:m=3,d=32").spec
    'parity:d=32,m=3,noise=0,rho=3'
    """
    if split(text) is None:
        return parse_stored(text)
    found = load(text)
    if isinstance(found, Functions):
        raise UsageError(
            f"'{text}' given: it gives functions, which `hardness certify` alone takes; a Family "
            "is needed here"
        )
    if FAMILIES.get(found.name, type(found)) is not type(found):
        raise UsageError(f"'{text}' given: the name '{found.name}' is taken: name it differently")
    return found


def parse_stored(text: str) -> Family:
    """Read a spec that stands in a file: as parse does, but no code of anybody is executed.

    >>> parse_stored("parity:m=3,d=32").name
    'parity'
    """
    name, colon, rest = text.strip().partition(":")
    if not colon and name in CATALOG:
        return parse_stored(CATALOG[name].spec)
    if name not in FAMILIES:
        if colon:
            raise unknown("family", name, FAMILIES)
        both = [*FAMILIES, *CATALOG]
        raise unknown("family or catalog name", name, both, listed="`hardness families`")
    family = FAMILIES[name]
    found: Family = build(family, rest, family.name, family.example)
    return found


def require_stored(family: Family, what: str) -> None:
    """Refuse what reads the family's spec again, for a family that no spec names."""
    if family.name not in FAMILIES:
        raise UsageError(
            f"{family.name} given: a family from a file has no spec that can be read again, so "
            f"{what}"
        )
