"""Exact losses against the number of layers, in words and as a figure of polynomials and losses."""

from typing import Any

import numpy as np

from hardness.report.canvas import STYLES
from hardness.report.text import table

Data = dict[str, Any]
_SHOWN = 4  # residual polynomials
_LINES = {
    "common": "one common step",
    "best": "best steps",
    "plusplus": "GD++ (best found)",
}


def steps_words(data: Data) -> str:
    """Write losses by number of layers, the steps and scalars, and how each number is known."""
    rows = [[str(layers), *_row(data, i)] for i, layers in enumerate(data["layers"])]
    header = ["layers", "one step", "best steps", "sampled", "GD++", "sampled"]
    noise = f", noise {data['noise']:g}" if data["noise"] else ""
    lines = [
        f"n={data['n']}, d={data['d']}{noise}, task = sigma^-1: predicting 0 has the loss "
        f"{data['none']:g},",
        f"the best predictor {data['floor']:.5g} ({_floor(data)})",
        "",
        table(header, rows),
        "",
        f"best steps: {_sure(data)}",
        *[_steps_line(entry["steps"]) for entry in data["best"][:_SHOWN]],
        "GD++: best scalars found, no proof that there are none better",
        *[_scalars_line(entry) for entry in data["plusplus"]],
        "",
        "The losses are exact at the numbers given (rational moments of the Wishart law),",
        f"the column `sampled` averages over {data['samples']} sampled spectra: mean (standard",
        "error). Powers of rare large eigenvalues carry a part of the loss that samples",
        "may miss: a sampled value below the exact one is no contradiction.",
    ]
    return "\n".join(lines)


def _floor(data: Data) -> str:
    return "ridge regression, sampled" if data["noise"] else "least squares: max(d - n, 0)"


def _sure(data: Data) -> str:
    if all(entry["real"] for entry in data["best"]):
        return "the minimum over all steps, by orthogonal polynomials"
    return "where `*` stands, the best found: the best polynomial has no real roots"


def _row(data: Data, i: int) -> list[str]:
    best = data["best"][i]
    cells = [
        f"{data['common'][i]['loss']:.5g}",
        f"{best['loss']:.5g}" + ("" if best["real"] else "*"),
        _sampled(best),
    ]
    if i < len(data["plusplus"]):
        entry = data["plusplus"][i]
        return [*cells, f"{entry['loss']:.4g}", _sampled(entry)]
    return [*cells, "-", "-"]


def _sampled(entry: Data) -> str:
    return f"{entry['sampled']:.4g} ({entry['error']:.1g})"


def _steps_line(steps: list[float]) -> str:
    return f"  {len(steps)}: " + " ".join(f"{a:.4f}" for a in steps)


def _scalars_line(entry: Data) -> str:
    p, q = (" ".join(f"{v:.4f}" for v in entry[name]) for name in ("p", "q"))
    return f"  {len(entry['q'])}: p {p}; q {q}"


def draw_steps(figure: Any, data: Data) -> None:
    """Draw the best residual polynomials over the spectrum, and losses against layers."""
    left, right = figure.subplots(1, 2)
    _polynomials(left, data)
    _losses(right, data)
    noise = f", label noise {data['noise']:g}" if data["noise"] else ""
    figure.suptitle(f"n = {data['n']} points, d = {data['d']}{noise}, Σ = C⁻¹", fontsize=9)


def _polynomials(axis: Any, data: Data) -> None:
    axis.set_title("Best residual polynomials, roots at 1 / step")
    density = data["density"]
    heights, edges = np.array(density["heights"]), np.array(density["edges"])
    right = edges[1:][heights > 1e-3 * heights.max()].max()
    axis.stairs(
        heights / heights.max(), edges, fill=True, color="0.85", label="mean spectrum (sampled)"
    )
    t = np.linspace(0, right, 400)
    for entry, (colour, mark) in zip(data["best"][:_SHOWN], STYLES, strict=False):
        layers = len(entry["steps"])
        values = np.polynomial.polynomial.polyval(t, entry["polynomial"])
        values[values > 1.01] = np.nan  # above is the legend
        axis.plot(t, values, color=colour, linewidth=1.4, label=_layers(layers))
        if entry["real"]:
            roots = [1 / a for a in entry["steps"] if 1 / a <= right]
            axis.plot(roots, [0] * len(roots), color=colour, marker=mark, markersize=5, linewidth=0)
    axis.axhline(0, color="0.4", linewidth=0.7)
    axis.set_xlim(0, right)
    axis.set_ylim(-0.75, 1.6)
    axis.set_yticks([-0.5, 0, 0.5, 1])
    axis.set_xlabel("eigenvalue t of S")
    axis.set_ylabel("residual p(t); density, scaled to 1")
    axis.legend(frameon=False, fontsize=8, ncols=2, loc="upper left")


def _layers(count: int) -> str:
    return f"{count} layer{'s' if count > 1 else ''}"


def _losses(axis: Any, data: Data) -> None:
    axis.set_title("Exact loss against the number of layers")
    layers = data["layers"]
    for (name, label), (colour, mark) in zip(_LINES.items(), STYLES, strict=False):
        values = [entry["loss"] for entry in data[name]]
        axis.semilogy(
            layers[: len(values)], values, color=colour, marker=mark, markersize=5, label=label
        )
    floor, ceiling = axis.get_ylim()
    if data["chebyshev"]:
        values = [entry["loss"] for entry in data["chebyshev"]]
        label = "Chebyshev steps on the bulk"
        axis.semilogy(layers, values, color="0.45", linestyle=":", label=label)
    if data["limit"]:
        axis.semilogy(
            layers, data["limit"], color="0.45", linestyle="--", label="best steps, n, d → ∞"
        )
    axis.axhline(data["none"], color="0.7", linewidth=0.8)
    axis.text(layers[0], data["none"], "prediction 0", ha="left", va="bottom", color="0.4")
    if data["floor"]:
        axis.axhline(data["floor"], color="0.7", linewidth=0.8)
        axis.text(layers[-1], data["floor"], "best predictor", ha="right", va="top", color="0.4")
        floor = 0.8 * data["floor"]
    axis.set_ylim(floor, max(ceiling, 2 * data["none"]))
    axis.set_xticks(layers)
    axis.set_xlabel("number of layers L")
    axis.set_ylabel("loss E (prediction − ⟨w, x⟩)²")
    axis.legend(frameon=False, fontsize=8, loc="upper left", bbox_to_anchor=(1.0, 1.0))
