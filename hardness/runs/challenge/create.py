"""Making a challenge: everything hidden is drawn from the operating system."""

import secrets
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

from hardness.runs.challenge.record import (
    FRESH,
    FRESH_AXIS,
    Challenge,
    blank,
    challenge_json,
    commitment,
    read_challenge,
    require_deadline,
    require_room,
    unlabelled,
)
from hardness.runs.risk.given import losses
from instances.disk import new_folder, refuse_existing, refuse_unwritable, write_json, write_tensors
from instances.errors import AlreadyExists, UsageError
from instances.family import Family, Hidden, Instance
from instances.files import TensorFormat, fill_public, secret_json
from instances.spec import require_stored
from instances.streams import generator

_OURS = ("challenge.json", "instance.json", "examples-*", "fresh.*")


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
    """Write a challenge's folder and its secret file: both, or none of them.

    No seed reproduces it. `force` replaces the folder, never the secret file: without that its
    challenge could not be opened any more. Raises UsageError, AlreadyExists, TooLarge.
    """
    require_stored(family, "no challenge can be made of it")
    require_deadline(deadline)
    _require_apart(path, secret_path)
    require_room(family, fresh)
    instance = Instance(family=family, hidden=_hidden(family))
    drawn = instance.examples(0, fresh, axis=FRESH_AXIS)
    if not losses(instance, drawn, family.known(drawn.x)).scale:
        raise UsageError(f"--fresh {fresh} given: none of them has an unknown label: raise it")
    with ExitStack() as undo:
        with new_folder(path, force=force, ours=_OURS) as folder:
            fill_public(folder, instance.public, instance, examples, tensors, progress)
            stripped = unlabelled(drawn)
            meta = {"format": FRESH, "spec": family.spec}
            write_tensors(folder / f"fresh.{tensors}", stripped, meta)
            bare = blank(instance.public.reference, stripped, fresh)
            committed = commitment(family, instance.hidden)
            said = challenge_json(folder, family, committed, examples, bare, deadline)
            write_json(folder / "challenge.json", said)
            write_json(secret_path, secret_json(instance) | {"challenge": said["id"]}, mode=0o600)
            undo.callback(secret_path.unlink)  # unless the folder gets its name
        undo.pop_all()
    return read_challenge(path)


def _hidden(family: Family) -> Hidden:
    """Draw secret, seed and nonce, each from entropy of its own that is not kept."""
    rng = generator(secrets.randbits(256), "secret", family.spec)
    return Hidden(
        secret=family.draw(rng), seed=secrets.randbits(256), nonce=secrets.token_bytes(32)
    )


def _require_apart(path: Path, secret_path: Path) -> None:
    """Refuse a secret file in the public folder, or in another one's place."""
    inner, outer = secret_path.resolve(), path.resolve()
    mounted = outer.exists() and any(p.exists() and p.samefile(outer) for p in inner.parents)
    if inner == outer or outer in inner.parents or mounted:
        raise UsageError(
            f"--secret {secret_path} given: it lies in the public folder {path}: keep it elsewhere"
        )
    if inner in outer.parents:
        raise UsageError(f"--secret {secret_path} given: the public folder would lie in it")
    if secret_path.exists() and secret_path.is_file():
        raise AlreadyExists(
            f"{secret_path} exists and was kept: without it the challenge that it is of could "
            "never be opened: give another --secret"
        )
    refuse_existing(secret_path)
    refuse_unwritable(secret_path)
