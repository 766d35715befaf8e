"""The manual: `make docs`. Pages are plain markdown, which reads as well where it is stored.

What is here beyond settings: the navigation follows the links of index.md, formulas need no
network, anchors may be written as HTML, and keys such as [CL24] lead to the references. Docstrings
are plain text with `code` and doctest blocks; fields of records are explained by their comments.
"""

import importlib.util
import re
import shutil
from importlib import import_module
from importlib.metadata import version as installed
from pathlib import Path

from docutils import nodes

HERE = Path(__file__).parent

project = "hardness"
author = "the authors of hardness"
version = release = installed("hardness-toolkit")
extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.mathjax"]
exclude_patterns = ["examples", "data", "_build"]
suppress_warnings = ["myst.header"]  # a page may begin its sections below the second level

myst_enable_extensions = ["dollarmath", "colon_fence"]
myst_heading_anchors = 4
myst_dmath_double_inline = True
nb_execution_mode = "cache"
nb_execution_cache_path = str(HERE.parent / "build" / "notebooks")
nb_execution_raise_on_error = True
nb_execution_timeout = 120
nb_merge_streams = True

html_theme = "furo"
html_title = "hardness"
html_static_path = ["_static"]
html_css_files = ["manual.css"]
html_show_copyright = False
html_copy_source = False
html_show_sourcelink = False
mathjax_path = "mathjax.js"

# What is public is what a package lists; its classes show what they define themselves.
autodoc_default_options = {"members": True, "undoc-members": True, "special-members": "__call__"}
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_preserve_defaults = True
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 88
add_module_names = False
toc_object_entries_show_parents = "hide"

KEYS = set(re.findall(r"</a>\*\*(\w+)\*\*", (HERE / "references.md").read_text()))
_KEYS = re.compile(rf"(?<=[\[ ])({'|'.join(KEYS)})(?=[\],])")
_ANCHOR = re.compile(r'<a id="([^"]+)">')
_BULLET = re.compile(r"^- .*(?:\n  .*)*", re.M)
_LINK = re.compile(r"\[([^\]]+)\]\(([\w./-]+)\.(?:md|ipynb)\)")
_TREE = "\n\n```{{toctree}}\n:hidden:\n{}\n\n{}\n```\n"


def _sections():
    """The sections of index.md: of each its bullets, of each bullet its links."""
    for section in (HERE / "index.md").read_text(encoding="utf-8").split("\n## ")[1:]:
        bullets = [_LINK.findall(bullet) for bullet in _BULLET.findall(section)]
        yield section.partition("\n")[0], [links for links in bullets if links]


def _entries(links):
    return "\n".join(f"{text[0].upper()}{text[1:]} </{page}>" for text, page in links)


def _navigation(app, name, source):
    """Add what is below a page in the sidebar.

    The first link of a bullet of index.md is a page of its section; the others, and the pages of a
    folder of its name, are below that page.
    """
    for title, bullets in _sections():
        if name == "index":
            source[0] += _TREE.format(
                f":caption: {title}", _entries([links[0] for links in bullets])
            )
        for (_, page), *others in bullets:
            if name == page and others:
                source[0] += _TREE.format("", _entries(others))
    if (HERE / name).is_dir():
        source[0] += _TREE.format(":glob:", f"/{name}/*")


def _anchors(app, document):
    """Let links find what a page names by <a id="...">."""
    slugs = app.env.metadata[app.env.docname].setdefault("myst_slugs", {})
    for raw in document.findall(nodes.raw):
        for name in _ANCHOR.findall(raw.astext()):
            slugs[name] = (raw.line or 0, name, "")


def _keys(app, document):
    """Let [CL24] lead to its reference."""
    for text in list(document.findall(nodes.Text)):
        if isinstance(text.parent, nodes.reference | nodes.literal | nodes.literal_block):
            continue
        parts = _KEYS.split(text.astext())
        if len(parts) > 1:
            text.parent.replace(text, [_linked(app, part) for part in parts if part])


def _linked(app, part):
    if part not in KEYS:
        return nodes.Text(part)
    page = app.builder.get_relative_uri(app.env.docname, "references")
    return nodes.reference("", part, internal=True, refuri=f"{page}#{part.lower()}")


def _prose(app, what, name, thing, options, lines):
    """Make reStructuredText of a docstring: plain text, `code`, indented blocks, doctests."""
    lines[:] = rst(lines)


def rst(lines):
    """Escape what reStructuredText would read into plain text.

    >>> rst(["x_ is `f(*a)`, |y| <= 1:", "", "  kept as it is"])
    ['x\\\\_ is ``f(*a)``, \\\\|y\\\\| <= 1:', '', '::', '', '  kept as it is']
    """
    made, shown = [], False
    for line in lines:
        if line.startswith(">>>"):
            shown = True
        elif not line.strip():
            shown = False
        indented = line.startswith(" ") and not shown
        if indented and not (made and made[-1].startswith(" ")):
            made += ["", "::", ""] if made and made[-1] else ["::", ""]
        made.append(line if shown or indented else _escaped(line))
    return made


def _escaped(line):
    pieces = line.split("`")
    words = [re.sub(r"([\\*|_])", r"\\\1", piece) for piece in pieces[::2]]
    code = [f"``{piece}``" for piece in pieces[1::2]]
    return "".join(a + b for a, b in zip(words, [*code, ""], strict=True))


def _formulas(app, error):
    """Put MathJax, one script, beside the pages: a manual opens without a network."""
    if error is None and app.builder.format == "html":
        package = importlib.util.find_spec("sphinx-mathjax-offline").submodule_search_locations[0]
        script = Path(package) / "static/mathjax/tex-svg.js"
        shutil.copyfile(script, Path(app.outdir) / "_static" / mathjax_path)


def setup(app):
    """Connect what is written here, and find the names that packages import when asked."""
    for page in (HERE / "api").glob("*.md"):
        package = import_module(page.read_text(encoding="utf-8").partition("\n")[0][2:])
        vars(package).update({name: getattr(package, name) for name in package.__all__})
    app.connect("source-read", _navigation)
    app.connect("doctree-read", _anchors)
    app.connect("doctree-read", _keys)
    app.connect("autodoc-process-docstring", _prose)
    app.connect("build-finished", _formulas)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
