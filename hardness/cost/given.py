"""What a user names: a set, the words of a problem, a SPEC of any family, a folder, a file."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from hardness.cost.problem import KEYS, Problem, problem, read
from hardness.cost.sets import find
from instances.errors import UsageError
from instances.parameters import key_values
from instances.spec import parse

if TYPE_CHECKING:
    from instances.family import Family


@dataclass(frozen=True, kw_only=True)
class Given:
    """A problem, its spec, the name of its set or the spec, and its family; None for none."""

    spec: str
    name: str
    problem: Problem
    family: "Family | None"


def given(text: str, samples: int | None = None) -> Given:
    """Read the name of a set, the words of a problem or a SPEC; raises UsageError.

    samples: None for those of the set, or any number.

    >>> given("Kyber512").problem.samples, given("lwe:n=1024,q=2^25,sigma=3.19").family
    (512, None)
    """
    named = find(text)
    spec, count = (named[1].spec, named[1].samples) if named else (text.strip(), None)
    count = count if samples is None else samples
    name = named[0] if named else ""
    try:
        family = parse(spec)
    except UsageError:
        if not _beyond(spec):
            raise
        return Given(spec=spec, name=name or spec, problem=read(spec, count), family=None)
    found = problem(family, count)
    return Given(spec=family.spec, name=name or family.spec, problem=found, family=family)


def _beyond(spec: str) -> bool:
    """Return whether a spec is of lwe or lwr, in words that problems are read of."""
    name, _, rest = spec.strip().partition(":")
    if name not in ("lwe", "lwr"):
        return False
    try:
        key_values(rest, name, list(KEYS))
    except UsageError:
        return False
    return True
