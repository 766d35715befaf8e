"""Learners that end by themselves have all the time they need to load and to predict."""

import pytest

from hardness.upper.isolated import learner
from tests.waiting import NEVER


@pytest.fixture(autouse=True)
def _no_hurry(monkeypatch):
    monkeypatch.setattr(learner, "_LOADING", NEVER)
    monkeypatch.setattr(learner, "_JUDGING", NEVER)
