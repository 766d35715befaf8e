"""What a page is made of: runs with their slices and diagrams, certificates, states of sweeps."""

import hashlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from hardness.report.charts.phase import diagrams
from hardness.report.stored import climbs_in, is_store, is_stress
from hardness.runs import Comparison
from hardness.runs.certified import Certifier
from hardness.runs.columns import table
from hardness.runs.rows import SweepRow
from hardness.runs.slices import Plane, Slice, planes, slices
from hardness.runs.stress import Stress
from hardness.sweep.damage import check
from hardness.sweep.store import read, recover_with
from instances.errors import DamagedFile
from instances.strict import opened

if TYPE_CHECKING:
    from pandas import DataFrame


@dataclass(frozen=True, kw_only=True)
class Material:
    """All that a page says follows from this. runs: one tidy table, a row a run.

    certifier: of what a store holds. climbs: stress tests by the names of their figures. command:
    made a comparison.
    """

    source: str
    runs: "DataFrame" = field(repr=False)
    sha256: str = ""
    slices: tuple[Slice, ...] = field(default=(), repr=False)
    diagrams: tuple[Plane, ...] = field(default=(), repr=False)
    certifier: Certifier = field(default_factory=lambda: Certifier(()), repr=False)
    store: bool = False
    sweeps: tuple[SweepRow, ...] = ()
    climbs: dict[str, Stress] = field(default_factory=dict, repr=False)
    command: str = ""
    stress: Stress | None = None


def material_of(path: Path) -> Material:
    """Read what a page is of: a comparison's folder or file, a store, or a stress test's file.

    Raises DamagedFile.
    """
    if is_store(path):
        return of_store(path)
    if is_stress(path):
        return of_stress_test(Stress.load(path), str(path), digest(path))
    found = Comparison.load(path)
    return of_comparison(found, str(path), digest(path / "results.json" if path.is_dir() else path))


def digest(path: Path) -> str:
    """Return the SHA-256 of a file, in hexadecimal; raises DamagedFile."""
    with opened(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def of_comparison(comparison: Comparison, source: str, sha256: str = "") -> Material:
    """Take a comparison."""
    runs = table(comparison.runs)
    own = (("family", comparison.specs[0].partition(":")[0]), ("over", comparison.parameter))
    return Material(
        source=source,
        sha256=sha256,
        runs=runs,
        slices=(Slice(rows=comparison.runs, comparison=comparison, fixed=own),),
        diagrams=diagrams(planes(comparison.runs)),
        command=comparison.command,
    )


def of_stress_test(found: Stress, source: str, sha256: str = "") -> Material:
    """Take a stress test, of which all is one figure and its rungs."""
    return Material(
        source=source,
        sha256=sha256,
        runs=table(found.runs),
        climbs={found.ladder.title: found},
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
        certificates, asked = tuple(store.certificates()), store.climbs()
    certifier = Certifier(certificates)
    return Material(
        source=str(path),
        sha256=digest(path),
        runs=runs,
        slices=slices(runs["run"], certificates),
        diagrams=diagrams(planes(runs["run"])),
        certifier=certifier,
        store=True,
        sweeps=sweeps,
        climbs={name: climbs_in(path, one, runs["run"]) for name, one in asked.items()},
    )
