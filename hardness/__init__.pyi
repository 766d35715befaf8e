from . import datasets as datasets
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
from .verbs.attacking import attack as attack, distinguish as distinguish, spectrum as spectrum
from .verbs.bounds import bound as bound, certify as certify, check as check, verify as verify
from .verbs.comparing import compare as compare, ladders as ladders, stress as stress
from .verbs.costs import estimate as estimate
from .verbs.demo import demo as demo
from .verbs.examples import (
    generate as generate,
    inspect as inspect,
    reduce as reduce,
    samples as samples,
)
from .verbs.families import list_families as list_families, list_learners as list_learners
from .verbs.judging import risk as risk
from .verbs.learning import learn as learn
from .verbs.least import least as least
from .verbs.pictures import figure as figure
from .verbs.records import (
    Inspection as Inspection,
    Refuted as Refuted,
    Result as Result,
    Samples as Samples,
    ToolkitError as ToolkitError,
)
from .verbs.sources import family as family, learner as learner
from .verbs.sweeping import sweep as sweep

__version__: str
