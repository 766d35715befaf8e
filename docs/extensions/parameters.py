"""Tables of the parameters of families and learners, from the ranges that they declare."""

import re

import hardness

_COLUMNS = ("name", "default", "allowed", "meaning")
_LISTED = {"families": hardness.list_families, "learners": hardness.list_learners}
_MARK = re.compile(r"<!-- (families|learners) -->")


def tables(kind):
    """Write a section with a table in Markdown for each family or learner that has parameters.

    >>> print("".join(tables("learners").partition("### `flips`")[1:])[:74])
    ### `flips`
    <BLANKLINE>
    | parameter | default | allowed | meaning |
    |---|---|---|---|
    """
    made = []
    for name in (entry["name"] for entry in _LISTED[kind]("list").data[kind]):
        if rows := _LISTED[kind]("show", name).data["parameters"]:
            made += [f"### `{name}`", "", "| parameter | default | allowed | meaning |"]
            made += ["|---|---|---|---|", *(f"| {' | '.join(cells(row))} |" for row in rows), ""]
    return "\n".join(made)


def cells(row):
    r"""Write the cells of a parameter; what Markdown would read otherwise is escaped.

    >>> cells({"name": "k", "default": "2", "allowed": "at least 1", "meaning": "|x|_2"})
    ['`k`', '2', 'at least 1', '\\|x\\|\\_2']
    """
    return [f"`{row['name']}`", *(re.sub(r"([|*_\\<])", r"\\\1", row[key]) for key in _COLUMNS[1:])]


def _fill(app, name, source):
    if name == "parameters":
        source[0] = _MARK.sub(lambda mark: tables(mark[1]), source[0])


def setup(app):
    """Connect to sphinx."""
    app.connect("source-read", _fill)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
