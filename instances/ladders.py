"""Ladders: named, frozen, versioned lists of families of growing hardness, from ladders.toml.

The specs and budgets of a published ladder never change, so that results on it can be compared
years apart. Any change makes a ladder with a new name.
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

USER_LADDER = "own"  # the name, in files, of a ladder made from a user's specs
_MOST_BYTES = 1 << 20  # of a ladder's file


@dataclass(frozen=True, kw_only=True)
class Level:
    """A family and the budget of a learner on each of its instances; None is no limit.

    about: why it is harder than the level below.
    """

    spec: str
    examples: int | None
    seconds: float
    about: str = ""


@dataclass(frozen=True, kw_only=True)
class Ladder:
    """Levels of growing hardness, from the bottom; raises UsageError if it has none.

    references: built-in learners that results of other learners are compared with.
    """

    name: str
    about: str
    levels: tuple[Level, ...]
    references: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not self.levels:
            raise UsageError(f"a ladder must have at least one level, {self.name} has none")

    @cached_property
    def level_dicts(self) -> list[dict[str, Any]]:
        """The levels as JSON, their specs in canonical form."""
        return [{**asdict(level), "spec": parse_stored(level.spec).spec} for level in self.levels]

    @property
    def specs(self) -> tuple[str, ...]:
        """The canonical specs of the levels."""
        return tuple(level["spec"] for level in self.level_dicts)

    @property
    def title(self) -> str:
        """The name of the ladder, or "your ladder" for one made from a user's specs."""
        return "your ladder" if self.name == USER_LADDER else self.name

    @property
    def digest(self) -> str:
        """SHA-256 of the ladder: its name, canonical specs and budgets, without descriptions.

        >>> ladder("parity-v1").digest[:8]
        'c7f943d1'
        """
        budgets = [
            [level[name] for name in ("spec", "examples", "seconds")] for level in self.level_dicts
        ]
        return hashlib.sha256(json.dumps([self.name, budgets]).encode()).hexdigest()

    def to_dict(self) -> dict[str, Any]:
        """Write the ladder as JSON, its specs in canonical form."""
        head = {"name": self.name, "about": self.about, "sha256": self.digest}
        return head | {"references": list(self.references), "levels": self.level_dicts}


def ladder(name: str) -> Ladder:
    """Return the ladder of a name, or read it from a file NAME.toml; raises UsageError.

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

    The file may set `examples` (default: no limit) and `seconds` (default: 60) of each level,
    `about`, and `references`, the learners to compare with. Raises UsageError for other fields.
    """
    try:
        text = read_text(path, _MOST_BYTES)
    except DamagedFile as error:
        raise UsageError(str(error)) from error
    try:
        stated = convert(tomllib.loads(text), _LadderFile)
        ladder = ladder_of(stated.specs, stated.examples, stated.seconds)
    except (ValueError, UsageError) as error:  # messages of TOML and of msgspec name the place
        raise UsageError(f"{path}: {one_line(error, 300)}") from error
    return replace(ladder, about=stated.about, references=tuple(stated.references))


class _LadderFile(Struct, forbid_unknown_fields=True, kw_only=True):
    specs: Annotated[list[str], Meta(min_length=1)]
    examples: Annotated[int, Meta(ge=1)] | None = None
    seconds: Annotated[float, Meta(gt=0, le=1e9)] = 60.0
    about: str = "as given"
    references: list[str] = []


def ladder_of(specs: Iterable[str], examples: int | None = None, seconds: float = 60.0) -> Ladder:
    """Make a ladder of specs, in their order.

    Raises UsageError for a family without a spec and for a repeated spec.

    >>> [level.spec for level in ladder_of(["parity:m=2,d=8", "parity-first"]).levels]
    ['parity:d=8,m=2,noise=0,rho=3', 'parity:d=16,m=3,noise=0,rho=3']
    """
    canonical = [require_drawn(parse_stored(spec_of(text))).spec for text in specs]
    for i, spec in enumerate(canonical):
        if spec in canonical[:i]:
            raise UsageError(f"'{spec}' is given twice: give each SPEC once")
    levels = tuple(Level(spec=spec, examples=examples, seconds=seconds) for spec in canonical)
    return Ladder(name=USER_LADDER, about="as given", levels=levels)


def _published(name: str, about: str, references: list[str], seconds: float, levels: Any) -> Ladder:
    """Make a ladder from its table in ladders.toml; levels: spec, examples and description."""
    rows = (Level(spec=s, examples=n, seconds=seconds, about=harder) for s, n, harder in levels)
    return Ladder(name=name, about=about, levels=tuple(rows), references=tuple(references))


LADDERS: dict[str, Ladder] = {
    name: _published(name, **table)
    for name, table in tomllib.loads(
        Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")
    ).items()
}
