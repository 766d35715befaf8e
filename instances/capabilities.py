"""What families may offer beyond their core, asked for by name: an object, or None.

A capability is a property of Family. Bounds, learners and figures never ask which class a family
is of: they ask for what they need, and say what is missing where there is none.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar, cast

from instances.errors import UsageError
from instances.factor import MOST_COORDINATES
from instances.family import Family, HiddenSigns, View

if TYPE_CHECKING:
    from instances.coded import Coded
    from instances.dense import Dense
    from instances.factor import FactorTables
    from instances.families.direction import Direction
    from instances.families.linear import Linear
    from instances.hiddenfunction import HiddenFunction
    from instances.linearsamples import LinearSamples
    from instances.modular import Modular
    from instances.questions import Questions
    from instances.symmetric import Symmetric

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class Capability(Generic[T]):
    """A property of Family that may be None.

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
        return cast("T | None", getattr(family, self.name))

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
    name="coded",
    what="labels that are codes of a few levels, on two tokens of -1 and +1",
    given="take parity, profile, lwr, lwe, lpn or window, or derive from instances.coded.Coded",
)
FACTOR: "Capability[FactorTables]" = Capability(
    name="factor",
    what="the labels' unknown factor as a table over z",
    given="take a family whose labels are codes, as parity, with d - 1 up to 26",
    beyond=lambda family: (
        f"d={family.d} is too large, take d - 1 up to {MOST_COORDINATES}" if family.coded else None
    ),
)
SCHEME: "Capability[Symmetric]" = Capability(
    name="scheme",
    what="hidden sets of one size, whose correlations depend on their overlap alone",
    given="take parity or profile, or derive from instances.symmetric.Symmetric",
)
CHARACTERS: "Capability[Symmetric]" = Capability(
    name="characters",
    what="members that are characters of z, and so orthogonal",
    given="take parity",
)
PROVED_AS: "Capability[tuple[Symmetric, View]]" = Capability(
    name="proved_as",
    what="hidden sets that its certificate is about, shown in another way",
    given="take parity_position, composed, tokens3 or hidden",
)
HIDDEN_SIGNS: "Capability[HiddenSigns]" = Capability(
    name="hidden_signs",
    what="signs that examples show and that differ from member to member",
    given="take tokens3, hidden or direction, or give the family a function of secret and tokens",
)
LINEAR_FORMS: "Capability[Modular]" = Capability(
    name="linear_forms",
    what="labels that are functions of <a, s> mod q",
    given="take lwr, lwe, lpn, window or parity, or derive from instances.modular.Modular",
)
LINEAR_SAMPLES: "Capability[LinearSamples]" = Capability(
    name="linear_samples",
    what="samples (a, <a, s> + e) mod q with secrets and errors of a known kind",
    given="take lwr, lwe, lpn, window or parity, or give the family one of instances.linearsamples",
)
NOISY_PARITIES: "Capability[Modular]" = Capability(
    name="noisy_parities",
    what="labels that are parities of hidden bits, right or flipped at one rate",
    given="take parity or lpn",
)
REAL_LABELS: "Capability[Dense]" = Capability(
    name="real_labels",
    what="labels that are the outputs of a layer, as real numbers",
    given="take nice, dial or linear, or derive from instances.dense.Dense",
)
HIDDEN_DIRECTION: "Capability[Direction]" = Capability(
    name="hidden_direction",
    what="a direction in gaussian tokens that labels hide",
    given="take direction",
)
CUBIC: "Capability[Linear]" = Capability(
    name="cubic",
    what="outputs that are a cubic polynomial of the tokens",
    given="take linear",
)
HIDDEN_FUNCTION: "Capability[HiddenFunction]" = Capability(
    name="hidden_function",
    what="a function of chosen signs that labels show",
    given="take parity, profile or another family of coded labels, or give yours `hidden_function`",
)
QUESTIONS: "Capability[Questions]" = Capability(
    name="questions",
    what="labels of tokens that a learner chooses",
    given="take a family of drawn layers, or give yours `questions` and `answers`",
    beyond=lambda family: None if family.noise_known else "nobody knows other labels of your data",
)
CAPABILITIES: tuple[Capability[object], ...] = cast(
    "tuple[Capability[object], ...]",
    (
        CODED,
        FACTOR,
        SCHEME,
        CHARACTERS,
        PROVED_AS,
        HIDDEN_SIGNS,
        LINEAR_FORMS,
        LINEAR_SAMPLES,
        NOISY_PARITIES,
        REAL_LABELS,
        HIDDEN_DIRECTION,
        CUBIC,
        HIDDEN_FUNCTION,
        QUESTIONS,
    ),
)
