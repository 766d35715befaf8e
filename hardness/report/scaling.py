"""Fitted growth in words and tables: exponents of learners beside the certified ones."""

import math
import textwrap

from hardness.report.binding import unbound_words
from hardness.report.paired import paired_words
from hardness.report.summary import comparison_table, short_name
from hardness.report.text import table, wrap
from hardness.runs import Comparison, Scaling, scaling
from hardness.runs.fits import CertifiedGrowth
from hardness.runs.growth import CONFIDENCE, Law
from hardness.runs.paired import paired
from instances.parameters import plain

NOTE = (
    "Exponents are of the lines nearest to the costs' logarithms over the sizes run; they say "
    "nothing of larger ones. The bound on queries is about statistical-query learners and worst "
    "answers: one of another kind may grow slower without contradiction, and so may any cost that "
    "still lies above its bound."
)
HEADER = ("learner", "cost", "sizes", "power law", "exponential, a unit", "which", "certified")


def comparison_words(found: Comparison) -> str:
    """Write a comparison: its table, how costs grow, and learners two by two."""
    names = dict(zip(found.learner_names, found.learners, strict=True))
    parts = [comparison_table(found)]
    if found.certificates:
        parts += map(wrap, unbound_words(found.runs, names.__getitem__))
    parts += [scaling_words(found)]
    if pairs := paired(found.runs):
        parts.append(paired_words(pairs, lambda name: names[name]))
    return "\n\n".join(parts)


def scaling_words(comparison: Comparison) -> str:
    """Write the fitted growth of a comparison, what was left out, and the certified growth."""
    found, name = scaling(comparison), comparison.parameter
    rows = fit_rows(comparison, found)
    title = f"growth over the sizes run, {name} = {_range(comparison)}"
    lines = [f"{title}: no fit"]
    if rows:
        lines = [f"{title}, where every seed passed ({CONFIDENCE:.0%} intervals)", ""]
        lines += [table(HEADER, rows)]
    missing = left_out(comparison, found)
    lines += ["", *missing] if missing else []
    if found.certified:
        lines += ["", "certified numbers over all sizes run", "", _certified_table(found)]
        theory = [one.theory for one in found.certified[:1] if one.theory]
        lines += ["", *theory] if theory else []
    if found.certified or rows:
        lines += ["", textwrap.fill(NOTE, 80)]
    return "\n".join(lines)


def fit_rows(comparison: Comparison, found: Scaling) -> list[tuple[str, ...]]:
    """Lay fits out under `HEADER`: laws, the verdict between them, the certified exponent."""
    rows: list[tuple[str, ...]] = []
    for fit in found.fits:
        if not fit.growth:
            continue
        law, certified = fit.growth.power, fit.certified_exponent
        exponent = f"{_short(law.rate)} [{_short(law.low)}, {_short(law.high)}]"
        rows.append(
            (
                short_name(comparison, fit.learner),
                fit.cost,
                str(len(fit.values)),
                f"{comparison.parameter}^{exponent}",
                f"×{_factor(fit.growth.exponential)}",
                fit.growth.verdict,
                "-" if certified is None else f"{comparison.parameter}^{_short(certified)}",
            )
        )
    return rows


def left_out(comparison: Comparison, found: Scaling) -> list[str]:
    """Say what was not fitted, and which sizes were left out of what was."""
    lines: dict[str, None] = {}  # each once, whatever the cost
    for fit in found.fits:
        name = short_name(comparison, fit.learner)
        if fit.no_fit:
            cost = f", {fit.cost}" if len(fit.values) >= 2 else ""
            lines[f"{name}{cost}: no fit: {fit.no_fit}"] = None
        reasons: dict[str, list[str]] = {}
        for value, why in fit.left_out if fit.growth else ():
            reasons.setdefault(why, []).append(plain(value))
        for why, values in reasons.items():
            lines[f"{name}: without {comparison.parameter} = {', '.join(values)}: {why}"] = None
    return list(lines)


def _certified_table(found: Scaling) -> str:
    rows = []
    for one in found.certified:
        power = "-" if one.exponent is None else f"{found.parameter}^{_short(one.exponent)}"
        exponential = "-" if one.rate is None else f"×{_grown(one.rate)}"
        vacuous = ", ".join(plain(v) for v in one.vacuous) or "-"
        rows.append([one.quantity, power, exponential, _ends(one), vacuous])
    header = ("quantity", "power law", "exponential, a unit", "first, last slope", "vacuous at")
    return table(header, rows)


def _ends(one: CertifiedGrowth) -> str:
    """Write the slopes from the first size to the next, and from the last but one to the last."""
    return f"{_short(one.steps[0].slope)}, {_short(one.steps[-1].slope)}" if one.steps else "-"


def _factor(law: Law) -> str:
    """Write e^rate with its interval, a factor of growth."""
    rate, low, high = (_grown(each) for each in (law.rate, law.low, law.high))
    return f"{rate} [{low}, {high}]"


def _grown(rate: float) -> str:
    """Write e^rate, of any size, with two digits of what it differs from 1 by.

    >>> _grown(0.00123), _grown(0.7), _grown(1000.0), _grown(0.0)
    ('1.0012', '2.01', 'e^1e+03', '1.00')
    """
    if abs(rate) > 5:
        return f"e^{rate:.3g}"
    places = 1 - min(-1, math.floor(math.log10(max(abs(rate), 1e-9))))
    return f"{math.exp(rate):.{places if abs(rate) > 1e-9 else 2}f}"


def _short(value: float) -> str:
    """Write an exponent to two places.

    >>> _short(3.14159), _short(-0.05), _short(-1e-9)
    ('3.14', '-0.05', '0.00')
    """
    text = f"{value:.2f}"
    return "0.00" if text == "-0.00" else text


def _range(comparison: Comparison) -> str:
    low, high = plain(comparison.values[0]), plain(comparison.values[-1])
    return low if low == high else f"{low} to {high}"
