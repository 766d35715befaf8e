"""Make the pictures of the docs again, as docs/figures.toml lists them: `make figures`.

Each source is run in a scratch folder, what it wrote is kept in docs/data, and every picture is
drawn from what is kept. `--draw` draws alone; `--only NAME` does one picture, by its name without
ending; `--all` runs the slow sources too.
"""

import argparse
import importlib.util
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

from hardness.report.figures import draw, numbers
from hardness.report.gallery import GALLERY
from instances.disk import write_bytes, write_json
from instances.errors import UsageError
from instances.strict import read_json

DOCS = Path(__file__).parent.parent / "docs"
HARDNESS = Path(sys.executable).with_name("hardness")


@dataclass(frozen=True, kw_only=True)
class Source:
    """What a picture is drawn from: a file in docs/, and the command that makes it."""

    file: str
    command: str
    takes: str
    keep: str = ""
    quick: bool = False
    slow: bool = False
    needs: tuple[str, ...] = ()

    @property
    def missing(self) -> list[str]:
        """The modules it needs that are not installed."""
        return [name for name in self.needs if importlib.util.find_spec(name) is None]


@dataclass(frozen=True, kw_only=True)
class Picture:
    """A picture in docs/, drawn from a source."""

    image: str
    name: str
    source: Source
    style: str = "paper"

    @property
    def data(self) -> dict[str, Any]:
        """The numbers that are drawn."""
        path = DOCS / self.source.file
        return read_json(path) if self.source.keep else numbers(self.name, path)

    def drawn(self) -> bytes:
        """Draw the picture from what is kept."""
        return draw(self.name, self.data, Path(self.image).suffix[1:], self.style)


def listed(path: Path = DOCS / "figures.toml") -> list[Picture]:
    """Read the pictures; raises UsageError for a source that is not listed, or not used."""
    with path.open("rb") as file:
        found = tomllib.load(file)
    sources = {one["file"]: source(one) for one in found["source"]}
    pictures = []
    for one in found["figure"]:
        spec, own = one.get("spec"), sources.get(one.get("source"))
        if spec:
            if GALLERY[one["name"]].source != "SPEC":
                raise UsageError(f"{one['image']}: {one['name']} is no figure of a spec")
            own = Source(
                file=f"data/{Path(one['image']).relative_to('images').with_suffix('.json')}",
                command=f"hardness figure {one['name']} {shlex.quote(spec)} --json",
                takes="stdout",
                keep=one["name"],
                quick=one.get("quick", False),
                slow=one.get("slow", False),
            )
        if own is None:
            raise UsageError(f"{one['image']}: no [[source]] has the file {one.get('source')}")
        pictures.append(
            Picture(
                image=one["image"], name=one["name"], source=own, style=one.get("style", "paper")
            )
        )
    unused = set(sources) - {picture.source.file for picture in pictures}
    if unused:
        raise UsageError(f"no [[figure]] is drawn from {', '.join(sorted(unused))}")
    return pictures


def source(one: dict[str, Any]) -> Source:
    return Source(**{**one, "needs": tuple(one.get("needs", ()))})


def made(one: Source) -> Any:
    """Run a source in a scratch folder and give the JSON that it is about."""
    words = shlex.split(one.command.replace("FOLDER", "out"))
    if words[0] != "hardness":
        raise UsageError(f"{one.command}: a command of hardness is needed")
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        shutil.copytree(DOCS / "examples", folder / "docs/examples")
        if "FOLDER/" in one.command:
            (folder / "out").mkdir()
        done = subprocess.run(
            [HARDNESS, *words[1:], "--quiet"], cwd=folder, check=True, stdout=subprocess.PIPE
        )
        path = folder / "out" / one.takes
        if one.takes == "stdout":
            path = folder / "stdout.json"
            path.write_bytes(done.stdout)
        elif one.keep:
            return numbers(one.keep, path)
        return read_json(path)


def remade(one: Source) -> None:
    started = time.monotonic()
    (DOCS / one.file).parent.mkdir(parents=True, exist_ok=True)
    write_json(DOCS / one.file, made(one), force=True)
    print(f"{one.file:32} {time.monotonic() - started:6.1f} s  {one.command}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", action="append", help="a picture, by its name without ending")
    parser.add_argument("--draw", action="store_true", help="draw from docs/data alone")
    parser.add_argument("--all", action="store_true", help="run the slow sources too")
    given = parser.parse_args()
    every = listed()
    known = {Path(picture.image).stem for picture in every}
    for name in given.only or ():
        if name not in known:
            parser.error(f"--only {name}: one of {', '.join(sorted(known))}")
    chosen = [p for p in every if not given.only or Path(p.image).stem in given.only]
    sources = {picture.source.file: picture.source for picture in chosen}
    for one in () if given.draw else sources.values():
        if one.missing:
            print(f"{one.file:32} kept: needs {', '.join(one.missing)}", flush=True)
        elif one.slow and not given.all:
            print(f"{one.file:32} kept: slow, run with --all", flush=True)
        else:
            remade(one)
    for picture in chosen:
        started = time.monotonic()
        (DOCS / picture.image).parent.mkdir(parents=True, exist_ok=True)
        write_bytes(DOCS / picture.image, picture.drawn(), force=True)
        print(f"{picture.image:32} {time.monotonic() - started:6.1f} s", flush=True)


if __name__ == "__main__":
    main()
