"""The jobs that a sweep is made of."""

from typing import TYPE_CHECKING

from instances.lazy import lazily

if TYPE_CHECKING:
    from hardness.compare.jobs.certificates import CertificateJob
    from hardness.compare.jobs.gram import GramCut, gram_cut
    from hardness.compare.jobs.job import Job, content_key
    from hardness.compare.jobs.kinds import KINDS, read_job
    from hardness.compare.jobs.runs import RunJob, run_job

__all__ = [
    "KINDS",
    "CertificateJob",
    "GramCut",
    "Job",
    "RunJob",
    "content_key",
    "gram_cut",
    "read_job",
    "run_job",
]

lazily(__name__)
