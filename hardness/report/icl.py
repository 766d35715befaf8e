"""Studies of in-context regression in words: what each found, and how each number is known."""

from collections.abc import Sequence
from math import floor, inf, log10
from statistics import median
from typing import Any, get_args

from hardness.icl.evidence import Compared, Optimum, Sampled
from hardness.icl.exact import Exact, Solved
from hardness.icl.optimizers import LEVELS, Losses, Optimizers
from hardness.icl.softmax_study import SoftmaxStudy
from hardness.icl.study import Study
from hardness.icl.train import Curves, Name, Point, Trained
from hardness.report.text import count, sheet, table
from instances.text import outward

FREE = {"q": "Q alone (P = 0)", "both": "P and Q"}
SHOWN = 4  # residual polynomials
CURVES = get_args(Name)
_LONG = 24  # characters of a fraction that is still worth reading


def words(found: Study) -> str:
    """Write what a study found."""
    return "\n".join(_WORDS[type(found)](found))


def _optimum(found: Optimum) -> list[str]:
    """The optimum of one layer, the evidence for it, and its landscape."""
    exact = found.exact
    known = " (closed form, float64)"
    if exact and len(exact) <= _LONG:
        known = f" = {exact} (exact)" if "/" in exact else " (exact)"
    minimum, here = found.numerical, next(one for one in found.curve if one.n == found.n).bayes
    given, raw = found.integrated, found.raw
    how = f"{here.samples} prompts" if here.mean else "exact: n >= d, no noise"
    evidence = [
        ["gradient at A*", f"{found.gradient:.1e}", "closed form, largest entry"],
        ["minimum found - L*", f"{minimum.difference:.1e}", f"L-BFGS, {minimum.steps} steps"],
        ["Monte Carlo given S", _interval(given), f"{given.samples} prompts, {_z(given)}"],
        ["raw prompts", _interval(raw), f"{_z(raw)}, kurtosis {raw.kurtosis:.0f} (normal 3)"],
        ["Bayes, same prompt", _interval(here) if here.mean else "0", how],
    ]
    return [
        f"prompts     d={found.d}, n={found.n}, label noise {found.noise:g}",
        f"optimum     L* = {found.least:.10g}{known}",
        f"            predicting 0 loses {found.power:.6g}",
        f"layer       {_step(found)}",
        "",
        table(["evidence", "value", "how it is known"], evidence),
        "",
        "landscape   all parameters of the layer, b and A; the least loss is L* [ACDS23]",
        *[f"            {line}" for line in _landscape(found)],
    ]


def _step(found: Optimum) -> str:
    multiplier = found.exact_multiplier
    if multiplier is not None and len(multiplier) <= _LONG:
        return f"A* = {multiplier} sigma^-1 (exact): one preconditioned gradient step"
    every = [each.multiplier for each in found.directions]
    text = f"A* sigma is {min(every):.4g} to {max(every):.4g} over sigma's eigendirections"
    if found.turned:
        return f"{text},\n            {100 * found.turned:.2g} % of A* off them"
    return text


def _interval(sampled: Sampled) -> str:
    return f"{sampled.mean:.5g} +- {sampled.error:.1g}"


def _z(sampled: Compared) -> str:
    return "no spread" if sampled.z is None else f"z = {sampled.z:+.2f}"


def _landscape(found: Optimum) -> list[str]:
    margin, traps = found.rank_one.margin, found.spurious
    kind = "local minimum" if margin > 0 else "saddle" if margin < 0 else "degenerate point"
    lines = [f"best layer of rank one: loss {found.rank_one.loss:.6g}, a {kind}"]
    lines += [
        f"spurious local minimum, loss {p.loss:.6g}: no negative curvature, {p.flat} flat"
        for p in traps[:3]
    ]
    if found.d > 16:
        lines.append("other stationary points: judged up to d = 16 only")
    elif not traps:
        lines.append(f"no spurious local minimum {_searched(found)}")
    ends = found.ends
    if ends is None:
        return [*lines, "random starts: run up to d = 8 only"]
    caught = sum(each.count for each in ends.spurious)
    where = f"{ends.optimal} end at L*"
    if traps:
        where += f", {caught} at spurious minima"
    if elsewhere := ends.starts - ends.optimal - caught:
        where += f", {elsewhere} elsewhere ({ends.moving} not converged)"
    return [*lines, f"{ends.starts} random starts (BFGS, scale {ends.scale:g}):", f"  {where}"]


def _searched(found: Optimum) -> str:
    """Say what no spurious minimum stands on; in d = 1 the one dip is the optimum once more."""
    if found.dips is None:
        return "on the curves searched"
    if found.dips > (found.d == 1):
        return f"found in float64, but an exact root count has {found.dips}"
    return "at all: exact root count"


def _exact(found: Exact) -> list[str]:
    """Losses by number of layers, the steps and scalars, and how each number is known."""

    def sampled(one: Solved) -> str:
        return f"{one.sampled:.4g} ({one.error:.1g})"

    def row(i: int, layers: int) -> list[str]:
        best = found.best[i]
        cells = [str(layers), f"{found.common[i].loss:.5g}"]
        cells += [f"{best.loss:.5g}" + ("" if best.real else "*"), sampled(best)]
        if i >= len(found.plusplus):
            return [*cells, "-", "-"]
        return [*cells, f"{found.plusplus[i].loss:.4g}", sampled(found.plusplus[i])]

    def listed(values: list[float]) -> str:
        return " ".join(f"{v:.4f}" for v in values)

    header = ["layers", "one step", "best steps", "sampled", "GD++", "sampled"]
    noise = f", noise {found.noise:g}" if found.noise else ""
    floor = "ridge regression, sampled" if found.noise else "least squares: max(d - n, 0)"
    sure = "where `*` stands, the best found: the best polynomial has no real roots"
    if all(one.real for one in found.best):
        sure = "the minimum over all steps, by orthogonal polynomials"
    return [
        f"n={found.n}, d={found.d}{noise}, task = sigma^-1: predicting 0 has the loss "
        f"{found.none:g},",
        f"the best predictor {found.floor:.5g} ({floor})",
        "",
        table(header, [row(i, layers) for i, layers in enumerate(found.layers)]),
        "",
        f"best steps: {sure}",
        *[f"  {len(one.steps)}: {listed(one.steps)}" for one in found.best[:SHOWN]],
        "GD++: best scalars found, no proof that there are none better",
        *[f"  {len(one.q)}: p {listed(one.p)}; q {listed(one.q)}" for one in found.plusplus],
        "",
        "The losses are exact at the numbers given (rational moments of the Wishart law),",
        f"the column `sampled` averages over {found.samples} sampled spectra: mean (standard",
        "error). Powers of rare large eigenvalues carry a part of the loss that samples",
        "may miss: a sampled value below the exact one is no contradiction.",
    ]


def _train(found: Trained) -> list[str]:
    """What training found, how it compares with the scalar solution, how each is known."""
    loss, known, rare = found.loss, found.reference, found.rare
    low, high = loss.interval
    fixed = found.method == "lbfgs"
    method = f"L-BFGS on {found.samples} fixed Gram matrices"
    if not fixed:
        method = f"Adam, {found.samples} fresh Gram matrices a step"
    reference = ["reference  no reference: nothing exact is known for this law and depth"]
    if known is not None:
        reference = [
            f"           (scalar loss + mean difference; bare mean {loss.plain:.5g} "
            f"+- {loss.plain_error:.2g})",
            f"reference  {known.loss:.6g}: {known.method}",
            f"           trained / reference = {loss.value / known.loss:.4f} on prompts as "
            "they are drawn",
        ]
    own = "the samples it was trained on" if fixed else "the fixed sample that picks a restart"
    runs = enumerate(found.runs, 1)
    each = [{"start": i, **vars(run)} for i, run in runs]
    return [
        f"prompts    d = {found.d}, n = {found.n}, noise {found.noise:g}; "
        f"who predicts 0 loses {found.power:.5g}",
        f"trained    {count(found.layers, 'layer')}, {FREE[found.free]}, "
        f"{'whitened' if found.whiten else 'raw'} coordinates,",
        f"           {method}, random start, seed {found.seed}",
        f"loss       {loss.value:.5g} +- {loss.error:.2g} on {loss.samples} fresh "
        f"samples; 99 %: {outward(low, high, '.5g', ' .. ')}",
        *reference,
        f"rare       {rare.value:.5g} +- {rare.error:.2g} by importance sampling, the "
        f"heaviest of {rare.samples} has",
        f"           {100 * rare.share:.2g} % of it: {_verdict(found)}",
        f"training   {found.training_loss:.5g} on {own}",
        "",
        "distance of the whitened matrices from a multiple of I, |M - (tr M/d) I| / |M|",
        table(["layer", "Q", "tr Q/d", "P", "tr P/d"], _distances(found)),
        "",
        sheet(
            [{"start": i, **run} for i, run in enumerate(each, 1)],
            {"loss": ".5g", "seconds": ".1f"},
        ),
    ]


def _verdict(found: Trained) -> str:
    """Return whether prompts that plain sampling does not meet carry the loss."""
    loss, rare = found.loss, found.rare
    gap = rare.value - loss.value
    if rare.share > 0.1 and gap > loss.value:
        return "prompts too rare to be drawn carry the mean"
    if gap > 4 * (loss.error**2 + rare.error**2) ** 0.5:
        return "rare prompts add to the mean"
    return "no sign of a loss on rare prompts"


def _distances(found: Trained) -> list[list[str]]:
    """The last P moves tokens that no one reads: it is left out."""

    def cells(far: float, matrix: list[list[float]]) -> list[str]:
        return [f"{far:.3f}", f"{sum(row[i] for i, row in enumerate(matrix)) / len(matrix):.4g}"]

    moved = list(zip(found.distance_p or [], found.p or [], strict=False))
    return [
        [str(i), *cells(far, q), *(cells(*moved[i - 1]) if i <= len(moved) else ["-", "-"])]
        for i, (far, q) in enumerate(zip(found.distance_q, found.q, strict=True), 1)
    ]


def _curves(found: Curves) -> list[str]:
    """The losses by depth, and how each is known."""
    depths = sorted({point.layers for point in found.points})
    points: dict[tuple[str, int], Point] = {(one.name, one.layers): one for one in found.points}
    shown = [name for name in CURVES if (name, depths[0]) in points]

    def by_depth(title: str, names: Sequence[str], cell: Any) -> str:
        rows = [[name, *(cell(points[name, depth]) for depth in depths)] for name in names]
        return table([title, *(f"L = {depth}" for depth in depths)], rows)

    def loss(point: Point) -> str:
        return f"{point.loss:.4g}" if point.error is None else with_error(point.loss, point.error)

    known = ["no reference: the scalar curves are exact for task = sigma^-1 alone."]
    if "optimal steps" in shown:
        known = [
            "steps: exact moments of the Wishart spectrum, rational arithmetic; GD++ scalars:",
            "the best minimum a search found, its loss exact.",
        ]
    last = {point.name: point.method for point in found.points if point.rare}
    return [
        f"d = {found.d}, n = {found.n}, noise {found.noise:g}; who predicts 0 loses "
        f"{found.power:.5g}",
        "",
        by_depth("loss by number of layers", shown, loss),
        "",
        *known,
        "trained: full matrices from a small random start; in brackets the standard error",
        "in the last digits.",
        *(f"{name}: {method}" for name, method in last.items()),
        "",
        by_depth(
            "largest distance of a Q to a multiple of I", CURVES[3:], lambda p: f"{p.distance:.3f}"
        ),
        "",
        "Rare prompts may carry the mean where points move: importance sampling with",
        "stretched points, and the share of the heaviest sample (near 100%: no more",
        "than a sign that it is large).",
        by_depth(
            "loss with rare prompts",
            CURVES[3:],
            lambda p: f"{p.rare.value:.3g} {100 * p.rare.share:.0f}%",
        ),
    ]


def with_error(value: float, error: float) -> str:
    """Write a value with its standard error, one digit, in brackets.

    >>> with_error(0.13361, 0.00027), with_error(1.1e-5, 2.4e-7), with_error(1.5, 0.0)
    ('0.1336(3)', '1.10(2)e-05', '1.5')
    >>> with_error(1.0, 0.2), with_error(25.0, 3.2), with_error(0.1, 0.2)
    ('1.0(2)', '25(3)', '0.1')
    """
    if not error > 0 or not value > error:
        return f"{value:.4g}"
    power = floor(log10(value)) if value < 1e-3 else 0
    digit, size = f"{error:.0e}".split("e")
    digits = max(0, power - int(size))
    shown = digit if digits else f"{error:.0f}"
    return f"{value / 10.0**power:.{digits}f}({shown})" + (f"e{power:03d}" if power else "")


def clipping(found: Optimizers) -> str:
    """Say how gradients were clipped."""
    return "not clipped" if found.clip is None else f"clipped to norm {found.clip:g}"


def _optimizers(found: Optimizers) -> list[str]:
    """The losses by rate, those at the authors' and at the tuned rates, and noise tails."""
    return [
        f"{count(found.layers, 'layer')}, d = {found.d}, n = {found.n}: "
        f"{count(found.steps, 'step')} on batches of {found.batch} prompts,",
        f"gradients {clipping(found)}, start N(0, {found.scale:g}^2); "
        f"predicting 0 loses {found.power:.4g}",
        "",
        *_grid(found),
        "",
        *_ends(found),
        "",
        *_rare(found),
        *(f"{name}: {value:.3g}" for name, value in found.references.items()),
        *(["", *_noise(found)] if found.noise else []),
    ]


def _grid(found: Optimizers) -> list[str]:
    """One row a rate: medians over the tuning seeds, with marks."""

    def cell(method: Any, i: int) -> str:
        tried = method.tried[i]
        tuned = "*" if tried.rate == method.tuned.rate else ""
        middle = median(inf if v is None else v for v in tried.losses)
        return "!" * (tried.diverged > 0) + tuned + (f"{middle:.3g}" if middle < inf else ">1e300")

    first = found.methods[0].tried
    rows = [
        [f"{tried.rate:g}", *(cell(method, i) for method in found.methods)]
        for i, tried in enumerate(first)
    ]
    return [
        f"Median loss over {len(first[0].losses)} tuning seeds after the last step:",
        table(["rate", *(m.name for m in found.methods)], rows),
        "* the least: the tuned rate; ! some runs ended no better than predicting 0",
    ]


def _ends(found: Optimizers) -> list[str]:
    methods, width = found.methods, max(len(m.words) for m in found.methods)
    others = count(len(methods[0].authors.losses), "other seed")
    lines = [f"Loss at the end on {others}, median (least .. largest):"]
    for at, name in (("authors", f"rate {found.authors_rate:g}"), ("tuned", "tuned")):
        for method in methods:
            shown = method.shown[at]
            where = name if at == "authors" else f"{name} ({shown.rate:g})"
            lines.append(f"  {where:13} {method.words:{width}}  {_spread(shown.losses)}")
        for other, ratios in found.factors[at].items():
            ratio = f"{methods[0].name} / {other}"
            lines.append(f"  {name:13} {ratio:{width}}  {_spread(ratios)}")
    worst = max(
        (
            error / loss
            for method in methods
            for shown in method.shown.values()
            for error, loss in zip(shown.errors, shown.losses, strict=True)
            if loss and error is not None
        ),
        default=0.0,
    )
    lines += [
        f"How known: means over {found.ends} Gram matrices, w and the query integrated",
        f"exactly; standard errors up to {100 * worst:.2g} % of a loss. Same start and batches for",
        "all methods of a seed.",
    ]
    edge = []
    for method in methods:
        rates = [tried.rate for tried in method.tried]
        edge += [method.name] if method.tuned.rate in (min(rates), max(rates)) else []
    if edge:
        lines.append(f"Best at the edge of the rates tried, so maybe beyond: {', '.join(edge)}")
    return lines


def _rare(found: Optimizers) -> list[str]:
    """Losses by importance sampling, and whether they leave anything of the order above."""
    lines = ["The same by importance sampling, which meets rare prompts:"]
    carried, width = False, max(len(m.words) for m in found.methods)
    for at in ("authors", "tuned"):
        for method in found.methods:
            shown = method.shown[at]
            values = [one.value for one in shown.rare]
            share = max(one.share for one in shown.rare)
            lines.append(
                f"  {shown.rate:<13g} {method.words:{width}}  {_spread(values)}, {100 * share:.0f}%"
            )
            pairs = zip(values, shown.losses, strict=True)
            carried |= any(v is not None and u is not None and v > 1.5 * u for v, u in pairs)
    lines.append("last: the largest share of one sample; near 100%, no more than a sign")
    if carried:
        lines += [
            "Some are far above: there prompts too rare to be drawn carry the mean. The",
            "losses, errors and factors further up then hold for typical prompts alone.",
        ]
    return lines


def _spread(values: Losses) -> str:
    """Median and range; a loss that overflowed counts as the largest."""
    known = [v for v in values if v is not None]
    if len(known) < len(values):
        return f"overflow in {len(values) - len(known)} of {len(values)}"
    return f"{median(known):<8.3g} ({min(known):.3g} .. {max(known):.3g})"


def _noise(found: Optimizers) -> list[str]:
    rows = []
    for where, one in found.noise.items():
        heavy = [one.quantiles[2], one.gaussian[2], one.kurtosis, one.gaussian_kurtosis]
        cells = [f"{one.relative:.2g}", *(f"{v:.3g}" for v in heavy)]
        rows.append([where, str(one.batch), *cells])
    draws = next(iter(found.noise.values())).draws
    return [
        table(["gradient noise", "batch", "/|mean|", "q99", "Gauss", "kurtosis", "Gauss"], rows),
        f"Norms of g - mean g over {draws} draws: their median over |mean g|, their",
        f"{LEVELS[2]:g}-quantile over the median, E|.|^4/(E|.|^2)^2; each beside that of Gaussian",
        "noise of the same covariance: heavy tails are what exceeds it.",
    ]


def _softmax(found: SoftmaxStudy) -> list[str]:
    """The losses as a table, with how each is known, and what the limits mean."""

    def references(depth: int) -> list[list[str]]:
        return [
            [r.name, str(depth or "-"), "-", "-", _number(r.loss, r.error), r.known]
            for r in found.references
            if r.layers == depth
        ]

    rows = references(0)
    for depth in sorted({t.layers for t in found.trained}):
        rows += references(depth)
        for t in (t for t in found.trained if t.layers == depth):
            name = f"softmax, {count(t.heads, 'head')}"
            for free, kind, one in (
                (t.parameters, "", t.loss),
                (t.scalar_parameters, ", c I", t.scalar_loss),
            ):
                loss = _number(one.loss, one.error)
                rows.append([name + kind, str(depth), t.output, str(free), loss, "trained"])
    short = []
    for t in found.trained:
        bound, best = found.limit(t), t.best
        if t.output == "free" and bound is not None and best.loss > bound + 2 * best.error:
            short.append(
                f"        {t.layers} layers, {t.heads} heads: training ended "
                f"{best.loss / bound - 1:.1%} above its limit."
            )
    return [
        f"in-context regression, n={found.n} points, d={found.d}, noise {found.noise:g}, "
        f"seed {found.seed}: loss",
        "",
        table(["model", "layers", "output", "free", "loss", "known"], rows),
        "",
        *_NOTES,
        *short,
    ]


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


def _number(loss: float, error: float) -> str:
    """Write a loss and its standard error to the same digits.

    >>> _number(1.2, 0.0), _number(0.03764, 0.00033), _number(0.0, 0.0)
    ('1.2', '0.0376 +- 0.0003', '0')
    """
    if not error:
        return f"{loss:.5g}"
    digits = max(0, -int(f"{error:.0e}".partition("e")[2]))
    return f"{loss:.{digits}f} +- {error:.{digits}f}"


_WORDS: dict[type[Study], Any] = {
    Optimum: _optimum,
    Exact: _exact,
    Trained: _train,
    Curves: _curves,
    Optimizers: _optimizers,
    SoftmaxStudy: _softmax,
}
