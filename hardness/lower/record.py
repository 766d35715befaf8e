"""What a certificate is: claims about a family, with the evidence that they follow from."""

import hashlib
import json
from dataclasses import dataclass, field, replace
from fractions import Fraction
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from flint import fmpz

from hardness.check import kernel
from hardness.claims import WORD, digits, is_upper, vacuous
from instances.arguments import located
from instances.errors import ToolkitError, unknown
from instances.export import Cited
from instances.parameters import whole
from instances.result import Result, TableRow
from instances.text import shortened
from instances.threshold import Rational

if TYPE_CHECKING:
    from pandas import DataFrame

Kind = Literal["exact", "interval"]
_LONG = 20  # characters of a value that is shown in full
# Parameters that are no terms of a claim: one end of its value, and what its quantity fixes.
_BESIDE = ("upper", "definition", "normalisation", "subsets", "range")


_SOURCES = {
    "pairwise-correlation": "CL24",
    "largest-correlation": "CL24",
    "average-correlation": "FGRVX17",
    "operator-norm": "Del73",
    "operator-norm-at-most": "DKS17",
    "second-eigenvalue-at-most": "DKS17",
    "random-members": "DKS17",
    "sq-dimension-at-least": "BFJKMR94",
    "second-eigenvalue": "Del73",
    "cross-predictability": "AS20",
    "orthogonal-members": "Regev05",
    "sq-dimension": "BFJKMR94",
    "sda-all-subsets": "FGRVX17",
    "sda-pair-events": "BBHLS21",
    "csq-queries": "BFJKMR94",
    "stat-queries": "BFJKMR94",
    "vstat-queries": "FGRVX17",
    "information-floor": "information",
    "kernel-error": "Fan49",
    "kernel-features": "Fan49",
    "gd-noise-steps": "AS20",
    "gd-within-steps": "AKMSS21",
    "gd-grid-steps": "AKMSS21",
    "gd-batch-steps": "AKMSS21",
    "low-degree-advantage": "Hop18",
    "low-degree-advantage-open": "Hop18",
    "low-degree-examples": "Hop18",
    "low-degree-examples-open": "Hop18",
}


class NoClaim(ToolkitError):
    """No theorem here is about this case, or none says anything; the text says why."""


@dataclass(frozen=True, kw_only=True)
class Claim:
    """One number that is claimed: an integer or rational as a string, and how it is known."""

    quantity: str
    value: str
    kind: Kind
    parameters: dict[str, str]
    meaning: str
    source: str  # key in docs/references.md
    step: int  # of the proof, by which it is proved

    @property
    def vacuous(self) -> bool:
        """Whether it says nothing that is not known of every learner."""
        return vacuous(self.quantity, self.value)


@dataclass(frozen=True, kw_only=True, repr=False)
class Certificate(Result):
    """Claims about a family, their scope, and the evidence that they follow from.

    >>> from hardness.lower import certify
    >>> from instances import parse
    >>> certify(parse("parity:d=8,m=3"))
    Certificate of parity:d=8,m=3,noise=0,rho=3
    quantity              value    known  source
    pairwise-correlation  0        exact  CL24
    sq-dimension          35       exact  BFJKMR94
    stat-queries          vacuous  exact  BFJKMR94
    vstat-queries         vacuous  exact  FGRVX17
    information-floor     5        exact  by counting
    """

    _printed = 20  # every claim

    spec: str
    claims: tuple[Claim, ...]
    scope: str
    evidence: dict[str, Any]
    loaded: bool = field(default=False, compare=False)  # from a file, which nothing here checked

    def value(self, quantity: str) -> str:
        """Return the claimed value of a quantity; raises UsageError for one that is not claimed."""
        found = {claim.quantity: claim.value for claim in self.claims}
        if quantity not in found:
            raise unknown("claim", quantity, found)
        return found[quantity]

    def integer(self, quantity: str) -> int:
        """Return the claimed value of a quantity that is an integer; raises UsageError."""
        return whole(self.value(quantity))

    @property
    def vacuous(self) -> bool:
        """Whether every bound on learners is vacuous, and no two members are within 1/2."""
        return all(
            claim.vacuous
            or claim.quantity.endswith("-correlation")
            or claim.quantity.startswith("sda-")
            or (claim.quantity, claim.value) == ("sq-dimension", "1")
            for claim in self.claims
        )

    @classmethod
    def load(cls, path: str | PathLike[str]) -> "Certificate":
        """Read a certificate from a file that `save` wrote; raises DamagedFile.

        It is read strictly, and its digest must fit: whether its claims follow, `check` says, and
        its tables say that they were not checked.
        """
        from instances.disk import damage, require_format
        from instances.strict import CERTIFICATE, read_json

        where = Path(located("path", path))
        data = read_json(where, CERTIFICATE)
        require_format(data, kernel.FORMAT, where)
        with damage(where):
            found = Certificate.read(data)
            if found.to_dict() != data:
                raise ValueError("its content does not match its digest")
        return replace(found, loaded=True)

    @staticmethod
    def read(data: dict[str, Any]) -> "Certificate":
        """Read what `to_dict` wrote; raises KeyError, TypeError or ValueError for other data."""
        goal = data["goal"]
        return Certificate(
            spec=data["about"]["spec"],
            claims=tuple(
                proved(c["quantity"], c["value"], c["terms"], c["says"], c["step"])
                for c in goal["claims"]
            ),
            scope=goal["conditions"],
            evidence={name: data[name] for name in ("about", "problem", "steps")},
        )

    def _summary(self) -> tuple[str, list[TableRow]]:
        rows = [{k: v for k, v in row.items() if k != "terms"} for row in self._rows()]
        return f"Certificate of {self.spec}", list(rows)

    def _rows(self) -> list[TableRow]:
        return [
            {
                "quantity": c.quantity,
                "value": WORD if c.vacuous else _bracket(c),
                "terms": ", ".join(f"{k} {v}" for k, v in c.parameters.items() if k not in _BESIDE),
                "known": self._known(c),
                "source": Cited(c.source) if c.source != "information" else "by counting",
            }
            for c in self.claims
        ]

    def _known(self, one: Claim) -> str:
        return f"{one.kind}, not checked" if self.loaded else one.kind

    def to_frame(self) -> "DataFrame":
        """Make a pandas DataFrame, one row a claim; values are exact, so texts."""
        from instances.export import frame

        rows = (
            {"spec": self.spec, **vars(c), "kind": self._known(c), "vacuous": c.vacuous}
            for c in self.claims
        )
        return frame(list(rows))

    def to_dict(self) -> dict[str, Any]:
        """Write the file that `hardness check` accepts; its digest guards against damage."""
        claims = [
            {
                "quantity": c.quantity,
                "value": _file(c.value),
                "terms": {name: _file(term) for name, term in c.parameters.items()},
                "step": c.step,
                "says": c.meaning,
            }
            for c in self.claims
        ]
        goal = {"conditions": self.scope, "claims": claims}
        about, problem = self.evidence["about"], self.evidence["problem"]
        body = {"format": kernel.FORMAT, "about": about, "problem": problem, "goal": goal}
        body["steps"] = self.evidence["steps"]
        sealed = json.dumps(body, sort_keys=True, separators=(",", ":"))
        return {**body, "digest": hashlib.sha256(sealed.encode()).hexdigest()}


def proved(quantity: str, value: str, terms: dict[str, str], says: str, step: int) -> Claim:
    """Make a claim that a step of a proof proves, of numbers as the kernel writes them."""
    found = decimal(value)
    given = {name: decimal(term) for name, term in terms.items()}
    return Claim(
        quantity=quantity,
        value=found,
        kind="exact" if given.get("upper", found) == found else "interval",
        parameters=given,
        meaning=says,
        source=_SOURCES[
            quantity.replace("-success", "-steps" if "gd-" in quantity else "-queries")
        ],
        step=step,
    )


def decimal(written: str) -> str:
    """Write a number of the kernel's in decimal digits, however long.

    >>> decimal("0x10/3")
    '16/3'
    """
    if "0x" not in written:
        return written
    return "/".join(fmpz(int(part, 0)).str() for part in written.split("/"))


def _file(value: str) -> str:
    """Write a decimal number as the kernel reads it; "any", which is no number, as it is."""
    if value == "any":
        return value
    top, _, bottom = value.partition("/")
    return kernel.written(Fraction(int(fmpz(top)), int(fmpz(bottom or "1"))))


def _bracket(found: Claim) -> str:
    upper = found.parameters.get("upper", found.value)
    if upper == found.value:
        return _brief(found.value, is_upper(found.quantity))
    return f"{_brief(found.value, False)}..{_brief(upper, True)}"


def _brief(value: str, up: bool) -> str:
    if "/" not in value or len(value) <= _LONG:
        return shortened(value, _LONG)
    return f"about {digits(value, up)}"


def text(value: Rational) -> str:
    """Write a rational of any size; Python's own conversion stops at 4300 digits.

    >>> from flint import fmpq
    >>> text(fmpq(6, 4))
    '3/2'
    """
    top, bottom = value.p.str(), value.q.str()
    return str(top) if bottom == "1" else f"{top}/{bottom}"
