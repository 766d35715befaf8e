"""Names of former versions, each with what serves instead: a request for one says so in a line."""

_INSPECT = "`hardness inspect SPEC` prints the information exponent, the leap and the SQ-leap"
_LATEX = "`hardness certify ... --format latex` cites sources, which docs/references.bib lists"
_BOTH = "`hardness compare SPEC --over ...` runs learners beside certified bounds"
WITHDRAWN = {  # by what they name: commands and their functions, options, public names
    "command": {
        "challenge": "",
        "cite": _LATEX,
        "map": _BOTH,
        "measures": _INSPECT,
    },
    "option": {"--with": "--learner", "--method": "--optimizer", "--form": "--rewrite"},
    "name": {"Citation": _LATEX, "Map": _BOTH, "noisy_map": _BOTH},
}


def withdrawn(kind: str, name: str) -> str:
    """Say that a name is gone and what serves instead; empty for a name that never was.

    >>> withdrawn("command", "challenge"), withdrawn("command", "certify")
    ("the command 'challenge' is gone", '')
    """
    instead = WITHDRAWN.get(kind, {}).get(name)
    if instead is None:
        return ""
    return f"the {kind} '{name}' is gone" + (f": {instead}" if instead else "")
