"""What learners there are, and what one of one's own needs: a check and a template."""

import re
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import click

from hardness.commands.families import parameter_rows, parameters
from hardness.commands.options import (
    FILE,
    complete_learner,
    containment_options,
    emit,
    progress,
    refuse_existing_output,
    shared,
)

_ACTIONS = ("list", "show", "check", "new")


@click.command(short_help="List, show, check learners, or begin one.")
@click.argument("action", default="list", type=click.Choice(_ACTIONS))
@click.argument("name", required=False, shell_complete=complete_learner)
@containment_options
@shared("force", "quiet", out=FILE)
def learners(output: SimpleNamespace, action: str, name: str | None) -> None:
    """List the built-in learners, or show one.

    check NAME: does a learner of one's own, path.py:Name, keep to the protocol? Exits with 1 if
    not. new FILE: write a commented template of one.
    """
    if action in ("list", "show"):
        refuse_existing_output(output)
    if action == "list":
        if name:
            raise click.UsageError(f"learners list takes no NAME: try learners show {name}")
        return _list(output)
    if not name:
        wanted = "FILE to write" if action == "new" else "NAME of a learner"
        raise click.UsageError(f"learners {action} needs the {wanted}")
    return {"show": _show, "check": _check, "new": _new}[action](output, name)


def _list(output: SimpleNamespace) -> None:
    from hardness.report.text import table
    from hardness.upper import LEARNERS
    from hardness.upper.classes import VIEWS, view_of

    data = {
        "learners": [
            {"name": name, "access": x.access, "view": view_of(name), "about": x.about}
            for name, x in LEARNERS.items()
        ]
    }
    rows = [[x["name"], x["view"], x["about"]] for x in data["learners"]]
    seen = "\n".join(f"{view}: {what}" for view, what in VIEWS.items())
    text = f"{table(['learner', 'sees', 'what'], rows)}\n\n{seen}"
    emit(output, data, text, table=data["learners"])


def _show(output: SimpleNamespace, name: str) -> None:
    from hardness.report.text import table
    from hardness.runs.planned import not_loaded
    from hardness.upper import Failed, parse_learner
    from hardness.upper.classes import view_of
    from hardness.upper.isolated import SubprocessLearner
    from instances.spec import parse

    learner = parse_learner(name)
    if isinstance(learner, SubprocessLearner):
        learner.supports(parse("parity-first"))  # the file is there
        try:
            data: dict[str, Any] = learner.describe()
        except Failed as failed:
            raise not_loaded(name, failed.details) from failed
        lines = [f"{data['name']}: {data['about']}", f"sees: {data['access']}"]
        return emit(output, data, "\n".join([*lines, f"revision: {data['revision']}"]))
    data = {
        "name": learner.name,
        "about": learner.about,
        "access": learner.access,
        "view": view_of(name),
        "parameters": parameters(type(learner)),
        "revision": learner.revision,
    }
    text = f"{learner.name}: {learner.about}\nsees: {data['view']}\n\n"
    text += table(*parameter_rows(data["parameters"]))
    return emit(output, data, text, table=data["parameters"])


def _check(output: SimpleNamespace, name: str) -> None:
    from hardness.report.text import table
    from hardness.runs.conformance import SPECS, conformance

    refuse_existing_output(output)
    with progress(len(SPECS) + 5, "checking", output) as bar:
        found = conformance(name, progress=bar)
    rows = [[one.level, one.check, one.found] for one in found.findings]
    verdict = "conforms" if found.conforms else "DOES NOT CONFORM"
    data = found.to_dict()
    text = table(["level", "check", "found"], rows) + f"\n{verdict}"
    emit(output, data, text, table=data["findings"])
    if not found.conforms:
        sys.exit(1)


def _new(output: SimpleNamespace, name: str) -> None:
    from hardness.upper.plugins.template import template
    from instances.disk import write_text

    path = Path(name)
    if path.suffix != ".py":
        raise click.UsageError(f"{name} given: the name of a file that ends in .py is needed")
    if output.out:
        raise click.UsageError(f"--out given: learners new writes {name} alone, leave it out")
    chosen = "".join(part.title() for part in re.split(r"[-_. ]", path.stem))
    write_text(path, template(chosen, name), force=output.force)
    data = {"file": name, "name": chosen}
    said = f"written: {name}\ntry: hardness learn {name}:{chosen} parity:d=8,m=1"
    emit(output, data, f"{said}\n     hardness learners check {name}:{chosen}", write=False)
