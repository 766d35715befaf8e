"""All ways in which a learner can end: what was seen first decides, and each stands in the docs."""

from pathlib import Path

import pytest

from hardness.learners import Outcome
from hardness.learners.isolated.ends import ending
from hardness.learners.isolated.messages import LOST, Ended, Spends

PAGES = [Path(__file__).parents[4] / "docs" / name for name in ("your-learner.md", "learners.md")]
RAISED = Ended(why="RAISED", told={"type": "PermissionError", "message": "a\x1b[31mb"})
ENDS = [  # each with all that could be said after it
    ({"words": Spends(resource="queries"), "code": -24, "cpu": True}, Outcome.QUERIES_SPENT),
    ({"words": RAISED, "code": -9}, Outcome.CRASHED),
    ({"code": 3, "cpu": True, "late": True}, Outcome.CRASHED),
    ({"code": -24, "cpu": True}, Outcome.SECONDS_SPENT),
    ({"code": -24, "late": True}, Outcome.CRASHED),
    ({"code": LOST, "late": True}, Outcome.SECONDS_SPENT),
    ({"code": LOST}, Outcome.CRASHED),
    ({}, Outcome.CRASHED),
]


@pytest.mark.parametrize(("seen", "outcome"), ENDS)
def test_what_comes_first_decides_and_is_documented(seen, outcome):
    assert ending(**seen).outcome is outcome
    said = f"*{outcome.value}*", f"`{outcome.value}`"
    assert any(word in page.read_text(encoding="utf-8") for page in PAGES for word in said)


def test_words_of_a_learner_are_fit_to_be_shown():
    details = ending(RAISED, sandbox=True).details
    assert details["message"] == "a?[31mb"
    assert "what the sandbox closes" in details["reason"]
    assert "sandbox" not in ending(RAISED).details["reason"]
