"""The demo: the main job on small sizes, by the verbs that do it."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from hardness.verbs.ask import path
from hardness.verbs.asks import FORCE, JOBS, SEED
from hardness.verbs.bounds import certify, check, verify
from hardness.verbs.command import verb
from hardness.verbs.comparing import PAGE, compare
from instances.errors import AlreadyExists, DamagedFile
from instances.result import Result

if TYPE_CHECKING:
    from hardness.lower import Certificate, Verification
    from hardness.runs import Comparison

SPEC, OVER = "parity:m=4", "d=10..22..4"
LEARNERS = ("queries", "elimination", "lowdegree", "student:steps=2500", "mlp")
CERTIFIED = "parity:d=1000,m=21"
VERIFIED = "parity:d=24,m=3"
_FILES = ("certificate.json", *PAGE)
_FROM = {"tokens": "the tokens", "z": "z, the product of the tokens"}


@dataclass(frozen=True, kw_only=True, repr=False)
class Demo(Result):
    """What the demo made, in which folder."""

    certificate: "Certificate"
    verification: "Verification"
    comparison: "Comparison"
    folder: str

    _words: ClassVar[str] = "hardness.verbs.demo.demo_words"

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


@verb(
    "The main job on small sizes: certify to picture.",
    out="Where to write: a folder.  [default: out]",
    place="own",
)
def demo(
    out: Annotated[Path, path("A folder.", flag="--out")] = Path("out"),
    *,
    seed: Annotated[int, SEED] = 0,
    jobs: Annotated[int | None, JOBS] = None,
    force: Annotated[bool, FORCE] = False,
) -> Demo:
    """Do the main job on small sizes: certify, verify, learn, compare, draw."""
    from hardness.report.page import save

    _require_own(out, force)
    certificate = certify(CERTIFIED)
    check(certificate)
    verification = verify(VERIFIED, members=200, samples=100_000, seed=seed)
    verification.require()
    comparison = compare(SPEC, OVER, LEARNERS, seed=seed, jobs=jobs)
    certificate.save(out / _FILES[0], force=True)
    save(out, comparison, str(out), force=True)
    return Demo(
        certificate=certificate,
        verification=verification,
        comparison=comparison,
        folder=str(out),
    )


def _require_own(out: Path, force: bool) -> None:
    """Make the folder, and keep files of the demo's names that no demo made."""
    from instances.disk import refuse_existing, refuse_unwritable
    from instances.spec import parse
    from instances.strict import read_json

    if out.exists() and not out.is_dir():
        raise AlreadyExists(f"{out} is a file and was kept: --out of the demo is a folder")
    refuse_unwritable(out / _FILES[0])
    taken = [name for name in _FILES if (out / name).exists() or (out / name).is_symlink()]
    for name in taken:
        refuse_existing(out / name, force=True)
    if force or not taken:
        return
    try:
        made = read_json(out / "certificate.json")
        ours = made.get("about", made)["spec"] == parse(CERTIFIED).spec
        ours &= "results.json" not in taken or read_json(out / "results.json")["spec"] == SPEC
    except (DamagedFile, KeyError, TypeError, AttributeError):
        ours = False
    if not ours:
        raise AlreadyExists(
            f"{out} holds {', '.join(taken)} that no demo made: give another --out, or --force"
        )


def demo_words(made: Demo) -> str:
    """Write what the demo found."""
    from hardness.claims import big
    from hardness.report.comparison import comparison_table, short_name
    from hardness.upper.classes import CLASSES, class_of
    from instances.parameters import plain

    sampled, comparison = made.verification, made.comparison
    gram, layer, largest = sampled.gram, sampled.layer, made.comparison.values[-1]
    return "\n".join(
        [
            f"certified  {CERTIFIED}: SQ-DIM is exactly C(999,21) = "
            f"{big(made.certificate.integer('sq-dimension'))};",
            "           its proof checked step by step",
            f"verified   {VERIFIED}: {sampled.pairs} correlations of "
            f"{len(gram.members)} members within {gram.radius:.3f}",
            f"           ({gram.confidence:.0%}, {gram.inequality});",
            f"           layer = formula to {layer.error if layer else 0:.0e}",
            "",
            comparison_table(comparison),
            "",
            "The bound on queries binds statistical-query learners: here the first one alone.",
            *(
                f"Gradient descent from {_FROM[cell.view]} ({short_name(comparison, cell.learner)})"
                f" solved {cell.solved} of {cell.runs} at {comparison.parameter}={plain(largest)}."
                for cell in comparison.cells
                if cell.value == largest and class_of(cell.learner) is CLASSES["gradient"]
            ),
            f"written: {', '.join(made.files)}",
        ]
    )
