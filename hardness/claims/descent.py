"""The words of claims about gradient descent, in the four regimes that have a theorem."""

from dataclasses import dataclass

from hardness.claims.named import FAMILY, GOAL
from hardness.claims.words import Quantity

_TWO = ("labels have two values",)
RULE = (
    "every step shows the rule one answer about the mean of v(X, Y) over the population, v of its "
    "choice with l2 norm at most `clip` for every example, such as a clipped gradient; what it "
    "does with answers is its own: momentum, Adam, restarts, other models. It sees no examples",
)
_EVER = "success is averaged over a uniformly drawn member and all coins"
NOISE = (
    "an answer is that mean plus normal noise of standard deviation noise-std on every coordinate, "
    "independent of each other and fresh each step",
    "without noise there is no claim",
)
WITHIN = (
    "an answer may be any vector within l2 distance `within` of that mean, and the worst ones are "
    "meant: the bound is on what can be promised, and kinder answers may do better",
)
GRID = (
    "an answer is that mean with each of its `parameters` coordinates rounded to multiples of "
    "`grid` next to it, up or down by fresh dither, independent of each other, so that its "
    "expectation is right; rounding to the nearest multiple without dither is not meant",
)
BATCH = (
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


@dataclass(frozen=True, kw_only=True)
class Regime:
    """What answers are like: the bound on success as a law of the steps, and its conditions."""

    name: str
    source: str
    law: str
    conditions: tuple[str, ...]
    given: tuple[str, ...]

    def quantities(
        self, family: tuple[str, ...], share: str, terms: tuple[str, ...]
    ) -> dict[str, Quantity]:
        """The success that so many steps can have, and the steps that a success needs.

        family: assumptions about it; share: what K is; terms: that claims give beside their own.
        """
        assumptions = (*family, *self.conditions, _EVER)
        return {
            f"gd-{self.name}-success": Quantity(
                meaning=f"the probability of reaching the risk is at most this: {self.law}, "
                f"{share}; {_EXCESS}",
                source=self.source,
                assumptions=assumptions,
                parameters=(*self.given, "steps", *terms),
            ),
            f"gd-{self.name}-steps": Quantity(
                meaning=f"{_LEAST} {self.law} is at least `success`, {share}{_VACUOUS}",
                source=self.source,
                assumptions=assumptions,
                parameters=(*self.given, "success", *terms),
            ),
        }


_REGIMES = (
    Regime(
        name="noise",
        source="AS20",
        law="K/M + (fade clip/(4 noise-std)) sqrt(steps lambda/M), " + _LAMBDA,
        conditions=RULE + NOISE,
        given=("clip", "noise-std"),
    ),
    Regime(
        name="within",
        source="AKMSS21",
        law="K/M + steps r/M, r the whole part of fade^2 clip^2 lambda/(4 within^2), "
        "how many members a step can rule out, "
        + _LAMBDA
        + "; where r is 0 the steps may be any number",
        conditions=RULE + WITHIN,
        given=("clip", "within"),
    ),
    Regime(
        name="grid",
        source="AKMSS21",
        law="K/M + (steps fade clip/(2 grid)) sqrt(parameters lambda/M), " + _LAMBDA,
        conditions=RULE + GRID,
        given=("clip", "grid", "parameters"),
    ),
    Regime(
        name="batch",
        source="AKMSS21",
        law="K/M + sqrt(steps min(steps, 14) Q)/2, Q = (2^state-bits - 1) L/M, L the largest "
        "eigenvalue of (1 + c)^batch - 1, c the correlations of members as laws of labelled "
        "examples relative to labels that are coins",
        conditions=BATCH,
        given=("batch", "state-bits"),
    ),
)

QUANTITIES: dict[str, Quantity] = {}
for _regime in _REGIMES:
    QUANTITIES |= _regime.quantities(FAMILY + GOAL + _TWO, _SHARE, _TERMS)
