"""List what can be chosen: families, the catalog and learners."""

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hardness.api import progress
from instances.arguments import one_of, text_argument
from instances.errors import UsageError

if TYPE_CHECKING:
    from hardness.runs.conformance import Conformance
    from instances.result import Answer

_DARMSTADT = (
    "darmstadt-N-ALPHA",
    "Darmstadt LWE challenges, n = 40, 45, ..., 60, 1000 alpha = 005, 010, 015, 020",
    "such as darmstadt-40-005",
)


def list_families(action: str = "list", name: str | None = None) -> "Answer":
    """List the families and the catalog, or show one.

    Parameters
    ----------
    action : {"list", "show"}
        What to do.
    name : str, optional
        The family, or entry of the catalog, to show.

    Returns
    -------
    Answer
        Families, or the parameters of one, as `data`.

    Raises
    ------
    UsageError
        For an unknown name.

    Examples
    --------
    >>> list_families("show", "parity").data["example"]
    'parity:d=32,m=3'
    """
    one_of("action", action, ("list", "show"), cure="hardness families show {}")
    if action == "list":
        return _families()
    if not name:
        raise UsageError("families show needs the NAME of a family or a catalog entry")
    return _family(name)


def _families() -> "Answer":
    """List families and catalog; for people, the Darmstadt challenges are one line."""
    from hardness.report.text import table
    from instances.result import Answer
    from instances.spec import catalog, family_names, kind_of

    kinds = {name: kind_of(name) for name in family_names()}
    listed = [{"name": n, "about": k.about, "example": k.example} for n, k in kinds.items() if k]
    entries = [{"name": n, "spec": e.spec, "about": e.about} for n, e in catalog().items()]
    printed = [
        (e["name"], e["about"], e["spec"])
        for e in entries
        if not e["name"].startswith("darmstadt-")
    ]
    tables = [
        table(
            ["family", "what, and an example"],
            [[family["name"], f"{family['about']}\n{family['example']}"] for family in listed],
        ),
        table(
            ["catalog", "what, and its spec"],
            [[name, f"{about}\n{spec}"] for name, about, spec in (*printed, _DARMSTADT)],
        ),
    ]
    rows = [{"kind": "family", **family} for family in listed]
    rows += [
        {"kind": "catalog", "name": c["name"], "about": c["about"], "example": c["spec"]}
        for c in entries
    ]
    data = {"families": listed, "catalog": entries}
    return Answer(data=data, message="\n\n".join(tables), rows=rows)


def _family(name: str) -> "Answer":
    """Show a family, or an entry of the catalog."""
    from instances.result import Answer
    from instances.spec import catalog, kind_of, parse, spec_of

    spec = spec_of(name)
    kind = kind_of(spec)
    family = parse(spec if kind is None else kind.example)
    data: dict[str, Any] = {
        "name": family.name,
        "about": family.about,
        "example": family.example if kind else family.spec,
        "labels": family.label_text,
        "parameters": _parameters("families", family),
        "revision": family.revision,
    }
    entry = catalog().get(name)
    if entry:
        data |= {"catalog": name, "entry": entry.about, "source": entry.source}
    lines = [f"{name}: {entry.about} [{entry.source or 'ours'}]"] if entry else []
    lines += [
        f"{data['name']}: {data['about']}",
        f"example: {family.example if kind else family}",
        f"labels: {data['labels']}",
        "",
        _parameters_words(data["parameters"]),
    ]
    return Answer(data=data, message="\n".join(lines), rows=data["parameters"])


def list_learners(
    action: str = "list", name: str | None = None, *, force: bool = False
) -> "Answer | Conformance":
    """List the built-in learners, show one, check one of your own, or begin one.

    Parameters
    ----------
    action : {"list", "show", "check", "new"}
        "check": does a learner of yours keep to the protocol? "new": write a commented template.
    name : str, optional
        To show: a learner; to check: "path.py:Name"; for a new one: the file to write.
    force : bool
        Replace that file.

    Returns
    -------
    Answer or Conformance
        Learners, or the parameters of one, as `data`; with "check" what each check came to.

    Raises
    ------
    UsageError
        For an unknown name.
    AlreadyExists
        If the file to write exists and `force` is not given.

    Examples
    --------
    >>> list_learners("show", "lowdegree").data["access"]
    'examples'
    """
    one_of("action", action, ("list", "show", "check", "new"), cure="hardness learners show {}")
    if name is not None:
        text_argument("name", name)
    if action == "list":
        if name:
            raise UsageError(f"learners list takes no NAME: try learners show {name}")
        return _learners()
    if not name:
        wanted = "FILE to write" if action == "new" else "NAME of a learner"
        raise UsageError(f"learners {action} needs the {wanted}")
    if action == "new":
        return _new(name, force)
    return _check(name) if action == "check" else _learner(name)


def _learners() -> "Answer":
    from hardness.report.text import table
    from hardness.runs.registry import LEARNERS, VIEWS, view_of
    from instances.result import Answer

    learners = [
        {"name": name, "access": kind.access, "view": view_of(name), "about": kind.about}
        for name, kind in LEARNERS.items()
    ]
    rows = [[learner["name"], learner["view"], learner["about"]] for learner in learners]
    views = "\n".join(f"{view}: {what}" for view, what in VIEWS.items())
    text = f"{table(['learner', 'sees', 'what'], rows)}\n\n{views}"
    return Answer(data={"learners": learners}, message=text, rows=learners)


def _learner(name: str) -> "Answer":
    from hardness.learners import Failed
    from hardness.learners.remote import SubprocessLearner
    from hardness.runs.jobs import not_loaded
    from hardness.runs.registry import parse_learner, view_of
    from instances.result import Answer
    from instances.spec import parse

    learner = parse_learner(name)
    data: dict[str, Any]
    if isinstance(learner, SubprocessLearner):
        learner.supports(parse("parity-first"))  # raises UsageError if its file does not exist
        try:
            data = learner.describe()
        except Failed as failed:
            raise not_loaded(name, failed.details) from failed
        lines = [f"{data['name']}: {data['about']}", f"sees: {data['access']}"]
        return Answer(data=data, message="\n".join([*lines, f"revision: {data['revision']}"]))
    data = {
        "name": learner.name,
        "about": learner.about,
        "access": learner.access,
        "view": view_of(name),
        "parameters": _parameters("learners", type(learner)),
        "revision": learner.revision,
    }
    text = f"{learner.name}: {learner.about}\nsees: {data['view']}\n\n"
    text += _parameters_words(data["parameters"])
    return Answer(data=data, message=text, rows=data["parameters"])


def _check(name: str) -> "Conformance":
    from hardness.runs.conformance import SPECS, conformance

    with progress.counted(len(SPECS) + 5, "checking") as bar:
        return conformance(name, progress=bar)


def _new(name: str, force: bool) -> "Answer":
    from hardness.learners.plugins import template
    from instances.disk import write_text
    from instances.result import Answer

    path = Path(name)
    if path.suffix != ".py":
        raise UsageError(f"{name}: end its name in .py")
    class_name = "".join(part.title() for part in re.split(r"[-_. ]", path.stem))
    write_text(path, template(class_name, name), force=force)
    text = (
        f"written: {name}\ntry: hardness learn {name}:{class_name} parity:d=8,m=1\n"
        f"     hardness learners check {name}:{class_name}"
    )
    return Answer(data={"file": name, "name": class_name}, message=text)


def _parameters(table: str, kind: Any) -> list[dict[str, str]]:
    """Describe the parameters of a family or learner, with the ranges that its class declares.

    table: "families" or "learners", the table of parameters.toml with their meanings.
    """
    from dataclasses import MISSING

    from instances.numbers import write
    from instances.parameters import declared, parameter_fields, plain_type

    cls: Any = kind if isinstance(kind, type) else type(kind)
    ranges, meanings = declared(cls), _meanings(table, cls.name)
    return [
        {
            "name": f.name,
            "type": getattr(plain_type(f.type), "__name__", str(f.type)),
            "default": "required" if f.default is MISSING else write(f.default),
            **({"allowed": ranges[f.name].allowed if f.name in ranges else "-"} if ranges else {}),
            "meaning": meanings.get(f.name, ""),
        }
        for f in parameter_fields(kind)
    ]


def _meanings(table: str, name: str) -> dict[str, str]:
    """Return the meaning of each parameter of a family or learner, by parameter."""
    import tomllib

    text = Path(__file__).with_name("parameters.toml").read_text(encoding="utf-8")
    entries = tomllib.loads(text)[table]
    shared = {key: meaning for key, meaning in entries.items() if isinstance(meaning, str)}
    return shared | entries.get(name, {})


def _parameters_words(parameters: list[dict[str, str]]) -> str:
    """Write a table of parameters; their types are only in --json."""
    from hardness.report.text import sheet

    rows = [{"parameter": parameter["name"], **parameter} for parameter in parameters]
    hidden = {"name", "type"}
    if not any(parameter["meaning"] for parameter in parameters):
        hidden.add("meaning")
    if not rows:
        return "no parameters"
    return sheet([{k: v for k, v in row.items() if k not in hidden} for row in rows])
