"""Challenges: an organiser commits to a secret, anybody submits, the reveal scores and proves."""

from hardness.compare.challenge.create import create
from hardness.compare.challenge.opening import Opened, reveal
from hardness.compare.challenge.record import Challenge, read_challenge
from hardness.compare.challenge.score import Entry, Scores, score
from hardness.compare.challenge.scoresfile import read_digests, read_scores, require_same
from hardness.compare.challenge.submission import Submission, read_submission, write_submission
from hardness.compare.challenge.submit import by_learner, by_predictions, by_secret

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
