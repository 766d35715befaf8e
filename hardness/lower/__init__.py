"""Lower bounds: correlations, statistical-query bounds, certificates."""

from typing import TYPE_CHECKING

from instances.lazy import lazily

if TYPE_CHECKING:
    from hardness.lower.certificate import certify
    from hardness.lower.johnson import Johnson
    from hardness.lower.record import Certificate, Claim
    from hardness.lower.terms import BoundParameters
    from hardness.lower.verify import Verification, verify

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
