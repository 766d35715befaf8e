"""A user's own families and learners on their way to worker processes, by cloudpickle.

What stands in a file is executed there if the file is there as it was; anything else goes by value.
What cannot go is known before anything starts: then all runs are done in this process.
"""

import hashlib
import pickle
from collections.abc import Iterable
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any

from hardness.runs.registry import KEYS, OBJECTS
from instances.errors import UsageError
from instances.spec import OWN, resolve
from instances.userfile import FILES, pickled


def hindrance(specs: Iterable[str], learners: Iterable[str]) -> str:
    """Say why another process cannot have an object of a user that runs need; empty if it can.

    specs, learners: of the runs, by their names.

    >>> hindrance(["parity:d=8,m=2"], ["elimination"])
    ''
    """
    families = {spec.partition(":")[0] for spec in specs}
    mine = {name: OWN[name] for name in families if name in OWN}
    objects: dict[str, Any] = {name: one for name, one in mine.items() if not one.sha256}
    objects |= {name: OBJECTS[name] for name in learners if name in OBJECTS}
    try:
        for name, value in objects.items():
            pickled(value, name)
    except UsageError as error:
        return str(error)
    return ""


def carried() -> bytes:
    """Pickle the families and learners that a user gave to this process, but for what cannot be."""
    keys = tuple(KEYS.items())
    return _carried(tuple(OWN.items()), tuple(OBJECTS.items()), frozenset(FILES), keys)


@lru_cache(1)
def _carried(
    families: Iterable[Any],
    learners: Iterable[Any],
    files: frozenset[str],
    keys: tuple[tuple[str, str], ...],
) -> bytes:
    tables = list[dict[str, Any]]()
    for table in (families, learners):
        tables.append({})
        for name, value in table:
            place = (value.path, value.defined, value.sha256) if table is families else None
            with suppress(UsageError):  # which is refused where it is used
                tables[-1][name] = place, None
                tables[-1][name] = place, pickled(value, name)
    return pickle.dumps((*tables, files, dict(keys)))


@lru_cache(1)
def know(own: bytes) -> None:
    """In a worker process: know what `carried` packed, and nothing else of a user."""
    families, learners, files, keys = pickle.loads(own)
    FILES.clear()
    FILES.update(files)
    KEYS.clear()
    KEYS.update(keys)
    for here, there in ((OWN, families), (OBJECTS, learners)):
        here.clear()
        for name, (place, value) in there.items():
            if not (place and _executed(*place)) and value:
                with suppress(Exception):  # of a user's object, unknown then to who asks for it
                    here[name] = pickle.loads(value)


def _executed(path: Path, defined: str, sha256: str | None) -> bool:
    """Know a family by executing its file, if this machine has it as it was."""
    try:
        same = sha256 and hashlib.sha256(path.read_bytes()).hexdigest() == sha256
    except OSError:
        return False
    with suppress(UsageError):  # it needs what is not here: then by value
        if same:
            resolve(f"{path}:{defined}", lacking=True)
            return True
    return False
