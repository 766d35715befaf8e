"""The jobs that a sweep is made of."""

from typing import TYPE_CHECKING

from instances.lazy import lazily

if TYPE_CHECKING:
    from hardness.sweep.jobs.certificates import CertificateJob
    from hardness.sweep.jobs.gram import GramCut, gram_cut
    from hardness.sweep.jobs.job import Job, content_key
    from hardness.sweep.jobs.kinds import KINDS, read_job
    from hardness.sweep.jobs.runs import RunJob, run_job

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
