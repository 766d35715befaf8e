"""Certificates about named learners: one family, and the claims of all that is asked about."""

from collections.abc import Sequence
from fractions import Fraction

from hardness.claims.named import FLOOR, SCOPE
from hardness.lower.bounds import Terms
from hardness.lower.named.asked import Asked
from hardness.lower.named.unknown import NoClaim, Unknown
from hardness.lower.parity import layer_evidence
from hardness.lower.record import Certificate, Claim, claim, text
from hardness.lower.symmetric import information_floor
from instances.family import Family, require


def certify_named(
    family: Family, asked: Sequence[Asked], terms: Terms | None = None
) -> Certificate:
    """Certify what the bounds say about kernels, gradient descent or low-degree polynomials.

    The evidence is the exact layer and the spectrum of all members. Where several learners are
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
    claims: list[Claim] = []
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
        claims=(*claims, _floor(unknown, terms)),
        scope=SCOPE,
        evidence={
            "about": sorted({one.about for one in asked}),
            "no_claim": silent,
            **layer_evidence(unknown.family),
            "values": [str(v) for v in unknown.family.values],
            "correlations": [text(c) for c in unknown.scheme.correlations],
            "eigenvalues": [text(v) for v in unknown.scheme.eigenvalues],
        },
    )


def _floor(unknown: Unknown, terms: Terms) -> Claim:
    levels, right = len(set(unknown.family.values)), unknown.right_about(terms.risk)
    value = information_floor(unknown.size, right, levels, Fraction(terms.success))
    given = {"risk": str(terms.risk), "success": str(terms.success), "levels": str(levels)}
    return claim({"information-floor": FLOOR}, "information-floor", value, given)
