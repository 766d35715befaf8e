"""Submissions to a challenge, packed by participants, and what they reach when it is opened.

A submission holds predictions on the fresh tokens, a claimed secret, or both, under a name. Its
digest commits to all of it with a salt of 256 random bits: published before the deadline it gives
nothing away, and nobody else can have made a submission that has it.
"""

import hashlib
import math
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from secrets import token_bytes
from typing import ClassVar

import numpy as np
from msgspec import Struct, convert, structs, to_builtins
from numpy.typing import NDArray

from hardness.oracles import Budget, Usage
from hardness.runs.challenge import (
    SCORING,
    SECRET_BYTES,
    Challenge,
    Hex,
    Opened,
    read_secret,
    require_member,
)
from hardness.runs.risk import losses, valid_predictions
from hardness.runs.run import MACHINE, learn_once
from hardness.upper import Failed, Hypothesis, Learner, Outcome
from hardness.upper.isolated import SubprocessLearner, contain
from hardness.upper.learner import Predict, innermost
from instances.arrayfile import HEADER, SUFFIXES, Described, array_file
from instances.disk import damage, digest, refuse_existing, require_format, write_tensors
from instances.errors import DamagedFile, ToolkitError, UsageError
from instances.family import Secret, require
from instances.result import Record, TableRow
from instances.strict import Limits, loads, read_bytes, shown

SUBMISSION = "hardness-submission/1"
KNOWN_BY = (
    "computed in float64 on these fresh tokens and exact for them; no claim about other tokens: "
    "these were public when the predictions were made, which need not come from any one rule"
)
_NAME = re.compile(r"[A-Za-z0-9._@+-]+( [A-Za-z0-9._@+-]+)*")
_LONGEST_NAME = 64
_MOST_FILES = 10_000  # in a learner's folder
_DEEPEST = 1000  # letters of a path below it
_BATCH_NUMBERS = 1 << 21
_BROKEN = {  # outcomes of a learner that has to be mended: what nobody learned is not packed
    *(*MACHINE, Outcome.UNSUPPORTED, Outcome.RAISED, Outcome.EXITED, Outcome.INVALID),
    *(Outcome.CPU_SPENT, Outcome.MEMORY_SPENT),
}


class _Said(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The metadata of a submission's file."""

    format: str
    challenge: str
    name: str
    salt: Hex
    secret: list[int] | None
    digest: Hex


@dataclass(frozen=True, kw_only=True, eq=False)
class Submission:
    """What a participant hands in: (M, k, d) finite predictions, a claimed secret, or both.

    Raises UsageError for neither, and for a name that is not plain ASCII: letters that look alike
    are then the same letter.
    """

    challenge: str
    name: str
    salt: bytes = field(default_factory=lambda: token_bytes(32))
    secret: Secret | None = None
    predictions: NDArray[np.float64] | None = None

    def __post_init__(self) -> None:
        require_name(self.name)
        require(
            self.secret is not None or self.predictions is not None,
            "a submission needs predictions or a claimed secret",
        )

    @property
    def content(self) -> str:
        """The hash of what is said, apart from the name and the salt."""
        sha256 = None
        if self.predictions is not None:
            little = np.ascontiguousarray(self.predictions, "<f8")
            sha256 = hashlib.sha256(little.tobytes()).hexdigest()
        return digest({"secret": self.secret, "predictions": sha256})

    @property
    def digest(self) -> str:
        """The participant's own commitment: SHA-256 over salt, name, challenge and content."""
        return digest(
            {
                "format": SUBMISSION,
                "challenge": self.challenge,
                "name": self.name,
                "salt": self.salt.hex(),
                "content": self.content,
            }
        )


def by_predictions(challenge: Challenge, name: str, path: Path) -> Submission:
    """Pack the numbers of a .npy, .npz or .safetensors file; raises UsageError, DamagedFile.

    An archive holds one array, or one called `predictions`.
    """
    if path.suffix not in SUFFIXES:
        raise UsageError(f"{path} given: predictions are in .npy, .npz or .safetensors")
    with array_file(path, _limit(challenge)) as file:
        names = ["predictions"] if "predictions" in file.arrays else list(file.arrays)
        if len(names) != 1:
            raise UsageError(f"{path} holds {len(names)} arrays: one is wanted, or 'predictions'")
        try:
            predictions = _read(file.arrays[names[0]], challenge.shape)
        except ValueError as error:
            raise UsageError(f"{path}: {error}") from error
    return Submission(challenge=challenge.id, name=name, predictions=predictions)


def by_secret(challenge: Challenge, name: str, text: str) -> Submission:
    """Pack a claimed secret, "[2,5,7]"; raises UsageError if no member of the family has it."""
    try:
        secret = read_secret(loads(text, Limits(size=SECRET_BYTES)))
    except ValueError as error:
        raise UsageError(
            f"--claim {shown(text)} given: write [2,5,7], its integers: {error}"
        ) from error
    require_member(challenge, secret)
    return Submission(challenge=challenge.id, name=name, secret=secret)


def by_learner(
    challenge: Challenge, name: str, learner: Learner, budget: Budget, seed: int = 0
) -> tuple[Submission, Outcome | None, Usage]:
    """Run a learner on the stored examples; pack what it predicts and the secret it claims.

    A claimed secret of no member is left out. Raises ToolkitError where the learner cannot run,
    breaks, gives no valid predictions, or could read the challenge's secret.
    """
    if isinstance(asked := innermost(learner), SubprocessLearner):
        _require_contained()
        if asked.file is not None:
            _require_out_of_reach(challenge, asked.file)
    hypothesis, usage = learn_once(learner, challenge.folder, budget, seed)
    try:
        if hypothesis.outcome in _BROKEN or "ended" in hypothesis.details:
            raise Failed(hypothesis.outcome or Outcome.INVALID, hypothesis.details)
        predictions = _predict(challenge, hypothesis.predict)
    except Failed as failed:
        told = ", ".join(f"{k} {v}" for k, v in failed.details.items() if k != "printed")
        raise ToolkitError(
            f"{learner.name}: {failed.outcome.value}: {failed.outcome.advice}; "
            f"{' '.join(told.split())[:300]}"
        ) from failed
    finally:
        hypothesis.close()
    secret = _claimed(challenge, hypothesis)
    made = Submission(challenge=challenge.id, name=name, secret=secret, predictions=predictions)
    return made, hypothesis.outcome, usage


def write_submission(path: Path, found: Submission, force: bool = False) -> None:
    """Write a submission as .safetensors; raises UsageError, AlreadyExists."""
    require_safetensors(path, force)
    arrays = {} if found.predictions is None else {"predictions": found.predictions}
    said = _Said(
        format=SUBMISSION,
        challenge=found.challenge,
        name=found.name,
        salt=found.salt.hex(),
        secret=None if found.secret is None else list(found.secret),
        digest=found.digest,
    )
    write_tensors(path, arrays, to_builtins(said))


def require_safetensors(path: Path, force: bool = False) -> None:
    """Refuse another ending, and a file in the way; raises UsageError, AlreadyExists."""
    if path.suffix != ".safetensors":
        raise UsageError(f"--out {path} given: a submission's name ends in .safetensors")
    refuse_existing(path, force)


def read_submission(path: Path, challenge: Challenge) -> Submission:
    """Read a submission to a challenge; raises DamagedFile for anything else.

    The file's size is checked before it is opened, and the array's shape before it is read.
    """
    with array_file(path, _limit(challenge)) as file:
        if file.meta is None:
            raise ValueError("it has no metadata 'hardness'")
        require_format(file.meta, SUBMISSION, path)
        with damage(path):
            said, given = convert(file.meta, _Said), file.arrays.get("predictions")
            if len(file.arrays) > (given is not None):
                raise ValueError("it holds an array that is not called 'predictions'")
            if said.challenge != challenge.id:
                raise DamagedFile(f"{path} was made for another challenge than this one")
            if given is not None and given.dtype != np.float64:
                raise ValueError("its predictions are not numbers in float64")
            found = Submission(
                challenge=challenge.id,
                name=said.name,
                salt=bytes.fromhex(said.salt),
                secret=None if said.secret is None else read_secret(said.secret),
                predictions=None if given is None else _read(given, challenge.shape),
            )
            if found.secret is not None:
                require_member(challenge, found.secret)
    if found.digest != said.digest:
        raise DamagedFile(f"{path} was altered: its content does not have its digest")
    return found


class Score(Record, frozen=True, kw_only=True):
    """What was found when a challenge was opened, and what a submission reached.

    exact: whether everything stored came out bit for bit. risk, unclipped, name and digest are None
    without a submission; secret_right, too, where no secret was claimed.
    """

    challenge: str
    spec: str
    deadline: str | None
    examples: int
    fresh: int
    exact: bool
    name: str | None = None
    digest: str | None = None
    risk: float | None = None
    unclipped: float | None = None
    secret_right: bool | None = None
    scoring: str = SCORING
    known_by: str = KNOWN_BY

    _words: ClassVar[str] = "hardness.report.challenge.score_words"

    def _rows(self) -> list[TableRow]:
        return [self.to_dict()]


def scored(opened: Opened, found: Submission | None) -> Score:
    """Score a submission to a challenge that was opened; None says what opened alone."""
    challenge, instance = opened.challenge, opened.instance
    score = Score(
        challenge=challenge.id,
        spec=challenge.family.spec,
        deadline=challenge.said.deadline,
        examples=challenge.folder.count,
        fresh=len(challenge.fresh),
        exact=opened.exact,
    )
    if found is None:
        return score
    family, given = instance.family, found.predictions
    if given is None and found.secret is not None:
        given = family.mean(found.secret, challenge.fresh.x)
    assert given is not None  # a Submission has one of both
    sums = losses(instance, challenge.fresh, given)
    right = None if found.secret is None else family.same(found.secret, instance.hidden.secret)
    return structs.replace(
        score,
        name=found.name,
        digest=found.digest,
        risk=sums.risk,
        unclipped=sums.unclipped,
        secret_right=right,
    )


def require_name(name: str) -> None:
    """Refuse a name that is not plain ASCII, or too long; raises UsageError."""
    require(
        len(name) <= _LONGEST_NAME and bool(_NAME.fullmatch(name)),
        f"the name {name[:_LONGEST_NAME]!a} given: 1 to {_LONGEST_NAME} of A-Z a-z 0-9 . _ @ + - "
        "and single spaces between them are wanted",
    )


def _limit(challenge: Challenge) -> int:
    """Bound the bytes of a file of predictions: the longest number that is taken has 16."""
    return 16 * math.prod(challenge.shape) + HEADER


def _read(array: Described, shape: tuple[int, ...]) -> NDArray[np.float64]:
    """Read predictions as float64, their shape before any number; raises ValueError."""
    if array.shape != shape:
        raise ValueError(f"an array {array.shape} given: {shape} is wanted")
    if array.dtype.kind not in "fiu":
        raise ValueError(f"{array.dtype} numbers given: real ones are wanted")
    with np.errstate(over="ignore"):
        out = np.ascontiguousarray(array.read(), np.float64)
    if not np.isfinite(out).all():
        raise ValueError("predictions that are not finite in float64 given: mend them")
    return out


def _predict(challenge: Challenge, predict: Predict) -> NDArray[np.float64]:
    """Predict on the fresh tokens, batch by batch: (M, k, d); raises Failed."""
    out = np.empty(challenge.shape)
    batch = max(16, _BATCH_NUMBERS // (challenge.family.k * challenge.family.d))
    for start in range(0, len(out), batch):
        x = challenge.fresh.cut(start, min(start + batch, len(out))).x
        given = valid_predictions(predict, x.copy())  # which it may write into
        if given is None:
            raise Failed(Outcome.INVALID, {"reason": "nothing was packed"})
        out[start : start + batch] = given
    return out


def _claimed(challenge: Challenge, hypothesis: Hypothesis) -> Secret | None:
    if hypothesis.secret is None:
        return None
    secret = tuple(int(v) for v in hypothesis.secret)
    try:
        require_member(challenge, secret)
    except UsageError:
        return None
    return secret


def _require_contained() -> None:
    """Refuse a learner from a file unless in bubblewrap, or as the user says; ToolkitError."""
    if contain.level() == "landlock":
        raise ToolkitError(
            f"{contain.unavailable() or 'Landlock was asked for'}: a challenge runs a learner from "
            "a file in bubblewrap alone, which leaves nothing else of this machine in its reach; "
            "for a learner of your own: --contain off"
        )


def _require_out_of_reach(challenge: Challenge, file: Path) -> None:
    """Refuse a learner's file where the challenge's secret lies beside it, or below.

    Its folder is what its process can read. The secret is known by its content: under any name,
    through links of any kind, as a copy. Raises ToolkitError with the place, UsageError for a
    folder of over 10,000 files.
    """
    folder = file.resolve().parent
    files = (Path(place, name) for place, _, names in _walked(folder) for name in names)
    for count, path in enumerate(files, 1):
        if count > _MOST_FILES:
            raise UsageError(
                f"the learner's folder {folder} holds over {_MOST_FILES} files, and its process "
                "may read them all: put the learner in a folder of its own"
            )
        if _holds_secret(path, challenge.id):
            raise ToolkitError(
                f"{path} is the secret of this challenge, and the learner's process may read all "
                f"of {folder}: keep the secret, and every link to it, elsewhere"
            )


def _walked(folder: Path) -> Iterator[tuple[str, list[str], list[str]]]:
    """Walk a folder; raises UsageError where it is so deep that something could lie unseen."""
    for found in os.walk(folder):
        if len(found[0]) > len(str(folder)) + _DEEPEST:
            raise UsageError(
                f"the learner's folder {folder} has folders in folders, deeper than is looked: put "
                "the learner in a folder of its own"
            )
        yield found


def _holds_secret(path: Path, challenge: str) -> bool:
    """Return whether a file names the challenge and holds a nonce; False if it cannot be read."""
    try:
        data = read_bytes(path, SECRET_BYTES)
    except DamagedFile:
        return False
    return challenge.encode() in data and b'"nonce"' in data
