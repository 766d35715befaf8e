"""The store: runs, certificates and data of figures in one SQLite file."""

from typing import TYPE_CHECKING

from instances.lazy import lazily

if TYPE_CHECKING:
    from hardness.sweep.store.reader import Reader, read
    from hardness.sweep.store.writer import Writer, create, reopen

__all__ = ["Reader", "Writer", "create", "read", "reopen"]

lazily(__name__)
