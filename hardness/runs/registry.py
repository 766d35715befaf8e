"""Names of learners, and "name:key=value" <-> learner."""

from collections.abc import Mapping
from contextlib import suppress
from copy import deepcopy
from functools import lru_cache
from os.path import realpath
from typing import Any

from hardness.learners.learner import Learner, learner_spec
from instances.errors import UsageError, unknown, withdrawn
from instances.lazy import Imported
from instances.parameters import build
from instances.spec import kind_of

LEARNERS: Mapping[str, type[Any]] = Imported(
    "hardness",
    {
        "queries": "learners.queries.Queries",
        "elimination": "attacks.elimination.Elimination",
        "lowdegree": "learners.regression.LowDegree",
        "student": "learners.student.Student",
        "mlp": "learners.mlp.Mlp",
        "pooled": "learners.queries.Pooled",
        "staged": "learners.staged.learner.Staged",
        "levenberg": "learners.levenberg.Levenberg",
        "transformer": "learners.transformer.Transformer",
        "attention": "learners.transformer.Attention",
        "linear": "learners.regression.Linear",
        "lifted": "learners.lifted.Lifted",
        "bruteforce": "attacks.bruteforce.BruteForce",
        "mitm": "attacks.mitm.MeetInTheMiddle",
        "restricted": "attacks.restricted.Restricted",
        "bkw": "attacks.bkw.Bkw",
        "modlinear": "attacks.elimination.ModLinear",
        "primal": "attacks.primal.Primal",
        "dual": "attacks.dual.Dual",
        "trivial": "learners.regression.Trivial",
        "flips": "learners.flips.Flips",
    },
)

LONGEST_NAME = 1000  # of a learner, as it is written: it stands in tables, figures and files

OBJECTS: dict[str, Learner] = {}  # of Python callers, by name; workers get them by value
KEYS: dict[str, str] = {}  # of those whose runs may be kept: what their callers say of them
LAYERED = ("staged", "levenberg", "student", "attention")  # learners that find a layer
ATTACKS = (  # learners that look for the secret itself
    "elimination",
    "bruteforce",
    "mitm",
    "restricted",
    "bkw",
    "modlinear",
    "primal",
    "dual",
)


def parse_learner(text: str) -> Learner:
    """Read a learner, "lowdegree:degree=3", or one in a file, "path.py:Name"; raises UsageError.

    >>> parse_learner("lowdegree:degree=3").degree
    3
    """
    if len(text) > LONGEST_NAME or not text.strip().isprintable():
        raise UsageError(
            f"{text[:100]!r}: the name of a learner is one line of at most {LONGEST_NAME} "
            "printable characters: rename its file, or make a link to it"
        )
    if own := OBJECTS.get(text.strip()):
        return own
    name, _, rest = text.strip().partition(":")
    if name in LEARNERS:
        return _built_in(name, rest)
    if name == "decode":
        if not rest:
            raise UsageError(f"'{text}': say whose secret to read off, as decode:mlp")
        from hardness.attacks.decoder import Decoder

        return Decoder(learner=parse_learner(rest))
    return _foreign(text.strip())


def stored_name(text: str) -> str:
    """Give the name that runs of a learner hold, also of an object of another process.

    Raises UsageError for a learner that is gone.

    >>> stored_name("lowdegree:degree=2"), stored_name("an object of yesterday")
    ('lowdegree:degree=2,oversample=8', 'an object of yesterday')
    """
    try:
        return learner_spec(parse_learner(text))
    except UsageError:
        if withdrawn("learner", text.partition(":")[0]):
            raise
        return text.strip()


def fresh_learner(text: str) -> Learner:
    """Make a learner as `parse_learner` does, an object of a Python caller as it was given.

    So no run of an object that keeps something changes the next, in whichever process it is.
    """
    learner = parse_learner(text)
    with suppress(Exception):  # what a user's object raises that cannot be copied
        return deepcopy(learner) if text.strip() in OBJECTS else learner
    return learner


@lru_cache(maxsize=256)
def _built_in(name: str, parameters: str) -> Learner:
    """Make a learner of this package: a frozen record, so that one serves all its runs."""
    learner: Learner = build(LEARNERS[name], parameters, name, name)
    return learner


def _foreign(text: str) -> Learner:
    """Name a learner in a file; nothing of it is executed here, nor looked at."""
    from hardness.learners.remote import SubprocessLearner
    from instances.userfile import split

    found = split(text)
    if found:
        parts = [realpath(found.path), found.name, found.parameters]
        return SubprocessLearner(
            spec=text, text=":".join(part for part in parts if part), file=found.path
        )
    name = text.partition(":")[0]
    if kind_of(name):
        raise UsageError(
            f"'{name}' is a family and no learner: give the learner before the spec; "
            "`hardness learners` lists them"
        )
    if "," in text and all(one.partition(":")[0] in LEARNERS for one in text.split(",")):
        several = " ".join(f"--learner {one}" for one in text.split(","))
        raise UsageError(f"'{text}': these are several learners: repeat it, as {several}")
    raise UsageError(f"{unknown('learner', name, LEARNERS)}; a learner in a file is path.py:Name")
