"""A certificate as a job."""

from dataclasses import dataclass
from typing import Any, ClassVar

from hardness.lower import Terms, certify
from hardness.sweep.jobs.job import content_key
from instances.errors import ToolkitError
from instances.spec import file_of, parse_stored


@dataclass(frozen=True, kw_only=True)
class CertificateJob:
    """The certificate of a family, for terms: spec in canonical form.

    file: the SHA-256 of the file of a user's family.
    """

    kind: ClassVar[str] = "certificate"
    label: ClassVar[str] = "certificates"

    spec: str
    terms: Terms
    revision: int  # of the family
    file: str | None = None

    @property
    def key(self) -> str:
        """The content key of the certificate."""
        return content_key(self.kind, self.to_json())

    def to_json(self) -> dict[str, Any]:
        """Write the job."""
        data = {"spec": self.spec, "terms": self.terms.to_json(), "revision": self.revision}
        return data | ({"file": self.file} if self.file else {})

    @staticmethod
    def from_json(data: dict[str, Any]) -> "CertificateJob":
        """Read a job."""
        terms = Terms.from_json(data["terms"])
        return CertificateJob(
            spec=data["spec"], terms=terms, revision=data["revision"], file=data.get("file")
        )

    def do(self) -> dict[str, Any]:
        """Certify: a certificate as JSON; raises ToolkitError for another file of the family."""
        family = parse_stored(self.spec)
        if file_of(family.name) != self.file:
            raise ToolkitError(f"the file of {family.name} is not the one of the sweep's plan")
        return certify(family, self.terms).to_json()
