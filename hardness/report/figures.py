"""The figures of `hardness figure`: what each shows, what it is drawn from, its rows and its chart.

A new figure NAME is a line of `FIGURES`: a function from its source to its data, which are a small
head and "rows", a list of flat dictionaries; and a function that makes a chart of these alone.
"""

import json
from base64 import b64encode
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any

from hardness.report.export import ENDINGS
from hardness.report.vega import KINDS as KINDS
from hardness.report.vega import write
from instances.arguments import located
from instances.disk import one_line, opened, read_json, write_bytes
from instances.errors import DamagedFile, ToolkitError, UsageError, unknown
from instances.result import Result, TableRow, flat, frame

if TYPE_CHECKING:
    from pandas import DataFrame

    from hardness.bounds.members import Members
    from instances.family import Family

Data = dict[str, Any]
_CHARTS, _SOURCE = "hardness.report.charts.", "hardness.report.stored:"
# What goes wrong with fields of a file that are missing, or not what they should be.
_NOT_WHOLE = (LookupError, TypeError, ValueError, AttributeError, ArithmeticError)


@dataclass(frozen=True, kw_only=True)
class Source:
    """What a figure is drawn from.

    made: the command that wrote it; empty for a SPEC. read: the function that reads that, and of a
    sweep the runs that are chosen. given: the class of what a function of `hardness` gives back of
    it. store: whether runs of a sweep will do, too. members: whether functions of a
    file and layers in a folder will do in the place of a SPEC. Both names are MODULE:NAME, for the
    modules are heavy, and imported where they are used.
    """

    made: str = ""
    read: str = "instances.disk:read_json"
    given: str = ""
    store: bool = False
    members: bool = False


_RESULT = "instances.result:Result"  # of which the JSON is taken
SPEC, MEMBERS = Source(), Source(members=True)
COMPARE = Source(
    made="compare ... --out DIR", read=_SOURCE + "comparison_of",
    given="hardness.runs:Comparison", store=True,
)  # fmt: skip
LEAST = Source(
    made="least SPEC ... --out DIR", read=_SOURCE + "least_of",
    given="hardness.runs.least:Least", store=True,
)  # fmt: skip
PLANE = Source(made="sweep FILE --out FILE.db", read=_SOURCE + "phase_of", store=True)
ICL = Source(made="icl ... --out DIR", read=_SOURCE + "study_of", given=_RESULT)
GRID = Source(made="estimate SPEC --over ... --over ... --out FILE", given=_RESULT)
STAGED = Source(made="learn staged SPEC --out FILE", given=_RESULT)


@dataclass(frozen=True)
class Figure:
    """A figure: what it shows, its source, and the functions of `charts` that give and draw it."""

    shows: str
    source: Source
    by: str  # MODULE:NAME of the function that gives its data
    drawn_by: str

    @property
    def takes(self) -> str:
        """Say what stands in the place of SOURCE.

        >>> FIGURES["sda"].takes, FIGURES["stages"].takes
        ('a SPEC', 'what `hardness learn staged SPEC --out FILE` writes')
        """
        return f"what `hardness {self.source.made}` writes" if self.source.made else "a SPEC"

    def rows(self, material: Any) -> Data:
        """Give its data: a small head, and rows. material: one thing, or a tuple of several."""
        given = material if isinstance(material, tuple) else (material,)
        found: Data = resolve_name(_CHARTS + self.by)(*given)
        return found

    def chart(self, data: Data) -> Data:
        """Describe it in Vega-Lite, from its data; raises DamagedFile for what is not whole."""
        found: Data = resolve_name(_CHARTS + self.drawn_by)(data)
        return found


FIGURES: dict[str, Figure] = {
    "both-sides": Figure("costs of learners beside certified bounds",
        COMPARE, "runs:of_both_sides", "runs:draw_both_sides"),
    "least": Figure("least examples or queries of learners beside certified bounds",
        LEAST, "runs:of_least", "runs:draw_both_sides"),
    "phase": Figure("where learners solve, over two parameters, beside bounds",
        PLANE, "phase:of_phase", "phase:draw_phase"),
    "scaling": Figure("costs with fitted power laws",
        COMPARE, "costs:of_scaling", "costs:draw_scaling"),
    "contours": Figure("costs of attacks over two parameters",
        GRID, "contours:of_contours", "contours:draw_contours"),
    "attacks": Figure("time of attacks beside estimates",
        COMPARE, "costs:of_attacks", "costs:draw_attacks"),
    "stages": Figure("what the stages of one run of staged saw",
        STAGED, "stages:of_stages", "stages:draw_stages"),
    "icl": Figure("a study of in-context regression", ICL, "icl:of_icl", "icl:draw_icl"),
    "correlations": Figure("correlation of two members, how often",
        MEMBERS, "bounds:of_correlations", "bounds:draw_correlations"),
    "sda": Figure("statistical dimension, average correlation",
        MEMBERS, "bounds:of_sda", "bounds:draw_sda"),
    "walsh": Figure("Walsh weight of an LWE-style member by degree",
        SPEC, "spectra:of_walsh", "spectra:draw_walsh"),
}  # fmt: skip


@dataclass(frozen=True, kw_only=True, repr=False)
class Picture(Result):
    """A figure: its rows, drawn where a notebook shows it and where it is saved.

    of: what it is drawn from. data: a head, and the rows. look: "paper", or "talk" for a slide.
    file: where it was written.
    """

    name: str
    of: str
    data: Data
    look: str = "paper"
    file: str = ""

    def to_dict(self) -> Data:
        """Give its head and its rows."""
        return self.data

    def _rows(self) -> list[TableRow]:
        rows = self.data.get("rows", [flat(self.data)])
        names = dict.fromkeys(name for row in rows for name in row)
        return [{name: row.get(name) for name in names} for row in rows]

    def to_frame(self) -> "DataFrame":
        """Make a pandas DataFrame of its rows."""
        return frame(self._rows())

    def save(
        self, path: str | PathLike[str], *, force: bool = False, kind: str | None = None
    ) -> None:
        """Write the picture, .svg, .pdf or .png, or its rows, as other results are written.

        kind: of the picture, where the name does not say it.
        """
        where = Path(located("path", path))
        kind = kind or where.suffix.removeprefix(".").lower()
        if kind not in KINDS:
            if where.suffix.lower() not in ENDINGS:
                every = ", ".join([*(f".{one}" for one in KINDS), *ENDINGS])
                raise UsageError(f"{where} given: end its name in {every}")
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
        made_by = {name: e.source.made for name, e in FIGURES.items()}
        lines.append(f"SOURCE is {head}:")
        for made in dict.fromkeys(made for made in made_by.values() if bool(made) is of_file):
            lines += [f"  `hardness {made}`"] if made else []
            own = [name for name in FIGURES if made_by[name] == made]
            lines += [f"    {name:13} {FIGURES[name].shows}" for name in own]
        lines.append("")
    return "\n".join(lines).rstrip()


def known(name: str) -> Figure:
    """Return the figure of a name; raises UsageError with the nearest name."""
    if name not in FIGURES:
        raise unknown("figure", name, list(FIGURES))
    return FIGURES[name]


def numbers(
    name: str, source: "Family | Members | Path | Result", query: str | None = None
) -> Data:
    """Collect the data of a figure from a family, its members, a file or folder, or a result.

    A file of a figure's own rows gives these again. query: which runs of a sweep are drawn, as
    "m == 3 and noise == 0". Raises UsageError or DamagedFile for a source that does not have them.
    """
    from hardness.runs.cache import is_cache

    figure, of_store = FIGURES[name], isinstance(source, Path) and is_cache(source)
    if of_store and not figure.source.store:
        drawn = ", ".join(key for key, one in FIGURES.items() if one.source.store)
        raise UsageError(
            f"{source} given: it holds runs of a sweep, of which {drawn} are drawn; figure "
            f"{name} is of {figure.takes}"
        )
    if query is not None and not figure.source.store:
        raise UsageError(
            f"--where given: {name} is not drawn from runs of a sweep: leave --where out"
        )
    if not isinstance(source, Path):
        return _data(name, _material(name, figure, source))
    if not source.exists():
        raise ToolkitError(f"{source} does not exist: figure {name} needs {figure.takes}")
    if found := own_rows(name, source):
        return found
    if not figure.source.made:
        raise UsageError(
            f"{source} given: figure {name} is of a SPEC or path.py:Name, not of a file such as a "
            "certificate: give what `certify` was given"
        )
    read = resolve_name(figure.source.read)
    material = read(source, query) if figure.source.store else read(source)
    try:
        data = _data(name, material)
        if isinstance(material, dict):  # which nobody has looked at: it must give a picture
            described(name, data)
        return data
    except (UsageError, DamagedFile) as error:
        raise type(error)(f"{source} given: {error}") from error
    except _NOT_WHOLE as error:
        if not isinstance(material, dict):
            raise
        said = f"{type(error).__name__} {one_line(error)}"
        raise DamagedFile(f"{source} has nothing to draw as {name}: {said}") from error


def _data(name: str, material: Any) -> Data:
    found = FIGURES[name].rows(material)
    return {"figure": name, **found} if "rows" in found else found


def _material(name: str, figure: Figure, source: Any) -> Any:
    """What its rows are made of, from a family, its members or what a function gave back."""
    if isinstance(source, Result):
        given = figure.source.given
        if not given or not isinstance(source, resolve_name(given)):
            kind = type(source).__name__
            raise UsageError(f"a {kind} given: figure {name} is of {figure.takes}")
        return json.loads(source.to_json()) if given == _RESULT else source
    if figure.source.members:
        from hardness.bounds.members import of_family
        from instances.coded import Coded

        if isinstance(source, Coded) and source.hidden_sets is None and source.factor:
            return of_family(source)
    return source


def own_rows(name: str, path: Path) -> Data | None:
    """Read the rows that `hardness figure --json` wrote of a figure; None where they are none.

    Raises UsageError for those of another figure, and DamagedFile for what cannot be drawn.
    """
    if not path.is_file():
        return None
    with opened(path) as file:
        if b'"figure":' not in file.read(40):
            return None
    data = read_json(path)
    if data["figure"] != name:
        raise UsageError(
            f"{path} given: it holds rows of figure {str(data['figure'])[:40]}: draw that, for "
            f"figure {name} is of {FIGURES[name].takes}"
        )
    try:
        draw(name, data)
    except _NOT_WHOLE as error:
        raise DamagedFile(f"{path} has no rows of figure {name}: {one_line(error, 80)}") from error
    return data


def draw(name: str, data: Data, kind: str = "svg", look: Any = "paper") -> bytes:
    """Draw one figure from its data, as svg, png or pdf.

    look: "paper", or "talk" for a slide. Raises DamagedFile for a study with numbers missing.
    """
    return write(described(name, data), kind, look)


def described(name: str, data: Data) -> Data:
    """Describe one figure from its data in Vega-Lite; raises DamagedFile as `draw`."""
    return FIGURES[name].chart(data)
