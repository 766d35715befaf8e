"""The jobs that a sweep is made of."""

from typing import Any

from hardness.compare.jobs.blocks import BlockPart, LayerPart
from hardness.compare.jobs.certificates import CertificateJob
from hardness.compare.jobs.cut import Cut, settled
from hardness.compare.jobs.gram import GramCut, gram_cut
from hardness.compare.jobs.job import Job, content_key
from hardness.compare.jobs.runs import RunJob, run_job
from hardness.compare.jobs.search import SearchCut, SearchPart, cut_search

KINDS: dict[str, Any] = {
    kind.kind: kind for kind in (RunJob, CertificateJob, LayerPart, BlockPart, SearchPart)
}

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


def read_job(data: dict[str, Any]) -> Job:
    """Read a job with its kind, {"kind": ..., ...}; raises KeyError for what is none.

    >>> from hardness.lower import Terms
    >>> job = CertificateJob(spec="parity:d=8,m=2,noise=0,rho=2", terms=Terms(), revision=1)
    >>> read_job({"kind": job.kind, **job.to_json()}) == job
    True
    """
    given = dict(data)
    job: Job = KINDS[given.pop("kind")].from_json(given)
    return job
