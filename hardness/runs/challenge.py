"""Challenges: an organiser commits to a secret, and its reveal proves every label.

A challenge is a folder of labelled examples, fresh tokens without labels, and challenge.json. That
file holds the hash of each part and a commitment to the secret; its id is the hash of all it says,
so an edited challenge has another id. Submissions and what they reach: hardness/runs/submission.py.
"""

import hashlib
import json
import secrets
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from msgspec import Meta, Struct, convert, structs, to_builtins
from numpy.typing import NDArray

from hardness.runs.risk import losses
from instances.arrayfile import HEADER, read_tensors
from instances.disk import (
    SECRET,
    damage,
    digest,
    new_folder,
    refuse_existing,
    refuse_unwritable,
    require_format,
    write_json,
    write_tensors,
)
from instances.errors import AlreadyExists, DamagedFile, Refuted, UsageError
from instances.family import (
    REFERENCE_EXAMPLES,
    Examples,
    Family,
    Hidden,
    Instance,
    Secret,
    require,
    require_examples,
)
from instances.files import (
    Folder,
    TensorFormat,
    content_hash,
    fill_public,
    read_folder,
    secret_json,
)
from instances.limits import require_memory
from instances.spec import require_stored
from instances.streams import generator
from instances.strict import SMALL, Limits, read_bytes, read_json, shown

CHALLENGE, FRESH = "hardness-challenge/1", "hardness-fresh/1"
SCORING = (
    "relative risk on the fresh tokens: the sum of |F - predicted|^2 over that of |F - known|^2, "
    "F = E[Y|X], known what the family predicts without the secret, on top of the random heads for "
    "the family hidden; predictions are first "
    "projected on a convex set that holds F, which never raises the risk; 1 is nothing learned, "
    "0 all"
)
SECRET_BYTES = 1 << 22
_OURS = ("challenge.json", "instance.json", "examples-*", "fresh.*")
_FRESH_AXIS = "fresh"
_TOKENS = ("words", "x")  # of the arrays that examples are stored as, those without labels
_BITS = 256
_LONGEST_DEADLINE = 200

Hex = Annotated[str, Meta(pattern=r"\A[0-9a-f]{64}\Z")]  # 32 bytes
_Count = Annotated[int, Meta(gt=0, lt=1 << 40)]
_Integers = Annotated[tuple[int, ...], Meta(min_length=1, max_length=1 << 16)]


class Fresh(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How many fresh tokens there are, and the hash of their content."""

    count: _Count
    sha256: Hex


class Statement(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What challenge.json says: `id` is the hash of all the rest."""

    format: str
    spec: str
    revision: int
    commitment: Hex
    instance: Hex
    examples: _Count
    fresh: Fresh
    deadline: Annotated[str, Meta(max_length=_LONGEST_DEADLINE)] | None
    scoring: str
    id: str = ""

    def digest(self) -> str:
        """Hash everything but the id."""
        said = to_builtins(self)
        del said["id"]
        return digest(said)


class _SecretPart(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    format: str
    spec: str
    secret: list[int]
    seed: int
    nonce: Hex
    challenge: str


@dataclass(frozen=True, kw_only=True, eq=False)
class Challenge:
    """The public part of a challenge, as read from its folder and found consistent.

    fresh: M examples of which only the tokens are known, their labels blank.
    """

    folder: Folder
    said: Statement
    fresh: Examples

    @property
    def id(self) -> str:
        """The hash of all that challenge.json says."""
        return self.said.id

    @property
    def family(self) -> Family:
        """The family that the secret member is from."""
        return self.folder.family

    @property
    def shape(self) -> tuple[int, int, int]:
        """(M, k, d), the shape of predictions on the fresh tokens."""
        return len(self.fresh), self.family.k, self.family.d


@dataclass(frozen=True, kw_only=True, eq=False)
class Opened:
    """A challenge whose secret part was revealed and found right.

    exact: whether everything stored came out bit for bit; else up to rounding, as real labels do on
    another machine.
    """

    challenge: Challenge
    instance: Instance
    exact: bool


def create(
    path: Path,
    secret_path: Path,
    family: Family,
    examples: int,
    fresh: int = 1024,
    deadline: str = "",
    tensors: TensorFormat = "safetensors",
    force: bool = False,
    progress: Callable[[int], None] = lambda done: None,
) -> Challenge:
    """Write a challenge's folder and its secret file: both, or neither.

    Everything hidden is drawn from the operating system, so no seed reproduces it. `force` replaces
    the folder, never the secret file: without that file its challenge could not be opened any more.
    Raises UsageError, AlreadyExists, TooLarge.
    """
    require_stored(family, "no challenge can be made of it")
    require(
        len(deadline) <= _LONGEST_DEADLINE and deadline.isprintable(),
        f"a deadline of {len(deadline)} characters given: one line of at most {_LONGEST_DEADLINE} "
        "printable ones is wanted",
    )
    _require_apart(path, secret_path)
    _require_room(family, fresh)
    hidden = Hidden(
        secret=family.draw(generator(secrets.randbits(_BITS), "secret", family.spec)),
        seed=secrets.randbits(_BITS),
        nonce=secrets.token_bytes(32),
    )
    instance = Instance(family=family, hidden=hidden)
    drawn = instance.examples(0, fresh, axis=_FRESH_AXIS)
    if not losses(instance, drawn, family.known(drawn.x)).scale:
        raise UsageError(f"--fresh {fresh} given: none of them has an unknown label: raise it")
    with ExitStack() as undo:
        with new_folder(path, force=force, ours=_OURS) as folder:
            fill_public(folder, instance.public, instance, examples, tensors, progress)
            tokens = _unlabelled(drawn)
            meta = {"format": FRESH, "spec": family.spec}
            write_tensors(folder / f"fresh.{tensors}", tokens, meta)
            blank = _blank(instance.public.reference, tokens, fresh)
            said = Statement(
                format=CHALLENGE,
                spec=family.spec,
                revision=family.revision,
                commitment=commitment(family, hidden),
                instance=_file_hash(folder / "instance.json"),
                examples=examples,
                fresh=Fresh(count=fresh, sha256=content_hash(blank)),
                deadline=deadline or None,
                scoring=SCORING,
            )
            said = structs.replace(said, id=said.digest())
            write_json(folder / "challenge.json", to_builtins(said))
            write_json(secret_path, secret_json(instance) | {"challenge": said.id}, mode=0o600)
            undo.callback(secret_path.unlink)  # unless the folder gets its name
        undo.pop_all()
    return read_challenge(path)


def read_challenge(path: Path) -> Challenge:
    """Read the folder of a challenge and check every hash but those of the labelled examples.

    These are checked where they are read. Raises UsageError, DamagedFile, TooLarge.
    """
    place, public = path / "challenge.json", path / "instance.json"
    if not place.is_file():
        raise UsageError(f"{path} is not a folder that `hardness challenge create` made")
    for entry in sorted(path.iterdir()):
        if entry.is_symlink() or not entry.is_file():
            raise DamagedFile(
                f"{path} holds {shown(entry.name, 80)}: plain files alone belong there"
            )
    data = read_json(place, Limits(size=1 << 16, printable=True))
    require_format(data, CHALLENGE, place)
    with damage(place):
        said = convert(data, Statement)
    if said.digest() != said.id:
        raise DamagedFile(f"{place} was altered: its content does not have its id")
    if said.scoring != SCORING:
        raise DamagedFile(f"{place} is scored in a way that this version does not know")
    if not public.is_file() or _file_hash(public) != said.instance:
        raise DamagedFile(f"{public} was altered: it is not the one of challenge.json")
    folder = read_folder(path)
    family = folder.family
    if (said.spec, said.revision, said.examples) != (family.spec, family.revision, folder.count):
        raise DamagedFile(f"{place} and instance.json are of different instances")
    for shard in folder.shards:  # before anything of their size is read
        require_examples(family, shard.count)
    fresh = _read_fresh(path, folder, said.fresh.count)
    if content_hash(fresh) != said.fresh.sha256:
        raise DamagedFile(f"{path}: the fresh tokens were altered: challenge.json has another hash")
    return Challenge(folder=folder, said=said, fresh=fresh)


def reveal(
    challenge: Challenge, secret_path: Path, progress: Callable[[int], None] = lambda done: None
) -> Opened:
    """Open a challenge and make all of it again; raises Refuted where anything differs."""
    instance = Instance(family=challenge.family, hidden=_read_hidden(challenge, secret_path))
    folder, stored, fresh = challenge.folder, challenge.folder.public.reference, challenge.fresh
    again = instance.examples(0, REFERENCE_EXAMPLES, axis="reference")
    exact = _same(stored, again, "the reference examples")
    start = 0
    for shard in folder.shards:
        again = instance.examples(start, shard.count)
        exact &= _same(folder.shard(shard), again, f"the examples of {shard.file}")
        start += shard.count
        progress(shard.count)
    drawn = instance.examples(0, len(fresh), axis=_FRESH_AXIS)
    exact &= _same(fresh, _blank(stored, _unlabelled(drawn), len(drawn)), "the fresh tokens")
    return Opened(challenge=challenge, instance=instance, exact=exact)


def require_member(challenge: Challenge, secret: Secret) -> None:
    """Refuse a secret that no member of the family has; raises UsageError."""
    try:
        challenge.family.mean(secret, challenge.fresh.cut(0, 1).x)
    except UsageError as error:
        raise UsageError(str(error)[:200]) from error


def read_secret(value: Any) -> Secret:
    """Read a list of 1 to 65,536 integers of at most 256 bits from JSON; raises ValueError.

    >>> read_secret([2, 5, 7])
    (2, 5, 7)
    """
    secret = convert(value, _Integers)
    if any(v.bit_length() > _BITS for v in secret):
        raise ValueError(f"a secret has integers of at most {_BITS} bits")
    return secret


def commitment(family: Family, hidden: Hidden) -> str:
    """Commit to a secret part: SHA-256(nonce || canonical JSON of secret, seed and spec)."""
    said = {"secret": list(hidden.secret), "seed": hidden.seed, "spec": family.spec}
    text = json.dumps(said, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(hidden.nonce + text.encode()).hexdigest()


def _file_hash(path: Path) -> str:
    return hashlib.sha256(read_bytes(path, SMALL.size)).hexdigest()


def _require_apart(path: Path, secret_path: Path) -> None:
    """Refuse a secret file in the public folder, or in another one's place."""
    inner, outer = secret_path.resolve(), path.resolve()
    if inner == outer or outer in inner.parents or inner in outer.parents:
        raise UsageError(
            f"--secret {secret_path} given: it lies in the public folder {path}, or that one in "
            "it: keep it elsewhere"
        )
    if secret_path.is_file():
        raise AlreadyExists(
            f"{secret_path} exists and was kept: without it the challenge that it is of could "
            "never be opened: give another --secret"
        )
    refuse_existing(secret_path)
    refuse_unwritable(secret_path)


def _require_room(family: Family, count: int) -> None:
    """Refuse more fresh tokens than memory holds predictions of; raises TooLarge."""
    require_memory(24 * count * family.k * family.d, f"predictions on {count} fresh tokens")


def _unlabelled(examples: Examples) -> dict[str, NDArray[Any]]:
    return {name: v for name, v in examples.tensors.items() if name in _TOKENS}


def _blank(like: Examples, tokens: dict[str, NDArray[Any]], count: int) -> Examples:
    """Make examples of tokens alone, their labels blank; raises ValueError for anything else."""
    if tokens.keys() != _unlabelled(like).keys() or any(len(v) != count for v in tokens.values()):
        raise ValueError(f"does not hold {count} tokens, and tokens alone")
    labels = {
        name: np.zeros((count, *value.shape[1:]), value.dtype)
        for name, value in like.tensors.items()
        if name not in _TOKENS
    }
    return like.family.restore(tokens | labels, count)


def _read_fresh(path: Path, folder: Folder, count: int) -> Examples:
    found = list(path.glob("fresh.*"))
    if len(found) != 1:
        raise DamagedFile(f"{path} holds {len(found)} files of fresh tokens: one is wanted")
    _require_room(folder.family, count)
    tensors, _ = read_tensors(found[0], FRESH, count * folder.family.bytes_per_example + HEADER)
    try:
        return _blank(folder.public.reference, tensors, count)
    except ValueError as error:
        raise DamagedFile(f"{found[0]} {error}") from error


def _read_hidden(challenge: Challenge, path: Path) -> Hidden:
    """Read the secret part and hold it against every commitment."""
    data = read_json(path, Limits(size=SECRET_BYTES, printable=True))
    require_format(data, SECRET, path)
    if "challenge" not in data:
        raise UsageError(f"{path} is the secret of an instance, and of no challenge: give that one")
    with damage(path):
        said = convert(data, _SecretPart)
        hidden = Hidden(
            secret=read_secret(said.secret), seed=said.seed, nonce=bytes.fromhex(said.nonce)
        )
    if said.challenge != challenge.id:
        raise Refuted(
            f"{path} is the secret of another challenge: this one was altered after it was made, "
            "or the file was"
        )
    family, public = challenge.family, challenge.folder.public
    committed = (family.spec, challenge.said.commitment, public.commitments)
    both = {"secret": hidden.commitment("secret"), "seed": hidden.commitment("seed")}
    if committed != (said.spec, commitment(family, hidden), both):
        raise Refuted(f"{path} does not open the commitment: it is not what was committed to")
    try:
        require_member(challenge, hidden.secret)
    except UsageError as error:
        raise Refuted(f"{path}: no member of the family has this secret: {error}") from error
    return hidden


def _same(stored: Examples, again: Examples, what: str) -> bool:
    """Return whether examples are the same bit for bit; raises Refuted beyond rounding."""
    if content_hash(stored) == content_hash(again):
        return True
    if not again.agrees(stored):
        raise Refuted(f"{what} are not those of the revealed secret and seed: they were altered")
    return False
