"""Paired comparisons of learners as a table, for the terminal and the page."""

from collections.abc import Callable, Sequence

from hardness.report.text import number, table, wrap
from hardness.runs.paired import LEAST_DISCORDANT, Paired

HEADER = ("1st", "2nd", "1st alone", "2nd alone", "of", "p", "solves more", "risk")
_SHOWN = 10  # pairs in the terminal
TITLE = "instances that one learner of two solved and the other did not"


def note(found: Sequence[Paired]) -> str:
    """Say how the numbers of a table of pairs are known."""
    many = f"corrected for the {len(found)} pairs by Holm" if len(found) > 1 else "of the one pair"
    said = (
        "Of the instances that both ran, within one budget, over all sizes. p: exact, two-sided, "
        f"of McNemar, {many}; with fewer than {LEAST_DISCORDANT} instances that differ it is never "
        "below 0.05. Risk: mean relative risk of the 1st less that of the 2nd"
    )
    if any(one.risk_interval for one in found):
        said += ", with an approximate 95 % interval of the paired bootstrap"
    said += "."
    lost = sum(one.left_out for one in found)
    if not lost:
        return said
    times = "once" if lost == 1 else f"{lost} times"
    return (
        f"{said} Left out {times}: the machine ended a run, or a learner does not take its family."
    )


def row(one: Paired, short: Callable[[str], str]) -> tuple[str | int | float, ...]:
    """Lay a pair out under `HEADER`; short: writes the name of a learner.

    >>> one = Paired(first="queries", second="lowdegree", instances=12, first_only=5, second_only=0,
    ...     left_out=0, p=0.0625, p_corrected=0.0625, risk_instances=12, risk_difference=-0.4,
    ...     risk_interval=None)
    >>> row(one, str)
    ('queries', 'lowdegree', 5, 0, 12, 0.0625, 'cannot tell', '-0.40')
    """
    risk = "" if one.risk_difference is None else f"{one.risk_difference:+z.2f}"
    if one.risk_interval:
        risk += " [{:+z.2f}, {:+z.2f}]".format(*one.risk_interval)
    verdict = one.verdict if one.verdict == "cannot tell" else short(one.verdict)
    names = (short(one.first), short(one.second))
    return (*names, one.first_only, one.second_only, one.instances, one.p_corrected, verdict, risk)


def paired_words(found: Sequence[Paired], short: Callable[[str], str]) -> str:
    """Write pairs for the terminal, the most different first where they are many."""
    shown = sorted(found, key=lambda one: one.p)[:_SHOWN] if len(found) > _SHOWN else found
    rows = [
        [number(cell) if isinstance(cell, int | float) else cell for cell in row(one, short)]
        for one in shown
    ]
    more = len(found) - len(shown)
    left = f"\n{more} more pairs are in --json" if more else ""
    return f"{TITLE}\n{table(HEADER, rows)}{left}\n{wrap(note(found))}"
