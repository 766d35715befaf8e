"""Chen and Li's learner in six stages, one file a stage: each a function from records to a record.

Eigenvectors (`span`) stand in place of the paper's convex body, and a projection and a polish are
outside of its theorem; `mode=paper` has the body itself (`paper.py`).

    moment → agreement → refine → hull → span → net → project → polish

[CL24]
"""

from hardness.learners.fitting import Data, StageFailed, StageReport
from hardness.learners.staged.agreement import agreement
from hardness.learners.staged.diagnosis import diagnose
from hardness.learners.staged.hull import constraints, hull
from hardness.learners.staged.learner import Staged
from hardness.learners.staged.moment import moment
from hardness.learners.staged.net import grid, net
from hardness.learners.staged.polish import polish, prune
from hardness.learners.staged.projection import project
from hardness.learners.staged.refine import refine
from hardness.learners.staged.single import single
from hardness.learners.staged.span import span

__all__ = [
    "Data",
    "StageFailed",
    "StageReport",
    "Staged",
    "agreement",
    "constraints",
    "diagnose",
    "grid",
    "hull",
    "moment",
    "net",
    "polish",
    "project",
    "prune",
    "refine",
    "single",
    "span",
]
