"""Learning softmax layers in stages: examples, errors, noise, and what labels leave open.

Examples are counted where a learner first keeps within an error and goes on doing so: the search of
docs/least.md, here of any error.
"""

import math
from collections.abc import Sequence
from functools import partial

import numpy as np

from hardness.oracles import Budget
from hardness.runs.least import Bracket, rank, search
from hardness.runs.run import SOLVED_BELOW, learn_once
from hardness.theory.statement import Measured, Predicted, Statement, exponent, mean, share
from hardness.upper import Hypothesis, parse_learner
from hardness.upper.fitting import relative_error
from hardness.upper.matching import match
from instances import parse
from instances.family import Instance

_FRESH = 2000  # examples that an error is measured on
_EXACT = 1e-15
_FOUND = 1e-3  # relative errors of a head that is the true one
_MOST = 1 << 16  # examples of a run


def _instances(spec: str, seed: int, count: int) -> list[Instance]:
    family = parse(spec)
    return [family.instance(one) for one in range(seed * count, (seed + 1) * count)]


def _stages(m: int) -> str:
    """The stages alone, told the number of heads: what the theorem speaks of."""
    return f"staged:heads={m},polish=0"


def learned(learner: str, instance: Instance, n: int) -> tuple[Hypothesis, float]:
    """Learn from n examples, 0 for the learner's own choice; also the error, noise left out.

    It is relative and squared, on fresh examples.
    """
    one = parse_learner(f"{learner}{',' if ':' in learner else ':'}examples={n}")
    found, _ = learn_once(one, instance, Budget(), seed=0)
    x = instance.examples(0, _FRESH, "theory").x
    return found, relative_error(found.predict(x), instance.layer()(x))


def bracket(learner: str, instance: Instance, goal: float, most: int = _MOST) -> Bracket:
    """Search the least number of examples with an error within a goal: in (low, high]."""
    steps = search(8, most)
    n = next(steps)
    while True:
        within = learned(learner, instance, n)[1] <= goal
        try:
            n = steps.send("passed" if within else "failed")
        except StopIteration as stop:
            found: Bracket = stop.value
            return found


def _middle(one: Bracket) -> float:
    """The geometric middle; of what has no end, the most that was seen to fail."""
    low, high, _ = one
    return math.sqrt(max(low, 0.5) * (high or low))


def median(found: Sequence[Bracket], of: str) -> Measured:
    """Bound the median of what lies in (low, high], at least six times, exactly.

    >>> some = [(n, 2 * n, "confirmed") for n in (4, 8, 16, 32, 64)]
    >>> one = median([*some, (99, None, "over")], "layers")
    >>> one.low, one.value, one.high, one.how
    (4.0, 32.0, None, '96.9 %, 6 layers')
    """
    r, sure = rank(len(found))
    lows = sorted(low for low, _, _ in found)
    highs = sorted(high or math.inf for _, high, _ in found)
    how = f"{100 * float(sure):.1f} %, {len(found)} {of}"
    middle, low, high = highs[(len(found) - 1) // 2], float(lows[r - 1]), highs[-r]
    value = low if middle == math.inf else float(middle)
    return Measured(value=value, low=low, high=None if high == math.inf else float(high), how=how)


# Error


def _sizes(m: int, examples: str) -> tuple[int, int]:
    """The examples for m - 1 heads and for m."""
    return (324, 196_608) if examples == "growing" else (40_000, 40_000)


def _predict_error(m: int, examples: str) -> Predicted:
    return Predicted() if examples == "growing" else Predicted(high=0.0, within=False)


def _error(m: int, examples: str, seed: int) -> Measured:
    logs = []
    for heads, n in zip((m - 1, m), _sizes(m, examples), strict=True):
        every = _instances(f"nice:m={heads},k=2,d=9", seed, 6)
        logs.append([math.log10(learned(_stages(heads), one, n)[1]) for one in every])
    return mean(np.subtract(logs[1], logs[0]), "pairs of layers")


def _predict_easier(m: int) -> Predicted:
    return Predicted(high=0.0, within=False)


def _easier(m: int, seed: int) -> Measured:
    logs = [
        [
            math.log10(learned(_stages(m), one, 8000)[1])
            for one in _instances(f"nice:m={m},k=2,d=9,tokens={tokens}", seed, 8)
        ]
        for tokens in ("boolean", "gaussian")
    ]
    return mean(np.subtract(logs[1], logs[0]), "pairs of layers")


def _predict_noise(sigma: float, examples: int) -> Predicted:
    used = examples - min(examples // 8, 4096)
    found = sigma**2 * 2 * 2 * 7**2 / used
    return Predicted(low=found, high=found)


def _noise(sigma: float, examples: int, seed: int) -> Measured:
    errors = []
    for one in _instances(f"nice:m=2,k=2,d=7,noise={sigma}", seed, 8):
        x = one.examples(0, _FRESH, "theory").x
        square = float(np.sum(one.layer()(x) ** 2)) / _FRESH
        errors.append(square * learned("staged", one, examples)[1])
    return mean(errors, "layers", among=6)


# Examples


def _predict_heads(m: int) -> Predicted:
    most = float(18) ** (2 * m**3)
    return Predicted(high=most if most <= _MOST else None)


def _heads(m: int, seed: int) -> Measured:
    every = _instances(f"nice:m={m},k=2,d=9", seed, 6)
    return median([bracket(_stages(m), one, SOLVED_BELOW) for one in every], "layers")


def _predict_counted(layer: str, d: int) -> Predicted:
    m, k = parse(f"nice:{layer},d={d}").layer_heads, parse(f"nice:{layer},d={d}").k
    return Predicted(low=max(2 * m * d / k, d * d / (k * (k - 1))))


def _counted(layer: str, d: int, seed: int) -> Measured:
    every = _instances(f"nice:{layer},d={d}", seed, 6)
    return median([bracket("levenberg", one, _EXACT) for one in every], "layers")


def _predict_tokens(k: int) -> Predicted:
    return Predicted(low=_MOST if 2 * (k - 1) > 10 else None)


def _tokens(k: int, seed: int) -> Measured:
    every = _instances(f"nice:m=2,k={k},d=10,scale=1,tokens=gaussian", seed, 6)
    return median([bracket(_stages(2), one, SOLVED_BELOW) for one in every], "layers")


_OVER = {"d": (7, 9, 12, 16), "k": (2, 3, 4, 5, 6)}


def _predict_growth(over: str, m: int) -> Predicted:
    return Predicted(low=2.0, high=2.0) if over == "d" else Predicted()


def _growth(over: str, m: int, seed: int) -> Measured:
    spec = "nice:m={m},k=2,d={n}" if over == "d" else "nice:m={m},k={n},d=12,scale=1"
    samples = [
        [
            _middle(bracket(_stages(m), one, SOLVED_BELOW))
            for one in _instances(spec.format(m=m, n=n), seed, 4)
        ]
        for n in _OVER[over]
    ]
    return exponent(_OVER[over], samples, f"{len(samples)} sizes of 4 layers")


# What labels leave open

_LAYER = {"random": "", "one Θ": ",trace=1"}


def _predict_open(layer: str, m: int) -> Predicted:
    return Predicted(low=1.0, high=1.0)


def _open(layer: str, m: int, seed: int) -> Measured:
    alike = []
    for one in _instances(f"nice:m={m},d=5,k=2{_LAYER[layer]}", seed, 40):
        found, error = learned("levenberg", one, 0)
        if error <= _EXACT and found.layer:
            paired = match(found.layer, one.layer())
            offs = (*paired.theta, *paired.w)
            true = all(off is not None and off < _FOUND for off in offs)
            alike.append(true == (layer == "random"))
    return share(sum(alike), len(alike), "layers solved")


_stage = partial(Statement, subject="softmax layers", source="CL24")
STATEMENTS = (
    _stage(
        name="error-heads",
        owner="summary",
        says="In time polynomial in all parameters but m, for layers that are not degenerate, the"
        " error decays as (kd)^-Ω(m).",
        predicts="Nothing if examples may grow with m: the constants are not stated in what was"
        " read. That run has 324 = (kd)^(m³/4) examples for two heads and 196608 for three, where"
        " the power would be 3e8. At a fixed 40000, outside the condition: no larger error of the"
        " stages, told the heads, without the polish, with a head more.",
        meaning="The bound buys its fall with m by time that grows with m. At a fixed number of"
        " examples, rows on which more heads agree are rarer, and those that are kept agree less.",
        revised="a fall with 600 times the examples, which could not fail, is no longer predicted",
        settings=[
            {"m": 3, "examples": "growing"},
            *({"m": m, "examples": "fixed"} for m in (3, 4)),
        ],
        predict=_predict_error,
        measure=_error,
        along="m",
        by="examples",
        x="heads m",
        y="log10 of the error, over that with a head less",
    ),
    _stage(
        name="examples-heads",
        owner="paper",
        says="Layers that are not degenerate are learned to small error in time (kd)^O(m³), and so"
        " from as many examples.",
        predicts="Least examples for an error of 0.05 by the stages, told the heads, without the"
        " polish, d = 9, k = 2: at most (kd)^(2m³). The 2 is ours, the least whole number that"
        " counting unknowns leaves: one head alone has 2d² of them. Nothing from two heads on, as"
        " that is above 65536, the most that is tried.",
        meaning="An upper bound, for all layers that meet its conditions.",
        revised="bounds that no run could break are no longer predicted",
        settings=[{"m": m} for m in (1, 2, 3, 4)],
        predict=_predict_heads,
        measure=_heads,
        along="m",
        x="heads m",
        y="examples",
        log="y",
    ),
    _stage(
        name="examples-tokens",
        owner="docs",
        says="Stage 2 tells rows on which heads agree only where m(k-1) < d: k - 1 of a label's d"
        " entries go into the pattern, and agreement asks for (m-1)(k-1) numbers to be 0.",
        predicts="Two heads, d = 10, normal tokens: no success within 65536 examples above the"
        " limit, where chance makes more residuals small than agreement does. Nothing up to the"
        " limit: (kd)^O(m³) is larger than what is tried.",
        meaning="The theorem asks for k far below d; this says how far the stages need it.",
        revised="nothing is predicted any more up to the limit, where no run could break it",
        settings=[{"k": k} for k in (2, 3, 4, 5, 7)],
        predict=_predict_tokens,
        measure=_tokens,
        along="k",
        x="tokens k",
        y="examples",
        log="y",
    ),
    _stage(
        name="examples-counted",
        owner="docs",
        says="No learner finds a layer of random heads from fewer than max(2md/k, d²/(k(k-1)))"
        " examples (Lemma 25).",
        predicts="Least examples from which levenberg is exact: at least that count.",
        revised="3 heads were taken for 4, which ran too long",
        meaning="Whether examples can be far fewer than the stages take, on random layers: the"
        " count is proven for every learner, and levenberg has no guarantee.",
        settings=[
            *({"layer": "m=2,k=2", "d": d} for d in (6, 9, 12)),
            *({"layer": layer, "d": d} for layer in ("m=3,k=2", "m=2,k=3") for d in (6, 9)),
        ],
        predict=_predict_counted,
        measure=_counted,
        along="d",
        by="layer",
        y="examples",
        log="xy",
    ),
    _stage(
        name="growth-examples",
        owner="summary",
        says="The number of examples is polynomial in all parameters but the number of heads.",
        predicts="Over d: exponent 2, as the d² unknowns of a Θ ask for as many constraints, and"
        " the chance of agreement does not depend on d. Over k, from 2 to 6 at d = 12: nothing, as"
        " the source allows exponents of order m³, more than 65536 examples could show.",
        revised="nothing is predicted any more over k, where no run could break it",
        meaning="The exponent of the stages, told the heads, for an error of 0.05, over these"
        " sizes.",
        settings=[{"over": "d", "m": 1}, {"over": "d", "m": 2}, {"over": "k", "m": 2}],
        predict=_predict_growth,
        measure=_growth,
        along="m",
        by="over",
        x="heads m",
        y="exponent of the examples",
    ),
    _stage(
        name="gaussian-easier",
        owner="talk",
        says="For normal tokens the authors' analysis is strictly easier than for signs.",
        predicts="The statement does not speak of errors. If it did: the stages' error from 8000"
        " examples, d = 9, k = 2, is no larger with normal tokens.",
        meaning="Whether what is easier to prove is easier to learn, too.",
        settings=[{"m": m} for m in (2, 3)],
        predict=_predict_easier,
        measure=_easier,
        along="m",
        x="heads m",
        y="log10 of the error, normal tokens over signs",
    ),
    _stage(
        name="noise-floor",
        owner="docs",
        says="Labels with noise σ leave the error of least squares: σ² 2md²/n from n examples, to"
        " leading order in 1/n.",
        predicts="E||F - F'||² of staged, not told the heads, m = 2, k = 2, d = 7; n is seven"
        " eighths of the examples, the others count heads.",
        meaning="Whether labels with noise cost more than the numbers of the heads have to.",
        settings=[{"sigma": s, "examples": n} for s in (0.1, 0.3) for n in (1500, 6000, 24_000)],
        predict=_predict_noise,
        measure=_noise,
        along="examples",
        by="sigma",
        y="squared error of an example",
        log="xy",
    ),
    _stage(
        name="ambiguity",
        owner="docs",
        says="Labels leave open the order of heads, and of heads with one Θ all but the sum of W.",
        predicts="Of layers that a learner fits exactly it has the true heads on all if they are"
        " random, and on none if they share one Θ.",
        meaning="What no number of examples shows. That an exact fit of random heads has the true"
        " ones is not proved.",
        revised="Heads of one Θ are counted if the learner does not have them",
        settings=[
            *({"m": m, "layer": "random"} for m in (2, 3, 4)),
            {"m": 2, "layer": "one Θ"},
        ],
        predict=_predict_open,
        measure=_open,
        along="m",
        by="layer",
        x="heads m",
        y="share as predicted, of layers fitted exactly",
    ),
)
