"""One layer of linear attention: its optimum and the evidence in words, and as a figure."""

from typing import Any

from hardness.report.canvas import STYLES
from hardness.report.text import table

Data = dict[str, Any]
_BLUE, _ORANGE, _GREEN, _PINK = (colour for colour, _ in STYLES[:4])
_LONG = 24  # characters of a fraction that is still worth reading


def optimum_words(data: Data) -> str:
    """Write the optimum of one layer, the evidence for it, and its landscape."""
    lines = [
        f"prompts     d={data['d']}, n={data['n']}, label noise {data['noise']:g}",
        f"optimum     L* = {data['least']:.10g}{_exact(data)}",
        f"            predicting 0 loses {data['power']:.6g}",
        f"layer       {_step(data)}",
        "",
        table(["evidence", "value", "how it is known"], _evidence(data)),
        "",
        "landscape   all parameters of the layer, b and A; the least loss is L* [ACDS23]",
        *[f"            {line}" for line in _landscape(data)],
    ]
    return "\n".join(lines)


def _exact(data: Data) -> str:
    found = data["exact"]
    if found is None or len(found) > _LONG:
        return " (closed form, float64)"
    return f" = {found} (exact)" if "/" in found else " (exact)"


def _step(data: Data) -> str:
    multiplier = data["exact_multiplier"]
    if multiplier is not None and len(multiplier) <= _LONG:
        return f"A* = {multiplier} sigma^-1 (exact): one preconditioned gradient step"
    found = [each["multiplier"] for each in data["directions"]]
    text = f"A* sigma is {min(found):.4g} to {max(found):.4g} over sigma's eigendirections"
    if data["turned"]:
        return f"{text},\n            {100 * data['turned']:.2g} % of A* off them"
    return text


def _evidence(data: Data) -> list[list[str]]:
    minimum, given, raw = data["numerical"], data["integrated"], data["raw"]
    here = next(each for each in data["curve"] if each["n"] == data["n"])["bayes"]
    known = "exact: n >= d, no noise" if not here["mean"] else f"{here['samples']} prompts"
    return [
        ["gradient at A*", f"{data['gradient']:.1e}", "closed form, largest entry"],
        ["minimum found - L*", f"{minimum['difference']:.1e}", f"L-BFGS, {minimum['steps']} steps"],
        ["Monte Carlo given S", _interval(given), f"{given['samples']} prompts, {_z(given)}"],
        ["raw prompts", _interval(raw), f"{_z(raw)}, kurtosis {raw['kurtosis']:.0f} (normal 3)"],
        ["Bayes, same prompt", _interval(here) if here["mean"] else "0", known],
    ]


def _interval(sampled: Data) -> str:
    return f"{sampled['mean']:.5g} +- {sampled['error']:.1g}"


def _z(sampled: Data) -> str:
    return "no spread" if sampled["z"] is None else f"z = {sampled['z']:+.2f}"


def _landscape(data: Data) -> list[str]:
    margin = data["rank_one"]["margin"]
    kind = "local minimum" if margin > 0 else "saddle" if margin < 0 else "degenerate point"
    lines = [f"best layer of rank one: loss {data['rank_one']['loss']:.6g}, a {kind}"]
    spurious = _spurious(data)
    lines += [
        f"spurious local minimum, loss {p['loss']:.6g}: no negative curvature, {p['flat']} flat"
        for p in spurious[:3]
    ]
    if data["d"] > 16:
        lines.append("other stationary points: judged up to d = 16 only")
    elif not spurious:
        lines.append(f"no spurious local minimum {_searched(data)}")
    ends = data["ends"]
    if ends is None:
        return [*lines, "random starts: run up to d = 8 only"]
    count = sum(each["count"] for each in ends["spurious"])
    where = f"{ends['optimal']} end at L*"
    if spurious:
        where += f", {count} at spurious minima"
    elsewhere = ends["starts"] - ends["optimal"] - count
    if elsewhere:
        where += f", {elsewhere} elsewhere ({ends['moving']} not converged)"
    return [
        *lines,
        f"{ends['starts']} random starts (BFGS, scale {ends['scale']:g}):",
        f"  {where}",
    ]


def _searched(data: Data) -> str:
    """Say what no spurious minimum stands on; in d = 1 the one dip is the optimum once more."""
    if data["dips"] is None:
        return "on the curves searched"
    if data["dips"] > (data["d"] == 1):
        return f"found in float64, but an exact root count has {data['dips']}"
    return "at all: exact root count"


def _spurious(data: Data) -> list[Data]:
    floor = data["least"] + 1e-9 * data["power"]
    return [p for p in data["stationary"] if p["minimum"] and p["loss"] > floor]


def draw_optimum(figure: Any, data: Data) -> None:
    """Draw loss against n, the step in each eigendirection, and where random starts end."""
    left, middle, right = figure.subplots(1, 3)
    _lengths(left, data)
    _multipliers(middle, data)
    _ends(right, data)
    noise = f", label noise {data['noise']:g}" if data["noise"] else ""
    figure.suptitle(f"One layer of linear attention, d={data['d']}, n={data['n']}{noise}")


def _lengths(axis: Any, data: Data) -> None:
    axis.set_title("Least loss against prompt length")
    lengths = [each["n"] for each in data["curve"]]
    axis.axhline(data["power"], color="0.5", linestyle=":", label="predicting 0")
    layer = [each["layer"] for each in data["curve"]]
    axis.plot(lengths, layer, color=_BLUE, label="one layer, L*: closed form")
    given = data["integrated"]
    axis.errorbar(
        [data["n"]],
        [given["mean"]],
        [4 * given["error"]],
        color=_BLUE,
        marker="o",
        markersize=5,
        capsize=3,
        linewidth=1,
        label="Monte Carlo at A*, 4 s.e.",
    )
    shown = [each for each in data["curve"] if each["bayes"]["mean"] > 1e-9 * data["power"]]
    if shown:
        axis.errorbar(
            [each["n"] for each in shown],
            [each["bayes"]["mean"] for each in shown],
            [4 * each["bayes"]["error"] for each in shown],
            color=_ORANGE,
            marker="s",
            markersize=4,
            capsize=3,
            linewidth=1,
            label="Bayes, ridge: Monte Carlo, 4 s.e.",
        )
    axis.set_xscale("log")
    axis.set_yscale("log")
    if len(shown) < len(lengths):
        first = next(each["n"] for each in data["curve"] if each not in shown)
        axis.text(
            0.97,
            0.03,
            f"without noise Bayes\nloses 0 from n = d on\n(here n = {first})",
            color=_ORANGE,
            fontsize=8,
            ha="right",
            transform=axis.transAxes,
        )
    lowest = min([*layer, *[each["bayes"]["mean"] for each in shown]])
    axis.set_ylim(lowest / 6, data["power"] * 100)
    axis.set_xlabel("number n of labelled points in the prompt")
    axis.set_ylabel("expected squared error")
    axis.legend(frameon=False, fontsize=8, loc="upper right")


def _multipliers(axis: Any, data: Data) -> None:
    axis.set_title("The step in each eigendirection")
    values = [each["eigenvalue"] for each in data["directions"]]
    steps = [each["multiplier"] for each in data["directions"]]
    limit = data["n"] / (data["n"] + 1)
    axis.axhline(1, color="0.5", linestyle=":", label="sigma^-1: a full Newton step")
    axis.axhline(limit, color=_GREEN, linestyle="--", linewidth=1, label="n / (n + 1)")
    axis.semilogx(
        values,
        steps,
        color=_BLUE,
        marker="o",
        markersize=5 if len(values) <= 32 else 3,
        linewidth=0,
        label="optimal layer A*",
    )
    room = 3 if max(values) > 4 * min(values) else 12  # so that ticks do not overlap
    axis.set_xlim(min(values) / room, max(values) * room)
    axis.set_ylim(0, 1.5)
    axis.set_xlabel("eigenvalue of sigma")
    axis.set_ylabel("multiplier of A* times the eigenvalue")
    axis.legend(frameon=False, fontsize=8, loc="upper left")


def _ends(axis: Any, data: Data) -> None:
    axis.set_title("Where training of b and A ends")
    found = data["ends"]
    if found is None:
        axis.set_axis_off()
        axis.text(0.5, 0.5, "random starts are run up to d = 8", ha="center", va="center")
        return
    low, high = data["least"], 1.02 * data["power"]  # nothing ends below L*, but for rounding
    axis.hist(
        [min(max(loss, low), high) for loss in found["losses"]],
        bins=[low + (high - low) * i / 40 for i in range(41)],
        color=_BLUE,
        alpha=0.6,
        label=f"{found['starts']} random starts",
    )
    top = found["starts"]  # lines end below the legend
    axis.vlines(data["least"], 0, top, color=_GREEN, label="L*, global minimum")
    spurious = _spurious(data)
    if spurious:
        places = [point["loss"] for point in spurious]
        label = "spurious local minimum"
        axis.vlines(places, 0, top, color=_ORANGE, linestyle="--", label=label)
    rank_one = data["rank_one"]
    if rank_one["margin"] < 0:
        axis.vlines(rank_one["loss"], 0, top, color=_PINK, linestyle=":", label="rank one: saddle")
    axis.vlines(data["power"], 0, top, color="0.5", linestyle=":", label="predicting 0")
    axis.set_xlim(low - 0.02 * high, high)
    axis.set_ylim(0, 1.6 * top)
    axis.set_xlabel("loss at the end")
    axis.set_ylabel("number of random starts")
    axis.legend(frameon=False, fontsize=8, loc="upper right")
