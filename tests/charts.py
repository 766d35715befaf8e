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


def panels_of(picture):
    """Give the panels of a picture, with the rows that stand in it once in each of their layers."""
    held = picture.get("datasets", {})

    def filled(part):
        if isinstance(part, list):
            return [filled(one) for one in part]
        if not isinstance(part, dict):
            return part
        if part.get("name") in held and len(part) == 1:
            return {"values": held[part["name"]]}
        return {key: filled(one) for key, one in part.items()}

    return filled(picture["concat"])


def rows_of(chart):
    """Give the rows of all layers of a picture or of its panels, each once."""
    found = []
    whole = isinstance(chart, dict) and "concat" in chart
    for rows in _rows_of(panels_of(chart) if whole else chart):
        found += [] if rows in found else [rows]
    return [row for rows in found for row in rows]


def _rows_of(chart):
    if isinstance(chart, list):
        return [rows for one in chart for rows in _rows_of(one)]
    if not isinstance(chart, dict):
        return []
    own = chart.get("data", {}).get("values")
    rest = [one for key, one in chart.items() if key != "data"]
    return [*([own] if own else []), *(rows for one in rest for rows in _rows_of(one))]
