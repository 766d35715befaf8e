"""A sweep that is done at once, in this process."""

import pytest

from hardness.runs import risk
from hardness.runs.cache import Cache
from hardness.runs.jobs import run_jobs
from hardness.runs.sweep import read_text


def sweep_to(path, text):
    """Do the runs of a sweep into a file; they are judged by an eighth of the usual examples."""
    sweep = read_text(text, "test")
    with pytest.MonkeyPatch.context() as patch, Cache(path) as cache:
        patch.setattr(risk, "_EVALUATE", 2048)
        cache.ask(sweep.filed())
        run_jobs(sweep.works, cache)
    return path
