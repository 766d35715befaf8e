"""A certificate as a job."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from hardness.compare.jobs.job import content_key
from hardness.lower import Terms, certify
from instances.spec import parse_stored


@dataclass(frozen=True, kw_only=True)
class CertificateJob:
    """The certificate of a family, for terms: spec in canonical form."""

    kind: ClassVar[str] = "certificate"
    label: ClassVar[str] = "certificates"

    spec: str
    terms: Terms
    revision: int  # of the family

    @property
    def key(self) -> str:
        """The content key of the certificate."""
        return content_key(self.kind, self.to_json())

    def to_json(self) -> dict[str, Any]:
        """Write the job."""
        terms = self.terms
        return {
            "spec": self.spec,
            "terms": {
                "tau": str(terms.tau),
                "vstat": terms.vstat,
                "risk": str(terms.risk),
                "success": str(terms.success),
                "gamma": str(terms.gamma),
            },
            "revision": self.revision,
        }

    @staticmethod
    def from_json(data: dict[str, Any]) -> "CertificateJob":
        """Read a job."""
        given = data["terms"]
        exact = {n: Fraction(given[n]) for n in ("tau", "risk", "success", "gamma")}
        return CertificateJob(
            spec=data["spec"],
            terms=Terms(vstat=given["vstat"], **exact),
            revision=data["revision"],
        )

    def do(self) -> dict[str, Any]:
        """Certify: a certificate as JSON."""
        return certify(parse_stored(self.spec), self.terms).to_json()
