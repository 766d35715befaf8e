"""All ways in which a learner can end: what was seen first decides, and each stands in the docs."""

from pathlib import Path

import pytest

from hardness.upper import Outcome
from hardness.upper.isolated.ends import Seen, code_of, ending
from hardness.upper.isolated.messages import LOST, Ended, Spends

PAGES = [Path(__file__).parents[4] / "docs" / name for name in ("your-learner.md", "learners.md")]
RAISED = Ended(why="RAISED", told={"type": "PermissionError", "message": "a\x1b[31mb"})
ENDS = [  # each with all that could be said after it
    (Seen(words=Spends(resource="queries"), limit=Outcome.CPU_SPENT), Outcome.QUERIES_SPENT),
    (Seen(words=RAISED, unwatched="gone", code=-9), Outcome.RAISED),
    (Seen(unwatched="gone", limit=Outcome.CPU_SPENT, vanished=True), Outcome.REFUSED),
    (Seen(limit=Outcome.MEMORY_SPENT, vanished=True, code=-9, late=True), Outcome.MEMORY_SPENT),
    (Seen(limit=Outcome.TOO_MANY_PROCESSES, code=3), Outcome.TOO_MANY_PROCESSES),
    (Seen(vanished=True, late=True), Outcome.CRASHED),
    (Seen(code=3, cpu=True, late=True), Outcome.EXITED),
    (Seen(code=-24, cpu=True), Outcome.CPU_SPENT),
    (Seen(code=-24, late=True), Outcome.CRASHED),
    (Seen(code=LOST, late=True), Outcome.SECONDS_SPENT),
    (Seen(code=LOST), Outcome.BROKE_OFF),
    (Seen(), Outcome.BROKE_OFF),
]


@pytest.mark.parametrize(("seen", "outcome"), ENDS)
def test_what_comes_first_decides_and_is_documented(seen, outcome):
    assert ending(seen).outcome is outcome
    said = f"*{outcome.value}*", f"`{outcome.value}`"
    assert any(word in page.read_text(encoding="utf-8") for page in PAGES for word in said)


def test_words_of_a_learner_are_fit_to_be_shown():
    found = ending(Seen(words=RAISED, level="bubblewrap")).details
    assert found["message"] == "a?[31mb"
    assert "what bubblewrap closes" in found["reason"]


@pytest.mark.parametrize("status", [b"", b"9", b"x\n", b"123456\n", b"-1\n"])
def test_a_status_that_is_none_says_nothing(status):
    assert code_of(status) is None
