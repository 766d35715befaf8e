"""Certificates of hidden parities: all members orthogonal, the heads as evidence."""

from typing import Any

from flint import fmpq

from hardness.claims.parity import QUANTITIES, SCOPE
from hardness.lower.bounds import (
    BoundParameters,
    information_floor,
    query_claim,
    stat_cap,
    vstat_cap,
)
from hardness.lower.record import Certificate, claim, text
from instances.symmetric import Symmetric


def certify_parity(family: Symmetric, terms: BoundParameters) -> Certificate:
    """Certify exact correlations, SQ-DIM, query bounds, information floor. [BFJKMR94, FGRVX17]"""
    size, noise = family.size, family.noise
    reach = {"risk": str(terms.risk), "success": str(terms.success)}
    goal = {**reach, "noise": str(noise)}
    right = terms.right_about
    stat = query_claim(
        QUANTITIES, "stat", stat_cap(noise, terms), right, size, {"tau": str(terms.tau), **goal}
    )
    vstat = query_claim(
        QUANTITIES, "vstat", vstat_cap(noise, terms), right, size, {"t": str(terms.vstat), **goal}
    )
    claims = (
        claim(QUANTITIES, "pairwise-correlation", 0),
        claim(QUANTITIES, "sq-dimension", size),
        stat,
        vstat,
        claim(QUANTITIES, "information-floor", information_floor(size, terms), reach),
    )
    evidence = layer_evidence(family)
    return Certificate(spec=family.spec, claims=claims, scope=SCOPE, evidence=evidence)


def layer_evidence(family: Symmetric) -> dict[str, Any]:
    """Write the exact heads, from which B(h) can be evaluated for every h."""
    heads = family.heads
    total = sum((head.a for head in heads), fmpq(0))
    return {
        "rho": str(family.rho),
        "heads": [{"u": text(head.u), "a": text(head.a), "counts": head.counts} for head in heads],
        "A": text(total),
        "c0": "0",
        "members": {"ground": family.d - 1, "chosen": family.m},
    }
