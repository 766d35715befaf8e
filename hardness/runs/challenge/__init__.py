"""Challenges: an organiser commits to a secret, anybody submits, the reveal scores and proves."""

from hardness.runs.challenge.create import create
from hardness.runs.challenge.opening import Opened, reveal
from hardness.runs.challenge.record import Challenge, read_challenge
from hardness.runs.challenge.score import Entry, Scores, score
from hardness.runs.challenge.scoresfile import read_digests, read_scores, require_same
from hardness.runs.challenge.submission import Submission, read_submission, write_submission
from hardness.runs.challenge.submit import by_learner, by_predictions, by_secret

__all__ = [
    "Challenge",
    "Entry",
    "Opened",
    "Scores",
    "Submission",
    "by_learner",
    "by_predictions",
    "by_secret",
    "create",
    "read_challenge",
    "read_digests",
    "read_scores",
    "read_submission",
    "require_same",
    "reveal",
    "score",
    "write_submission",
]
