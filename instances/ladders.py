"""Ladders: named, frozen, versioned series of families of growing hardness, as ladders.toml lists.

What a published ladder asks never changes, so that results on it can be compared years apart: what
would change it makes a ladder of a new name.
"""

import hashlib
import json
import tomllib
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any

from msgspec import Meta, Struct, convert

from instances.disk import one_line, read_text
from instances.errors import DamagedFile, UsageError, unknown
from instances.spec import parse_stored, require_drawn, spec_of

OWN = "own"  # what files call a ladder of specs as given
_MOST_BYTES = 1 << 20  # of a file


@dataclass(frozen=True, kw_only=True)
class Level:
    """A family, and what a learner may use on each of its instances; None is no limit.

    about: why it is harder than the level below.
    """

    spec: str
    examples: int | None
    seconds: float
    about: str = ""


@dataclass(frozen=True, kw_only=True)
class Ladder:
    """Levels of growing hardness, from the bottom; raises UsageError if it has none.

    references: built-in learners worth drawing beside others.
    """

    name: str
    about: str
    levels: tuple[Level, ...]
    references: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not self.levels:
            raise UsageError(f"a ladder must have at least one level, {self.name} has none")

    @cached_property
    def asked(self) -> list[dict[str, Any]]:
        """The levels as JSON, their specs in canonical form."""
        return [{**asdict(level), "spec": parse_stored(level.spec).spec} for level in self.levels]

    @property
    def specs(self) -> tuple[str, ...]:
        """The canonical specs of the levels."""
        return tuple(level["spec"] for level in self.asked)

    @property
    def title(self) -> str:
        """What the ladder is called in words: its name, or "your ladder" for specs as given."""
        return "your ladder" if self.name == OWN else self.name

    @property
    def digest(self) -> str:
        """SHA-256 of what the ladder asks: its name, canonical specs and budgets, not its words.

        >>> ladder("parity-v1").digest[:8]
        'c7f943d1'
        """
        budgets = [
            [level[name] for name in ("spec", "examples", "seconds")] for level in self.asked
        ]
        return hashlib.sha256(json.dumps([self.name, budgets]).encode()).hexdigest()

    def to_dict(self) -> dict[str, Any]:
        """Write the ladder as JSON, its specs in canonical form."""
        head = {"name": self.name, "about": self.about, "sha256": self.digest}
        return head | {"references": list(self.references), "levels": self.asked}


def ladder(name: str) -> Ladder:
    """Look a ladder up by its name, or read the TOML file FILE.toml; raises UsageError.

    >>> ladder("parity-v1").levels[0].spec
    'parity:d=8,m=1'
    """
    if name.endswith(".toml"):
        return read_ladder(Path(name))
    if name not in LADDERS:
        raise unknown("ladder", name, LADDERS)
    return LADDERS[name]


def read_ladder(path: Path) -> Ladder:
    """Read a ladder from a TOML file: a list of `specs`, and the budget of each level.

    The file may have `examples` (no limit) and `seconds` (60) of each level, `about` and
    `references`, learners to compare with. Raises UsageError for anything else in it.
    """
    try:
        text = read_text(path, _MOST_BYTES)
    except DamagedFile as error:
        raise UsageError(str(error)) from error
    try:
        stated = convert(tomllib.loads(text), _LadderFile)
        made = ladder_of(stated.specs, stated.examples, stated.seconds)
    except (ValueError, UsageError) as error:  # of TOML and of types, which say the place
        raise UsageError(f"{path}: {one_line(error, 300)}") from error
    return replace(made, about=stated.about, references=tuple(stated.references))


class _LadderFile(Struct, forbid_unknown_fields=True, kw_only=True):
    specs: Annotated[list[str], Meta(min_length=1)]
    examples: Annotated[int, Meta(ge=1)] | None = None
    seconds: Annotated[float, Meta(gt=0, le=1e9)] = 60.0
    about: str = "as given"
    references: list[str] = []


def ladder_of(specs: Iterable[str], examples: int | None = None, seconds: float = 60.0) -> Ladder:
    """Make a ladder of specs in this order.

    Raises UsageError for a family that has no spec and for a spec that is given twice.

    >>> [level.spec for level in ladder_of(["parity:m=2,d=8", "parity-first"]).levels]
    ['parity:d=8,m=2,noise=0,rho=3', 'parity:d=16,m=3,noise=0,rho=3']
    """
    canonical = [require_drawn(parse_stored(spec_of(text))).spec for text in specs]
    for i, spec in enumerate(canonical):
        if spec in canonical[:i]:
            raise UsageError(f"'{spec}' is given twice: give each SPEC once")
    levels = tuple(Level(spec=spec, examples=examples, seconds=seconds) for spec in canonical)
    return Ladder(name=OWN, about="as given", levels=levels)


def _published(name: str, about: str, references: list[str], seconds: float, levels: Any) -> Ladder:
    """Make a ladder of its table in ladders.toml."""
    made = (Level(spec=s, examples=n, seconds=seconds, about=harder) for s, n, harder in levels)
    return Ladder(name=name, about=about, levels=tuple(made), references=tuple(references))


LADDERS: dict[str, Ladder] = {
    name: _published(name, **table)
    for name, table in tomllib.loads(
        Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")
    ).items()
}
