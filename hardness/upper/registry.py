"""Names of learners, and "name:key=value" <-> learner."""

from typing import Any

from hardness.upper.arorage import AroraGe
from hardness.upper.bkw import Bkw
from hardness.upper.bruteforce import BruteForce
from hardness.upper.elimination import Elimination
from hardness.upper.learner import Learner
from hardness.upper.levenberg import Levenberg
from hardness.upper.lifted import Lifted
from hardness.upper.linear import Linear
from hardness.upper.lowdegree import LowDegree
from hardness.upper.mitm import MeetInTheMiddle
from hardness.upper.mlp import Mlp
from hardness.upper.modlinear import ModLinear
from hardness.upper.pairs import Pairs
from hardness.upper.pooled import Pooled
from hardness.upper.primal import Primal
from hardness.upper.queries import Queries
from hardness.upper.restricted import Restricted
from hardness.upper.staged.learner import Staged
from hardness.upper.student import Student
from hardness.upper.trivial import Trivial
from instances.errors import ToolkitError, unknown
from instances.parameters import build

LEARNERS: dict[str, type[Any]] = {
    kind.name: kind
    for kind in (
        Queries,
        Elimination,
        LowDegree,
        Student,
        Mlp,
        Pooled,
        Staged,
        Levenberg,
        Linear,
        Lifted,
        BruteForce,
        MeetInTheMiddle,
        Restricted,
        Bkw,
        ModLinear,
        AroraGe,
        Primal,
        Trivial,
        Pairs,
    )
}

ATTACKS = (  # learners that look for the secret itself
    "elimination",
    "bruteforce",
    "mitm",
    "restricted",
    "bkw",
    "modlinear",
    "arora-ge",
    "primal",
)


def parse_learner(text: str) -> Learner:
    """Read a learner, "lowdegree" or "lowdegree:degree=3"; raises UsageError.

    >>> parse_learner("lowdegree:degree=3").degree
    3
    """
    name, _, rest = text.strip().partition(":")
    if name.endswith(".py"):
        raise ToolkitError(f"'{text}' given: learners from files are not built yet")
    if name not in LEARNERS:
        raise unknown("learner", name, LEARNERS)
    learner: Learner = build(LEARNERS[name], rest, name, name)
    return learner
