"""What a certificate is: claims about a family, with the proof that they follow from."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from hardness.check import kernel
from hardness.claims import WORD, digits, is_upper, vacuous
from instances.arguments import located
from instances.disk import digest
from instances.errors import ToolkitError, unknown
from instances.export import Cited, Math
from instances.result import Result, TableRow
from instances.text import exact, shortened

if TYPE_CHECKING:
    from pandas import DataFrame

_LONG = 20  # characters of a value that is shown in full
# Parameters that are no terms of a claim: one end of its value, and what its quantity fixes.
_BESIDE = ("upper", "definition", "normalisation", "subsets", "range")
_AFTER = {  # by sources: keys in docs/references.md
    "CL24": ("pairwise-correlation",),
    "this certificate": ("largest-correlation",),
    "FGRVX17": ("average-correlation", "sda-all-subsets", "vstat-queries"),
    "Del73": ("operator-norm", "second-eigenvalue"),
    "DKS17": ("operator-norm-at-most", "second-eigenvalue-at-most", "random-members"),
    "BFJKMR94": ("sq-dimension", "sq-dimension-at-least", "csq-queries", "stat-queries"),
    "AS20": ("cross-predictability", "gd-noise-steps"),
    "BGMRR16": ("lwe-probability",),
    "Regev05": ("orthogonal-members",),
    "information": ("information-floor",),
    "Fan49": ("kernel-error", "kernel-features"),
    "Hop18": (
        *("low-degree-advantage", "low-degree-advantage-open"),
        *("low-degree-examples", "low-degree-examples-open"),
    ),
}
_OF = {"pairwise-correlation": "parity", "orthogonal-members": "lwe"}  # whose paper has no other
OURS = {"information": "by counting", "this certificate": "this certificate"}  # no papers
_SOURCES = {quantity: source for source, names in _AFTER.items() for quantity in names}


class NoClaim(ToolkitError):
    """No theorem here is about this case, or none says anything; the text says why."""


@dataclass(frozen=True, kw_only=True)
class Claim:
    """One number that is claimed, and the step of the proof that proves it.

    terms: what it is about, numbers or "any"; `upper` is the other end of what is no exact number.
    Numbers, as a bound is compared and computed with; `parameters` are these for people to read.
    family: the name of the family that it is about, which a file has in its spec.
    """

    quantity: str
    value: Fraction
    terms: dict[str, Fraction | str]
    meaning: str
    step: int
    family: str = ""

    def __post_init__(self) -> None:
        try:
            _ = self.source
        except KeyError as error:
            raise ValueError(
                f"{self.quantity[:80]!r} is claimed, unknown to this version: make the file again"
            ) from error

    @staticmethod
    def read(data: dict[str, Any], family: str = "") -> "Claim":
        """Read what `to_dict` wrote; raises KeyError, TypeError or ValueError for other data."""
        return Claim(
            family=family,
            quantity=data["quantity"],
            value=_number(data["value"]),
            terms={k: v if v == "any" else _number(v) for k, v in data["terms"].items()},
            meaning=data["says"],
            step=data["step"],
        )

    def to_dict(self) -> dict[str, Any]:
        """Write the claim as a certificate has it."""
        terms = {
            name: term if isinstance(term, str) else kernel.written(term)
            for name, term in self.terms.items()
        }
        return {
            "quantity": self.quantity,
            "value": kernel.written(self.value),
            "terms": terms,
            "step": self.step,
            "says": self.meaning,
        }

    @property
    def upper(self) -> Fraction:
        """The upper end of the value: itself, of an exact one."""
        return Fraction(self.terms.get("upper", self.value))

    @property
    def kind(self) -> Literal["exact", "interval", "lower end", "reduction"]:
        """How it is known: computed, to within two ends or one, or if a problem is hard."""
        if self.quantity.startswith("lwe-"):
            return "reduction"
        if self.quantity == "sda-all-subsets" and "upper" not in self.terms:
            return "lower end"
        return "exact" if self.upper == self.value else "interval"

    @property
    def source(self) -> str:
        """The key in docs/references.md of whom it is after; ours for families not in the paper."""
        if _OF.get(self.quantity, self.family) != self.family:
            return "this certificate"
        other = "-steps" if "gd-" in self.quantity else "-queries"
        return _SOURCES[self.quantity.replace("-success", other)]

    @property
    def parameters(self) -> dict[str, str]:
        """The terms as text."""
        return {k: v if isinstance(v, str) else exact(v) for k, v in self.terms.items()}

    @property
    def vacuous(self) -> bool:
        """Whether it says nothing that is not known of every learner."""
        return vacuous(self.quantity, self.value)

    def shown(self, number: Callable[[Fraction, bool], str]) -> str:
        """Write the value, or both its ends; number: writes one, rounded up or down.

        A bound that says nothing is called vacuous.
        """
        if self.vacuous:
            return WORD
        if self.kind == "lower end":
            return f"at least {number(self.value, False)}"
        if self.upper == self.value:
            return number(self.value, is_upper(self.quantity))
        return f"{number(self.value, False)}..{number(self.upper, True)}"


@dataclass(frozen=True, kw_only=True, repr=False)
class Certificate(Result):
    """Claims about a family, their conditions, and the proof that they follow from.

    >>> from hardness.lower import certify
    >>> from instances import parse
    >>> certificate = certify(parse("parity:d=8,m=3"))
    >>> certificate["sq-dimension"].value, certificate["stat-queries"].vacuous
    (Fraction(35, 1), True)
    """

    spec: str
    claims: tuple[Claim, ...]
    scope: str
    proof: dict[str, Any]
    loaded: bool = field(default=False, compare=False)  # from a file, which nothing here checked
    proved: tuple[kernel.Fact, ...] = field(default=(), compare=False)  # by its maker, step by step

    def value(self, quantity: str) -> str:
        """Return the claimed value of a quantity; raises UsageError for one that is not claimed."""
        return exact(self[quantity].value)

    def integer(self, quantity: str) -> int:
        """Return the claimed value of a quantity that is an integer; raises UsageError."""
        return int(self[quantity].value)

    def __getitem__(self, quantity: str) -> Claim:
        """Return the claim about a quantity; raises UsageError for one that is not claimed."""
        found = {claim.quantity: claim for claim in self.claims}
        if quantity not in found:
            raise unknown("claim", quantity, found)
        return found[quantity]

    @cached_property
    def facts(self) -> Sequence[kernel.Fact]:
        """What each step proves: of what was read from a file anew; may raise kernel.Refused."""
        problem, steps = self.proof["problem"], self.proof["steps"]
        return self.proved or kernel.prove(kernel.read_problem(problem), steps)

    @property
    def vacuous(self) -> bool:
        """Whether every bound on learners is vacuous, and no two members are within 1/2."""
        return all(
            claim.vacuous
            or claim.quantity.endswith("-correlation")
            or claim.quantity.startswith("sda-")
            or (claim.quantity, claim.value) == ("sq-dimension", 1)
            for claim in self.claims
        )

    @property
    def factors(self) -> bool:
        """Whether its members are the factors of a family's labels, which its origin names."""
        origin = self.proof.get("about", {}).get("origin", {}).get("path", "")
        return self.spec.startswith("factors:") or self.spec == origin

    @classmethod
    def load(cls, path: str | PathLike[str]) -> "Certificate":
        """Read a certificate from a file that `save` wrote; raises DamagedFile.

        It is read strictly, and its digest must fit: whether its claims follow, `check` says, and
        its tables say that they were not checked.
        """
        from instances.disk import damage, require_format
        from instances.strict import read_strangers_json

        where = Path(located("path", path))
        data = read_strangers_json(where)
        require_format(data, kernel.FORMAT, where)
        with damage(where):
            found = Certificate.read(data)
            if found.to_dict() != data:
                raise ValueError("its content does not match its digest")
        return replace(found, loaded=True)

    @staticmethod
    def read(data: dict[str, Any]) -> "Certificate":
        """Read what `to_dict` wrote; raises KeyError, TypeError or ValueError for other data."""
        goal, spec = data["goal"], data["about"]["spec"]
        return Certificate(
            spec=spec,
            claims=tuple(Claim.read(one, spec.partition(":")[0]) for one in goal["claims"]),
            scope=goal["conditions"],
            proof={name: data[name] for name in ("about", "problem", "steps")},
        )

    def _rows(self) -> list[TableRow]:
        return [
            {
                "quantity": c.quantity,
                "value": c.shown(_brief),
                "formula": self.formulas.get(c.quantity),
                "terms": ", ".join(f"{k} {v}" for k, v in c.parameters.items() if k not in _BESIDE),
                "known": self._known(c),
                "source": OURS.get(c.source) or Cited(c.source),
            }
            for c in self.claims
        ]

    @property
    def reduces(self) -> bool:
        """Whether a claim rests on the hardness of another problem."""
        return any(claim.kind == "reduction" for claim in self.claims)

    @property
    def formulas(self) -> dict[str, Math]:
        """The formulas of claims with their values in, where that is more than the value."""
        from hardness.lower.formulas import formulas

        found = {} if self.loaded else formulas(self)
        puts = {name: one.put for name, one in found.items()}
        return {
            name: Math(put.text, put.latex)
            for name, put in puts.items()
            if put.text != exact(found[name].value)
        }

    def _known(self, one: Claim) -> str:
        return f"{one.kind}, not checked" if self.loaded else one.kind

    def to_frame(self) -> "DataFrame":
        """Make a pandas DataFrame, one row a claim; values are exact, so texts."""
        from instances.export import frame

        return frame(
            [
                {
                    "spec": self.spec,
                    "quantity": c.quantity,
                    "value": exact(c.value),
                    "kind": self._known(c),
                    "parameters": c.parameters,
                    "meaning": c.meaning,
                    "source": c.source,
                    "step": c.step,
                    "vacuous": c.vacuous,
                }
                for c in self.claims
            ]
        )

    def to_dict(self) -> dict[str, Any]:
        """Write the file that `hardness check` accepts; its digest guards against damage."""
        claims = [claim.to_dict() for claim in self.claims]
        goal = {"conditions": self.scope, "claims": claims}
        about, problem = self.proof["about"], self.proof["problem"]
        body = {"format": kernel.FORMAT, "about": about, "problem": problem, "goal": goal}
        body["steps"] = self.proof["steps"]
        return {**body, "digest": digest(body)}


def _number(text: str) -> Fraction:
    """Read a number as the kernel writes it, a long one in hexadecimal."""
    top, _, bottom = text.partition("/")
    return Fraction(int(top, 0), int(bottom or "1", 0))


def _brief(value: Fraction, up: bool) -> str:
    text = exact(value)
    if value.denominator == 1 or len(text) <= _LONG:
        return shortened(text, _LONG)
    return f"about {digits(value, up)}"
