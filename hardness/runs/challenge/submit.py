"""Where submissions come from: a file of predictions, a claimed secret, or a learner."""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from hardness.oracles import Budget, Usage
from hardness.runs.challenge.arrays import read_predictions
from hardness.runs.challenge.canonical import integers
from hardness.runs.challenge.reach import require_contained, require_out_of_reach
from hardness.runs.challenge.record import (
    Challenge,
    require_member,
    require_room,
    require_shards,
)
from hardness.runs.challenge.submission import Submission, new_submission
from hardness.runs.run import learn_once
from hardness.upper import Failed, Hypothesis, Learner, Outcome
from hardness.upper.isolated import Foreign
from hardness.upper.learner import Predict
from instances.errors import ToolkitError, UsageError
from instances.strict import Limits, loads, shown

_BATCH_NUMBERS = 1 << 21
_SECRET = Limits(size=1 << 22)
_BROKEN = {  # outcomes of a learner that is to be mended: what nobody learned is not packed
    *(Outcome.UNSUPPORTED, Outcome.NOT_LOADED, Outcome.RAISED, Outcome.EXITED, Outcome.CRASHED),
    *(Outcome.BROKE_OFF, Outcome.INVALID, Outcome.CPU_SPENT, Outcome.MEMORY_SPENT),
    Outcome.TOO_MANY_PROCESSES,
}


def by_predictions(challenge: Challenge, name: str, path: Path) -> Submission:
    """Pack the predictions of a file; raises UsageError, DamagedFile."""
    require_room(challenge.family, len(challenge.fresh))
    return new_submission(challenge, name, read_predictions(path, challenge.shape), None)


def by_secret(challenge: Challenge, name: str, text: str) -> Submission:
    """Pack a claimed secret, "[2,5,7]"; raises UsageError for what is no member's."""
    try:
        secret = integers(loads(text, _SECRET))
    except ValueError as error:
        raise UsageError(f"--secret {shown(text)} given: write [2,5,7]: {error}") from error
    return new_submission(challenge, name, None, secret)


def by_learner(
    challenge: Challenge, name: str, learner: Learner, budget: Budget, seed: int = 0
) -> tuple[Submission, Outcome | None, Usage]:
    """Run a learner on the stored examples; pack what it predicts and the secret it claims.

    Raises ToolkitError where it cannot run, breaks, gives no valid predictions, or could read the
    challenge's secret.
    """
    require_room(challenge.family, len(challenge.fresh))
    require_shards(challenge)
    if isinstance(learner, Foreign):
        require_contained()
        if learner.file is not None:
            require_out_of_reach(challenge, learner.file)
    hypothesis, usage = learn_once(learner, challenge.folder, budget, seed)
    try:
        if hypothesis.outcome in _BROKEN or "ended" in hypothesis.details:
            raise Failed(hypothesis.outcome or Outcome.INVALID, hypothesis.details)
        predictions = _predict(challenge, hypothesis.predict, learner.name)
    except Failed as failed:
        told = ", ".join(f"{k} {v}" for k, v in failed.details.items() if k != "printed")
        raise ToolkitError(
            f"{learner.name}: {failed.outcome.value}: {failed.outcome.advice}; "
            f"{' '.join(told.split())[:300]}"
        ) from failed
    finally:
        hypothesis.close()
    secret = _member(challenge, hypothesis)
    return new_submission(challenge, name, predictions, secret), hypothesis.outcome, usage


def _predict(challenge: Challenge, predict: Predict, name: str) -> NDArray[np.float64]:
    """Evaluate predictions on the fresh tokens, batch by batch: (M, k, d)."""
    out = np.empty(challenge.shape)
    batch = max(16, _BATCH_NUMBERS // (challenge.family.k * challenge.family.d))
    for start in range(0, len(out), batch):
        x = challenge.fresh.cut(start, min(start + batch, len(out))).x
        with np.errstate(all="ignore"):
            given = np.asarray(predict(x.copy()))  # which may write into what it gets
        valid = given.shape == x.shape and given.dtype.kind in "fiu" and np.isfinite(given).all()
        if not valid:
            raise ToolkitError(
                f"{name} predicts {given.dtype} {given.shape}, or values that are not finite, on "
                f"tokens {x.shape}: nothing was packed"
            )
        out[start : start + batch] = given
    return out


def _member(challenge: Challenge, hypothesis: Hypothesis) -> tuple[int, ...] | None:
    """Keep a claimed secret where it is a member's; a wrong guess beside predictions is dropped."""
    if hypothesis.secret is None:
        return None
    secret = tuple(int(v) for v in hypothesis.secret)
    try:
        require_member(challenge, secret)
    except UsageError:
        return None
    return secret
