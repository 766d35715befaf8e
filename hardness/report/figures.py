"""Figures by name: the numbers of each from its source, and the picture from its numbers."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from hardness.lower.finite import FiniteFamily, of_family
from hardness.report import (
    attack_figures,
    collapse,
    descent,
    figure,
    icl,
    lower_figures,
    member_figures,
    parity_map,
    phase_figure,
    portrait,
    risks,
    scaling_figure,
    stages,
    stress_figure,
    walsh,
)
from hardness.report.canvas import Look, render
from hardness.report.charts import runs as run_charts
from hardness.report.charts.chart import write
from hardness.report.gallery import GALLERY
from hardness.report.panels import Panel, panels
from hardness.report.parts.source import climbs_of, comparison_of, is_store, phase_of
from hardness.runs import Comparison
from hardness.runs.noisy_parity import read_map
from hardness.runs.stress import read_stress
from instances.errors import UsageError
from instances.family import Family
from instances.strict import read_json

Data = dict[str, Any]

_NUMBERS: dict[str, Callable[[Any], Data]] = {
    "correlations": lower_figures.correlations,
    "eigenvalues": lower_figures.eigenvalues,
    "sda": lower_figures.sda,
    "walsh": walsh.weights,
    "portrait": portrait.of_portrait,
    "collapse": collapse.collapse_numbers,
    "heads": collapse.heads_numbers,
    "adversary": lambda path: lower_figures.adversary(read_json(path)),
    "stages": lambda path: stages.of_run(read_json(path)),
    "map": lambda path: parity_map.of_map(read_map(path)),
    "descent": descent.descent_numbers,
    "stress": lambda path: stress_figure.of_stress(read_stress(path)),
    "icl": icl.read_study,
}
_OF_COMPARISON: dict[str, Callable[[Comparison], Data]] = {
    "both-sides": run_charts.of_both_sides,
    "dial": stages.of_dial,
    "risks": risks.of_risks,
    "scaling": scaling_figure.of_scaling,
    "attacks": attack_figures.of_attacks,
    "training": attack_figures.of_training,
}
_SMALL, _WIDE = (6.0, 3.8), (10.0, 3.8)
DRAWINGS: dict[str, tuple[tuple[float, float], Callable[[Any, Data], None]]] = {
    "correlations": (_SMALL, lower_figures.draw_correlations),
    "eigenvalues": (_SMALL, lower_figures.draw_eigenvalues),
    "sda": (_SMALL, lower_figures.draw_sda),
    "walsh": (_SMALL, walsh.draw_weights),
    "portrait": (_WIDE, portrait.draw_portrait),
    "collapse": (_WIDE, collapse.draw_collapse),
    "heads": (_WIDE, collapse.draw_heads),
    "adversary": (_SMALL, lower_figures.draw_adversary),
    "both-sides": (figure.SIZE, figure.draw_both_sides),
    "phase": (phase_figure.SIZE, phase_figure.draw_phase),
    "stages": (_WIDE, stages.draw_run),
    "dial": (_WIDE, stages.draw_dial),
    "risks": (_WIDE, risks.draw_risks),
    "scaling": (_WIDE, scaling_figure.draw_scaling),
    "attacks": (_WIDE, attack_figures.draw_attacks),
    "training": (_SMALL, attack_figures.draw_training),
    "map": ((10.0, 6.2), parity_map.draw_map),
    "descent": (_WIDE, descent.draw_descent),
    "stress": ((10.0, 6.4), stress_figure.draw_stress),
}

# In the grammar of Vega-Lite; the others move here one by one.
CHARTS: dict[str, Callable[[Data], Data]] = {"both-sides": run_charts.draw_both_sides}


def numbers(name: str, source: Family | FiniteFamily | Path, choice: str | None = None) -> Data:
    """Collect the numbers of a figure from a family, its listed members, or a file or folder.

    choice: which part of a store is drawn, as "m=3,noise=0". Raises UsageError or DamagedFile for a
    source that does not have them.
    """
    if isinstance(source, Path) and name in _OF_COMPARISON:
        return _OF_COMPARISON[name](comparison_of(source, choice))
    if isinstance(source, Path) and name == "phase":
        return phase_of(source, choice)
    if isinstance(source, Path) and name == "stress" and is_store(source):
        return climbs_of(source, choice)
    if isinstance(source, Path) and is_store(source):
        drawn = [*_OF_COMPARISON, "phase", "stress"]
        raise UsageError(
            f"{source} given: it is a store, from which {', '.join(drawn)} are drawn; figure "
            f"{name} is {GALLERY[name].takes}"
        )
    if choice is not None:
        raise UsageError(f"--slice given: it chooses a part of a store, which {name} is not of")
    if isinstance(source, FiniteFamily):
        return member_figures.OF_MEMBERS[name](source)
    if not isinstance(source, Path) and source.scheme is None and source.factor is not None:
        listed = member_figures.OF_MEMBERS.get(name)
        if listed:
            return listed(of_family(source))
    return _NUMBERS[name](source)


def numbers_of(name: str, comparison: Comparison) -> Data:
    """Collect the numbers of a figure of a comparison; raises UsageError."""
    return _OF_COMPARISON[name](comparison)


def draw(name: str, data: Data, kind: str = "svg", look: Look = "paper") -> bytes:
    """Draw one figure from its numbers, as svg, png or pdf: the same bytes for the same numbers.

    look: "paper", or "talk" for a slide. Raises DamagedFile for a study with numbers missing.
    """
    if name == "icl":
        return icl.picture(data, kind, look)
    if name in CHARTS:
        return write(CHARTS[name](data), kind, look)
    size, build = DRAWINGS[name]
    return render(size, kind, lambda figure: build(figure, data), look)


def screen(name: str, data: Data, key: str) -> tuple[Panel, ...]:
    """Draw one figure for a page: each of its axes apart, themed, with what can be hovered."""
    size, build = icl.drawing_of(data) if name == "icl" else DRAWINGS[name]
    return panels(size, lambda figure: build(figure, data), key)
