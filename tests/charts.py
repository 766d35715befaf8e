"""What drawn figures say, and the rows that they are drawn from."""

from xml.etree import ElementTree

from hardness.report.figures import draw


def texts(svg):
    """Give the texts of a picture, in order."""
    root = ElementTree.fromstring(svg)
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    return [line for e in root.iter("{http://www.w3.org/2000/svg}text") for line in e.itertext()]


def said(name, data):
    """Draw a figure as svg, and give all its texts in one line."""
    return " | ".join(texts(draw(name, data)))


def rows_of(chart):
    """Give the rows of all layers of a chart, each once."""
    return [row for rows in _rows_of(chart) for row in rows]


def _rows_of(chart):
    if isinstance(chart, list):
        return [rows for one in chart for rows in _rows_of(one)]
    if not isinstance(chart, dict):
        return []
    own = chart.get("data", {}).get("values")
    kept = [*([own] if own else []), *chart.get("datasets", {}).values()]
    rest = [one for key, one in chart.items() if key not in ("data", "datasets")]
    return [*kept, *(rows for one in rest for rows in _rows_of(one))]
