"""The reveal: the secret file opens the commitment, and gives every stored label and token."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from hardness.runs.challenge.canonical import hexadecimal, integers, require_keys
from hardness.runs.challenge.record import (
    FRESH_AXIS,
    Challenge,
    blank,
    commitment,
    require_member,
    require_shards,
    unlabelled,
)
from instances.disk import SECRET, damage, require_format
from instances.errors import Refuted, UsageError
from instances.family import REFERENCE_EXAMPLES, Examples, Hidden, Instance
from instances.files import content_hash
from instances.strict import Limits, read_json

_JSON = Limits(size=1 << 22, printable=True)


@dataclass(frozen=True, kw_only=True, eq=False)
class Opened:
    """A challenge whose secret part was revealed and held.

    exact: whether everything stored was given bit for bit; else up to rounding, as on another
    machine real labels are.
    """

    challenge: Challenge
    instance: Instance
    exact: bool


def reveal(
    challenge: Challenge, secret_path: Path, progress: Callable[[int], None] = lambda done: None
) -> Opened:
    """Open a challenge and make all of it again; raises Refuted where anything differs."""
    instance = Instance(family=challenge.family, hidden=_hidden(challenge, secret_path))
    require_shards(challenge)
    stored = challenge.folder.public.reference
    again = instance.examples(0, REFERENCE_EXAMPLES, axis="reference")
    exact = _compare(stored, again, "the reference examples")
    start = 0
    for shard in challenge.folder.shards:
        again = instance.examples(start, shard.count)
        what = f"the examples of {shard.file}"
        exact &= _compare(challenge.folder.shard(shard), again, what)
        start += shard.count
        progress(shard.count)
    drawn = instance.examples(0, len(challenge.fresh), axis=FRESH_AXIS)
    bare = blank(stored, unlabelled(drawn), len(drawn))
    exact &= _compare(challenge.fresh, bare, "the fresh tokens")
    return Opened(challenge=challenge, instance=instance, exact=exact)


def _hidden(challenge: Challenge, path: Path) -> Hidden:
    """Read the secret part and hold it against every commitment."""
    data = read_json(path, _JSON)
    require_format(data, SECRET, path)
    family, public = challenge.family, challenge.folder.public
    if "challenge" not in data:
        raise UsageError(f"{path} is the secret of an instance, and of no challenge: give that one")
    with damage(path):
        require_keys(data, {"format", "spec", "secret", "seed", "nonce", "challenge"})
        if type(data["seed"]) is not int or not 0 <= data["seed"] < 1 << 256:
            raise ValueError("the seed is no number of 256 bits")
        hidden = Hidden(
            secret=integers(data["secret"]),
            seed=data["seed"],
            nonce=hexadecimal(data["nonce"]),
        )
    if data["challenge"] != challenge.id:
        raise Refuted(
            f"{path} is the secret of another challenge: this one was altered after it was made, "
            "or the file was"
        )
    said = {what: hidden.commitment(what) for what in ("secret", "seed")}
    if (
        data["spec"] != family.spec
        or commitment(family, hidden) != challenge.commitment
        or said != public.commitments
    ):
        raise Refuted(f"{path} does not open the commitment: it is not what was committed to")
    try:
        require_member(challenge, hidden.secret)
    except UsageError as error:
        raise Refuted(f"{path}: no member of the family has this secret: {error}") from error
    return hidden


def _compare(stored: Examples, again: Examples, what: str) -> bool:
    """Say whether examples are the same bit for bit; raises Refuted beyond rounding."""
    if content_hash(stored) == content_hash(again):
        return True
    if not again.agrees(stored):
        raise Refuted(f"{what} are not those of the revealed secret and seed: they were altered")
    return False
