"""A new store that is made of others: it appears when it is complete, or not at all."""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from hardness.sweep.store.place import refuse_log
from hardness.sweep.store.writer import Writer, create
from instances.disk import refuse_existing, refuse_unwritable, written
from instances.errors import AlreadyExists


@contextlib.contextmanager
def new_store(out: Path) -> Iterator[Writer]:
    """Give a store to fill, and name it `out` if all goes well; raises AlreadyExists."""
    refuse_existing(out)
    refuse_log(out)
    refuse_unwritable(out)
    draft = out.with_name(f".{out.name}.{os.getpid()}.new")
    try:
        with create(draft) as writer:
            # Nothing has to last before all is there.
            writer.tables.connection.execute("PRAGMA synchronous = OFF")
            yield writer
        with written(out):
            _settle(draft)
            os.link(draft, out)
    except FileExistsError as error:
        raise AlreadyExists(f"{out} exists and was kept: give another --out") from error
    finally:
        for name in (draft, *(draft.with_name(draft.name + end) for end in ("-wal", "-shm"))):
            name.unlink(missing_ok=True)


def _settle(path: Path) -> None:
    with path.open("rb") as file:
        os.fsync(file.fileno())
