"""Chen and Li's learner in six stages: each is a file with a function from records to a record.

Eigenvectors (`span`) replace the paper's convex body. The projection and the polish are not part of
the theorem. `mode=paper` uses the convex body itself (`paper.py`).

    moment → agreement → refine → hull → span → net → project → polish

[CL24]
"""

from hardness.learners.fitting import (
    Data as Data,
)
from hardness.learners.fitting import (
    StageFailed as StageFailed,
)
from hardness.learners.fitting import (
    StageReport as StageReport,
)
from hardness.learners.staged.agreement import agreement as agreement
from hardness.learners.staged.diagnosis import diagnose as diagnose
from hardness.learners.staged.hull import constraints as constraints
from hardness.learners.staged.hull import hull as hull
from hardness.learners.staged.learner import Staged as Staged
from hardness.learners.staged.moment import moment as moment
from hardness.learners.staged.net import grid as grid
from hardness.learners.staged.net import net as net
from hardness.learners.staged.polish import polish as polish
from hardness.learners.staged.polish import prune as prune
from hardness.learners.staged.projection import project as project
from hardness.learners.staged.refine import refine as refine
from hardness.learners.staged.single import single as single
from hardness.learners.staged.span import span as span
