"""Scores of a challenge's submissions, when its secret is revealed: anybody can compute them.

Digests that participants published in time, each with a name, say which submissions count.
"""

import os
import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct, convert, structs, to_builtins

from hardness.runs.challenge import SCORING, Opened
from hardness.runs.difference import difference
from hardness.runs.risk import losses
from hardness.runs.submission import Submission, read_submission, require_name
from instances.disk import damage, require_format
from instances.errors import DamagedFile, Refuted, UsageError
from instances.strict import SMALL, read_json, read_text, shown

SCORES = "hardness-scores/1"
KNOWN_BY = (
    "computed in float64 on these fresh tokens and exact for them; no claim about other tokens: "
    "these were public when the predictions were made, which need not come from any one rule"
)
_LINE = re.compile(r"[0-9a-f]{64} ")
_DECIMALS = 9  # by which risks rank: other machines round differently


class ScoreEntry(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What one submission reached; secret_right is None where no secret was claimed.

    rank: 1 is the best; equal risks share a rank, and the next one is counted on.
    """

    rank: int
    name: str
    risk: float
    unclipped: float | None
    secret_right: bool | None
    digest: str
    content: str


class Scores(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The scores of a challenge's submissions, by rank and name."""

    format: str
    challenge: str
    spec: str
    deadline: str | None
    scoring: str
    known_by: str
    fresh: int
    registered: dict[str, str] | None
    entries: tuple[ScoreEntry, ...]

    def to_dict(self) -> dict[str, Any]:
        """Write the scores as JSON; they come out the same whenever they are computed."""
        data: dict[str, Any] = to_builtins(self)
        return data


def score(
    opened: Opened,
    paths: Iterable[Path],
    registered: dict[str, str] | None = None,
    progress: Callable[[int], None] = lambda done: None,
) -> Scores:
    """Score submissions to a challenge that was opened; their order changes nothing.

    registered: digests that were published before the deadline, and under which names; no others
    count. Raises DamagedFile for a submission that is forged, altered, oversized or given twice.
    """
    challenge = opened.challenge
    found, seen = list[ScoreEntry](), dict[tuple[str, str], Path]()
    for path in paths:
        entry = _entry(opened, read_submission(path, challenge))
        _admit(path, entry, seen, registered)
        found.append(entry)
        progress(1)
    return Scores(
        format=SCORES,
        challenge=challenge.id,
        spec=challenge.family.spec,
        deadline=challenge.said.deadline,
        scoring=SCORING,
        known_by=KNOWN_BY,
        fresh=len(challenge.fresh),
        registered=None if registered is None else dict(sorted(registered.items())),
        entries=ranked(found),
    )


def _entry(opened: Opened, found: Submission) -> ScoreEntry:
    """Score one submission; its rank is not known yet."""
    family, secret = opened.instance.family, opened.instance.hidden.secret
    fresh, given = opened.challenge.fresh, found.predictions
    if given is None and found.secret is not None:
        given = family.mean(found.secret, fresh.x)
    assert given is not None  # a Submission has one of both
    sums = losses(opened.instance, fresh, given)
    return ScoreEntry(
        rank=0,
        name=found.name,
        risk=sums.risk,
        unclipped=sums.unclipped,
        secret_right=None if found.secret is None else family.same(found.secret, secret),
        digest=found.digest,
        content=found.content,
    )


def _admit(
    path: Path,
    entry: ScoreEntry,
    seen: dict[tuple[str, str], Path],
    registered: dict[str, str] | None,
) -> None:
    """Refuse a submission that was given before or not registered; raises DamagedFile.

    Several participants may find the secret, so two names may say the same where both registered
    it: neither had seen the other's then. Otherwise nobody knows who was first.
    """
    name, content = ("name", entry.name.lower()), ("content", entry.content)  # plain ASCII
    if name in seen:
        raise DamagedFile(f"{path} is of {entry.name!r} as {seen[name]} is: one submission a name")
    if registered is not None and registered.get(entry.digest, "").lower() != entry.name.lower():
        raise DamagedFile(
            f"{path} was not registered: the digest {entry.digest} is not among those that "
            f"{entry.name} published, so it may have been made after others were seen"
        )
    if registered is None and content in seen:
        raise DamagedFile(
            f"{path} says what {seen[content]} says, under another name: who was first is not "
            "known without --registered, the digests published in time"
        )
    seen |= {name: path, content: path}


def ranked(entries: Iterable[ScoreEntry]) -> tuple[ScoreEntry, ...]:
    """Order entries by risk, then by name; those equal in nine decimals share a rank."""
    ordered = sorted(entries, key=lambda e: (round(e.risk, _DECIMALS), e.name))
    out: list[ScoreEntry] = []
    for place, entry in enumerate(ordered, 1):
        same = out and round(out[-1].risk, _DECIMALS) == round(entry.risk, _DECIMALS)
        out.append(structs.replace(entry, rank=out[-1].rank if same else place))
    return tuple(out)


def read_scores(path: Path) -> Scores:
    """Read scores, to be held against others; raises DamagedFile."""
    data = read_json(path, SMALL)
    require_format(data, SCORES, path)
    with damage(path):
        found = convert(data, Scores)
        listed = found.registered
        if listed is not None and read_digests([f"{d} {n}" for d, n in listed.items()]) != listed:
            raise ValueError("`registered` is no list of digests and names")
    return found


def require_same(found: Scores, earlier: Scores, path: Path) -> None:
    """Refuse earlier scores that differ from those found now; raises Refuted, naming where."""
    near = 10**-_DECIMALS
    where = difference(earlier.to_dict(), found.to_dict(), near, absolute=near)
    if where:
        raise Refuted(f"{path} does not hold: scored again, {where}")


def read_digests(given: Sequence[str]) -> dict[str, str]:
    """Read "DIGEST NAME", and files with one on each line: who published which digest.

    One digest a name: a participant with several could open whichever turns out best. Raises
    UsageError, DamagedFile.

    >>> read_digests(["ab" * 32 + " ann"]) == {"ab" * 32: "ann"}
    True
    """
    names: dict[str, str] = {}
    digests: dict[str, str] = {}
    for line in (line for text in given for line in _lines(text)):
        one, name = line[:64], line[64:].strip()
        require_name(name)
        if digests.setdefault(name.lower(), one) != one:
            raise UsageError(f"{name} has two digests among those registered: one a name counts")
        if names.setdefault(one, name) != name:
            raise UsageError(f"{one} is registered by {names[one]} and by {name}")
    return names


def _lines(text: str) -> list[str]:
    """Take a digest and its name, or those in a file; raises UsageError, DamagedFile."""
    if _LINE.match(text):
        return [text]
    if not os.path.isfile(text):
        raise UsageError(
            f"--registered {text[:80]} given: a digest of 64 hexadecimal digits and the name of "
            "who published it, or a file of such lines"
        )
    lines = read_text(Path(text), 1 << 20).splitlines()
    found = [line for line in lines if line.strip() and not line.startswith("#")]
    for line in found:
        if not _LINE.match(line):
            raise DamagedFile(f"{text} holds {shown(line)}, which is no digest and a name")
    return found
