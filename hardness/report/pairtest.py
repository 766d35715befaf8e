"""The two-sample statistic in words, for the terminal."""

import textwrap

from hardness.runs.names import brief_spec
from hardness.runs.pairtest import Array, PairTest
from instances.symmetric import to_float
from instances.threshold import Rational

_NEAR = 0.2  # of the prediction, relative
_SHARED = 0.005  # parts of the mean below this are not worth words


def pair_words(found: PairTest) -> str:
    """Write what was predicted, what was measured, and whether they agree.

    >>> from hardness.runs.pairtest import pair_test
    >>> from instances import parse
    >>> said = pair_words(pair_test(parse("parity:d=12,m=2"), opened=40, repetitions=200))
    >>> "predicted  3.766, exactly" in said
    True
    """
    low, high = found.interval
    on = f"{brief_spec(found.spec)}, seed {found.seed}"
    title = f"two-sample statistic of level {found.level} on {on}"
    lines = [
        *textwrap.wrap(title, 80),
        f"examples   {found.opened} open ones (z_0 = -1), about {2 * found.opened} in all",
        f"predicted  {found.predicted:.4g}, exactly: the root of a rational",
        f"measured   {found.advantage:.4g} in [{low:.4g}, {high:.4g}] at 95%, {found.repetitions} "
        "repetitions in each world",
        f"members    {_moments(found.members, found.mean, found.member_variance)}",
        f"coins      {_moments(found.coins, None, found.null_variance)}",
    ]
    return "\n".join([*lines, "", textwrap.fill(_verdict(found), 80)])


def _moments(values: Array, mean: Rational | None, variance: Rational) -> str:
    expected = 0.0 if mean is None else to_float(mean)
    return (
        f"mean {values.mean():.4g} (predicted {expected:.4g}), standard deviation "
        f"{values.std(ddof=1):.4g} ({to_float(variance) ** 0.5:.4g})"
    )


def _verdict(found: PairTest) -> str:
    low, high = found.interval
    said = "The advantage is the difference of the means over the standard deviation among coins."
    if low <= 0 <= high:
        return (
            f"{said} It is too small to be measured here: the interval holds 0. Ask for more "
            "examples or repetitions."
        )
    said += f" Measured over predicted: {found.ratio:.3f}."
    if not low <= found.predicted <= high:
        said += " The interval does not hold the prediction, as happens to one in twenty or so."
    if abs(found.ratio - 1) > _NEAR:
        said += " That is over 20 % off: ask for more repetitions."
    if to_float(found.shared) > _SHARED:
        said += (
            f" {to_float(found.shared):.1%} of the members' mean is shared by all members: it is "
            "there for who knows the family alone. The coins have the labels' mean and no more."
        )
    return said
