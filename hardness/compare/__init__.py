"""Both sides together: runs of learners, their risks, and bounds over a range of sizes."""

from typing import TYPE_CHECKING

from instances.lazy import lazily

if TYPE_CHECKING:
    from hardness.compare.both import Comparison, Cut, compare, distinct, usual, values_of
    from hardness.compare.climb import Climb
    from hardness.compare.descent import DescentStudy, descent_sizes, descent_study
    from hardness.compare.distinction import Distinction
    from hardness.compare.distinguish import distinguish
    from hardness.compare.game import Game, play
    from hardness.compare.pairtest import PairTest, pair_test
    from hardness.compare.results import read_comparison, write_comparison
    from hardness.compare.risk import Risk, measure
    from hardness.compare.run import Run, learn_once, require_support, run
    from hardness.compare.scaling import Scaling, scaling
    from hardness.compare.siege import Siege, attack, attacks_on
    from hardness.compare.spectrum import Attempt, Spectra, spectra
    from hardness.compare.stress import Stress, stress
    from hardness.compare.stressfile import read_stress, write_stress

__all__ = [
    "Attempt",
    "Climb",
    "Comparison",
    "Cut",
    "DescentStudy",
    "Distinction",
    "Game",
    "PairTest",
    "Risk",
    "Run",
    "Scaling",
    "Siege",
    "Spectra",
    "Stress",
    "attack",
    "attacks_on",
    "compare",
    "descent_sizes",
    "descent_study",
    "distinct",
    "distinguish",
    "learn_once",
    "measure",
    "pair_test",
    "play",
    "read_comparison",
    "read_stress",
    "require_support",
    "run",
    "scaling",
    "spectra",
    "stress",
    "usual",
    "values_of",
    "write_comparison",
    "write_stress",
]

lazily(__name__)
