"""A sweep that is done at once, in this process; runs less what passes by the clock."""

import re

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
        cache.store_request(sweep.filed())
        run_jobs(sweep.works, cache)
    return path


def timeless(details):
    """Leave out times, memory and what the machine says, at any depth."""
    if isinstance(details, dict):
        return {k: timeless(v) for k, v in details.items() if not _PASSES.fullmatch(k)}
    if isinstance(details, list | tuple):
        return [timeless(value) for value in details]
    return details


_PASSES = re.compile("(.*_)?(seconds|bytes)|memory|times|printed|pid|process|libraries")
