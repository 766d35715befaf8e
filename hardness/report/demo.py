"""What the demo made, and the words it is told in."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from hardness.claims import big
from hardness.lower import Certificate, Verification
from hardness.report.comparison import comparison_table, short_name
from hardness.runs import Comparison
from hardness.upper.classes import CLASSES, class_of
from instances.parameters import plain
from instances.result import Result

_FROM = {"tokens": "the tokens", "z": "z, the product of the tokens"}


@dataclass(frozen=True, kw_only=True, repr=False)
class Demo(Result):
    """What the demo made, in which folder."""

    certificate: Certificate
    verification: Verification
    comparison: Comparison
    folder: str
    certified: str  # as it was asked
    verified: str

    _words: ClassVar[str] = "hardness.report.demo.demo_words"

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


def demo_words(made: Demo) -> str:
    """Write what the demo found."""
    sampled, comparison = made.verification, made.comparison
    gram, layer, largest = sampled.gram, sampled.layer, made.comparison.values[-1]
    return "\n".join(
        [
            f"certified  {made.certified}: SQ-DIM is exactly C(999,21) = "
            f"{big(made.certificate.integer('sq-dimension'))};",
            "           its proof checked step by step",
            f"verified   {made.verified}: {sampled.pairs} correlations of "
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
