"""A figure's SVG cut into panels: small, coloured by the page, no id met twice."""

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from xml.etree.ElementTree import Element, fromstring, tostring

from hardness.report.styles import COLOURS

_LINK = "{http://www.w3.org/1999/xlink}href"
_LONG = re.compile(r"-?\d+\.\d{2,}")
_POINTS_AT = re.compile(r"url\(#([^)]*)\)")
_GREY = re.compile(r"#([0-9a-f]{2})\1\1", re.IGNORECASE)
_MOVE = re.compile(r"translate\((-?[\d.]+)[ ,](-?[\d.]+)\)")
_TURN = re.compile(r"rotate\((-?[\d.]+)")
_SIZE = re.compile(r"font-size:([\d.]+)")
_LETTER = 0.58  # the width of a letter over its height: that of wide letters without serifs
_MARGIN = 3.0
_OWN = tuple(colour.lower() for colour in COLOURS)


@dataclass(frozen=True, kw_only=True)
class Box:
    """What is seen of a figure, in points from its upper left corner."""

    left: float
    top: float
    width: float
    height: float


def parts(svg: bytes, frames: dict[str, Box], key: str, series: str) -> list[tuple[Box, str]]:
    """Cut the groups of these gids out of a figure, each with what it refers to and its box.

    frames: what their axes take; the names and numbers about them are added. key: begins every id.
    series: begins the gid of a series, before its number.
    """
    root = fromstring(svg)
    _plain(root)
    targets = {e.get("id"): e for e in root.iter() if e.get("id")}
    found = []
    for i, (gid, frame) in enumerate(frames.items()):
        groups = [e for e in root.iter("g") if e.get("id") == gid]
        box = _around(frame, groups)
        found.append((box, _part(groups, box, f"{key}-{i}-", series, targets)))
    return found


def _around(frame: Box, groups: list[Element]) -> Box:
    """The box of axes with their text, as wide as letters of a page may be."""
    left, top = frame.left, frame.top
    right, bottom = left + frame.width, top + frame.height
    for group in groups:
        for x0, y0, x1, y1 in _texts(group, 0.0, 0.0, 0.0):
            left, top, right, bottom = min(left, x0), min(top, y0), max(right, x1), max(bottom, y1)
    return Box(
        left=left - _MARGIN,
        top=top - _MARGIN,
        width=right - left + 2 * _MARGIN,
        height=bottom - top + 2 * _MARGIN,
    )


def _texts(
    element: Element, x: float, y: float, turn: float
) -> Iterator[tuple[float, float, float, float]]:
    """The boxes of all text in a group that stands at x, y and is turned by so many degrees."""
    moved = element.get("transform", "")
    if found := _MOVE.search(moved):
        x, y = x + float(found[1]), y + float(found[2])
    if found := _TURN.search(moved):
        turn += float(found[1])
    if element.tag != "text":
        for child in element:
            yield from _texts(child, x, y, turn)
        return
    style = element.get("style", "") + "".join(e.get("style", "") for e in element)
    size = max((float(v) for v in _SIZE.findall(style)), default=9.0)
    letters = len("".join(element.itertext()).strip())
    x, y = x + float(element.get("x", 0)), y + float(element.get("y", 0))
    long = _LETTER * size * letters
    begin = {"middle": -long / 2, "end": -long}.get(
        style.partition("text-anchor:")[2].partition(";")[0], 0.0
    )
    angle = math.radians(turn)
    corners = [
        (
            x + along * math.cos(angle) - down * math.sin(angle),
            y + along * math.sin(angle) + down * math.cos(angle),
        )
        for along in (begin, begin + long)
        for down in (-0.8 * size, 0.25 * size)
    ]
    across, deep = zip(*corners, strict=True)
    yield min(across), min(deep), max(across), max(deep)


def _plain(root: Element) -> None:
    """Take namespaces, needless digits, fonts and colours of the ink out of all elements."""
    for element in root.iter():
        element.tag = element.tag.rpartition("}")[2]
        if element.tag != "text" and element.tag != "tspan":
            element.text = None
        element.tail = None
        link = element.attrib.pop(_LINK, None)
        if link:
            element.set("href", link)
        for name in ("d", "x", "y", "width", "height"):
            if name in element.attrib:
                element.set(name, _shorter(element.attrib[name]))
        moved = element.attrib.get("transform", "")
        if moved.startswith("rotate(-0 "):
            del element.attrib["transform"]
        elif moved and "scale" not in moved and "matrix" not in moved:
            element.set("transform", _shorter(moved))
        if "style" in element.attrib:
            element.set("style", _style(element.attrib["style"]))


def _shorter(numbers: str) -> str:
    text = _LONG.sub(lambda found: f"{round(float(found[0]), 1):g}", numbers)
    return " ".join(text.split())


def _style(text: str) -> str:
    """Let the page choose ink and letters: greys become its ink, thinned."""
    told = dict(part.strip().split(": ", 1) for part in text.split(";") if ": " in part)
    for name in ("fill", "stroke"):
        grey = _GREY.fullmatch(told.get(name, ""))
        if not grey or grey[0].lower() in _OWN:
            continue
        light = int(grey[1], 16) / 255
        if light > 0.995:
            told[name] = "var(--paper, #fff)"
            continue
        told[name] = "currentColor"
        thin = (1 - light) * float(told.get(f"{name}-opacity", 1))
        if thin < 0.995:
            told[f"{name}-opacity"] = f"{thin:.2g}"
    told.pop("font-family", None)
    return ";".join(f"{name}:{value}" for name, value in told.items())


def _part(
    groups: list[Element], box: Box, begin: str, series: str, targets: dict[Any, Element]
) -> str:
    needed: dict[str, str] = {}  # old id -> new id
    inside = {e.get("id") for group in groups for e in group.iter() if e.get("id")}
    waiting = list(groups)
    beside: list[Element] = []
    while waiting:
        for name in _references(waiting.pop()):
            if name in needed or name not in targets:
                continue
            needed[name] = f"{begin}{len(needed)}"
            if name not in inside:
                beside.append(targets[name])
                waiting.append(targets[name])
    top = Element("svg", xmlns="http://www.w3.org/2000/svg", fill="currentColor")
    top.set("viewBox", f"0 0 {box.width:.2f} {box.height:.2f}")
    moved = Element("g", transform=f"translate({-box.left:.2f} {-box.top:.2f})")
    top.append(moved)
    if beside:
        defs = Element("defs")
        defs.extend(_copy(element, needed, series) for element in beside)
        moved.append(defs)
    moved.extend(_copy(group, needed, series) for group in groups)
    return tostring(top, encoding="unicode")


def _references(element: Element) -> Iterator[str]:
    for one in element.iter():
        for name, value in one.attrib.items():
            if name == "href" and value.startswith("#"):
                yield value.removeprefix("#")
            elif "url(#" in value:
                yield from _POINTS_AT.findall(value)


def _copy(element: Element, needed: dict[str, str], series: str) -> Element:
    made = Element(element.tag)
    for name, value in element.attrib.items():
        if name == "id":
            if value in needed:
                made.set("id", needed[value])
            elif value.startswith(series):
                made.set("class", "series")
                made.set("data-series", value.removeprefix(series))
        elif name == "href" and value.startswith("#"):
            made.set(name, f"#{needed[value.removeprefix('#')]}")
        elif "url(#" in value:
            made.set(name, _POINTS_AT.sub(lambda found: f"url(#{needed[found[1]]})", value))
        else:
            made.set(name, value)
    made.text = element.text
    for child in element:
        part = _copy(child, needed, series)
        if part.tag == "g" and not part.attrib:
            made.extend(part)
        elif part.tag != "g" or len(part):
            made.append(part)
    return made
