"""The demo: certify, verify and compare on small sizes."""

from pathlib import Path
from typing import TYPE_CHECKING

from hardness.api.bounds import certify, check, verify
from hardness.api.comparing import compare, least
from instances.arguments import integral, located
from instances.errors import AlreadyExists, DamagedFile, UsageError

if TYPE_CHECKING:
    from os import PathLike

    from hardness.report.demo import Demo

SPEC, OVER = "parity:m=4", "d=10..22..4"
LEARNERS = ("queries", "elimination", "lowdegree", "student:steps=2500", "mlp")
CERTIFIED = "parity:d=1000,m=21"
VERIFIED = "parity:d=24,m=3"
LEAST_SPEC, LEAST_OVER, SEEDS = "parity:m=2", "d=18,26", 6
COUNTED = {"examples": ("elimination", "lowdegree", "mlp:epochs=10"), "queries": ("queries",)}
PAGE = ("results.json", "report.html", "figure.svg")
_FILES = ("certificate.json", *PAGE, *(f"least-{unit}.json" for unit in COUNTED), "least.svg")


def demo(
    out: "str | PathLike[str]" = "out",
    *,
    seed: int = 0,
    jobs: int | None = None,
    force: bool = False,
) -> "Demo":
    """Do the main job on small sizes: certify, verify, learn, compare, draw.

    Parameters
    ----------
    out : path
        The folder for the certificate, the results, the report and a figure.
    seed : int
        The first one.
    jobs : int, optional
        The number of processes; all cores if it is not given.
    force : bool
        Replace files there that no demo made.

    Returns
    -------
    Demo
        What was certified, verified and compared.

    Raises
    ------
    AlreadyExists
        For files there that no demo made, if `force` is not given.
    """
    from hardness.report.demo import Demo
    from hardness.report.page import save

    out, seed = Path(located("out", out)), integral("seed", seed, 0)
    _require_own(out, force)
    certificate = certify(CERTIFIED)
    check(certificate)
    verification = verify(VERIFIED, members=200, samples=100_000, seed=seed)
    verification.require()
    comparison = compare(SPEC, OVER, LEARNERS, seed=seed, jobs=jobs)
    thresholds = tuple(
        least(LEAST_SPEC, names, LEAST_OVER, unit=unit, seeds=SEEDS, seed=seed, jobs=jobs)  # type: ignore[arg-type]
        for unit, names in COUNTED.items()
    )
    certificate.save(out / _FILES[0], force=True)
    save(out, comparison, str(out), force=True, thresholds=thresholds)
    return Demo(
        certificate=certificate,
        verification=verification,
        comparison=comparison,
        thresholds=thresholds,
        folder=str(out),
        certified=CERTIFIED,
        verified=VERIFIED,
    )


def _require_own(out: Path, force: bool) -> None:
    """Make the folder, and keep files of the demo's names that no demo made."""
    from instances.disk import read_json, refuse_existing, refuse_unwritable
    from instances.spec import parse

    if out.exists() and not out.is_dir():
        raise AlreadyExists(f"{out} is a file and was kept: --out of the demo is a folder")
    refuse_unwritable(out / _FILES[0])
    taken = [name for name in _FILES if (out / name).exists() or (out / name).is_symlink()]
    for name in taken:
        refuse_existing(out / name, force=True)
    if force or not taken:
        return
    try:
        certificate = read_json(out / "certificate.json")
        ours = certificate.get("about", certificate)["spec"] == parse(CERTIFIED).spec
        ours &= "results.json" not in taken or read_json(out / "results.json")["spec"] == SPEC
    except (DamagedFile, UsageError, KeyError, TypeError, AttributeError):
        ours = False
    if not ours:
        raise AlreadyExists(
            f"{out} holds {', '.join(taken)} that no demo made: give another --out, or --force"
        )
