"""What a driver has to write: rows that are done, and how its sweep stands, in one transaction."""

import time
from collections.abc import Iterable
from dataclasses import replace
from typing import Literal

from hardness.compare.store.connect import DiskFull
from hardness.compare.store.rows import Row, RunRow, SweepRow
from hardness.compare.store.writer import Writer
from hardness.compare.sweep.tally import Progress
from instances.errors import ToolkitError

PACE = 0.2  # seconds between writings: what is done waits no longer


class Ledger:
    """Rows on their way into a store, which hold until a transaction with them has ended."""

    def __init__(self, writer: Writer, sweep: SweepRow, again: set[str]) -> None:
        """Begin; again: keys of runs in the store that are to be run again."""
        self._writer, self._again = writer, again
        self.sweep = sweep
        self._rows: list[Row] = []
        self._runs: dict[str, RunRow] = {}
        self._last = time.monotonic()
        self.broken = False  # a writing went wrong: the store takes no more
        self.wrote = False  # something that was not there

    def add(self, rows: Iterable[Row]) -> None:
        """Take rows to be written."""
        for row in rows:
            self._rows.append(row)
            if isinstance(row, RunRow):
                self._runs[row.key] = row
                self._again.discard(row.key)

    def look(self, key: str) -> RunRow | None:
        """Find a run that is done, written or not."""
        return self._runs.get(key) or (None if key in self._again else self._writer.run(key))

    @property
    def due(self) -> bool:
        """Whether it is time to write."""
        return time.monotonic() - self._last >= PACE

    def write(
        self,
        progress: Progress,
        state: Literal["running", "finished", "interrupted", "failed"] = "running",
    ) -> None:
        """Write all rows with the state of the sweep, or none; raises ToolkitError."""
        self.sweep = replace(
            self.sweep,
            state=state,
            planned=progress.planned,
            done=progress.done,
            failed=progress.failed,
            updated=time.time(),
            remaining_seconds=progress.remaining,
        )
        try:
            self._writer.write(self._rows, self.sweep)
        except DiskFull:  # all is written, in the space that was kept for it
            self._rows, self._runs = [], {}
            raise
        except ToolkitError:
            self.broken = True
            raise
        self.wrote |= bool(self._rows)
        self._rows, self._runs = [], {}
        self._last = time.monotonic()
