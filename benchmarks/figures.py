"""Make the pictures of the docs again, as docs/figures.toml lists them: `make figures`.

Each command is run in a scratch folder, the numbers of the figure are kept in docs/data, and the
picture is drawn from these; a script of docs/examples draws its picture itself. `--draw` draws
from docs/data alone; `--only NAME` does one picture; `--all` runs the slow commands too.
"""

import argparse
import importlib.util
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from timing import hardness  # isort: skip

from hardness.report.figures import FIGURES, draw, rows_of
from instances.disk import read_json, write_bytes, write_json
from instances.errors import UsageError

DOCS = Path(__file__).parent.parent / "docs"


@dataclass(frozen=True, kw_only=True)
class Picture:
    """A picture of the docs, of a SPEC or a file: a figure, or what a script draws.

    made: the command that wrote the file, with out for its folder. takes: what is drawn from there.
    """

    image: str
    figure: str = ""
    script: str = ""
    spec: str = ""
    made: str = ""
    takes: str = "out"
    quick: bool = False
    slow: bool = False
    needs: tuple[str, ...] = ()

    @property
    def data(self) -> Path:
        return DOCS / f"data/{self.image}.json"

    @property
    def file(self) -> Path:
        return DOCS / f"images/{self.image}.svg"

    @property
    def command(self) -> list[str]:
        """What makes its numbers, or what they are drawn from."""
        if self.spec:
            return ["figure", self.figure, self.spec, "--json"]
        return shlex.split(self.made)

    @property
    def kept(self) -> str:
        """Why its numbers are not made again without being asked for; empty where they are."""
        missing = [name for name in self.needs if importlib.util.find_spec(name) is None]
        if missing:
            return f"needs {', '.join(missing)}"
        return "slow, run with --all" if self.slow else ""

    def made_again(self) -> Any:
        """Run its command in a scratch folder and give the numbers of the figure."""
        with self._scratch() as folder:
            done = self._run(folder)
            if not self.spec:
                return {"figure": self.figure} | rows_of(self.figure, folder / self.takes)
            (folder / "numbers.json").write_text(done, encoding="utf-8")
            made = read_json(folder / "numbers.json")
            return {key: value for key, value in made.items() if key != "caption"}

    def drawn(self) -> bytes:
        return draw(self.figure, read_json(self.data)).file("svg")

    def drawn_by_script(self) -> bytes:
        """Run its script in a scratch folder, after the command, and give what it drew."""
        with self._scratch() as folder:
            if self.made:
                self._run(folder)
            script = DOCS / f"examples/{self.script}.py"
            given = [str(script), self.spec or self.takes, "drawn.svg"]
            subprocess.run([sys.executable, *given], cwd=folder, check=True)
            return (folder / "drawn.svg").read_bytes()

    def _run(self, folder: Path) -> str:
        return hardness(*self.command, "--quiet", cwd=folder)

    @contextmanager
    def _scratch(self) -> Iterator[Path]:
        with tempfile.TemporaryDirectory() as scratch:
            shutil.copytree(DOCS / "examples", Path(scratch) / "docs/examples")
            yield Path(scratch)


def listed(path: Path = DOCS / "figures.toml") -> list[Picture]:
    """Read the pictures; raises UsageError for one of no SPEC that no command makes."""
    with path.open("rb") as file:
        found = tomllib.load(file)["figure"]
    pictures = [Picture(**{**one, "needs": tuple(one.get("needs", ()))}) for one in found]
    for one in pictures:
        wrong = one.figure and bool(one.made) is not bool(FIGURES[one.figure].source.command)
        if bool(one.spec) is bool(one.made) or bool(one.figure) is bool(one.script) or wrong:
            raise UsageError(f"{one.image}: what it is drawn from, or by, is missing")
    return pictures


def main() -> None:
    every = listed()
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", action="append", choices=[one.image for one in every])
    parser.add_argument("--draw", action="store_true", help="draw from docs/data alone")
    parser.add_argument("--all", action="store_true", help="run the slow commands too")
    given = parser.parse_args()
    for one in every:
        if given.only and one.image not in given.only:
            continue
        started = time.monotonic()
        kept = "drawn alone" if given.draw else "" if one.slow and given.all else one.kept
        if one.script and not kept:
            write_bytes(one.file, one.drawn_by_script(), force=True)
        if not kept and one.figure:
            write_json(one.data, one.made_again(), force=True)
        if one.figure:
            write_bytes(one.file, one.drawn(), force=True)
        print(f"{one.image:16} {time.monotonic() - started:6.1f} s  {kept}", flush=True)


if __name__ == "__main__":
    main()
