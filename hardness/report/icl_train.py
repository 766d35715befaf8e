"""Trained layers of linear attention: in words, and as heatmaps with the curves of a training."""

from typing import Any

from hardness.report.canvas import STYLES
from hardness.report.text import count, table

Data = dict[str, Any]
_FREE = {"q": "Q alone (P = 0)", "both": "P and Q"}
_METHOD = {
    "lbfgs": "L-BFGS on {samples} fixed Gram matrices",
    "adam": "Adam, {samples} fresh Gram matrices a step",
}


def train_words(data: Data) -> str:
    """Write what training found, how it compares with the scalar solution, how each is known."""
    loss, known, rare = data["loss"], data["reference"], data["rare"]
    low, high = loss["interval"]
    where = "whitened" if data["whiten"] else "raw"
    method = _METHOD[data["method"]].format(samples=data["samples"])
    lines = [
        f"prompts    d = {data['d']}, n = {data['n']}, noise {data['noise']:g}; "
        f"who predicts 0 loses {data['power']:.5g}",
        f"trained    {count(data['layers'], 'layer')}, {_FREE[data['free']]}, {where} coordinates,",
        f"           {method}, random start, seed {data['seed']}",
        f"loss       {loss['value']:.5g} +- {loss['error']:.2g} on {loss['samples']} fresh "
        f"samples; 99 %: {low:.5g} .. {high:.5g}",
    ]
    if known is None:
        lines.append("reference  no reference: nothing exact is known for this law and depth")
    else:
        lines += [
            f"           (scalar loss + mean difference; bare mean {loss['plain']:.5g} "
            f"+- {loss['plain_error']:.2g})",
            f"reference  {known['loss']:.6g}: {known['method']}",
            f"           trained / reference = {loss['value'] / known['loss']:.4f} on prompts as "
            "they are drawn",
        ]
    lines += [
        f"rare       {rare['value']:.5g} +- {rare['error']:.2g} by importance sampling, the "
        f"heaviest of {rare['samples']} has",
        f"           {100 * rare['share']:.2g} % of it: {_verdict(data)}",
        f"training   {data['training_loss']:.5g} on the samples it was trained on"
        if data["method"] == "lbfgs"
        else f"training   {data['training_loss']:.5g} on the fixed sample that picks a restart",
        "",
        "distance of the whitened matrices from a multiple of I, |M - (tr M/d) I| / |M|",
        table(["layer", "Q", "tr Q/d", "P", "tr P/d"], _distances(data)),
        "",
        table(
            ["start", "loss", "steps", "evaluations", "seconds", "ended"],
            [
                [
                    str(i),
                    f"{run['loss']:.5g}",
                    str(run["steps"]),
                    str(run["evaluations"]),
                    f"{run['seconds']:.1f}",
                    run["ended"],
                ]
                for i, run in enumerate(data["runs"], 1)
            ],
        ),
    ]
    return "\n".join(lines)


def _verdict(data: Data) -> str:
    """Return whether prompts that plain sampling does not meet carry the loss."""
    loss, rare = data["loss"], data["rare"]
    gap = rare["value"] - loss["value"]
    if rare["share"] > 0.1 and gap > loss["value"]:
        return "prompts too rare to be drawn carry the mean"
    if gap > 4 * (loss["error"] ** 2 + rare["error"] ** 2) ** 0.5:
        return "rare prompts add to the mean"
    return "no sign of a loss on rare prompts"


def _distances(data: Data) -> list[list[str]]:
    """The last P moves tokens that no one reads: it is left out."""
    rows = []
    for i, q in enumerate(data["q"]):
        row = [str(i + 1), f"{data['distance_q'][i]:.3f}", f"{_level(q):.4g}", "-", "-"]
        if data["p"] is not None and i + 1 < data["layers"]:
            row[3:] = [f"{data['distance_p'][i]:.3f}", f"{_level(data['p'][i]):.4g}"]
        rows.append(row)
    return rows


def _level(matrix: list[list[float]]) -> float:
    return sum(matrix[i][i] for i in range(len(matrix))) / len(matrix)


def draw_train(figure: Any, data: Data) -> None:
    """Draw the whitened matrices, their distances to the identity, and the training curve."""
    above, below = figure.subfigures(2, 1, height_ratios=[1, 1.5])
    _heatmaps(above, data)
    left, right = below.subplots(1, 2)
    _losses(left, data)
    _distance_curves(right, data)
    where = "whitened" if data["whiten"] else "raw"
    figure.suptitle(
        f"{count(data['layers'], 'layer')}, {_FREE[data['free']]}, "
        f"d = {data['d']}, n = {data['n']}, "
        f"noise {data['noise']:g}: trained in {where} coordinates, seed {data['seed']}",
        fontsize=9,
    )


def _heatmaps(figure: Any, data: Data) -> None:
    shown = [(f"layer {i + 1}: Q", m, data["distance_q"][i]) for i, m in enumerate(data["q"])]
    if data["p"] is not None:
        moved = zip(data["p"][:-1], data["distance_p"], strict=True)
        shown += [(f"layer {i + 1}: P", m, far) for i, (m, far) in enumerate(moved)]
    axes = figure.subplots(1, len(shown), squeeze=False)[0]
    for axis, (title, matrix, far) in zip(axes, shown, strict=True):
        size = max(abs(v) for row in matrix for v in row) or 1.0
        image = axis.imshow(matrix, cmap="RdBu_r", vmin=-size, vmax=size)
        axis.set_title(title, fontsize=9)
        axis.set_xlabel(f"distance to I: {far:.3f}", fontsize=8)
        axis.set_xticks([])
        axis.set_yticks([])
        for spine in axis.spines.values():
            spine.set_visible(False)
        bar = figure.colorbar(image, ax=axis, location="right", shrink=0.7, aspect=12)
        bar.ax.tick_params(labelsize=7)
        bar.outline.set_visible(False)


def _losses(axis: Any, data: Data) -> None:
    steps = [point["step"] for point in data["curve"]]
    fixed = data["method"] == "lbfgs"
    axis.loglog(
        [1 + s for s in steps],
        [point["loss"] for point in data["curve"]],
        color=STYLES[0][0],
        linewidth=1.2,
        label="on the training sample" if fixed else "on each batch",
    )
    loss = data["loss"]
    below = max(loss["value"] - loss["interval"][0], 0.0)
    axis.errorbar(
        [1 + steps[-1]],
        [loss["value"]],
        yerr=[[min(below, 0.999 * loss["value"])], [loss["interval"][1] - loss["value"]]],
        color=STYLES[1][0],
        marker=STYLES[1][1],
        markersize=5,
        capsize=3,
        linestyle="none",
        label=f"on fresh samples: {loss['value']:.4g} ± {loss['error']:.1g}",
    )
    if data["rare"]["value"] > 2 * loss["value"]:
        axis.plot(
            [1 + steps[-1]],
            [data["rare"]["value"]],
            color=STYLES[1][0],
            marker="_",
            markersize=12,
            linestyle="none",
            label=f"with rare prompts, importance sampling: {data['rare']['value']:.2g}",
        )
    if data["reference"] is not None:
        known = data["reference"]["loss"]
        name = "best steps, exact" if data["free"] == "q" else "best scalars found, exact"
        axis.axhline(
            known, color="black", linestyle="--", linewidth=1, label=f"{name}: {known:.4g}"
        )
    axis.set_title("Loss")
    axis.set_xlabel("1 + step")
    axis.set_ylabel("mean squared error")
    axis.legend(frameon=False, fontsize=8)


def _distance_curves(axis: Any, data: Data) -> None:
    steps = [1 + point["step"] for point in data["curve"]]
    for name, line in (("q", "-"), ("p", ":")):
        if name not in data["curve"][0]:
            continue
        for i in range(len(data["curve"][0][name])):
            colour = STYLES[i % len(STYLES)][0]
            values = [point[name][i] for point in data["curve"]]
            label = f"{name.upper()}, layer {i + 1}"
            axis.loglog(steps, values, color=colour, linestyle=line, linewidth=1.2, label=label)
    axis.axhline(0.1, color="black", linestyle="--", linewidth=0.8)
    axis.set_title("Distance from a multiple of I (Frobenius)")
    axis.set_xlabel("1 + step")
    axis.set_ylabel("|M − (tr M/d) I| / |M|")
    axis.legend(frameon=False, fontsize=8)
