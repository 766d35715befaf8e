"""Certificates of symmetric profiles: spectra, codes and linear programs as evidence.

A query bound comes from an eigenvalue. An adversary answers with the mean over all members; if
lambda_1 is the largest eigenvalue of the members less that mean, with the values of g scaled to
-1 .. 1, a query of tolerance tau rules out at most (1 - 2 eta)^2 lambda_1 / (4 tau^2) of them.
docs/mathematics.md has the proofs.
"""

from fractions import Fraction
from typing import Any

from hardness.claims.symmetric import QUANTITIES, SCOPE_MANY, SCOPE_TWO
from hardness.lower.bounds import BoundParameters, information_floor, query_claim, ruled_out
from hardness.lower.codes import Dimension, sq_dimension
from hardness.lower.johnson import Johnson
from hardness.lower.mixture import mixture_spread
from hardness.lower.parity import layer_evidence
from hardness.lower.record import Certificate, Claim, claim, text
from hardness.lower.sda import Bracket, DualCertificate, all_subsets, enough, pair_events
from instances.symmetric import Symmetric
from instances.threshold import Rational, python_fraction, rational


def certify_symmetric(family: Symmetric, terms: BoundParameters) -> Certificate:
    """Certify correlations, spectrum, SQ-DIM, both SDAs and the query bounds of a profile."""
    scheme = Johnson.family(family)
    norm = scheme.norm
    gamma, at = rational(terms.gamma), {"gamma": str(terms.gamma)}
    dimension, bracket = sq_dimension(scheme), all_subsets(scheme, gamma)
    evidence = {
        **layer_evidence(family),
        "values": [str(v) for v in family.values],
        "correlations": [text(c) for c in scheme.correlations],
        "eigenvalues": [text(v) for v in scheme.eigenvalues],
        "code": dimension.code.to_dict(),
        "sda": _sda_evidence(bracket),
    }
    claims = [
        claim(QUANTITIES, "largest-correlation", scheme.correlations[-2] / norm),
        claim(QUANTITIES, "average-correlation", scheme.average / norm),
        claim(QUANTITIES, "operator-norm", scheme.operator_norm / norm),
        claim(QUANTITIES, "second-eigenvalue", scheme.spread / norm),
        claim(QUANTITIES, "cross-predictability", scheme.cross_predictability / norm**2),
        _bracketed("sq-dimension", dimension),
        _bracketed("sda-all-subsets", bracket, at),
        claim(QUANTITIES, "sda-pair-events", pair_events(scheme, gamma), at),
    ]
    reach = {"risk": str(terms.risk), "success": str(terms.success)}
    goal = {**reach, "noise": str(family.noise)}
    right = right_about(scheme, terms.risk)
    cap = ruled_out(query_square(family, scheme) / terms.tau**2)
    tau = {"tau": str(terms.tau), **goal}
    claims.append(query_claim(QUANTITIES, "csq", cap, right, scheme.size, tau))
    if family.two_valued:
        claims.append(query_claim(QUANTITIES, "stat", cap, right, scheme.size, tau))
        below = enough(scheme, labelled_gamma(family, scheme, terms.vstat))
        mixture = mixture_spread(family, scheme)
        evidence |= {"vstat": _dual(below), "mixture": None if mixture is None else text(mixture)}
        cap = below.enough - 1
        if mixture is not None:
            cap = min(cap, _floor(3 * terms.vstat * mixture / 4))
        t = {"t": str(terms.vstat), **goal}
        claims.append(query_claim(QUANTITIES, "vstat", cap, right, scheme.size, t))
    levels = len(set(family.values))  # for given flips; noise adds no bit
    floor = information_floor(scheme.size, terms, right, levels)
    reach["levels"] = str(levels)
    claims.append(claim(QUANTITIES, "information-floor", floor, reach))
    return Certificate(
        spec=family.spec,
        claims=tuple(claims),
        scope=SCOPE_TWO if family.two_valued else SCOPE_MANY,
        evidence=evidence,
    )


def query_square(family: Symmetric, scheme: Johnson) -> Fraction:
    """Bound the squared moves of one query over all members, the values taken as -1 .. 1."""
    half = rational((max(family.values) - min(family.values)) / 2)
    return python_fraction((rational(1 - 2 * family.noise) / half) ** 2 * scheme.spread / 4)


def right_about(scheme: Johnson, risk: Fraction) -> int:
    """Bound how many members one hypothesis can have relative risk <= risk for.

    With unit vectors of largest Gram eigenvalue mu, K ((1 - risk + H)/2)^2 <= mu H for a hypothesis
    of squared norm H, so K <= mu/(1 - risk). The members here are less their mean.
    """
    return _floor(scheme.spread / (scheme.norm - scheme.average) / rational(1 - risk))


def labelled_gamma(family: Symmetric, scheme: Johnson, t: int) -> Rational:
    """Turn VSTAT(t) into the average of unit-norm correlations that one query cannot pass.

    As distributions of labelled examples, relative to labels that are coins of mean mu, two members
    of a two-valued profile have correlation (1 - 2 eta)^2 c / (2 (1 - mu^2)), the values written as
    +-1; a query to VSTAT(t) rules out only sets of average above 1/(3t) there.
    """
    half = rational((max(family.values) - min(family.values)) / 2)
    fade = rational(1 - 2 * family.noise)
    mu = fade * (family.fourier[0] - rational(family.centre)) / half
    return 2 * (1 - mu**2) * half**2 / (3 * t * fade**2 * scheme.norm)


def _bracketed(
    name: str, found: Dimension | Bracket, parameters: dict[str, str] | None = None
) -> Claim:
    given = {**(parameters or {}), "upper": str(found.upper)}
    return claim(QUANTITIES, name, found.lower, given, "exact" if found.exact else "interval")


def _sda_evidence(bracket: Bracket) -> dict[str, Any]:
    above = bracket.above
    shown = above and {"fixed": above.a, "block": above.k, "met": above.j, "size": str(above.size)}
    return {"below": _dual(bracket.below), "above": shown}


def _dual(below: DualCertificate) -> dict[str, Any]:
    return {
        "gamma": text(below.gamma),
        "inner": [text(v) for v in below.inner],
        "average": text(below.average),
        "caps": [text(v) for v in below.caps],
        "enough": str(below.enough),
    }


def _floor(value: Rational) -> int:
    return int(value.p) // int(value.q)
