"""What a report is made of: runs with their slices and diagrams, certificates, states of sweeps."""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from hardness.report.charts.chart import Data
from hardness.report.charts.ladder import of_stress
from hardness.report.charts.phase import diagrams
from hardness.report.source import is_store, is_stress
from hardness.report.stress import certified_words, headline
from hardness.runs import Comparison, read_comparison
from hardness.runs.certified import Certifier
from hardness.runs.climbs import climbs
from hardness.runs.rows import FigureRow, SweepRow
from hardness.runs.run import Run
from hardness.runs.stress import Stress, read_stress
from hardness.runs.table import Plane, Slice, planes, slices, table
from hardness.sweep.damage import check
from hardness.sweep.store import read, recover_with
from instances.errors import DamagedFile
from instances.strict import RESULTS, opened, read_bytes

if TYPE_CHECKING:
    from pandas import DataFrame


@dataclass(frozen=True, kw_only=True)
class Material:
    """All that a report says follows from this. runs: one tidy table, a row a run.

    budgets: whether those of the runs are known. climbs: names, and what collects their numbers.
    said: of a stress test, who climbed how far and what is certified.
    """

    source: str
    sha256: str
    runs: "DataFrame" = field(repr=False)
    slices: tuple[Slice, ...] = field(repr=False)
    diagrams: tuple[Plane, ...] = field(repr=False)
    certifier: Certifier = field(repr=False)
    store: bool
    budgets: bool
    sweeps: tuple[SweepRow, ...] = ()
    climbs: tuple[tuple[str, Callable[[], Data]], ...] = ()
    command: str = ""  # that made a comparison
    said: tuple[str, ...] = ()
    stress: Stress | None = None


def material_of(path: Path) -> Material:
    """Read what a report is of: a comparison's folder or file, a store, or a stress test's file.

    Raises DamagedFile.
    """
    if is_store(path):
        return of_store(path)
    return of_stress_file(path) if is_stress(path) else of_results(path)


def of_comparison(comparison: Comparison, source: str, sha256: str = "") -> Material:
    """Take a comparison; one from an earlier file does not say its budget."""
    runs = table(comparison.runs)
    own = (("family", comparison.specs[0].partition(":")[0]), ("over", comparison.parameter))
    one = Slice(rows=comparison.runs, comparison=comparison, fixed=own)
    return Material(
        source=source,
        sha256=sha256,
        runs=runs,
        slices=(one,),
        diagrams=diagrams(planes(runs)),
        certifier=Certifier(()),
        store=False,
        budgets=comparison.budget is not None,
        command=comparison.command,
    )


def of_results(path: Path) -> Material:
    """Read a comparison's folder or results.json; raises DamagedFile."""
    found = read_comparison(path)
    return of_comparison(
        found, str(path), _digest(path / "results.json" if path.is_dir() else path)
    )


def _digest(path: Path) -> str:
    return hashlib.sha256(read_bytes(path, RESULTS.size)).hexdigest()


def of_stress_file(path: Path) -> Material:
    """Read a stress test; raises DamagedFile. What is certified of its rungs is said in words."""
    found = read_stress(path)
    climbs = [headline(found, climb) for climb in found.climbs]
    return Material(
        source=str(path),
        sha256=_digest(path),
        runs=table(found.runs),
        slices=(),
        diagrams=(),
        certifier=Certifier(()),
        store=False,
        budgets=True,
        climbs=((found.ladder.title, partial(of_stress, found)),),
        said=(*climbs, *(f"Certified, {line}" for line in certified_words(found))),
        stress=found,
    )


def of_store(path: Path) -> Material:
    """Read a store, every record of it checked; raises DamagedFile."""
    damage = check(path).damage
    if damage:
        raise DamagedFile(f"{path} is damaged: {damage}; {recover_with(path)}")
    with read(path) as store:
        sweeps = tuple(store.sweeps())  # before its runs, which a sweep that goes on adds to
        runs = table(store.runs())
        certificates, figures = tuple(store.certificates()), store.figures()
    with opened(path) as file:
        sha256 = hashlib.file_digest(file, "sha256").hexdigest()
    certifier = Certifier(certificates)
    return Material(
        source=str(path),
        sha256=sha256,
        runs=runs,
        slices=slices(runs, certificates),
        diagrams=diagrams(planes(runs)),
        certifier=certifier,
        store=True,
        budgets=True,
        sweeps=sweeps,
        climbs=tuple(
            (one.name, partial(_climbs, one, list(runs["run"]), certifier))
            for one in figures
            if "climbs" in one.data
        ),
    )


def _climbs(one: FigureRow, runs: list[Run], certifier: Certifier) -> Data:
    return of_stress(climbs(one, runs, certifier))
