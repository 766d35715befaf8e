"""Certificates about named learners: one family, and the claims of all that is asked about."""

from collections.abc import Sequence
from typing import ClassVar, Protocol

from hardness.lower.bounds import BoundParameters
from hardness.lower.named.members import Unknown
from hardness.lower.record import Certificate, Claim, NoClaim
from instances.family import Family, require


class Asked(Protocol):
    """A learner, by its numbers, and the claims that a bound makes about it."""

    about: ClassVar[str]  # "kernel", "gd" or "low-degree"

    def claims(self, unknown: Unknown, terms: BoundParameters) -> tuple[Claim, ...]:
        """Make the claims; raises NoClaim, and UsageError for numbers out of range."""


def certify_named(
    family: Family, asked: Sequence[Asked], terms: BoundParameters | None = None
) -> Certificate:
    """Certify what the bounds say about kernels, gradient descent or low-degree polynomials.

    As `certify_unknown` does of `Unknown.of(family)`. [Fan49, AKMSS21, Hop18]

    >>> from hardness.lower.named import Kernel
    >>> from instances import parse
    >>> found = certify_named(parse("parity:d=101,m=4"), [Kernel(features=1000)])
    >>> found.value("kernel-error"), found.value("kernel-features")
    ('156809/156849', '1960613')
    """
    return certify_unknown(Unknown.of(family), asked, terms)


def certify_unknown(
    unknown: Unknown, asked: Sequence[Asked], terms: BoundParameters | None = None
) -> Certificate:
    """Certify what the bounds say about named learners, of members of any kind.

    The evidence is that of the members' kind, as in `Unknown`. Where several learners are
    asked about, those of which there is no claim are named in it with the reason; raises NoClaim
    where there is none about any, UsageError for numbers out of range.
    """
    require(bool(asked), "no learner given: kernel, gd or low-degree is needed")
    terms = terms or BoundParameters()
    floor, claims = unknown.floor(terms), list[Claim]()
    silent: dict[str, str] = {}
    for one in asked:
        try:
            claims += one.claims(unknown, terms)
        except NoClaim as reason:
            silent[one.about] = str(reason)
    if not claims:
        raise NoClaim("no claim: " + "; ".join(dict.fromkeys(silent.values())))
    return Certificate(
        spec=unknown.spec,
        claims=(*claims, floor),
        scope=unknown.scope,
        evidence={
            "about": sorted({one.about for one in asked}),
            "no_claim": silent,
            **unknown.evidence,
        },
    )
