"""The demo in words, for the terminal."""

from hardness.report.demo import CERTIFIED, VERIFIED, Demo
from hardness.report.summary import comparison_table
from hardness.report.text import big


def demo_words(made: Demo) -> str:
    """Write what the demo found."""
    certificate, gram = made.certificate, made.verification.gram
    size = big(certificate.integer("sq-dimension"))
    return "\n".join(
        [
            f"certified  {CERTIFIED}: SQ-DIM is exactly C(999,21) = {size};",
            "           its proof checked step by step",
            f"verified   {VERIFIED}: {made.verification.pairs} correlations of "
            f"{len(gram.members)} members within {gram.radius:.3f}",
            f"           ({gram.confidence:.0%}, {gram.inequality});",
            f"           layer = formula to {made.verification.layer.error:.0e}",
            "",
            comparison_table(made.comparison),
            "",
            "The bound holds for statistical-query learners; elimination is not one.",
        ]
    )
