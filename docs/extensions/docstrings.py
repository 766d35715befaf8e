"""Docstrings as they are written here: plain text, `code`, doctests, comments beside fields."""

import ast
import inspect
import re
import textwrap
from functools import cache
from importlib import import_module

from docutils import nodes
from numpy.typing import ArrayLike
from sphinx import addnodes
from sphinx.util.typing import stringify_annotation

from hardness.learners import Outcome

_LIKE = re.sub(r"~?\b(?:\w+\.)+(?=\w)", "", stringify_annotation(ArrayLike))
_LONG = {  # by the first word of each
    "ndarray": ("ndarray[tuple[Any, ...], dtype[", "NDArray["),
    _LIKE.split()[0]: (_LIKE, "ArrayLike"),
}


def rst(lines):
    r"""Write plain text as reStructuredText: escaped, but for code, indented blocks and doctests.

    >>> rst(["x_ is `f(*a)`, |y| <= 1:", "", "  as it is"])
    ['x\\_ is ``f(*a)``, \\|y\\| <= 1:', '', '::', '', '  as it is']
    """
    made, example = [], False
    for number, line in enumerate(lines):
        if lines[number + 1 : number + 2] == ["-" * len(line)] and line:
            return made + sections(lines[number:])
        example = bool(line.strip()) and (example or line.startswith(">>>"))
        if line.startswith(" ") and not example and not (made and made[-1].startswith(" ")):
            made += ["", "::", ""] if made and made[-1] else ["::", ""]
        made.append(line if example or line.startswith(" ") else escaped(line))
    return made


def sections(lines):
    """Escape the text of sections as numpydoc has them, which napoleon then reads.

    >>> sections(["Returns", "-------", "a_b", "    Of `f(*a)`."])
    ['Returns', '-------', 'a_b', '    Of ``f(*a)``.']
    """
    return [escaped(line) if line.startswith(" ") else line for line in lines]


def escaped(line):
    """Escape what has a meaning in reStructuredText, and double the backticks of code.

    >>> escaped("a_b is `a_b`")
    'a\\\\_b is ``a_b``'
    """
    pieces = line.split("`")
    words = [re.sub(r"([\\*|_])", r"\\\1", piece) for piece in pieces[::2]]
    code = [f"``{piece}``" for piece in pieces[1::2]]
    return "".join(a + b for a, b in zip(words, [*code, ""], strict=True))


@cache
def comments(kind):
    """Read the comments that stand beside the fields of a class, by name.

    >>> from instances import Family
    >>> comments(Family)["k"]
    'number of tokens'
    """
    source = textwrap.dedent(inspect.getsource(kind))
    lines = source.splitlines()
    found = {}
    for field in ast.parse(source).body[0].body:
        if isinstance(field, ast.AnnAssign):
            comment = lines[field.end_lineno - 1][field.end_col_offset :].strip()
            if comment.startswith("# "):
                found[field.target.id] = comment[2:]
    return found


def _prose(app, what, name, thing, options, lines):
    lines[:] = rst(lines)


def _fields(app, document):
    """Put a field's comment below it, and below an outcome its advice."""
    for described in document.findall(addnodes.desc):
        signature, content = described[0], described[-1]
        if described["objtype"] == "attribute" and not content.children:
            kind, _, field = signature["fullname"].rpartition(".")
            owner = getattr(import_module(signature["module"]), kind)
            said = owner[field].advice if owner is Outcome else comments(owner).get(field)
            if said:
                content += nodes.paragraph("", "", *_inline(said))


def _inline(text):
    words = enumerate(text.split("`"))
    return [nodes.literal(word, word) if i % 2 else nodes.Text(word) for i, word in words]


def _signature(app, what, name, thing, options, signature, returned):
    """Defaults that are no Python, <factory>, would keep a signature from being read."""
    if signature is None:
        return None
    return re.sub(r"<class '(\w+)'>|<[^<>]+>", lambda m: m[1] or "...", signature), returned


def _arrays(app, document, name):
    """Write NDArray and ArrayLike where Python spells out what they stand for."""
    signatures = document.findall(addnodes.desc_signature)
    for parent in [part for signature in signatures for part in signature.findall(nodes.Element)]:
        for start in reversed(range(len(parent))):
            long, short = _LONG.get(parent[start].astext(), ("", ""))
            text = "".join(child.astext() for child in parent[start:])
            if long and text.startswith(long):
                _shorten(parent, start, long, short)


def _shorten(parent, start, long, short):
    stop = start
    while long:
        long = long[len(parent[stop].astext()) :]
        stop += 1
    if short.endswith("["):  # two brackets were open: the first to be closed is gone
        close, depth = stop, 0
        while depth >= 0:
            depth += {"[": 1, "]": -1}.get(parent[close].astext(), 0)
            close += 1
        del parent[close - 1]
    parent[start:stop] = [addnodes.desc_sig_name("", short)]


def setup(app):
    """Connect to sphinx, and find the names that packages import when they are asked for."""
    for package in map(import_module, ("hardness", "hardness.oracles")):
        vars(package).update({name: getattr(package, name) for name in package.__all__})
    app.connect("autodoc-process-docstring", _prose, priority=400)  # before napoleon
    app.connect("autodoc-process-signature", _signature)
    app.connect("doctree-read", _fields)
    app.connect("doctree-resolved", _arrays)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
