"""Layers whose matrices are multiples of the identity: exact losses, best steps, GD++.

P_l = p_l I, Q_l = q_l I, sigma = task = I: then layers change prompts by functions of S alone. With
g_0 = 1, U_0 = 1, N_0 = 0, c_l = p_l q_l,
    N_{l+1} = N_l - q_l U_l g_l,  U_{l+1} = U_l (1 - q_l S g_l) = 1 + S N_{l+1},
    g_{l+1} = g_l (1 - c_l S g_l)^2,
S g_l is the covariance of the points that enter layer l, and U_L w is the residual of the
prediction. The loss is E tr U_L^2 + (s^2/n) E tr(S N_L^2). The last p has no influence. [ACDS23]

With all p = 0 the layers are steps of gradient descent. The residual is p(t) = prod_l (1 - a_l t),
and the loss is d int p^2 + (s^2/n) ((p - 1)/t)^2 t dmu, where mu is the mean spectrum of S. Let
h = s^2 / n, and let pi be the orthogonal polynomial of degree L for t dmu. The minimum over
polynomials with p(0) = 1 is p = (h + t pi(t) / pi(-h)) / (t + h); without noise p = pi / pi(0).

Layers with nonzero p_l also move the points; this is GD++ [ACDS23, ONRSMZV23]. Its loss is a
polynomial in the scalars with many local minima. The search adds one layer at a time. Each of the
best minima for L - 1 layers gets one more layer, at the front or at the back. From all these starts
it descends on a Gauss rule that is exact for the degree of the loss. The result is the best of
these minima, which is not proven to be global; its loss is then evaluated exactly.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import comb, cos, pi
from typing import Any

import msgspec
import numpy as np
from flint import fmpq, fmpq_poly

from hardness.icl.prompts import Count, Study
from hardness.icl.wishart import Array, gauss, loss_on, moments, monic, spectra
from instances.errors import UsageError, require

MOST_DEGREE, MOST_LAYERS, MOST_SCALARS = 100, 48, 4
_KEPT_MINIMA = 8  # minima kept for each depth
_SAME_LOSS = 1e-4  # relative difference below which losses are equal
_FRONT_STARTS = [(c, q) for c in (0.15, 0.3) for q in (0.4, 0.8, 1.6, 3.2)]
_SHRINK = 1.8  # roughly the factor by which a layer shrinks the spectrum of the next layers
_BACK_FACTORS = (0.5, 1.0, 2.0)


def degree(layers: int) -> int:
    """Return the degree of U_L in S when no p_l is 0: (3^L - 1) / 2."""
    return int((3**layers - 1) // 2)


def exact_loss(
    n: int, d: int, p: Sequence[float], q: Sequence[float], noise: float = 0.0
) -> Fraction:
    """Evaluate the loss of scalars p, q (L,) over n points in dimension d, as a rational.

    The scalars are the exact values of their float64. Raises UsageError for a degree above 100 in
    S.

    >>> str(exact_loss(20, 5, [0], [Fraction(10, 13)]))
    '15/13'
    """
    if len(p) != len(q) or not len(q):
        raise UsageError(f"p and q must have one scalar a layer each, got {len(p)} and {len(q)}")
    return _loss_of(n, d, *polynomials(p, q), noise)


def polynomials(p: Sequence[float], q: Sequence[float]) -> tuple[fmpq_poly, fmpq_poly]:
    """Return U_L and N_L as polynomials in S."""
    t, g, u, net = (fmpq_poly(c) for c in ([0, 1], [1], [1], [0]))
    for a, b in zip(p, q, strict=True):
        if u.degree() + g.degree() + 1 > MOST_DEGREE:
            raise UsageError(f"{len(q)} layers have a degree above {MOST_DEGREE}: take at most 4")
        turned = fmpq_poly([_exact(b)]) * g
        net, u = net - u * turned, u * (1 - t * turned)
        g = g * (1 - fmpq_poly([_exact(a)]) * t * turned) ** 2
    return u, net


def _loss_of(n: int, d: int, residual: fmpq_poly, net: fmpq_poly, noise: float = 0.0) -> Fraction:
    """Integrate d (U^2 + (s^2/n) t N^2) over the mean spectrum, exactly."""
    integrand = residual**2 + fmpq_poly([_ridge(n, noise)]) * fmpq_poly([0, 1]) * net**2
    mu = moments(n, d, integrand.degree())
    total = sum((c * m for c, m in zip(integrand.coeffs(), mu, strict=True)), fmpq(0))
    return _fraction(d * total)


def _ridge(n: int, noise: float) -> fmpq:
    """Return s^2 / n exactly; raises UsageError for a value that is not a standard deviation."""
    require(0 <= noise <= 1000, f"noise must be between 0 and 1000, got {noise}")
    return _exact(noise) ** 2 / n


def _exact(value: float | Fraction) -> fmpq:
    return fmpq(*Fraction(value).as_integer_ratio())


def _fraction(value: fmpq) -> Fraction:
    return Fraction(int(value.p), int(value.q))


class Objective:
    """The square root of the loss as a vector, with its derivatives, on a Gauss rule.

    The parameters are (c_0 .. c_{L-2}, q_0 .. q_{L-1}); as the rule is exact for the degree of U^2,
    the squared norm of the vector is the loss up to float64.
    """

    def __init__(self, n: int, d: int, layers: int, noise: float, power: int) -> None:
        self.layers = layers
        self.t, weights = gauss(n, d, power + 1)
        self.scale = np.sqrt(d * weights)
        self.noisy = np.sqrt(float(_fraction(_ridge(n, noise))) * self.t.clip(0)) * self.scale

    def __call__(self, x: Array) -> tuple[Array, Array]:
        """Return the vector (2 K,), of squared norm the loss, and derivatives (2 K, 2 L - 1)."""
        t, cs, qs = self.t, np.append(x[: self.layers - 1], 0.0), x[self.layers - 1 :]
        g, u, net = np.ones_like(t), np.ones_like(t), np.zeros_like(t)
        dg, du, dnet = (np.zeros((len(x), len(t))) for _ in range(3))
        for layer, (c, q) in enumerate(zip(cs, qs, strict=True)):
            own, factor, shrink = self.layers - 1 + layer, 1 - q * t * g, 1 - c * t * g
            dnet -= q * (du * g + u * dg)
            dnet[own] -= u * g
            du = du * factor - q * u * t * dg
            du[own] -= u * t * g
            net, u = net - q * u * g, u * factor
            dg = dg * shrink * (shrink - 2 * c * t * g)
            if layer < self.layers - 1:
                dg[layer] -= 2 * t * g**2 * shrink
            g = g * shrink**2
        vector = np.concatenate([self.scale * u, self.noisy * net])
        return vector, np.concatenate([self.scale * du, self.noisy * dnet], axis=1).T


def descend(slope: Callable[[Array], tuple[Array, Array]], start: Array) -> tuple[float, Array]:
    """Find a local minimum of the squared norm of a vector, with its Jacobian: value, point."""
    from scipy.optimize import least_squares

    limits: Any = {"xtol": 1e-13, "ftol": 1e-13, "gtol": 1e-15, "max_nfev": 400}
    both = lru_cache(maxsize=1)(lambda place: slope(np.frombuffer(place)))  # in one pass
    vector, jacobian = (lambda x, i=i: both(x.tobytes())[i].copy() for i in (0, 1))
    fitted = least_squares(vector, start, jacobian, method="lm", **limits)
    return float(2 * fitted.cost), np.asarray(fitted.x)


@dataclass(frozen=True, kw_only=True)
class Scalars:
    """Scalars p, q (L,) of layers, as float64, and their loss, an exact rational.

    The last p has no influence and is 0. origin: the number of starts, and the start of the best.
    """

    p: tuple[float, ...]
    q: tuple[float, ...]
    loss: Fraction
    origin: str = ""

    @property
    def steps(self) -> tuple[float, ...]:
        """The q: steps of gradient descent if all p are 0, in ascending order."""
        return self.q


@dataclass(frozen=True, kw_only=True)
class BestSteps(Scalars):
    """The best steps: their loss is `least` up to rounding, if all roots are real.

    polynomial: the residual of smallest loss, with exact coefficients from t^0 up. least: its exact
    loss. The steps are the inverses of its roots. With strong noise some roots may not be real.
    Then no real steps achieve `least`, and these are the best found.
    """

    polynomial: tuple[Fraction, ...]
    least: Fraction
    real: bool


def best_steps(n: int, d: int, layers: int, noise: float = 0.0) -> BestSteps:
    """Find the steps of least loss for n points in dimension d; noise: its standard deviation.

    Raises UsageError for layers outside of 1 .. 48.

    >>> found = best_steps(20, 5, 1)
    >>> str(found.least), round(found.steps[0], 12), found.real
    ('15/13', 0.769230769231, True)
    """
    _check(layers)
    h, t = _ridge(n, noise), fmpq_poly([0, 1])
    orthogonal = monic(moments(n, d, 2 * layers)[1:], layers)
    residual = (h + t * orthogonal / orthogonal(-h)) / (t + h)
    roots = _roots(residual)
    real = all(root.imag.is_zero() for root in roots)
    steps_of_roots = [1 / complex(root) for root in roots]
    steps = [a.real for a in steps_of_roots] if real else _best_real(n, d, noise, steps_of_roots)
    return BestSteps(
        **vars(with_steps(n, d, steps, noise)),
        polynomial=tuple(_fraction(c) for c in residual.coeffs()),
        least=_loss_of(n, d, residual, (residual - 1) / t, noise),
        real=real,
    )


def with_steps(n: int, d: int, steps: list[float], noise: float = 0.0) -> Scalars:
    """Evaluate the loss of given steps, exactly."""
    _check(len(steps))
    still, ordered = (0.0,) * len(steps), tuple(sorted(steps))
    return Scalars(p=still, q=ordered, loss=exact_loss(n, d, still, ordered, noise))


def common_step(n: int, d: int, layers: int, noise: float = 0.0) -> Scalars:
    """Find the best step if all layers have the same, from all real zeros of the derivative."""
    _check(layers)
    h, mu = _ridge(n, noise), moments(n, d, 2 * layers)
    loss = [(-1) ** k * comb(2 * layers, k) * m for k, m in enumerate(mu)]
    for k in range(1, 2 * layers + 1):
        loss[k] += h * (-1) ** k * (comb(2 * layers, k) - 2 * comb(layers, k)) * mu[k - 1]
    roots = _roots(fmpq_poly(loss).derivative())
    steps = [float(root.real) for root in roots if root.imag.is_zero()]
    tried = (with_steps(n, d, [step] * layers, noise) for step in steps)
    return min(tried, key=lambda found: found.loss)


def chebyshev_steps(layers: int, low: float, high: float) -> list[float]:
    """Return the steps that minimise the largest residual on an interval [low, high], low > 0."""
    _check(layers)
    require(0 < low <= high, f"an interval must have 0 < low <= high, got {low} to {high}")
    angles = [(2 * k + 1) * pi / (2 * layers) for k in range(layers)]
    return sorted(2 / (high + low + (high - low) * cos(angle)) for angle in angles)


def limit_loss(ratio: float, layers: int) -> float:
    """Return the limit of the least loss divided by d: 1 / (1 + 1/c + .. + 1/c^L), c = d/n."""
    _check(layers)
    require(1e-3 <= ratio <= 1e3, f"d/n must be between 0.001 and 1000, got {ratio}")
    return 1 / sum(ratio**-k for k in range(layers + 1))


def _roots(polynomial: fmpq_poly) -> list[Any]:
    """Return all roots as isolating balls; a real one has an imaginary part of exactly 0."""
    roots: Any = polynomial.complex_roots()
    return [root for root, times in roots for _ in range(times)]


def _best_real(n: int, d: int, noise: float, steps: list[complex]) -> list[float]:
    """Descend from three starts: real parts of complex steps, separated ones, a common step."""
    layers = len(steps)
    parts = np.array([a.real for a in steps])
    apart = parts + 0.1 * np.array([abs(a) * np.sign(a.imag) for a in steps])
    objective, still = Objective(n, d, layers, noise, layers), np.zeros(layers - 1)

    def slope(a: Array) -> tuple[Array, Array]:
        vector, slopes = objective(np.append(still, a))
        return vector, slopes[:, layers - 1 :]

    common = np.full(layers, common_step(n, d, layers, noise).steps[0])
    minima = [descend(slope, start) for start in (parts, apart, common)]
    return [float(a) for a in min(minima, key=lambda pair: pair[0])[1]]


def _check(layers: int) -> None:
    if not 1 <= layers <= MOST_LAYERS:
        raise UsageError(f"layers must be between 1 and {MOST_LAYERS}, got {layers}")


@dataclass(frozen=True, kw_only=True, eq=False)
class _Minimum:
    loss: float
    x: Array  # c_0 .. c_{L-2}, q_0 .. q_{L-1}
    start: str


def best_scalars(n: int, d: int, layers: int, noise: float = 0.0) -> Scalars:
    """Search for the scalars of least loss over n points in dimension d, sigma = task^-1.

    Raises UsageError for layers outside of 1 .. 4.

    >>> found = best_scalars(20, 5, 2)
    >>> round(float(found.loss), 4), [round(v, 2) for v in found.q]
    (0.0575, [0.52, 3.47])
    """
    if not 1 <= layers <= MOST_SCALARS:
        raise UsageError(f"layers must be between 1 and {MOST_SCALARS} for GD++, got {layers}")
    tried, minima = _search(n, d, layers, noise)
    best = minima[0]
    c, q = best.x[: layers - 1], best.x[layers - 1 :]
    origin = f"best of {tried} starts, {len(minima)} minima kept; from {best.start}"
    ps, qs = (*(c / q[:-1]).tolist(), 0.0), tuple(q.tolist())
    loss = exact_loss(n, d, ps, qs, noise)
    return Scalars(p=ps, q=qs, loss=loss, origin=origin)


@lru_cache(maxsize=64)
def _search(n: int, d: int, layers: int, noise: float) -> tuple[int, list[_Minimum]]:
    """Return the number of starts, and the distinct minima kept, the best first."""
    if layers == 1:
        starts = [("one step", np.ones(1))]
    else:
        starts = _deeper(_search(n, d, layers - 1, noise)[1])
    objective, minima = Objective(n, d, layers, noise, degree(layers)), []
    for name, start in starts:
        loss, x = descend(objective, start)
        if np.isfinite(loss) and np.abs(x[layers - 1 :]).min() > 1e-6:  # p = c / q is needed
            minima.append(_Minimum(loss=loss, x=x, start=name))
    return len(starts), _distinct(minima)


def _deeper(minima: list[_Minimum]) -> list[tuple[str, Array]]:
    """Add one layer to each minimum, at the front and at the back."""
    starts = []
    for place, minimum in enumerate(minima, 1):
        layers = (len(minimum.x) + 1) // 2
        c, q = minimum.x[: layers - 1], minimum.x[layers - 1 :]
        of = f"of minimum {place} for {layers} layers"
        front, behind = f"a layer in front {of}", f"a layer behind {of}"
        last = c[-1] if len(c) else 0.5
        starts += [(front, np.r_[c0, _SHRINK * c, q0, _SHRINK * q]) for c0, q0 in _FRONT_STARTS]
        starts += [(behind, np.r_[c, f * last, q, 1.5 * f * q[-1]]) for f in _BACK_FACTORS]
    return starts


def _distinct(minima: list[_Minimum]) -> list[_Minimum]:
    kept: list[_Minimum] = []
    for minimum in sorted(minima, key=lambda m: m.loss):
        if not kept or minimum.loss > kept[-1].loss * (1 + _SAME_LOSS):
            kept.append(minimum)
    return kept[:_KEPT_MINIMA]


MOST_CURVES = 20
_MOST_PRODUCTS = 1 << 27  # products for all sampled spectra together
_BINS = 80


class Solved(msgspec.Struct, frozen=True, kw_only=True):
    """A loss, exact up to float64, and its mean over sampled spectra with the standard error."""

    loss: float
    sampled: float
    error: float


class Descent(Solved, frozen=True, kw_only=True):
    """Steps of gradient descent, and their loss."""

    steps: list[float]


class Best(Descent, frozen=True, kw_only=True):
    """The best steps; exact, least: the loss of the best polynomial; polynomial: coefficients."""

    exact: str
    least: float
    real: bool
    polynomial: list[float]


class PlusPlus(Solved, frozen=True, kw_only=True):
    """The best scalars of GD++ found; how: their origin."""

    p: list[float]
    q: list[float]
    how: str


class Density(msgspec.Struct, frozen=True, kw_only=True):
    """A histogram of all eigenvalues except the zeros for n < d; heights are densities."""

    edges: list[float]
    heights: list[float]
    largest: float


class Exact(Study, frozen=True, kw_only=True, tag="icl steps"):
    """The losses of 1, 2, .. layers by model. none: predicting 0. floor: the best predictor.

    chebyshev: steps that are best on the bulk of the spectrum. limit: the best steps if n and d
    grow in proportion. Both are empty if they are unknown.
    """

    noise: float
    samples: Count
    layers: list[Count]
    none: float
    floor: float
    common: list[Descent]
    best: list[Best]
    plusplus: list[PlusPlus]
    chebyshev: list[Descent]
    limit: list[float]
    density: Density

    def _listed(self) -> Iterable[dict[str, Any]]:
        for way in ("common", "best", "plusplus", "chebyshev"):
            for layers, one in zip(self.layers, getattr(self, way), strict=False):
                yield {"way": way, "layers": layers, **msgspec.structs.asdict(one)}


def exact_curves(
    n: int,
    d: int,
    depth: int,
    noise: float = 0.0,
    seed: int = 0,
    samples: int = 100_000,
    progress: Callable[[int], None] = lambda done: None,
) -> Exact:
    """Solve 1 .. `depth` layers, n points in dimension d: one step, best steps, GD++, references.

    Losses are exact for the scalars reported. Means over at most `samples` sampled spectra check
    them independently. With noise the floor, the loss of the best predictor, is sampled too. GD++
    is solved for at most 4 layers. Chebyshev steps on the edges of the Marchenko-Pastur law need
    d < n. progress is called after every number of layers. Raises UsageError for a depth outside
    1 .. 20.

    >>> curves = exact_curves(20, 5, 2, samples=100)
    >>> [round(one.loss, 5) for one in curves.best], curves.best[0].exact
    ([1.15385, 0.36124], '15/13')
    """
    if not 1 <= depth <= MOST_CURVES:
        raise UsageError(f"layers must be between 1 and {MOST_CURVES}, got {depth}")
    require(samples >= 2, f"samples must be at least 2, got {samples}")
    depths, ratio = range(1, depth + 1), d / n
    best, common, scalars = [], [], []
    for layers in depths:
        best.append(best_steps(n, d, layers, noise))
        common.append(common_step(n, d, layers, noise))
        if layers <= MOST_SCALARS:
            scalars.append(best_scalars(n, d, layers, noise))
        progress(1)
    low, high = (1 - ratio**0.5) ** 2, (1 + ratio**0.5) ** 2
    bulk = [chebyshev_steps(layers, low, high) for layers in depths] if d < n else []
    count = int(np.clip(_MOST_PRODUCTS // (n * d * min(n, d) // 4 + 1), 2, samples))
    values, h = spectra(n, d, count, seed), noise**2 / n

    def losses(loss: Any, p: Any, q: Any) -> dict[str, float]:
        mean, error = loss_on(values, p, q, n, noise)
        return {"loss": float(loss), "sampled": mean, "error": error}

    def of_steps(solved: Any) -> dict[str, Any]:
        taken = list(solved.steps)
        return {"steps": taken, **losses(solved.loss, np.zeros(len(taken)), taken)}

    def scalar_record(scalars: Scalars) -> PlusPlus:
        p, q = list(scalars.p), list(scalars.q)
        return PlusPlus(p=p, q=q, how=scalars.origin, **losses(scalars.loss, p, q))

    def best_record(steps: BestSteps) -> Best:
        both: Any = {"exact": str(steps.least), "least": float(steps.least), "real": steps.real}
        return Best(**of_steps(steps), **both, polynomial=[float(c) for c in steps.polynomial])

    return Exact(
        n=n,
        d=d,
        noise=noise,
        seed=seed,
        samples=count,
        layers=list(depths),
        none=float(d),
        # Of ridge regression: d int h / (t + h) dmu.
        floor=float(d * (h / (values + h)).mean()) if noise else float(max(d - n, 0)),
        common=[Descent(**of_steps(steps)) for steps in common],
        best=[best_record(steps) for steps in best],
        plusplus=[scalar_record(steps) for steps in scalars],
        chebyshev=[Descent(**of_steps(with_steps(n, d, a, noise))) for a in bulk],
        limit=[] if noise else [d * limit_loss(ratio, layers) for layers in depths],
        density=_density(values),
    )


def _density(values: Array) -> Density:
    positive = values[values > 1e-12]
    largest = float(positive.max())
    heights, edges = np.histogram(positive, bins=_BINS, range=(0, largest))
    share = heights / (values.size * (edges[1] - edges[0]))
    return Density(edges=edges.tolist(), heights=share.tolist(), largest=largest)
