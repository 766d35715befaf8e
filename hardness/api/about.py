"""The named learners of `certify --about`, made from their options."""

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from instances.arguments import exact, integral
from instances.errors import UsageError

_APPLY = {
    "kernel": {"features"},
    "gd": {"clip", "noise_std"},
    "low-degree": {"degree", "examples", "sample_degree"},
    "lwe": {"examples", "error_bound"},
}
_EXACT = {"clip", "noise_std"}


def named_learners(
    name: str, numbers: Mapping[str, Any], steps: int | None, scheme: Any
) -> list[Any]:
    """Make the learners that a certificate is about.

    name: of one kind of learner, or "all". numbers, steps: the options, None if not given. scheme:
    the family from which "all" takes the default degree, or None. Raises UsageError for an option
    that does not apply.
    """
    options: dict[str, Any] = {
        option: exact(option, value) if option in _EXACT else integral(option, value, 0)
        for option, value in numbers.items()
        if value is not None
    }
    kinds = ["kernel", "gd", "low-degree"] if name == "all" else [name]
    wrong = sorted(set(options) - set().union(*(_APPLY[kind] for kind in kinds)))
    if steps is not None and "gd" not in kinds:
        wrong = ["steps"]
    if wrong:
        flag = wrong[0].replace("_", "-")
        raise UsageError(f"--{flag} does not apply to --about {name}")
    if name == "all":
        options.setdefault("noise_std", options.get("clip", Fraction(1)) / 100)
        options.setdefault("degree", default_degree(scheme, options.get("examples")))
    makers = {"kernel": _kernel, "gd": _descent, "low-degree": _low_degree, "lwe": _chain}
    return [makers[kind](options, steps) for kind in kinds]


def default_degree(scheme: Any, examples: int | None) -> int:
    """Return the default degree of low-degree tests: 2(m+1), or less.

    It is at most the degree of products of all examples. For large profiles it is limited to 50,
    which is quick, but not below that of products of two examples.

    >>> from instances import parse
    >>> specs = ["parity:d=300,m=60", "profile:g=majority,d=300,m=60"]
    >>> [default_degree(parse(spec), None) for spec in specs]
    [122, 50]
    """
    if scheme is None:
        return 1  # no low-degree claim is made for such a family
    first = next(level for level, part in enumerate(scheme.fourier) if level and part)
    most = examples * (scheme.m + 1) if examples else math.inf
    return int(min(2 * (scheme.m + 1), max(50, 2 * (first + 1)), max(most, 1)))


def _kernel(options: dict[str, Any], steps: int | None) -> Any:
    from hardness.bounds.learners import Kernel

    return Kernel(features=options.get("features"))


def _descent(options: dict[str, Any], steps: int | None) -> Any:
    from hardness.bounds.certificate import NoClaim
    from hardness.bounds.learners import NoisyDescent

    if "noise_std" not in options:
        raise NoClaim(
            "no claim: one exact mean gradient can name the member, and gradient descent on small "
            "batches with fine precision can simulate any PAC learner [AKMSS21]; give --noise-std"
        )
    return NoisyDescent(
        steps=steps, clip=options.get("clip", Fraction(1)), std=options["noise_std"]
    )


def _low_degree(options: dict[str, Any], steps: int | None) -> Any:
    from hardness.bounds.learners import LowDegree

    if "degree" not in options:
        raise UsageError(
            "--about low-degree needs --degree: without its degree a ratio says nothing"
        )
    return LowDegree(
        degree=options["degree"],
        examples=options.get("examples"),
        sample_degree=options.get("sample_degree"),
    )


def _chain(options: dict[str, Any], steps: int | None) -> Any:
    from hardness.bounds.learners import Chain

    if missing := [
        f"--{name.replace('_', '-')}" for name in ("examples", "error_bound") if name not in options
    ]:
        raise UsageError(f"--about lwe needs {' and '.join(missing)}: the loss depends on them")
    return Chain(examples=options["examples"], bound=options["error_bound"])
