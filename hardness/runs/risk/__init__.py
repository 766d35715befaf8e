"""The risk of a hypothesis on fresh examples, with a confidence interval that holds at any size.

E||F - F^||^2 over that of the best predictor that knows the family alone, F = E[Y|X], so label
noise does not count against a learner. Predictions are first projected on a convex set that F(x)
lies in, which never raises the risk and bounds the loss; the interval is the empirical Bernstein
bound [MP09]. How the scale is known, and how far a loss may go, is a matter of the family's kind.
Predictions that are not a function of the tokens have no such risk, and are refused.
"""

from hardness.runs.risk.codes import fits_codes, of_codes
from hardness.runs.risk.cubic import of_cubic
from hardness.runs.risk.numbers import of_numbers
from hardness.runs.risk.record import Risk, bernstein, no_risk
from hardness.runs.risk.repeated import Repeated
from hardness.upper.learner import Failed, Outcome, Predict
from instances.family import Family, Instance

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
    they differ from all that a learner saw. One in eight is asked for again, in up to 64 batches;
    raises Failed(RANDOMISED) where a prediction is then another one.

    >>> from instances import parse
    >>> instance = parse("parity:d=8,m=3").instance(0)
    >>> measure(instance, instance.layer()).value < 1e-20
    True
    >>> instance = parse("nice:m=2,k=2,d=8").instance(0)
    >>> measure(instance, instance.family.known).value
    1.0
    """
    repeated = Repeated(predict)
    found = _measured(instance, repeated, examples, confidence)
    if found is not None and not repeated.same(instance):
        said = "predictions of the same tokens differ from one call to another"
        raise Failed(Outcome.RANDOMISED, {"reason": said})
    return found


def _measured(
    instance: Instance, predict: Predict, examples: int | None, confidence: float
) -> Risk | None:
    family = instance.family
    if coded := family.coded:
        return of_codes(instance, coded, predict, examples, confidence)
    if cubic := family.cubic:
        return of_cubic(instance, cubic, predict, examples, confidence)
    if dense := family.real_labels:
        return of_numbers(instance, dense, predict, examples, confidence)
    raise no_risk(family)


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
    return fits_codes(family.coded, risk) if family.coded else risk.examples > 1
