"""Jobs by their kind, to read one from JSON."""

from typing import Any

from hardness.sweep.jobs.job import Job
from instances.lazy import Imported

KINDS = Imported(
    "hardness.sweep.jobs",
    {
        "run": "runs.RunJob",
        "certificate": "certificates.CertificateJob",
        "gram-layer": "blocks.LayerPart",
        "gram-block": "blocks.BlockPart",
    },
)


def read_job(data: dict[str, Any]) -> Job:
    """Read a job with its kind, {"kind": ..., ...}; raises KeyError for what is none.

    >>> from hardness.sweep.jobs.certificates import CertificateJob
    >>> from hardness.lower import Terms
    >>> job = CertificateJob(spec="parity:d=8,m=2,noise=0,rho=2", terms=Terms(), revision=1)
    >>> read_job({"kind": job.kind, **job.to_json()}) == job
    True
    """
    given = dict(data)
    job: Job = KINDS[given.pop("kind")].from_json(given)
    return job
