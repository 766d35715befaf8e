"""The provable learner in six stages, one file a stage: each a function from records to a record.

In the practical form eigenvectors (span) stand where the paper has a convex body; projection and
polish are outside of its theorem.

    moment → agreement, refine (or refine_by_proxy) → constraints, hull (or Body) → span (or
    extract) → net (or grid) → project → polish

[CL24]
"""

from hardness.upper.staged.agreement import Agreement, agreement
from hardness.upper.staged.body import (
    Axes,
    Body,
    EmptyBody,
    extract,
    least_epsilon,
    minimum_norm,
    support,
)
from hardness.upper.staged.constraints import Constraints, constraints
from hardness.upper.staged.data import Data, relative_error
from hardness.upper.staged.diagnosis import Signal, diagnose
from hardness.upper.staged.grid import Grid, grid
from hardness.upper.staged.hull import Hull, hull
from hardness.upper.staged.learner import Staged
from hardness.upper.staged.moment import Moment, moment
from hardness.upper.staged.net import Net, net
from hardness.upper.staged.polish import Polished, polish
from hardness.upper.staged.projection import Projected, project
from hardness.upper.staged.proxy import ProxyRefined, refine_by_proxy
from hardness.upper.staged.prune import Pruned, prune
from hardness.upper.staged.refine import Refined, refine
from hardness.upper.staged.single import Single, single
from hardness.upper.staged.span import Span, span
from hardness.upper.staged.stage import StageFailed, StageReport

__all__ = [
    "Agreement",
    "Axes",
    "Body",
    "Constraints",
    "Data",
    "EmptyBody",
    "Grid",
    "Hull",
    "Moment",
    "Net",
    "Polished",
    "Projected",
    "ProxyRefined",
    "Pruned",
    "Refined",
    "Signal",
    "Single",
    "Span",
    "StageFailed",
    "StageReport",
    "Staged",
    "agreement",
    "constraints",
    "diagnose",
    "extract",
    "grid",
    "hull",
    "least_epsilon",
    "minimum_norm",
    "moment",
    "net",
    "polish",
    "project",
    "prune",
    "refine",
    "refine_by_proxy",
    "relative_error",
    "single",
    "span",
    "support",
]
