from .attack import AttackResult as AttackResult, attack as attack, attacks_on as attacks_on
from .comparison import (
    Comparison as Comparison,
    compare as compare,
    default_learners as default_learners,
    distinct_learners as distinct_learners,
    values_of as values_of,
)
from .distinguish import Distinction as Distinction, distinguish as distinguish
from .game import Game as Game, play as play
from .growth import Scaling as Scaling
from .jobs import Job as Job, Runner as Runner, run_jobs as run_jobs
from .least import Least as Least, LeastCell as LeastCell, Threshold as Threshold, least as least
from .results import Runs as Runs, read_runs as read_runs
from .risk import Risk as Risk, measure as measure
from .run import (
    Run as Run,
    learn_once as learn_once,
    require_support as require_support,
    run as run,
)
from .spectrum import Attempt as Attempt, Spectra as Spectra, spectra as spectra
from .stress import LadderAttempt as LadderAttempt, Stress as Stress, stress as stress
