"""What a user names: a set, the words of a problem, a SPEC of any family, a folder, a file."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from hardness.cost.problem import KEYS, Problem, problem, read
from hardness.cost.sets import find
from instances.errors import UsageError
from instances.family import require
from instances.parameters import integer, key_values, split_list
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

    samples: None for those of the set or of the words, or any number.

    >>> given("Kyber512").problem.samples, given("lwe:n=1024,q=2^25,sigma=3.19").family
    (512, None)
    >>> given("lwe:n=10,q=97,sigma=1,samples=40").problem.samples
    40
    """
    named = find(text)
    spec, count = words_of(text)
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


def words_of(text: str) -> tuple[str, int | None]:
    """Return the spec of a set or of words, and the samples of the set or that the words give.

    >>> words_of("lwe:n=10,samples=40,q=97")
    ('lwe:n=10,q=97', 40)
    """
    named = find(text)
    if named:
        return named[1].spec, named[1].samples
    name, colon, rest = text.strip().partition(":")
    counted = [part for part in split_list(rest) if part.partition("=")[0].strip() == "samples"]
    if not counted:
        return text.strip(), None
    require(len(counted) == 1, f"samples is given twice in {name[:60]}")
    kept = [part for part in split_list(rest) if part not in counted]
    return f"{name}{colon}{','.join(kept)}", integer(counted[0].partition("=")[2], "samples")


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
