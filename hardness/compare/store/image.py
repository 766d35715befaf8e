"""The pages of a store's file and of its log, as they lie on the disk."""

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hardness.compare.store.connect import MAGIC
from hardness.compare.store.pages import Page, records
from hardness.compare.store.schema import PAGE_BYTES
from instances.errors import DamagedFile

Record = tuple[int | None, list[Any]]  # its row number, None in an index, and its columns
_LOG_HEADER, _FRAME_HEADER = 32, 24


class Image:
    """A file and its log, of which any part may be damaged."""

    def __init__(self, path: Path) -> None:
        """Look at the files; raises DamagedFile where they cannot be read at all."""
        self.path = path
        try:
            self._file = path.open("rb")
            start = self._file.read(100)
        except OSError as error:
            raise DamagedFile(f"{path} cannot be read: {error.strerror}") from error
        self.page_bytes = _page_bytes(start)
        self._pages = -(-path.stat().st_size // self.page_bytes)
        self._frames = list(self._log())
        self._latest = dict(self._frames)

    def __enter__(self) -> "Image":
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def records(self) -> Iterator[Record]:
        """Yield all records of all leaf pages: those of the log first, the latest ones first."""
        log = self._log_path
        if self._frames:
            with log.open("rb") as file:
                for number, at in reversed(self._frames):
                    file.seek(at)
                    yield from self._of(number, file.read(self.page_bytes), self._newest)
        for number in range(1, self._pages + 1):
            page = self._stored(number)
            if page is not None:
                yield from self._of(number, page, self._newest)
                if self._latest:  # its chains may have been others before the log was written
                    yield from self._of(number, page, self._stored)

    def _of(self, number: int, page: bytes, fetch: Page) -> Iterator[Record]:
        if len(page) == self.page_bytes:
            yield from records(page, 100 if number == 1 else 0, fetch)

    def _stored(self, number: int) -> bytes | None:
        if not 1 <= number <= self._pages:
            return None
        self._file.seek((number - 1) * self.page_bytes)
        # The last page of a file that was cut may still hold some whole cells.
        return self._file.read(self.page_bytes).ljust(self.page_bytes, b"\0")

    def _newest(self, number: int) -> bytes | None:
        at = self._latest.get(number)
        if at is None:
            return self._stored(number)
        with self._log_path.open("rb") as file:
            file.seek(at)
            return file.read(self.page_bytes)

    @property
    def _log_path(self) -> Path:
        return self.path.with_name(self.path.name + "-wal")

    def _log(self) -> Iterator[tuple[int, int]]:
        """Yield the page numbers of the log's frames, and where their pages begin."""
        try:
            size = self._log_path.stat().st_size
        except OSError:
            return  # no log: the store was closed
        with self._log_path.open("rb") as file:
            at = _LOG_HEADER
            while at + _FRAME_HEADER + self.page_bytes <= size:
                file.seek(at)
                (number,) = struct.unpack(">I", file.read(4))
                yield number, at + _FRAME_HEADER
                at += _FRAME_HEADER + self.page_bytes


def _page_bytes(start: bytes) -> int:
    """Read the size of a page, ours where the header is damaged."""
    if len(start) < 100 or not start.startswith(MAGIC):
        return PAGE_BYTES
    size = int.from_bytes(start[16:18], "big")
    size = 65536 if size == 1 else size
    return size if size in {1 << i for i in range(9, 17)} else PAGE_BYTES
