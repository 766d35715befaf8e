"""Challenges in words, for the terminal."""

from pathlib import Path

from hardness.oracles import Usage
from hardness.report.text import shown_risk, wrap
from hardness.runs.challenge import Challenge
from hardness.runs.names import brief_spec
from hardness.runs.submission import Score, Submission

_RIGHT = {True: "right", False: "wrong", None: "not claimed"}


def created_words(made: Challenge, secret: Path) -> str:
    """Write what was made, what to publish and what to keep."""
    lines = [
        f"{made.folder.path}: {made.family}, {made.folder.count} examples, "
        f"{len(made.fresh)} fresh tokens",
        f"challenge   {made.id}",
        f"commitment  {made.said.commitment}",
        *([f"deadline    {made.said.deadline}"] if made.said.deadline else []),
        "",
        f"Publish the folder and the challenge's id; keep {secret} until the deadline.",
    ]
    return "\n".join(lines)


def learned_words(name: str, outcome: str, usage: Usage, contained: str | None) -> str:
    """Write how a learner ended that was run on the examples, and how it was closed in."""
    closed = {None: "", "off": ", not contained"}.get(contained, f", in {contained}")
    return f"{name}: {outcome}, {usage.examples} examples, {usage.seconds:.2f} s{closed}"


def submitted_words(found: Submission, path: Path, learned: str = "") -> str:
    """Write what was packed, and what its author publishes."""
    parts = []
    if found.predictions is not None:
        parts += [f"predictions {found.predictions.shape}"]
    if found.secret is not None:
        parts += ["a claimed secret"]
    return "\n".join(
        [
            f"{path}: {' and '.join(parts)} by {found.name}",
            *([learned] if learned else []),
            f"digest      {found.digest} {found.name}",
            "",
            "Publish the digest and the name before the deadline, the file after it.",
        ]
    )


def score_words(found: Score) -> str:
    """Write whether the commitment opened, and what the submission reached."""
    how = "bit for bit" if found.exact else "up to rounding, bit for bit no more"
    lines = [
        brief_spec(found.spec),
        f"challenge   {found.challenge}",
        f"commitment  opened: {found.examples} labelled examples and {found.fresh} fresh tokens "
        f"are those of the revealed secret, {how}",
        *([f"deadline    {found.deadline}"] if found.deadline else []),
    ]
    if found.risk is None:
        return "\n".join(lines)
    lines += [
        "",
        f"risk        {shown_risk(found.risk)}",
        f"secret      {_RIGHT[found.secret_right]}",
        f"digest      {found.digest} {found.name}",
        "",
        wrap(
            f"The risk is exact on the {found.fresh} fresh tokens (1 = nothing learned, 0 = all; "
            "above 1 is worse than knowing the family alone), "
            "and no claim about others: they were public when the predictions were made."
        ),
        wrap(
            f"It counts where {found.name} published this digest in time, which is not shown here."
        ),
    ]
    return "\n".join(lines)
