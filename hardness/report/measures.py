"""The measures of a family in words: one table, what degrees weigh, what each row is."""

from hardness.lower.measures import WEIGHTS, Measure, Measures, decimal
from hardness.report.text import item, table, wrap
from hardness.runs.names import brief_spec

_LONG, _ROWS = 14, 12


def measures_words(found: Measures) -> str:
    """Write the table, the weights by degree, and the definitions."""
    header = ["measure", "value", "about", "kind", "source"]
    lines = [
        brief_spec(found.spec),
        "",
        table(header, [_row(m) for m in found.rows]),
        "",
        _weights(found),
        "",
    ]
    lines += [item(_label(m), m.meaning) for m in found.rows]
    lines += [item("share of the variance", WEIGHTS)]
    lines += [item(m.name, f"not defined: {m.reason}") for m in found.rows if m.reason]
    return "\n".join([*lines, "", wrap(f"{found.scope} {_leaps(found)}")])


def shown(value: str) -> str:
    """Write a short integer or rational as it is, and say where a long one stands.

    >>> shown("369/1250"), shown("1" * 44)
    ('369/1250', 'in --json')
    """
    return value if len(value) <= _LONG else "in --json"


def _row(m: Measure) -> list[str]:
    if m.value is None or m.decimal is None:
        return [m.name, "-", "-", "-", m.source]
    if m.kind == "float64":
        return [m.name, "-", m.decimal, m.kind, m.source]
    return [m.name, shown(m.value), "" if m.value == m.decimal else m.decimal, m.kind, m.source]


def _leaps(found: Measures) -> str:
    """Say what the three leaps mean beside one another."""
    of_member = found.member is not None
    second = "SQ-leap" if of_member else "SQ-leap, exact heads"
    leap, exact = (int(found.value(name) or 0) for name in ("leap", second))
    said = (
        f"Its SQ-leap is its leap, {leap}: general statistical queries start at no lower degree "
        "than correlational ones."
        if exact == leap
        else f"Its SQ-leap {exact} is below its leap {leap}: what holds of correlational queries "
        "says nothing about general ones."
    )
    other = "SQ-leap, approximate heads"
    if other not in {row.name for row in found.rows}:
        return said
    approximate = int(found.value(other) or 0)
    if approximate < exact:
        said += (
            f" The same heads without the exact solve have SQ-leap {approximate}: what is "
            "certified of exact heads is not certified of them."
        )
    return said


def _weights(found: Measures) -> str:
    """The degrees with weight: all of them, or the lowest and the highest."""
    rows = [
        [str(k), shown(share), "" if share == "1" else decimal(share)]
        for k, share in enumerate(found.weights)
        if share != "0"
    ]
    if len(rows) > _ROWS:
        rows = [*rows[: _ROWS - 1], ["..", "", ""], rows[-1]]
    return table(["degree", "share of the variance", "about"], rows)


def _label(m: Measure) -> str:
    given = ", ".join(f"{k} = {v}" for k, v in m.parameters.items())
    return f"{m.name} ({given})" if given else m.name
