"""The portrait of a family: what the member of seed 0 computes, by its formula and by its layer.

Every number of the layer is an output of the real softmax or linear layer on real tokens.
"""

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hardness.report.charts.chart import Data, named
from hardness.report.charts.style import COLOURS
from hardness.report.charts.trace import RING, WHOLE, Trace, beside, foot, level, panel, reach, wall
from hardness.upper.spectra import spectrum
from instances import tokens
from instances.capabilities import (
    CODED,
    FACTOR,
    HIDDEN_DIRECTION,
    LINEAR_FORMS,
    PROVED_AS,
    REAL_LABELS,
    SCHEME,
)
from instances.coded import Coded, FactorTables
from instances.dense import Dense
from instances.errors import UsageError
from instances.family import Family
from instances.layer import AttentionLayer, pair_products, softmax_rows
from instances.modular import Modular
from instances.parameters import brief
from instances.symmetric import Symmetric

if TYPE_CHECKING:
    from instances.families.direction import Direction

Array = NDArray[np.float64]
_MOST_NUMBERS = 1 << 22  # in the Theta_i: a layer that is drawn in a second
_EXAMPLES, _TOKENS = 2000, 512  # of residues; of random layers
_CURVE = 40  # points between two integers
_MOST_T = 4000  # integers t that are drawn
_SCALES = tuple(2.0**i for i in range(-4, 5))
_BINS = 30
_SAME = 1e-9  # of two levels
_BLUE, _RED, _GREEN = COLOURS[:3]
_GREYISH = "#999999"
_LABEL = "The label, where z_0 = −1"
_SIZE = (330, 220)


def of_portrait(family: Family) -> Data:
    """Collect what the member of seed 0 computes: a different picture for each kind of family.

    kind: profile (label against h), residues (label against <a, s> mod q), heads (singular values
    and attention weights), linear (growth with the tokens), direction (the layer's response along
    it, and weight by Hermite degree), three-tokens (labels against the places at which tokens
    differ), factor (the layer's factor at each level, and weight by
    degree, of any other whose factor is a table). Raises UsageError for other families and for
    layers too large to draw.

    >>> from instances import parse
    >>> found = of_portrait(parse("parity:d=8,m=3"))
    >>> found["formula"], [round(v, 9) for v in found["layer"]]
    ([1.0, -1.0, 1.0, -1.0], [1.0, -1.0, 1.0, -1.0])
    """
    if family.layer_heads * family.d**2 > _MOST_NUMBERS:
        raise UsageError(
            f"{family.spec[:200]} given: {family.layer_heads} heads of {family.d} x {family.d} "
            "numbers are too many for a portrait, take smaller parameters"
        )
    proved = PROVED_AS.of(family)
    hidden = SCHEME.of(family) or (proved and proved[0])
    if hidden and (coded := CODED.of(family)):
        found = _profile(coded, hidden)
    elif forms := LINEAR_FORMS.of(family):
        found = _residues(forms)
    elif direction := HIDDEN_DIRECTION.of(family):
        found = _direction(direction)
    elif dense := REAL_LABELS.of(family):
        three = proved and proved[1] == "three-tokens"
        found = _three(dense) if three else _random(dense)
    else:
        found = _factor(FACTOR.need(family))
    return {"spec": family.spec, "about": brief(family, family.name), **found}


def _profile(family: Coded, hidden: Symmetric) -> Data:
    """The label's factor and the layer's against h, and every head between 0 and m.

    hidden: the hidden sets that the family's are. known: where z_0 = +1, None where that is never.
    """
    secret = family.instance(0).hidden.secret
    x = np.ones((hidden.m + 1, 2, family.d))
    x[:, 1, 0] = -1
    for h in range(hidden.m + 1):
        x[h, 1, list(secret[:h])] = -1
    closed = x.copy()
    closed[:, 1, 0] = 1
    layer = family.layer(secret)
    at = np.linspace(0, hidden.m, _CURVE * hidden.m + 1)
    heads = family.curves(at)
    if heads is None:
        raise UsageError(f"{family.spec[:200]} given: its heads are no functions of h")
    data: Data = {
        "kind": "profile",
        "h": list(range(hidden.m + 1)),
        "formula": _plain([float(v) for v in hidden.values]),
        "mean": _plain(family.factor_of(x, family.mean(secret, x))),
        "noise": float(family.noise),
        "layer": _plain(family.factor_of(x, family.outer(layer(x)))),
        "known": None,
        "at": _plain(at),
        "heads": [_plain(head) for head in heads],
        "sum": _plain(family.outer(np.sum(heads, axis=0))),
    }
    if family.outer_text:
        data["on_top"] = "P"
    if family.open_share < 1:
        data["known"] = float(family.known_constant)
        data["layer_known"] = _plain(family.factor_of(closed, family.outer(layer(closed))))
    return data


def _residues(family: Modular) -> Data:
    """The label's factor by <a, s> mod q and the layer's on examples; the same against t.

    layer: of examples with z_0 = -1, [t, factor]. deviation: of the label, given the residue.
    steps: t -> E of the label's factor, by the heads. share: of examples.
    """
    family.require_table()
    instance = family.instance(0)
    secret = instance.hidden.secret
    drawn = instance.examples(0, _EXAMPLES, axis="portrait")
    x = np.asarray(drawn.x)
    opened = x[:, 0, 0] != x[:, 1, 0]
    x = x[opened]
    t = family.inner(secret, tokens.pack(x))
    factor = (family.layer(secret)(x) * x)[:, 0, 0]
    steps = family.steps(secret)
    weights = family.weights(secret)
    low, high = int(weights[weights < 0].sum()), int(weights[weights > 0].sum())
    if high - low > _MOST_T:
        raise UsageError(
            f"{family.spec[:200]} given: t takes {high - low} steps, a portrait at most {_MOST_T}: "
            "take a smaller q, n or h"
        )
    places = np.arange(low, high + 1)
    square = np.zeros(family.q)
    for e in np.flatnonzero(family.chances):
        square += family.chances[e] * np.roll(family.noiseless**2, -e)
    deviation = np.sqrt(np.maximum(square - family.response**2, 0))
    return {
        "kind": "residues",
        "q": family.q,
        "secret": list(secret),
        "formula": _plain(family.noiseless),
        "mean": _plain(family.response),
        "deviation": _plain(deviation),
        "examples": len(x),
        "layer": [list(pair) for pair in sorted(_pairs(t, factor))],
        "t": places.tolist(),
        "steps": _plain(steps(places)),
        "wanted": _plain(family.response[places % family.q]),
        "centres": _plain(steps.centre),
        "share": _plain(np.bincount(t - low, minlength=len(places)) / len(t)),
    }


def _factor(tables: FactorTables) -> Data:
    """The factor that the layer computes on examples, by the level of the formula; the spectrum.

    low, high: of the layer's factor at each level, None where no example has it. share: of z that
    have the level. weight: of the member without noise, by degree.
    """
    family, instance = tables.family, tables.family.instance(0)
    secret = instance.hidden.secret
    x = np.asarray(instance.examples(0, _EXAMPLES, axis="portrait").x)
    opened = x[:, 0, 0] != x[:, 1, 0]
    found = family.factor_of(x, family.outer(instance.layer()(x)))
    wanted = family.factor_of(x, family.computed(secret, x))
    at = [found[opened & (np.abs(wanted - v) < _SAME)] for v in family.factors]
    codes = tables.codes(secret)
    return {
        "kind": "factor",
        "levels": _plain(family.factors),
        "share": _plain(np.bincount(codes, minlength=len(family.levels)) / len(codes)),
        "low": [float(f"{v.min():.9g}") if len(v) else None for v in at],
        "high": [float(f"{v.max():.9g}") if len(v) else None for v in at],
        "examples": int(opened.sum()),
        "known": float(family.known_constant) if family.open_share < 1 else None,
        "layer_known": _plain(np.unique(np.round(found[~opened], 9))),
        "weight": spectrum(tables.table(secret)).weights.round(12).tolist(),
    }


def _direction(family: "Direction") -> Data:
    """What stands for G in labels against u: by the formulas, and as the layer computes it.

    layer: of examples, [u, factor]. weight: of the sign, by degree.
    """
    instance = family.instance(0)
    secret = instance.hidden.secret
    x = np.asarray(instance.examples(0, _TOKENS, axis="portrait").x)
    public = family.labelled(x, np.zeros(len(x)))
    shown = (instance.layer()(x) - public)[:, :, 1] @ [1, -1] / (x[:, 0, 1] - x[:, 1, 1])
    u, far = family.hidden(secret, x), 1.3 * max(2.0, family.response.places[-1])
    pairs = sorted(zip(u, shown, strict=True))[::4]
    at = np.linspace(-far, far, _CURVE * 20 + 1)
    return {
        "kind": "direction",
        "u": _plain(at),
        "sign": _plain(family.response.signs(at)),
        "sum": _plain(family.response(at)),
        "layer": [_plain(pair) for pair in pairs if abs(pair[0]) < far],
        "weight": _plain(family.weights[: 4 * family.m + 1]),
    }


def _three(family: Dense) -> Data:
    """What the layer's labels are over X[l,0] on open examples of three tokens.

    even: of rows that are not odd at coordinate 0, [places of S at which the odd token differs,
    factor]; odd: of odd rows, the same with the places of both others, added.
    """
    instance = family.instance(0)
    x = np.asarray(instance.examples(0, _EXAMPLES, axis="portrait").x)
    x = x[np.abs(x[:, :, 0].sum(axis=1)) == 1]
    hidden = list(instance.hidden.secret)
    apart = (x[:, :, None, hidden] != x[:, None, :, hidden]).sum(axis=3)
    odd = x[:, :, 0] != np.sign(x[:, :, 0].sum(axis=1, keepdims=True))
    factor = (instance.layer()(x) * x)[:, :, 0]
    to_odd = (apart * odd[:, None, :]).sum(axis=2)
    return {
        "kind": "three-tokens",
        "even": [list(pair) for pair in sorted(_pairs(to_odd[~odd], factor[~odd]))],
        "odd": [list(pair) for pair in sorted(_pairs(apart.sum(axis=2)[odd], factor[odd]))],
        "heads": family.layer_heads,
        "examples": len(x),
    }


def _pairs(t: NDArray[np.int64], factor: Array) -> set[tuple[int, float]]:
    return {(int(a), round(float(b), 9)) for a, b in zip(t, factor, strict=True)}


def _random(family: Dense) -> Data:
    """Singular values of a random layer; its attention weights, or its growth where linear."""
    instance = family.instance(0)
    layer = instance.layer()
    data: Data = {
        "kind": "linear" if layer.kind == "linear" else "heads",
        "theta": [_plain(np.linalg.svd(v, compute_uv=False)) for v in layer.theta],
        "w": [_plain(np.linalg.svd(v, compute_uv=False)) for v in layer.w],
        "examples": _TOKENS,
    }
    x = np.asarray(instance.examples(0, _TOKENS, axis="portrait").x, np.float64)
    return data | (_growth(layer, x) if layer.kind == "linear" else _weights(layer, x))


def _growth(layer: AttentionLayer, x: Array) -> Data:
    """Root mean square of the outputs on tokens times a scale, with and without the softmax."""
    soft = AttentionLayer(theta=layer.theta, w=layer.w)
    return {
        "scales": list(_SCALES),
        "linear": _plain([_rms(layer(scale * x)) for scale in _SCALES]),
        "softmax": _plain([_rms(soft(scale * x)) for scale in _SCALES]),
    }


def _weights(layer: AttentionLayer, x: Array) -> Data:
    """Attention weights of all heads against logits less the mean of their row.

    edges: of bins of equal width. low, middle, high: the 5, 50 and 95 % points of the weights in a
    bin, None where it has none. first: the first order, (1 + logit)/k.
    """
    k, d = x.shape[1:]
    logits = []
    for theta in layer.theta:
        logits.append(pair_products((x.reshape(-1, d) @ theta).reshape(x.shape), x))
    raw = np.stack(logits)
    weights = softmax_rows(raw).ravel()
    centred = (raw - raw.mean(axis=-1, keepdims=True)).ravel()
    reach = float(np.ceil(np.quantile(np.abs(centred), 0.999) * 10) / 10)
    edges = np.linspace(-reach, reach, _BINS + 1)
    place = np.digitize(centred, edges) - 1
    bins = [weights[place == i] for i in range(_BINS)]
    middle = (edges[1:] + edges[:-1]) / 2
    return {
        "k": k,
        "deviation": float(f"{centred.std():.9g}"),
        "edges": _plain(edges),
        "share": _plain([len(b) / len(weights) for b in bins]),
        "low": [_quantile(b, 0.05) for b in bins],
        "middle": [_quantile(b, 0.5) for b in bins],
        "high": [_quantile(b, 0.95) for b in bins],
        "first": _plain((1 + middle) / k),
    }


def _quantile(values: Array, level: float) -> float | None:
    return float(f"{np.quantile(values, level):.9g}") if len(values) else None


def _rms(values: Array) -> float:
    return float(np.sqrt(np.mean(values**2)))


def _plain(values: Any) -> list[float]:
    """Numbers for JSON, in nine digits: the rest differs between machines."""
    return [float(f"{float(v):.9g}") for v in values]


def draw_portrait(data: Data) -> Data:
    """Draw both panels of a portrait."""
    kinds = {"profile": _draw_profile, "residues": _draw_residues, "factor": _draw_factor}
    kinds |= {"heads": _draw_heads, "linear": _draw_linear, "direction": _draw_direction}
    kinds["three-tokens"] = _draw_three
    left, right = kinds[data["kind"]](data)
    return beside(left, right, title=f"{named(data['about'], 110)}, member of seed 0")


def _formula(data: Data, x: list[int], noisy: bool) -> list[Trace]:
    """The label by the formula, as rings on a line."""
    name = "mean label, by the formula" if noisy else "label, by the formula"
    line = Trace(x=x, y=data["mean"], marks=("line",), stepped="step", thick=0.6)
    return [line, Trace(name=name, x=x, y=data["mean"], marks=("point",), shape=RING)]


def _layer(name: str, x: list[float], y: list[float]) -> Trace:
    return Trace(name=name, x=x, y=y, marks=("point",), colour=_RED, shape="cross")


def _where_known(data: Data) -> Trace:
    return level(f"where z_0 = +1: A = {data['known']:.3g}", data["known"], _GREEN, (5, 3))


def _draw_profile(data: Data) -> tuple[Data, Data]:
    h = data["h"]
    count, total, layer = f"{len(data['heads'])} heads as threshold units", "their sum", "layer"
    if "on_top" in data:
        count, total, layer = "One head, and P of it", "P of the head", "P of the layer"
    known = []
    if data["known"] is not None:
        met = Trace(x=h, y=data["layer_known"], marks=("point",), colour=_GREEN, shape="cross")
        known = [_where_known(data), met]
    left = panel(
        [*known, *_formula(data, h, data["noise"] > 0), _layer(layer, h, data["layer"])],
        title=_LABEL,
        x="h, hidden coordinates with z_j = −1",
        y="label / own token",
        axes={"x": WHOLE},
        size=_SIZE,
    )
    heads = [v for head in data["heads"] for v in (*head, None)]
    at = [v for _ in data["heads"] for v in (*data["at"], data["at"][-1])]
    right = panel(
        [
            Trace(name="heads", x=at, y=heads, marks=("line",), colour=_GREYISH, thick=0.6),
            Trace(name=total, x=data["at"], y=data["sum"], marks=("line",), colour=_RED),
            Trace(name="formula", x=h, y=data["formula"], marks=("point",), shape=RING),
        ],
        title=count,
        x="h, between the integers as well",
        y="contribution",
        axes={"x": WHOLE},
        size=_SIZE,
    )
    return left, right


def _draw_residues(data: Data) -> tuple[Data, Data]:
    q, residues = data["q"], list(range(data["q"]))
    mean, deviation = data["mean"], data["deviation"]
    noisy = max(deviation) > 0
    around = Trace(
        name="± the label's standard deviation",
        x=residues,
        low=[m - s for m, s in zip(mean, deviation, strict=True)],
        high=[m + s for m, s in zip(mean, deviation, strict=True)],
        marks=("band",),
        stepped="step",
    )
    on = _layer(
        f"layer, {data['examples']} examples",
        [t % q for t, _ in data["layer"]],
        [v for _, v in data["layer"]],
    )
    left = panel(
        [*([around] if noisy else []), *_formula(data, residues, noisy), on],
        title=_LABEL,
        x=f"<a, s> mod {q}",
        y="label / own token",
        axes={"x": WHOLE},
        size=_SIZE,
    )
    t = data["t"]
    ends = reach([*data["steps"], *data["wanted"]])
    right = panel(
        [
            foot("share of examples", [v - 0.5 for v in (*t, t[-1] + 1)], data["share"], ends),
            wall(f"{len(data['centres'])} heads that step", *data["centres"], colour="#9FCFB5"),
            Trace(
                name="sum of heads", x=t, y=data["steps"], marks=("line",), colour=_RED,
                stepped="step",
            ),
            Trace(name="formula", x=t, y=data["wanted"], marks=("point",), shape=RING),
        ],
        title="Heads as steps in t",
        x="t, the integer that is <a, s> mod q",
        y="mean label / own token",
        domains={"y": ends},
        axes={"x": WHOLE},
        size=_SIZE,
    )  # fmt: skip
    return left, right


def _draw_factor(data: Data) -> tuple[Data, Data]:
    rows = zip(data["levels"], data["low"], data["high"], strict=True)
    ends = [(v, end) for v, *both in rows if both[0] is not None for end in both]
    left = panel(
        [
            *([] if data["known"] is None else [_where_known(data)]),
            Trace(name="formula", x=data["levels"], y=data["levels"], marks=("point",), shape=RING),
            _layer(
                f"layer, {data['examples']} examples", [v for v, _ in ends], [e for _, e in ends]
            ),
        ],
        title=_LABEL,
        x="level, by the formula",
        y="factor of the label",
        size=_SIZE,
    )
    right = panel(
        [Trace(name="member, without noise", x=range(len(data["weight"])), y=data["weight"],
               marks=("bar",))],
        title="Walsh weight by degree",
        x="degree in z",
        y="weight (sum of squared coefficients)",
        domains={"y": (0.0, 1.05 * max(data["weight"]) or 1.0)},
        axes={"x": WHOLE},
        size=_SIZE,
    )  # fmt: skip
    return left, right


def _draw_direction(data: Data) -> tuple[Data, Data]:
    u, shown = ([pair[i] for pair in data["layer"]] for i in (0, 1))
    on = _layer(f"layer, {len(u)} examples", u, shown)
    left = panel(
        [
            Trace(name="sign", x=data["u"], y=data["sign"], marks=("line",), colour=_GREYISH),
            Trace(name="sum of heads", x=data["u"], y=data["sum"], marks=("line",)),
            on,
        ],
        title="What labels show of the direction",
        x="u, along the direction",
        y="factor of the label",
        size=_SIZE,
    )
    right = panel(
        [Trace(name="sign", x=range(len(data["weight"])), y=data["weight"], marks=("bar",))],
        title="Hermite weight by degree",
        x="degree in u",
        y="squared coefficient",
        domains={"y": (0.0, 1.05 * max(data["weight"]))},
        axes={"x": WHOLE},
        size=_SIZE,
    )
    return left, right


def _draw_three(data: Data) -> tuple[Data, Data]:
    def row(which: str, title: str, x: str) -> Data:
        places = sorted({place for place, _ in data[which]})
        formula = [(-1.0) ** place for place in places]
        shown = ([pair[i] for pair in data[which]] for i in (0, 1))
        return panel(
            [
                *_formula({"mean": formula}, places, noisy=False),
                _layer(f"layer of {data['heads']} heads, {data['examples']} examples", *shown),
            ],
            title=title,
            x=x,
            y="label / own token",
            axes={"x": WHOLE},
            size=_SIZE,
        )

    return (
        row("even", "A row that is not odd", "places of S at which the odd token differs"),
        row("odd", "The odd row", "places of S at which the others differ, added"),
    )


def _singular(data: Data) -> Data:
    values = {"Theta_i": data["theta"], "W_i": data["w"]}
    looks = zip(values.items(), ((_BLUE, "circle"), (_RED, "square")), strict=True)
    return panel(
        [
            Trace(
                name=name,
                x=[i for one in heads for i in (*range(1, len(one) + 1), len(one))],
                y=[v for one in heads for v in (*one, None)],
                colour=colour,
                shape=shape,
            )
            for (name, heads), (colour, shape) in looks
        ],
        title=f"Singular values of {len(data['theta'])} heads",
        x="number of the singular value",
        y="singular value",
        domains={"y": (0.0, 1.05 * max(v for one in (*data["theta"], *data["w"]) for v in one))},
        axes={"x": WHOLE},
        size=_SIZE,
    )


def _draw_heads(data: Data) -> tuple[Data, Data]:
    edges, ends = data["edges"], (-0.05, 1.05)
    at = [(a + b) / 2 for a, b in pairwise(edges)]
    right = panel(
        [
            foot("share of logits", edges, data["share"], ends),
            Trace(name="5 to 95 %", x=at, low=data["low"], high=data["high"], marks=("band",)),
            Trace(name="attention weight, median", x=at, y=data["middle"]),
            Trace(
                name="its first order", x=at, y=data["first"], marks=("line",), colour=_RED,
                dash=(5, 3),
            ),
        ],
        title=f"What {data['k']} tokens get, {data['examples']} examples",
        x="logit less the mean of its row",
        y="attention weight",
        domains={"y": ends},
        size=_SIZE,
    )  # fmt: skip
    return _singular(data), right


def _draw_linear(data: Data) -> tuple[Data, Data]:
    right = panel(
        [
            Trace(name="linear attention: cube of the scale", x=data["scales"], y=data["linear"]),
            Trace(
                name="the same heads with softmax",
                x=data["scales"],
                y=data["softmax"],
                colour=_RED,
                shape="square",
            ),
        ],
        title=f"Growth with the tokens, {data['examples']} examples",
        x="factor on the tokens",
        y="output, root mean square",
        log="xy",
        size=_SIZE,
    )
    return _singular(data), right
