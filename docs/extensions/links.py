"""Links lead to what a page names by <a id="...">, and [CL24] leads to its reference."""

import re
from pathlib import Path

from docutils import nodes

_ANCHOR = re.compile(r'<a id="([^"]+)">')
_KEY = re.compile(r"</a>\*\*(\w+)\*\*")


def _anchors(app, document):
    slugs = app.env.metadata[app.env.docname].setdefault("myst_slugs", {})
    for raw in list(document.findall(nodes.raw)):
        names = _ANCHOR.findall(raw.astext())
        slugs.update((name, (raw.line or 0, name, "")) for name in names)
        if names and app.builder.format == "latex":
            raw.replace_self(nodes.target(ids=names))


def _keys(app, document):
    here = app.env.docname
    latex = app.builder.format == "latex"
    page = "%references" if latex else app.builder.get_relative_uri(here, "references")
    keys = _KEY.findall((Path(app.srcdir) / "references.md").read_text(encoding="utf-8"))
    named = re.compile(rf"(?<=[\[ ])({'|'.join(keys)})(?=[\],])")
    for text in list(document.findall(nodes.Text)):
        if isinstance(text.parent, nodes.reference | nodes.literal | nodes.literal_block):
            continue
        between, *parts = named.split(text.astext())
        if parts:
            made = [nodes.Text(between)]
            for key, after in zip(parts[::2], parts[1::2], strict=True):
                link = nodes.reference("", key, internal=True, refuri=f"{page}#{key.lower()}")
                made += [link, nodes.Text(after)]
            text.parent.replace(text, made)


def setup(app):
    """Connect to sphinx."""
    app.connect("doctree-read", _anchors)
    app.connect("doctree-read", _keys)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
