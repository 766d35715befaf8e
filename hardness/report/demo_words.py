"""The demo in words, for the terminal."""

from hardness.report.demo import CERTIFIED, VERIFIED, Demo
from hardness.report.summary import comparison_table, short_name
from hardness.report.text import big
from hardness.runs import Comparison
from hardness.runs.cells import cells
from hardness.upper.classes import CLASSES, class_of
from instances.parameters import plain

_FROM = {"tokens": "the tokens", "z": "z, the product of the tokens"}


def demo_words(made: Demo) -> str:
    """Write what the demo found."""
    certificate, gram, layer = made.certificate, made.verification.gram, made.verification.layer
    size = big(certificate.integer("sq-dimension"))
    return "\n".join(
        [
            f"certified  {CERTIFIED}: SQ-DIM is exactly C(999,21) = {size};",
            "           its proof checked step by step",
            f"verified   {VERIFIED}: {made.verification.pairs} correlations of "
            f"{len(gram.members)} members within {gram.radius:.3f}",
            f"           ({gram.confidence:.0%}, {gram.inequality});",
            f"           layer = formula to {layer.error if layer else 0:.0e}",
            "",
            comparison_table(made.comparison),
            "",
            "The bound on queries binds statistical-query learners: here the first one alone.",
            *_descents(made.comparison),
            f"written: {', '.join(made.files)}",
        ]
    )


def _descents(comparison: Comparison) -> list[str]:
    """Say of each learner by gradient descent what it sees, and how often that was enough."""
    largest = comparison.values[-1]
    return [
        f"Gradient descent from {_FROM[cell.view]} ({short_name(comparison, cell.learner)}) "
        f"solved {cell.solved} of {cell.runs} at {comparison.parameter}={plain(largest)}."
        for cell in cells(comparison)
        if cell.value == largest and class_of(cell.learner) is CLASSES["gradient"]
    ]
