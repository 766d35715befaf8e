"""A challenge: a folder of labelled examples, fresh tokens without labels, and a commitment.

challenge.json names everything that the challenge is made of by its hash, and its id is the hash
of all that: whoever edits anything has another challenge.
"""

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardness.runs.challenge.canonical import (
    canonical,
    digest,
    hexadecimal,
    require_keys,
)
from instances.arrayfile import HEADER, read_tensors
from instances.disk import damage, require_format
from instances.errors import DamagedFile, UsageError
from instances.family import Examples, Family, Hidden, Secret, require, require_examples
from instances.files import Folder, content_hash, read_folder
from instances.limits import require_memory
from instances.strict import SMALL, Limits, read_bytes, read_json, shown

CHALLENGE, FRESH = "hardness-challenge/1", "hardness-fresh/1"
SCORING = (
    "relative risk on the fresh tokens: the sum of |F - predicted|^2 over that of |F - known|^2, "
    "F = E[Y|X], known what the family predicts without the secret; predictions are first "
    "projected on a convex set that holds F, which never raises the risk; 1 is nothing learned, "
    "0 all; ranked by the risk in nine decimals"
)
FRESH_AXIS = "fresh"
LONGEST_DEADLINE = 200
_JSON = Limits(size=1 << 16, printable=True)
_LARGEST_COUNT, _SHOWN = 1 << 40, 200
_TOKENS = ("words", "x")  # of the arrays that examples are stored as, those without labels
_FIELDS = {
    "format",
    "spec",
    "revision",
    "commitment",
    "instance",
    "examples",
    "fresh",
    "deadline",
    "scoring",
    "id",
}


@dataclass(frozen=True, kw_only=True, eq=False)
class Challenge:
    """The public part of a challenge, as it was read from its folder and found consistent.

    fresh: M examples of which the tokens alone are known, their labels blank.
    """

    folder: Folder
    commitment: str
    fresh: Examples
    deadline: str | None
    id: str

    @property
    def family(self) -> Family:
        """The family that the secret member is from."""
        return self.folder.family

    @property
    def shape(self) -> tuple[int, int, int]:
        """(M, k, d), what predictions on the fresh tokens have."""
        return len(self.fresh), self.family.k, self.family.d


def commitment(family: Family, hidden: Hidden) -> str:
    """Commit to a secret part: SHA-256(nonce || canonical JSON of secret, seed and spec)."""
    said = {"secret": list(hidden.secret), "seed": hidden.seed, "spec": family.spec}
    return hashlib.sha256(hidden.nonce + canonical(said)).hexdigest()


def unlabelled(examples: Examples) -> dict[str, NDArray[Any]]:
    """Keep the arrays of examples that hold tokens."""
    return {name: v for name, v in examples.tensors.items() if name in _TOKENS}


def blank(like: Examples, tokens: dict[str, NDArray[Any]], count: int) -> Examples:
    """Make examples of tokens alone, their labels blank; raises ValueError for what is none."""
    if any(len(value) != count for value in tokens.values()):
        raise ValueError(f"does not hold the {count} tokens it should")
    labels = {
        name: np.zeros((count, *value.shape[1:]), value.dtype)
        for name, value in like.tensors.items()
        if name not in _TOKENS
    }
    if set(tokens) & set(labels) or set(tokens) | set(labels) != set(like.tensors):
        raise ValueError("does not hold tokens alone")
    return like.family.restore(tokens | labels, count)


def file_hash(path: Path) -> str:
    """Hash a public file of an instance, byte for byte; raises DamagedFile."""
    return hashlib.sha256(read_bytes(path, SMALL.size)).hexdigest()


def challenge_json(
    folder: Path, family: Family, committed: str, examples: int, fresh: Examples, deadline: str
) -> dict[str, Any]:
    """Write what a challenge is as JSON, of a folder in which instance.json stands already."""
    data = {
        "format": CHALLENGE,
        "spec": family.spec,
        "revision": family.revision,
        "commitment": committed,
        "instance": file_hash(folder / "instance.json"),
        "examples": examples,
        "fresh": {"count": len(fresh), "sha256": content_hash(fresh)},
        "deadline": deadline or None,
        "scoring": SCORING,
    }
    return data | {"id": digest(data)}


def require_deadline(text: str) -> None:
    """Refuse a deadline that is not one short line; raises UsageError."""
    require(
        len(text) <= LONGEST_DEADLINE and text.isprintable(),
        f"a deadline of {len(text)} characters given: one line of at most {LONGEST_DEADLINE} "
        "printable ones is wanted",
    )


def read_challenge(path: Path) -> Challenge:
    """Read the folder of a challenge, and check every hash but those of the labelled examples.

    These are checked where they are read. Raises UsageError, DamagedFile.
    """
    place = path / "challenge.json"
    if not place.is_file():
        raise UsageError(f"{path} is not a folder that `hardness challenge create` made")
    refuse_links(path)
    data = read_json(place, _JSON)
    require_format(data, CHALLENGE, place)
    with damage(place):
        require_keys(data, _FIELDS)
        if digest({name: v for name, v in data.items() if name != "id"}) != data["id"]:
            raise DamagedFile(f"{place} was altered: its content does not have its id")
        if data["scoring"] != SCORING:
            raise DamagedFile(f"{place} is scored in a way that this version does not know")
        require_keys(data["fresh"], {"count", "sha256"})
        count = _count(data["fresh"]["count"])
        hexadecimal(data["commitment"])
        if data["deadline"] is not None:
            require_deadline(data["deadline"])
    public = path / "instance.json"
    if not public.is_file() or file_hash(public) != data["instance"]:
        raise DamagedFile(f"{public} was altered: it is not the one of challenge.json")
    folder = read_folder(path)
    with damage(place):
        said = (data["spec"], data["revision"], _count(data["examples"]))
        if said != (folder.family.spec, folder.family.revision, folder.count):
            raise DamagedFile(f"{place} and instance.json are of different instances")
    fresh = _fresh(path, folder, count)
    if content_hash(fresh) != data["fresh"]["sha256"]:
        raise DamagedFile(f"{path}: the fresh tokens were altered: challenge.json has another hash")
    return Challenge(
        folder=folder,
        commitment=data["commitment"],
        fresh=fresh,
        deadline=data["deadline"],
        id=data["id"],
    )


def refuse_links(path: Path) -> None:
    """Refuse a folder with anything but plain files in it; raises DamagedFile."""
    for entry in sorted(path.iterdir()):
        if entry.is_symlink() or not entry.is_file():
            raise DamagedFile(
                f"{path} holds {shown(entry.name, 80)}: plain files alone belong there"
            )


def _fresh(path: Path, folder: Folder, count: int) -> Examples:
    found = [path / name for name in ("fresh.safetensors", "fresh.npz") if (path / name).is_file()]
    if len(found) != 1:
        raise DamagedFile(f"{path} holds {len(found)} files of fresh tokens: one is wanted")
    require_room(folder.family, count)
    limit = count * folder.family.bytes_per_example + HEADER
    tensors, _ = read_tensors(found[0], FRESH, limit)
    try:
        return blank(folder.public.reference, tensors, count)
    except ValueError as error:
        raise DamagedFile(f"{found[0]} {error}") from error


def _count(value: Any) -> int:
    if type(value) is not int or not 0 < value < _LARGEST_COUNT:
        raise ValueError(f"{shown(value)} is no number of examples")
    return value


def require_member(challenge: Challenge, secret: Secret) -> None:
    """Refuse a secret that no member of the family has; raises UsageError."""
    try:
        challenge.family.mean(secret, challenge.fresh.cut(0, 1).x)
    except UsageError as error:
        raise UsageError(str(error)[:_SHOWN]) from error


def require_room(family: Family, count: int) -> None:
    """Refuse more fresh tokens than memory holds predictions of; raises TooLarge."""
    require_memory(24 * count * family.k * family.d, f"predictions on {count} fresh tokens")


def require_shards(challenge: Challenge) -> None:
    """Refuse stored examples that are longer than they may be; raises DamagedFile."""
    for shard in challenge.folder.shards:
        if not re.fullmatch(r"[0-9a-f]{64}", shard.sha256) or shard.count < 1:
            raise DamagedFile(f"{challenge.folder.path}: {shard.file} is not described rightly")
        require_examples(challenge.family, shard.count)
