"""Studies of in-context regression in words: what each found, and how each number is known."""

from collections.abc import Sequence
from math import floor, log10
from typing import Any, get_args

from hardness.icl.onelayer import Compared, Optimum, Sampled
from hardness.icl.prompts import Study
from hardness.icl.steps import Exact, Solved
from hardness.icl.train import Curves, Name, Point, Trained
from hardness.report.text import count, sheet, table, wrap
from instances.numbers import outward

FREE_WEIGHTS = {"q": "Q alone (P = 0)", "both": "P and Q"}
MOST_POLYNOMIALS = 4  # residual polynomials that are written or drawn
CURVES = get_args(Name)
_LONG = 24  # most characters of a fraction that is written exactly


def words(study: Study) -> str:
    """Write the results of a study."""
    return "\n".join(_WORDS[type(study)](study))


def _optimum(optimum: Optimum) -> list[str]:
    """Write the optimum of one layer, and the evidence for it."""
    exact = optimum.exact
    known = " (closed form, float64)"
    if exact and len(exact) <= _LONG:
        known = f" = {exact} (exact)" if "/" in exact else " (exact)"
    minimum, here = (
        optimum.numerical,
        next(point for point in optimum.curve if point.n == optimum.n).bayes,
    )
    given = optimum.integrated
    how = f"{here.samples} prompts" if here.mean else "exact: n >= d, no noise"
    evidence = [
        ["gradient at A*", f"{optimum.gradient:.1e}", "closed form, largest entry"],
        ["minimum found - L*", f"{minimum.difference:.1e}", f"L-BFGS, {minimum.steps} steps"],
        ["Monte Carlo given S", _interval(given), f"{given.samples} prompts, {_z(given)}"],
        ["Bayes, same prompt", _interval(here) if here.mean else "0", how],
    ]
    return [
        f"prompts     d={optimum.d}, n={optimum.n}, label noise {optimum.noise:g}",
        f"optimum     L* = {optimum.least:.10g}{known}",
        f"            predicting 0 loses {optimum.power:.6g}",
        f"layer       {_step(optimum)}",
        "",
        table(["evidence", "value", "how it is known"], evidence),
    ]


def _step(optimum: Optimum) -> str:
    multiplier = optimum.exact_multiplier
    if multiplier is not None and len(multiplier) <= _LONG:
        return f"A* = {multiplier} sigma^-1 (exact): one preconditioned gradient step"
    values = [each.multiplier for each in optimum.directions]
    text = f"A* sigma is {min(values):.4g} to {max(values):.4g} over sigma's eigendirections"
    if optimum.turned:
        return f"{text},\n            {100 * optimum.turned:.2g} % of A* off them"
    return text


def _interval(sampled: Sampled) -> str:
    return f"{sampled.mean:.5g} +- {sampled.error:.1g}"


def _z(sampled: Compared) -> str:
    return "no spread" if sampled.z is None else f"z = {sampled.z:+.2f}"


def _exact(exact: Exact) -> list[str]:
    """Write losses by number of layers, steps and scalars, and how each number is known."""

    def sampled(solved: Solved) -> str:
        return f"{solved.sampled:.4g} ({solved.error:.1g})"

    def row(i: int, layers: int) -> list[str]:
        best = exact.best[i]
        cells = [str(layers), f"{exact.common[i].loss:.5g}"]
        cells += [f"{best.loss:.5g}" + ("" if best.real else "*"), sampled(best)]
        if i >= len(exact.plusplus):
            return [*cells, "-", "-"]
        return [*cells, f"{exact.plusplus[i].loss:.4g}", sampled(exact.plusplus[i])]

    def listed(values: list[float]) -> str:
        return " ".join(f"{v:.4f}" for v in values)

    header = ["layers", "one step", "best steps", "sampled", "GD++", "sampled"]
    noise = f", noise {exact.noise:g}" if exact.noise else ""
    floor = "ridge regression, sampled" if exact.noise else "least squares: max(d - n, 0)"
    minimum = "where `*` stands, the best found: the best polynomial has no real roots"
    if all(best.real for best in exact.best):
        minimum = "the minimum over all steps, by orthogonal polynomials"
    return [
        f"n={exact.n}, d={exact.d}{noise}, task = sigma^-1: predicting 0 has the loss "
        f"{exact.none:g},",
        f"the best predictor {exact.floor:.5g} ({floor})",
        "",
        table(header, [row(i, layers) for i, layers in enumerate(exact.layers)]),
        "",
        f"best steps: {minimum}",
        *[f"  {len(best.steps)}: {listed(best.steps)}" for best in exact.best[:MOST_POLYNOMIALS]],
        "GD++: best scalars found, no proof that there are none better",
        *[f"  {len(one.q)}: p {listed(one.p)}; q {listed(one.q)}" for one in exact.plusplus],
        "",
        wrap(
            "Losses are exact, from rational moments of the Wishart law; `sampled` is the mean "
            f"over {exact.samples} sampled spectra (standard error). Samples may miss rare large "
            "eigenvalues, so a sampled loss below the exact one is not a contradiction."
        ),
    ]


def _train(trained: Trained) -> list[str]:
    """Write the result of training, compared with the scalar solution, and how each is known."""
    loss, known, rare = trained.loss, trained.reference, trained.rare
    low, high = loss.interval
    reference = ["reference  no reference: nothing exact is known for this law and depth"]
    if known is not None:
        reference = [
            f"           (scalar loss + mean difference; bare mean {loss.plain:.5g} "
            f"+- {loss.plain_error:.2g})",
            f"reference  {known.loss:.6g}: {known.method}",
            f"           trained / reference = {loss.value / known.loss:.4f} on prompts as "
            "they are drawn",
        ]
    runs = enumerate(trained.runs, 1)
    each = [{"start": i, **vars(run)} for i, run in runs]
    return [
        f"prompts    d = {trained.d}, n = {trained.n}, noise {trained.noise:g}; who predicts 0 "
        f"loses {trained.power:.5g}",
        f"trained    {count(trained.layers, 'layer')}, {FREE_WEIGHTS[trained.free]}, "
        f"{'whitened' if trained.whiten else 'raw'} coordinates,",
        f"           L-BFGS on {trained.samples} fixed Gram matrices, random start, seed "
        f"{trained.seed}",
        f"loss       {loss.value:.5g} +- {loss.error:.2g} on {loss.samples} fresh "
        f"samples; 99 %: {outward(low, high, '.5g', ' .. ')}",
        *reference,
        f"rare       {rare.value:.5g} +- {rare.error:.2g} by importance sampling, the "
        f"heaviest of {rare.samples} has",
        f"           {100 * rare.share:.2g} % of it: {_verdict(trained)}",
        f"training   {trained.training_loss:.5g} on the samples it was trained on",
        "",
        "distance of the whitened matrices from a multiple of I, |M - (tr M/d) I| / |M|",
        table(["layer", "Q", "tr Q/d", "P", "tr P/d"], _distances(trained)),
        "",
        sheet(
            [{"start": i, **run} for i, run in enumerate(each, 1)],
            {"loss": ".5g"},
        ),
    ]


def _verdict(trained: Trained) -> str:
    """Say whether rare prompts, which plain sampling may miss, have much of the loss."""
    loss, rare = trained.loss, trained.rare
    gap = rare.value - loss.value
    if rare.share > 0.1 and gap > loss.value:
        return "prompts too rare to be drawn carry the mean"
    if gap > 4 * (loss.error**2 + rare.error**2) ** 0.5:
        return "rare prompts add to the mean"
    return "no sign of a loss on rare prompts"


def _distances(trained: Trained) -> list[list[str]]:
    """Return rows of distances by layer, without the last P, whose output is not used."""

    def cells(far: float, matrix: list[list[float]]) -> list[str]:
        return [f"{far:.3f}", f"{sum(row[i] for i, row in enumerate(matrix)) / len(matrix):.4g}"]

    moved = list(zip(trained.distance_p or [], trained.p or [], strict=False))
    return [
        [str(i), *cells(far, q), *(cells(*moved[i - 1]) if i <= len(moved) else ["-", "-"])]
        for i, (far, q) in enumerate(zip(trained.distance_q, trained.q, strict=True), 1)
    ]


def _curves(curves: Curves) -> list[str]:
    """Write the losses by depth, and how each is known."""
    depths = sorted({point.layers for point in curves.points})
    points: dict[tuple[str, int], Point] = {(p.name, p.layers): p for p in curves.points}
    present = [name for name in CURVES if (name, depths[0]) in points]

    def by_depth(title: str, names: Sequence[str], cell: Any) -> str:
        rows = [[name, *(cell(points[name, depth]) for depth in depths)] for name in names]
        return table([title, *(f"L = {depth}" for depth in depths)], rows)

    def loss(point: Point) -> str:
        return f"{point.loss:.4g}" if point.error is None else with_error(point.loss, point.error)

    known = "There is no reference: scalar curves are exact for task = sigma^-1 alone."
    if "optimal steps" in present:
        known = "Losses of steps and of the GD++ scalars that a search found are exact."
    last = {point.name: point.method for point in curves.points if point.rare}
    return [
        f"d = {curves.d}, n = {curves.n}, noise {curves.noise:g}; who predicts 0 loses "
        f"{curves.power:.5g}",
        "",
        by_depth("loss by number of layers", present, loss),
        "",
        wrap(f"{known} Trained losses have the standard error of the last digits in brackets."),
        *(f"{name}: {method}" for name, method in last.items()),
        "",
        by_depth(
            "largest distance of a Q to a multiple of I", CURVES[3:], lambda p: f"{p.distance:.3f}"
        ),
        "",
        by_depth(
            "loss with rare prompts",
            CURVES[3:],
            lambda p: f"{p.rare.value:.3g} {100 * p.rare.share:.0f}%",
        ),
        "",
        wrap(
            "The last table samples rare prompts more often; near 100%, the share of one sample, "
            "its value shows only that the loss is large."
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
    bracket = digit if digits else f"{error:.0f}"
    return f"{value / 10.0**power:.{digits}f}({bracket})" + (f"e{power:03d}" if power else "")


_WORDS: dict[type[Study], Any] = {
    Optimum: _optimum,
    Exact: _exact,
    Trained: _train,
    Curves: _curves,
}
