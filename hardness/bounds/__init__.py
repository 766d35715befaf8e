"""Lower bounds: certificates, sampled correlations, formulas."""

from typing import TYPE_CHECKING

from instances.lazy import lazily

if TYPE_CHECKING:
    from hardness.bounds.certificate import Certificate, Claim
    from hardness.bounds.certify import certify
    from hardness.bounds.johnson import Johnson
    from hardness.bounds.terms import BoundParameters
    from hardness.bounds.verify import Verification, verify

__all__ = [
    "BoundParameters",
    "Certificate",
    "Claim",
    "Johnson",
    "Verification",
    "certify",
    "verify",
]

lazily(__name__)
