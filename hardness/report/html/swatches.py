"""Swatches: a learner's colour and mark as a small picture, beside its name."""

from markupsafe import Markup

from hardness.report.styles import Style

# matplotlib's marks in a box of 12 by 12.
_MARKS = {
    "o": '<circle cx="6" cy="6" r="4.2"/>',
    "s": '<path d="M2.2 2.2h7.6v7.6H2.2Z"/>',
    "^": '<path d="M6 1.6 10.6 10H1.4Z"/>',
    "v": '<path d="M6 10.4 10.6 2H1.4Z"/>',
    "<": '<path d="M1.6 6 10 1.4v9.2Z"/>',
    ">": '<path d="M10.4 6 2 1.4v9.2Z"/>',
    "D": '<path d="M6 .9 11.1 6 6 11.1.9 6Z"/>',
    "d": '<path d="M6 .9 9 6 6 11.1 3 6Z"/>',
    "P": '<path d="M4.3 1.4h3.4v2.9h2.9v3.4H7.7v2.9H4.3V7.7H1.4V4.3h2.9Z"/>',
    "X": '<path d="M3.4 1.2 6 3.8 8.6 1.2l2.2 2.2L8.2 6l2.6 2.6-2.2 2.2L6 8.2l-2.6 2.6-2.2-2.2'
    'L3.8 6 1.2 3.4Z"/>',
    "p": '<path d="M6 1.2 11 4.9 9.1 10.8H2.9L1 4.9Z"/>',
    "h": '<path d="M6 1 10.4 3.5v5L6 11 1.6 8.5v-5Z"/>',
    "*": '<path d="M6 .8 7.3 4.6 11.3 4.6 8.1 7 9.3 10.8 6 8.5 2.7 10.8 3.9 7 .7 4.6 4.7 4.6Z"/>',
}
_DASHES = {"-": "none", "--": "4 2", "-.": "5 2 1 2", ":": "1.5 2"}


def swatch(colour: str, mark: str, line: str) -> Markup:
    """Draw a legend's line and mark, as matplotlib names them; both empty stand for an area.

    >>> swatch("#0072B2", "o", "").count("circle"), swatch("#0072B2", "", "").count("rect")
    (1, 1)
    """
    drawn = Markup()
    if line in _DASHES:
        drawn += Markup(
            '<path d="M0 6h24" fill="none" stroke="{}" stroke-width="1.8" stroke-dasharray="{}"/>'
        ).format(colour, _DASHES[line])
    if mark:
        shape = Markup(_MARKS.get(mark, _MARKS["o"]))
        drawn += Markup('<g transform="translate(6)" fill="{}">{}</g>').format(colour, shape)
    if not drawn and colour == "currentColor":
        drawn = Markup(
            '<path d="M3 11 9 1M9 11 15 1M15 11 21 1" stroke="#B0590A" stroke-width="2"/>'
        )
    elif not drawn:
        area = '<rect x="3" y="1" width="18" height="10" fill="{}" stroke="currentColor"/>'
        drawn = Markup(area).format(colour)
    return Markup('<svg class="swatch" viewBox="0 0 24 12" aria-hidden="true">{}</svg>').format(
        drawn
    )


def mark_of(style: Style) -> Markup:
    """Draw the mark of a learner alone, for a table."""
    return Markup(
        '<svg class="swatch mark" viewBox="0 0 12 12" aria-hidden="true" fill="{}">{}</svg>'
    ).format(style.colour, Markup(_MARKS[style.mark]))
