"""The primal attack: secret and errors as the unique shortest vector of a lattice.

Idea: Kannan's embedding has the short vector (e, nu s', sigma_e): errors of m samples, entries of
the secret scaled by nu = sigma_e/sigma_s [BG14], and a last coordinate. If the secret is wider than
the errors, n - kept further samples are spent to replace its entries by errors [ACPS09]. The
lattice has dimension d = m + n + 1 and volume q^m nu^kept sigma_e. BKZ-beta finds the vector.

Success: its projection on the last block is shorter than the Gram-Schmidt vector there. Under the
geometric series assumption this is sqrt(beta) sigma_e <= delta^(2 beta - d - 1) Vol^(1/d).

Cost: BKZ-beta in dimension d.

Searched: beta, and the least m that succeeds, by bisection up to the best m. That is d^2 ln delta =
b with ln Vol = a d - b. If enumeration is cheaper for d > 3/2 beta in the model, this d is tried
too.

Heuristics: the shape of reduced bases, and that the projection has its expected length.

Source: [ADPS16, AGVW17]
"""

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from hardness.lwe.models import (
    SMALL_BLOCK,
    Array,
    Integers,
    Lattice,
    Setting,
    log_delta,
    log_norm,
    roomy_dimension,
)
from hardness.lwe.parameters import LweParameters
from hardness.lwe.record import Estimate, Fields, NoEstimate, attack
from hardness.lwe.scan import scan, spread

SMALL = "blocks too small for the vector to stand out"
_ALL_BELOW = 512  # all block sizes up to it are tried
_ROUNDING = 1e-9
_UNLIMITED = 1 << 40  # samples, if any number is available


class Embedding:
    """The lattices of a problem without zeta entries of the secret.

    zeta, block sizes beta and samples m are numbers or arrays, which broadcast.
    """

    def __init__(self, parameters: LweParameters, shape: str = "gsa", zeta: ArrayLike = 0) -> None:
        """Take from the parameters what all lattices have."""
        assert parameters.error is not None
        self.shape, self.ln_q, self.limit = shape, parameters.ln_q, parameters.rows
        self.n = parameters.n - np.asarray(zeta, np.int64)
        self.ln_error = parameters.error.ln_deviation
        self.ln_scale = self.ln_error - parameters.secret.ln_deviation_without(parameters.n, zeta)

    def kept(self, m: ArrayLike) -> Integers:
        """Return how many entries of the secret are kept with m samples, for the largest volume."""
        rest = 0 if self.limit is None else np.clip(np.add(m, self.n) - self.limit, 0, self.n)
        return np.where(self.ln_scale >= 0, self.n, rest)

    def lattice(self, m: ArrayLike) -> Lattice:
        """Describe the lattice of m samples before reduction."""
        tail = self.n + 1
        kept = self.kept(m)
        scaled = np.where(kept > 0, kept * self.ln_scale, 0.0)
        return Lattice(m=m, tail=tail, ln_q=self.ln_q, ln_tail=(scaled + self.ln_error) / tail)

    def margin(self, beta: ArrayLike, m: ArrayLike) -> Array:
        """Compute ln of the Gram-Schmidt norm at the last block over the projection's length.

        The attack succeeds if it is at least 0. It is minus infinity if the last block is in a tail
        that the reduction does not change.
        """
        lattice = self.lattice(m)
        norm = log_norm(self.shape, lattice, beta, np.subtract(beta, 1))
        margin = norm - np.log(beta) / 2 - self.ln_error
        flat = (self.shape != "gsa") & (norm <= np.add(lattice.ln_tail, _ROUNDING))
        return np.where(flat, -np.inf, margin)

    def fewest(self, beta: ArrayLike) -> Array:
        """Find the least m with which each block size succeeds; infinity if there is none.

        Under the GSA, d times the margin is concave in m on two ranges, before and after the m from
        which entries are kept. Each range is bisected below its maximum. If the head is clipped,
        more samples never lower the margin.
        """
        limit = _UNLIMITED if self.limit is None else self.limit
        low = np.maximum(1, np.asarray(beta, np.int64) - self.n - 1)
        bend = (self.n + 1) * self.ln_q - self.ln_error
        narrow = self.ln_scale >= 0
        turn = np.where(narrow, limit, np.clip(limit - self.n, 1, limit))
        scaled = np.where(np.isfinite(self.ln_scale), self.ln_scale, 0.0)
        parts = (
            (low, turn, bend - np.where(narrow, self.n * scaled, 0.0)),
            (np.maximum(low, turn), limit, bend + (limit + 1.0) * scaled),
        )
        best = np.full(np.broadcast(beta, low).shape, np.inf)
        for start, end, bent in parts if self.limit is not None and not narrow.all() else parts[:1]:
            top = np.sqrt(np.maximum(0.0, bent) / log_delta(beta))
            more = 0.0 if self.shape == "gsa" else top + self.ln_q / log_delta(beta)
            tops = [
                np.clip(near(top + more) - self.n - 1, start, np.maximum(start, end))
                for near in (np.floor, np.ceil)
            ]
            margins = [self.margin(beta, m) for m in tops]
            high = np.where(margins[1] > margins[0], tops[1], tops[0]).astype(np.int64)
            able = (start <= end) & (np.maximum(*margins) >= 0)
            m = _halved(lambda m: self.margin(beta, m) >= 0, start - 1, high, able)
            best = np.where(able, np.minimum(best, m), best)
        return best

    def cost(self, setting: Setting, beta: Integers) -> tuple[Array, Array]:
        """Compute log2 of the least operations for each block size, with their m."""
        few = self.fewest(beta)
        able = np.isfinite(few)
        roomy = np.maximum(np.where(able, few, 1), roomy_dimension(beta) - self.n - 1)
        inside = able & (roomy <= (self.limit or np.inf))
        inside &= self.margin(beta, np.where(inside, roomy, 1)) >= 0
        few = np.where(able, few, 1)
        costs = [
            np.where(ok, setting.model.cost(beta, m + self.n + 1), np.inf)
            for ok, m in ((able, few), (inside, roomy))
        ]
        return np.minimum(*costs), np.where(costs[1] < costs[0], roomy, few)

    def largest(self) -> int:
        """Return a bound on useful block sizes."""
        return (
            int(np.max(self.n)) + 1 + (1 << 22 if self.limit is None else min(self.limit, 1 << 22))
        )


def _halved(
    succeeds: Callable[[Integers], Array], low: Integers, high: Integers, able: Array
) -> Integers:
    """Find the least m that succeeds by bisection; low fails, and high succeeds.

    able: where high succeeds; elsewhere nothing is searched.
    """
    low, high = np.broadcast_arrays(low, high)
    while (open_ := able & (high - low > 1)).any():
        middle = np.maximum((low + high) // 2, 1)
        enough = succeeds(middle)
        low, high = np.where(open_ & ~enough, middle, low), np.where(open_ & enough, middle, high)
    return high


@attack("usvp", "heuristic model", "ADPS16, AGVW17", reduces=True)
def usvp(parameters: LweParameters, setting: Setting) -> Estimate:
    """Estimate the attack at its cheapest block size.

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
        failed = "no block size makes the planted vector stand out"
        raise NoEstimate(f"{failed}: the errors are too wide, or the samples too few")
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
