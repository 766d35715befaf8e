"""Chen and Li's learner in six stages, one file a stage: each a function from records to a record.

Eigenvectors (`span`) stand in place of the paper's convex body, and a projection and a polish are
outside of its theorem; `mode=paper` has the body itself (`body.py`, `paper.py`).

    moment → agreement → refine → hull → span → net → project → polish

[CL24]
"""

from hardness.upper.fitting import Data
from hardness.upper.staged.agreement import agreement
from hardness.upper.staged.diagnosis import diagnose
from hardness.upper.staged.hull import constraints, hull
from hardness.upper.staged.learner import Staged
from hardness.upper.staged.moment import moment
from hardness.upper.staged.net import grid, net
from hardness.upper.staged.polish import polish, prune
from hardness.upper.staged.projection import project
from hardness.upper.staged.refine import refine
from hardness.upper.staged.runner import StageFailed, StageReport
from hardness.upper.staged.single import single
from hardness.upper.staged.span import span

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
