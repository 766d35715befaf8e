"""Sweeps: a file of specs, learners, seeds and budgets, done on an engine into a store."""

from typing import TYPE_CHECKING

from instances.lazy import lazily

if TYPE_CHECKING:
    from hardness.sweep.drive import Ended, Interrupted, run_sweep
    from hardness.sweep.file import Climbs, Grid, Sweep, read_sweep, read_text, require_count

__all__ = [
    "Climbs",
    "Ended",
    "Grid",
    "Interrupted",
    "Sweep",
    "read_sweep",
    "read_text",
    "require_count",
    "run_sweep",
]

lazily(__name__)
