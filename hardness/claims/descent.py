"""The words of claims about gradient descent, in the four regimes that have a theorem."""

from hardness.claims.named import FAMILY, GOAL
from hardness.claims.words import Quantity

_TWO = ("labels have two values",)
_RULE = (
    "every step shows the rule one answer about the mean of v(X, Y) over the population, v of its "
    "choice with l2 norm at most `clip` for every example, such as a clipped gradient; what it "
    "does with answers is its own: momentum, Adam, restarts, other models. It sees no examples",
)
_EVER = "success is averaged over a uniformly drawn member and all coins"
_NOISE = (
    "an answer is that mean plus normal noise of standard deviation noise-std on every coordinate, "
    "independent of each other and fresh each step",
    "without noise there is no claim",
)
_WITHIN = (
    "an answer may be any vector within l2 distance `within` of that mean, and the worst ones are "
    "meant: the bound is on what can be promised, and kinder answers may do better",
)
_GRID = (
    "an answer is that mean with each of its `parameters` coordinates rounded to multiples of "
    "`grid` next to it, up or down by fresh dither, independent of each other, so that its "
    "expectation is right; rounding to the nearest multiple without dither is not meant",
)
_BATCH = (
    "every step gets `batch` fresh examples and a state of `state-bits` bits, and makes the next "
    "state by any randomised function: weights, optimizer and all else that passes on are in the "
    "state; the hypothesis is made from the states, coins are free, and examples are never seen "
    "again",
)
_SHARE = "K how many of the M members one hypothesis can fit"

_EXCESS = (
    "the second term is exact where it is rational, else rounded up in its 12th digit; 1 means "
    "that the bound is vacuous"
)
_LEAST = (
    "at least so many steps are needed to reach the risk with the success probability: the least "
    "whole number for which"
)
_VACUOUS = "; 0 or 1 means that the bound is vacuous"
_TERMS = ("risk", "noise")
_LAMBDA = (
    "lambda the largest Gram eigenvalue of what is unknown, the two values written as +-1, fade "
    "1 - 2 noise"
)


def _pair(
    regime: str, source: str, law: str, conditions: tuple[str, ...], given: tuple[str, ...]
) -> dict[str, Quantity]:
    """The success that so many steps can have, and the steps that a success needs."""
    assumed = FAMILY + GOAL + _TWO + conditions
    return {
        f"gd-{regime}-success": Quantity(
            meaning=f"the probability of reaching the risk is at most this: K/M + {law}, {_SHARE}; "
            f"{_EXCESS}",
            source=source,
            assumptions=(*assumed, _EVER),
            parameters=(*given, "steps", *_TERMS),
        ),
        f"gd-{regime}-steps": Quantity(
            meaning=f"{_LEAST} K/M + {law} is at least `success`, {_SHARE}{_VACUOUS}",
            source=source,
            assumptions=(*assumed, _EVER),
            parameters=(*given, "success", *_TERMS),
        ),
    }


QUANTITIES: dict[str, Quantity] = {
    **_pair(
        "noise",
        "AS20",
        "(fade clip/(4 noise-std)) sqrt(steps lambda/M), " + _LAMBDA,
        _RULE + _NOISE,
        ("clip", "noise-std"),
    ),
    **_pair(
        "within",
        "AKMSS21",
        "steps fade^2 clip^2 lambda/(4 within^2 M), " + _LAMBDA,
        _RULE + _WITHIN,
        ("clip", "within"),
    ),
    **_pair(
        "grid",
        "AKMSS21",
        "(steps fade clip/(2 grid)) sqrt(parameters lambda/M), " + _LAMBDA,
        _RULE + _GRID,
        ("clip", "grid", "parameters"),
    ),
    **_pair(
        "batch",
        "AKMSS21",
        "sqrt(steps min(steps, 14) Q)/2, Q = (2^state-bits - 1) L/M, L the largest eigenvalue of "
        "(1 + c)^batch - 1, c the correlations of members as laws of labelled examples relative to "
        "labels that are coins",
        _BATCH,
        ("batch", "state-bits"),
    ),
}
