"""Learners by name, "name:key=value"; what each sees, and which certified numbers bind it."""

from collections.abc import Mapping
from contextlib import suppress
from copy import deepcopy
from dataclasses import dataclass
from functools import lru_cache
from os.path import realpath
from typing import Any, Literal

from hardness.learners.learner import Learner, View, learner_spec
from instances.dense import Dense
from instances.errors import UsageError, unknown, withdrawn
from instances.family import Family
from instances.lazy import Imported
from instances.parameters import arguments
from instances.spec import kind_of, parse_stored

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
    *("elimination", "bruteforce", "mitm", "restricted", "bkw", "modlinear", "primal", "dual"),
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
    kind = LEARNERS[name]
    return kind(**arguments(kind, parameters, name, name))


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


# What each sees, and which certified numbers bind it.

ClassName = Literal["statistical queries", "examples", "gradient", "membership", "lattice"]
# Learners that descend gradients over batches.
GRADIENT = ("student", "mlp", "levenberg", "transformer", "attention")

VIEWS: dict[View, str] = {
    "tokens": "the tokens and the label of each example, as they are drawn",
    "z": "the product z of the two tokens, and the part of the label that z decides",
    "queries": "means over examples, within a tolerance",
    "values": "labels of inputs that it chooses",
}


_FLOOR = ("information-floor",)


@dataclass(frozen=True)
class LearnerClass:
    """Learners that see one kind of thing.

    does: what one does, "it ...". cost: what they are counted by. bound_by: the quantities of
    certificates about them.
    """

    name: ClassName
    does: str
    cost: Literal["queries", "examples", "values"]
    bound_by: tuple[str, ...] = _FLOOR

    @property
    def do(self) -> str:
        """What several do, "they ..."."""
        verb, space, rest = self.does.partition(" ")
        return verb.removesuffix("s") + space + rest.replace(" its ", " their ")


_CLASSES = (
    LearnerClass(
        "statistical queries",
        "asks for means over examples, answered within a tolerance",
        "queries",
        ("stat-queries", "vstat-queries", "csq-queries"),
    ),
    LearnerClass("examples", "learns from single examples", "examples"),
    LearnerClass("gradient", "descends gradients over batches of examples", "examples"),
    # A label that is chosen is a label.
    LearnerClass("membership", "asks for labels of inputs of its choice", "values"),
    LearnerClass(
        "lattice",
        "looks for the secret in single examples, by linear algebra, search or lattices",
        "examples",
    ),
)
CLASSES: dict[ClassName, LearnerClass] = {one.name: one for one in _CLASSES}


def class_of(learner: str, chose: bool = False) -> LearnerClass | None:
    """Return the class of a learner by its spec; None for one from a file, which may do all.

    chose: whether a run of it asked for labels of inputs of its choice; those from files are then
    known.

    >>> [class_of(name).name for name in ("queries", "primal:beta=40", "student", "lowdegree")]
    ['statistical queries', 'lattice', 'gradient', 'examples']
    """
    name = learner.partition(":")[0]
    if name not in LEARNERS:
        return CLASSES["membership"] if chose else None
    access = LEARNERS[name].access
    if access == "queries":
        return CLASSES["statistical queries"]
    if access == "values":
        return CLASSES["membership"]
    if name in ATTACKS:
        return CLASSES["lattice"]
    return CLASSES["gradient" if name in GRADIENT else "examples"]


# What the forms in which learners from files take examples are of.
_ARRAYS: dict[str, View] = {"tokens": "tokens", "flat": "tokens", "z": "z", "samples": "z"}


def view_of(
    learner: str, family: Family | None = None, queried: bool = False, chose: bool = False
) -> View:
    """Name what a learner sees, by its spec.

    family: labels that are real numbers have no factor of z, and a learner that sees z elsewhere
    sees their tokens. queried, chose:
    whether a run of it asked queries, or for labels of inputs of its choice.

    >>> [view_of(name) for name in ("student", "mlp:steps=9", "mlp:view=tokens", "mine.py:Net")]
    ['tokens', 'z', 'tokens', 'examples']
    """
    name, _, parameters = learner.partition(":")
    if name not in LEARNERS:
        return "values" if chose else "queries" if queried else "examples"
    kind = LEARNERS[name]
    view: View = getattr(kind, "view", kind.access)
    view = "tokens" if "view=tokens" in parameters.split(",") else view
    return "tokens" if view == "z" and isinstance(family, Dense) else view


def recorded_view(
    learner: str, spec: str, queried: bool = False, chose: bool = False, arrays: str = ""
) -> View:
    """Name what a learner saw of a problem, of which the family need not be installed here.

    queried, chose: whether it asked queries, or for labels of inputs of its choice. arrays: in
    which form a learner from a file says that it took examples.

    >>> recorded_view("mlp", "parity:d=8,m=2"), recorded_view("mlp", "gone:d=9")
    ('z', 'z')
    >>> recorded_view("mine.py:Net", "parity:d=8,m=2", arrays="flat")
    'tokens'
    """
    if learner.partition(":")[0] not in LEARNERS and arrays in _ARRAYS:
        return _ARRAYS[arrays]
    try:
        family = parse_stored(spec)
    except UsageError:
        family = None
    return view_of(learner, family, queried, chose)
