"""Scores of submissions, each checked first: unaltered, for this challenge, given once."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hardness.runs.challenge.opening import Opened
from hardness.runs.challenge.record import SCORING, require_room
from hardness.runs.challenge.submission import Submission, read_submission
from hardness.runs.risk.given import losses
from instances.errors import DamagedFile

SCORES = "hardness-scores/1"
KNOWN_BY = (
    "computed in float64 on these fresh tokens and exact for them; no claim about other tokens: "
    "these were public when the predictions were made, which need not come from any one rule"
)
_DECIMALS = 9  # by which risks rank: other machines round differently


@dataclass(frozen=True, kw_only=True)
class Entry:
    """What one submission reached; secret_right is None where no secret was claimed.

    rank: 1 is the best; equal ones share a rank, and the next is counted on.
    """

    rank: int
    name: str
    risk: float
    unclipped: float | None
    secret_right: bool | None
    digest: str
    content: str


@dataclass(frozen=True, kw_only=True)
class Scores:
    """The scores of a challenge's submissions, by rank and name."""

    challenge: str
    spec: str
    deadline: str | None
    fresh: int
    registered: dict[str, str] | None
    entries: tuple[Entry, ...]

    def to_json(self) -> dict[str, Any]:
        """Write the scores as JSON; the same for whoever scores again."""
        return {
            "format": SCORES,
            "challenge": self.challenge,
            "spec": self.spec,
            "deadline": self.deadline,
            "scoring": SCORING,
            "known_by": KNOWN_BY,
            "fresh": self.fresh,
            "registered": self.registered,
            "entries": [vars(entry) | {} for entry in self.entries],
        }


def score(
    opened: Opened,
    paths: Iterable[Path],
    registered: dict[str, str] | None = None,
    progress: Callable[[int], None] = lambda done: None,
) -> Scores:
    """Score submissions against a challenge that was opened; the same whatever their order.

    registered: digests that were published before the deadline, with the names of who did; no
    others count. Raises DamagedFile for a submission that is forged, altered, oversized or given
    twice.
    """
    challenge = opened.challenge
    require_room(challenge.family, len(challenge.fresh))
    gate, found = Gate(registered), list[Entry]()
    for path in paths:
        submission = read_submission(path, challenge)
        gate.admit(path, submission)
        found.append(_entry(opened, submission))
        progress(1)
    return Scores(
        challenge=challenge.id,
        spec=challenge.family.spec,
        deadline=challenge.deadline,
        fresh=len(challenge.fresh),
        registered=None if registered is None else dict(sorted(registered.items())),
        entries=ranked(found),
    )


class Gate:
    """Lets every submission in once, and one of each name.

    Several may find the secret, so what two names say alike is let in where both registered it:
    neither had seen the other's then. Otherwise nobody knows who was first.
    """

    def __init__(self, registered: dict[str, str] | None) -> None:
        """Start with nobody in; registered: who published which digest in time."""
        self._registered = registered
        self._digests: dict[str, Path] = {}
        self._names: dict[str, Path] = {}
        self._contents: dict[str, Path] = {}

    def admit(self, path: Path, found: Submission) -> None:
        """Refuse a submission that was given before or not registered; raises DamagedFile."""
        name = found.name.lower()  # which is plain ASCII
        if found.digest in self._digests:
            raise DamagedFile(f"{path} is the submission {self._digests[found.digest]} again")
        if name in self._names:
            raise DamagedFile(
                f"{path} is of {found.name!r} as {self._names[name]} is: one submission a name"
            )
        if self._registered is not None and self._registered.get(found.digest, "").lower() != name:
            raise DamagedFile(
                f"{path} was not registered: the digest {found.digest} is not among those that "
                f"{found.name} published, so it may have been made after others were seen"
            )
        if self._registered is None and found.content in self._contents:
            raise DamagedFile(
                f"{path} says what {self._contents[found.content]} says, under another name: who "
                "was first is not known without --registered, the digests published in time"
            )
        self._digests[found.digest] = self._names[name] = self._contents[found.content] = path


def _entry(opened: Opened, found: Submission) -> Entry:
    """Score one submission; its rank is not known yet."""
    instance, fresh = opened.instance, opened.challenge.fresh
    family, secret = instance.family, instance.hidden.secret
    given = found.predictions
    if given is None and found.secret is not None:
        given = family.mean(found.secret, fresh.x)
    assert given is not None  # a Submission has one of both
    sums = losses(instance, fresh, given)
    return Entry(
        rank=0,
        name=found.name,
        risk=sums.risk,
        unclipped=sums.unclipped,
        secret_right=None if found.secret is None else family.same(found.secret, secret),
        digest=found.digest,
        content=found.content,
    )


def ranked(entries: Iterable[Entry]) -> tuple[Entry, ...]:
    """Order entries by risk, then by name; those equal in nine decimals share a rank."""
    ordered = sorted(entries, key=lambda e: (round(e.risk, _DECIMALS), e.name))
    out: list[Entry] = []
    for place, entry in enumerate(ordered, 1):
        same = out and round(out[-1].risk, _DECIMALS) == round(entry.risk, _DECIMALS)
        out.append(Entry(**vars(entry) | {"rank": out[-1].rank if same else place}))
    return tuple(out)
