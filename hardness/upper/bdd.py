"""Bounded distance decoding: a secret is read off the lattice vector that is nearest to a target.

The lattice of `primal`'s embedding is reduced without its target. Any target is then decoded by it:
in the last eta Gram-Schmidt coordinates by one call for a closest vector, in the others by Babai's
nearest plane [LP11, PosVir21]. So one reduction serves all guesses g of entries that are left out
of the lattice, each with the target b - A g: the primal hybrid [HG07, ACW19].
"""

import math
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, islice, product
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from hardness.upper.attack import believed, no_lattice, values_of
from hardness.upper.lattice import Basis, require_fpylll, tries
from hardness.upper.primal import Embedding, Primal
from instances.family import Secret, require
from instances.modular import Modular

_FEW = 2.0**12  # nodes of an enumeration: above it is pruned
_NODES = 2.0**24  # of a pruned one at most, a second or two
_CROWD = 20.0  # lattice vectors in a ball on average: but for e^-20 the nearest is inside
_RARE = 1e-3  # lengths of errors that are rarer are passed over
_SHARES = (1 - _RARE, 0.9, 0.5)  # of errors that are in the ball
_CALLS = [*((share, 0.9) for share in _SHARES), *((0.5, 0.9 / 2**k) for k in range(1, 10))]
_MOST = 1 << 30  # guesses
_WORK = 1 << 26  # coefficients of guesses that are decoded between looks at the clock
_EXACT = 1 << 32  # larger targets take float64 two rounds of nearest planes

Array = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True, eq=False)
class Decoding:
    """Decodes targets by a reduced basis (d, d), a vector a row.

    eta: the coordinates of a call for a closest vector, which takes fpylll; up to 1 for Babai's
    nearest plane alone. deviation: of an entry of the error.
    """

    basis: Basis
    eta: int = 1
    deviation: float = 1.0

    def decode(
        self, targets: Basis, check: Callable[[], None] = lambda: None
    ) -> tuple[NDArray[np.intp], Basis]:
        """Decode targets (N, d): which ones are, and what is left of each less a lattice vector.

        What `check` raises between calls passes through. Targets have no answer where the error is
        longer than the way to other lattice vectors.

        >>> both = Decoding(basis=np.array([[7, 0], [1, 8]])).decode(np.array([[15, 1], [9, 7]]))
        >>> both[1].tolist()
        [[1, 1], [1, -1]]
        """
        q, r = self._qr
        if abs(targets).max(initial=0) > _EXACT:
            rough = self._babai(q.T @ targets.T, len(r))[0]
            targets = targets - rough.T.astype(np.int64) @ self.basis
        y, which, eta = q.T @ targets.T, np.arange(len(targets)), min(self.eta, len(r))
        if eta > 1:
            found = self._closest(y, eta, check)
            which = np.flatnonzero(~np.isnan(found[0]))
            y = y[:, which] - r[:, -eta:] @ found[:, which]
        left = self._babai(y, len(r) - eta if eta > 1 else len(r))[1]
        return which, np.rint(left.T @ q.T).astype(np.int64)

    @cached_property
    def _qr(self) -> tuple[Array, Array]:
        q, r = np.linalg.qr(self.basis.T.astype(float))
        return q, r

    def _babai(self, y: Array, count: int) -> tuple[Array, Array]:
        """Round the first `count` coordinates: coefficients (count, N), what is left (d, N)."""
        r, y = self._qr[1], y.copy()
        found = np.zeros((count, y.shape[1]))
        for i in reversed(range(count)):
            found[i] = np.rint(y[i] / r[i, i])
            y[: i + 1] -= np.outer(r[: i + 1, i], found[i])
        return found, y

    def _closest(self, y: Array, eta: int, check: Callable[[], None]) -> Array:
        """Find the coefficients (eta, N) of the closest vectors, NaN where there are none."""
        found = np.full((eta, y.shape[1]), np.nan)
        if self._call is None:
            return found
        from fpylll import Enumeration
        from fpylll.fplll.enumeration import EnumerationError

        gso, radius, pruning = self._call
        d, diagonal = len(y), np.diag(self._qr[1])
        for j, target in enumerate((y / diagonal[:, None]).T.tolist()):
            check()
            try:
                best = Enumeration(gso).enumerate(
                    d - eta, d, radius, 0, target=target, pruning=pruning
                )
            except EnumerationError:  # no vector in the ball
                continue
            found[:, j] = best[0][1]
        return found

    @cached_property
    def _call(self) -> tuple[Any, float, Any] | None:
        """The basis as fpylll has it, the radius of a call, its pruning; None where it is no use.

        The ball is that of nearly all errors, or that which holds other vectors almost surely.
        """
        fpylll = require_fpylll("eta above 1", "eta=1, which is Babai's planes alone")
        from fpylll.util import gaussian_heuristic
        from scipy.stats import chi2

        eta = min(self.eta, len(self.basis))
        profile = (np.diag(self._qr[1])[-eta:] ** 2).tolist()
        crowded = gaussian_heuristic(profile) * _CROWD ** (2 / eta)
        wide = {share: self.deviation**2 * float(chi2.ppf(share, eta)) for share in _SHARES}
        if crowded < self.deviation**2 * chi2.ppf(_RARE, eta):
            return None
        for share, success in _CALLS:
            radius, pruning = min(crowded, wide[share]), None
            if (nodes := _nodes(radius, profile)) <= _FEW:
                break
            if pruning := _pruning(radius, profile, nodes, success):
                break
        else:
            return None
        gso = fpylll.GSO.Mat(fpylll.IntegerMatrix.from_matrix(self.basis.tolist()))
        gso.update_gso()
        return gso, radius, pruning


def _nodes(radius: float, profile: list[float]) -> float:
    """Count the nodes of an enumeration: at each level the lattice vectors in a ball. [CN11]"""
    k = np.arange(1, len(profile) + 1)
    ln_ball = k / 2 * math.log(math.pi * radius) - gammaln(k / 2 + 1)
    return float(np.exp(ln_ball - np.cumsum(np.log(profile[::-1])) / 2).sum())


def _pruning(
    radius: float, profile: list[float], nodes: float, success: float
) -> list[float] | None:
    """Prune a call for a closest vector to a success; None where it takes over a second or two."""
    from fpylll import Pruning

    with suppress(RuntimeError):  # its gradient left the reals
        flags = Pruning.GRADIENT | Pruning.CVP
        pruner = Pruning.Pruner(radius, nodes / 8, [profile], success, flags=flags)
        found: list[float] = pruner.optimize_coefficients([1.0] * len(profile))
        if pruner.single_enum_cost(found) <= _NODES:
            return found
    return None


@dataclass(frozen=True, kw_only=True)
class Bdd(Primal):
    """Reduces the lattice without its target, and decodes targets after each tour. [LP11, HG07]

    As `primal`, but that up to `weight` of the zeta entries that are left out may not be 0: a try
    decodes all such guesses, after tours of the last block alone. eta: the coordinates of a call
    for a closest vector, which takes fpylll; 1 for Babai's nearest planes alone.
    """

    revision: ClassVar[int] = 1
    name: ClassVar[str] = "bdd"
    about: ClassVar[str] = "bounded distance decoding of many guesses in one reduced lattice"

    eta: int = 1
    weight: int = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        require(self.eta >= 1, f"eta={self.eta} given: 1, which is Babai's planes alone, or more")
        require(
            0 <= self.weight <= self.zeta,
            f"weight={self.weight} given: of guessed entries that are not 0, 0 to zeta={self.zeta}",
        )

    def unfit(self, forms: Modular) -> str | None:
        """Return why there is no such lattice, or that there are too many guesses, or None."""
        if (guesses := self._guesses(forms)) > _MOST:
            return f"weight={self.weight} given: 2^{math.log2(guesses):.0f} guesses, at most 2^30"
        most = forms.n - max(forms.h - self.weight, 1)
        if self.zeta > most:
            return f"zeta={self.zeta} given: of its secret at most {most} entries can be left out"
        return no_lattice(forms)

    def _guesses(self, forms: Modular) -> int:
        values = len(forms.secrets.values) - 1
        return sum(math.comb(self.zeta, j) * values**j for j in range(self.weight + 1))

    def told(self, forms: Modular) -> dict[str, Any]:
        """Say what else a run's details have."""
        return {"eta": self.eta, "guesses": self._guesses(forms)}

    def tries(self, forms: Modular) -> int:
        """Count the tries until it gives up."""
        return tries(forms.secrets, self.zeta, self.weight)

    def basis(self, lattice: Embedding) -> Basis:
        """Write the basis that is reduced."""
        return lattice.lattice()

    def look(
        self, lattice: Embedding, block: int, basis: Basis, check: Callable[[], None]
    ) -> Secret | None:
        """Decode all guesses; None where no secret is found that samples show."""
        if self.weight and block < self.block:
            return None
        found, n, places = lattice.samples, lattice.a.shape[1], lattice.guessed
        decoding = Decoding(basis=basis, eta=self.eta, deviation=lattice.shape.tau)
        start = lattice.labels(found.b)
        columns = np.array([lattice.labels(column) for column in found.a[:, places].T])
        chunk = max(1, _WORK // basis.size)
        for at, values in guesses(len(places), self.weight, values_of(found.family), chunk):
            check()
            labels = np.tile(start, (len(at), 1))
            for j in range(at.shape[1]):
                labels -= columns[at[:, j]] * values[:, j, None]
            which, left = decoding.decode(lattice.targets(labels), check)
            for one in np.flatnonzero(lattice.possible(left)):
                guess = np.zeros(len(places), np.int64)
                guess[at[which[one]]] = values[which[one]]
                secret = lattice.read(left[one, :n].tolist(), guess.tolist())
                if secret is not None and believed(found, secret):
                    return secret
        return None


def guesses(
    zeta: int, weight: int, values: tuple[int, ...], chunk: int
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """List all guesses of zeta entries with up to `weight` that are not 0, by their number j.

    In chunks of places and values, each (N, j).

    >>> [at.tolist() for at, _ in guesses(3, 1, (1,), 9)]
    [[[]], [[0], [1], [2]]]
    """
    for j in range(weight + 1):
        every = product(combinations(range(zeta), j), product(values, repeat=j))
        while some := list(islice(every, chunk)):
            at, what = (np.array(part, np.int64) for part in zip(*some, strict=True))
            yield at, what
