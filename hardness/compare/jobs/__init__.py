"""The jobs that a sweep is made of."""

from typing import TYPE_CHECKING

from instances.lazy import lazily

if TYPE_CHECKING:
    from hardness.compare.jobs.certificates import CertificateJob
    from hardness.compare.jobs.cut import Cut, settled
    from hardness.compare.jobs.gram import GramCut, gram_cut
    from hardness.compare.jobs.job import Job, content_key
    from hardness.compare.jobs.kinds import KINDS, read_job
    from hardness.compare.jobs.runs import RunJob, run_job
    from hardness.compare.jobs.search import SearchCut, cut_search

__all__ = [
    "KINDS",
    "CertificateJob",
    "Cut",
    "GramCut",
    "Job",
    "RunJob",
    "SearchCut",
    "content_key",
    "cut_search",
    "gram_cut",
    "read_job",
    "run_job",
    "settled",
]

lazily(
    __name__,
    {
        "certificates": "CertificateJob",
        "cut": "Cut settled",
        "gram": "GramCut gram_cut",
        "job": "Job content_key",
        "kinds": "KINDS read_job",
        "runs": "RunJob run_job",
        "search": "SearchCut cut_search",
    },
)
