"""One layer of linear attention, studied: its optimum, the evidence for it, and its landscape."""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from hardness.icl import starts
from hardness.icl.evidence import Minimum, Sampled, bayes, integrated, numerical, raw
from hardness.icl.onelayer import (
    Array,
    eigenvalues,
    exact_least,
    exact_multipliers,
    gradient,
    least,
    optimum,
)
from hardness.icl.roots import exact_dips
from hardness.icl.starts import Ends, ends
from hardness.icl.stationary import Stationary, rank_one_loss, rank_one_margin, stationary
from instances.errors import UsageError
from instances.limits import require_draws
from instances.prompts import MOST_N, Prompts

RUNS = 80  # random starts
_NUMBERS = 1 << 23  # drawn for an estimate where the number of samples is left open: a second or so
_CURVE = (0.125, 0.25, 0.5, 1, 2, 4, 8)  # of n, beside which the loss is shown


@dataclass(frozen=True, kw_only=True)
class Direction:
    """An eigendirection of sigma: its eigenvalue, and v^T A* v times it, 1 for sigma^-1."""

    eigenvalue: float
    multiplier: float


@dataclass(frozen=True, kw_only=True)
class AtLength:
    """Least losses with n points: of one layer, closed form, and of the posterior mean."""

    n: int
    layer: float
    bayes: Sampled


@dataclass(frozen=True, kw_only=True, eq=False)
class Optimum:
    """What is known of one layer on a law of prompts. Losses are squared errors."""

    law: Prompts
    best: Array  # A*, (d, d)
    least: float  # L*, closed form in float64
    exact: Fraction | None
    exact_multiplier: Fraction | None  # c of A* = c sigma^-1, where it is that
    gradient: float  # the largest entry at A*
    kappa: tuple[float, ...]  # eigenvalues of sigma task
    directions: tuple[Direction, ...]
    turned: float  # share of A* outside of the eigendirections of sigma, Frobenius norms
    numerical: Minimum
    integrated: Sampled
    raw: Sampled
    curve: tuple[AtLength, ...]
    rank_one: float
    rank_one_margin: float
    stationary: tuple[Stationary, ...]
    dips: int | None  # minima of the curve with u > 0: exact, None where kappa varies
    ends: Ends | None  # None for d > 8

    @property
    def difference(self) -> float:
        """The numerical minimum minus L*."""
        return self.numerical.loss - self.least

    @property
    def spurious(self) -> tuple[Stationary, ...]:
        """Local minima that were found and are not the global one."""
        floor = self.least + 1e-9 * self.law.power
        return tuple(p for p in self.stationary if p.minimum and p.loss > floor)

    def to_dict(self) -> dict[str, Any]:
        """Give all numbers away, for the figure and for other programs."""
        law = self.law
        return {
            "format": 1,
            "kind": "icl optimum",
            "d": law.d,
            "n": law.n,
            "noise": law.noise,
            "seed": self.integrated.seed,
            "sigma": law.sigma.tolist(),
            "task": law.task.tolist(),
            "power": law.power,
            "isotropic": law.isotropic,
            "kappa": list(self.kappa),
            "best": self.best.tolist(),
            "least": self.least,
            "exact": None if self.exact is None else str(self.exact),
            "exact_multiplier": None
            if self.exact_multiplier is None
            else str(self.exact_multiplier),
            "gradient": self.gradient,
            "directions": [asdict(each) for each in self.directions],
            "turned": self.turned,
            "numerical": {**asdict(self.numerical), "difference": self.difference},
            "integrated": {**asdict(self.integrated), "z": self.integrated.z(self.least)},
            "raw": {**asdict(self.raw), "z": self.raw.z(self.least)},
            "curve": [asdict(each) for each in self.curve],
            "rank_one": {"loss": self.rank_one, "margin": self.rank_one_margin},
            "stationary": [each.to_dict() for each in self.stationary],
            "dips": self.dips,
            "ends": self._ends(),
        }

    def _ends(self) -> dict[str, Any] | None:
        if self.ends is None:
            return None
        there = {p.loss: self.ends.near(p.loss, self.law.power) for p in self.spurious}
        return {
            **asdict(self.ends),
            "losses": list(self.ends.losses),
            "starts": len(self.ends.losses),
            "optimal": self.ends.near(self.least, self.law.power),
            "spurious": [{"loss": loss, "count": count} for loss, count in there.items()],
        }


def study(
    law: Prompts,
    samples: int | None = None,
    seed: int = 0,
    runs: int = RUNS,
    scale: float = 0.1,
    progress: Callable[[int], None] = lambda done: None,
) -> Optimum:
    """Collect closed forms, a numerical minimum, Monte Carlo and the landscape of one layer.

    samples: prompts of an estimate, at least 2; None for as many as take a second, 20000 at most.
    runs and scale: of random starts in all parameters; progress is told of each.

    >>> found = study(Prompts(n=20, sigma=np.eye(2), task=np.eye(2)), samples=100, runs=2)
    >>> found.exact, found.gradient < 1e-9, abs(found.difference) < 1e-10
    (Fraction(6, 23), True, True)
    """
    if samples is not None and samples < 2:
        raise UsageError(f"samples={samples} given: at least 2 are needed for a standard error")
    best = optimum(law)
    directions, turned = _directions(law, best)
    multipliers = set(exact_multipliers(law) or [])
    count = samples or _affordable(law)
    require_draws(count, law.n, law.d)
    return Optimum(
        law=law,
        best=best,
        least=least(law),
        exact=exact_least(law),
        exact_multiplier=multipliers.pop() if len(multipliers) == 1 else None,
        gradient=float(np.abs(gradient(law, best)).max()),
        kappa=tuple(eigenvalues(law).tolist()),
        directions=directions,
        turned=turned,
        numerical=numerical(law, seed),
        integrated=integrated(law, best, count, seed),
        raw=raw(law, best, count, seed),
        curve=tuple(_curve(law, count, seed)),
        rank_one=rank_one_loss(law),
        rank_one_margin=rank_one_margin(law),
        stationary=tuple(stationary(law)),
        dips=exact_dips(law),
        ends=ends(law, runs, scale, seed, progress) if law.d <= starts.MOST_D else None,
    )


def _directions(law: Prompts, best: Array) -> tuple[tuple[Direction, ...], float]:
    values, basis = np.linalg.eigh(law.sigma)
    inside = basis.T @ best @ basis
    kept = np.diag(inside)
    found = tuple(
        Direction(eigenvalue=float(v), multiplier=float(v * k))
        for v, k in zip(values, kept, strict=True)
    )
    off = inside - np.diag(kept)
    turned = float(np.linalg.norm(off) / np.linalg.norm(inside))
    # Where sigma is a multiple of I its eigendirections are any.
    return found, 0.0 if turned < 1e-12 else turned


def _curve(law: Prompts, samples: int, seed: int) -> list[AtLength]:
    """Losses at shorter and longer prompts, with a tenth of the samples for each."""
    lengths = sorted({min(MOST_N, max(1, round(law.n * factor))) for factor in _CURVE})
    found = []
    for n in lengths:
        other = Prompts(n=n, sigma=law.sigma, task=law.task, noise=law.noise)
        count = max(2, min(samples, _affordable(other)) // 10)
        found.append(AtLength(n=n, layer=least(other), bayes=bayes(other, count, seed)))
    return found


def _affordable(law: Prompts) -> int:
    """As many prompts as can be drawn, and decomposed, in a second or so."""
    draw = (law.n + 1) * law.d * (1 + law.d / 16)  # points are mixed column by column
    return int(np.clip(_NUMBERS / (draw + 20 * law.d**2), 20, 20_000))
