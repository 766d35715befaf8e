from . import datasets as datasets
from .api.attacks import attack as attack
from .api.bounds import bound as bound, certify as certify, check as check, verify as verify
from .api.comparing import (
    compare as compare,
    ladders as ladders,
    least as least,
    stress as stress,
)
from .api.demo import demo as demo
from .api.estimates import estimate as estimate
from .api.figures import figure as figure
from .api.instances import (
    generate as generate,
    inspect as inspect,
    reduce as reduce,
    samples as samples,
)
from .api.learning import distinguish as distinguish, learn as learn, spectrum as spectrum
from .api.names import list_families as list_families, list_learners as list_learners
from .api.risk import risk as risk
from .api.sources import family as family, learner as learner
from .api.sweeps import sweep as sweep
from .bounds.bound import Bound as Bound
from .bounds.certificate import Certificate as Certificate, Claim as Claim
from .bounds.check import Checked as Checked
from .bounds.verify import Verification as Verification
from .lwe.grid import Grid as Grid, SearchResult as SearchResult
from .lwe.record import Estimate as Estimate, Estimates as Estimates
from .report.style import CaptionedFigure as CaptionedFigure
from .runs.attack import AttackResult as AttackResult, Attacks as Attacks
from .runs.comparison import Comparison as Comparison
from .runs.conformance import check_learner as check_learner
from .runs.game import Game as Game
from .runs.least import Least as Least
from .runs.results import Runs as Runs, read_runs as read_runs
from .runs.run import Run as Run
from .runs.stress import Stress as Stress
from .api.records import (
    AlreadyExists as AlreadyExists,
    DamagedFile as DamagedFile,
    Inspection as Inspection,
    Refuted as Refuted,
    Result as Result,
    Samples as Samples,
    TooLarge as TooLarge,
    ToolkitError as ToolkitError,
    UsageError as UsageError,
)

__version__: str
