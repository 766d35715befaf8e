"""What `inspect` says of a family and a layer, in words."""

from typing import Any

from hardness.report.text import table, wrap
from hardness.runs.names import brief_spec
from instances.inspect import Inspection
from instances.text import shortened


def inspection_words(found: Inspection) -> str:
    """Write what `inspect` says of a family and, where it is known, of its layer."""
    facts = found.facts
    lines = [
        f"{key:20} {brief_spec(str(value)) if key == 'spec' else shortened(str(value))}"
        for key, value in facts.items()
        if isinstance(value, str | int | float)
    ]
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
        "independent tokens of covariance 1, the scale of the family nice: far below 1 attention "
        "is nearly linear, far above it nearly picks one token."
    )
    lines += ["", table(header, rows), note, coherence, "", structure_words(facts)]
    return "\n".join([*lines, *(["", fine_print_words(facts)] if facts["fine_print"] else [])])


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
    """Write the conditions of the theorem about layers that can be learned."""
    rows = [[named(c), f"{c['value']:.3g}", c["asks"]] for c in facts["fine_print"]]
    return "\n".join(
        [
            "fine print: layers that meet it can be learned to a small error (after CL24)",
            table(["condition", "value", "the theorem asks for"], rows),
            wrap(
                "The theorem is asymptotic and its constants say nothing at one size. A layer that "
                "fails a condition is not proved hard: try `hardness learn staged`."
            ),
        ]
    )


def named(condition: dict[str, Any]) -> str:
    """Name a condition with what it is of."""
    of = {"theta": "Theta ", "w": "W ", "size": ""}[condition["of"]]
    return f"{of}{condition['name']}"
