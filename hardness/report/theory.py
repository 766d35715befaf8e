"""Theory beside measurement in words: statements, what was predicted, what was measured."""

from collections.abc import Sequence

from hardness.report.text import item, table, wrap
from hardness.report.text import number as shown
from hardness.theory import Finding, Measured, Point, Predicted, Statement, Theory, place

_OWNERS = {"paper": "the paper", "talk": "the talk", "docs": "this manual"}


def theory_words(found: Theory) -> str:
    """Write one statement with all its settings; of several a table, and a line on each."""
    if len(found.findings) == 1:
        return finding_words(found.findings[0])
    header = ["statement", "of", "at", "predicted", "measured", "verdict"]
    rows = [
        [
            one.name,
            owner_words(one),
            place(one.telling.at),
            predicted_words(one.telling.predicted),
            measured_words(one.telling.measured),
            one.verdict,
        ]
        for one in found.findings
    ]
    return "\n\n".join([table(header, rows), *(item(o.name, o.meaning) for o in found.findings)])


def finding_words(found: Finding) -> str:
    """Write what is stated, predicted and measured at each setting, and what that is worth."""
    names = dict.fromkeys(name for one in found.points for name in one.at)
    header = [*names, "predicted", found.y, "known", ""]
    rows = [
        [
            *(str(one.at.get(name, "-")) for name in names),
            predicted_words(one.predicted),
            measured_words(one.measured),
            one.measured.how,
            point_words(one),
        ]
        for one in found.points
    ]
    return "\n".join(
        [
            f"{found.name}: {found.verdict}",
            wrap(f"{found.says} ({owner_words(found)})"),
            "",
            wrap(f"Predicted: {found.predicts}"),
            "",
            table(header, rows),
            "",
            wrap(found.meaning),
            f"Predictions {found.digest}, made before anything was measured; seed {found.seed}, "
            f"{shown(found.seconds)} s.",
        ]
    )


def owner_words(found: Finding | Statement) -> str:
    """Say whose statement it is, with the key of its source.

    >>> from hardness.theory import statement
    >>> owner_words(statement("sq-dimension"))
    'the paper [CL24]'
    """
    return _OWNERS[found.owner] + (f" [{found.source}]" if found.source else "")


def number(value: float) -> str:
    """Write a number by three digits, a whole one in full.

    >>> number(3.0), number(0.01234), number(1234567.8)
    ('3', '0.0123', '1.23e+06')
    """
    return str(int(value)) if value == int(value) and abs(value) < 1e7 else f"{value:.3g}"


def predicted_words(said: Predicted) -> str:
    """Write what is predicted: a number, a range, or a bound.

    >>> predicted_words(Predicted(high=2.0)), predicted_words(Predicted(low=0.5, high=0.5))
    ('at most 2', '0.5')
    """
    ends = [number(end) for end in (said.low, said.high) if end is not None]
    if said.low is None:
        return f"at most {ends[0]}" if ends else "-"
    return f"at least {ends[0]}" if said.high is None else " to ".join(dict.fromkeys(ends))


def measured_words(found: Measured) -> str:
    """Write a value with its interval; one whose ends read alike stands alone.

    >>> measured_words(Measured(value=0.5, low=0.4, high=0.6, how="95 %, 9 rows"))
    '0.5 [0.4, 0.6]'
    """
    low, value, high = number(found.low), number(found.value), number(found.high)
    return value if low == high else f"{value} [{low}, {high}]"


def point_words(one: Point) -> str:
    """Say how a point compares."""
    said = {None: "", True: "agrees", False: "fails"}[one.holds]
    if one.factor is not None and number(one.factor) != "1":
        said = f"looser by {number(one.factor)}"
    return said if one.predicted.within else ", ".join(filter(None, (said, "outside conditions")))


def listed_words(every: Sequence[Statement]) -> str:
    """List statements by subject: their names, whose they are and what they say."""
    lines: list[str] = []
    for subject in dict.fromkeys(one.subject for one in every):
        lines += ["", f"{subject}:"]
        for one in every:
            if one.subject == subject:
                told = f"{one.name}: {one.says} ({owner_words(one)})"
                lines.append(wrap(told, "  ", "    "))
    return "\n".join(lines[1:])
