"""What a certificate is: claims about a family, with the evidence that they follow from."""

import hashlib
import json
from dataclasses import dataclass
from typing import Any, Literal

from flint import fmpq

from hardness.claims import FORMAT, Quantity, vacuous
from instances.errors import ToolkitError
from instances.parameters import whole
from instances.threshold import Rational

Kind = Literal["exact", "interval", "statistical"]


class NoClaim(ToolkitError):
    """No theorem here is about this case, or none says anything; the text says why."""


@dataclass(frozen=True, kw_only=True)
class Claim:
    """One number that is claimed: an integer or rational as a string, and how it is known."""

    quantity: str
    value: str
    kind: Kind
    parameters: dict[str, str]
    assumptions: tuple[str, ...]
    meaning: str
    source: str  # key in docs/references.md

    @property
    def vacuous(self) -> bool:
        """Whether it says nothing that is not known of every learner."""
        return vacuous(self.quantity, self.value)


@dataclass(frozen=True, kw_only=True)
class Certificate:
    """Claims about a family, their scope, and the evidence that they follow from."""

    spec: str
    claims: tuple[Claim, ...]
    scope: str
    evidence: dict[str, Any]

    def value(self, quantity: str) -> str:
        """Return the claimed value of a quantity; raises KeyError."""
        return {claim.quantity: claim.value for claim in self.claims}[quantity]

    def integer(self, quantity: str) -> int:
        """Return the claimed value of a quantity that is an integer; raises KeyError."""
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

    def to_dict(self) -> dict[str, Any]:
        """Write the file that `hardness check` accepts; its digest guards against damage."""
        body: dict[str, Any] = {
            "format": FORMAT,
            "spec": self.spec,
            "claims": [
                {
                    "quantity": c.quantity,
                    "value": c.value,
                    "kind": c.kind,
                    "parameters": c.parameters,
                    "assumptions": list(c.assumptions),
                    "meaning": c.meaning,
                    "source": c.source,
                }
                for c in self.claims
            ],
            "scope": self.scope,
            "evidence": self.evidence,
        }
        text = json.dumps(body, sort_keys=True, separators=(",", ":"))
        return {**body, "digest": hashlib.sha256(text.encode()).hexdigest()}


def claim(
    words: dict[str, Quantity],
    name: str,
    value: Rational | int,
    parameters: dict[str, str] | None = None,
    kind: Kind = "exact",
) -> Claim:
    """Put a value beside the words of its quantity."""
    quantity = words[name]
    return Claim(
        quantity=name,
        value=text(fmpq(value)),
        kind=kind,
        parameters={**(parameters or {}), **quantity.fixed},
        assumptions=quantity.assumptions,
        meaning=quantity.meaning,
        source=quantity.source,
    )


def text(value: Rational) -> str:
    """Write a rational of any size; Python's own conversion stops at 4300 digits.

    >>> text(fmpq(6, 4))
    '3/2'
    """
    top, bottom = value.p.str(), value.q.str()
    return str(top) if bottom == "1" else f"{top}/{bottom}"
