"""Certify a family: what its kind allows, each kind in a file of its own."""

from collections.abc import Callable
from functools import partial

from hardness.lower.bounds import BoundParameters
from hardness.lower.direction import certify_direction
from hardness.lower.draws import require_uniform
from hardness.lower.finite import certify_finite, of_family
from hardness.lower.hidden import certify_parity, certify_shown, certify_symmetric
from hardness.lower.modular import certify_modular
from hardness.lower.record import Certificate
from instances.capabilities import CHARACTERS, HIDDEN_DIRECTION, LINEAR_FORMS, PROVED_AS, SCHEME
from instances.family import Family
from instances.spec import built_in


def certify(family: Family, terms: BoundParameters | None = None) -> Certificate:
    """Certify a family's correlations, dimensions, query bounds and information floor.

    By formulas where the family has them; else from all members over all z. Raises UsageError for
    a family with neither, more members than are enumerated, or a draw that is not uniform.
    [BFJKMR94, FGRVX17, BBHLS21, CL24]

    >>> from instances import parse
    >>> certify(parse("parity:d=1000,m=21")).value("sq-dimension")[:12]
    '155098380390'
    >>> certify(parse("profile:g=majority,d=1001,m=20")).value("sq-dimension")
    '50'
    >>> certify(parse("lwr:n=64,q=256,p=2,secret=binary,h=6")).value("sq-dimension")
    '74974368'
    """
    terms = terms or BoundParameters()
    require_uniform(family)
    made = formulas(family)
    return made(terms) if made else certify_finite(of_family(family), terms)


def formulas(family: Family) -> Callable[[BoundParameters], Certificate] | None:
    """Choose how hidden sets, functions of <a, s> here, or directions are certified; else None."""
    if PROVED_AS.of(family) and built_in(family):
        return partial(certify_shown, family)
    if (characters := CHARACTERS.of(family)) and built_in(characters):
        return partial(certify_parity, characters)
    if scheme := SCHEME.of(family):
        return partial(certify_symmetric, scheme)
    if (forms := LINEAR_FORMS.of(family)) and built_in(forms):
        return partial(certify_modular, forms)
    if (direction := HIDDEN_DIRECTION.of(family)) and built_in(direction):
        return partial(certify_direction, direction)
    return None
