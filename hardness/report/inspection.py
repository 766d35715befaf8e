"""The result of `inspect` on a family and a layer, in words."""

from typing import Any

from hardness.report.text import table, wrap
from hardness.runs.names import brief_spec
from instances.inspect import Inspection
from instances.text import shortened


def inspection_words(inspection: Inspection) -> str:
    """Write the facts about a family and, if it is known, about its layer."""
    facts = inspection.facts
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
    header = ["head", "|Theta|", "|W|", "Theta rank", "W rank", "|trace|/|Theta|"]
    note = wrap(
        "|Theta| is the standard deviation of a head's logits of two different tokens: far below "
        "1 attention is nearly linear, far above 1 it nearly selects one token. Ranks are stable "
        "ranks."
    )
    lines += ["", table(header, rows), "", note]
    return "\n".join([*lines, *(["", fine_print_words(facts)] if facts["fine_print"] else [])])


def fine_print_words(facts: dict[str, Any]) -> str:
    """Write the conditions of the learnability theorem [CL24], measured on a layer."""
    rows = [[condition_name(c), f"{c['value']:.3g}", c["asks"]] for c in facts["fine_print"]]
    return "\n".join(
        [
            "Conditions under which such layers can be learned to a small error [CL24]:",
            table(["condition", "value", "the theorem asks for"], rows),
            "",
            wrap(
                "The theorem is asymptotic and sets no threshold at one size: a layer that fails a "
                "condition is not proved hard, try `hardness learn staged`."
            ),
        ]
    )


def condition_name(condition: dict[str, Any]) -> str:
    """Return the name of a condition, with the matrix that it is about."""
    matrix = {"theta": "Theta ", "w": "W ", "size": ""}[condition["of"]]
    return f"{matrix}{condition['name']}"
