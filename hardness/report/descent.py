"""Noisy gradient descent beside its bound, in words."""

from hardness.claims import WORD, digits, vacuous
from hardness.report.text import number, table
from hardness.runs.descent import DescentStudy

_SUCCESS, _STEPS = "gd-noise-success", "gd-noise-steps"


def descent_words(study: DescentStudy) -> str:
    """Write how often runs succeed, with intervals, beside what the bound allows."""
    silent = vacuous(_STEPS, study.needed)
    rows = [
        [
            str(p.steps),
            f"{p.right}/{p.runs}",
            f"{p.interval[0]:.3f}..{p.interval[1]:.3f}",
            WORD if vacuous(_SUCCESS, p.bound) else digits(p.bound, up=True, places=4),
            "BEATEN" if p.beaten else "holds",
        ]
        for p in study.points
    ]
    lines = [
        f"{study.spec}, model {study.model}, clip {study.clip}, noise {study.std}",
        "",
        table(["steps", "right", "rate at 95%", "bound", ""], rows),
        "",
        f"for relative risk {study.risk} with probability {study.success} the bound "
        + (f"is {WORD}" if silent else f"asks for {study.needed} steps at least"),
    ]
    if study.reached is None:
        lines.append("the runs do not pass that probability between these steps")
    else:
        lines.append(
            f"the runs pass it after about {study.reached:.0f} steps"
            + (f", between {study.bracket[0]} and {study.bracket[1]}" if study.bracket else "")
            + ("" if silent else f": {number(study.reached / study.needed)} times the bound")
        )
    if study.enough:
        lines.append(f"about enough by 8 M ln(M) noise^2/(fade clip)^2: {study.enough} steps")
    return "\n".join(lines)
