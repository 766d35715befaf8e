"""The file that `hardness learners new` writes: it works as it stands."""

import keyword
from importlib.resources import files

from instances.errors import UsageError


def template(name: str, file: str = "my_learner.py") -> str:
    """Write a commented file with a learner of a name in it; raises UsageError for no name.

    >>> "def mine(z, s):" in template("mine")
    True
    """
    if not name.isidentifier() or not name.isascii() or keyword.iskeyword(name):
        raise UsageError(f"'{name}' given: a name in Python is needed, letters, digits and _")
    text = files("hardness.upper.plugins").joinpath("template.txt").read_text()
    return text.replace("NAME", name).replace("FILE", file)
