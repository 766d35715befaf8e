"""What is below a page in the sidebar follows from the links that a reader sees.

Each section of index.md is a group. The first link of a bullet is a page of it; the others, and the
pages of a folder of its name, are below that page.
"""

import re
from pathlib import Path

_BULLET = re.compile(r"^- .*(?:\n  .*)*", re.M)
_LINK = re.compile(r"\[([^\]]+)\]\(([\w./-]+)\.(?:md|ipynb)\)")


def sections(index):
    """List the sections of an index: of each its title and its bullets, of a bullet its links.

    >>> list(sections("# A\\n- [x](x.md)\\n## B\\n- [Y](y.md), its\\n  [tables](z/t.md)\\n- no"))
    [('B', [[('Y', 'y'), ('tables', 'z/t')]])]
    """
    for section in index.split("\n## ")[1:]:
        bullets = [_LINK.findall(bullet) for bullet in _BULLET.findall(section)]
        yield section.partition("\n")[0], [links for links in bullets if links]


def tree(links, *options):
    """Write a hidden list of pages.

    >>> tree([("tables", "staged-tables")], ":glob:").split()
    ['```{toctree}', ':hidden:', ':glob:', 'Tables', '</staged-tables>', '```']
    """
    entries = [f"{text[0].upper()}{text[1:]} </{page}>" for text, page in links]
    return "\n".join(["\n\n```{toctree}", ":hidden:", *options, "", *entries, "```\n"])


def _add(app, name, source):
    home = Path(app.srcdir)
    for title, bullets in sections((home / "index.md").read_text(encoding="utf-8")):
        if name == "index":
            source[0] += tree([links[0] for links in bullets], f":caption: {title}")
        for (_, page), *others in bullets:
            if name == page == "mathematics" and app.builder.format == "latex":
                source[0] += "\n\n## Parts with pages of their own, and references\n"
                others.append(("references", "references"))
            if name == page and others:
                source[0] += tree(others)
    if (home / name).is_dir():
        source[0] += f"\n\n```{{toctree}}\n:hidden:\n:glob:\n\n/{name}/*\n```\n"


def setup(app):
    """Connect to sphinx."""
    app.connect("source-read", _add)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
