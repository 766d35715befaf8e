"""Adam against SGD on linear transformers: in words, and as curves, rates and noise tails."""

import math
from statistics import median
from typing import Any

from hardness.icl.noise import LEVELS
from hardness.report.canvas import STYLES
from hardness.report.stages import number
from hardness.report.text import count, table

Data = dict[str, Any]
_TOP = 3.0  # the loss axis ends at this multiple of the loss of predicting 0


def _clipping(data: Data) -> str:
    return "not clipped" if data["clip"] is None else f"clipped to norm {data['clip']:g}"


def optimizers_words(data: Data) -> str:
    """Write the losses by rate, those at the authors' and at the tuned rates, and noise tails."""
    lines = [
        f"{count(data['layers'], 'layer')}, d = {data['d']}, n = {data['n']}: "
        f"{count(data['steps'], 'step')} on batches of {data['batch']} prompts,",
        f"gradients {_clipping(data)}, start N(0, {data['scale']:g}^2); "
        f"predicting 0 loses {data['power']:.4g}",
        "",
        _grid(data),
        "",
        *_ends(data),
    ]
    for name, value in data["references"].items():
        lines.append(f"{name}: {value:.3g}")
    if data["noise"]:
        lines += ["", *_noise(data)]
    return "\n".join(lines)


def _grid(data: Data) -> str:
    """One row a rate: medians over the tuning seeds, with marks."""
    methods = data["methods"]
    rows = []
    for i, tried in enumerate(methods[0]["tried"]):
        row = [f"{tried['rate']:g}"]
        for method in methods:
            cell = method["tried"][i]
            tuned = "*" if cell["rate"] == method["tuned"]["rate"] else ""
            row.append("!" * (cell["diverged"] > 0) + tuned + _median(cell["losses"]))
        rows.append(row)
    seeds = len(methods[0]["tried"][0]["losses"])
    return "\n".join(
        [
            f"Median loss over {seeds} tuning seeds after the last step:",
            table(["rate", *(m["name"] for m in methods)], rows),
            "* the least: the tuned rate; ! some runs ended no better than predicting 0",
        ]
    )


def _ends(data: Data) -> list[str]:
    methods = data["methods"]
    others = count(len(methods[0]["authors"]["losses"]), "other seed")
    lines = [f"Loss at the end on {others}, median (least .. largest):"]
    width = max(len(m["words"]) for m in methods)
    for at, name in (("authors", f"rate {data['authors_rate']:g}"), ("tuned", "tuned")):
        for method in methods:
            shown = method[at]
            where = name if at == "authors" else f"{name} ({shown['rate']:g})"
            lines.append(f"  {where:13} {method['words']:{width}}  {_spread(shown['losses'])}")
        for other, found in data["factors"][at].items():
            ratio = f"{methods[0]['name']} / {other}"
            lines.append(f"  {name:13} {ratio:{width}}  {_spread(found)}")
    worst = max(
        (e / v for m in methods for s in (m["authors"], m["tuned"]) for e, v in _pairs(s)),
        default=0.0,
    )
    lines += [
        f"How known: means over {data['ends']} Gram matrices, w and the query integrated",
        f"exactly; standard errors up to {100 * worst:.2g} % of a loss. Same start and batches for",
        "all methods of a seed.",
    ]
    edge = [m["name"] for m in methods if _at_the_edge(m)]
    if edge:
        lines.append(f"Best at the edge of the rates tried, so maybe beyond: {', '.join(edge)}")
    return [*lines, "", *_rare(methods, width)]


def _at_the_edge(method: Data) -> bool:
    rates = sorted(tried["rate"] for tried in method["tried"])
    return method["tuned"]["rate"] in (rates[0], rates[-1])


def _rare(methods: list[Data], width: int) -> list[str]:
    """Losses by importance sampling, and whether they leave anything of the order above."""
    lines = ["The same by importance sampling, which meets rare prompts:"]
    carried = False
    for at in ("authors", "tuned"):
        for method in methods:
            shown = method[at]
            values = [found["value"] for found in shown["rare"]]
            share = max(found["share"] for found in shown["rare"])
            lines.append(
                f"  {shown['rate']:<13g} {method['words']:{width}}  {_spread(values)}, "
                f"{100 * share:.0f}%"
            )
            pairs = zip(values, shown["losses"], strict=True)
            carried |= any(v is not None and u is not None and v > 1.5 * u for v, u in pairs)
    lines.append("last: the largest share of one sample; near 100%, no more than a sign")
    if carried:
        lines += [
            "Some are far above: there prompts too rare to be drawn carry the mean. The",
            "losses, errors and factors further up then hold for typical prompts alone.",
        ]
    return lines


def _pairs(shown: Data) -> list[tuple[float, float]]:
    return [
        (e, v) for e, v in zip(shown["errors"], shown["losses"], strict=True) if v and e is not None
    ]


def _spread(values: list[float | None]) -> str:
    """Median and range; a loss that overflowed counts as the largest."""
    if None in values:
        finite = [v for v in values if v is not None]
        return f"overflow in {len(values) - len(finite)} of {len(values)}"
    known = [v for v in values if v is not None]
    return f"{median(known):<8.3g} ({min(known):.3g} .. {max(known):.3g})"


def _median(values: list[float | None]) -> str:
    found = median(float("inf") if v is None else v for v in values)
    return ">1e300" if found == float("inf") else number(found)


def _noise(data: Data) -> list[str]:
    rows = [
        [
            where,
            str(found["batch"]),
            f"{found['relative']:.2g}",
            f"{found['quantiles'][2]:.3g}",
            f"{found['gaussian'][2]:.3g}",
            f"{found['kurtosis']:.3g}",
            f"{found['gaussian_kurtosis']:.3g}",
        ]
        for where, found in data["noise"].items()
    ]
    header = ["gradient noise", "batch", "/|mean|", "q99", "Gauss", "kurtosis", "Gauss"]
    draws = next(iter(data["noise"].values()))["draws"]
    return [
        table(header, rows),
        f"Norms of g - mean g over {draws} draws: their median over |mean g|, their",
        f"{LEVELS[2]:g}-quantile over the median, E|.|^4/(E|.|^2)^2; each beside that of Gaussian",
        "noise of the same covariance: heavy tails are what exceeds it.",
    ]


def draw_optimizers(figure: Any, data: Data) -> None:
    """Draw loss curves at .02 and at the tuned rates, losses by rate, and noise tails."""
    panels = figure.subplots(1, 3 if data["noise"] else 2)
    _draw_curves(panels[0], data)
    _draw_rates(panels[1], data)
    if data["noise"]:
        _draw_tails(panels[2], data)
    figure.suptitle(
        f"{count(data['layers'], 'layer')}, d = {data['d']}, n = {data['n']}, "
        f"batches of {data['batch']}, "
        f"{_clipping(data)}; medians and ranges over seeds",
        fontsize=9,
    )


def _draw_curves(axis: Any, data: Data) -> None:
    top = 0.8 * _TOP * data["power"]
    for method, (colour, _) in zip(data["methods"], STYLES, strict=False):
        same = method["tuned"]["rate"] == data["authors_rate"]
        for at, line in (("authors", "-"), *(() if same else (("tuned", "--"),))):
            shown = method[at]
            columns = list(zip(*shown["curves"], strict=True))
            middle = [median(_high(v, data) for v in column) for column in columns]
            label = f"{method['name']}, {shown['rate']:g}" + (
                " (tuned)" if at == "tuned" or same else ""
            )
            lost = [step for step, v in zip(data["at"], middle, strict=True) if v >= top]
            kept = [v if v < top else math.nan for v in middle]
            axis.semilogy(data["at"], kept, color=colour, linestyle=line, label=label)
            axis.plot(lost[:1], [top] * len(lost[:1]), "x", color=colour, markersize=9)
            low = [min(_high(v, data) for v in column) for column in columns]
            high = [max(_high(v, data) for v in column) for column in columns]
            axis.fill_between(data["at"], low, high, color=colour, alpha=0.08, linewidth=0)
    axis.set_ylim(top=_TOP * data["power"])
    axis.set_title("Loss while training")
    axis.set_xlabel("step (a cross: from here on off the axis)")
    axis.set_ylabel("loss on held-out prompts")
    axis.legend(frameon=False, fontsize=8)


def _high(value: float | None, data: Data) -> float:
    """Keep a loss below the top of the axes; null is one that overflowed."""
    top = 0.8 * _TOP * data["power"]
    return top if value is None else min(value, top)


def _draw_rates(axis: Any, data: Data) -> None:
    for method, (colour, mark) in zip(data["methods"], STYLES, strict=False):
        rates = [t["rate"] for t in method["tried"]]
        middle = [median(_high(v, data) for v in t["losses"]) for t in method["tried"]]
        axis.loglog(
            rates,
            middle,
            color=colour,
            marker=mark,
            markersize=4,
            label=f"{method['name']}, tuning seeds",
        )
        axis.plot(
            [r for r, v in zip(rates, middle, strict=True) if v >= data["power"]],
            [v for v in middle if v >= data["power"]],
            color=colour,
            marker="x",
            markersize=9,
            linewidth=0,
        )
        for at, size in (("authors", 6), ("tuned", 11)):
            shown = method[at]
            axis.plot(
                shown["rate"],
                median(_high(v, data) for v in shown["losses"]),
                marker="*" if at == "tuned" else "o",
                markersize=size,
                color="white",
                markeredgecolor=colour,
                zorder=4,
            )
    axis.axvline(data["authors_rate"], color="0.6", linestyle=":", linewidth=1)
    axis.axhline(data["power"], color="0.6", linestyle="--", linewidth=1)
    for name, value in data["references"].items():
        axis.axhline(value, color="0.4", linestyle="-.", linewidth=1)
        axis.text(data["authors_rate"], value, f" {name}", va="bottom", fontsize=7, color="0.4")
    axis.set_ylim(top=_TOP * data["power"])
    axis.set_title(f"Loss after {data['steps']} steps, by rate")
    axis.set_xlabel("learning rate (dotted: that of ACSYJS24)")
    axis.set_ylabel("loss on drawn prompts; crosses: worse than 0")
    star = {"color": "white", "markeredgecolor": "0.3", "markersize": 11}
    axis.plot([], [], "*", label="tuned, other seeds", **star)
    axis.legend(frameon=False, fontsize=7, loc="upper left", bbox_to_anchor=(0, 0.9))


def _draw_tails(axis: Any, data: Data) -> None:
    for (where, found), (colour, _) in zip(data["noise"].items(), STYLES[2:], strict=False):
        label = f"{where}, batch {found['batch']}" if found["batch"] > 1 else where
        axis.loglog(found["ratios"], found["shares"], color=colour, label=label)
        axis.loglog(
            found["gaussian_ratios"], found["shares"], color=colour, linestyle=":", linewidth=1
        )
    axis.set_ylim(bottom=1 / max(f["draws"] for f in data["noise"].values()))
    axis.set_xlim(left=0.8)
    axis.xaxis.set_minor_formatter("")
    axis.set_title("Gradient noise (dotted: Gaussian)")
    axis.set_xlabel("norm of the noise over its median")
    axis.set_ylabel("share of draws above")
    axis.legend(frameon=False, fontsize=7)
