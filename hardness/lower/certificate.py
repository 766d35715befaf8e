"""Certificates: claims about a family, with the evidence from which they can be derived again."""

import hashlib
import json
from dataclasses import dataclass
from typing import Any, Literal

from flint import fmpq

from hardness.lower.bounds import Terms, information_floor, stat_queries, vstat_queries
from instances.errors import UsageError
from instances.family import Family
from instances.parity import Parity
from instances.threshold import Rational

FORMAT = "hardness-certificate/1"

SCOPE = (
    "Statistical-query learners only: algorithms that see expectations of bounded functions of "
    "(X, Y) within a tolerance. Gaussian elimination over GF(2) is no such algorithm and recovers "
    "a noiseless parity from about 2d examples. The bound is on average over a uniformly drawn "
    "member, against answers chosen by an adversary within the tolerance."
)


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
    goal = {"risk": str(terms.risk), "success": str(terms.success), "noise": str(noise)}
    common = (
        "tokens uniform on {-1,+1}^(2 x d); the hidden set uniform among all m-subsets of d-1",
        "heads solved exactly, so a label has two known values and no member leaks",
        "risk is E||F - hypothesis||^2 over that of the best predictor that knows only the family",
    )
    adversary = "answers may be any values within the tolerance"
    claims = (
        Claim(
            quantity="pairwise-correlation",
            value="0",
            kind="exact",
            parameters={"normalisation": "unit norm under the token distribution"},
            assumptions=common[:2],
            meaning="any two different members are uncorrelated: E[e_S e_S'] = 0, e_S the unknown "
            "part of the label scaled to norm 1",
            source="CL24",
        ),
        Claim(
            quantity="sq-dimension",
            value=str(size),
            kind="exact",
            parameters={"definition": "largest N with N members of correlation at most 1/N"},
            assumptions=common[:2],
            meaning="all C(d-1, m) members are orthogonal, and there are no more",
            source="BFJKMR94",
        ),
        Claim(
            quantity="stat-queries",
            value=str(stat_queries(size, noise, terms)),
            kind="exact",
            parameters={"tau": str(terms.tau), "range": "[-1,1]", **goal},
            assumptions=(*common, adversary),
            meaning="any learner needs at least this many queries to STAT(tau), correlational or "
            "not, to reach the risk with the success probability; 0 means that the bound is "
            "vacuous at this tolerance",
            source="BFJKMR94",
        ),
        Claim(
            quantity="vstat-queries",
            value=str(vstat_queries(size, noise, terms)),
            kind="exact",
            parameters={"t": str(terms.vstat), "range": "[0,1]", **goal},
            assumptions=(*common, adversary),
            meaning="the same for VSTAT(t), whose tolerance is that of t examples",
            source="FGRVX17",
        ),
        Claim(
            quantity="information-floor",
            value=str(information_floor(size, terms)),
            kind="exact",
            parameters={"risk": str(terms.risk), "success": str(terms.success)},
            assumptions=common,
            meaning="any learner whatever, statistical-query or not, needs at least this many "
            "examples: a label carries at most one unknown bit",
            source="information",
        ),
    )
    return Certificate(spec=family.spec, claims=claims, scope=SCOPE, evidence=_evidence(family))


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
