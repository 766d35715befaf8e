"""The table of what families may offer beyond their core: bounds, learners and figures ask by it.

A capability is an attribute that the class of a family has, or has not. Nothing asks which class a
family is of: it asks for what it needs, and says what is missing where there is none.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

from instances.coded import MOST_COORDINATES
from instances.errors import UsageError
from instances.family import Family, HiddenSigns

if TYPE_CHECKING:
    from instances.coded import Coded, FactorTables
    from instances.dense import Dense
    from instances.families.direction import Direction
    from instances.families.linear import Linear
    from instances.lwe import Modular
    from instances.questions import HiddenFunction, Questions
    from instances.symmetric import Symmetric

T = TypeVar("T")


@dataclass(frozen=True)
class Capability(Generic[T]):
    """An attribute of some families; one that is None is as good as missing.

    what: in words. given: what has it, and how a family of a user gets it. beyond: which parameter
    is out of range, of a family that has it otherwise.

    >>> from instances import parse
    >>> SCHEME.missing(parse("nice:m=1,k=2,d=4"))[:55]
    'nice given: it lacks `scheme`, hidden sets of one size,'
    """

    name: str
    what: str
    given: str
    beyond: Callable[[Family], str | None] = lambda family: None

    def of(self, family: Family) -> T | None:
        """Return what a family has under the name, or None."""
        has = hasattr(type(family), self.name)  # so that an error within it is not taken for None
        return cast("T", getattr(family, self.name)) if has else None

    def missing(self, family: Family) -> str | None:
        """Return in one line that a family lacks it and what would give it; None where it has."""
        if self.of(family) is not None:
            return None
        advice = self.beyond(family) or self.given
        return f"{family.name} given: it lacks `{self.name}`, {self.what}: {advice}"

    def need(self, family: Family) -> T:
        """Return what a family has under the name; raises UsageError where that is nothing."""
        found = self.of(family)
        if found is None:
            raise UsageError(str(self.missing(family)))
        return found


CODED: "Capability[Coded]" = Capability(
    "coded",
    "labels that are codes of a few levels, on two tokens of -1 and +1",
    "take parity, profile, lwr, lwe or lpn, or derive from instances.coded.Coded",
)
FACTOR: "Capability[FactorTables]" = Capability(
    "factor",
    "the labels' unknown factor as a table over z",
    "take a family whose labels are codes, as parity, with d - 1 up to 26",
    lambda family: (
        f"d={family.d} is too large, take d - 1 up to {MOST_COORDINATES}"
        if CODED.of(family)
        else None
    ),
)
SCHEME: "Capability[Symmetric]" = Capability(
    "scheme",
    "hidden sets of one size, whose correlations depend on their overlap alone",
    "take parity or profile, or derive from instances.symmetric.Symmetric",
)
CHARACTERS: "Capability[Symmetric]" = Capability(
    "characters", "members that are characters of z, and so orthogonal", "take parity"
)
PROVED_AS: "Capability[Symmetric]" = Capability(
    "proved_as",
    "hidden sets that its certificate is about, shown among other heads",
    "take hidden",
)
HIDDEN_SIGNS: "Capability[HiddenSigns]" = Capability(
    "hidden_signs",
    "signs that examples show and that differ from member to member",
    "take hidden or direction, or give the family a function of secret and tokens",
)
LINEAR_FORMS: "Capability[Modular]" = Capability(
    "linear_forms",
    "labels that are functions of <a, s> mod q",
    "take lwr, lwe, lpn or parity, or derive from instances.lwe.Modular",
)
NOISY_PARITIES: "Capability[Modular]" = Capability(
    "noisy_parities",
    "labels that are parities of hidden bits, right or flipped at one rate",
    "take parity or lpn",
)
REAL_LABELS: "Capability[Dense]" = Capability(
    "real_labels",
    "labels that are the outputs of a layer, as real numbers",
    "take nice or linear, or derive from instances.dense.Dense",
)
HIDDEN_DIRECTION: "Capability[Direction]" = Capability(
    "hidden_direction", "a direction in gaussian tokens that labels hide", "take direction"
)
CUBIC: "Capability[Linear]" = Capability(
    "cubic", "outputs that are a cubic polynomial of the tokens", "take linear"
)
HIDDEN_FUNCTION: "Capability[HiddenFunction]" = Capability(
    "hidden_function",
    "a function of chosen signs that labels show",
    "take parity, profile or another family of coded labels, or give yours `hidden_function`",
)
QUESTIONS: "Capability[Questions]" = Capability(
    "questions",
    "labels of tokens that a learner chooses",
    "take a family of drawn layers, or give yours `questions` and `answers`",
    lambda family: None if family.noise_known else "nobody knows other labels of your data",
)
CAPABILITIES: tuple[Capability[Any], ...] = tuple(
    value for value in list(globals().values()) if isinstance(value, Capability)
)
