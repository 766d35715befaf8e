"""The risk of a hypothesis on fresh examples, with a confidence interval that holds at any size.

E||F - F^||^2 over that of the best predictor that knows the family alone, F = E[Y|X], so label
noise does not count against a learner. Predictions are first projected on a convex set that F(x)
lies in, which never raises the risk and bounds the loss; the interval is the empirical Bernstein
bound [MP09]. How the scale is known, and how far a loss may go, is a matter of the family's kind.
"""

from hardness.compare.risk.codes import fits_codes, of_codes
from hardness.compare.risk.cubic import of_cubic
from hardness.compare.risk.numbers import of_numbers
from hardness.compare.risk.record import Risk, bernstein
from hardness.upper.learner import Predict
from instances.coded import Coded
from instances.dense import Dense
from instances.errors import ToolkitError
from instances.family import Family, Instance
from instances.linear import Linear

__all__ = ["CONFIDENCE", "Risk", "bernstein", "measure", "possible"]
CONFIDENCE = 0.95


def measure(
    instance: Instance,
    predict: Predict,
    examples: int | None = None,
    confidence: float = CONFIDENCE,
) -> Risk | None:
    """Measure a prediction function on fresh examples; None if it gives invalid values.

    predict: (n, k, d) tokens -> (n, k, d) labels. The examples come from a stream of their own, so
    they differ from all that a learner saw.

    >>> from instances import parse
    >>> instance = parse("parity:d=8,m=3").instance(0)
    >>> measure(instance, instance.layer()).value < 1e-20
    True
    >>> instance = parse("nice:m=2,k=2,d=8").instance(0)
    >>> measure(instance, instance.family.known).value
    1.0
    """
    family = instance.family
    if isinstance(family, Coded):
        return of_codes(instance, family, predict, examples, confidence)
    if isinstance(family, Linear):
        return of_cubic(instance, family, predict, examples, confidence)
    if isinstance(family, Dense):
        return of_numbers(instance, family, predict, examples, confidence)
    raise ToolkitError(f"{family.name} is neither a Coded nor a Dense family: no risk is defined")


def possible(family: Family, risk: Risk) -> bool:
    """Say whether a risk may have been measured on a family as `measure` does by default.

    Of labels that are codes the least interval is known that a number of examples can give; of
    others it depends on the instance, and nothing is held against them.

    >>> from instances import parse
    >>> family = parse("parity:d=8,m=3")
    >>> risk = Risk(value=0, low=0, high=1e-9, confidence=0.95, examples=8000, unclipped=0)
    >>> possible(family, risk)
    False
    """
    return fits_codes(family, risk) if isinstance(family, Coded) else risk.examples > 1
