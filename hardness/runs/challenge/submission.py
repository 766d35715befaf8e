"""A submission: predictions on the fresh tokens, a claimed secret, or both, under a name.

Its digest commits to all of it, with a salt of 256 random bits: published before the deadline it
gives nothing away, and nobody else can have made a submission that has it.
"""

import hashlib
import re
import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardness.runs.challenge.arrays import finite, limit_of
from hardness.runs.challenge.canonical import (
    digest,
    hexadecimal,
    integers,
    require_keys,
)
from hardness.runs.challenge.record import Challenge, require_member
from instances.arrayfile import ArrayFile, array_file
from instances.disk import refuse_existing, require_format, write_tensors
from instances.errors import DamagedFile, UsageError
from instances.family import Secret, require
from instances.strict import shown

SUBMISSION = "hardness-submission/1"
_NAME = re.compile(r"[A-Za-z0-9._@+-]+( [A-Za-z0-9._@+-]+)*")
_LONGEST_NAME = 64
_FIELDS = {"format", "challenge", "name", "salt", "secret", "digest"}


@dataclass(frozen=True, kw_only=True, eq=False)
class Submission:
    """What a participant hands in: (M, k, d) finite predictions, a claimed secret, or both.

    Raises UsageError for neither, and for a name that is not plain ASCII: letters that look alike
    are then the same letter.
    """

    challenge: str
    name: str
    salt: bytes
    secret: Secret | None
    predictions: NDArray[np.float64] | None

    def __post_init__(self) -> None:
        require_name(self.name)
        require(
            self.secret is not None or self.predictions is not None,
            "a submission needs predictions or a claimed secret",
        )

    @property
    def content(self) -> str:
        """The hash of what is said, whoever says it."""
        return digest({"secret": _listed(self.secret), "predictions": _hash(self.predictions)})

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


def require_name(name: str) -> None:
    """Refuse a name that is not short, plain ASCII; raises UsageError.

    >>> require_name("Ann B. of X-lab")
    """
    require(
        len(name) <= _LONGEST_NAME and bool(_NAME.fullmatch(name)),
        f"the name {name[:_LONGEST_NAME]!a} given: 1 to {_LONGEST_NAME} of A-Z a-z 0-9 . _ @ + - "
        "and single spaces between them are wanted",
    )


def new_submission(
    challenge: Challenge, name: str, predictions: NDArray[Any] | None, secret: Secret | None
) -> Submission:
    """Make a submission to a challenge, with a new salt; raises UsageError for what cannot be."""
    if secret is not None:
        require_member(challenge, secret)
    if predictions is not None:
        if predictions.shape != challenge.shape:
            raise UsageError(f"predictions {predictions.shape} given: {challenge.shape} are wanted")
        predictions = finite(predictions, "predictions")
    return Submission(
        challenge=challenge.id,
        name=name,
        salt=secrets.token_bytes(32),
        secret=secret,
        predictions=predictions,
    )


def require_safetensors(path: Path, force: bool = False) -> None:
    """Refuse another ending, and a file in the way; raises UsageError, AlreadyExists."""
    if path.suffix != ".safetensors":
        raise UsageError(f"--out {path} given: a submission's name ends in .safetensors")
    refuse_existing(path, force)


def write_submission(path: Path, found: Submission, force: bool = False) -> None:
    """Write a submission as .safetensors; raises UsageError, AlreadyExists."""
    require_safetensors(path, force)
    arrays = {} if found.predictions is None else {"predictions": found.predictions}
    meta = {
        "format": SUBMISSION,
        "challenge": found.challenge,
        "name": found.name,
        "salt": found.salt.hex(),
        "secret": _listed(found.secret),
        "digest": found.digest,
    }
    write_tensors(path, arrays, meta)


def read_submission(path: Path, challenge: Challenge) -> Submission:
    """Read a submission to a challenge; raises DamagedFile for anything else.

    Its size is looked at before it is opened, and its shape before any number is read.
    """
    with array_file(path, limit_of(challenge.shape)) as file:
        data, names = file.meta, set(file.arrays)
        if data is None:
            raise ValueError("it has no metadata 'hardness'")
        require_format(data, SUBMISSION, path)
        require_keys(data, _FIELDS)
        if names - {"predictions"}:
            raise ValueError(f"it holds an array {shown(min(names - {'predictions'}))}")
        if data["challenge"] != challenge.id:
            raise DamagedFile(f"{path} was made for another challenge than this one")
        try:
            found = Submission(
                challenge=challenge.id,
                name=_text(data["name"]),
                salt=hexadecimal(data["salt"]),
                secret=None if data["secret"] is None else integers(data["secret"]),
                predictions=_predictions(file, path, challenge) if names else None,
            )
            if found.secret is not None:
                require_member(challenge, found.secret)
        except UsageError as error:
            raise ValueError(str(error)) from error
        if found.digest != data["digest"]:
            raise DamagedFile(f"{path} was altered: its content does not have its digest")
    return found


def _predictions(file: ArrayFile, path: Path, challenge: Challenge) -> NDArray[np.float64]:
    said = file.arrays["predictions"]
    if (said.dtype, said.shape) != (np.float64, challenge.shape):
        raise ValueError(f"its predictions are not {challenge.shape} numbers in float64")
    return finite(said.read(), path)


def _listed(secret: Secret | None) -> list[int] | None:
    return None if secret is None else list(secret)


def _hash(predictions: NDArray[np.float64] | None) -> str | None:
    if predictions is None:
        return None
    little = np.ascontiguousarray(predictions, "<f8")
    return hashlib.sha256(little.tobytes()).hexdigest()


def _text(value: Any) -> str:
    if type(value) is not str:
        raise ValueError(f"{shown(value)} is no name")
    return value
