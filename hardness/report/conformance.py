"""What the check of a learner found, in words."""

from hardness.report.text import bad, good, table
from hardness.runs.conformance import Conformance


def conformance_words(found: Conformance) -> str:
    """Write the checks as a table, and whether the learner conforms."""
    rows = [[one.level, one.check, one.found] for one in found.findings]
    verdict = good("conforms") if found.conforms else bad("DOES NOT CONFORM")
    return table(["level", "check", "found"], rows) + f"\n{verdict}"
