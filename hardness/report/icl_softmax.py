"""Softmax against linear attention on in-context regression: in words, and as bars."""

from typing import Any

from hardness.icl.softmax_study import OUTPUTS
from hardness.report.canvas import STYLES
from hardness.report.text import table

Data = dict[str, Any]
_BLACK, _GREY = STYLES[6][0], "#777777"
_COLOURS = dict(zip(OUTPUTS, (STYLES[1][0], STYLES[4][0], STYLES[0][0]), strict=True))
_SAID = {"1/n": "output / n", "1": "output as it is", "free": "output of free scale"}
_PAPER = {"facecolor": "white", "edgecolor": "none", "pad": 0.4}
_LIMITS = {"linear": "-", "two heads, limit": "--", "one head, limit": ":"}


def softmax_words(data: Data) -> str:
    """Write the losses as a table, with how each is known, and what the limits mean."""
    lines = [
        f"in-context regression, n={data['n']} points, d={data['d']}, noise {data['noise']:g}, "
        f"seed {data['seed']}: loss",
        "",
        table(["model", "layers", "output", "free", "loss", "known"], _rows(data)),
        "",
        *_NOTES,
    ]
    lines += _shortfalls(data)
    return "\n".join(lines)


_NOTES = (
    "output  1/n: divided by n, which linear attention needs; softmax weights sum",
    "        to 1 already: the unfair comparison. 1: not divided. free: a trained",
    "        factor for every head.",
    "free    free parameters: all matrices, or (c I) multiples of the identity.",
    "+-      standard error on fresh prompts, w and noise integrated exactly, with",
    "        losses of linear layers of known means as control variates.",
    "limits  of free scale, as Theta tends to 0: two opposite heads become linear",
    "        attention on centred points, which is that of n - 1 points; one head",
    "        may centre in its first layer and be linear in the others. They bound",
    "        the infimum from above: training may end below or, by its fault, above.",
    "        With several layers a part of the loss may sit on prompts too rare to be",
    "        drawn, as it does for linear ones: losses hold for typical prompts.",
)


def _rows(data: Data) -> list[list[str]]:
    rows = _reference_rows(data, 0)
    for depth in sorted({t["layers"] for t in data["trained"]}):
        rows += _reference_rows(data, depth)
        for t in (t for t in data["trained"] if t["layers"] == depth):
            name = f"softmax, {t['heads']} head{'s' * (t['heads'] > 1)}"
            for free, kind, found in (
                (t["parameters"], "", t["loss"]),
                (t["scalar_parameters"], ", c I", t["scalar_loss"]),
            ):
                loss = _number(found["loss"], found["error"])
                rows.append([name + kind, str(depth), t["output"], str(free), loss, "trained"])
    return rows


def _reference_rows(data: Data, depth: int) -> list[list[str]]:
    return [
        [r["name"], str(depth or "-"), "-", "-", _number(r["loss"], r["error"]), r["known"]]
        for r in data["references"]
        if r["layers"] == depth
    ]


def _number(loss: float, error: float) -> str:
    """Write a loss and its standard error to the same digits.

    >>> _number(1.2, 0.0), _number(0.03764, 0.00033), _number(0.0, 0.0)
    ('1.2', '0.0376 +- 0.0003', '0')
    """
    if not error:
        return f"{loss:.5g}"
    digits = max(0, -int(f"{error:.0e}".partition("e")[2]))
    return f"{loss:.{digits}f} +- {error:.{digits}f}"


def _shortfalls(data: Data) -> list[str]:
    """Say where training ended more than two standard errors above a known infimum."""
    said = []
    for t in data["trained"]:
        if t["output"] != "free":
            continue
        loss, error = _best(t)
        bound = limit_of(data, t)
        if bound is not None and loss > bound + 2 * error:
            said.append(
                f"        {t['layers']} layers, {t['heads']} heads: training ended "
                f"{loss / bound - 1:.1%} above its limit."
            )
    return said


def limit_of(data: Data, trained: Data) -> float | None:
    """Return the least limit that a softmax model of free scale is known to reach."""
    names = ["one head, limit"] + ["two heads, limit"] * (trained["heads"] > 1)
    found = [
        r["loss"]
        for r in data["references"]
        if r["layers"] == trained["layers"] and r["name"] in names
    ]
    return min(found, default=None)


def draw_softmax(figure: Any, data: Data) -> None:
    """Draw a panel of bars for every number of layers, with the linear losses as lines."""
    depths = sorted({t["layers"] for t in data["trained"]})
    axes = figure.subplots(1, len(depths), squeeze=False)[0]
    for axis, depth in zip(axes, depths, strict=True):
        _bars(axis, data, depth)
        _levels(axis, data, depth)
    axes[0].legend(frameon=False, fontsize=8, loc="lower left", bbox_to_anchor=(0, 1.1), ncols=3)
    title = f"n = {data['n']}, d = {data['d']}, noise {data['noise']:g}, seed {data['seed']}"
    figure.suptitle(f"In-context regression, softmax attention: {title}", fontsize=9)


def _best(trained: Data) -> tuple[float, float]:
    both = [trained["loss"], trained["scalar_loss"]]
    found = min(both, key=lambda estimate: estimate["loss"])
    return found["loss"], found["error"]


def _bars(axis: Any, data: Data, depth: int) -> None:
    chosen = [t for t in data["trained"] if t["layers"] == depth]
    heads = sorted({t["heads"] for t in chosen})
    outputs = [o for o in OUTPUTS if any(t["output"] == o for t in chosen)]
    width = 0.8 / len(outputs)
    for t in chosen:
        place = heads.index(t["heads"]) + (outputs.index(t["output"]) + 0.5) * width - 0.4
        loss, error = _best(t)
        label = _SAID[t["output"]] if t["heads"] == heads[0] else None
        axis.bar(place, loss, 0.92 * width, color=_COLOURS[t["output"]], label=label)
        axis.errorbar(place, loss, yerr=2 * error, color=_BLACK, linewidth=1, capsize=3)
        axis.annotate(
            f"{loss:.2g}",
            (place, loss + 2 * error),
            (0, 2),
            textcoords="offset points",
            ha="center",
            fontsize=8,
            bbox=_PAPER,
        )
    axis.set_xticks(range(len(heads)), [f"{h} head{'s' * (h > 1)}" for h in heads])
    axis.set_title(f"{depth} layer{'s' * (depth > 1)}")
    axis.set_ylabel("loss, E (prediction - <w, x>)²")
    losses = [_best(t)[0] for t in chosen]
    if max(losses) > 20 * min(losses):
        axis.set_yscale("log")
        axis.set_ylim(0.4 * min(losses), 3 * max(losses))
    else:
        axis.set_ylim(0, 1.2 * max(losses))


def _levels(axis: Any, data: Data, depth: int) -> None:
    """Lines of the linear layers and the limits, and the Bayes loss where it shows."""
    low = axis.get_ylim()[0]
    levels = [
        (r["loss"], f"{r['name']}: {r['loss']:.3g}", _LIMITS.get(r["name"], "-."))
        for r in data["references"]
        if r["layers"] in (0, depth) and (r["loss"] > low or r["layers"] == depth)
    ]
    top = axis.get_ylim()[1]
    levels = sorted((level for level in levels if level[0] < top), key=lambda level: level[0])
    axis.set_ylim(min([low, *(0.5 * loss for loss, _, _ in levels)]), top)
    scale = axis.transScale  # labels that would touch are moved apart on the axis as it is drawn
    shown = -1.0
    for loss, text, style in levels:
        axis.axhline(loss, color=_BLACK if style == "-" else _GREY, linestyle=style, linewidth=1)
        bottom, end = (scale.transform((0.5, v))[1] for v in axis.get_ylim())
        height = (scale.transform((0.5, loss))[1] - bottom) / (end - bottom)
        shown = max(height, shown + 0.06)
        axis.text(
            1.02,
            shown,
            text,
            transform=axis.transAxes,
            va="center",
            fontsize=8,
        )
