"""A certificate as a job."""

from dataclasses import dataclass
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
        return {"spec": self.spec, "terms": self.terms.to_json(), "revision": self.revision}

    @staticmethod
    def from_json(data: dict[str, Any]) -> "CertificateJob":
        """Read a job."""
        terms = Terms.from_json(data["terms"])
        return CertificateJob(spec=data["spec"], terms=terms, revision=data["revision"])

    def do(self) -> dict[str, Any]:
        """Certify: a certificate as JSON."""
        return certify(parse_stored(self.spec), self.terms).to_json()
