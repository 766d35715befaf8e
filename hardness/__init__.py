"""Lower bounds and hardness for learning attention layers: certify, check, learn, compare.

The functions take what the commands of the same names take, and give back records that print.

>>> import hardness
>>> hardness.certify("parity:d=8,m=3").value("sq-dimension")
'35'
"""

from importlib.util import find_spec as _find
from typing import TYPE_CHECKING, Any

__version__ = "0.2.0"

_found = _find("instances")
if _found is None or _found.submodule_search_locations is None:
    raise ImportError(
        f"{_found.origin if _found else 'no file'} is imported as `instances`, which is a package "
        "of hardness-toolkit: rename your file, or start Python in another folder"
    )

from instances.lazy import lazily  # noqa: E402
from instances.text import result_caption, result_text, save_result  # noqa: E402

if TYPE_CHECKING:
    from hardness.bounds.bound import Bound
    from hardness.bounds.certificate import Certificate, Claim
    from hardness.bounds.check import Checked
    from hardness.bounds.verify import Verification
    from hardness.cost.grid import Grid, SearchResult
    from hardness.cost.record import Estimate, Estimates
    from hardness.report.figures import Picture
    from hardness.runs.attack import AttackResult, Attacks
    from hardness.runs.comparison import Comparison
    from hardness.runs.game import Game
    from hardness.runs.least import Least
    from hardness.runs.run import Run
    from hardness.runs.stress import Stress
    from hardness.sweep.drive import Ended
    from hardness.verbs.attacking import attack, distinguish, spectrum
    from hardness.verbs.bounds import bound, certify, check, verify
    from hardness.verbs.comparing import compare, ladders, stress
    from hardness.verbs.costs import estimate
    from hardness.verbs.demo import demo
    from hardness.verbs.examples import generate, inspect, reduce, samples
    from hardness.verbs.families import families, learners
    from hardness.verbs.learning import learn
    from hardness.verbs.least import least
    from hardness.verbs.pictures import figure
    from hardness.verbs.sources import family, learner
    from hardness.verbs.stores import sweep
    from instances.errors import Refuted, ToolkitError
    from instances.inspect import Inspection
    from instances.result import Result
    from instances.samples import Samples

__all__ = [
    "AttackResult",
    "Attacks",
    "Bound",
    "Certificate",
    "Checked",
    "Claim",
    "Comparison",
    "Ended",
    "Estimate",
    "Estimates",
    "Game",
    "Grid",
    "Inspection",
    "Least",
    "Picture",
    "Refuted",
    "Result",
    "Run",
    "Samples",
    "SearchResult",
    "Stress",
    "ToolkitError",
    "Verification",
    "attack",
    "bound",
    "certify",
    "check",
    "compare",
    "demo",
    "distinguish",
    "estimate",
    "families",
    "family",
    "figure",
    "generate",
    "inspect",
    "ladders",
    "learn",
    "learner",
    "learners",
    "least",
    "reduce",
    "samples",
    "spectrum",
    "stress",
    "sweep",
    "verify",
]


@result_text.register(object)
def _text(result: "Result", width: int, colour: bool) -> str:
    from hardness.report.words import text

    return text(result, width, colour)


@save_result.register(object)
def _save(result: Any, path: Any, force: bool) -> None:
    from hardness.report.export import save

    save(result, path, force)


@result_caption.register(object)
def _caption(result: "Result") -> str:
    from hardness.report.words import caption

    return caption(result)


lazily(__name__)
