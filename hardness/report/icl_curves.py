"""The loss of linear attention against the number of layers: a table, and a figure."""

from math import floor, log10
from typing import Any

from hardness.report.canvas import STYLES
from hardness.report.text import table

Data = dict[str, Any]
_NAMES = ("one step size", "optimal steps", "GD++ scalars", "trained, P = 0", "trained P, Q")
_LOOKS = {
    "one step size": (STYLES[5], ":"),
    "optimal steps": (STYLES[0], "-"),
    "GD++ scalars": (STYLES[1], "-"),
    "trained, P = 0": (STYLES[2], "none"),
    "trained P, Q": (STYLES[3], "none"),
}


def curves_words(data: Data) -> str:
    """Write the losses by depth, and how each is known."""
    depths = sorted({point["layers"] for point in data["points"]})
    found = {(point["name"], point["layers"]): point for point in data["points"]}
    rows = [
        [name, *(_cell(found[name, depth]) for depth in depths)]
        for name in _NAMES
        if (name, depths[0]) in found
    ]
    lines = [
        f"d = {data['d']}, n = {data['n']}, noise {data['noise']:g}; who predicts 0 loses "
        f"{data['power']:.5g}",
        "",
        table(["loss by number of layers", *(f"L = {depth}" for depth in depths)], rows),
        "",
    ]
    if any(point["name"] == "optimal steps" for point in data["points"]):
        lines += [
            "steps: exact moments of the Wishart spectrum, rational arithmetic; GD++ scalars:",
            "the best minimum a search found, its loss exact.",
        ]
    else:
        lines += ["no reference: the scalar curves are exact for task = sigma^-1 alone."]
    last = {point["name"]: point["method"] for point in data["points"] if point["rare"]}
    lines += [
        "trained: full matrices from a small random start; in brackets the standard error",
        "in the last digits.",
    ]
    lines += [f"{name}: {method}" for name, method in last.items()]
    lines += [
        "",
        table(
            ["largest distance of a Q to a multiple of I", *(f"L = {d}" for d in depths)],
            [
                [name, *(f"{found[name, depth]['distance']:.3f}" for depth in depths)]
                for name in _NAMES[3:]
            ],
        ),
        "",
        "Rare prompts may carry the mean where points move: importance sampling with",
        "stretched points, and the share of the heaviest sample (near 100%: no more",
        "than a sign that it is large).",
        table(
            ["loss with rare prompts", *(f"L = {d}" for d in depths)],
            [[name, *(_rare(found[name, d]["rare"]) for d in depths)] for name in _NAMES[3:]],
        ),
    ]
    return "\n".join(lines)


def _cell(point: Data) -> str:
    if point["error"] is None:
        return f"{point['loss']:.4g}"
    return with_error(point["loss"], point["error"])


def _rare(found: Data) -> str:
    return f"{found['value']:.3g} {100 * found['share']:.0f}%"


def with_error(value: float, error: float) -> str:
    """Write a value with its standard error, one digit, in brackets.

    >>> with_error(0.13361, 0.00027), with_error(1.1e-5, 2.4e-7), with_error(1.5, 0.0)
    ('0.1336(3)', '1.10(2)e-05', '1.5')
    """
    if not error > 0 or not value > error:
        return f"{value:.4g}"
    power = floor(log10(value)) if value < 1e-3 else 0
    digit, size = f"{error:.0e}".split("e")
    digits = max(0, power - int(size))
    shown = digit if digits else f"{error:.0f}"
    return f"{value / 10.0**power:.{digits}f}({shown})" + (f"e{power:03d}" if power else "")


def draw_curves(figure: Any, data: Data) -> None:
    """Draw the loss against the number of layers, sampled ones with intervals of 99 %."""
    axis = figure.subplots()
    for name in _NAMES:
        points = [point for point in data["points"] if point["name"] == name]
        if not points:
            continue
        (colour, mark), line = _LOOKS[name]
        layers = [point["layers"] for point in points]
        losses = [point["loss"] for point in points]
        exact = points[0]["error"] is None
        axis.errorbar(
            layers,
            losses,
            yerr=None if exact else _bars(points),
            color=colour,
            marker=mark,
            markersize=4 if exact else 7,
            markerfacecolor=colour if exact else "none",
            linestyle=line,
            linewidth=1.3,
            capsize=3,
            label=name + (", exact" if exact else ", fresh samples"),
        )
    top = 2 * max(p["loss"] for p in data["points"])
    carried = [p for p in data["points"] if p["rare"] and p["rare"]["value"] > 2 * p["loss"]]
    highest = top
    for p in carried:
        place = min(p["rare"]["value"], max(top / 400, 3 * p["loss"]))  # above its point
        highest = max(highest, 4 * place)
        axis.annotate(
            f"with rare prompts:\n{p['rare']['value']:.1g}",
            (p["layers"], p["loss"]),
            (p["layers"], place),
            arrowprops={"arrowstyle": "<-", "color": STYLES[3][0], "linewidth": 0.8},
            color=STYLES[3][0],
            fontsize=8,
            ha="center",
        )
    axis.set_yscale("log")
    axis.set_ylim(min(p["loss"] for p in data["points"]) / 3, highest)
    axis.set_xticks(sorted({point["layers"] for point in data["points"]}))
    axis.set_xlabel("number of layers")
    axis.set_ylabel("mean squared error")
    axis.set_title(
        f"Loss of linear attention by layers: d = {data['d']}, n = {data['n']}, "
        f"noise {data['noise']:g}",
        fontsize=9,
    )
    axis.legend(frameon=False, fontsize=8, loc="best")


def _bars(points: list[Data]) -> list[list[float]]:
    low = [min(p["loss"] - p["interval"][0], 0.999 * p["loss"]) for p in points]
    return [low, [p["interval"][1] - p["loss"] for p in points]]
