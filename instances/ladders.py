"""Ladders: named, frozen, versioned series of families of growing hardness.

What a published ladder asks never changes, so that results on it can be compared years apart: what
would change it makes a ladder of a new name.
"""

import hashlib
import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

from instances.errors import UsageError, unknown
from instances.spec import parse_stored, require_drawn, spec_of

OWN = "own"  # what files call a ladder of specs as given
_LONGEST = 1e9  # seconds, as of a Budget


@dataclass(frozen=True, kw_only=True)
class Rung:
    """A family, and what a learner may use on each of its instances; None is no limit.

    about: why it is harder than the rung below. Raises UsageError for a limit out of range.
    """

    spec: str
    examples: int | None
    seconds: float
    about: str = ""

    def __post_init__(self) -> None:
        if self.examples is not None and (type(self.examples) is not int or self.examples < 1):
            raise UsageError(f"{self.examples!r} examples given: an integer above 0 is needed")
        if type(self.seconds) not in (int, float) or not 0 < self.seconds <= _LONGEST:
            raise UsageError(
                f"{self.seconds!r} seconds given: a number above 0, at most {_LONGEST:g}, is needed"
            )


@dataclass(frozen=True, kw_only=True)
class Ladder:
    """Rungs of growing hardness, from the bottom; raises UsageError if it has none.

    Its name is plain ASCII, so that none looks like a published one and is another.

    references: built-in learners worth drawing beside others.
    """

    name: str
    about: str
    rungs: tuple[Rung, ...]
    references: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not (self.name.isascii() and self.name.isprintable() and self.name.strip() == self.name):
            raise UsageError(f"a ladder named {self.name[:40]!a} given: plain ASCII is wanted")
        if not self.rungs:
            raise UsageError(f"{self.name} given without rungs: a ladder has at least one")

    @cached_property
    def asked(self) -> list[dict[str, Any]]:
        """The rungs as JSON, their specs in canonical form."""
        return [{**asdict(rung), "spec": parse_stored(rung.spec).spec} for rung in self.rungs]

    @property
    def specs(self) -> tuple[str, ...]:
        """The canonical specs of the rungs."""
        return tuple(rung["spec"] for rung in self.asked)

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
        asked = [[rung[name] for name in ("spec", "examples", "seconds")] for rung in self.asked]
        return hashlib.sha256(json.dumps([self.name, asked]).encode()).hexdigest()

    def to_dict(self) -> dict[str, Any]:
        """Write the ladder as JSON, its specs in canonical form."""
        said = {"name": self.name, "about": self.about, "sha256": self.digest}
        return said | {"references": list(self.references), "rungs": self.asked}


def ladder(name: str) -> Ladder:
    """Look a ladder up by its name; raises UsageError with the nearest one.

    >>> ladder("parity-v1").rungs[0].spec
    'parity:d=8,m=1'
    """
    if name not in LADDERS:
        raise unknown("ladder", name, LADDERS)
    return LADDERS[name]


def ladder_of(specs: Iterable[str], examples: int | None = None, seconds: float = 60.0) -> Ladder:
    """Make a ladder of specs in this order.

    Raises UsageError for a family that has no spec and for a spec that is given twice.

    >>> [rung.spec for rung in ladder_of(["parity:m=2,d=8", "parity-first"]).rungs]
    ['parity:d=8,m=2,noise=0,rho=3', 'parity:d=16,m=3,noise=0,rho=3']
    """
    canonical = [require_drawn(parse_stored(spec_of(text))).spec for text in specs]
    for i, spec in enumerate(canonical):
        if spec in canonical[:i]:
            raise UsageError(f"'{spec}' is given twice: give each SPEC once")
    rungs = tuple(Rung(spec=spec, examples=examples, seconds=seconds) for spec in canonical)
    return Ladder(name=OWN, about="as given", rungs=rungs)


def _published(
    name: str, about: str, references: tuple[str, ...], seconds: float, *rows: tuple[str, int, str]
) -> Ladder:
    rungs = tuple(
        Rung(spec=spec, examples=examples, seconds=seconds, about=harder)
        for spec, examples, harder in rows
    )
    return Ladder(name=name, about=about, rungs=rungs, references=references)


# What is asked here never changes. A test holds the digest of each.
_PUBLISHED = (
    _published(
        "parity-v1",
        "hidden parities without noise: far beyond statistical queries, quick for elimination",
        ("queries", "lowdegree", "mlp", "elimination"),
        60.0,
        ("parity:d=8,m=1", 50_000, "one bit of seven: a linear model on the bits"),
        ("parity:d=20,m=1", 100_000, "one bit of many"),
        ("parity:d=48,m=1", 200_000, "one bit of very many"),
        ("parity:d=16,m=2", 500_000, "two bits: no linear model on the bits"),
        ("parity:d=32,m=2", 1_000_000, "twice as many bits"),
        ("parity:d=48,m=2", 1_000_000, "1081 pairs"),
        ("parity:d=16,m=3", 1_000_000, "three bits: no quadratic model"),
        ("parity:d=32,m=3", 1_000_000, "4495 triples"),
        ("parity:d=64,m=3", 1_000_000, "39711 triples"),
        ("parity:d=32,m=4", 1_000_000, "four bits"),
        ("parity:d=32,m=5", 1_000_000, "five bits"),
        ("parity:d=64,m=4", 1_000_000, "6e5 members"),
        ("parity:d=64,m=5", 1_000_000, "7e6 members"),
        ("parity:d=64,m=7", 1_000_000, "6e8 members"),
        ("parity:d=100,m=8", 1_000_000, "2e11 members"),
        ("parity:d=256,m=12", 1_000_000, "1e20 members"),
        ("parity:d=1000,m=21", 1_000_000, "1e43 members"),
    ),
    _published(
        "noisy-parity-v1",
        "hidden parities, one label in ten flipped: elimination fails",
        ("queries", "mlp", "restricted"),
        60.0,
        ("parity:d=8,m=1,noise=0.1", 50_000, "one bit of seven"),
        ("parity:d=20,m=1,noise=0.1", 100_000, "one bit of many"),
        ("parity:d=16,m=2,noise=0.1", 500_000, "two bits: no linear model on the bits"),
        ("parity:d=32,m=2,noise=0.1", 1_000_000, "twice as many bits"),
        ("parity:d=16,m=3,noise=0.1", 1_000_000, "three bits"),
        ("parity:d=32,m=3,noise=0.1", 1_000_000, "4495 triples"),
        ("parity:d=64,m=3,noise=0.1", 1_000_000, "39711 triples"),
        ("parity:d=32,m=4,noise=0.1", 1_000_000, "four bits"),
        ("parity:d=64,m=4,noise=0.1", 1_000_000, "6e5 members"),
        ("parity:d=64,m=6,noise=0.1", 1_000_000, "7e7 members"),
        ("parity:d=100,m=6,noise=0.1", 1_000_000, "1e9 members"),
        ("parity:d=100,m=8,noise=0.1", 1_000_000, "2e11 members"),
        ("parity:d=200,m=8,noise=0.1", 1_000_000, "5e13 members"),
        ("parity:d=200,m=12,noise=0.1", 1_000_000, "6e18 members"),
        ("parity:d=1000,m=21,noise=0.1", 1_000_000, "1e43 members"),
    ),
    _published(
        "lwr-v1",
        "learning with rounding: from tables of secrets to a key of a real scheme",
        ("mlp", "bruteforce", "mitm"),
        60.0,
        ("lwr:n=4,q=4,p=2,secret=binary", 500_000, "16 secrets"),
        ("lwr:n=6,q=4,p=2,secret=binary", 500_000, "64 secrets"),
        ("lwr:n=6,q=8,p=2,secret=binary", 1_000_000, "a larger modulus"),
        ("lwr:n=8,q=8,p=2,secret=binary", 1_000_000, "256 secrets"),
        ("lwr:n=10,q=8,p=2,secret=binary", 1_000_000, "1024 secrets"),
        ("lwr:n=12,q=16,p=4,secret=binary", 1_000_000, "4096 secrets"),
        ("lwr:n=16,q=16,p=2,secret=binary", 1_000_000, "65536 secrets"),
        ("lwr:n=24,q=32,p=2,secret=binary", 1_000_000, "2e7 secrets"),
        ("lwr:n=28,q=64,p=4,secret=binary", 1_000_000, "3e8 secrets"),
        ("lwr:n=36,q=64,p=4,secret=binary", 1_000_000, "7e10 secrets"),
        ("lwr:n=48,q=256,p=4,secret=binary", 1_000_000, "3e14 secrets"),
        ("lwr:n=64,q=256,p=16,secret=ternary", 1_000_000, "3e30 secrets"),
        (
            "lwr:n=512,q=8192,p=1024,secret=cbd,spread=5",
            1_000_000,
            "the key of LightSaber as plain LWR",
        ),
    ),
    _published(
        "nice-v1",
        "layers of random heads: more heads, longer tokens",
        ("staged", "levenberg", "student"),
        30.0,
        ("nice:m=1,k=2,d=8", 50_000, "one head"),
        ("nice:m=2,k=2,d=8", 50_000, "two heads"),
        ("nice:m=2,k=2,d=16", 100_000, "longer tokens"),
        ("nice:m=3,k=2,d=16", 200_000, "three heads"),
        ("nice:m=4,k=2,d=16", 200_000, "four heads"),
        ("nice:m=6,k=2,d=16", 500_000, "six heads"),
        ("nice:m=4,k=2,d=32", 500_000, "four heads, longer tokens"),
        ("nice:m=6,k=2,d=24", 500_000, "six heads, longer tokens"),
        ("nice:m=8,k=2,d=16", 500_000, "eight heads"),
        ("nice:m=8,k=2,d=32", 500_000, "eight heads, longer tokens"),
        ("nice:m=16,k=2,d=32", 500_000, "sixteen heads"),
    ),
    _published(
        "linear-v1",
        "linear attention: linear in d^2 (d+1) / 2 features, at last more than examples",
        ("lifted", "linear"),
        60.0,
        ("linear:m=1,k=2,d=4", 500, "one head, 40 features"),
        ("linear:m=4,k=3,d=6", 500, "four heads, 126 features"),
        ("linear:m=8,k=4,d=8", 500, "288 features"),
        ("linear:m=16,k=4,d=10", 500, "550 features"),
        ("linear:m=32,k=4,d=12", 500, "936 features"),
        ("linear:m=8,k=4,d=14", 500, "1470 features"),
        ("linear:m=2,k=4,d=16", 500, "2176 features of few heads"),
        ("linear:m=2,k=4,d=20", 500, "4200 features of few heads"),
        ("linear:m=2,k=4,d=24", 500, "7200 features of few heads"),
    ),
    _published(
        "beyond-v2",
        "parities among random heads and hidden directions: more of each",
        ("student", "mlp"),
        60.0,
        ("hidden:d=8,hard=1,nice=1", 1_000_000, "one bit beside a random head"),
        ("direction:d=8,m=1", 1_000_000, "the sign of a direction"),
        ("direction:d=8,m=2", 1_000_000, "no linear part"),
        ("hidden:d=16,hard=2,nice=2", 1_000_000, "two bits beside two random heads"),
        ("direction:d=12,m=3", 1_000_000, "no part below degree 3"),
        ("hidden:d=16,hard=4,nice=4", 1_000_000, "four bits beside four random heads"),
        ("direction:d=32,m=4", 1_000_000, "no part below degree 4"),
        ("hidden:d=64,hard=6,nice=4", 1_000_000, "7e7 members beside random heads"),
        ("direction:d=200,m=8", 1_000_000, "no part below degree 8"),
        ("direction:d=1000,m=12", 100_000, "no part below degree 12"),
    ),
)
LADDERS: dict[str, Ladder] = {one.name: one for one in _PUBLISHED}
