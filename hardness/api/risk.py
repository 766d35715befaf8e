"""Measure the risk of a model that was trained outside of this toolkit."""

from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from hardness.runs.risk import Risk
    from instances import Family


def risk(
    predict: Any,
    source: "str | Family",
    seed: int = 0,
    *,
    view: Literal["tokens", "flat", "z"] = "tokens",
) -> "Risk":
    """Measure the relative risk of a model on fresh examples of an instance, with its interval.

    0 is the true function, 1 the baseline that knows only the family. Label noise does not count.

    Parameters
    ----------
    predict : function, torch module or fitted estimator
        Maps tokens (n, k, d) to labels of that shape; in the view "flat" rows of k d numbers to
        rows; in the view "z" (n, d-1) to (n,).
    source : str or Family
        A SPEC or a family.
    seed : int
        Of the instance: the `random_state` of `hardness.datasets.make`. The examples are others
        than those that `make` gives.
    view : {"tokens", "flat", "z"}
        What the model is given.

    Returns
    -------
    Risk
        Its value and an interval, `low` to `high`.

    Raises
    ------
    UsageError
        For predictions that are not finite real numbers of that shape or change when they are
        asked for again, and for a family without a relative risk.

    Examples
    --------
    >>> from hardness import datasets
    >>> X, y = datasets.make("parity:d=8,m=1", 1000, view="z")
    >>> w = X.T @ y / len(y)
    >>> risk(lambda z: z @ w, "parity:d=8,m=1", view="z").high < 0.2
    True
    """
    from hardness.api.sources import family as family_of
    from hardness.learners import Failed
    from hardness.learners.plugins.module import is_module, predictor
    from hardness.learners.plugins.views import completed
    from hardness.runs.risk import measure
    from instances.errors import UsageError

    family = family_of(source)
    if view not in ("tokens", "flat", "z"):
        raise UsageError(f"view must be tokens, flat or z, got {view!r}")
    if is_module(predict):
        predict = predictor(predict)
    predict = getattr(predict, "predict", predict)
    if not callable(predict):
        raise UsageError(f"predict must be a function predict(x), got {type(predict).__name__}")
    judged = completed(family, view, predict)
    try:
        result = measure(family.instance(seed), judged)
    except Failed as failed:
        raise UsageError(f"no risk is measured: {failed.details.get('reason', failed)}") from failed
    if result is None:
        raise UsageError("no risk is measured: predictions are not finite real numbers")
    return result
