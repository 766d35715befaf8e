"""The gallery: every picture of figures.toml with the commands that draw it."""

import tomllib
from pathlib import Path

from hardness.report.figures import FIGURES


def shown(figure):
    r"""Write a section of a picture: what it shows, the picture, its commands.

    >>> shown({"image": "sda", "figure": "sda", "spec": "parity:d=9,m=2"}).splitlines()[-2:]
    ['$ hardness figure sda parity:d=9,m=2 --out sda.svg', '```']
    """
    name, source = figure["image"], figure.get("spec") or figure.get("takes", "out")
    made = [f"$ hardness {figure['made']}"] if "made" in figure else []
    if "script" in figure:
        about = f"Drawn by `docs/examples/{figure['script']}.py`."
        drawn = f"$ python docs/examples/{figure['script']}.py {source} {name}.svg"
    else:
        about = FIGURES[figure["figure"]].shows.capitalize() + "."
        drawn = f"$ hardness figure {figure['figure']} {source} --out {name}.svg"
    picture = f"![{about.replace('`', '')}](images/{name}.svg)"
    return "\n".join([f"### {name}", "", about, "", picture, "", "```text", *made, drawn, "```"])


def _fill(app, name, source):
    if name == "gallery":
        listed = tomllib.loads((Path(app.srcdir) / "figures.toml").read_text(encoding="utf-8"))
        kinds = "\n".join(
            f"| `{kind}` | {entry.shows} | `{entry.source.command or 'a SPEC'}` |"
            for kind, entry in FIGURES.items()
        )
        source[0] = source[0].replace(
            "<!-- kinds -->", "| figure | shows | source |\n|---|---|---|\n" + kinds
        )
        source[0] = source[0].replace(
            "<!-- pictures -->", "\n\n".join(map(shown, listed["figure"]))
        )


def setup(app):
    """Connect to sphinx."""
    app.connect("source-read", _fill)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
