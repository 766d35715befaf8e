"""The family that a certificate is about, by the parser that its makers use.

What parameters a family may have is said once, in `instances`: a spec that `certify` refuses is
refused here for the same reason. What follows from the parameters is derived apart.
"""

import re
from typing import Any

from hardness.check.reading import refuse
from instances.errors import UsageError
from instances.family import Family
from instances.spec import parse_stored

_PRINTABLE = re.compile("[!-~]{1,2400}")  # ASCII without spaces: g has 2000 characters at most


def read_spec(spec: Any) -> Family:
    """Read the canonical spec of a family; raises Refuted for other text.

    >>> read_spec("parity:d=8,m=3,noise=0,rho=3").size
    35
    """
    found = _parsed(spec)
    if found.spec != spec:
        refuse(f"{spec[:80]} is not in its canonical form, {found.spec[:80]}")
    return found


def _parsed(spec: Any) -> Family:
    if not isinstance(spec, str) or not _PRINTABLE.fullmatch(spec):
        refuse("its spec is not one line of printable characters without spaces")
    try:
        return parse_stored(spec)
    except UsageError as error:
        refuse(f"certify refuses its family: {error}")
