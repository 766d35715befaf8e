"""Certificates of hidden sets: parities, whose members are orthogonal, and other profiles.

What is looked for here are codes, and multipliers of linear programs; the kernel does the rest.
docs/mathematics.md has the proofs.
"""

from collections.abc import Sequence
from fractions import Fraction

from hardness.check.kernel.averages import vstat_gamma
from hardness.check.problems import hidden_set
from hardness.lower.codes import best_code
from hardness.lower.johnson import Johnson
from hardness.lower.proof import Posed, Proof
from hardness.lower.record import Certificate
from hardness.lower.sda import averages, every_set
from hardness.lower.terms import BoundParameters
from instances.symmetric import Symmetric
from instances.threshold import rational


def pose(proof: Proof, orthogonal: bool) -> Posed:
    """Take the steps about the members: orthogonal ones, or by their overlaps."""
    members = proof.step("subsets")
    if orthogonal:
        return Posed(proof=proof, members=members, gram=proof.step("characters", members))
    overlaps = proof.step("overlaps")
    gram = proof.step("johnson", members, overlaps)
    return Posed(proof=proof, members=members, gram=gram, overlaps=overlaps)


def certify_hidden_sets(posed: Posed, terms: BoundParameters) -> Certificate:
    """Certify correlations, the spectrum, SQ-DIM, SDA, query bounds, information floor.

    Of orthogonal members what follows from that. [BFJKMR94, FGRVX17]
    """
    proof, members, overlaps = posed.proof, posed.members, posed.overlaps
    if overlaps is None:
        asked = [posed.ask("stat", terms.tau), posed.ask("vstat", terms.vstat)]
        return proof.certificate(posed.gram, *posed.bounds(asked, terms))
    scheme, gamma = Johnson.proved(proof, overlaps, posed.gram), rational(terms.gamma)
    packed = proof.step("packing", members, overlaps, proof.step("code", **best_code(scheme)))
    sda = averages(proof, members, overlaps, scheme, gamma)
    asked = [posed.ask("csq", terms.tau)] if proof.parsed.alone else []
    if proof.parsed.levels == 2:
        average = rational(vstat_gamma(proof.parsed, proof.fact(overlaps), terms.vstat))
        sets = proof.step("every-set", members, overlaps, **every_set(scheme, average))
        vstat = proof.step("vstat-sets", overlaps, sets, t=terms.vstat)
        asked += [posed.ask("stat", terms.tau), vstat]
    bounds = posed.bounds(asked, terms)
    return proof.certificate(overlaps, posed.gram, packed, sda, *bounds)


def dimensions(family: Symmetric, gammas: Sequence[Fraction]) -> list[int]:
    """Bound SDA over all subsets from below, at each gamma."""
    proof, scheme = Proof(hidden_set(family), {"spec": family.spec}), Johnson.family(family)
    members, overlaps = proof.step("subsets"), proof.step("overlaps")
    steps = (averages(proof, members, overlaps, scheme, rational(gamma)) for gamma in gammas)
    return [int(proof.fact(step).claims["sda-all-subsets"][0]) for step in steps]
