"""Certificates of hidden sets: parities, whose members are orthogonal, and symmetric profiles.

A query bound comes from an eigenvalue. An adversary answers with the mean over all members; if
lambda_1 is the largest eigenvalue of the members less that mean, with the values of g scaled to
-1 .. 1, a query of tolerance tau rules out at most (1 - 2 eta)^2 lambda_1 / (4 tau^2) of them.
What is looked for here are codes, and multipliers of linear programs; the kernel does the rest.
docs/mathematics.md has the proofs.
"""

from fractions import Fraction
from typing import Any

from hardness.check.kernel import written
from hardness.lower.bounds import BoundParameters
from hardness.lower.codes import sq_dimension
from hardness.lower.johnson import Johnson
from hardness.lower.mixture import mixture_spread
from hardness.lower.proof import Proof
from hardness.lower.record import Certificate
from hardness.lower.sda import DualCertificate, all_subsets, enough
from instances.capabilities import CHARACTERS, PROVED_AS
from instances.family import Family
from instances.symmetric import Symmetric
from instances.threshold import Rational, python_fraction, rational


def hidden_set(family: Symmetric) -> dict[str, Any]:
    """Pose the problem of a family of hidden sets, as the kernel reads it."""
    return {
        "kind": "hidden-set",
        "places": family.d - 1,
        "chosen": family.m,
        "values": [written(Fraction(v)) for v in family.values],
        "noise": written(family.noise),
    }


def certify_parity(family: Symmetric, terms: BoundParameters) -> Certificate:
    """Certify exact correlations, SQ-DIM, query bounds, information floor. [BFJKMR94, FGRVX17]"""
    return _orthogonal(Proof(hidden_set(family), {"spec": family.spec}), terms)


def certify_shown(family: Family, terms: BoundParameters) -> Certificate:
    """Certify a family by the hidden sets that it shows in another way, or computes so."""
    twin, view = PROVED_AS.need(family)
    proof = Proof({**hidden_set(twin), "view": view}, {"spec": family.spec})
    return _orthogonal(proof, terms) if CHARACTERS.of(twin) else _overlapping(proof, twin, terms)


def _orthogonal(proof: Proof, terms: BoundParameters) -> Certificate:
    members = proof.step("subsets")
    gram = proof.step("characters", members)
    fit = proof.step("fit", members, gram, risk=terms.risk)
    stat = proof.step("ask", gram, oracle="stat", term=terms.tau)
    vstat = proof.step("ask", gram, oracle="vstat", term=Fraction(terms.vstat))
    bounds = proof.bounds(members, fit, (stat, vstat), terms.success)
    return proof.certificate(gram, *bounds)


def certify_symmetric(family: Symmetric, terms: BoundParameters) -> Certificate:
    """Certify correlations, spectrum, SQ-DIM, both SDAs and the query bounds of a profile."""
    return _overlapping(Proof(hidden_set(family), {"spec": family.spec}), family, terms)


def _overlapping(proof: Proof, family: Symmetric, terms: BoundParameters) -> Certificate:
    scheme, gamma = Johnson.family(family), rational(terms.gamma)
    dimension, bracket = sq_dimension(scheme), all_subsets(scheme, gamma)
    members, overlaps = proof.step("subsets"), proof.step("overlaps")
    gram = proof.step("johnson", members, overlaps)
    found = dimension.code
    data = [list(one) for one in found.sets] if found.kind == "listed" else found.q or None
    code = proof.step(
        "code", overlap=found.t, size=Fraction(found.size), code=found.kind, data=data
    )
    upper = Fraction(dimension.upper)
    packed = proof.step("packing", members, overlaps, code, upper=upper)
    ends = [_every_set(proof, members, overlaps, bracket.below)]
    if above := bracket.above:
        shape, size = [above.a, above.k, above.j], Fraction(above.size)
        more = {"gamma": gamma, "shape": shape, "size": size}
        ends.append(proof.step("some-set", members, overlaps, **more))
    sda = proof.step("sda", members, *ends)
    pairs = proof.step("closest-pairs", members, overlaps, gamma=gamma)
    fit = proof.step("fit", members, gram, risk=terms.risk)
    asked = [proof.step("ask", gram, oracle="csq", term=terms.tau)]
    if family.two_valued:
        asked += [
            proof.step("ask", gram, oracle="stat", term=terms.tau),
            _vstat(proof, family, scheme, (members, overlaps), terms.vstat),
        ]
    bounds = proof.bounds(members, fit, asked, terms.success)
    return proof.certificate(overlaps, gram, packed, sda, pairs, *bounds)


def _every_set(proof: Proof, members: int, overlaps: int, found: DualCertificate) -> int:
    return proof.step(
        "every-set",
        members,
        overlaps,
        gamma=found.gamma,
        inner=found.inner,
        average=found.average,
        caps=found.caps,
        enough=Fraction(found.enough),
    )


def _vstat(proof: Proof, family: Symmetric, scheme: Johnson, cited: tuple[int, int], t: int) -> int:
    """Bound what a query to VSTAT rules out, by the better of two arguments."""
    below = enough(scheme, labelled_gamma(family, scheme, t))
    mixture = mixture_spread(family, scheme)
    if mixture is not None and _floor(3 * t * mixture / 4) < below.enough - 1:
        gram = proof.step("mixture", cited[0], bound=mixture)
        return proof.step("ask", gram, oracle="vstat", term=Fraction(t))
    sets = _every_set(proof, *cited, below)
    return proof.step("vstat-sets", cited[1], sets, t=Fraction(t))


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


def _floor(value: Rational) -> int:
    return int(value.p) // int(value.q)
