from .drive import Ended as Ended, Interrupted as Interrupted, run_sweep as run_sweep
from .file import (
    Climbs as Climbs,
    Grid as Grid,
    Sweep as Sweep,
    read_sweep as read_sweep,
    read_text as read_text,
    require_count as require_count,
)
