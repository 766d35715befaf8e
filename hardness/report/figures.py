"""The figures of `hardness figure`: what each shows, what it is drawn from, and which module does.

A new figure NAME is a line of `FIGURES` and two functions of its module in `charts`: `of_NAME`
collects its numbers, as JSON, and `draw_NAME` makes a chart of these alone.
"""

import json
from base64 import b64encode
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from instances.arguments import located
from instances.capabilities import FACTOR, SCHEME
from instances.disk import write_bytes
from instances.errors import UsageError, unknown
from instances.export import flat, frame
from instances.result import Result, TableRow

if TYPE_CHECKING:
    from pandas import DataFrame

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
}


KINDS = ("svg", "pdf", "png")


@dataclass(frozen=True, kw_only=True, repr=False)
class Picture(Result):
    """A figure: its numbers, drawn where a notebook shows it and where it is saved.

    of: what it is drawn from. look: "paper", or "talk" for a slide. file: where it was written.
    """

    name: str
    of: str
    data: Data
    look: str = "paper"
    file: str = ""

    _words: ClassVar[str] = "hardness.report.figures.picture_words"

    def to_dict(self) -> Data:
        """Give the numbers in it."""
        return self.data

    def _rows(self) -> list[TableRow]:
        return [flat(self.data)]

    def to_frame(self) -> "DataFrame":
        """Make a pandas DataFrame of one row of its numbers."""
        return frame(self._rows())

    def save(
        self, path: str | PathLike[str], *, force: bool = False, kind: str | None = None
    ) -> None:
        """Write the picture, .svg, .pdf or .png, or its numbers, as other results are written.

        kind: of the picture, where the name does not say it.
        """
        where = Path(located("path", path))
        kind = kind or where.suffix.removeprefix(".").lower()
        if kind not in KINDS:
            return super().save(where, force=force)
        return write_bytes(where, draw(self.name, self.data, kind, self.look), force=force)

    def _repr_html_(self) -> str:
        """Show the picture in a notebook."""
        svg = b64encode(draw(self.name, self.data, "svg", self.look)).decode()
        return f'<img src="data:image/svg+xml;base64,{svg}">'


def picture_words(found: Picture) -> str:
    """Say what a picture is of, and where it is."""
    from hardness.runs.names import brief_spec

    said = f"{found.name} of {brief_spec(found.of)}"
    return f"{found.file}: {said}" if found.file else f"{said}: .save writes .svg, .pdf or .png"


def listed() -> str:
    """List the figures in words: what each shows, by what it is drawn from."""
    lines = ["hardness figure NAME SOURCE --out FILE.svg, .pdf or .png", ""]
    heads = {False: "a SPEC", True: "the file or folder that a command wrote"}
    for of_file, head in heads.items():
        chosen = {name: e for name, e in FIGURES.items() if bool(e.made) is of_file}
        lines.append(f"SOURCE is {head}:")
        for made in dict.fromkeys(e.made for e in chosen.values()):
            lines += [f"  `hardness {made}`"] if made else []
            lines += [f"    {name:13} {e.shows}" for name, e in chosen.items() if e.made == made]
        lines.append("")
    return "\n".join(lines).rstrip()


def known(name: str) -> Figure:
    """Return the figure of a name; raises UsageError with the nearest name."""
    if name not in FIGURES:
        raise unknown("figure", name, list(FIGURES))
    return FIGURES[name]


def numbers(
    name: str, source: "Family | Members | Path | Result", choice: str | None = None
) -> Data:
    """Collect the numbers of a figure from a family, its members, a file or folder, or a result.

    choice: which part of a store is drawn, as "m=3,noise=0". Raises UsageError or DamagedFile for a
    source that does not have them.
    """
    figure = FIGURES[name]
    if isinstance(source, Path):
        return _of_path(name, figure, source, choice)
    if choice is not None:
        raise UsageError(f"--slice given: it chooses a part of a store, which {name} is not of")
    if isinstance(source, Result):
        return _of_result(name, figure, source)
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


def _of_result(name: str, figure: Figure, found: Result) -> Data:
    """Collect them from what a function gave back, as from the file that it would write."""
    from hardness.runs import Comparison, Stress
    from hardness.runs.noisy_parity import Map

    kinds = {_COMPARE: Comparison, _STRESS: Stress, _MAP: Map}
    if not figure.made or not isinstance(found, kinds.get(figure.made, Result)):
        raise UsageError(f"a {type(found).__name__} given: figure {name} is {figure.takes}")
    return _collect(name)(found if figure.made in kinds else json.loads(found.to_json()))


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
