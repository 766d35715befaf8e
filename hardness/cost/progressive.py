"""Reduction with growing blocks: by which block size it is likely to have met the secret.

The estimate of the primal attack names the block size from which on a basis that is reduced shows
the planted vector on average. Growing blocks have a chance at each tour before: the vector's
projection on the last k vectors is found there as a shortest one, k <= beta, if it is shorter than
what stands there; and then, beta - 1 vectors further each time, up to the head of the basis. Its
projections are those of a normal vector, drawn anew for each tour, as if that turned the basis at
random. [AGVW17, DDGR20, PosVir21]

What stands there is simulated tour by tour from an LLL-reduced basis on [CN11]: the first vector of
a block is as long as that of a random lattice of its volume, or stays as it is, and none is below
the shortest that there was at first, the tail's.
"""

import numpy as np

from hardness.cost.problem import Problem
from hardness.cost.reduction import Array, log_first, log_norm
from hardness.cost.usvp import embedding
from instances.streams import generator

_DRAWS = 1000


def found_by(problem: Problem, m: int, top: int, tours: int, settled: int = 1 << 24) -> Array:
    """Estimate the probability that blocks 2, 3, .., beta have found the secret, for each to `top`.

    Block 2 is LLL, `tours` are of each larger one up to `settled`, then one. m: samples of the
    lattice. (top - 1,)

    >>> from hardness.cost.problem import read
    >>> known = found_by(read("lwe:n=40,q=1601,alpha=0.008"), m=98, top=40, tours=2)
    >>> int(np.argmax(known >= 0.5)) + 2
    26
    """
    lattice, d = embedding(problem).lattice(m), m + problem.n + 1
    ln_error, least = embedding(problem).ln_error, float(np.asarray(lattice.ln_tail))
    norms = log_norm("zgsa", lattice, 2, np.arange(d))[::-1]  # the first vector of the basis first
    rng, missed, found = generator(0, "progressive", d), 1.0, []
    for beta in range(2, top + 1):
        for _ in range(tours if 2 < beta <= settled else 1):
            if beta > 2:
                norms = _tour(norms, min(beta, d), least)
            missed *= 1 - _chance(norms[::-1] - ln_error, min(beta, d), rng)
        found.append(1 - missed)
    return np.array(found)


def _tour(norms: Array, beta: int, least: float) -> Array:
    """Simulate a tour: ln of the lengths, the first first, (d,)."""
    d, first = len(norms), log_first(beta)
    sums, new, done, changed = np.append(0.0, np.cumsum(norms)), norms.copy(), 0.0, False
    for k in range(d):
        size = min(beta, d - k)
        mean = (sums[k + size] - done) / size + first[size - 1]
        if changed or mean < norms[k]:
            new[k], changed = mean, True
        done += new[k]
    new += (sums[d] - new.sum()) / d
    while (below := new < least - 1e-9).any():  # the others make up for what is raised
        rest = new > least
        new[rest] -= (least - new[below]).sum() / rest.sum()
        new[below] = least
    return new


def _chance(norms: Array, beta: int, rng: np.random.Generator) -> float:
    """Estimate the chance of one tour; norms over the error's deviation, the last first."""
    d, step = len(norms), max(beta - 1, 1)
    drawn = np.cumsum(rng.standard_normal((_DRAWS, d)) ** 2, axis=1)
    short = np.ones((_DRAWS, -(-d // step) * step), bool)
    short[:, :d] = drawn <= np.exp(2 * norms)
    rows = short.reshape(_DRAWS, -1, step)
    met = np.all(rows, axis=1)  # from k = 1, .., beta - 1 on
    met[:, 0] |= rows[:, 1:, 0].all(axis=1)  # from k = beta on
    return float(np.any(met, axis=1).mean())
