"""Re-derives claims about gradient descent, by inequalities between rationals.

An excess e over K/M is right when e^2 is not below the squared distance that the eigenvalue gives,
and when one unit less in its last digit is; a number of steps, when it reaches the goal and one
step less does not. A batch or a state that is far too large is seen by powers cut down to 64 bits,
not computed.
"""

from collections.abc import Callable
from dataclasses import dataclass
from decimal import (
    MAX_EMAX,
    MIN_EMIN,
    ROUND_CEILING,
    ROUND_FLOOR,
    Context,
    Decimal,
    localcontext,
)
from fractions import Fraction
from functools import partial

from flint import fmpq, fmpz

from hardness.check.named.members import DrawnMembers
from hardness.check.reading import fraction, integer, refuse
from hardness.claims.words import counted
from instances.threshold import python_fraction

_DIGITS = 12  # significant ones of an excess that is no root of a rational
_ONE = Fraction(1)
_KEPT = 64  # bits of a power that is only bounded, beside those that its exponent loses


class Growth:
    """The squared distance after T steps: one step's times T up to `bend` of them, T more."""

    def __init__(self, first: Fraction, bend: int | None) -> None:
        """Take the first step's, and from where on growth is linear; None for never."""
        self.first, self._bend = first, bend

    def after(self, steps: int) -> Fraction:
        """The squared distance after so many steps."""
        turns = steps if self._bend is None else min(steps, self._bend)
        return self.first * steps * turns


Given = dict[str, str]


@dataclass(frozen=True, kw_only=True)
class Regime:
    """What answers are like: how fast runs drift apart, and in words."""

    growth: Callable[[DrawnMembers, Given], Growth]
    words: Callable[[Given], str]


def _success(regime: Regime, members: DrawnMembers, value: fmpq, given: Given) -> str:
    sure, growth, words = _sure(members, given), regime.growth(members, given), regime.words(given)
    claimed = python_fraction(value)
    if given["steps"] == "any":
        if growth.first != 0 or claimed != sure:
            refuse("a step may rule out members, or success is not that of a guess")
        return f"{words}: any number of steps rules out no member: success is at most {value}"
    steps = integer(given["steps"])
    square = growth.after(steps)
    if claimed == 1:
        # One unit in the last digit is at most 1e-11 of the whole.
        if sure < 1 and square * (1 + Fraction(1, 10 ** (_DIGITS - 1))) ** 2 < (1 - sure) ** 2:
            refuse("the bound says something, and vacuous is claimed")
        return f"{words}: vacuous, the bound allows success after {_turns(steps)}"
    excess = claimed - sure
    if not 0 < excess < 1 - sure or excess**2 < square:
        refuse("the success probability is below what follows, or not a probability")
    if excess**2 != square and (excess - _unit(excess)) ** 2 >= square:
        refuse("the success probability is more than what follows")
    return (
        f"{words}: after {_turns(steps)} the relative risk is at most {given['risk']} with "
        f"probability {_decimal(claimed)} at most"
    )


def _steps(regime: Regime, members: DrawnMembers, value: fmpq, given: Given) -> str:
    growth, words = regime.growth(members, given), regime.words(given)
    sure, success = _sure(members, given), fraction(given["success"])
    if value.q != 1 or value < 0:
        refuse("the steps are not a number of steps")
    steps, missing = int(value.p), max(success - sure, Fraction(0))
    if growth.after(steps) < missing**2:
        refuse(f"{_short(steps)} is not the least number of steps that the bound allows")
    if steps and growth.after(steps - 1) >= missing**2:
        refuse(f"fewer than {_short(steps)} steps are not excluded")
    goal = f"for relative risk {given['risk']} with success probability {success}"
    if steps <= 1:
        return f"{words}: vacuous {goal}"
    return f"{words}: at least {_short(steps)} steps are needed {goal}"


def _sure(members: DrawnMembers, given: Given) -> Fraction:
    return min(Fraction(members.right(given), members.size), _ONE)


def _means(members: DrawnMembers, given: Given) -> Fraction:
    """The mean over members of the squared distance of their mean gradients to the reference's."""
    return fraction(given["clip"]) ** 2 * members.drift


def _noise(members: DrawnMembers, given: Given) -> Growth:
    # Pinsker's 1/2 of the relative entropy d^2/(2 std^2), which adds up over the steps.
    entropy = _means(members, given) / (2 * fraction(given["noise-std"]) ** 2)
    return Growth(entropy / 2, bend=1)


def _within(members: DrawnMembers, given: Given) -> Growth:
    moves = _means(members, given) * members.size / fraction(given["within"]) ** 2
    return Growth(Fraction(moves.numerator // moves.denominator, members.size) ** 2, bend=None)


def _grid(members: DrawnMembers, given: Given) -> Growth:
    # sum |d_i|/grid over P coordinates, squared: at most P sum d_i^2/grid^2.
    parameters = integer(given["parameters"])
    spread = _means(members, given) * parameters
    return Growth(spread / fraction(given["grid"]) ** 2, bend=None)


def _batch(members: DrawnMembers, given: Given) -> Growth:
    batch, bits = integer(given["batch"]), integer(given["state-bits"])
    # Of total variation: a quarter. By Hellinger: 2 (7/2) T (Q/2) = T 14 (Q/4).
    return Growth(_squared_batch(members, batch, bits) / 4, bend=14)


def _squared_batch(members: DrawnMembers, batch: int, bits: int) -> Fraction:
    """The mean chi-squared distance of a state of so many bits after one batch, 4 if it is more."""
    below = min(_power_below(1 + members.example, batch, members.size), fmpq(8 * members.size)) - 1
    below = max(below, members.example)
    # 2^(bits - 1) <= 2^bits - 1 states tell: enough of them say nothing.
    if bits > 2 * members.size.bit_length() + int(1 / min(below, fmpq(1))).bit_length() + 4:
        return Fraction(4)
    states = 2**bits - 1
    if below * states >= 4 * members.size:
        return Fraction(4)
    return min(python_fraction(members.batch(batch) * states / members.size), Fraction(4))


def _power_below(base: fmpq, exponent: int, size: int) -> fmpq:
    """Bound base^exponent from below, base > 1, and stop where it passes 8 size."""
    # Some 1/(base - 1) factors get there, and each is cut.
    result, kept = fmpq(1), _KEPT + 2 * int(1 / (base - 1)).bit_length()
    for bit in bin(exponent)[2:]:
        result = _cut(result * result * (base if bit == "1" else 1), kept)
        if result > 8 * size:
            break
    return result


def _cut(value: fmpq, kept: int) -> fmpq:
    """Round a number of at least 1 down to so many bits after its leading one."""
    top, bottom = int(value.p), int(value.q)
    shift = max(kept - top.bit_length() + bottom.bit_length(), 0)
    return fmpq(fmpz((top << shift) // bottom), fmpz(1) << shift)


def _noise_words(given: Given) -> str:
    return f"gradients clipped to {given['clip']} with normal noise of {given['noise-std']}"


def _within_words(given: Given) -> str:
    return f"gradients clipped to {given['clip']} and answers within {given['within']}, worst case"


def _grid_words(given: Given) -> str:
    coordinates = counted(given["parameters"], "coordinates")
    return (
        f"{coordinates} of gradients clipped to {given['clip']}, rounded with "
        f"dither to multiples of {given['grid']}"
    )


def _batch_words(given: Given) -> str:
    bits = counted(given["state-bits"], "bits")
    return f"fresh batches of {given['batch']} and a state of {bits}"


def _unit(excess: Fraction) -> Fraction:
    """One unit in the last of 12 significant digits; refuses a number of more digits."""
    unit = Fraction(1, 10**_DIGITS)
    while excess / unit <= 10 ** (_DIGITS - 1):
        unit /= 10
    if (excess / unit).denominator != 1:
        refuse("the success probability is not a root, and has more than 12 digits")
    return unit


def _decimal(value: Fraction) -> str:
    """Six digits, the last rounded up: what is said is a bound."""
    with localcontext(Context(prec=6, rounding=ROUND_CEILING, Emin=MIN_EMIN)):
        return f"{Decimal(value.numerator) / Decimal(value.denominator):g}"


def _short(steps: int) -> str:
    """A number of steps, rounded down to six digits where it is long."""
    if steps < 10**15:
        return str(steps)
    with localcontext(Context(prec=6, rounding=ROUND_FLOOR, Emax=MAX_EMAX)):
        return f"{+Decimal(fmpq(steps).p.str()):e}"


def _turns(steps: int) -> str:
    return counted(_short(steps), "steps")


_REGIMES = {
    "noise": Regime(growth=_noise, words=_noise_words),
    "within": Regime(growth=_within, words=_within_words),
    "grid": Regime(growth=_grid, words=_grid_words),
    "batch": Regime(growth=_batch, words=_batch_words),
}
CLAIMS: dict[str, Callable[[DrawnMembers, fmpq, Given], str]] = {
    f"gd-{name}-{kind}": partial(verify, regime)
    for name, regime in _REGIMES.items()
    for kind, verify in (("success", _success), ("steps", _steps))
}
