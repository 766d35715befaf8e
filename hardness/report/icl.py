"""Studies of in-context regression in words: what each found, and how each number is known."""

from collections.abc import Callable, Sequence
from math import floor, log10
from statistics import median
from typing import Any

from hardness.icl.noise import LEVELS
from hardness.report.text import count, sheet, table
from instances.export import flat
from instances.text import TableRow

Data = dict[str, Any]
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
    traps = spurious(data)
    lines += [
        f"spurious local minimum, loss {p['loss']:.6g}: no negative curvature, {p['flat']} flat"
        for p in traps[:3]
    ]
    if data["d"] > 16:
        lines.append("other stationary points: judged up to d = 16 only")
    elif not traps:
        lines.append(f"no spurious local minimum {_searched(data)}")
    ends = data["ends"]
    if ends is None:
        return [*lines, "random starts: run up to d = 8 only"]
    count = sum(each["count"] for each in ends["spurious"])
    where = f"{ends['optimal']} end at L*"
    if traps:
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


def spurious(data: Data) -> list[Data]:
    """Return the local minima that are not the least loss."""
    floor = data["least"] + 1e-9 * data["power"]
    return [p for p in data["stationary"] if p["minimum"] and p["loss"] > floor]


SHOWN = 4  # residual polynomials


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
        *[_steps_line(entry["steps"]) for entry in data["best"][:SHOWN]],
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


FREE = {"q": "Q alone (P = 0)", "both": "P and Q"}
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
        f"trained    {count(data['layers'], 'layer')}, {FREE[data['free']]}, {where} coordinates,",
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
        sheet(
            [{"start": i, **run} for i, run in enumerate(data["runs"], 1)],
            {"loss": ".5g", "seconds": ".1f"},
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


_NAMES = ("one step size", "optimal steps", "GD++ scalars", "trained, P = 0", "trained P, Q")


def curves_words(data: Data) -> str:
    """Write the losses by depth, and how each is known."""
    depths = sorted({point["layers"] for point in data["points"]})
    found = {(point["name"], point["layers"]): point for point in data["points"]}

    def by_depth(title: str, names: Sequence[str], cell: Callable[[Data], str]) -> str:
        rows = [[name, *(cell(found[name, depth]) for depth in depths)] for name in names]
        return table([title, *(f"L = {depth}" for depth in depths)], rows)

    shown = [name for name in _NAMES if (name, depths[0]) in found]
    lines = [
        f"d = {data['d']}, n = {data['n']}, noise {data['noise']:g}; who predicts 0 loses "
        f"{data['power']:.5g}",
        "",
        by_depth("loss by number of layers", shown, _cell),
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
        by_depth(
            "largest distance of a Q to a multiple of I",
            _NAMES[3:],
            lambda point: f"{point['distance']:.3f}",
        ),
        "",
        "Rare prompts may carry the mean where points move: importance sampling with",
        "stretched points, and the share of the heaviest sample (near 100%: no more",
        "than a sign that it is large).",
        by_depth(
            "loss with rare prompts",
            _NAMES[3:],
            lambda p: f"{p['rare']['value']:.3g} {100 * p['rare']['share']:.0f}%",
        ),
    ]
    return "\n".join(lines)


def _cell(point: Data) -> str:
    if point["error"] is None:
        return f"{point['loss']:.4g}"
    return with_error(point["loss"], point["error"])


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


def clipping(data: Data) -> str:
    """Say how gradients were clipped."""
    return "not clipped" if data["clip"] is None else f"clipped to norm {data['clip']:g}"


def optimizers_words(data: Data) -> str:
    """Write the losses by rate, those at the authors' and at the tuned rates, and noise tails."""
    lines = [
        f"{count(data['layers'], 'layer')}, d = {data['d']}, n = {data['n']}: "
        f"{count(data['steps'], 'step')} on batches of {data['batch']} prompts,",
        f"gradients {clipping(data)}, start N(0, {data['scale']:g}^2); "
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
    return [*lines, "", *_optimizers_rare(methods, width)]


def _at_the_edge(method: Data) -> bool:
    rates = sorted(tried["rate"] for tried in method["tried"])
    return method["tuned"]["rate"] in (rates[0], rates[-1])


def _optimizers_rare(methods: list[Data], width: int) -> list[str]:
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
    return ">1e300" if found == float("inf") else f"{found:.3g}"


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
        loss, error = best_of(t)
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


def best_of(trained: Data) -> tuple[float, float]:
    """Return the lower of both losses of a layer, with its standard error."""
    both = [trained["loss"], trained["scalar_loss"]]
    found = min(both, key=lambda estimate: estimate["loss"])
    return found["loss"], found["error"]


_WORDS: dict[str, Callable[[Data], str]] = {
    "icl optimum": optimum_words,
    "icl steps": steps_words,
    "icl train": train_words,
    "icl curves": curves_words,
    "icl optimizers": optimizers_words,
    "icl softmax": softmax_words,
}


def rows(data: Data) -> list[TableRow]:
    """Give the rows of a study that is of several things; none of one that is of one.

    >>> rows({"kind": "icl curves", "points": [{"name": "gd", "layers": 1, "loss": 0.5}]})
    [{'name': 'gd', 'layers': 1, 'loss': 0.5}]
    """
    match data["kind"]:
        case "icl curves":
            found = data["points"]
        case "icl softmax":
            found = data["trained"]
        case "icl optimizers":
            found = [{"method": m["name"], **one} for m in data["methods"] for one in m["tried"]]
        case "icl steps":
            found = [
                {"way": way, "layers": depth, **one}
                for way in ("common", "best", "plusplus", "chebyshev")
                for depth, one in zip(data["layers"], data[way], strict=True)
            ]
        case _:
            found = []
    every = [flat(one) for one in found]
    names = dict.fromkeys(name for one in every for name in one)
    return [{name: one.get(name) for name in names} for one in every]


def words(data: Data) -> str:
    """Write what a study found."""
    return _WORDS[data["kind"]](data)
