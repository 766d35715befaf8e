"""Certificates: claims about a family, with the evidence from which they can be derived again."""

import hashlib
import json
from dataclasses import dataclass
from typing import Any, Literal

from flint import fmpq, fmpz

from hardness.claims import FORMAT, QUANTITIES, SCOPE
from hardness.lower.bounds import Terms, information_floor, stat_queries, vstat_queries
from instances.errors import UsageError
from instances.family import Family
from instances.parity import Parity
from instances.threshold import Rational


@dataclass(frozen=True, kw_only=True)
class Claim:
    """One number that is claimed: an integer or rational as a string, and how it is known."""

    quantity: str
    value: str
    kind: Literal["exact", "interval", "statistical"]
    parameters: dict[str, str]
    assumptions: tuple[str, ...]
    meaning: str
    source: str  # key in docs/references.md


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

    def to_json(self) -> dict[str, Any]:
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


def certify(family: Family, terms: Terms | None = None) -> Certificate:
    """Certify a parity family: exact correlations, SQ-DIM, query bounds, information floor.

    Raises UsageError for a family without a certificate. [BFJKMR94, FGRVX17, CL24]

    >>> from instances import parse
    >>> certify(parse("parity:d=1000,m=21")).value("sq-dimension")[:12]
    '155098380390'
    """
    if not isinstance(family, Parity):
        raise UsageError(f"{family.name} given: there is no certificate for this family yet")
    terms = terms or Terms()
    size, noise = family.size, family.noise
    risk, success = str(terms.risk), str(terms.success)
    goal = {"risk": risk, "success": success, "noise": str(noise)}
    claims = (
        _claim("pairwise-correlation", 0),
        _claim("sq-dimension", size),
        _claim("stat-queries", stat_queries(size, noise, terms), tau=str(terms.tau), **goal),
        _claim("vstat-queries", vstat_queries(size, noise, terms), t=str(terms.vstat), **goal),
        _claim("information-floor", information_floor(size, terms), risk=risk, success=success),
    )
    return Certificate(spec=family.spec, claims=claims, scope=SCOPE, evidence=_evidence(family))


def _claim(name: str, value: int, **parameters: str) -> Claim:
    quantity = QUANTITIES[name]
    return Claim(
        quantity=name,
        value=fmpz(value).str(),
        kind="exact",
        parameters={**parameters, **quantity.fixed},
        assumptions=quantity.assumptions,
        meaning=quantity.meaning,
        source=quantity.source,
    )


def _evidence(family: Parity) -> dict[str, Any]:
    heads = family.heads
    total = sum((head.a for head in heads), fmpq(0))
    return {
        "rho": str(family.rho),
        "heads": [
            {"u": _text(head.u), "a": _text(head.a), "counts": head.counts} for head in heads
        ],
        "A": _text(total),
        "c0": "0",
        "members": {"ground": family.d - 1, "chosen": family.m},
    }


def _text(value: Rational) -> str:
    """Write a rational of any size; Python's own conversion stops at 4300 digits."""
    top, bottom = value.p.str(), value.q.str()
    return top if bottom == "1" else f"{top}/{bottom}"
