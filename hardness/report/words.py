"""Which function of this package writes each kind of result for people."""

from instances.lazy import Imported
from instances.result import Answer, Result

_WORDS = Imported(
    "hardness.report",
    {
        "Answer": "words.answer_words",
        "AttackResult": "studies.one_attack_words",
        "Attacks": "studies.attack_words",
        "Bound": "bound.bound_words",
        "Certificate": "certificate.certificate_words",
        "Checked": "certificate.checked_words",
        "Comparison": "comparison.comparison_words",
        "Conformance": "studies.conformance_words",
        "Demo": "demo.demo_words",
        "Distinction": "studies.distinction_words",
        "Estimates": "cost.estimate_words",
        "EstimatesTable": "cost.table_words",
        "Game": "run.game_words",
        "Grid": "cost.grid_words",
        "Inspection": "inspection.inspection_words",
        "Least": "least.least_words",
        "Run": "run.run_words",
        "Runs": "sweep.runs_words",
        "SearchResult": "cost.search_words",
        "Spectra": "studies.spectra_words",
        "Stress": "stress.stress_words",
        "Study": "icl.words",
        "Sweep": "sweep.sweep_words",
        "Verification": "certificate.verification_words",
    },
)
_CAPTIONS = Imported(
    "hardness.report",
    {
        "Bound": "caption.bound_caption",
        "Certificate": "caption.certificate_caption",
        "Comparison": "caption.comparison_caption",
        "Estimates": "caption.estimates_caption",
        "EstimatesTable": "caption.estimates_table_caption",
        "Least": "caption.least_caption",
        "Stress": "caption.stress_caption",
    },
)


_QUOTATIONS = Imported(
    "hardness.report",
    {"Bound": "citation.formulas_quotation", "Certificate": "citation.quotation"},
)


def _written(table: Imported, result: Result) -> str:
    """Write a result by the function of its class; empty if the table has none."""
    for kind in type(result).__mro__:
        if kind.__name__ in table:
            return str(table[kind.__name__](result))
    return ""


def text(result: Result, width: int, colour: bool) -> str:
    """Write a result for people in lines of a width; empty for a part of another result."""
    from hardness.report.text import fitted_to, laid_out

    with fitted_to(width):
        return laid_out(_written(_WORDS, result), width, colour)


def caption(result: Result) -> str:
    """Write the caption of the table of a result; empty if there is nothing to say."""
    return _written(_CAPTIONS, result)


def quotation(result: Result) -> str:
    """Write what follows the table of a result in LaTeX; empty if there is nothing to quote."""
    return _written(_QUOTATIONS, result)


def answer_words(answer: Answer) -> str:
    """Write an answer for people."""
    return answer.message
