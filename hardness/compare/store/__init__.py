"""The store: runs, certificates and data of figures in one SQLite file."""

from hardness.compare.store.reader import Reader, read
from hardness.compare.store.writer import Writer, create, reopen

__all__ = ["Reader", "Writer", "create", "read", "reopen"]
