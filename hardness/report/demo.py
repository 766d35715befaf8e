"""The result of the demo, and its words."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hardness.bounds import Certificate, Verification
from hardness.learners.mlp import Mlp
from hardness.learners.student import Student
from hardness.report.charts.runs import VIEW_WORDS
from hardness.report.comparison import comparison_table, short_name
from hardness.report.least import least_table
from hardness.runs import Comparison, Least
from hardness.runs.registry import parse_learner
from instances.numbers import brief, write
from instances.result import Result


@dataclass(frozen=True, kw_only=True, repr=False)
class Demo(Result):
    """The results of the demo.

    folder: where its files are. certified, verified: the specs as the demo wrote them.
    """

    certificate: Certificate
    verification: Verification
    comparison: Comparison
    thresholds: tuple[Least, ...]
    folder: str
    certified: str
    verified: str

    @property
    def files(self) -> list[str]:
        """The page, the results, and the picture of thresholds."""
        return [
            str(Path(self.folder) / name) for name in ("report.html", "results.json", "least.svg")
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return certificate, verification, runs and thresholds as JSON."""
        return {
            "certificate": self.certificate.to_dict(),
            "verification": self.verification.to_dict(),
            "runs": [run.to_dict() for run in self.comparison.runs],
            "thresholds": [least.to_dict() for least in self.thresholds],
            "files": self.files,
        }


def demo_words(demo: Demo) -> str:
    """Write the results of the demo."""
    sampled, comparison = demo.verification, demo.comparison
    gram, layer, largest = sampled.gram, sampled.layer, demo.comparison.values[-1]
    return "\n".join(
        [
            f"certified  {demo.certified}: SQ-DIM is exactly C(999,21) = "
            f"{brief(demo.certificate.integer('sq-dimension'), 3)};",
            "           its claims proved again by the checker",
            f"verified   {demo.verified}: {sampled.pairs} correlations of "
            f"{len(gram.members)} members within {gram.radius:.3f}",
            f"           ({gram.confidence:.0%}, {gram.inequality});",
            f"           layer = formula to {layer.error if layer else 0:.0e}",
            "",
            comparison_table(comparison),
            "",
            "The bound on queries binds statistical-query learners: here the first one alone.",
            *(
                f"{trained.method} from {VIEW_WORDS[cell.view]} "
                f"({short_name(comparison, cell.learner)}) solved {cell.solved} of {cell.runs} at "
                f"{comparison.parameter}={write(largest)}."
                for cell in comparison.cells
                if cell.value == largest
                and isinstance(trained := parse_learner(cell.learner), Student | Mlp)
            ),
            "",
            *(
                line
                for least in demo.thresholds
                for line in (_threshold_heading(least), least_table(least), "")
            ),
            f"written: {', '.join(demo.files)}",
        ]
    )


def _threshold_heading(thresholds: Least) -> str:
    """Write the heading of a table of thresholds: the unit, and what its learners see."""
    sees = " or ".join(dict.fromkeys(VIEW_WORDS[cell.view] for cell in thresholds.cells))
    return (
        f"least {thresholds.unit} on {thresholds.spec}, median of {thresholds.seeds}; from {sees}"
    )
