"""Lower bounds: correlations, statistical-query bounds, certificates."""

from typing import TYPE_CHECKING

from instances.lazy import lazily

if TYPE_CHECKING:
    from hardness.lower.bounds import (
        BoundParameters,
        information_floor,
        stat_queries,
        vstat_queries,
    )
    from hardness.lower.certificate import certify
    from hardness.lower.johnson import Johnson
    from hardness.lower.measures import Measure, Measures, measures
    from hardness.lower.record import Certificate, Claim
    from hardness.lower.verify import Verification, verify

__all__ = [
    "BoundParameters",
    "Certificate",
    "Claim",
    "Johnson",
    "Measure",
    "Measures",
    "Verification",
    "certify",
    "information_floor",
    "measures",
    "stat_queries",
    "verify",
    "vstat_queries",
]

lazily(__name__)
