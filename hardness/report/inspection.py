"""What `inspect` says of a family and a layer, in words."""

from typing import Any

from hardness.report.text import table, wrap
from hardness.runs.names import brief_spec
from instances.inspect import Inspection
from instances.text import shortened

_LIGHTS = {
    "green": "all green: as a random layer. The theorem's own constants ask for more at any size",
    "yellow": "{} yellow: at this size a light says little; the theorem's constants less",
    "red": "{} red: the theorem does not speak of this layer. That does not make it hard: most "
    "violations turned out harmless at small size, so try `hardness learn staged`",
}


def inspection_words(found: Inspection) -> str:
    """Write what `inspect` says of a family and, where it is known, of its layer."""
    facts = found.facts
    lines = [
        f"{key:20} {brief_spec(str(value)) if key == 'spec' else shortened(str(value))}"
        for key, value in facts.items()
        if isinstance(value, str | int | float) and key not in ("layer_error", "half_gap")
    ]
    for key in ("read_as", "left_out"):
        lines += [f"{key.replace('_', ' '):20} {one}" for one in facts.get(key, ())]
    if "not_shown" in facts:
        return "\n".join(lines)
    layer = facts["layer"]
    if layer is None:
        return "\n".join([*lines, "", "no secret part here: the layer itself is not known"])
    rows = [
        [str(i), *(f"{value:.4g}" for value in head.values())]
        for i, head in enumerate(layer["heads"])
    ]
    coherence = (
        f"coherence of the Theta_i {layer['coherence']:.3f}, of the W_i {layer['w_coherence']:.3f}"
    )
    header = ["head", "|Theta|", "|W|", "Theta rank", "W rank", "|trace|/|Theta|"]
    note = wrap(
        "Ranks are stable ranks. |Theta| is the standard deviation of a head's logits on "
        "independent tokens of covariance 1, the tau of the family dial: far below 1 attention is "
        "nearly linear, far above it nearly picks one token."
    )
    if apart := facts.get("linearity"):
        header.append("not linear")
        shares = ("-" if share is None else f"{share:.3g}" for share in apart["heads"])
        rows = [[*row, share] for row, share in zip(rows, shares, strict=True)]
        note += "\n" + linearity_words(apart)
    lines += ["", table(header, rows), note, coherence, "", structure_words(facts)]
    return "\n".join([*lines, *(["", fine_print_words(facts)] if facts["fine_print"] else [])])


def linearity_words(found: dict[str, Any]) -> str:
    """Write how far a layer is from linear attention."""
    return wrap(
        "Not linear: the share of a head's output that the best linear attention leaves; together "
        f"they leave {found['share']:.3g} ± {found['error']:.1g} of the layer's (one standard "
        f"error), on {found['examples']} draws of {found['k']} standard normal tokens."
    )


def structure_words(facts: dict[str, Any]) -> str:
    """Write how near a layer is to those that hide a parity."""
    found = facts["structure"]
    if found["one_w"] is None:
        return "one head with an output: no other to compare it with"
    said = f"the W_i share one direction by {found['one_w']:.3f} (1: they are parallel)"
    if found["one_step"] is None:
        return wrap(f"{said}; the Theta_i are equal")
    aside = "" if found["aside"] is None else f", leaving out head {found['aside']}"
    if sum(head["w_norm"] > 0 for head in facts["layer"]["heads"]) == 2:
        said += f"; the two Theta_i differ by a matrix of stable rank {found['step_rank']:.3g}"
    else:
        said += (
            f"; the Theta_i differ along one matrix by {found['one_step']:.3f} (1: they lie on one "
            f"line), of stable rank {found['step_rank']:.3g}{aside}"
        )
    if found["parity_like"]:
        said += (
            ". That is how the hard families are built: heads that compare one hidden linear form "
            "with thresholds. It proves nothing of this layer"
        )
    return wrap(said)


def fine_print_words(facts: dict[str, Any]) -> str:
    """Write the conditions of the theorem about layers that can be learned, with their lights."""
    rows = [[c["light"], named(c), f"{c['value']:.3g}", c["asks"]] for c in facts["fine_print"]]
    lines = [
        "fine print: layers that meet it can be learned to a small error (after CL24)",
        table(["light", "condition", "value", "asks"], rows),
    ]
    lights = [c["light"] for c in facts["fine_print"]]
    worst = next(light for light in ("red", "yellow", "green") if light in lights)
    said = _LIGHTS[worst].format(lights.count(worst))
    first = facts["first_failure"]
    if first:
        said += f". The first that the learner's stages meet: {named(first)} {first['value']:.3g}"
        heads = [v for v in first["by_head"] if v is not None]
        if len(heads) > 1 and first["value"] in heads:
            said += f", of head {first['by_head'].index(first['value'])}"
    return "\n".join([*lines, wrap(said)])


def named(condition: dict[str, Any]) -> str:
    """Name a condition with what it is of."""
    of = {"theta": "Theta ", "w": "W ", "size": ""}[condition["of"]]
    return f"{of}{condition['name']}"
