"""A comparison in words: its table, the growth of costs, and the scope of the bounds."""

import textwrap
from typing import TYPE_CHECKING

from hardness.bounds.quantities import VACUOUS
from hardness.report.run import unbound_words
from hardness.report.text import bound, good, number, shown_risk, table, wrap
from hardness.runs.certified import query_bound
from hardness.runs.comparison import Comparison
from hardness.runs.growth import CONFIDENCE, LEAST_SIZES, CertifiedGrowth, Scaling
from instances.numbers import outward, write
from instances.spec import kind_of

if TYPE_CHECKING:
    from hardness.bounds import BoundParameters
    from hardness.bounds.certificate import Certificate
    from hardness.runs.least import Least

LEARNER_OF = {
    "stat-queries": "a statistical-query learner",
    "csq-queries": "a learner by correlational queries",
}
ANY_ANSWERS = "answers may be any numbers within the tolerance"
_BOUNDS = ("sq-dimension", "stat-queries", "vstat-queries", "csq-queries", "information-floor")


def comparison_words(comparison: Comparison) -> str:
    """Write a comparison: its table, the terms and scope of the bounds, and the growth of costs."""
    names = dict(zip(comparison.learner_names, comparison.learners, strict=True))
    parts = [comparison_table(comparison)]
    if comparison.certificates:
        parts.append(wrap(goal(comparison.terms, query_bound(comparison.certificates))))
        if VACUOUS in parts[0]:
            parts.append(wrap(_VACUOUS))
        parts += map(wrap, unbound_words(comparison.runs, names.__getitem__))
    elif kind_of(comparison.specs[0].partition(":")[0]) is None:
        parts.append("No bounds are shown: name the family by --family path.py:Name.")
    return "\n\n".join(filter(None, [*parts, scaling_words(comparison)]))


def goal(terms: "BoundParameters", request: str = "stat-queries") -> str:
    """Write the terms of certified bounds: risk, success, the oracle and its tolerance.

    request: the quantity of the bound on queries, empty if there is none.

    >>> from hardness.bounds import BoundParameters
    >>> goal(BoundParameters(), "")
    'Certified is what relative risk 1/4 with probability 2/3 needs: labels, of any learner.'
    """
    needed = ["labels, of any learner"]
    if request:
        queries = f"queries of {LEARNER_OF[request]}, where {ANY_ANSWERS} tau = {terms.tau}"
        needed.insert(0, queries)
    about = f"relative risk {terms.risk} with probability {terms.success}"
    return f"Certified is what {about} needs: {'; '.join(needed)}."


def short_name(comparison: "Comparison | Least", learner: str) -> str:
    """Return a learner's name as the user wrote it, from its canonical name in the results."""
    return dict(zip(comparison.learner_names, comparison.learners, strict=True))[learner]


def bounds_table(comparison: Comparison) -> str:
    """Write a table of the quantities that are certified at every size."""
    certified = {name: values for name in _BOUNDS if (values := comparison.bounds(name))}
    rows = [
        [
            f"{comparison.parameter}={write(value)}",
            *(
                _value_or_interval(name, values[i], comparison.certificates[i])
                for name, values in certified.items()
            ),
        ]
        for i, value in enumerate(comparison.values)
    ]
    return table(["size", *certified], rows)


def _value_or_interval(quantity: str, value: int | None, certificate: "Certificate") -> str:
    """Write a certified value; an SQ dimension that is known within an interval with both ends."""
    text = bound(quantity, value)
    if quantity != "sq-dimension" or (claim := certificate[quantity]).upper == claim.value:
        return text
    return f"{text}..{bound(quantity, int(claim.upper))}"


def comparison_table(comparison: Comparison) -> str:
    """Write a table of certified bounds and learners, size by size; without learners, of bounds."""
    if not comparison.learners:
        return bounds_table(comparison)
    rows = []
    valued = any(cell.values for cell in comparison.cells)  # whether there is a column of values
    for size, certified, cells in comparison.by_size():
        row = [size, *[""] * (6 + valued)]
        if certified:
            *queries, floor = (bound(name, value) for name, value in certified.items())
            at_least = [f"{size}: at least", "", queries[0] if queries else "-", floor]
            row = [*at_least, *[""] * (2 + valued), "certified"]
        rows.append(row)
        for cell in cells:
            rows.append(
                [
                    short_name(comparison, cell.learner),
                    cell.view,
                    number(cell.queries) if cell.queries else "-",
                    number(cell.examples),
                    *([number(cell.values) if cell.values else "-"] if valued else []),
                    number(cell.seconds),
                    "-" if cell.risk is None else shown_risk(cell.risk),
                    f"{cell.solved}/{cell.runs} {good('solved')}" if cell.solved else cell.outcome,
                ]
            )
    header = ["learner", "sees", "queries", "examples", *["values"] * valued]
    return table([*header, "seconds", "risk", "outcome"], rows)


# Growth of costs.

NOTE = (
    "Exponents are fitted to the sizes run and say nothing about larger ones. A cost above its "
    "bound may grow more slowly than the bound, and a bound on queries applies to "
    "statistical-query learners alone."
)
_VACUOUS = "vacuous: the bound is trivial at this size, which does not show that learning is easy."
HEADER = ("learner", "cost", "sizes", "power law", "certified")


def scaling_words(comparison: "Comparison | Least") -> str:
    """Write the fitted growth, the sizes that were left out, and the certified growth.

    The text is empty below five sizes.
    """
    if len(comparison.values) < LEAST_SIZES:
        return ""
    scaling = comparison.scaling
    values = [write(value) for value in comparison.values if value is not None]
    sizes = f"{values[0]} to {values[-1]}" if len(values) > 1 else values[0]
    rows = fit_rows(comparison)
    title = f"growth over the sizes run, {comparison.parameter} = {sizes}"
    lines = [f"{title}: no fit"]
    if rows:
        where = "every seed was solved"
        if not isinstance(comparison, Comparison):
            title, where = title.replace("growth", "growth of the least"), "every instance has one"
        lines = [f"{title}, where {where} ({CONFIDENCE:.0%} intervals)", ""]
        lines += [table(HEADER, rows)]
    missing = left_out(comparison)
    lines += ["", *missing] if missing else []
    if scaling.certified:
        lines += ["", "certified numbers over all sizes run", "", _certified_table(scaling)]
    if scaling.certified or rows:
        lines += ["", textwrap.fill(NOTE, 80)]
    return "\n".join(lines)


def fit_rows(comparison: "Comparison | Least") -> list[tuple[str, ...]]:
    """Return the rows of the table of fits, with the columns of `HEADER`."""
    return [
        (
            short_name(comparison, fit.learner),
            fit.cost,
            str(len(fit.values)),
            f"{power(comparison.parameter, law.exponent)} [{outward(law.low, law.high, 'z.2f')}]",
            power(comparison.parameter, fit.certified_exponent),
        )
        for fit in comparison.scaling.fits
        if (law := fit.law)
    ]


def left_out(comparison: "Comparison | Least") -> list[str]:
    """Say which learners have no fit, and which sizes were left out of the other fits."""
    lines: dict[str, None] = {}  # the same line for several costs is written once
    for fit in comparison.scaling.fits:
        name = short_name(comparison, fit.learner)
        if fit.no_fit:
            lines[f"{name}: no fit: {fit.no_fit}"] = None
        reasons: dict[str, list[str]] = {}
        for value, why in fit.left_out if fit.law else ():
            reasons.setdefault(why, []).append(write(value))
        for why, values in reasons.items():
            lines[f"{name}: without {comparison.parameter} = {', '.join(values)}: {why}"] = None
    return list(lines)


def _certified_table(scaling: Scaling) -> str:
    rows = [
        [
            growth.quantity,
            power(scaling.parameter, growth.exponent),
            _ends(growth),
            ", ".join(write(v) for v in growth.vacuous) or "-",
        ]
        for growth in scaling.certified
    ]
    return table(("quantity", "power law", "first, last slope", "vacuous at"), rows)


def _ends(growth: CertifiedGrowth) -> str:
    """Write the first slope, between the two smallest sizes, and the last."""
    return (
        f"{_short(growth.steps[0].slope)}, {_short(growth.steps[-1].slope)}"
        if growth.steps
        else "-"
    )


def power(parameter: str, exponent: float | None) -> str:
    """Write a power of the parameter, or "-" for no exponent.

    >>> power("d", 3.14159), power("d", -1e-9), power("d", None)
    ('d^3.14', 'd^0.00', '-')
    """
    return "-" if exponent is None else f"{parameter}^{_short(exponent)}"


def _short(exponent: float) -> str:
    return f"{exponent:z.2f}"
