"""What `inspect` says of a family and a layer, in words."""

import textwrap
from typing import Any

from hardness.report.text import table, wrap
from hardness.runs.names import brief_spec
from instances.text import shortened


def inspection_words(facts: dict[str, Any]) -> str:
    """Write what `inspect` says of a family and, where it is known, of its layer."""
    lines = [
        _hang(f"{key:15} ", brief_spec(value) if key == "spec" else shortened(str(value)))
        for key, value in facts.items()
        if key not in ("layer", "fine_print", "layer_error", "half_gap")
    ]
    layer = facts["layer"]
    if "not_shown" in facts:
        return "\n".join(lines)
    if layer is None:
        return "\n".join([*lines, "", "no secret part here: the layer itself is not known"])
    rows = [
        [str(i), *(f"{value:.4g}" for value in head.values())]
        for i, head in enumerate(layer["heads"])
    ]
    coherence = (
        f"coherence of the Theta_i {layer['coherence']:.3f}, of the W_i {layer['w_coherence']:.3f}"
    )
    header = ["head", "|Theta|", "|W|", "stable rank", "|trace|/|Theta|"]
    told = ["", fine_print_words(facts)] if facts["fine_print"] else []
    return "\n".join([*lines, "", table(header, rows), coherence, *told])


def fine_print_words(facts: dict[str, Any]) -> str:
    """Write the conditions of the theorem that layers can be learned, with their lights."""
    lines = ["fine print of the theorem that such layers can be learned (after CL24)"]
    for c in facts["fine_print"]:
        what = f"{'Theta' if c['of'] == 'theta' else 'W'} {c['name']}"
        lines += [_hang(f"  {c['light']:7} {what:18} {c['value']:<8.3g} ", c["asks"])]
    lights = [c["light"] for c in facts["fine_print"]]
    red, yellow = lights.count("red"), lights.count("yellow")
    if red:
        said = (
            f"{red} red: the theorem does not speak of this layer. That is no hardness: most "
            "violations turned out harmless at small size, so try `hardness learn staged`"
        )
    elif yellow:
        said = f"{yellow} yellow: at this size a light says little; the theorem's constants less"
    else:
        said = "all green: as a random layer. The theorem's own constants ask for more at any size"
    return "\n".join([*lines, wrap(said)])


def _hang(start: str, text: str) -> str:
    """Write text after a start, its further lines below its first."""
    return textwrap.fill(
        text,
        80,
        initial_indent=start,
        subsequent_indent=" " * len(start),
        break_long_words=False,
        break_on_hyphens=False,
    )
