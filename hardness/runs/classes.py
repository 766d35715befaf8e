"""Classes of learners: what each sees, and which certified numbers bind it."""

from dataclasses import dataclass
from typing import Literal

from hardness.learners.learner import View
from hardness.runs.registry import ATTACKS, LEARNERS
from instances.dense import Dense
from instances.family import Family

ClassName = Literal["statistical queries", "examples", "gradient", "membership", "lattice"]
GRADIENT = (
    "student",
    "mlp",
    "levenberg",
    "transformer",
    "attention",
)  # learners that descend gradients over batches

VIEWS: dict[View, str] = {
    "tokens": "the tokens and the label of each example, as they are drawn",
    "z": "the product z of the two tokens, and the part of the label that z decides",
    "queries": "means over examples, within a tolerance",
    "values": "labels of tokens that it chooses",
}


@dataclass(frozen=True, kw_only=True)
class LearnerClass:
    """Learners that see one kind of thing.

    cost: what they are counted by. bound_by: the quantities of certificates about them.
    """

    name: ClassName
    does: str  # "it ..."
    do: str  # "they ..."
    cost: Literal["queries", "examples", "values"]
    bound_by: tuple[str, ...]


CLASSES: dict[ClassName, LearnerClass] = {
    one.name: one
    for one in (
        LearnerClass(
            name="statistical queries",
            does="asks for means over examples, answered within a tolerance",
            do="ask for means over examples, answered within a tolerance",
            cost="queries",
            bound_by=("stat-queries", "vstat-queries", "csq-queries"),
        ),
        LearnerClass(
            name="examples",
            does="learns from single examples",
            do="learn from single examples",
            cost="examples",
            bound_by=("information-floor",),
        ),
        LearnerClass(
            name="gradient",
            does="descends gradients over batches of examples",
            do="descend gradients over batches of examples",
            cost="examples",
            bound_by=("information-floor",),
        ),
        LearnerClass(
            name="membership",
            does="asks for labels of tokens of its choice",
            do="ask for labels of tokens of their choice",
            cost="values",
            bound_by=("information-floor",),  # a label that is chosen is a label
        ),
        LearnerClass(
            name="lattice",
            does="looks for the secret in single examples, by linear algebra, search or lattices",
            do="look for the secret in single examples, by linear algebra, search or lattices",
            cost="examples",
            bound_by=("information-floor",),
        ),
    )
}


def class_of(learner: str, chose: bool = False) -> LearnerClass | None:
    """Return the class of a learner by its spec; None for one from a file, which may do all.

    chose: whether a run of it asked for labels of tokens of its choice; those from files are then
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


def view_of(
    learner: str, family: Family | None = None, asked: bool = False, chose: bool = False
) -> View:
    """Name what a learner sees, by its spec.

    family: labels that are real numbers have no factor of z, and a learner that sees z elsewhere
    sees their tokens. asked, chose:
    whether a run of it asked queries, or for labels of tokens of its choice.

    >>> [view_of(name) for name in ("student", "mlp:steps=9", "mlp:view=tokens", "mine.py:Net")]
    ['tokens', 'z', 'tokens', 'examples']
    """
    name, _, parameters = learner.partition(":")
    if name not in LEARNERS:
        return "values" if chose else "queries" if asked else "examples"
    kind = LEARNERS[name]
    view: View = getattr(kind, "view", kind.access)
    view = "tokens" if "view=tokens" in parameters.split(",") else view
    return "tokens" if view == "z" and isinstance(family, Dense) else view
