"""Theory beside measurement in words: statements, what was predicted, what was measured."""

from hardness.report.text import item, number, table, wrap
from hardness.theory import Finding, Point, Statements, Theory, Told, short_number


def theory_words(found: Theory) -> str:
    """Write one statement with all its settings; of several a table, and a line on each."""
    if len(found.findings) == 1:
        return finding_words(found.findings[0])
    rows = found._rows()
    shown = ["statement", "of", "at", "predicted", "measured", "verdict"]
    cells = [[str(row[name]) for name in shown] for row in rows]
    return "\n\n".join([table(shown, cells), *(item(o.name, o.meaning) for o in found.findings)])


def finding_words(found: Finding) -> str:
    """Write what is stated, predicted and measured at each setting, and what that is worth."""
    names = dict.fromkeys(name for one in found.points for name in one.at)
    header = [*names, "predicted", found.y, "known", ""]
    rows = [
        [
            *(str(one.at.get(name, "-")) for name in names),
            *one.said,
            one.measured.how,
            point_words(one),
        ]
        for one in found.points
    ]
    return "\n".join(
        [
            f"{found.name}: {found.verdict}",
            wrap(f"{found.says} ({found.of})"),
            "",
            wrap(f"Predicted: {found.predicts}"),
            "",
            table(header, rows),
            "",
            wrap(found.meaning),
            *map(wrap, note_words(found)),
            f"Predictions {found.digest}, made before this run; seed {found.seed}, "
            f"{number(found.seconds)} s.",
        ]
    )


def note_words(found: Told) -> list[str]:
    """Notes under a verdict: that it is an identity, and what of the prediction was revised."""
    notes = ["An identity: it can fail only if the toolkit is wrong."] * found.identity
    return [*notes, f"Revised since the first commit: {found.revised}."] if found.revised else notes


def point_words(one: Point) -> str:
    """Say how a point compares."""
    words = one.verdict
    if one.factor is not None and short_number(one.factor) != "1":
        words = f"looser by {short_number(one.factor)}"
    return words if one.predicted.within else ", ".join(filter(None, (words, "outside conditions")))


def listed_words(found: Statements) -> str:
    """List statements by subject: their names, whose they are and what they say."""
    lines: list[str] = []
    for subject in dict.fromkeys(one.subject for one in found.every):
        lines += ["", f"{subject}:"]
        for one in found.every:
            if one.subject == subject:
                told = f"{one.name}: {one.says} ({one.of})"
                lines.append(wrap(told, "  ", "    "))
    return "\n".join(lines[1:])
