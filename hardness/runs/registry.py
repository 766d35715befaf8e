"""Learners by name, "name:key=value", with what each sees and which certified bounds apply."""

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

LONGEST_NAME = 1000  # characters of a learner's name, which is written in tables and files

OBJECTS: dict[str, Learner] = {}  # learners given as Python objects, by name
KEYS: dict[str, str] = {}  # the key that the caller gave to an object, whose runs may be kept
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
    if given := OBJECTS.get(text.strip()):
        return given
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
    """Return the canonical name by which runs store a learner; unknown names stay as they are.

    Unknown names are of objects in another process. Raises UsageError for a withdrawn learner.

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
    """Make a learner as `parse_learner` does, but copy a learner that was given as an object.

    So an object that keeps state between runs gives the same results in every order.
    """
    learner = parse_learner(text)
    with suppress(Exception):  # raised by a user's object that cannot be copied
        return deepcopy(learner) if text.strip() in OBJECTS else learner
    return learner


@lru_cache(maxsize=256)
def _built_in(name: str, parameters: str) -> Learner:
    """Make a built-in learner; it is immutable, so one object serves all runs."""
    kind = LEARNERS[name]
    return kind(**arguments(kind, parameters, name, name))


def _foreign(text: str) -> Learner:
    """Make the learner of "path.py:Name"; the file is neither read nor executed here."""
    from hardness.learners.remote import SubprocessLearner
    from instances.userfile import split

    named = split(text)
    if named:
        parts = [realpath(named.path), named.name, named.parameters]
        return SubprocessLearner(
            spec=text, text=":".join(part for part in parts if part), file=named.path
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


# What each learner sees, and which certified bounds apply to it.

ClassName = Literal["statistical queries", "examples", "gradient", "membership", "lattice"]
# Learners that descend gradients over batches.
GRADIENT = ("student", "mlp", "levenberg", "transformer", "attention")

VIEWS: dict[View, str] = {
    "tokens": "the tokens and the label of each example, as they are drawn",
    "z": "the product z of the two tokens, and the part of the label that z decides",
    "queries": "means over examples, within a tolerance",
    "values": "labels of inputs that it chooses",
}


_LABEL_BOUND = ("information-floor",)


@dataclass(frozen=True)
class LearnerClass:
    """A class of learners with the same kind of access.

    does: what a learner of the class does, after "it". cost: the resource that measures its cost.
    bound_by: the certified quantities that apply to it.
    """

    name: ClassName
    does: str
    cost: Literal["queries", "examples", "values"]
    bound_by: tuple[str, ...] = _LABEL_BOUND

    @property
    def do(self) -> str:
        """The words of `does` in the plural, after "they"."""
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
    # The information-floor counts labels, also of chosen inputs.
    LearnerClass("membership", "asks for labels of inputs of its choice", "values"),
    LearnerClass(
        "lattice",
        "looks for the secret in single examples, by linear algebra, search or lattices",
        "examples",
    ),
)
CLASSES: dict[ClassName, LearnerClass] = {kind.name: kind for kind in _CLASSES}


def class_of(learner: str, chose: bool = False) -> LearnerClass | None:
    """Return the class of a learner by its name; None for a learner from a file.

    chose: whether a run of it asked for labels of inputs of its choice. A learner from a file is
    then in the class "membership".

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


# The view of a learner from a file by the form in which it takes examples.
_VIEW_OF_FORM: dict[str, View] = {"tokens": "tokens", "flat": "tokens", "z": "z", "samples": "z"}


def view_of(
    learner: str, family: Family | None = None, queried: bool = False, chose: bool = False
) -> View:
    """Return what a learner sees, by its name.

    family: if its labels are real numbers, a learner that otherwise sees z sees the tokens.
    queried, chose: whether a run of it asked queries, or for labels of inputs of its choice.

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
    """Return what the learner of a stored run saw; its family need not be known here.

    queried, chose: whether it asked queries, or for labels of inputs of its choice. arrays: the
    form in which a learner from a file reports that it took examples.

    >>> recorded_view("mlp", "parity:d=8,m=2"), recorded_view("mlp", "gone:d=9")
    ('z', 'z')
    >>> recorded_view("mine.py:Net", "parity:d=8,m=2", arrays="flat")
    'tokens'
    """
    if learner.partition(":")[0] not in LEARNERS and arrays in _VIEW_OF_FORM:
        return _VIEW_OF_FORM[arrays]
    try:
        family = parse_stored(spec)
    except UsageError:
        family = None
    return view_of(learner, family, queried, chose)
