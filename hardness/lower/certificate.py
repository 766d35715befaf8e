"""Certify a family: what its kind allows, each kind in a file of its own."""

from hardness.lower.bounds import Terms
from hardness.lower.modular import certify_modular
from hardness.lower.parity import certify_parity
from hardness.lower.record import Certificate
from hardness.lower.symmetric import certify_symmetric
from instances.errors import UsageError
from instances.family import Family
from instances.modular import Modular
from instances.parity import Parity
from instances.spec import FAMILIES
from instances.symmetric import Symmetric


def certify(family: Family, terms: Terms | None = None) -> Certificate:
    """Certify a family's correlations, dimensions, query bounds and information floor.

    Raises UsageError for a family without a certificate. [BFJKMR94, FGRVX17, BBHLS21, CL24]

    >>> from instances import parse
    >>> certify(parse("parity:d=1000,m=21")).value("sq-dimension")[:12]
    '155098380390'
    >>> certify(parse("profile:g=majority,d=1001,m=20")).value("sq-dimension")
    '50'
    >>> certify(parse("lwr:n=64,q=256,p=2,secret=binary,h=6")).value("sq-dimension")
    '74974368'
    """
    terms = terms or Terms()
    if isinstance(family, Parity):
        return certify_parity(family, terms)
    if isinstance(family, Modular) and family.name in FAMILIES:
        return certify_modular(family, terms)
    if isinstance(family, Symmetric) and family.name in FAMILIES:
        return certify_symmetric(family, terms)
    raise UsageError(f"{family.name} given: there is no certificate for this family yet")
