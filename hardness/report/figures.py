"""The figures of `hardness figure`: what each shows, what it is drawn from, and which module does.

A new figure NAME is a line of `FIGURES` and two functions of its module in `charts`: `of_NAME`
collects its numbers, as JSON, and `draw_NAME` makes a chart of these alone.
"""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from instances.capabilities import FACTOR, SCHEME
from instances.errors import UsageError, unknown

if TYPE_CHECKING:
    from hardness.lower.members import Members
    from instances.family import Family

Data = dict[str, Any]
Collect = Callable[[Any], Data]
_COMPARE, _STRESS = "compare ... --out DIR", "stress ... --out FILE"
_MAP, _ICL = "map SPEC --out DIR", "icl ... --out DIR"
_GRID = "estimate SPEC --over ... --over ... --out FILE"
_SWEEP = "sweep run FILE --store STORE"
_STAGED = "learn staged SPEC --out FILE"
_INSPECT = "inspect FILE --out FILE"  # or a layer's file itself
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
        return self.made in (_COMPARE, _SWEEP, _STRESS)


FIGURES: dict[str, Figure] = {
    "both-sides": Figure("costs of learners beside certified bounds", "runs", _COMPARE),
    "phase": Figure("where learners solve, over two parameters, beside bounds", "phase", _SWEEP),
    "binding": Figure("what binds which class of learners", "binding", _SWEEP),
    "risks": Figure("relative risk and examples, over a parameter", "costs", _COMPARE),
    "scaling": Figure("costs with fitted power laws", "costs", _COMPARE),
    "contours": Figure("costs of attacks over two parameters", "contours", _GRID),
    "attacks": Figure("time of attacks beside estimates", "costs", _COMPARE),
    "training": Figure("advantage of trained networks by steps", "costs", _COMPARE),
    "dial": Figure("error after each stage of staged, over a parameter", "stages", _COMPARE),
    "stages": Figure("what the stages of one run of staged saw", "stages", _STAGED),
    "stress": Figure("how far learners climb a ladder, and at what cost", "ladder", _STRESS),
    "map": Figure("noisy parity: examples against time, bounds and runs", "parity_map", _MAP),
    "adversary": Figure("members left after each query of a game", "bounds", _GAME),
    "icl": Figure("a study of in-context regression", "icl", _ICL),
    "coherence": Figure("how alike the heads of a layer are", "coherence", _INSPECT),
    "correlations": Figure("correlation of two members, how often", "bounds", members=True),
    "eigenvalues": Figure("spectrum of the Gram matrix of all members", "bounds", members=True),
    "sda": Figure("statistical dimension, average correlation", "bounds", members=True),
    "queries": Figure("certified queries over the tolerance", "bounds", members=True),
    "walsh": Figure("Walsh weight of an LWE-style member by degree", "spectra"),
    "portrait": Figure("what a member computes, by formula and layer", "portrait"),
    "collapse": Figure("least squares: error by number of examples", "linear"),
    "heads": Figure("what fits of 0 to 8 heads leave", "linear"),
    "descent": Figure("noisy gradient descent beside its bound", "descent"),
}


def known(name: str) -> Figure:
    """Return the figure of a name; raises UsageError with the nearest name."""
    if name not in FIGURES:
        raise unknown("figure", name, list(FIGURES))
    return FIGURES[name]


def numbers(name: str, source: "Family | Members | Path", choice: str | None = None) -> Data:
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
        from hardness.lower.members import Members, of_family

        if not isinstance(source, Members) and SCHEME.of(source) is None and FACTOR.of(source):
            source = of_family(source)
    return _collect(name)(source)


def _of_path(name: str, figure: Figure, path: Path, choice: str | None) -> Data:
    from hardness.report.source import (
        binding_of,
        climbs_of,
        comparison_of,
        is_store,
        phase_of,
    )

    if name == "phase":
        return phase_of(path, choice)
    if name == "binding":
        return binding_of(path, choice)
    if figure.made == _COMPARE:
        return numbers_of(name, comparison_of(path, choice))
    if name == "stress":
        return climbs_of(path, choice)
    if is_store(path):
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
    from hardness.report.charts.chart import write

    return write(described(name, data), kind, look)


def described(name: str, data: Data) -> Data:
    """Describe one figure from its numbers in Vega-Lite; raises DamagedFile as `draw`."""
    return _function(name, "draw")(data)


def _collect(name: str) -> Collect:
    return _function(name, "of")


def _function(name: str, what: str) -> Callable[[Any], Data]:
    module = import_module(f"hardness.report.charts.{FIGURES[name].module}")
    return getattr(module, f"{what}_{name.replace('-', '_')}")
