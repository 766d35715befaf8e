"""Learning softmax layers in stages: examples, errors, noise, and what labels leave open.

Examples are counted where a learner first keeps within an error and goes on doing so: the search of
docs/least.md, here of any error.
"""

import math
from collections.abc import Sequence

import numpy as np
from statement import Array, Measured, Predicted, equal, exponent, main, mean, share

from hardness.learners import Hypothesis
from hardness.learners.fitting import match, relative_error
from hardness.oracles import Budget
from hardness.runs.least import Bracket, rank, search
from hardness.runs.registry import parse_learner
from hardness.runs.run import SOLVED_BELOW, learn_once
from instances import parse
from instances.family import Instance

_FRESH = 2000  # examples that an error is measured on
_EXACT = 1e-15
_FOUND = 1e-3  # relative errors of a head that is the true one
_MOST = 1 << 16  # examples of a run


def _instances(spec: str, seed: int, count: int) -> list[Instance]:
    family = parse(spec)
    return [family.instance(number) for number in range(seed * count, (seed + 1) * count)]


def _stages(m: int) -> str:
    """The stages alone, told the number of heads: what the theorem speaks of."""
    return f"staged:heads={m},polish=0"


def learned(learner: str, instance: Instance, n: int) -> tuple[Hypothesis, float]:
    """Learn from n examples, 0 for the learner's own choice; also the error, noise left out.

    It is relative and squared, on fresh examples.
    """
    configured = parse_learner(f"{learner}{',' if ':' in learner else ':'}examples={n}")
    hypothesis, _ = learn_once(configured, instance, Budget(), seed=0)
    x = instance.examples(0, _FRESH, "theory").x
    return hypothesis, relative_error(hypothesis.predict(x), instance.layer()(x))


def bracket(learner: str, instance: Instance, goal: float, most: int = _MOST) -> Bracket:
    """Search the least number of examples with an error within a goal: in (low, high]."""
    steps = search(8, most)
    n = next(steps)
    while True:
        within = learned(learner, instance, n)[1] <= goal
        try:
            n = steps.send("passed" if within else "failed")
        except StopIteration as stop:
            result: Bracket = stop.value
            return result


def _brackets(learner: str, spec: str, goal: float, seed: int, count: int = 6) -> list[Bracket]:
    return [bracket(learner, one, goal) for one in _instances(spec, seed, count)]


def median(brackets: Sequence[Bracket], of: str) -> Measured:
    """Bound the median of what lies in (low, high], at least six times, exactly."""
    r, sure = rank(len(brackets))
    lows = sorted(low for low, _, _ in brackets)
    highs = sorted(high or math.inf for _, high, _ in brackets)
    how = f"{100 * float(sure):.1f} %, {len(brackets)} {of}"
    middle, low, high = highs[(len(brackets) - 1) // 2], float(lows[r - 1]), highs[-r]
    value = low if middle == math.inf else float(middle)
    return Measured(value=value, low=low, high=None if high == math.inf else float(high), how=how)


# Error


def predict_error_heads(m: int, examples: str) -> Predicted:
    return Predicted() if examples == "growing" else Predicted(high=0.0, within=False)


def measure_error_heads(m: int, examples: str, seed: int) -> Measured:
    sizes = (324, 196_608) if examples == "growing" else (40_000, 40_000)
    fewer, all_heads = (
        _logs(f"nice:m={heads},k=2,d=9", heads, n, seed, 6)
        for heads, n in zip((m - 1, m), sizes, strict=True)
    )
    return mean(all_heads - fewer, "pairs of layers")


def _logs(spec: str, m: int, n: int, seed: int, count: int) -> Array:
    """log10 of the errors of the stages from n examples of each layer."""
    every = _instances(spec, seed, count)
    return np.array([math.log10(learned(_stages(m), one, n)[1]) for one in every])


def measure_gaussian_easier(m: int, seed: int) -> Measured:
    spec = f"nice:m={m},k=2,d=9,tokens="
    boolean, gaussian = (_logs(spec + law, m, 8000, seed, 8) for law in ("boolean", "gaussian"))
    return mean(gaussian - boolean, "pairs of layers")


def predict_noise_floor(sigma: float, examples: int) -> Predicted:
    used = examples - min(examples // 8, 4096)
    return equal(sigma**2 * 2 * 2 * 7**2 / used)


def measure_noise_floor(sigma: float, examples: int, seed: int) -> Measured:
    errors = []
    for instance in _instances(f"nice:m=2,k=2,d=7,noise={sigma}", seed, 8):
        x = instance.examples(0, _FRESH, "theory").x
        square = float(np.sum(instance.layer()(x) ** 2)) / _FRESH
        errors.append(square * learned("staged", instance, examples)[1])
    return mean(errors, "layers", among=6)


# Examples


def predict_examples_heads(m: int) -> Predicted:
    most = float(18) ** (2 * m**3)
    return Predicted(high=most if most <= _MOST else None)


def measure_examples_heads(m: int, seed: int) -> Measured:
    return median(_brackets(_stages(m), f"nice:m={m},k=2,d=9", SOLVED_BELOW, seed), "layers")


def predict_examples_counted(layer: str, d: int) -> Predicted:
    m, k = parse(f"nice:{layer},d={d}").layer_heads, parse(f"nice:{layer},d={d}").k
    return Predicted(low=max(2 * m * d / k, d * d / (k * (k - 1))))


def measure_examples_counted(layer: str, d: int, seed: int) -> Measured:
    return median(_brackets("levenberg", f"nice:{layer},d={d}", _EXACT, seed), "layers")


def predict_examples_tokens(k: int) -> Predicted:
    return Predicted(low=_MOST if 2 * (k - 1) > 10 else None)


def measure_examples_tokens(k: int, seed: int) -> Measured:
    spec = f"nice:m=2,k={k},d=10,scale=1,tokens=gaussian"
    return median(_brackets(_stages(2), spec, SOLVED_BELOW, seed), "layers")


_OVER = {"d": (7, 9, 12, 16), "k": (2, 3, 4, 5, 6)}


def predict_growth_examples(over: str, m: int) -> Predicted:
    return equal(2.0) if over == "d" else Predicted()


def measure_growth_examples(over: str, m: int, seed: int) -> Measured:
    spec, samples = "k=2,d={}" if over == "d" else "k={},d=12,scale=1", []
    for n in _OVER[over]:
        every = _brackets(_stages(m), f"nice:m={m},{spec.format(n)}", SOLVED_BELOW, seed, 4)
        # The geometric middle; of what has no end, the most that was seen to fail.
        samples.append([math.sqrt(max(low, 0.5) * (high or low)) for low, high, _ in every])
    return exponent(_OVER[over], samples, f"{len(samples)} sizes of 4 layers")


# What labels leave open

_LAYER = {"random": "", "one Θ": ",trace=1"}


def measure_ambiguity(layer: str, m: int, seed: int) -> Measured:
    alike = []
    for instance in _instances(f"nice:m={m},d=5,k=2{_LAYER[layer]}", seed, 40):
        hypothesis, error = learned("levenberg", instance, 0)
        if error <= _EXACT and hypothesis.layer:
            paired = match(hypothesis.layer, instance.layer())
            offs = (*paired.theta, *paired.w)
            true = all(off is not None and off < _FOUND for off in offs)
            alike.append(true == (layer == "random"))
    return share(sum(alike), len(alike), "layers solved")


if __name__ == "__main__":
    main("stages")
