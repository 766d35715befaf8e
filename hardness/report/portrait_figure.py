"""The drawing of a family's portrait: two panels, from its numbers alone."""

from itertools import pairwise
from typing import Any

from hardness.report.canvas import STYLES

Data = dict[str, Any]
_BLUE, _ORANGE, _GREEN = (colour for colour, _ in STYLES[:3])
_LONGEST = 110  # characters of a title
_ROOM = 0.35  # of the height of a panel, for its legend


def draw_portrait(figure: Any, data: Data) -> None:
    """Draw both panels of a portrait."""
    left, right = figure.subplots(1, 2)
    kinds = {"profile": _profile, "residues": _residues, "heads": _heads, "linear": _linear}
    {**kinds, "factor": _factor}[data["kind"]](left, right, data)
    about = data["about"][:_LONGEST].replace("$", r"\$")
    figure.suptitle(f"{about}, member of seed 0", fontsize=9)


def _profile(left: Any, right: Any, data: Data) -> None:
    noisy = data["noise"] > 0
    name = "mean label, by the formula" if noisy else "label, by the formula"
    left.plot(data["h"], data["mean"], color=_BLUE, drawstyle="steps-mid", lw=1, alpha=0.6)
    left.plot(data["h"], data["mean"], color=_BLUE, marker="o", ms=8, mfc="none", ls="", label=name)
    left.plot(data["h"], data["layer"], color=_ORANGE, marker="x", ms=6, ls="", label="layer")
    known = data["known"]
    left.axhline(known, color=_GREEN, ls="--", lw=1)
    left.plot(
        data["h"],
        data["layer_known"],
        color=_GREEN,
        marker="+",
        ls="",
        label=f"where $z_0 = +1$: A = {known:.3g}",
    )
    left.set_xlabel("h, hidden coordinates with $z_j = -1$")
    left.set_ylabel("label / own token")
    left.set_title("The label, where $z_0 = -1$")
    for number, head in enumerate(data["heads"]):
        label = "heads" if number == 0 else None
        right.plot(data["at"], head, color="0.6", lw=1, label=label)
    right.plot(data["at"], data["sum"], color=_ORANGE, lw=1.6, label="their sum")
    right.plot(data["h"], data["formula"], color=_BLUE, marker="o", ms=7, mfc="none", ls="")
    right.set_xlabel("h, between the integers as well")
    right.set_ylabel("contribution")
    right.set_title(f"{len(data['heads'])} heads as threshold units")
    _finish(left, right)


def _finish(*axes: Any) -> None:
    """Put whole numbers below the axes, and the legends into room made for them."""
    for axis in axes:
        axis.xaxis.get_major_locator().set_params(integer=True)
        bottom, top = axis.get_ylim()
        ticks = [tick for tick in axis.get_yticks() if bottom <= tick <= top]
        axis.set_ylim(bottom, top + _ROOM * (top - bottom))
        axis.set_yticks(ticks)
        axis.legend(frameon=False, fontsize=8, loc="upper left")


def _residues(left: Any, right: Any, data: Data) -> None:
    q, residues = data["q"], list(range(data["q"]))
    mean, deviation = data["mean"], data["deviation"]
    if max(deviation) > 0:
        low = [m - s for m, s in zip(mean, deviation, strict=True)]
        high = [m + s for m, s in zip(mean, deviation, strict=True)]
        label = "± the label's standard deviation"
        left.fill_between(
            residues, low, high, color=_BLUE, alpha=0.15, lw=0, label=label, step="mid"
        )
    name = "mean label, by the formula" if max(deviation) > 0 else "label, by the formula"
    left.plot(residues, mean, color=_BLUE, drawstyle="steps-mid", lw=0.8, alpha=0.6)
    left.plot(residues, mean, color=_BLUE, marker="o", ms=6, mfc="none", ls="", label=name)
    left.plot(
        [t % q for t, _ in data["layer"]],
        [v for _, v in data["layer"]],
        color=_ORANGE,
        marker="x",
        ms=4,
        ls="",
        label=f"layer, {data['examples']} examples",
    )
    left.set_xlabel(f"⟨a, s⟩ mod {q}")
    left.set_ylabel("label / own token")
    left.set_title("The label, where $z_0 = -1$")
    right.step(data["t"], data["steps"], where="mid", color=_ORANGE, lw=1.2, label="sum of heads")
    right.plot(data["t"], data["wanted"], color=_BLUE, marker="o", ms=3, mfc="none", ls="")
    for number, centre in enumerate(data["centres"]):
        many = f"{len(data['centres'])} heads that step" if number == 0 else None
        right.axvline(centre, color=_GREEN, lw=0.6, alpha=0.5, label=many)
    edges = [t - 0.5 for t in [*data["t"], data["t"][-1] + 1]]
    _bars(right, edges, data["share"], "examples")
    right.set_xlabel("t, the integer that is ⟨a, s⟩ mod q")
    right.set_ylabel("mean label / own token")
    right.set_title("Heads as steps in t")
    _finish(left, right)


def _factor(left: Any, right: Any, data: Data) -> None:
    levels = data["levels"]
    rows = zip(levels, data["low"], data["high"], strict=True)
    seen = [(v, low, high) for v, low, high in rows if low is not None]
    left.plot(levels, levels, color=_BLUE, marker="o", ms=8, mfc="none", ls="", label="formula")
    for number, (level, low, high) in enumerate(seen):
        label = f"layer, {data['examples']} examples" if number == 0 else None
        left.plot([level, level], [low, high], color=_ORANGE, marker="x", ms=6, lw=1, label=label)
    left.axhline(
        data["known"],
        color=_GREEN,
        ls="--",
        lw=1,
        label=f"where $z_0 = +1$: A = {data['known']:.3g}",
    )
    left.set_xlabel("level, by the formula")
    left.set_ylabel("label / own token")
    left.set_title("The label, where $z_0 = -1$")
    degrees = list(range(len(data["weight"])))
    right.bar(degrees, data["weight"], color=_BLUE, linewidth=0, label="member, without noise")
    right.set_xlabel("degree in z")
    right.set_ylabel("weight (sum of squared coefficients)")
    right.set_title("Walsh weight by degree")
    _finish(left, right)


def _bars(axis: Any, edges: list[float], share: list[float], what: str) -> None:
    """Draw shares as bars at the foot of a panel, the tallest a quarter of its height."""
    most = max(share)
    axis.fill_between(
        edges,
        [0.25 * v / most for v in [*share, share[-1]]],
        step="post",
        transform=axis.get_xaxis_transform(),
        color="0.85",
        linewidth=0,
        zorder=0,
        label=f"share of {what}, up to {most:.2g}",
    )


def _singular(axis: Any, data: Data) -> None:
    for name, label, (colour, mark) in (
        ("theta", "$\\Theta_i$", STYLES[0]),
        ("w", "$W_i$", STYLES[1]),
    ):
        for number, values in enumerate(data[name]):
            axis.plot(
                range(1, len(values) + 1),
                values,
                color=colour,
                marker=mark,
                ms=3,
                lw=0.8,
                label=label if number == 0 else None,
            )
    axis.set_xlabel("number of the singular value")
    axis.set_ylabel("singular value")
    axis.set_title(f"Singular values of {len(data['theta'])} heads")
    axis.set_ylim(bottom=0)
    axis.xaxis.get_major_locator().set_params(integer=True)
    axis.legend(frameon=False, fontsize=8)


def _heads(left: Any, right: Any, data: Data) -> None:
    _singular(left, data)
    edges = data["edges"]
    places = [(a + b) / 2 for a, b in pairwise(edges)]
    shown = [i for i, v in enumerate(data["middle"]) if v is not None]
    at = [places[i] for i in shown]
    low, middle, high = ([data[n][i] for i in shown] for n in ("low", "middle", "high"))
    right.fill_between(at, low, high, color=_BLUE, alpha=0.2, lw=0, label="5 to 95 %")
    right.plot(at, middle, color=_BLUE, marker="o", ms=3, lw=1, label="attention weight, median")
    right.plot(places, data["first"], color=_ORANGE, ls="--", lw=1.2, label="its first order")
    _bars(right, edges, data["share"], "logits")
    right.set_ylim(-0.05, 1.05)
    right.set_xlabel("logit less the mean of its row")
    right.set_ylabel("attention weight")
    right.set_title(f"What {data['k']} tokens get, {data['examples']} examples")
    right.legend(frameon=False, fontsize=8, loc="upper left")


def _linear(left: Any, right: Any, data: Data) -> None:
    _singular(left, data)
    for name, label, (colour, mark) in (
        ("linear", "linear attention: cube of the scale", STYLES[0]),
        ("softmax", "the same heads with softmax", STYLES[1]),
    ):
        right.loglog(data["scales"], data[name], color=colour, marker=mark, ms=4, label=label)
    right.set_xlabel("factor on the tokens")
    right.set_ylabel("output, root mean square")
    right.set_title(f"Growth with the tokens, {data['examples']} examples")
    right.grid(True, which="major", lw=0.4, alpha=0.5)
    right.legend(frameon=False, fontsize=8)
