"""The primal attack: secret and errors as the unique shortest vector of a lattice.

Idea: Kannan's embedding makes (e, nu s', sigma_e) short: errors of m samples, entries of the secret
scaled by nu = sigma_e/sigma_s [BG14], a last coordinate. n - kept further samples are spent on
entries of the secret that are wider than errors [ACPS09]. The lattice has dimension d = m + n + 1
and volume q^m nu^kept sigma_e; BKZ-beta finds the vector.

Success: its projection on the last block is shorter than the vector that would stand there, under
the geometric series assumption sqrt(beta) sigma_e <= delta^(2 beta - d - 1) Vol^(1/d).

Cost: BKZ-beta in dimension d.

Searched: beta; m is the least that succeeds, by halving up to its best value, d^2 ln delta = b with
ln Vol = a d - b; models whose enumeration is cheaper from d > 3/2 beta on try that d too.

Heuristics: the shape of reduced bases, and that the projection has its expected length.

Source: [ADPS16, AGVW17]
"""

import math

import numpy as np

from hardness.lwe.embedding import Embedding
from hardness.lwe.models import SMALL_BLOCK, Setting, log_delta
from hardness.lwe.parameters import LweParameters
from hardness.lwe.record import Estimate, Fields, NoEstimate, attack
from hardness.lwe.scan import scan, spread

SMALL = "blocks too small for the vector to stand out"
_ALL_BELOW = 512  # block sizes that are all tried


@attack("usvp", "heuristic model", "ADPS16, AGVW17", reduces=True)
def usvp(parameters: LweParameters, setting: Setting) -> Estimate:
    """Estimate the attack at its least cost.

    >>> from hardness.lwe.models import ROUGH
    >>> from hardness.lwe.sets import resolve_instance
    >>> best = usvp(resolve_instance("ml-kem-512").parameters, ROUGH)
    >>> best.beta, best.m, best.d, round(best.rop, 2)
    (406, 485, 998, 118.55)
    """
    lattice = _embedded(parameters, setting)
    sizes = spread(2, lattice.largest(), 256, dense=_ALL_BELOW)
    (beta,), cost = scan(lambda beta: lattice.cost(setting, beta)[0], sizes, few=4)
    if cost == math.inf:
        raise NoEstimate(
            "no block size makes the planted vector stand out: the errors are too wide, or the "
            "samples too few"
        )
    return usvp_at(parameters, setting, beta, int(lattice.cost(setting, np.array(beta))[1]))


@attack("usvp", "heuristic model", "ADPS16, AGVW17", reduces=True)
def usvp_at(parameters: LweParameters, setting: Setting, beta: int, m: int) -> Fields:
    """Estimate the attack at a block size and a number of samples; a note says if it fails.

    >>> from hardness.lwe.models import ROUGH
    >>> from hardness.lwe.sets import resolve_instance
    >>> below = usvp_at(resolve_instance("ml-kem-512").parameters, ROUGH, 405, 485)
    >>> round(below.rop, 2), below.note
    (118.26, 'blocks too small for the vector to stand out')
    """
    lattice, d = _embedded(parameters, setting), m + parameters.n + 1
    rop, spent = float(setting.model.cost(beta, d)), parameters.n - int(lattice.kept(m))
    notes = [SMALL] if lattice.margin(beta, m) < 0 else []
    if beta < SMALL_BLOCK:
        notes.append(
            "too small for this model, whose figures are of larger block sizes: expect lattice "
            "reduction to break it"
        )
    if spent:
        notes.append(f"{spent} of the samples make the secret as small as the error")
    return {
        "rop": rop,
        "red": rop,
        "beta": beta,
        "delta": float(np.exp(log_delta(beta))),
        "d": d,
        "m": m,
        "sample_bits": math.log2(m + spent),
        "mem": float(setting.model.memory(beta)),
        "search": "scan of block sizes; m: the least",
        "note": "; ".join(notes),
    }


def _embedded(parameters: LweParameters, setting: Setting) -> Embedding:
    if reason := parameters.no_lattice or parameters.too_few:
        raise NoEstimate(reason)
    return Embedding(parameters, setting.shape)
