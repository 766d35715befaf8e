"""The demo: certify, check, verify, learn, compare and draw one family on small sizes."""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from hardness.check import Checked, check
from hardness.lower import BoundParameters, Certificate, Verification, certify, verify
from hardness.report.charts.runs import both_sides
from hardness.runs import Comparison, Cut, compare, write_comparison
from hardness.runs.comparison import FORMAT
from hardness.sweep.resumable import resumable
from instances import parse
from instances.disk import (
    beside,
    refuse_existing,
    refuse_unwritable,
    write_json,
    write_text,
)
from instances.errors import AlreadyExists, DamagedFile
from instances.result import Result, TableRow
from instances.strict import read_json

SPEC, OVER = "parity:m=4", "d=10..22..4"
LEARNERS = ("queries", "elimination", "lowdegree", "student:steps=2500", "mlp")
CERTIFIED = "parity:d=1000,m=21"
VERIFIED = "parity:d=24,m=3"
_COMMAND = "hardness demo"
_FILES = ("results.json", "report.html", "figure.svg", "certificate.json")


@dataclass(frozen=True, kw_only=True, repr=False)
class Demo(Result):
    """What the demo made, in which folder."""

    certificate: Certificate
    checked: Checked
    verification: Verification
    comparison: Comparison
    folder: str

    _words: ClassVar[str] = "hardness.report.demo_words.demo_words"

    @property
    def files(self) -> list[str]:
        """The page and the results."""
        return [str(Path(self.folder) / name) for name in ("report.html", "results.json")]

    def to_dict(self) -> dict[str, Any]:
        """Give its certificate, its verification and its runs."""
        return {
            "certificate": self.certificate.to_dict(),
            "verification": self.verification.to_dict(),
            "runs": [run.to_dict() for run in self.comparison.runs],
            "files": self.files,
        }

    def _summary(self) -> tuple[str, list[TableRow]]:
        return self.comparison._summary()


def demo(
    out: Path,
    seed: int = 0,
    jobs: int = 1,
    force: bool = False,
    progress: Callable[[int], None] = lambda done: None,
) -> Demo:
    """Run everything and write the page, the figure, the results and a certificate to `out`.

    Replaces an earlier demo's files and no others; raises AlreadyExists, Refuted.
    """
    _require_own(out, force)
    terms = BoundParameters()
    certificate = certify(parse(CERTIFIED), terms)
    checked = check(certificate.to_dict())
    verification = verify(parse(VERIFIED), members=200, samples=100_000, seed=seed)
    verification.require()
    try:
        with resumable(None, {"command": "demo"}, jobs) as runs:
            comparison = compare(
                SPEC,
                OVER,
                LEARNERS,
                seeds=3,
                first_seed=seed,
                terms=terms,
                do=runs.do,
                command=f"{_COMMAND} --seed {seed}",
                progress=progress,
            )
    except Cut as cut:  # the demo is whole or not there
        raise cut.__cause__ or cut from None
    write_results(out, comparison, str(out), force=True)
    write_json(out / "certificate.json", certificate.to_dict(), force=True)
    return Demo(
        certificate=certificate,
        checked=checked,
        verification=verification,
        comparison=comparison,
        folder=str(out),
    )


def runs() -> int:
    """Count the runs of the demo."""
    from hardness.runs import values_of

    return 3 * len(LEARNERS) * len(values_of(OVER)[1])


def write_results(folder: Path, comparison: Comparison, name: str, force: bool = False) -> None:
    """Write results.json, figure.svg and report.html into a folder, which will be called `name`."""
    from hardness.report.page import page  # which draws figures, and so comes after words

    results = folder / "results.json"
    write_comparison(results, comparison, force=force)
    write_figure(folder / "figure.svg", comparison)
    sha256 = hashlib.sha256(results.read_bytes()).hexdigest()
    write_text(folder / "report.html", page(comparison, name, sha256), force=force)


def write_figure(path: Path, comparison: Comparison) -> None:
    """Write the figure in the format that the file's ending says."""
    data = both_sides(comparison, path.suffix.removeprefix("."))
    with beside(path) as draft:
        draft.write_bytes(data)


def _require_own(out: Path, force: bool) -> None:
    """Make the folder, and keep files of the demo's names that no demo made."""
    if out.exists() and not out.is_dir():
        raise AlreadyExists(f"{out} is a file and was kept: --out of the demo is a folder")
    refuse_unwritable(out / _FILES[0])
    taken = [name for name in _FILES if (out / name).exists() or (out / name).is_symlink()]
    for name in taken:
        refuse_existing(out / name, force=True)
    if force or not taken:
        return
    try:
        data = read_json(out / "results.json")
        ours = data["format"] == FORMAT and data["command"].startswith(_COMMAND)
        if (out / "certificate.json").exists():
            made = read_json(out / "certificate.json")
            ours &= made.get("about", made)["spec"] == parse(CERTIFIED).spec
    except (DamagedFile, KeyError, TypeError, AttributeError):
        ours = False
    if not ours:
        raise AlreadyExists(
            f"{out} holds {', '.join(taken)} that no demo made: give another --out, or --force"
        )
