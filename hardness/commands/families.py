"""What there is to choose from: families and the catalog."""

from types import SimpleNamespace
from typing import Any

import click

from hardness.commands.options import FILE, complete_spec, emit, shared


@click.command(short_help="List or show families and the catalog.")
@click.argument("action", default="list", type=click.Choice(["list", "show"]))
@click.argument("name", required=False, shell_complete=complete_spec)
@shared("force", out=FILE)
def families(output: SimpleNamespace, action: str, name: str | None) -> None:
    """List the families and the catalog, or show one."""
    from hardness.report.text import table
    from instances.capabilities import CAPABILITIES
    from instances.catalog import CATALOG
    from instances.spec import kind_of, known, parse, spec_of

    kinds = {one: kind_of(one) for one in known()}
    if action == "show":
        if not name:
            raise click.UsageError("families show needs the NAME of a family or a catalog entry")
        asked = spec_of(name)
        kind = kind_of(asked)
        family = parse(asked if kind is None else kind.example)
        data: dict[str, Any] = {
            "name": family.name,
            "about": family.about,
            "example": family.example if kind else family.spec,
            "labels": family.label_text,
            "parameters": parameters(family),
            "capabilities": [one.name for one in CAPABILITIES if one.of(family) is not None],
            "revision": family.revision,
        }
        entry = CATALOG.get(name)
        if entry:
            data |= {"catalog": name, "entry": entry.about, "source": entry.source}
        lines = [f"{name}: {entry.about} [{entry.source or 'ours'}]"] if entry else []
        lines += [
            f"{data['name']}: {data['about']}",
            f"example: {family.example if kind else family}",
        ]
        lines += [f"labels: {data['labels']}"]
        lines += [f"capabilities of the example: {', '.join(data['capabilities']) or 'none'}"]
        lines += ["", table(*parameter_rows(data["parameters"]))]
        return emit(output, data, "\n".join(lines), table=data["parameters"])
    data = {
        "families": [
            {"name": name, "about": kind.about, "example": kind.example}
            for name, kind in kinds.items()
            if kind
        ],
        "catalog": [{"name": n, "spec": e.spec, "about": e.about} for n, e in CATALOG.items()],
    }
    rows = [[f["name"], f"{f['about']}\n{f['example']}"] for f in data["families"]]
    named = [[c["name"], f"{c['about']}\n{c['spec']}"] for c in data["catalog"]]
    text = table(["family", "what, and an example"], rows) + "\n\n"
    every = [{"kind": "family", **f} for f in data["families"]]
    every += [
        {"kind": "catalog", "name": c["name"], "about": c["about"], "example": c["spec"]}
        for c in data["catalog"]
    ]
    text += table(["catalog", "what, and its spec"], named)
    return emit(output, data, text, table=every)


def parameters(kind: Any) -> list[dict[str, str]]:
    """Describe the fields of a family or learner."""
    from dataclasses import MISSING

    from instances.parameters import listed, plain

    return [
        {
            "name": f.name,
            "type": getattr(f.type, "__name__", str(f.type)),
            "default": "required" if f.default is MISSING else plain(f.default),
        }
        for f in listed(kind)
    ]


def parameter_rows(found: list[dict[str, str]]) -> tuple[list[str], list[list[str]]]:
    """Lay parameters out as a table's header and rows."""
    return ["parameter", "type", "default"], [[p["name"], p["type"], p["default"]] for p in found]
