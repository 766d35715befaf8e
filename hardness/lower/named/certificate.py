"""Certificates about named learners: one family, and the claims of all that is asked about."""

from collections.abc import Sequence

from hardness.lower.bounds import Terms
from hardness.lower.named.asked import Asked
from hardness.lower.named.unknown import NoClaim, Unknown
from hardness.lower.record import Certificate, Claim
from instances.family import Family, require


def certify_named(
    family: Family, asked: Sequence[Asked], terms: Terms | None = None
) -> Certificate:
    """Certify what the bounds say about kernels, gradient descent or low-degree polynomials.

    The evidence is that of the family's kind, as in `Unknown`. Where several learners are
    asked about, those of which there is no claim are named in it with the reason; raises NoClaim
    where there is none about any, UsageError for numbers out of range. [Fan49, AKMSS21, Hop18]

    >>> from hardness.lower.named import Kernel
    >>> from instances import parse
    >>> found = certify_named(parse("parity:d=101,m=4"), [Kernel(features=1000)])
    >>> found.value("kernel-error"), found.value("kernel-features")
    ('156809/156849', '1960613')
    """
    require(bool(asked), "no learner given: kernel, gd or low-degree is needed")
    terms, unknown = terms or Terms(), Unknown.of(family)
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
        spec=family.spec,
        claims=(*claims, floor),
        scope=unknown.scope,
        evidence={
            "about": sorted({one.about for one in asked}),
            "no_claim": silent,
            **unknown.evidence,
        },
    )
