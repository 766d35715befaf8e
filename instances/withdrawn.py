"""Names of former versions, each with what serves instead: a request for one is refused with it."""

_INSPECT = "`hardness inspect SPEC` prints the information exponent, the leap and the SQ-leap"
_LATEX = "`hardness certify ... --format latex` cites sources, which docs/references.bib lists"
_BOTH = "`hardness compare SPEC --over ...` runs learners beside certified bounds"
_GAME = "`hardness learn NAME SPEC --oracle adversary` prints the game"
_ESTIMATE = "`hardness estimate SPEC` prints what it would cost"
_NOISE = "gradient descent is certified with --noise-std"
_STUDIES = "`python docs/studies/{}.py` in the sources prints the tables"
_LEAST = "figure least shows the least examples, `hardness report` the risk of each run"
_LEAVE = "leave it out, and make files that name it again"
_BESIDE = "`hardness attack SPEC --learner NAME` prints the estimate and runs the attack"
_HEADS = dict.fromkeys(("beta", "bits", "heads", "labels"), _LEAVE)
# By what they name: commands and their functions, families, options, learners, public names.
WITHDRAWN: dict[str, dict[str, str]] = {
    "command": {
        "challenge": "",
        "cite": _LATEX,
        "forecast": _BESIDE,
        "map": _BOTH,
        "measures": _INSPECT,
        "optimizers": _STUDIES.format("optimizers"),
        "softmax": _STUDIES.format("softmax"),
        "theory": _STUDIES.format("SUBJECT"),
    },
    "family": {
        "composed": "parity has the labels",
        "dial": "`nice:scale=TAU,...` has logits of that size",
        "hardmax": "parity and profile have the labels",
        "parity_position": "parity shows its label in half of the examples",
        "profile_position": "profile shows its label in half of the examples",
        "tokens3": "parity is on two tokens",
        "window": "`lwr:n=N,q=Q,p=PARTS` has labels that tell more",
    },
    "figure": {
        "adversary": _GAME,
        "binding": "docs/binding.md has the table",
        "coherence": "`hardness inspect` prints how alike heads are",
        "eigenvalues": "`hardness certify SPEC` prints operator-norm and second-eigenvalue",
        "forecast": "figure attacks draws runs beside estimates",
        "learning-curve": _LEAST,
        "map": _BOTH,
        "portrait": "`hardness inspect SPEC` describes the heads",
        "queries": "`hardness certify SPEC --tau TAU` prints the number at a tolerance",
        "risks": "`hardness report` has the risks of runs, figure both-sides their costs",
        "stress": "`hardness report` has a table of the climbs",
        "theory": _STUDIES.format("SUBJECT"),
        "summary": "`hardness store show FILE --format markdown` prints the table",
        "training": "the details of a run hold its curve: `hardness learn ... --json`",
        "winners": "figure phase shows where each learner solves",
    },
    **{f"parameter of {name}": _HEADS for name in ("lpn", "lwe", "lwr")},
    "parameter of direction": {"labels": _LEAVE},
    "parameter of nice": {
        "attention": _LEAVE,
        "signs": _LEAVE,
        "wrank": _LEAVE,
    },
    "option": {
        "--batch": _NOISE,
        "--with": "--learner",
        "--method": "--optimizer",
        "--heads": "AttentionLayer.from_torch or .from_qkvo makes a layer",
        "--hold-out": "a fifth of the examples is held out",
        "--labels": "a .npz of x and y holds both",
        "--layer": "AttentionLayer.from_torch or .from_qkvo makes a layer",
        "--rewrite": "`hardness inspect SPEC` describes the heads of the family",
        "--slice": "--where",
        "--contain": "--sandbox",
        "--device": "learners from files use the cards that there are",
        "--grid": _NOISE,
        "--parameters": _NOISE,
        "--proof": "the docstrings of hardness/bounds/checker prove the rules that a step names",
        "--state-bits": _NOISE,
        "--transcript": _GAME,
        "--within": _NOISE,
    },
    "learner": {
        "arora-ge": _ESTIMATE,
        "bdd": f"{_ESTIMATE}; primal runs",
        "km": "flips finds hidden sets by labels of chosen tokens",
        "multihead": "staged and levenberg find heads from examples",
        "onehead": "staged and levenberg find heads from examples",
        "pairs": "lowdegree learns parts of low degree, elimination and restricted parities",
    },
    "ladder": {"beyond-v1": "beyond-v2 has what is left of it"},
    "format": {"hardness-forecast/2": _BESIDE, "hardness-transcript/1": _GAME},
    "name": {
        **{"Citation": _LATEX, "Map": _BOTH, "noisy_map": _BOTH},
        "Forecasts": _BESIDE,
        **dict.fromkeys(("Finding", "Theory"), _STUDIES.format("SUBJECT")),
    },
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
