"""The figures of `hardness figure`: what each shows, what it is drawn from, and which module does.

A new figure NAME is a line of `FIGURES` and two functions of its module in `charts`: `of_NAME`
collects its numbers, as JSON, and `draw_NAME` makes a chart of these alone.
"""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from instances.errors import UsageError

if TYPE_CHECKING:
    from hardness.lower.finite import FiniteFamily
    from hardness.report.panels import Panel
    from instances.family import Family

Data = dict[str, Any]
Collect = Callable[[Any], Data]
_COMPARE, _STRESS = "compare ... --out DIR", "stress ... --out FILE"
_MAP, _ICL = "map SPEC --out DIR", "icl ... --out DIR"
_STAGED = "learn staged SPEC --out FILE"
_GAME = "learn NAME SPEC --oracle adversary --transcript FILE"


@dataclass(frozen=True)
class Figure:
    """A figure: what it shows, and its module in `charts`.

    made: the command that wrote what it is drawn from; empty for one of a SPEC. members: whether it
    is drawn of functions of a file and of layers in a folder, too.
    """

    shows: str
    module: str
    made: str = ""
    members: bool = False

    @property
    def takes(self) -> str:
        """Say what stands in the place of SOURCE.

        >>> FIGURES["sda"].takes, FIGURES["map"].takes
        ('a SPEC', 'of `hardness map SPEC --out DIR`')
        """
        return f"of `hardness {self.made}`" if self.made else "a SPEC"

    @property
    def of_store(self) -> bool:
        """Return whether it is drawn of a store of `hardness sweep`, too."""
        return self.made in (_COMPARE, _STRESS)


FIGURES: dict[str, Figure] = {
    "both-sides": Figure("costs of learners beside certified bounds", "runs", _COMPARE),
    "phase": Figure("where learners solve, over two parameters, beside bounds", "", _COMPARE),
    "risks": Figure("relative risk and examples, over a parameter", "", _COMPARE),
    "scaling": Figure("costs with fitted power laws", "", _COMPARE),
    "attacks": Figure("time of attacks beside estimates", "", _COMPARE),
    "training": Figure("advantage of trained networks by steps", "", _COMPARE),
    "dial": Figure("error after each stage of staged, over a parameter", "", _COMPARE),
    "stages": Figure("what the stages of one run of staged saw", "", _STAGED),
    "stress": Figure("how far learners climb a ladder, and at what cost", "", _STRESS),
    "map": Figure("noisy parity: examples against time, bounds and runs", "parity_map", _MAP),
    "adversary": Figure("members left after each query of a game", "bounds", _GAME),
    "icl": Figure("a study of in-context regression", "icl", _ICL),
    "correlations": Figure("correlation of two members, how often", "bounds", members=True),
    "eigenvalues": Figure("spectrum of the Gram matrix of all members", "bounds", members=True),
    "sda": Figure("statistical dimension, average correlation", "bounds", members=True),
    "walsh": Figure("Walsh weight of an LWE-style member by degree", "spectra"),
    "portrait": Figure("what a member computes, by formula and layer", "portrait"),
    "collapse": Figure("least squares: error by number of examples", "linear"),
    "heads": Figure("what fits of 0 to 8 heads leave", "linear"),
    "descent": Figure("noisy gradient descent beside its bound", "descent"),
}


def numbers(name: str, source: "Family | FiniteFamily | Path", choice: str | None = None) -> Data:
    """Collect the numbers of a figure from a family, its listed members, or a file or folder.

    choice: which part of a store is drawn, as "m=3,noise=0". Raises UsageError or DamagedFile for a
    source that does not have them.
    """
    figure = FIGURES[name]
    if isinstance(source, Path):
        return _of_path(name, figure, source, choice)
    if choice is not None:
        raise UsageError(f"--slice given: it chooses a part of a store, which {name} is not of")
    if figure.members:
        from hardness.lower.finite import FiniteFamily, of_family

        if not isinstance(source, FiniteFamily) and source.scheme is None and source.factor:
            source = of_family(source)
    return _collect(name)(source)


def _of_path(name: str, figure: Figure, path: Path, choice: str | None) -> Data:
    from hardness.report.parts.source import climbs_of, comparison_of, is_store, phase_of

    if name == "phase":
        return phase_of(path, choice)
    if figure.made == _COMPARE:
        return numbers_of(name, comparison_of(path, choice))
    if is_store(path):
        if name == "stress":
            return climbs_of(path, choice)
        drawn = ", ".join(key for key, one in FIGURES.items() if one.of_store)
        raise UsageError(
            f"{path} given: it is a store, from which {drawn} are drawn; figure {name} is "
            f"{figure.takes}"
        )
    if choice is not None:
        raise UsageError(f"--slice given: it chooses a part of a store, which {name} is not of")
    return _collect(name)(_read(name, path))


def _read(name: str, path: Path) -> Any:
    if name == "map":
        from hardness.runs.noisy_parity import read_map

        return read_map(path)
    if name == "stress":
        from hardness.runs.stress import read_stress

        return read_stress(path)
    if name == "icl":
        return path
    from instances.strict import read_json

    return read_json(path)


def numbers_of(name: str, comparison: Any) -> Data:
    """Collect the numbers of a figure of a comparison; raises UsageError."""
    return _collect(name)(comparison)


def draw(name: str, data: Data, kind: str = "svg", look: Any = "paper") -> bytes:
    """Draw one figure from its numbers, as svg, png or pdf.

    look: "paper", or "talk" for a slide. Raises DamagedFile for a study with numbers missing.
    """
    if name in _OLD and not FIGURES[name].module:
        from hardness.report.canvas import render

        size, build = _drawing(name)
        return render(size, kind, lambda figure: build(figure, data), look)
    from hardness.report.charts.chart import write

    return write(_function(name, "draw")(data), kind, look)


def _collect(name: str) -> Collect:
    if not FIGURES[name].module:
        module, collect = _OLD[name][1:3]
        return getattr(import_module(f"hardness.report.{module}"), collect)
    return _function(name, "of")


def _function(name: str, what: str) -> Callable[[Any], Data]:
    module = import_module(f"hardness.report.charts.{FIGURES[name].module}")
    return getattr(module, f"{what}_{name.replace('-', '_')}")


# Drawn by matplotlib until they move to charts: size, module, functions.
_WIDE = (10.0, 3.8)
_OLD: dict[str, tuple[tuple[float, float], str, str, str]] = {
    "both-sides": ((10.0, 3.6), "figure", "", "draw_both_sides"),
    "phase": ((10.0, 3.6), "phase_figure", "", "draw_phase"),
    "stages": (_WIDE, "stages", "of_run", "draw_run"),
    "dial": (_WIDE, "stages", "of_dial", "draw_dial"),
    "risks": (_WIDE, "risks", "of_risks", "draw_risks"),
    "scaling": (_WIDE, "scaling_figure", "of_scaling", "draw_scaling"),
    "attacks": (_WIDE, "attack_figures", "of_attacks", "draw_attacks"),
    "training": ((6.0, 3.8), "attack_figures", "of_training", "draw_training"),
    "stress": ((10.0, 6.4), "stress_figure", "of_stress", "draw_stress"),
}


def _drawing(name: str) -> tuple[tuple[float, float], Callable[[Any, Data], None]]:
    size, module, _, draws = _OLD[name]
    found = import_module(f"hardness.report.{module}")
    return getattr(found, "SIZE", size), getattr(found, draws)


def screen(name: str, data: Data, key: str) -> "tuple[Panel, ...]":
    """Draw one figure for a page: each of its axes apart, themed, with what can be hovered."""
    from hardness.report.panels import panels

    size, build = _drawing(name)
    return panels(size, lambda figure: build(figure, data), key)
