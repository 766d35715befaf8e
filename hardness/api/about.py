"""Named learners about which something is certified, by their numbers."""

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
    """Make the learners that a certificate is about; raises UsageError for what does not apply.

    scheme: the family, from which "all" takes the degree if none is given, or None.
    """
    given: dict[str, Any] = {
        one: exact(one, value) if one in _EXACT else integral(one, value, 0)
        for one, value in numbers.items()
        if value is not None
    }
    names = ["kernel", "gd", "low-degree"] if name == "all" else [name]
    wrong = sorted(set(given) - set().union(*(_APPLY[one] for one in names)))
    if steps is not None and "gd" not in names:
        wrong = ["steps"]
    if wrong:
        flag = wrong[0].replace("_", "-")
        raise UsageError(f"--{flag} does not apply to --about {name}")
    if name == "all":
        given.setdefault("noise_std", given.get("clip", Fraction(1)) / 100)
        given.setdefault("degree", default_degree(scheme, given.get("examples")))
    made = {"kernel": _kernel, "gd": _descent, "low-degree": _low_degree, "lwe": _chain}
    return [made[one](given, steps) for one in names]


def default_degree(scheme: Any, examples: int | None) -> int:
    """Take 2(m+1), or less: what so many examples have, what a profile of many parts is quick at.

    At twice one more than its least level a profile has products of two examples.

    >>> from instances import parse
    >>> specs = ["parity:d=300,m=60", "profile:g=majority,d=300,m=60"]
    >>> [default_degree(parse(spec), None) for spec in specs]
    [122, 50]
    """
    if scheme is None:
        return 1  # there is no claim about it
    first = next(level for level, part in enumerate(scheme.fourier) if level and part)
    most = examples * (scheme.m + 1) if examples else math.inf
    return int(min(2 * (scheme.m + 1), max(50, 2 * (first + 1)), max(most, 1)))


def _kernel(about: dict[str, Any], steps: int | None) -> Any:
    from hardness.bounds.learners import Kernel

    return Kernel(features=about.get("features"))


def _descent(about: dict[str, Any], steps: int | None) -> Any:
    from hardness.bounds.certificate import NoClaim
    from hardness.bounds.learners import NoisyDescent

    if "noise_std" not in about:
        raise NoClaim(
            "no claim: one exact mean gradient can name the member, and gradient descent on small "
            "batches with fine precision can simulate any PAC learner [AKMSS21]; give --noise-std"
        )
    return NoisyDescent(steps=steps, clip=about.get("clip", Fraction(1)), std=about["noise_std"])


def _low_degree(about: dict[str, Any], steps: int | None) -> Any:
    from hardness.bounds.learners import LowDegree

    if "degree" not in about:
        raise UsageError(
            "--about low-degree needs --degree: without its degree a ratio says nothing"
        )
    return LowDegree(
        degree=about["degree"],
        examples=about.get("examples"),
        sample_degree=about.get("sample_degree"),
    )


def _chain(about: dict[str, Any], steps: int | None) -> Any:
    from hardness.bounds.learners import Chain

    if missing := [
        f"--{name.replace('_', '-')}" for name in ("examples", "error_bound") if name not in about
    ]:
        raise UsageError(f"--about lwe needs {' and '.join(missing)}: the loss depends on them")
    return Chain(examples=about["examples"], bound=about["error_bound"])
