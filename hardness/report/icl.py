"""Studies of in-context regression by kind: their words, their figures, their folders."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from hardness.report.canvas import Look, render
from hardness.report.icl_curves import curves_words, draw_curves
from hardness.report.icl_optimizers import draw_optimizers, optimizers_words
from hardness.report.icl_optimum import draw_optimum, optimum_words
from hardness.report.icl_softmax import draw_softmax, softmax_words
from hardness.report.icl_steps import draw_steps, steps_words
from hardness.report.icl_train import draw_train, train_words
from instances.disk import new_folder, write_bytes, write_json
from instances.errors import DamagedFile
from instances.strict import read_json

Data = dict[str, Any]
FILES = ("results.json", "figure.svg")  # of the folder of a study
_WIDE = (10.0, 3.8)
_KINDS: dict[
    str,
    tuple[Callable[[Data], str], tuple[float, float], Callable[[Any, Data], None]],
] = {
    "icl optimum": (optimum_words, _WIDE, draw_optimum),
    "icl steps": (steps_words, _WIDE, draw_steps),
    "icl train": (train_words, (10.0, 6.0), draw_train),
    "icl curves": (curves_words, (7.0, 4.2), draw_curves),
    "icl optimizers": (optimizers_words, _WIDE, draw_optimizers),
    "icl softmax": (softmax_words, _WIDE, draw_softmax),
}


def words(data: Data) -> str:
    """Write what a study found."""
    return _KINDS[data["kind"]][0](data)


def drawing_of(data: Data) -> tuple[tuple[float, float], Callable[[Any, Data], None]]:
    """Give the size of a study's figure, in inches, and what draws it."""
    return _KINDS[data["kind"]][1:]


def picture(data: Data, kind: str = "svg", look: Look = "paper") -> bytes:
    """Draw the figure of a study as svg, png or pdf: the same bytes for the same numbers.

    Raises DamagedFile for data with numbers missing.
    """
    size, build = drawing_of(data)
    try:
        return render(size, kind, lambda figure: build(figure, data), look)
    except (LookupError, TypeError, AttributeError, ValueError) as error:
        raise DamagedFile(
            f"this results.json is no whole study ({type(error).__name__} {error}): make it again "
            f"with `hardness {data['kind']} --out DIR`"
        ) from error


def write_study(path: Path, data: Data, force: bool = False) -> None:
    """Write results.json and figure.svg to a new folder; raises AlreadyExists if one is there."""
    with new_folder(path, force=force, ours=FILES) as folder:
        write_json(folder / "results.json", data)
        write_bytes(folder / "figure.svg", picture(data))


def read_study(path: Path) -> Data:
    """Read a study from its folder or its results.json; raises DamagedFile for any other file."""
    path = path / "results.json" if path.is_dir() else path
    data = read_json(path)
    if not isinstance(data, dict) or data.get("format") != 1 or data.get("kind") not in _KINDS:
        raise DamagedFile(f"{path} holds no study of `hardness icl ... --out DIR`")
    return data
