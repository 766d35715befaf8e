"""All ways in which a child can end: what was seen first decides, and each stands in the docs."""

from pathlib import Path

import pytest

from hardness.learners import Outcome
from hardness.learners.boundary import EXIT_LOST_PARENT, failure_of_exit

PAGES = [Path(__file__).parents[4] / "docs" / name for name in ("your-learner.md", "learners.md")]
ENDS = [  # each with all that could be said after it
    ({"code": 3, "cpu": True}, Outcome.CRASHED),
    ({"code": -24, "cpu": True}, Outcome.SECONDS_SPENT),
    ({"code": -24}, Outcome.CRASHED),
    ({"code": -9, "late": True}, Outcome.SECONDS_SPENT),
    ({"code": EXIT_LOST_PARENT}, Outcome.CRASHED),
    ({}, Outcome.CRASHED),
]


@pytest.mark.parametrize(("seen", "outcome"), ENDS)
def test_what_comes_first_decides(seen, outcome):
    assert failure_of_exit(**seen).outcome is outcome


@pytest.mark.parametrize("outcome", Outcome)
def test_every_outcome_has_advice_and_is_documented(outcome):
    assert outcome.advice
    said = f"*{outcome.value}*", f"`{outcome.value}`"
    assert any(word in page.read_text(encoding="utf-8") for page in PAGES for word in said)
