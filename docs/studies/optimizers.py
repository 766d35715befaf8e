"""Adam against momentum SGD on linear transformers, by learning rate: the runs and their factors.

[ACSYJS24] train 3 layers on d = 5, n = 20 at the rate .02. Here every method runs over a grid of
rates on tuning seeds; its best rate, and .02, are run again on seeds that had no part in the
choice. All methods see the same batches, from the same start.

The tails of stochastic gradients are compared with those of Gaussian noise of the same covariance.
For batches drawn at fixed layers, |g - mean g| is compared with the norm of a Gaussian vector with
the covariance of g. The law of this norm depends on the eigenvalues v_i alone, and its kurtosis
E|.|^4 / (E|.|^2)^2 is 1 + 2 sum_i v_i^2 / (sum_i v_i)^2. Norms that vary much do not show heavy
tails by themselves: a few large eigenvalues have the same effect.
"""

import argparse
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from statistics import median

import numpy as np
from rules import Adam, Momentum, Rule, State, clipped
from sampled import loss_and_gradient, sample
from statement import Array, table

from hardness.icl.gram import Layers, losses, rare
from hardness.icl.prompts import Prompts
from instances.streams import generator

AUTHORS_RATE = 0.02  # of [ACSYJS24], for both methods
RATES = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5)
METHODS: dict[str, tuple[str, Callable[[float], Rule]]] = {
    "sgd": ("SGD, momentum .9", lambda rate: Momentum(rate=rate)),
    "adam": ("Adam, decays .9, .9", lambda rate: Adam(rate=rate, second=0.9)),  # the authors'
    "adam999": ("Adam, decays .9, .999", lambda rate: Adam(rate=rate)),
}
_HEAVY = 0.1  # Gamma shape of the heavy-tailed covariates of [ACSYJS24]


@dataclass(frozen=True, kw_only=True)
class Course:
    """What all rules have in common; the defaults are those of [ACSYJS24], in fewer steps."""

    law: Prompts = field(default_factory=lambda: Prompts(n=20, sigma=np.eye(5), task=np.eye(5)))
    layers: int = 3
    steps: int = 1000
    batch: int = 1000  # fresh prompts a step
    scale: float = 0.05  # standard deviation of an entry at the start
    clip: float = 1.0  # the largest norm of a gradient; math.inf: not clipped
    marks: int = 50  # evaluations along a curve
    evaluate: int = 2000  # Gram matrices of an evaluation
    ends: int = 20_000  # of the losses at the end, and norms of Gaussian noise
    stretched: int = 40_000  # of those with rare prompts

    def start(self, seed: int, axis: str) -> Array:
        """Draw the layers that all rules start from: (layers, 2, d, d)."""
        shape = (self.layers, 2, self.law.d, self.law.d)
        return self.scale * generator(seed, "icl", axis, "start").standard_normal(shape)

    @property
    def at(self) -> list[int]:
        """The steps after which losses are evaluated, from 0 to the last."""
        count = min(self.marks, self.steps)
        return sorted({round(i * self.steps / count) for i in range(count + 1)})

    def held_out(self, seed: int, axis: str, count: int) -> Array:
        """Draw Gram matrices to evaluate on: (count, d, d)."""
        rng = generator(seed, "icl", axis, "held out")
        return np.ascontiguousarray(sample(self.law, rng, count).grams.transpose(2, 0, 1))


def race(course: Course, rules: Sequence[Rule], seed: int, axis: str) -> list[Array]:
    """Run each rule over the same batches from the same start; a seed and an axis name both.

    Returns for each the layers after each of `Course.at` steps, (marks+1, layers, 2, d, d).
    """
    grams, at = course.held_out(seed, "curves", course.evaluate), set(course.at)
    thetas, states = [course.start(seed, axis)] * len(rules), [State()] * len(rules)
    paths: list[list[Array]] = [[] for _ in rules]
    lost = [False] * len(rules)  # their losses overflow
    for step in range(course.steps + 1):
        if step in at:
            for i, theta in enumerate(thetas):
                lost[i] = mean_loss(theta, grams, course.law)[0] == math.inf
                paths[i].append(theta)
        if step == course.steps:
            break
        data = sample(course.law, generator(seed, "icl", axis, "batch", step), course.batch)
        for i, rule in enumerate(rules):
            if not lost[i]:
                with np.errstate(over="ignore", invalid="ignore"):
                    gradient = clipped(loss_and_gradient(thetas[i], data)[1], course.clip)
                    states[i], move = rule(states[i], gradient)
                    thetas[i] = thetas[i] + move
    return [np.array(path) for path in paths]


def mean_loss(theta: Array, grams: Array, law: Prompts) -> tuple[float, float]:
    """Average the loss over Gram matrices, all else integrated, with its standard error.

    Both are inf if the loss overflows.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        each = losses(theta[:, 0], theta[:, 1], grams, law)
        mean, error = float(each.mean()), float(each.std(ddof=1) / math.sqrt(len(each)))
    return (mean, error) if math.isfinite(mean) else (math.inf, math.inf)


def tails(
    course: Course,
    theta: Array,
    batch: int,
    draws: int,
    seed: int,
    axis: str,
    shape: float | None = None,
) -> list[float]:
    """Draw gradients of batches at the layers theta and compare their noise with Gaussian noise.

    Returns the median norm over that of the mean gradient, then 99 % quantiles of norms over their
    median and kurtoses, each beside that of Gaussian noise of the same covariance.
    """
    rng = generator(seed, "icl", "noise", axis)
    drawn = (sample(course.law, rng, batch, shape) for _ in range(draws))
    gradients = np.array([loss_and_gradient(theta, data)[1].ravel() for data in drawn])
    mean = gradients.mean(axis=0)
    noise = gradients - mean
    norms = np.sqrt((noise**2).sum(axis=1))
    values = np.linalg.svd(noise, compute_uv=False) ** 2 / (draws - 1)
    values = values[values > 1e-12 * values[0]]
    like = np.sqrt(rng.standard_normal((course.ends, len(values))) ** 2 @ values)
    heavy = [np.quantile(each / np.median(each), 0.99) for each in (norms, like)]
    heavy.append((norms**4).mean() / (norms**2).mean() ** 2)
    heavy.append(1 + 2 * (values**2).sum() / values.sum() ** 2)
    return [float(np.median(norms) / np.sqrt((mean**2).sum())), *map(float, heavy)]


def study(
    course: Course,
    rates: Sequence[float] = RATES,
    seed: int = 0,
    seeds: int = 5,
    tuning: int = 2,
    draws: int = 500,
) -> str:
    """Run methods over rates on tuning seeds, then .02 and the tuned rates on other seeds: tables.

    draws: gradients drawn for the tails of their noise.
    """
    law, grid = course.law, [(name, rate) for name in METHODS for rate in rates]
    paths = _run(replace(course, marks=1), grid, seed, "tune", tuning)
    grams = course.held_out(seed, "tuning ends", course.ends)
    tried = {at: [mean_loss(path[-1], grams, law)[0] for path in paths[at]] for at in grid}
    best = {n: min((median(tried[n, r]), i, r) for i, r in enumerate(rates))[2] for n in METHODS}
    again = sorted({(name, rate) for name in METHODS for rate in (AUTHORS_RATE, best[name])})
    paths = _run(course, again, seed, "report", seeds)
    grams = course.held_out(seed, "ends", course.ends)
    ends = {at: [mean_loss(path[-1], grams, law) for path in paths[at]] for at in again}
    final = {at: [loss for loss, _ in pairs] for at, pairs in ends.items()}
    worst = max(e / loss for pairs in ends.values() for loss, e in pairs if loss < math.inf)
    trained = paths[min(again, key=lambda at: median(final[at]))][0][-1]
    shown = [(name, AUTHORS_RATE) for name in METHODS] + list(best.items())
    clip = f"clipped to norm {course.clip:g}" if course.clip < math.inf else "not clipped"
    return "\n".join(
        [
            f"{course.layers} layers, d = {law.d}, n = {law.n}: {course.steps} steps on batches of "
            f"{course.batch} prompts,",
            f"gradients {clip}, start N(0, {course.scale:g}^2); predicting 0 loses {law.power:.4g}",
            "",
            f"Median loss over {tuning} tuning seeds after the last step:",
            table(
                ["rate", *METHODS],
                [
                    [f"{r:g}", *(_tried(tried[n, r], r == best[n], law) for n in METHODS)]
                    for r in rates
                ],
            ),
            "* the least: the tuned rate; ! some runs ended no better than predicting 0",
            "",
            f"Loss at the end on {seeds} other seeds, median (least .. largest):",
            *_final(final, best),
            f"How known: means over {course.ends} Gram matrices, w and the query integrated",
            f"exactly; standard errors up to {100 * worst:.2g} % of a loss. Same start and batches "
            "for\nall methods of a seed.",
            "",
            "The same by importance sampling, which meets rare prompts:",
            *_rare(course, shown, paths, final, seed),
            "",
            *_noise(course, trained, seed, draws),
        ]
    )


def _run(
    course: Course, runs: Sequence[tuple[str, float]], seed: int, axis: str, count: int
) -> dict[tuple[str, float], list[Array]]:
    rules = [METHODS[name][1](rate) for name, rate in runs]
    races = [race(course, rules, seed, f"{axis} {i}") for i in range(count)]
    return {run: [paths[i] for paths in races] for i, run in enumerate(runs)}


def _tried(losses: Sequence[float], tuned: bool, law: Prompts) -> str:
    marks = "!" * any(loss >= law.power for loss in losses) + "*" * tuned
    return marks + (f"{median(losses):.3g}" if median(losses) < math.inf else ">1e300")


def _final(final: dict[tuple[str, float], list[float]], best: dict[str, float]) -> list[str]:
    """Losses at the authors' and at the tuned rates, and the factors between methods by seed."""
    lines = []
    for name, rates in (
        (f"rate {AUTHORS_RATE:g}", dict.fromkeys(METHODS, AUTHORS_RATE)),
        ("tuned", best),
    ):
        for method, rate in rates.items():
            at = f"tuned ({rate:g})" if name == "tuned" else name
            lines.append(f"  {at:13} {METHODS[method][0]:21}  {_spread(final[method, rate])}")
        first, *others = (final[at] for at in rates.items())
        for other, losses_ in zip(list(METHODS)[1:], others, strict=True):
            ratios = [a / b for a, b in zip(first, losses_, strict=True)]
            lines.append(f"  {name:13} {'sgd / ' + other:21}  {_spread(ratios)}")
    return lines


def _rare(
    course: Course,
    shown: Sequence[tuple[str, float]],
    paths: dict[tuple[str, float], list[Array]],
    final: dict[tuple[str, float], list[float]],
    seed: int,
) -> list[str]:
    """Losses by importance sampling, and whether they leave anything of the order above."""
    lines, carried = [], False
    for name, rate in shown:
        with np.errstate(over="ignore", invalid="ignore"):
            ends = [path[-1] for path in paths[name, rate]]
            layers = [Layers(p=theta[:, 0], q=theta[:, 1]) for theta in ends]
            estimates = [rare(each, course.law, seed, course.stretched) for each in layers]
        heavy = max(f.share if math.isfinite(f.value) else 1.0 for f in estimates)
        values = _spread([f.value for f in estimates])
        lines.append(f"  {rate:<13g} {METHODS[name][0]:21}  {values}, {100 * heavy:.0f}%")
        pairs = zip(estimates, final[name, rate], strict=True)
        carried |= any(math.isfinite(f.value) and f.value > 1.5 * loss for f, loss in pairs)
    lines.append("last: the largest share of one sample; near 100%, no more than a sign")
    warning = [
        "Some are far above: there prompts too rare to be drawn carry the mean. The",
        "losses, errors and factors further up then hold for typical prompts alone.",
    ]
    return lines + warning * carried


def _spread(values: Sequence[float]) -> str:
    """Median and range, of losses that did not overflow."""
    known = [v for v in values if math.isfinite(v)]
    if len(known) < len(values):
        return f"overflow in {len(values) - len(known)} of {len(values)}"
    return f"{median(known):<8.3g} ({min(known):.3g} .. {max(known):.3g})"


def _noise(course: Course, trained: Array, seed: int, draws: int) -> list[str]:
    start, batch, rows = course.start(seed, "report 0"), course.batch, []
    for where, theta, size, axis, shape in (
        ("start, one prompt", start, 1, "one", None),
        ("start", start, batch, "start", None),
        ("trained", trained, batch, "trained", None),
        ("start, heavy-tailed x", start, batch, "heavy", _HEAVY),
    ):
        relative, *heavy = tails(course, theta, size, draws, seed, axis, shape)
        rows.append([where, str(size), f"{relative:.2g}", *(f"{v:.3g}" for v in heavy)])
    return [
        table(["gradient noise", "batch", "/|mean|", "q99", "Gauss", "kurtosis", "Gauss"], rows),
        f"Norms of g - mean g over {draws} draws: their median over |mean g|, their",
        "0.99-quantile over the median, E|.|^4/(E|.|^2)^2; each beside that of Gaussian",
        "noise of the same covariance: heavy tails are what exceeds it.",
    ]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Adam against SGD on linear transformers.")
    parser.add_argument(
        "--clip", type=float, default=1.0, help="largest norm of a gradient, or inf"
    )
    parser.add_argument("--seeds", type=int, default=5, help="reported seeds")
    asked = parser.parse_args()
    print(study(Course(clip=asked.clip), seeds=asked.seeds))
