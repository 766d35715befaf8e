"""Challenges in words, for the terminal."""

from pathlib import Path

from hardness.report.text import shown_risk, table, wrap
from hardness.runs.challenge import Challenge, Opened
from hardness.runs.scores import Scores
from hardness.runs.submission import Submission

_RIGHT = {True: "right", False: "wrong", None: "-"}


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


def scores_words(scores: Scores, opened: Opened, against: Path | None = None) -> str:
    """Write who reached what."""
    challenge = opened.challenge
    how = "bit for bit" if opened.exact else "up to rounding, bit for bit no more"
    rows = [
        [str(e.rank), e.name, shown_risk(e.risk), _RIGHT[e.secret_right], e.digest[:12]]
        for e in scores.entries
    ]
    contents = [e.content for e in scores.entries]
    alike = [e.name for e in scores.entries if contents.count(e.content) > 1]
    lines = [
        str(challenge.family),
        f"challenge   {challenge.id}",
        f"commitment  opened: {challenge.folder.count} labelled examples and "
        f"{scores.fresh} fresh tokens are those of the revealed secret, {how}",
        *([f"deadline    {challenge.said.deadline}"] if challenge.said.deadline else []),
        "",
        table(["rank", "name", "risk", "secret", "digest"], rows) if rows else "no submissions",
        "",
        wrap(
            f"The risk is exact on the {scores.fresh} fresh tokens (1 = nothing learned, 0 = all; "
            "above 1 is worse than knowing the family alone), "
            "and no claim about others: they were public when the predictions were made."
        ),
    ]
    if alike:
        lines += [wrap(f"The same was said, each registered in time, by {', '.join(alike)}.")]
    if scores.registered is None and scores.entries:
        lines += [
            wrap(
                "No digests were given (--registered): that nobody copied from another is not "
                "shown, nor when a submission was made."
            )
        ]
    return "\n".join([*lines, *([f"{against} holds"] if against else [])])
